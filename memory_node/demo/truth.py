# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the memory holds of a room, against what is in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from memory_node.demo.flat import FlatRoom
from memory_node.demo.roomr.streams import Truth
from memory_node.model import Floats, Triple

MATCH_M = 0.25
"""An object stands for a thing of its label when their centres are this close."""
REPORTED = 2
"""A thing counts when the detector reported it this often: as often as makes an object certain."""


@dataclass(frozen=True)
class Thing:
    """A true thing of a room: centre and side lengths in metres, map of the flat.

    Attributes:
        small: can be carried.
        reported: number of its detections.
    """

    label: str
    center_m: Triple
    size_m: Triple
    small: bool
    reported: int


@dataclass(frozen=True)
class Remembered:
    """An object as the memory holds it: centre in metres, map."""

    label: str
    center_m: Triple


@dataclass(frozen=True)
class Score:
    """One room, or all of them.

    Attributes:
        things: reported at least twice.
        objects: that the memory holds.
        errors_m: distance of the centres of each thing found and its object.
    """

    things: int
    objects: int
    errors_m: tuple[float, ...]

    @property
    def found(self) -> int:
        """Things that have an object."""
        return len(self.errors_m)

    @property
    def missed(self) -> int:
        """Things without an object."""
        return self.things - self.found

    @property
    def extra(self) -> int:
        """Objects without a thing."""
        return self.objects - self.found

    @property
    def median_error_m(self) -> float:
        """Of the things found; not a number when there are none."""
        return float(np.median(self.errors_m)) if self.errors_m else float('nan')

    def __add__(self, other: Score) -> Score:
        return Score(
            self.things + other.things,
            self.objects + other.objects,
            self.errors_m + other.errors_m,
        )


def things_of(room: FlatRoom, truth: Truth, visit: int = 1) -> list[Thing]:
    """Return the things of a room on one visit, in the map of the flat."""
    boxes = truth.visits[visit - 1]
    centers = boxes.center + room.offset_m
    return [
        Thing(
            label=label,
            center_m=_triple(centers[k]),
            size_m=_triple(boxes.size[k]),
            small=bool(truth.small[k]),
            reported=int(truth.detected[visit - 1][k]),
        )
        for k, label in enumerate(truth.labels)
    ]


def score(things: Sequence[Thing], objects: Sequence[Remembered]) -> Score:
    """Compare the things that were reported at least twice with the objects of their room."""
    counted = [thing for thing in things if thing.reported >= REPORTED]
    pairs = match(counted, objects)
    return Score(len(counted), len(objects), tuple(error for _, _, error in pairs))


def match(things: Sequence[Thing], objects: Sequence[Remembered]) -> list[tuple[int, int, float]]:
    """Return pairs (thing, object, metres) of one label within MATCH_M, one-to-one.

    As many pairs as can be, and of those the assignment with the least sum of distances.
    """
    if not things or not objects:
        return []
    apart = _distances(things, objects)
    labels = np.array([o.label for o in objects])
    same = np.array([t.label for t in things])[:, None] == labels
    possible = same & (apart <= MATCH_M)
    never = MATCH_M * (min(len(things), len(objects)) + 1)
    rows, columns = linear_sum_assignment(np.where(possible, apart, never))
    return [
        (int(i), int(j), float(apart[i, j]))
        for i, j in zip(rows, columns, strict=True)
        if possible[i, j]
    ]


def _distances(things: Sequence[Thing], objects: Sequence[Remembered]) -> Floats:
    a = np.array([t.center_m for t in things])[:, None]
    b = np.array([o.center_m for o in objects])
    apart: npt.NDArray[np.float64] = np.linalg.norm(a - b, axis=2)
    return apart


def _triple(row: Floats) -> Triple:
    return float(row[0]), float(row[1]), float(row[2])
