# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated world: home, robot, people and what happens, all as of one simulated time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from memory_node.errors import InvalidValueError
from memory_node.model import Triple
from memory_node.sim.home import Home, Where
from memory_node.sim.people import PERSON, PERSON_M, People
from memory_node.sim.route import Route, Stand
from memory_node.sim.scene import Frame, Scene
from memory_node.sim.script import Act, Director, Done, Event, Script
from memory_node.sim.settings import SimulationConfig

FURNITURE, PEOPLE, SCREENS = 'furniture', 'person', 'screen'
SAME_M = 0.01
"""What is so near to where it was has not left."""


class Real(NamedTuple):
    """What there is.

    Attributes:
        name: unique. state: furniture, person, screen, or of a thing standing, drawer, away.
        center_m, size_m: of its box; the centre of what is away is where it was.
        observable: the camera shows it now.
    """

    name: str
    label: str
    state: str
    center_m: Triple
    size_m: Triple
    observable: bool


class Left(NamedTuple):
    """A place that a thing has left for good or for a while.

    Attributes:
        done: why. observable: the camera sees now that nothing is there.
    """

    done: Done
    observable: bool


class SimulatedWorld:
    """Everything as of the time to which it was taken; close it when it is done with.

    Attributes:
        now_ns: that time. route, script, home: see there.
    """

    def __init__(self, config: SimulationConfig) -> None:
        """Build it, as it is when the first tour to be made begins.

        Raises:
            MissingExtraError: pybullet is not installed.
            InvalidValueError: there is not room for so many things.
        """
        self.config = config
        self.home = Home(config.seed, config.things)
        self.route = Route(self.home.furniture)
        self.script = Script(config, self.route)
        self._director = Director(self.home, self.script)
        self._people = People(config.seed, config.people)
        self._scene = Scene(self.home, config.people, config.hidden)
        self._due: list[Event] = []
        self._planned = 1
        self.now_ns = 0
        for tour in range(1, config.first_tour):
            self._take_to(self.begins_ns(tour))
        self._take_to(self.begins_ns(config.first_tour) - 1)

    def close(self) -> None:
        """End the simulation."""
        self._scene.close()

    @property
    def done(self) -> list[Done]:
        """All that has happened so far, in order."""
        return list(self._director.done)

    @property
    def labels(self) -> dict[int, str]:
        """Number in the masks → label."""
        return self._scene.labels

    def begins_ns(self, tour: int) -> int:
        """Return when a tour begins."""
        return self.script.begins_ns(tour)

    def tours(self) -> Iterator[int]:
        """Yield the tours to be made, for ever where the settings say so."""
        c = self.config
        tour = c.first_tour
        while not c.tours or tour < c.first_tour + c.tours:
            yield tour
            tour += 1

    def stamps(self, tour: int) -> list[int]:
        """Return when the images of a tour are taken."""
        period_ns = round(self.config.period_s * 1e9)
        count = 1 + int(self.route.duration_s * 1e9 // period_ns)
        return [self.begins_ns(tour) + k * period_ns for k in range(count)]

    def stand_at(self, time_ns: int) -> Stand:
        """Return where the camera is at a time; between tours it waits at the first place."""
        each_ns = self.begins_ns(2) - self.begins_ns(1)
        tour = 1 + max(0, (time_ns - self.begins_ns(1)) // each_ns)
        after_s = (time_ns - self.begins_ns(tour)) / 1e9
        if after_s > self.route.duration_s:
            after_s = 0.0
        return self.route.stand_at(after_s)

    def look(self, time_ns: int) -> Frame:
        """Let happen what is due until a time, and return what the camera sees then.

        Raises:
            InvalidValueError: that time has gone.
        """
        if time_ns <= self.now_ns:
            raise InvalidValueError(
                f'time_ns: got {time_ns}, expected one after {self.now_ns}: time does not go back'
            )
        self._take_to(time_ns)
        stand = self.stand_at(time_ns)
        self._scene.update(self._people.at(time_ns / 1e9, stand.eye_m))
        noise = np.random.default_rng([self.config.seed, 13, time_ns])
        return self._scene.look(stand, noise)

    def truth(self, frame: Frame) -> list[Real]:
        """Return what there is now; frame: of `look`, says what of it can be seen."""
        shown = set(frame.names.values())
        people = self._people.at(self.now_ns / 1e9, frame.stand.eye_m)
        found = [
            *((p.name, p.label, FURNITURE, p.center_m, p.size_m) for p in self.home.furniture),
            *((t.name, t.label, t.where.value, t.center_m, t.size_m) for t in self.home.things),
            *((s.name, s.label, SCREENS, s.center_m, s.size_m) for s in self.home.screens),
            *(
                (f'{PERSON} {k + 1}', PERSON, PEOPLE, place, PERSON_M)
                for k, place in enumerate(people)
            ),
        ]
        return [Real(*real, observable=real[0] in shown) for real in found]

    def left(self, frame: Frame) -> list[Left]:
        """Return the places that were left, and whether the camera sees that they were.

        Those of the newest tour in which something was, and of the one before it.
        """
        done_all = self._director.done
        since = done_all[-1].tour - 1 if done_all else 0
        found = []
        for done in done_all:
            if done.tour < since or done.act in (Act.HIDE, Act.RETURN):
                continue
            back = done.thing.where is not Where.AWAY and (
                math.dist(done.thing.center_m, done.from_m) < SAME_M
            )
            found.append(Left(done, not back and frame.clears(done.from_m, done.thing.size_m)))
        return found

    def _take_to(self, time_ns: int) -> None:
        """Let happen what is due until a time."""
        while self.begins_ns(self._planned) <= time_ns + self.begins_ns(2) - self.begins_ns(1):
            self._planned += 1
            self._due += self.script.events(self._planned)
        self._due.sort(key=lambda event: event.at_ns)
        while self._due and self._due[0].at_ns <= time_ns:
            self._director.play(self._due.pop(0))
        self.now_ns = time_ns
