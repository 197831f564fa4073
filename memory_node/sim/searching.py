# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A robot that looks for things in the home, with a memory and without one (HY-17).

What lies about is seen from so near only that it has to be gone to. Things have a place where they
belong and are carried about between the searches. Without a memory the robot goes to the nearest
place at which it has not been yet; with one it goes where `plan_search` says, by probability and
way, and then does the same as without. Both begin each search at one place in one home.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from memory_node.errors import InvalidValueError
from memory_node.memory import SpatialMemory
from memory_node.model import Detection, Pose, State, Triple, View
from memory_node.recall.search_plan import LAST, SearchPlace
from memory_node.sim.home import ROOM_M, WALL_M, Home, Thing, middle_of_room

STEP_M, SIGHT_M = 0.25, 0.25
"""The way of one step, and how near the robot has to come to see what lies somewhere."""
STEP_NS, BETWEEN_NS = 1_500_000_000, 8 * 3600 * 10**9
"""Of one step, and from one search to the next."""
EYE_M = 1.2
DOWN_XYZW = (1.0, 0.0, 0.0, 0.0)
CARRIED, TIDIED = 0.2, 0.7
"""How probably a thing is carried elsewhere between two searches; how probably to its own place."""
WANTED = 6
"""Things that are looked for, again and again."""
PLACES = 100
"""Of a plan, at most."""
DETOUR = 4
"""Steps that a place is worth at least: of two near ones the likelier comes first."""


class SearchEpisode(NamedTuple):
    """One search, made twice.

    Attributes:
        number: from 0. label: of what was looked for. times_before: how often that was before.
        steps, steps_without: with a memory, and without.
    """

    number: int
    label: str
    times_before: int
    steps: int
    steps_without: int


def searches(memory: SpatialMemory, seed: int, count: int, things: int = 20) -> list[SearchEpisode]:
    """Let a robot look for things.

    Args:
        memory: an empty one; it learns from search to search.
        seed: of the home, of what is carried where, and of what is looked for.
        count: how many searches. things: in the home.

    Raises:
        InvalidValueError: the seed is negative, there are none, or fewer things than are wanted.
    """
    if count < 1:
        raise InvalidValueError(f'count: got {count}, expected at least 1 search')
    if things < WANTED:
        raise InvalidValueError(f'things: got {things}, expected at least {WANTED}')
    house = _House(Home(seed, things), np.random.default_rng([seed, 17]))
    searcher = _Searcher(memory, house)
    searcher.learn_furniture()
    before: dict[str, int] = {}
    found = []
    for number in range(count):
        if number:
            house.live_on()
            searcher.stamp_ns += BETWEEN_NS
        wanted, start = house.wish()
        without = _Walk(house, wanted, start)
        without.explore()
        steps = searcher.search(wanted, start)
        times = before.get(wanted.name, 0)
        found.append(SearchEpisode(number, wanted.label, times, steps, without.steps))
        before[wanted.name] = times + 1
    return found


class _House:
    """The home as it is lived in."""

    def __init__(self, home: Home, rng: np.random.Generator) -> None:
        self.home, self._rng = home, rng
        self._own = {thing.name: thing.piece for thing in home.things}
        self.places = [slot.place_m for slot in home.slots]

    def wish(self) -> tuple[Thing, Triple]:
        """Return what is looked for next, and where the robot is."""
        thing = self.home.things[int(self._rng.integers(WANTED))]
        return thing, middle_of_room(int(self._rng.integers(3)))

    def live_on(self) -> None:
        """Let things be carried about."""
        self.home.touched = set()
        for thing in self.home.things:
            if self._rng.random() < CARRIED:
                tidied = self._rng.random() < TIDIED
                self.home.move(thing, {self._own[thing.name]} if tidied else ())

    def around(self, place: Triple) -> list[Thing]:
        """Return what the robot sees from a place."""
        return [t for t in self.home.things if math.dist(t.center_m[:2], place[:2]) <= SIGHT_M]


@dataclass
class _Walk:
    """The way of a robot until it sees what it looks for."""

    house: _House
    wanted: Thing
    at: Triple
    watch: Callable[[Triple, Sequence[Thing]], None] = lambda place, things: None
    steps: int = 0
    found: bool = False
    left: list[Triple] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = list(self.house.places)

    def go(self, place: Triple) -> None:
        """Go somewhere, step by step; stop where the thing is seen."""
        for stop in (*_doors(self.at, place), place):
            for position in _steps(self.at, stop):
                self.steps += 1
                self.at = position
                self.left = [p for p in self.left if math.dist(p[:2], position[:2]) > SIGHT_M]
                seen = self.house.around(position)
                self.watch(position, seen)
                if self.wanted in seen:
                    self.found = True
                    return

    def explore(self, places: Sequence[Triple] | None = None) -> None:
        """Go to some places (None: all) where it has not been, the nearest first."""
        while not self.found:
            open_ = [p for p in self.left if places is None or p in places]
            if not open_:
                return
            nearest = min(open_, key=lambda p: (_way_m(self.at, p), p))
            self.left.remove(nearest)
            self.go(nearest)


class _Searcher:
    """A robot with a memory.

    Attributes:
        stamp_ns: the time.
    """

    def __init__(self, memory: SpatialMemory, house: _House) -> None:
        self._memory, self._house = memory, house
        self.stamp_ns = BETWEEN_NS

    def learn_furniture(self) -> None:
        """Furniture is seen from afar."""
        pieces = self._house.home.furniture
        for place in (middle_of_room(0), middle_of_room(1)):
            self._observe(place, [(p.label, p.center_m, p.size_m) for p in pieces])

    def search(self, wanted: Thing, start: Triple) -> int:
        """Look for a thing; return how many steps it took."""
        walk = _Walk(self._house, wanted, start, self._see)
        tried: set[tuple[float, ...]] = set()
        while not walk.found and (place := self._next(wanted, walk, tried)) is not None:
            tried.add(_key(place))
            if place.object_id:
                walk.go(place.position_m)
                if not walk.found and place.source == LAST:
                    self._not_found(place.object_id)
            if place.receptacle_id:  # and what else is on it
                walk.explore(self._on(place))
        walk.explore()
        for _ in range(2):  # it stays to look closely
            self._see(walk.at, [wanted])
        return walk.steps

    def _next(
        self, wanted: Thing, walk: _Walk, tried: set[tuple[float, ...]]
    ) -> SearchPlace | None:
        """The place with the best chance for the way to it."""
        plan = self._memory.plan_search(
            wanted.label, at_ns=self.stamp_ns, from_m=walk.at, limit=PLACES
        )
        open_ = [place for place in plan.places if _key(place) not in tried]
        return max(
            open_,
            key=lambda p: p.probability / (DETOUR + _way_m(walk.at, p.position_m) / STEP_M),
            default=None,
        )

    def _on(self, place: SearchPlace) -> list[Triple]:
        """The places on a piece of furniture."""
        it = self._memory.object(place.receptacle_id)
        return [
            p for p in self._house.places
            if all(abs(p[k] - it.center_m[k]) <= it.size_m[k] / 2 for k in (0, 1))
        ]  # fmt: skip

    def _not_found(self, number: int) -> None:
        """Not at its place (HY-16): looked twice, so that it is not gone to again."""
        for _ in range(2):
            self.stamp_ns += STEP_NS
            if self._memory.object(number).state is not State.ABSENT:
                self._memory.not_found(number, stamp_ns=self.stamp_ns)

    def _see(self, place: Triple, things: Sequence[Thing]) -> None:
        self.stamp_ns += STEP_NS
        if things:
            self._observe(place, [(t.label, t.center_m, t.size_m) for t in things])

    def _observe(self, place: Triple, shown: Sequence[tuple[str, Triple, Triple]]) -> None:
        self.stamp_ns += STEP_NS
        pose = Pose((place[0], place[1], EYE_M), DOWN_XYZW)
        self._memory.observe(View(
            stamp_ns=self.stamp_ns, sensor='head_camera', sensor_pose=pose, clock='sim',
            detections=[
                Detection(label=label, score=0.9, center_m=center, size_m=size)
                for label, center, size in shown
            ],
        ))  # fmt: skip


def _key(place: SearchPlace) -> tuple[float, ...]:
    return tuple(round(v, 2) for v in place.position_m)


def _steps(start: Triple, end: Triple) -> Iterator[Triple]:
    """Where the robot is after each step of a straight way; the last one ends there."""
    way_m = math.dist(start[:2], end[:2])
    count = max(math.ceil(way_m / STEP_M), 1)
    for k in range(1, count + 1):
        yield (
            start[0] + (end[0] - start[0]) * k / count, start[1] + (end[1] - start[1]) * k / count,
            0.0,
        )  # fmt: skip


def _doors(start: Triple, end: Triple) -> list[Triple]:
    """The middles of the doors between two places."""
    here, there = _room_of(start), _room_of(end)
    step = 1 if there >= here else -1
    half = (ROOM_M + WALL_M) / 2
    return [(middle_of_room(r)[0] + step * half, 0.0, 0.0) for r in range(here, there, step)]


def _room_of(place: Triple) -> int:
    return round(place[0] / (ROOM_M + WALL_M))


def _way_m(start: Triple, end: Triple) -> float:
    stops = [start, *_doors(start, end), end]
    return sum(math.dist(a[:2], b[:2]) for a, b in itertools.pairwise(stops))
