# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The robot's tour: it goes from place to place, and looks at each piece of furniture from each."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from memory_node.model import Floats, Triple
from memory_node.sim.home import Piece

EYE_M, AWAY_M = 1.45, 1.25
"""Height of the camera, and how far from the middle of a piece of furniture it stands."""
SIDES_M = (-0.75, -0.25, 0.25, 0.75)
"""How far to the side the robot looks at each piece from."""
SPEED_MPS, TURN_RADPS, STAY_S = 0.7, 1.2, 1.5
"""How fast it goes and turns, and how long it stays at each place."""


class Stand(NamedTuple):
    """Where a camera is, and what it looks at, map metres."""

    eye_m: Triple
    target_m: Triple

    @property
    def rotation(self) -> Floats:
        """(3, 3): columns are the optical axes right, down, forward in the map."""
        forward = np.subtract(self.target_m, self.eye_m)
        forward /= math.sqrt(float((forward * forward).sum()))
        right = np.array([forward[1], -forward[0], 0.0])
        right /= math.sqrt(float((right * right).sum()))
        return np.column_stack([right, np.cross(forward, right), forward])

    @property
    def yaw_rad(self) -> float:
        """Where it looks, about the vertical."""
        return math.atan2(self.target_m[1] - self.eye_m[1], self.target_m[0] - self.eye_m[0])

    @property
    def down_rad(self) -> float:
        """How far it looks down."""
        away = math.dist(self.target_m[:2], self.eye_m[:2])
        return math.atan2(self.eye_m[2] - self.target_m[2], away)


class Stop(NamedTuple):
    """One place of the tour. at_s: when the robot gets there, after the tour began."""

    stand: Stand
    piece: int
    at_s: float


class Route:
    """The tour of a home.

    Attributes:
        stops: in order. duration_s: of all of it.
    """

    def __init__(self, furniture: Sequence[Piece]) -> None:
        """Plan it."""
        self.stops: list[Stop] = []
        at_s = 0.0
        for number, piece in enumerate(furniture):
            for stand in stands_before(piece):
                if self.stops:
                    at_s += STAY_S + _way_s(self.stops[-1].stand, stand)
                self.stops.append(Stop(stand, number, at_s))
        self.duration_s = at_s + STAY_S
        self._at = [stop.at_s for stop in self.stops]

    def stand_at(self, after_s: float) -> Stand:
        """Return where the camera is so long after the tour began; before and after it, it stands.

        It turns with its way; between two places it looks from the one target to the other.
        """
        number = max(bisect_right(self._at, after_s) - 1, 0)
        here = self.stops[number].stand
        if number + 1 == len(self.stops) or after_s <= self._at[number] + STAY_S:
            return here
        there = self.stops[number + 1].stand
        left = self._at[number] + STAY_S
        share = (after_s - left) / (self._at[number + 1] - left)
        eye = _between(here.eye_m, there.eye_m, share)
        yaw = here.yaw_rad + share * _turn(here.yaw_rad, there.yaw_rad)
        down = here.down_rad + share * (there.down_rad - here.down_rad)
        reach = math.cos(down)
        target = (
            eye[0] + reach * math.cos(yaw), eye[1] + reach * math.sin(yaw),
            eye[2] - math.sin(down),
        )  # fmt: skip
        return Stand(eye, target)

    def passed(self, after_s: float) -> set[int]:
        """Return the pieces that were looked at from all sides by then."""
        ahead = {stop.piece for stop in self.stops if stop.at_s + STAY_S > after_s}
        return {stop.piece for stop in self.stops} - ahead


def stands_before(piece: Piece) -> list[Stand]:
    """Return from where a piece of furniture is looked at."""
    x, y, _ = piece.center_m
    out = piece.out
    along = (math.cos(piece.facing_rad), math.sin(piece.facing_rad))
    return [
        Stand(
            (x + AWAY_M * out[0] + side * along[0], y + AWAY_M * out[1] + side * along[1], EYE_M),
            (x, y, piece.size_m[2]),
        )
        for side in SIDES_M
    ]


def _way_s(here: Stand, there: Stand) -> float:
    go = math.dist(here.eye_m, there.eye_m) / SPEED_MPS
    return max(go, abs(_turn(here.yaw_rad, there.yaw_rad)) / TURN_RADPS)


def _turn(start_rad: float, end_rad: float) -> float:
    return (end_rad - start_rad + math.pi) % (2 * math.pi) - math.pi


def _between(start: Triple, end: Triple, share: float) -> Triple:
    x, y, z = (a + share * (b - a) for a, b in zip(start, end))
    return x, y, z
