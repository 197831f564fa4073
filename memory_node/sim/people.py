# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""People who walk through the rooms, between the robot and the furniture, and out of its way."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from memory_node.model import Triple
from memory_node.sim.home import ROOMS, middle_of_room

PERSON, PERSON_M = 'person', (0.42, 0.28, 1.7)
PACE_MPS = (0.5, 1.0)
LANES_M = (-0.7, 0.95)
"""y of the way there and of the way back."""
DOOR_Y_M, DOOR_X_M, END_X_M = 0.2, 1.7, 1.5
"""Where the ways cross the doors; how far from the middle of a room they bend, and end."""
BERTH_M = 0.65
"""Nobody comes nearer to the robot: who would, steps aside."""


class People:
    """Who walks where, by a seed."""

    def __init__(self, seed: int, count: int) -> None:
        rng = np.random.default_rng([seed, 11])
        self._way = _round()
        self._length_m = sum(_sides(self._way))
        self._first_m = (rng.random(count) * self._length_m).tolist()
        self._paces = rng.uniform(*PACE_MPS, size=count).tolist()

    def at(self, time_s: float, robot_m: Triple) -> list[Triple]:
        """Return the middles of their boxes, map metres."""
        places = []
        for first_m, pace in zip(self._first_m, self._paces):
            x, y = _along(self._way, (first_m + pace * time_s) % self._length_m)
            apart = math.hypot(x - robot_m[0], y - robot_m[1])
            if apart < BERTH_M:
                # Towards the side on which the person is, never through the robot.
                aside = math.sqrt(BERTH_M**2 - (x - robot_m[0]) ** 2)
                y = robot_m[1] + math.copysign(aside, y - robot_m[1])
            places.append((x, y, PERSON_M[2] / 2))
        return places


def _round() -> list[tuple[float, float]]:
    """Once through all rooms and back, and back to the beginning."""
    there, back = LANES_M
    way = [(middle_of_room(0)[0] - END_X_M, there)]
    for lane, rooms, side in ((there, range(len(ROOMS)), 1), (back, range(len(ROOMS))[::-1], -1)):
        for room in rooms:
            middle = middle_of_room(room)[0]
            is_end = room in (0, len(ROOMS) - 1)
            enter, leave = middle - side * DOOR_X_M, middle + side * DOOR_X_M
            if not (is_end and (room == 0) == (side > 0)):
                door = math.copysign(DOOR_Y_M, lane)
                way += [(enter, door), (middle - side * 1.2, lane)]
            if is_end and (room == 0) != (side > 0):
                way.append((middle + side * END_X_M, lane))
            else:
                way += [(middle + side * 1.2, lane), (leave, math.copysign(DOOR_Y_M, lane))]
    return [*way, way[0]]


def _sides(way: Sequence[tuple[float, float]]) -> list[float]:
    return [math.dist(a, b) for a, b in itertools.pairwise(way)]


def _along(way: Sequence[tuple[float, float]], gone_m: float) -> tuple[float, float]:
    for (start, end), side in zip(itertools.pairwise(way), _sides(way)):
        if gone_m <= side:
            share = gone_m / side if side else 0.0
            return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])
        gone_m -= side
    return way[-1]
