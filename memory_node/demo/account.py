# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What there is and what happened in the simulated home, and what of it a robot could know."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from memory_node.demo.rearranged import Changed, Place, is_right
from memory_node.demo.truth import MATCH_M, REPORTED, Remembered, Thing, match
from memory_node.model import Triple
from memory_node.sim.home import Where
from memory_node.sim.world import FURNITURE, SCREENS, Real

MOVE, STOW = 'move', 'stow'
STANDING, DRAWER = Where.STANDING.value, Where.DRAWER.value
HERE_M = 0.02
"""A thing that is so near to where it was has not been moved meanwhile."""


class Departure(NamedTuple):
    """A place that was left at a time, as the truth has it; `clear`: the camera shows it empty."""

    name: str
    label: str
    act: str
    by_robot: bool
    at_ns: int
    place_m: Triple
    clear: bool


class Account:
    """Adds up what the truth says of each image.

    Attributes:
        now: name → the newest of each thing.
        stamps_ns: of the images of which is known what there was; left_stamps_ns: what had left.
    """

    def __init__(self) -> None:
        self.stamps_ns: list[int] = []
        self.left_stamps_ns: list[int] = []
        self.now: dict[str, Real] = {}
        self._seen: dict[str, list[Real]] = {}
        self._clear: Counter[tuple[str, int]] = Counter()
        self._left: dict[tuple[str, int], Departure] = {}

    def add(self, stamp_ns: int, shown: Sequence[Real]) -> None:
        """Take in what there is at one instant."""
        self.stamps_ns.append(stamp_ns)
        self.now = {one.name: one for one in shown}
        for one in shown:
            if one.observable:
                self._seen.setdefault(one.name, []).append(one)

    def leave(self, stamp_ns: int, departures: Sequence[Departure]) -> None:
        """Take in which places have been left by an instant."""
        self.left_stamps_ns.append(stamp_ns)
        for one in departures:
            self._left[one.name, one.at_ns] = one
            self._clear[one.name, one.at_ns] += one.clear

    def looks_at(self, name: str, place_m: Triple) -> int:
        """How many images show a thing at a place."""
        return sum(
            math.dist(one.center_m, place_m) <= HERE_M for one in self._seen.get(name, ())
        )  # fmt: skip

    def things(self) -> list[Thing]:
        """Return the things that stand where the robot has seen them.

        Those that were hidden since are among them, and those that the robot put away itself: it
        has to remember them. Furniture and screens are not.
        """
        known = [
            one for one in self.now.values()
            if one.state == STANDING and self.looks_at(one.name, one.center_m) >= REPORTED
        ]  # fmt: skip
        return [Thing(s.label, s.center_m, s.size_m, True, REPORTED) for s in known]

    def objects(self) -> int:
        """How many objects a memory should hold.

        Things, furniture, screens, what the robot put away, and what it has not seen to be gone.
        """
        others = [
            one for one in self.now.values()
            if one.state in (FURNITURE, SCREENS)
            and self.looks_at(one.name, one.center_m) >= REPORTED
        ]  # fmt: skip
        believed = [one for key, one in self._left.items() if self._is_believed(key, one)]
        return len(self.things()) + len(others) + len(believed)

    def changed(self) -> list[Changed]:
        """Return what was moved, taken away or put into a drawer.

        `shown`: the robot had seen it there, has seen that it left, and where it is if it is
        anywhere to be seen.
        """
        found = []
        for (name, at_ns), one in self._left.items():
            now = self.now[name]
            before = self.looks_at(name, one.place_m)
            was = Thing(one.label, one.place_m, now.size_m, True, before)
            if one.by_robot:  # it has said so itself; that is not asked for
                found.append(Changed(was, self._holder_m(now.center_m), False))
                continue
            left = before >= REPORTED and self._clear[name, at_ns] >= REPORTED
            if one.act == MOVE:
                again = self.looks_at(name, now.center_m) >= REPORTED
                found.append(Changed(was, now.center_m, left and again))
            else:
                found.append(Changed(was, None, left))
                found += self._on_its_way(name, was)
        return found

    def _holder_m(self, place_m: Triple) -> Triple:
        """The middle of the furniture that a drawer is in."""
        centers = [one.center_m for one in self.now.values() if one.state == FURNITURE]
        return min(centers, key=lambda center: math.dist(center, place_m), default=place_m)

    def _on_its_way(self, name: str, was: Thing) -> list[Changed]:
        """It may have been seen in a drawer before that was closed: so it is right to say."""
        places = [one.center_m for one in self._seen.get(name, ()) if one.state == DRAWER]
        return [
            change for place in dict.fromkeys(places)
            for change in (
                Changed(was, place, False),
                Changed(Thing(was.label, place, was.size_m, True, 0), None, False),
            )
        ]  # fmt: skip

    def _is_believed(self, key: tuple[str, int], one: Departure) -> bool:
        """Whether a thing that has left is still known: put away, or not seen to be gone."""
        if self.looks_at(one.name, one.place_m) < REPORTED:
            return False
        return one.by_robot or self._clear[key] < REPORTED


def errors_m(things: Sequence[Thing], objects: Sequence[Remembered]) -> list[float]:
    """Return how far each thing is from its object; infinite where it has none."""
    found = {thing: error for thing, _, error in match(things, objects)}
    return [found.get(k, math.inf) for k in range(len(things))]


def median_m(errors: Sequence[float]) -> float:
    """Return the median; infinite where there is nothing."""
    return float(np.median(errors)) if errors else math.inf


def wrongly_gone(account: Account, gone: Sequence[Place]) -> list[Place]:
    """Return of what is said to be gone what has not left: hidden things above all."""
    changed = account.changed()
    return [
        place for place in gone
        if not is_right(place, changed)
        and any(
            one.label == place.label and one.state in (STANDING, FURNITURE, SCREENS, DRAWER)
            and math.dist(one.center_m, place.start_m) <= MATCH_M
            for one in account.now.values()
        )
    ]  # fmt: skip
