# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a judged view does to the objects: new records, computed but not yet put anywhere.

Everything here follows from what is stored with the observations (their boxes, scores, verdicts
and kept features) and from the look, so that the same arithmetic rebuilds the objects from the log.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from memory_node.config import CHRONOTOPE, Config
from memory_node.fusion.arbiter import DIGITS, FEATURE, Judgement
from memory_node.fusion.intake import Evidence
from memory_node.fusion.labels import Ints
from memory_node.fusion.looks import Look, independent
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
    rows = judgement.row[matched]
    before = world.take(rows)
    after = np.zeros(len(rows) + len(created), OBJECT)
    after[: len(rows)] = before
    if len(created):
        _born(after[len(rows) :], evidence, label, created, look, next_id)
    old = after[: len(rows)]
    weight = _weights(before, c)
    speaks = _speaks(before, evidence, matched, look.stamp_ns, c)
    if kept is None:
        kept = _keep_features(evidence, judgement, matched, created, before, weight, speaks, c)
    features = _blend_features(
        evidence, kept, matched, created, before, rows, weight, world, c.profile
    )
    after['has_feature'][features[0]] = True
    _blend_boxes(old, evidence, matched, weight, speaks, c)
    more = _add_labels(after, evidence, label, np.concatenate([matched, created]), rows, world)
    if c.profile == CHRONOTOPE:
        _choose_heaviest(old, more, world)
    else:
        _choose_labels(old, more, c.label_margin)
    score = evidence.score[matched]
    old['confidence'] += (1.0 - old['confidence']) * score * CONFIDENCE_GAIN
    old['observations'] += 1
    old['first_seen_ns'] = np.minimum(old['first_seen_ns'], look.stamp_ns)
    old['last_seen_ns'] = np.maximum(old['last_seen_ns'], look.stamp_ns)
    _count_looks(old, look, c)
    confirmed = after['looks'] >= (1 if c.profile == CHRONOTOPE else c.confirm_looks)
    confirmed[: len(rows)] &= look.stamp_ns >= before['last_seen_ns']  # never by a late view
    after['state'] = np.where(confirmed, CONFIRMED, after['state'])
    changes = _changes(before, after, world, c)
    return Update(rows, np.concatenate([matched, created]), after, *features, kept, more, changes)


def apply_update(update: Update, world: World) -> Rows:
    """Put the new records in place; returns the rows of all records of the update."""
    count = len(update.rows)
    world.put(update.rows, update.after[:count])
    rows = np.concatenate([update.rows, world.append(update.after[count:])])
    world.features.put(rows[update.feature_place], update.feature)
    for place, masses in update.more_labels.items():
        world.more_labels[int(rows[place])] = masses
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


def _weights(before: Records, c: Config) -> Floats:
    """Share of the new sighting: the running mean at first, `blend` later.

    Chronotope uses the latter from the first merge on (CH-19).
    """
    if c.profile == CHRONOTOPE:
        return np.full(len(before), c.blend)
    return np.maximum(c.blend, 1.0 / (before['observations'] + 1.0))


def _speaks(
    held: Records, evidence: Evidence, matched: Rows, stamp_ns: int, c: Config
) -> boxes.Bools:
    """Whether a sighting may rewrite: a late or doubtful one only supports.

    Chronotope asks for neither (CH-V4).
    """
    if c.profile == CHRONOTOPE:
        return np.ones(len(held), bool)
    result: boxes.Bools = (stamp_ns >= held['last_seen_ns']) & (
        evidence.score[matched] >= c.create_score
    )
    return result


def _keep_features(
    evidence: Evidence, judgement: Judgement, matched: Rows, created: Rows, before: Records,
    weight: Floats, speaks: boxes.Bools, c: Config,
) -> boxes.Bools:  # fmt: skip
    """The first few features of an object are kept, later ones if they move its feature.

    Chronotope keeps all.

    With cosine k between the two and weight w of the new one, the blended feature has the cosine
    ((1 - w) + w k) / sqrt((1 - w)² + w² + 2 w (1 - w) k) to the old one.
    """
    if c.profile == CHRONOTOPE:
        return evidence.has_feature.copy()
    kept = np.zeros(len(evidence), bool)
    kept[created] = evidence.has_feature[created]
    if (before['observations'] < c.feature_keep_first).all():
        kept[matched] = evidence.has_feature[matched] & speaks
        return kept
    cosine = judgement.terms[matched, FEATURE]
    k = np.where(np.isnan(cosine), 0.0, cosine)
    w = weight
    moved = 1.0 - ((1 - w) + w * k) / np.sqrt((1 - w) ** 2 + w * w + 2 * w * (1 - w) * k)
    wanted = before['observations'] < c.feature_keep_first
    wanted |= ~before['has_feature'] | (moved > c.feature_keep_cosine)
    kept[matched] = evidence.has_feature[matched] & wanted & speaks
    return kept


def as_stored(feature: Features, profile: str) -> Stored:
    """A feature as it is stored with its observation: float16, for Chronotope float32."""
    return feature if profile == CHRONOTOPE else feature.astype(np.float16)


def _blend_features(
    evidence: Evidence, kept: boxes.Bools, matched: Rows, created: Rows, before: Records,
    rows: Rows, weight: Floats, world: World, profile: str,
) -> tuple[Rows, Features, Stored]:  # fmt: skip
    """Places in the update whose feature changes, the new features, and what is stored for it."""
    source = np.concatenate([matched, created])
    place = np.flatnonzero(kept[source])
    if not len(place):
        nothing = np.zeros((0, evidence.feature.shape[1]), np.float32)
        return place, nothing, nothing
    stored = as_stored(evidence.feature[source[place]], profile)
    new = stored.astype(np.float64)
    joins = np.flatnonzero(place < len(rows))
    joins = joins[before['has_feature'][place[joins]]]
    if len(joins):
        held = world.features.take(rows[place[joins]]).astype(np.float64)
        w = weight[place[joins], None]
        if len(joins) == len(new):
            new = held + w * (new - held)
        else:
            new[joins] = held + w * (new[joins] - held)
    return place, boxes.normalized(new).astype(np.float32), stored


def _blend_boxes(
    old: Records, evidence: Evidence, matched: Rows, weight: Floats, speaks: boxes.Bools, c: Config
) -> None:
    """Running centre, size and orientation."""
    if c.profile == CHRONOTOPE:
        _unite_boxes(old, evidence, matched, weight)
        return
    w = np.where(speaks, weight, 0.0)[:, None]
    old['center'] += w * (evidence.center[matched] - old['center'])
    known = evidence.extent[matched][:, None]
    had = (boxes.largest(old['size']) > 0)[:, None]
    step = np.where(known, np.where(had, w, np.where(w > 0, 1.0, 0.0)), 0.0)
    old['size'] += step * (evidence.size[matched] - old['size'])
    turns = evidence.oriented[matched] & speaks
    q, seen = old['orientation'], evidence.orientation[matched]
    if turns.any() and not (q == seen).all():
        side = np.where(boxes.tree_sum(q * seen) < 0, -1.0, 1.0)[:, None]
        w4 = np.where(turns[:, None], np.where(old['oriented'][:, None], w, 1.0), 0.0)
        old['orientation'] = boxes.normalized(q + w4 * (side * seen - q))
    old['oriented'] |= turns
    old['hull_center'] = old['center']
    old['half'] = boxes.hull_half(old['size'], old['orientation'])


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
    seen, score = label[place], evidence.score[place]
    slot = after['labels'] == seen[:, None]
    after['masses'] += slot * score[:, None]
    more: dict[int, dict[int, float]] = {}
    spilled = world.more_labels
    if spilled:
        more = {k: dict(spilled[r]) for k, r in enumerate(rows.tolist()) if r in spilled}
    for k in np.flatnonzero(~slot.any(axis=1)).tolist():
        _add_label(after, more, k, int(seen[k]), float(score[k]))
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


def _choose_labels(old: Records, more: dict[int, dict[int, float]], margin: float) -> None:
    """The heaviest label wins, but the current one stays until it is beaten by the margin."""
    if not len(old):
        return
    masses = old['masses']
    best = masses.argmax(axis=1)
    line = np.arange(len(old))
    heaviest, label = masses[line, best], old['labels'][line, best]
    current = np.where(old['labels'] == old['label'][:, None], masses, 0.0).max(axis=1)
    for k, extra in more.items():
        if k < len(old):
            current[k] = extra.get(int(old['label'][k]), current[k])
            top = max(extra, key=lambda n: extra[n])
            if extra[top] > heaviest[k]:
                heaviest[k], label[k] = extra[top], top
    wins = heaviest > margin * current
    old['label'] = np.where(wins, label, old['label'])


def _choose_heaviest(old: Records, more: dict[int, dict[int, float]], world: World) -> None:
    """Chronotope: the heaviest label, ties alphabetical (CH-19)."""
    for k in range(len(old)):
        old['label'][k] = next(iter(world.masses_of(old[k], more.get(k, {}))))


def _count_looks(old: Records, look: Look, c: Config) -> None:
    if not len(old):
        return
    there, axis = old['look_position'], old['look_axis']
    counts = independent(old['look_ns'], there, axis, look, c)
    old['looks'] += counts
    newer = counts & (look.stamp_ns >= old['look_ns'])
    if newer.all():
        old['look_seq'], old['look_ns'] = look.seq, look.stamp_ns
        old['look_position'], old['look_axis'] = look.position, look.axis
        return
    old['look_seq'] = np.where(newer, look.seq, old['look_seq'])
    old['look_ns'] = np.where(newer, look.stamp_ns, old['look_ns'])
    old['look_position'] = np.where(newer[:, None], look.position, there)
    old['look_axis'] = np.where(newer[:, None], look.axis, axis)


def _changes(before: Records, after: Records, world: World, c: Config) -> list[ChangeDraft]:
    """What the log says about a view, in order of the object ids; sets the version columns."""
    drafts: list[ChangeDraft] = []
    count = len(before)
    old = after[:count]
    confirmed = (old['state'] != before['state']) & (before['state'] == TENTATIVE)
    relabelled = old['label'] != before['label']
    moved = boxes.largest(np.abs(old['center'] - old['version_center']))
    resized = boxes.largest(np.abs(old['size'] - old['version_size']))
    updated = np.round(np.maximum(moved, resized), DIGITS) >= c.version_distance_m
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
