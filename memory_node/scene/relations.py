# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Relations between objects, from their boxes as they are now (CH-33)."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from memory_node.config import Config
from memory_node.fusion.world import STATE_CODE, Rows, World
from memory_node.model import Floats, Relation, RelationKind, State
from memory_node.scene import boxes

DIGITS = 9
"""Distances are rounded to this many digits before they are compared."""


class Boxes(Protocol):
    """Where boxes are; see CandidateIndex."""

    def overlapping(self, center: Floats, half: Floats, margin_m: float) -> tuple[np.ndarray, Rows]:
        """Find pairs of boxes that overlap once the stored ones are grown by a margin."""


GONE = (STATE_CODE[State.ABSENT], STATE_CODE[State.HELD])
"""What is in these states is not at its place, so nothing is on it or near it."""


def relations_about(world: World, index: Boxes, rows: Rows, config: Config) -> list[Relation]:
    """All relations in which one of the given objects is the subject or the object.

    near: centres within `near_m`, both ways. on: the footprints overlap, the bottom of the subject
    is within `on_gap_m` of the top of the other, and its centre is higher. under: the inverse.
    """
    if not len(rows):
        return []
    r = world.records
    margin = max(config.near_m, config.on_gap_m) + 0.1**DIGITS
    place, other = index.overlapping(r['hull_center'][rows], r['half'][rows], margin)
    one = rows[place]
    keep = (one != other) & (r['map'][one] == r['map'][other])
    keep &= ~np.isin(r['state'][one], GONE) & ~np.isin(r['state'][other], GONE)
    one, other = one[keep], other[keep]
    near_to = np.unique(np.sort(np.stack([one, other], axis=1), axis=1), axis=0)
    found = _near(world, near_to, config.near_m)
    found += _stacked(world, near_to, config.on_gap_m)
    found += _stacked(world, near_to[:, ::-1], config.on_gap_m)
    return sorted(found, key=lambda n: (n.subject_id, n.kind, n.object_id))


def _near(world: World, pairs: Rows, near_m: float) -> list[Relation]:
    r = world.records
    apart = boxes.distance(r['center'][pairs[:, 0]], r['center'][pairs[:, 1]])
    close = np.round(apart, DIGITS) <= near_m
    found = []
    for a, b in pairs[close].tolist():
        found.append(_relation(world, a, RelationKind.NEAR, b))
        found.append(_relation(world, b, RelationKind.NEAR, a))
    return found


def _stacked(world: World, pairs: Rows, gap_m: float) -> list[Relation]:
    """The first of each pair on the second."""
    a, b = world.records[pairs[:, 0]], world.records[pairs[:, 1]]
    apart = np.abs(a['center'] - b['center']) - a['half'] - b['half']
    over = (apart[:, :2] < 0).all(axis=1)
    bottom = a['center'][:, 2] - a['half'][:, 2]
    top = b['center'][:, 2] + b['half'][:, 2]
    rests = over & (np.round(np.abs(bottom - top), DIGITS) <= gap_m)
    rests &= a['center'][:, 2] > b['center'][:, 2]
    found = []
    for one, other in pairs[rests].tolist():
        found.append(_relation(world, one, RelationKind.ON, other))
        found.append(_relation(world, other, RelationKind.UNDER, one))
    return found


def _relation(world: World, subject: int, kind: RelationKind, other: int) -> Relation:
    r = world.records
    confidence = min(float(r['confidence'][subject]), float(r['confidence'][other]))
    return Relation(int(r['id'][subject]), kind, int(r['id'][other]), confidence)
