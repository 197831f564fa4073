# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a judged view does to the objects: new records, computed but not yet put anywhere.

Everything here follows from what is stored with the observations (their boxes, scores, verdicts
and kept features) and from the look, so that the same arithmetic rebuilds the objects from the log.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from memory_node.config import CHRONOTOPE, Config
from memory_node.fusion import blending, features
from memory_node.fusion.arbiter import FEATURE, Judgement
from memory_node.fusion.intake import Evidence
from memory_node.fusion.labels import Ints
from memory_node.fusion.looks import Look, independent
from memory_node.fusion.pins import Pins, hold
from memory_node.fusion.world import (
    OBJECT,
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
    matched = np.flatnonzero(judgement.row >= 0)
    created = np.flatnonzero(judgement.created)
    rows, place = judgement.row[matched], np.concatenate([matched, created])
    before = world.take(rows)
    after = np.zeros(len(place), OBJECT)
    after[: len(rows)] = before
    old = after[: len(rows)]
    if len(created):
        _born(after[len(rows) :], evidence, label, created, look, next_id)
    weight, speaks = _weights(before, matched, evidence, look, c)
    if kept is None:
        kept = _keep_features(evidence, judgement, matched, created, before, weight, speaks, c)
    features = _blend_features(evidence, kept, place, before, rows, weight, world, c.profile)
    after['has_feature'][features[0]] = True
    if c.profile == CHRONOTOPE:
        _unite_boxes(old, evidence, matched, weight)
    else:
        blending.blend_boxes(old, matched, evidence, weight, speaks.view(np.uint8))
    more = _add_labels(after, evidence, label, place, rows, world)
    _choose_labels(old, more, world, c)
    pins = hold(old, before, evidence, matched, speaks, more, world, c) if world.pins else {}
    counts = independent(old['look_ns'], old['look_position'], old['look_axis'], look, c)
    blending.count_sighting(
        old, matched, evidence.score, CONFIDENCE_GAIN, look, counts.view(np.uint8)
    )
    needed = 1 if c.profile == CHRONOTOPE else c.confirm_looks
    blending.confirm(
        after, before['last_seen_ns'], look.stamp_ns, needed, TENTATIVE, CONFIRMED
    )  # fmt: skip
    changes = _changes(before, after, world, c)
    return Update(rows, place, after, *features, kept, more, changes, pins)


def apply_update(update: Update, world: World) -> Rows:
    """Put the new records in place; returns the rows of all records of the update."""
    count = len(update.rows)
    world.put(update.rows, update.after[:count])
    rows = np.concatenate([update.rows, world.append(update.after[count:])])
    world.features.put(rows[update.feature_place], update.feature)
    for place, masses in update.more_labels.items():
        world.more_labels[int(rows[place])] = masses
    world.pins.update(update.pins)
    return rows


def _born(
    new: Records, evidence: Evidence, label: Ints, created: Rows, look: Look, next_id: int
) -> None:
    """Fill the records of new objects."""
    new['id'] = np.arange(next_id, next_id + len(created))
    for name in ('center', 'size', 'orientation', 'half', 'oriented'):
        new[name] = getattr(evidence, name)[created]
    new['hull_center'] = evidence.center[created]
    new['confidence'] = evidence.score[created]
    new['observations'] = new['looks'] = 1
    new['look_seq'], new['look_ns'] = look.seq, look.stamp_ns
    new['look_position'], new['look_axis'] = look.position, look.axis
    new['first_seen_ns'] = new['last_seen_ns'] = look.stamp_ns
    new['labels'] = -1
    new['label'] = label[created]
    new['map'] = look.map_number
    new['state'] = TENTATIVE


def share(observations: int, blend: float) -> float:
    """Share of a new sighting beside so many: the running mean at first, `blend` later."""
    return max(blend, 1.0 / (observations + 1.0))


def _weights(
    before: Records, matched: Rows, evidence: Evidence, look: Look, c: Config
) -> tuple[Floats, boxes.Bools]:
    """Share of each new sighting, and whether it may rewrite.

    In Chronotope the share is always `blend` (CH-19), and each may (CH-V4).
    """
    if c.profile == CHRONOTOPE:
        return np.full(len(before), c.blend), np.ones(len(before), bool)
    weight, speaks = np.empty(len(before)), np.empty(len(before), bool)
    blending.weigh(
        before, matched, evidence.score, look.stamp_ns, c.blend, c.create_score,
        weight, speaks.view(np.uint8),
    )  # fmt: skip
    return weight, speaks


def _keep_features(
    evidence: Evidence, judgement: Judgement, matched: Rows, created: Rows, before: Records,
    weight: Floats, speaks: boxes.Bools, c: Config,
) -> boxes.Bools:  # fmt: skip
    """The first few features of an object are kept, later ones if they move its feature.

    Chronotope keeps all.
    """
    if c.profile == CHRONOTOPE:
        return evidence.has_feature.copy()
    kept = np.zeros(len(evidence), bool)
    kept[created] = evidence.has_feature[created]
    blending.keep_features(
        before, matched, evidence.has_feature.view(np.uint8), judgement.terms[:, FEATURE], weight,
        speaks.view(np.uint8), c.feature_keep_first, c.feature_keep_cosine, kept.view(np.uint8),
    )  # fmt: skip
    return kept


def as_stored(feature: Features, profile: str) -> Stored:
    """Features as they are stored with their observations: float16, for Chronotope float32.

    Only as it is stored does a feature enter that of an object, so `feature`, (F, D), is rounded.
    """
    if profile == CHRONOTOPE:
        return feature.copy()
    halves = np.empty(feature.shape, np.uint16)
    features.halve_rows(feature, feature.view(np.uint32), halves)
    return halves.view(np.float16)


def _blend_features(
    evidence: Evidence, kept: boxes.Bools, source: Rows, before: Records, rows: Rows,
    weight: Floats, world: World, profile: str,
) -> tuple[Rows, Features, Stored]:  # fmt: skip
    """Places in the update whose feature changes, the new features, and what is stored for it."""
    place = np.flatnonzero(kept[source])
    if not len(place):
        nothing = np.zeros((0, evidence.feature.shape[1]), np.float32)
        return place, nothing, nothing
    new = evidence.feature[source[place]]
    stored = as_stored(new, profile)
    joins = np.zeros(len(place), bool)
    known = place < len(rows)
    joins[known] = before['has_feature'][place[known]]
    work = np.empty(new.shape[1])
    if joins.all():
        held = world.features.take(rows[place])
        features.blend_rows(held, new, weight[place], work)
        return place, held, stored
    first = new[~joins]
    features.unit_rows(first, np.empty(len(first), np.uint8), work)
    new[~joins] = first
    if joins.any():
        held = world.features.take(rows[place[joins]])
        features.blend_rows(held, new[joins], weight[place[joins]], work)
        new[joins] = held
    return place, new, stored


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
    if blending.add_labels(after, place, label, evidence.score, unknown):
        for k in np.flatnonzero(unknown).tolist():
            seen = place[k]
            _add_label(after, more, k, int(label[seen]), float(evidence.score[seen]))
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
    blending.choose_labels(old, c.label_margin)
    for k, extra in more.items():
        if k >= len(old):
            continue
        assert was is not None
        masses = dict(zip(old['labels'][k].tolist(), old['masses'][k].tolist())) | extra
        current = int(was[k])
        best = max(masses, key=lambda n: masses[n])
        beaten = masses[best] > c.label_margin * masses.get(current, 0.0)
        old['label'][k] = best if beaten else current


def _changes(before: Records, after: Records, world: World, c: Config) -> list[ChangeDraft]:
    """What the log says about a view, in order of the object ids; sets the version columns."""
    drafts: list[ChangeDraft] = []
    count = len(before)
    old = after[:count]
    confirmed = (old['state'] != before['state']) & (before['state'] == TENTATIVE)
    relabelled = old['label'] != before['label']
    updated = np.empty(count, bool)
    blending.moved_from_version(old, c.version_distance_m, VERSION_SHARE, updated.view(np.uint8))
    names = world.labels.names
    for k in np.flatnonzero(confirmed | relabelled | updated).tolist():
        if confirmed[k]:
            drafts.append(ChangeDraft(ChangeKind.CONFIRMED, k, {'state': State.TENTATIVE.value}))
        if relabelled[k]:
            was = {'label': names[before['label'][k]]}
            drafts.append(ChangeDraft(ChangeKind.RELABELLED, k, was))
        if updated[k]:
            place = {
                'center_m': old['version_center'][k].tolist(),
                'size_m': old['version_size'][k].tolist(),
            }
            drafts.append(ChangeDraft(ChangeKind.UPDATED, k, place))
    drafts += [ChangeDraft(ChangeKind.CREATED, k, {}) for k in range(count, len(after))]
    if not drafts:
        return drafts
    changed = sorted({d.place for d in drafts})
    after['version_center'][changed] = after['center'][changed]
    after['version_size'][changed] = after['size'][changed]
    ids = after['id'].tolist()
    drafts.sort(key=lambda d: ids[d.place])
    return drafts
