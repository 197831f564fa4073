# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a judged view does to the objects: new records, computed but not yet put anywhere.

Everything here follows from what is stored with the observations (their boxes, scores, verdicts
and kept features) and from the look, so that the same arithmetic rebuilds the objects from the log.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_node.config import CHRONOTOPE, Config
from memory_node.fusion import blending, counting, features
from memory_node.fusion.arbiter import FEATURE, Judgement
from memory_node.fusion.intake import Evidence
from memory_node.fusion.labels import Ints
from memory_node.fusion.looks import Look, limits_of
from memory_node.fusion.pins import Pins, hold
from memory_node.fusion.world import (
    STATE_CODE,
    Features,
    Records,
    Rows,
    Stored,
    World,
)
from memory_node.model import IDENTITY, ChangeKind, Floats, State
from memory_node.scene import boxes

TENTATIVE, CONFIRMED = STATE_CODE[State.TENTATIVE], STATE_CODE[State.CONFIRMED]
CONFIDENCE_GAIN = 0.5


VERSION_SHARE = 0.1
"""A side that changes by less than this share of its length is as it was: boxes of tables several
metres long are off by decimetres from look to look."""


@dataclass(frozen=True)
class ChangeDraft:
    """A change without a number yet.

    place: in `Update.after`. before, after: what it replaced and says. reason: why.
    """

    kind: ChangeKind
    place: int
    before: dict[str, object]
    reason: str = ''
    after: dict[str, object] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Update:
    """What a view changes; the first `len(rows)` records exist already, the others are new.

    Attributes:
        rows: (R,) rows of the objects that the view supports.
        place: (R + M,) place of the detection in the evidence, for each record.
        after: (R + M,) records as they will be.
        feature_place: (F,) places in `after` whose feature changes; feature: (F, D).
        stored: (F, D) what is stored with the observations for that, float16 or float32.
        kept: (n,) whether the feature of a detection is stored with its observation.
        more_labels: place in `after` → labels beyond the slots of the record.
        changes: what the log will say.
        pins: object → what is pinned of it, with this view counted.
    """

    rows: Rows
    place: Rows
    after: Records
    feature_place: Rows
    feature: Features
    stored: Stored
    kept: boxes.Bools
    more_labels: dict[int, dict[int, float]]
    changes: list[ChangeDraft]
    pins: dict[int, Pins] = field(default_factory=dict)

    def moved_to(self, place: int, count: int) -> Update:
        """The update of a single detection as one of a view of `count`, at its place there."""
        kept = np.zeros(count, bool)
        kept[place] = self.kept[0]
        return dataclasses.replace(self, place=np.full(len(self.place), place), kept=kept)


def plan_update(
    evidence: Evidence,
    label: Ints,
    judgement: Judgement,
    look: Look,
    world: World,
    next_id: int,
    c: Config,
    kept: boxes.Bools | None = None,
) -> Update:
    """Compute what a judged view does to the objects.

    Args:
        evidence, label, judgement: of the view.
        look: where it was taken from.
        world: as it is; it is not changed.
        next_id: id of the first new object.
        c: settings.
        kept: which features were kept, where that was decided before (replay); None: decide now.
    """
    place = np.empty(len(judgement.row), np.int64)
    joined, count = counting.sort_out(judgement.row, judgement.created.view(np.uint8), place)
    place, matched, created = place[:count], place[:joined], place[joined:count]
    rows = judgement.row[matched]
    after = world.take(rows, blank=len(created))
    old = after[: len(rows)]
    if len(created):
        counting.bear(after[len(rows) :], created, evidence, label, next_id, look, TENTATIVE)
    state, named = old['state'].copy(), old['label'].copy()
    weight, speaks, worth = _weights(old, matched, created, evidence, judgement, look, c)
    kept = worth if kept is None else kept
    blended = _blend_features(evidence, kept, place, old, rows, weight, world, c.profile)
    after['has_feature'][blended[0]] = True
    if c.profile == CHRONOTOPE:
        _unite_boxes(old, evidence, matched, weight)
    else:
        blending.blend_boxes(old, matched, evidence, weight, speaks.view(np.uint8))
    more = _add_labels(after, evidence, label, place, rows, world)
    _choose_labels(old, more, world, c)
    pins = {}
    if world.pins:
        pins = hold(old, world.take(rows), evidence, matched, speaks, more, world, c)
    counting.count_sightings(
        after, matched, evidence.score, CONFIDENCE_GAIN, look, limits_of(c),
        1 if c.profile == CHRONOTOPE else c.confirm_looks, (TENTATIVE, CONFIRMED),
    )  # fmt: skip
    changes = _changes(after, state, named, world, c)
    return Update(rows, place, after, *blended, kept, more, changes, pins)


def apply_update(update: Update, world: World) -> Rows:
    """Put the new records in place; returns the rows of all records of the update."""
    rows = world.put(update.rows, update.after)
    world.features.put(rows[update.feature_place], update.feature)
    for place, masses in update.more_labels.items():
        world.more_labels[int(rows[place])] = masses
    world.pins.update(update.pins)
    return rows


def share(observations: int, blend: float) -> float:
    """Share of a new sighting beside so many: the running mean at first, `blend` later."""
    return max(blend, 1.0 / (observations + 1.0))


def _weights(
    old: Records, matched: Rows, created: Rows, evidence: Evidence, judgement: Judgement,
    look: Look, c: Config,
) -> tuple[Floats, boxes.Bools, boxes.Bools]:  # fmt: skip
    """Share of each new sighting, whether it may rewrite, and whose features are worth keeping.

    In Chronotope the share is always `blend` (CH-19), each may (CH-V4), and all are.
    """
    if c.profile == CHRONOTOPE:
        count = len(old)
        return np.full(count, c.blend), np.ones(count, bool), evidence.has_feature.copy()
    weight, speaks = np.empty(len(old)), np.empty(len(old), bool)
    kept = np.zeros(len(evidence), bool)
    kept[created] = evidence.has_feature[created]
    counting.weigh(
        old, matched, evidence, judgement.terms[:, FEATURE], look.stamp_ns,
        (c.blend, c.create_score, c.feature_keep_first, c.feature_keep_cosine),
        weight, speaks.view(np.uint8), kept.view(np.uint8),
    )  # fmt: skip
    return weight, speaks, kept


def as_stored(feature: Features, place: Rows, profile: str) -> tuple[Features, Stored]:
    """Some of the features, (n, D), as they are stored with their observations, and as float32.

    Stored is float16, for Chronotope float32. Only as it is stored does a feature enter that of an
    object.
    """
    if profile == CHRONOTOPE:
        return feature[place], feature[place]
    rows = np.empty((len(place), feature.shape[1]), np.float32)
    halves = np.empty(rows.shape, np.uint16)
    features.halve_rows(feature.view(np.uint32), place, rows, rows.view(np.uint32), halves)
    return rows, halves.view(np.float16)


def _blend_features(
    evidence: Evidence, kept: boxes.Bools, source: Rows, old: Records, rows: Rows,
    weight: Floats, world: World, profile: str,
) -> tuple[Rows, Features, Stored]:  # fmt: skip
    """Places in the update whose feature changes, the new features, and what is stored for it."""
    place = kept[source].nonzero()[0]
    feature, stored = as_stored(evidence.feature, source[place], profile)
    world.features.blend(feature, place, rows, old['has_feature'], weight)
    return place, feature, stored


def _unite_boxes(old: Records, evidence: Evidence, matched: Rows, weight: Floats) -> None:
    """Chronotope: the centroid moves, the box becomes the union of both (CH-19)."""
    seen, seen_half = evidence.center[matched], evidence.half[matched]
    low = np.minimum(old['hull_center'] - old['half'], seen - seen_half)
    high = np.maximum(old['hull_center'] + old['half'], seen + seen_half)
    old['center'] += weight[:, None] * (seen - old['center'])
    put_hull(old, low, high)


def put_hull(records: Records, low: Floats, high: Floats) -> None:
    """Chronotope: the box of a record is its hull, turned nowhere; two corners, (N, 3) or (3,)."""
    records['hull_center'], records['size'] = (low + high) * 0.5, high - low
    records['half'] = (high - low) * 0.5
    records['orientation'], records['oriented'] = IDENTITY, False


def _add_labels(
    after: Records, evidence: Evidence, label: Ints, place: Rows, rows: Rows, world: World
) -> dict[int, dict[int, float]]:
    """Label evidence is raw mass: the score is added to the label's sum (CH-19)."""
    more: dict[int, dict[int, float]] = {}
    spilled = world.more_labels
    if spilled:
        more = {k: dict(spilled[r]) for k, r in enumerate(rows.tolist()) if r in spilled}
    unknown = np.empty(len(place), np.uint8)
    if counting.add_labels(after, place, label, evidence.score, unknown):
        for k in unknown.nonzero()[0].tolist():
            seen = place[k]
            _add_label(after, more, k, int(label[seen]), float(evidence.score[seen]))
    if not any(evidence.alternatives):
        return more
    for k, detection in enumerate(place.tolist()):
        given = evidence.alternatives[detection]
        if given:
            for text, alternative_score in given.items():
                _add_label(after, more, k, world.labels.intern(text), alternative_score)
    return more


def _add_label(
    after: Records, more: dict[int, dict[int, float]], k: int, label: int, mass: float
) -> None:
    slots = after['labels'][k].tolist()
    for wanted in (label, -1):
        if wanted in slots and label not in more.get(k, {}):
            slot = slots.index(wanted)
            after['labels'][k, slot] = label
            after['masses'][k, slot] += mass
            return
    masses = more.setdefault(k, {})
    masses[label] = masses.get(label, 0.0) + mass
    lightest = int(after['masses'][k].argmin())
    if masses[label] > after['masses'][k, lightest]:  # the slots hold the heaviest labels
        masses[slots[lightest]] = float(after['masses'][k, lightest])
        after['labels'][k, lightest], after['masses'][k, lightest] = label, masses.pop(label)


def _choose_labels(
    old: Records, more: dict[int, dict[int, float]], world: World, c: Config
) -> None:
    """The heaviest label wins, but the current one stays until it is beaten by the margin.

    Chronotope: the heaviest label, ties alphabetical (CH-19).
    """
    if c.profile == CHRONOTOPE:
        for k in range(len(old)):
            old['label'][k] = next(iter(world.masses_of(old[k], more.get(k, {}))))
        return
    was = old['label'].copy() if more else None
    counting.choose_labels(old, c.label_margin)
    for k, extra in more.items():
        if k >= len(old):
            continue
        assert was is not None
        masses = dict(zip(old['labels'][k].tolist(), old['masses'][k].tolist())) | extra
        current = int(was[k])
        best = max(masses, key=lambda n: masses[n])
        beaten = masses[best] > c.label_margin * masses.get(current, 0.0)
        old['label'][k] = best if beaten else current


def _drafts(
    record: Any, place: int, label: str, confirmed: int, relabelled: int, updated: int
) -> list[ChangeDraft]:
    """What the log says of one object; sets the version columns of its record.

    label: its name before. confirmed, relabelled, updated: which of these it was.
    """
    drafts = []
    if confirmed:
        drafts.append(ChangeDraft(ChangeKind.CONFIRMED, place, {'state': State.TENTATIVE.value}))
    if relabelled:
        drafts.append(ChangeDraft(ChangeKind.RELABELLED, place, {'label': label}))
    if updated:
        was = {
            'center_m': record['version_center'].tolist(),
            'size_m': record['version_size'].tolist(),
        }
        drafts.append(ChangeDraft(ChangeKind.UPDATED, place, was))
    record['version_center'], record['version_size'] = record['center'], record['size']
    return drafts


def _changes(
    after: Records, state: npt.NDArray[np.uint8], label: Ints, world: World, c: Config
) -> list[ChangeDraft]:
    """What the log says about a view, in order of the object ids; sets the version columns.

    state, label: (R,) of the objects that it supports, before it.
    """
    drafts: list[ChangeDraft] = []
    count = len(state)
    old = after[:count]
    found = np.empty((3, count), np.uint8)
    if counting.note_changes(old, state, label, c.version_distance_m, VERSION_SHARE, found):
        for k in found.any(axis=0).nonzero()[0].tolist():
            was = world.labels.names[label[k]]
            drafts += _drafts(old[k], k, was, *found[:, k].tolist())
        ids = old['id'].tolist()
        drafts.sort(key=lambda d: ids[d.place])
    drafts += [ChangeDraft(ChangeKind.CREATED, k, {}) for k in range(count, len(after))]
    return drafts
