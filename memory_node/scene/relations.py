# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Relations between objects, from their boxes as the last version of each says.

near (both ways): centres within `near_m`. on, inside: what holds the subject, see `support`; one
thing at most. part_of: by the table of classes; one thing at most. under: the inverse of on, and
below what shelters (a table, a bed). beside (both ways): side by side, with a gap up to `beside_m`.
against: beside within `against_m`, the other covering at least half of the subject's side.

Profile chronotope has near, on and under by CH-33, whatever the class: on is then all that has its
bottom within `on_gap_m` of the other's top, above its footprint.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from memory_node.config import CHRONOTOPE, Config
from memory_node.fusion.classes import Classes
from memory_node.fusion.world import Rows, World
from memory_node.model import Floats, Relation, RelationKind
from memory_node.scene import boxes, support
from memory_node.scene.boxes import Bools
from memory_node.scene.support import DIGITS, REACH_M
from memory_node.scene.things import Things

OVERLAP_M = 0.05
"""So deep may boxes side by side overlap: they are noisy."""
LOW = 1 / 3
"""What is under a thing without being held has its bottom in this part of its height."""
HOLDS = (RelationKind.ON, RelationKind.INSIDE, RelationKind.PART_OF)
"""The object of these holds the subject: one of them at most."""

Pairs = tuple[np.ndarray, np.ndarray]
Found = list[tuple[RelationKind, np.ndarray, np.ndarray]]


class Boxes(Protocol):
    """Where boxes are; see CandidateIndex."""

    def overlapping(self, center: Floats, half: Floats, margin_m: float) -> tuple[np.ndarray, Rows]:
        """Find pairs of boxes that overlap once the stored ones are grown by a margin."""


def relations_about(world: World, index: Boxes, rows: Rows, config: Config) -> list[Relation]:
    """All relations in which one of the given objects is the subject or the object."""
    if not len(rows):
        return []
    one, other = _around(world, index, rows, _reach_m(config), config)
    pairs = [(one, other), (other, one)]
    if config.profile != CHRONOTOPE:
        # Whether one of these holds a neighbour hangs on all that is around that.
        held = np.setdiff1d(dependants(world, index, rows, config), rows)
        pairs.append(_around(world, index, held, max(REACH_M, config.on_gap_m), config))
    about, at = np.unique(
        np.concatenate([rows, *[side for pair in pairs for side in pair]]), return_inverse=True
    )
    sides = at.reshape(-1)[len(rows) :].reshape(-1)
    things = Things.of_records(world, world.records[about], config)
    child, parent = _unique_pairs(sides, [len(pair[0]) for pair in pairs])
    asked = np.isin(about, rows)
    found: list[Relation] = []
    for kind, a, b in among(things, child, parent, config, world.columns.classes):
        keep = asked[a] | asked[b]
        found += _relations(things, kind, a[keep], b[keep])
    return sorted(found, key=lambda n: (n.subject_id, n.kind, n.object_id))


def unstated(found: Iterable[Relation], stated: Iterable[Relation]) -> list[Relation]:
    """Those that follow from geometry, without what somebody stated too."""
    told = {(r.subject_id, str(r.kind), r.object_id) for r in stated}
    return [r for r in found if (r.subject_id, str(r.kind), r.object_id) not in told]


def dependants(world: World, index: Boxes, rows: Rows, config: Config) -> Rows:
    """The objects around these whose holder may be another if one of these changes."""
    if config.profile == CHRONOTOPE:
        return rows[:0]
    one, other = _around(world, index, rows, max(REACH_M, config.on_gap_m), config)
    if not len(one):
        return rows[:0]
    about, at = np.unique(np.concatenate([one, other]), return_inverse=True)
    parent, child = at.reshape(2, -1)
    things = Things.of_records(world, world.records[about], config)
    classes = world.columns.classes
    able = np.isfinite(support.penalties(things, child, parent, config.on_gap_m, classes)[0])
    able |= np.isfinite(support.part_gaps(things, child, parent, classes))
    return np.unique(about[child[able]])


def among(
    things: Things, one: np.ndarray, other: np.ndarray, config: Config, classes: Classes
) -> Found:
    """The relations between things of which each pair of places is given, both ways.

    What holds a thing is the best of those that it is paired with.
    """
    know = support.comparable(things, one, other)
    one, other = one[know], other[know]
    found = [_near(things, one, other, config.near_m)]
    if config.profile == CHRONOTOPE:
        on = _stacked(things, one, other, config.on_gap_m)
        return [*found, (RelationKind.ON, *on), (RelationKind.UNDER, *on[::-1])]
    whole = support.part_gaps(things, one, other, classes)
    best = support.best(one, other, whole, things.ids)
    part = (one[best], other[best])
    penalty, inside = support.penalties(things, one, other, config.on_gap_m, classes)
    best = support.best(one, other, penalty, things.ids)
    best = best[~_among(one[best], other[best], *part)]
    held = np.zeros(len(one), bool)
    held[best] = True
    rest, within = held & ~inside, held & inside
    found += [
        (RelationKind.PART_OF, *part), (RelationKind.ON, one[rest], other[rest]),
        (RelationKind.INSIDE, one[within], other[within]),
        (RelationKind.UNDER, other[rest], one[rest]),
    ]  # fmt: skip
    tied = held | _among(one, other, *part)
    tied |= _among(other, one, one[tied], other[tied])
    low = _sheltered(things, one, other, things.roles(classes)) & ~tied
    found.append((RelationKind.UNDER, one[low], other[low]))
    tied |= low | _among(other, one, one[low], other[low])
    return found + _side_by_side(things, one[~tied], other[~tied], config)


def _near(
    things: Things, one: np.ndarray, other: np.ndarray, near_m: float
) -> tuple[RelationKind, np.ndarray, np.ndarray]:
    apart = boxes.distance(things.center[one], things.center[other])
    close = np.round(apart, DIGITS) <= near_m
    return RelationKind.NEAR, one[close], other[close]


def _stacked(things: Things, one: np.ndarray, other: np.ndarray, gap_m: float) -> Pairs:
    """The pairs of which the first is on the second by CH-33."""
    a, b = things.center[one], things.center[other]
    over = ((np.abs(a - b) - things.half[one] - things.half[other])[:, :2] < 0).all(axis=1)
    gap = (a - things.half[one])[:, 2] - (b + things.half[other])[:, 2]
    rests = over & (np.round(np.abs(gap), DIGITS) <= gap_m) & (a[:, 2] > b[:, 2])
    return one[rests], other[rests]


def _sheltered(
    things: Things, one: np.ndarray, other: np.ndarray, role: dict[str, np.ndarray]
) -> Bools:
    """(P,) whether the first stands low under the second, which shelters."""
    out = np.abs(things.center[one] - things.center[other]) - things.half[other]
    a, b = things.center[one][:, 2], things.center[other][:, 2]
    high, reach = things.half[one][:, 2], things.half[other][:, 2]
    low = a - high <= b - reach + LOW * 2 * reach
    below = a + high <= b + reach - OVERLAP_M
    result: Bools = (out[:, :2].round(DIGITS) <= 0).all(axis=1) & low & below
    return result & role['shelters'][other]


def _side_by_side(things: Things, one: np.ndarray, other: np.ndarray, config: Config) -> Found:
    """beside and against, of pairs that are given both ways."""
    apart = np.abs(things.center[one] - things.center[other])
    a, b = things.half[one], things.half[other]
    gap = (apart - a - b).round(DIGITS)
    shared = (np.minimum(np.minimum(a, b) * 2, -gap) / np.maximum(a * 2, 1e-9)).round(DIGITS)
    across = gap[:, :2].argmax(axis=1)
    side = np.arange(len(one))
    aside = gap[side, across]
    level = np.minimum(-gap[:, 2], 2 * np.minimum(a, b)[:, 2])
    level = (level / np.maximum(2 * np.minimum(a, b)[:, 2], 1e-9)).round(DIGITS)
    beside = (aside > -OVERLAP_M) & (aside <= config.beside_m) & (level >= 0.5)
    covered = (shared[side, 1 - across] >= 0.5) & (shared[:, 2] >= 0.5)
    against = beside & covered & (aside <= config.against_m)
    against &= a.prod(axis=1) < b.prod(axis=1)
    return [
        (RelationKind.BESIDE, one[beside], other[beside]),
        (RelationKind.AGAINST, one[against], other[against]),
    ]


def _reach_m(config: Config) -> float:
    wide = (config.near_m, config.on_gap_m, config.beside_m, config.against_m, REACH_M)
    return max(wide) + 0.1**DIGITS


def _around(world: World, index: Boxes, rows: Rows, reach_m: float, config: Config) -> Pairs:
    """Pairs of each of the rows and another whose boxes are within reach; rows.

    The index knows the boxes as they are now, from which the versions differ by at most so much.
    """
    if not len(rows):
        return rows[:0], rows[:0]
    r = world.records
    place, other = index.overlapping(
        r['hull_center'][rows], r['half'][rows], reach_m + 3 * config.version_distance_m
    )
    one = rows[place]
    keep = (one != other) & (r['map'][one] == r['map'][other])
    return one[keep], other[keep]


def _unique_pairs(sides: np.ndarray, lengths: list[int]) -> Pairs:
    """The distinct pairs; sides: of each list of pairs all first places, then all second ones."""
    one, other, first = [], [], 0
    for length in lengths:
        one.append(sides[first : first + length])
        other.append(sides[first + length : first + 2 * length])
        first += 2 * length
    pairs = np.unique(np.stack([np.concatenate(one), np.concatenate(other)], axis=1), axis=0)
    return pairs[:, 0], pairs[:, 1]


def _among(one: np.ndarray, other: np.ndarray, a: np.ndarray, b: np.ndarray) -> Bools:
    """(P,) whether a pair is one of the pairs a, b."""
    scale = int(max(one.max(initial=0), other.max(initial=0), b.max(initial=0))) + 1
    return np.isin(one * scale + other, a * scale + b)


def _relations(
    things: Things, kind: RelationKind, one: np.ndarray, other: np.ndarray
) -> list[Relation]:
    ids, least = things.ids, np.minimum(things.confidence[one], things.confidence[other])
    return [
        Relation(a, kind, b, sure)
        for a, b, sure in zip(ids[one].tolist(), ids[other].tolist(), least.tolist())
    ]
