# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Two objects that are one, and one that is two (CH-27, CH-28): planned on records.

What is computed here follows from the records and the sightings alone, never from settings, so that
a replay of the log gives the same whatever the settings were.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memory_node.config import Config
from memory_node.fusion.arbiter import DIGITS, TERMS, find_pairs
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.intake import Evidence
from memory_node.fusion.update import CONFIDENCE_GAIN, put_hull
from memory_node.fusion.world import LABEL_SLOTS, STATE_CODE, Features, Records, Rows, World
from memory_node.model import IDENTITY, Floats, State
from memory_node.scene import boxes

APART_M = 1.0
"""A split needs the middles of both groups to be farther apart than this (CH-27)."""
LEAST = 2
"""Sightings that each group of a split needs at least (CH-27)."""
_ROUNDS = 100
_EXACT = 2000
"""Sightings up to which the farthest two are looked for among all pairs."""


@dataclass(frozen=True)
class Belief:
    """One object as the working set has it.

    Attributes:
        record: (1,) OBJECT. more: its labels beyond the slots. feature: (D,); None: it has none.
    """

    record: Records
    more: dict[int, float] = field(default_factory=dict)
    feature: Features | None = None

    @property
    def id(self) -> int:
        """Id of the object."""
        return int(self.record['id'][0])

    @property
    def masses(self) -> dict[int, float]:
        """Number of each label → evidence mass."""
        slots = zip(self.record['labels'][0].tolist(), self.record['masses'][0].tolist())
        return {n: m for n, m in slots if n >= 0} | self.more

    @property
    def count(self) -> int:
        """Number of its sightings."""
        return int(self.record['observations'][0])


def belief_of(world: World, row: int) -> Belief:
    """A live object as it is now."""
    record = world.records[row : row + 1].copy()
    held = bool(record['has_feature'][0])
    feature = world.features.take(np.array([row]))[0] if held else None
    return Belief(record, dict(world.more_labels.get(row, {})), feature)


def merged(kept: Belief, other: Belief, world: World) -> Belief:
    """What two objects are as one: means weighted by their sightings, evidence added (CH-28)."""
    a, b = kept.record, other.record
    record = a.copy()
    share = other.count / max(1, kept.count + other.count)
    (_unite_hulls if world.off_center else _weigh_boxes)(record, b, share)
    record['confidence'] = 1.0 - (1.0 - a['confidence']) * (1.0 - b['confidence'])
    for name in ('observations', 'looks'):
        record[name] = a[name] + b[name]
    record['first_seen_ns'] = np.minimum(a['first_seen_ns'], b['first_seen_ns'])
    record['last_seen_ns'] = np.maximum(a['last_seen_ns'], b['last_seen_ns'])
    _take_newer_standing(record, a, b)
    if b['look_ns'][0] > a['look_ns'][0]:
        for name in ('look_seq', 'look_ns', 'look_position', 'look_axis'):
            record[name] = b[name]
    if STATE_CODE[State.CONFIRMED] in (a['state'][0], b['state'][0]):
        record['state'] = STATE_CODE[State.CONFIRMED]
    total = kept.masses
    for label, mass in other.masses.items():
        total[label] = total.get(label, 0.0) + mass
    more = _put_labels(record, total, world)
    feature = _mean_feature(kept.feature, other.feature, share)
    return finished(Belief(record, more, feature))


def _take_newer_standing(record: Records, a: Records, b: Records) -> None:
    """Whether it is still there: what the one that was seen last says."""
    if b['last_seen_ns'][0] > a['last_seen_ns'][0]:
        for name in ('odds', 'odds_ns', 'checked_ns', 'check', 'misses', 'doubt'):
            record[name] = b[name]
        if a['state'][0] in (STATE_CODE[State.DOUBTFUL], STATE_CODE[State.ABSENT]):
            record['state'] = b['state']


def without(now: Belief, other: Belief, before: Belief, seen_ns: tuple[int, int],
            world: World) -> Belief:  # fmt: skip
    """An object that has been seen since another was merged into it, without that other.

    Evidence and counts are what is left. Pose, size and feature stay as the newest sightings have
    made them.

    Args:
        now: as it is. other: what was merged into it. before: as it was before that.
        seen_ns: its first and its last sighting without the other's.
        world: for the words behind the numbers.
    """
    record = now.record.copy()
    record['observations'] = now.count - other.count
    record['looks'] = max(1, int(now.record['looks'][0]) - int(other.record['looks'][0]))
    record['first_seen_ns'], record['last_seen_ns'] = seen_ns
    doubt = 1.0 - float(other.record['confidence'][0])
    left = 1.0 - (1.0 - float(now.record['confidence'][0])) / doubt if doubt > 0 else 0.0
    record['confidence'] = max(left, float(before.record['confidence'][0]))
    total = now.masses
    for label, mass in other.masses.items():
        total[label] = total.get(label, 0.0) - mass
    held = {label: mass for label, mass in total.items() if mass > 0.1**DIGITS}
    more = _put_labels(record, held or before.masses, world)
    return finished(dataclasses.replace(now, record=record, more=more))


def finished(belief: Belief) -> Belief:
    """A belief as of a version that is about to be written."""
    record = belief.record
    record['has_feature'] = belief.feature is not None
    record['version_center'], record['version_size'] = record['center'], record['size']
    record['rest'], record['rest_count'] = record['center'], record['observations']
    record['fresh'], record['fresh_count'] = 0.0, 0
    return belief


def _weigh_boxes(record: Records, other: Records, share: float) -> None:
    record['center'] += share * (other['center'] - record['center'])
    if not record['size'].any():
        record['size'] = other['size']
    elif other['size'].any():
        record['size'] += share * (other['size'] - record['size'])
    if other['oriented'][0]:
        q, turn = record['orientation'], other['orientation']
        side = -1.0 if boxes.tree_sum(q * turn)[0] < 0 else 1.0
        weight = share if record['oriented'][0] else 1.0
        record['orientation'] = boxes.normalized(q + weight * (side * turn - q))
        record['oriented'] = True
    record['hull_center'] = record['center']
    record['half'] = boxes.hull_half(record['size'], record['orientation'])


def _unite_hulls(record: Records, other: Records, share: float) -> None:
    """Chronotope: the union of both (CH-28)."""
    low = np.minimum(record['hull_center'] - record['half'], other['hull_center'] - other['half'])
    high = np.maximum(record['hull_center'] + record['half'], other['hull_center'] + other['half'])
    record['center'] += share * (other['center'] - record['center'])
    put_hull(record, low, high)


def _put_labels(record: Records, total: dict[int, float], world: World) -> dict[int, float]:
    """Write label evidence into a record; returns what its slots do not hold.

    The heaviest label wins, the current one if it is as heavy, then the first by name.
    """
    names, current = world.labels.names, int(record['label'][0])
    order = sorted(total, key=lambda n: (-total[n], n != current, names[n]))
    labels, masses = np.full(LABEL_SLOTS, -1), np.zeros(LABEL_SLOTS)
    for slot, label in enumerate(order[:LABEL_SLOTS]):
        labels[slot], masses[slot] = label, total[label]
    record['labels'], record['masses'], record['label'] = labels, masses, order[0]
    return {label: total[label] for label in order[LABEL_SLOTS:]}


def _mean_feature(kept: Features | None, other: Features | None, share: float) -> Features | None:
    if kept is None or other is None:
        return other if kept is None else kept
    mean = kept.astype(np.float64)
    mean += share * (other.astype(np.float64) - mean)
    return _unit(mean, kept)


def _unit(mean: Floats, otherwise: Features) -> Features:
    if not np.abs(mean).max(initial=0.0) > 0.1**DIGITS:  # opposites
        return otherwise
    unit: Features = boxes.normalized(mean[None])[0].astype(np.float32)
    return unit


# -- one that is two -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sighting:
    """A stored observation as far as a split is concerned.

    Attributes:
        id, view_seq, stamp_ns: where it comes from.
        box: centre, size: (6,). turn: orientation; None: unknown.
        score: of the detector. masses: number of each label → what it adds to its evidence.
        feature: (D,) where it was kept. look: position and viewing direction of the sensor.
        double: whether it is a second box of another sighting, and no evidence of its own.
    """

    id: int
    view_seq: int
    stamp_ns: int
    box: Floats
    turn: tuple[float, ...] | None
    score: float
    masses: dict[int, float]
    feature: Features | None
    look: tuple[Floats, Floats]
    double: bool = False

    @property
    def key(self) -> tuple[int, int]:
        """Sorts by time."""
        return self.stamp_ns, self.id


def two_groups(points: Floats) -> np.ndarray | None:
    """(n,) whether each point is of the second of two groups; None: there are no two (CH-27).

    2-means that begins with the two points that are farthest apart; ties go to the first group.
    """
    if len(points) < 2 * LEAST:
        return None
    first, second = _farthest(points)
    middle = points[[first, second]]
    groups: np.ndarray | None = None
    for _ in range(_ROUNDS):
        second_is_nearer = _away(points, middle[1]) < _away(points, middle[0])
        if second_is_nearer.all() or not second_is_nearer.any():
            return None
        if groups is not None and (groups == second_is_nearer).all():
            break
        groups = second_is_nearer
        middle = np.stack([_mean(points[~groups]), _mean(points[groups])])
    assert groups is not None
    count = int(groups.sum())
    apart = float(_away(middle[:1], middle[1])[0])
    return groups if min(count, len(points) - count) >= LEAST and apart > APART_M else None


def is_nearer(sighting: Sighting, one: Sequence[Sighting], other: Sequence[Sighting]) -> bool:
    """Whether a sighting is nearer to the middle of one group than to that of another."""
    away = [
        float(_away(sighting.box[None, :3], _mean(np.stack([s.box[:3] for s in group])))[0])
        for group in (one, other)
    ]
    return away[0] < away[1]


def _farthest(points: Floats) -> tuple[int, int]:
    """Places of the two points farthest from each other, in their order; the first of equals."""
    if len(points) > _EXACT:  # of very many, from the one farthest from the first: near enough
        one = int(_away(points, points[0]).argmax())
        other = int(_away(points, points[one]).argmax())
        return min(one, other), max(one, other)
    best, found = -1.0, (0, 1)
    for k in range(len(points) - 1):
        away = _away(points[k + 1 :], points[k])
        at = int(away.argmax())
        if away[at] > best:
            best, found = float(away[at]), (k, k + 1 + at)
    return found


def _away(points: Floats, from_point: Floats) -> Floats:
    result: Floats = np.round(boxes.distance(points, from_point[None]), DIGITS)
    return result


def _mean(rows: Floats) -> Floats:
    """Mean of the rows, added up one after the other."""
    result: Floats = np.add.reduce(rows, axis=0) / len(rows)
    return result


def part_of(parent: Belief, number: int, sightings: Sequence[Sighting], world: World) -> Belief:
    """What some of the sightings of an object make of it.

    Args:
        parent: the object. number: id of the part.
        sightings: those of the part, in the order of their ids.
        world: for the words behind the numbers.
    """
    sightings = [s for s in sightings if not s.double]
    record = parent.record.copy()
    record['id'] = number
    box = np.stack([s.box for s in sightings])
    record['center'] = _mean(box[:, :3])
    by_time = sorted(sightings, key=lambda s: s.key)
    turns = [s.turn for s in by_time if s.turn is not None]
    if world.off_center:
        half = box[:, 3:] * 0.5
        low, high = box[:, :3] - half, box[:, :3] + half
        put_hull(record, low.min(axis=0), high.max(axis=0))
    else:
        known = box[box[:, 3:].any(axis=1), 3:]
        record['size'] = _mean(known) if len(known) else 0.0
        record['orientation'], record['oriented'] = turns[-1] if turns else IDENTITY, bool(turns)
        record['hull_center'] = record['center']
        record['half'] = boxes.hull_half(record['size'], record['orientation'])
    confidence, total = by_time[0].score, dict[int, float]()
    for k, sighting in enumerate(by_time):
        confidence += (1.0 - confidence) * sighting.score * CONFIDENCE_GAIN if k else 0.0
        for label, mass in sighting.masses.items():
            total[label] = total.get(label, 0.0) + mass
    newest = by_time[-1]
    record['confidence'], record['observations'] = confidence, len(sightings)
    views = len({s.view_seq for s in sightings})
    record['looks'] = min(views, int(parent.record['looks'][0]))
    record['look_seq'], record['look_ns'] = newest.view_seq, newest.stamp_ns
    record['look_position'], record['look_axis'] = newest.look
    record['first_seen_ns'], record['last_seen_ns'] = by_time[0].stamp_ns, newest.stamp_ns
    more = _put_labels(record, total, world)
    return finished(Belief(record, more, _part_feature(parent, sightings)))


def _part_feature(parent: Belief, sightings: Sequence[Sighting]) -> Features | None:
    """The mean of the features that were kept; that of the whole where none was."""
    kept = [s.feature.astype(np.float64) for s in sightings if s.feature is not None]
    if not kept or parent.feature is None:
        return parent.feature
    return _unit(_mean(np.stack(kept)), parent.feature)


# -- two that are one ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Likeness:
    """Two objects of which one could be a sighting of the other.

    Attributes:
        kept_id, other_id: the lower id is kept. score: as of a detection (CH-15).
        terms: it is made of.
    """

    kept_id: int
    other_id: int
    score: float
    terms: dict[str, float]

    @property
    def order(self) -> tuple[float, int, int]:
        """The likest come first, ties by id."""
        return -self.score, self.kept_id, self.other_id


def alike(
    world: World, index: CandidateIndex, rows: Rows, sigma_m: float, c: Config
) -> list[Likeness]:
    """The pairs with one of these rows in them that the arbiter would have joined, likest first.

    The object with the higher id is scored as if it were a sighting of the other. Only neighbours
    are looked at, as for a detection.

    Args:
        world, index: the live objects. rows: of some of them.
        sigma_m: position noise of a detection. c: settings.
    """
    if not len(rows):
        return []
    r = world.records
    place, near = index.overlapping(r['hull_center'][rows], r['half'][rows], c.dilation_m)
    one = rows[place]
    later = np.where(r['id'][one] > r['id'][near], one, near)
    earlier = np.where(r['id'][one] > r['id'][near], near, one)
    good = (one != near) & (r['map'][one] == r['map'][near])
    wanted = set(zip(earlier[good].tolist(), later[good].tolist()))
    found = []
    seen = np.unique(later[good])
    for number in np.unique(r['map'][seen]).tolist():
        some = seen[r['map'][seen] == number]
        evidence = _as_evidence(world, some, sigma_m)
        pairs = find_pairs(evidence, r['label'][some], number, world, index, c)
        for k in np.flatnonzero(pairs.total >= c.merge_score).tolist():
            row, other = int(pairs.row[k]), int(some[pairs.place[k]])
            if (row, other) in wanted:
                values = pairs.terms[k].tolist()
                terms = {name: value for name, value in zip(TERMS, values) if value == value}
                found.append(
                    Likeness(int(r['id'][row]), int(r['id'][other]), float(pairs.total[k]), terms)
                )
    return sorted(found, key=lambda pair: pair.order)


def _as_evidence(world: World, rows: Rows, sigma_m: float) -> Evidence:
    """Objects as if they were detections."""
    r: Any = world.records[rows]
    count = len(rows)
    feature = np.zeros((count, world.features.dim or 0), np.float32)
    held = np.flatnonzero(r['has_feature'])
    if len(held):
        feature[held] = world.features.take(rows[held])
    return Evidence(
        index=np.arange(count),
        labels=[world.labels.names[n] for n in r['label'].tolist()],
        score=np.ascontiguousarray(r['confidence']),
        center=np.ascontiguousarray(r['center']),
        size=np.ascontiguousarray(r['size']),
        half=np.ascontiguousarray(r['half']),
        orientation=np.ascontiguousarray(r['orientation']),
        oriented=np.ascontiguousarray(r['oriented']),
        extent=r['size'].max(axis=1, initial=0.0) > 0,
        cov=np.full((count, 9), np.nan),
        sigma=np.full(count, sigma_m),
        feature=feature,
        has_feature=np.ascontiguousarray(r['has_feature']),
        alternatives=[None] * count,
        track_ids=[''] * count,
    )
