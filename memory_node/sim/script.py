# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What happens in the home and when: while the robot is away, elsewhere, and under its eyes."""

from __future__ import annotations

import enum
import itertools
from dataclasses import dataclass
from typing import NamedTuple

from memory_node.model import Triple
from memory_node.sim.home import ROOMS, Drawer, Home, Thing, Where, fits_in
from memory_node.sim.route import Route
from memory_node.sim.settings import SimulationConfig

MIDDLE_ROOM, LAST_ROOM = len(ROOMS) // 2, len(ROOMS) - 1
PER_ROOM = 3
IN_SIGHT_S = 0.5
"""So long after it has come to the first place before a piece, something happens there."""
DRAWER_S = 1.2
"""From opening a drawer to putting something in, and from then to closing it."""
BEFORE_S = 5.0
"""What happens while the robot is away happens at least so long before its tour."""


class Act(str, enum.Enum):
    """What may happen."""

    BEGIN, RETURN, MOVE, REMOVE, HIDE = 'begin', 'return', 'move', 'remove', 'hide'
    OPEN, STOW, CLOSE = 'open', 'stow', 'close'


class Occasion(str, enum.Enum):
    """When it happens."""

    BEHIND = 'behind'
    """At the end of the tour before, where the robot has been."""
    AWAY = 'away'
    """Between the tours."""
    AHEAD = 'ahead'
    """During the tour, where the robot has not been yet."""
    SIGHT = 'sight'
    """During the tour, before its eyes."""


MOVES = (
    Occasion.AWAY, Occasion.AHEAD, Occasion.AWAY, Occasion.SIGHT, Occasion.AWAY, Occasion.BEHIND,
)  # fmt: skip
REMOVALS = (Occasion.AWAY, Occasion.SIGHT, Occasion.AWAY)
STOWED = (Occasion.AWAY, Occasion.SIGHT, Occasion.AWAY)
HIDDEN = (Occasion.AWAY, Occasion.AHEAD)
"""When the first, the second, … happens; then from the beginning again."""


class Event(NamedTuple):
    """Something that is to happen. tour: the one by which it can be known."""

    at_ns: int
    tour: int
    act: Act
    occasion: Occasion


@dataclass
class Done:
    """Something that has happened to a thing.

    Attributes:
        act: MOVE, REMOVE, HIDE, STOW or RETURN. from_m: where it was.
        by_robot: the robot did it itself.
    """

    at_ns: int
    tour: int
    act: Act
    thing: Thing
    from_m: Triple
    by_robot: bool = False


class Script:
    """Decides what happens; which thing it happens to, the home draws by its seed."""

    def __init__(self, config: SimulationConfig, route: Route) -> None:
        self._config, self._route = config, route

    def begins_ns(self, tour: int) -> int:
        """Return when a tour begins, simulated time; the first one is number 1."""
        each_s = round(self._route.duration_s + self._config.away_s)
        return round(self._config.start_s * 1e9) + (tour - 1) * each_s * 10**9

    def events(self, tour: int) -> list[Event]:
        """Return what happens from the end of the tour before to the end of a tour, in order."""
        if tour < 2:
            return []
        c = self._config
        last = c.first_tour + c.tours - 1 if c.tours else tour
        if tour > last:
            return []
        begin = self._event(tour, Act.MOVE, Occasion.BEHIND, 0)
        found = [begin._replace(at_ns=begin.at_ns - 1, act=Act.BEGIN)]
        away = self._event(tour, Act.MOVE, Occasion.AWAY, 0)
        found.append(away._replace(at_ns=away.at_ns - 10**10, act=Act.RETURN))
        for act, occasions, count in (
            (Act.MOVE, MOVES, c.moves), (Act.REMOVE, REMOVALS, c.removals),
            (Act.STOW, STOWED, c.stowed), (Act.HIDE, HIDDEN, c.hidden),
        ):  # fmt: skip
            cycle = itertools.islice(itertools.cycle(occasions), count)
            for number, occasion in enumerate(cycle):
                found += self._acts(tour, act, occasion, number)
        return sorted(found, key=lambda event: event.at_ns)

    def pieces(self, event: Event) -> tuple[set[int], set[int]]:
        """Return of which pieces a thing is taken for an event, and on which it may be put."""
        stops = self._route.stops
        every = {stop.piece for stop in stops}
        if event.occasion is Occasion.AWAY:
            return every, every
        if event.occasion is Occasion.BEHIND:
            after_s = (event.at_ns - self.begins_ns(event.tour - 1)) / 1e9
            passed = self._route.passed(after_s)
            return passed, passed
        if event.occasion is Occasion.AHEAD:
            ahead = {p for p in every if p // PER_ROOM == LAST_ROOM}
            return ahead, ahead
        here = self._sight_piece(event.act)
        return {here}, {p for p in every if p > here}

    def ahead(self, event: Event) -> set[int]:
        """Return the pieces to which the robot has not come yet at an event of a tour."""
        after_s = (event.at_ns - self.begins_ns(event.tour)) / 1e9
        return {stop.piece for stop in self._route.stops if stop.at_s > max(after_s, 0.0)}

    def _acts(self, tour: int, act: Act, occasion: Occasion, number: int) -> list[Event]:
        if act is not Act.STOW or occasion is not Occasion.SIGHT:
            return [self._event(tour, act, occasion, number)]
        steps = (Act.OPEN, Act.STOW, Act.CLOSE)
        first = self._event(tour, Act.STOW, occasion, number)
        return [
            Event(first.at_ns + round(k * DRAWER_S * 1e9), tour, step, occasion)
            for k, step in enumerate(steps)
        ]

    def _event(self, tour: int, act: Act, occasion: Occasion, number: int) -> Event:
        begins_ns = self.begins_ns(tour)
        if occasion is Occasion.BEHIND:
            at_s = self._route.stops[-1].at_s - BEFORE_S + 0.1 * number
            at_ns = self.begins_ns(tour - 1) + round(at_s * 1e9)
        elif occasion is Occasion.AWAY:
            at_ns = begins_ns - round((BEFORE_S + 0.1 * number) * 1e9)
        elif occasion is Occasion.AHEAD:
            at_ns = begins_ns + round((2.0 + number) * 1e9)
        else:
            piece = self._sight_piece(act)
            stops = [stop for stop in self._route.stops if stop.piece == piece]
            at_ns = begins_ns + round((stops[0].at_s + IN_SIGHT_S + 0.1 * number) * 1e9)
        return Event(at_ns, tour, act, occasion)

    @staticmethod
    def _sight_piece(act: Act) -> int:
        """The piece before which something happens under the robot's eyes."""
        first = MIDDLE_ROOM * PER_ROOM
        return {Act.MOVE: first, Act.REMOVE: first + 1}.get(act, first + 2)


class Director:
    """Lets what is to happen happen.

    Attributes:
        done: all that has happened, in order.
    """

    def __init__(self, home: Home, script: Script) -> None:
        self._home, self._script = home, script
        self.done: list[Done] = []
        self._stowed_in = 0

    def play(self, event: Event) -> None:
        """Let one event happen; where there is nothing it could happen to, it does not."""
        home = self._home
        if event.act is Act.BEGIN:
            home.touched = set()
        elif event.act is Act.RETURN:
            self._bring_back(event)
        elif event.act in (Act.OPEN, Act.CLOSE):
            home.set_open(self._drawer(event), event.act is Act.OPEN)
        else:
            self._change(event)

    def _bring_back(self, event: Event) -> None:
        """What was away for a tour comes back; the screens go."""
        home = self._home
        home.screens = []
        for thing in home.things:
            if thing.where is not Where.STANDING:
                was_m = thing.center_m
                if home.bring_back(thing):
                    self.done.append(Done(event.at_ns, event.tour, Act.RETURN, thing, was_m))

    def _change(self, event: Event) -> None:
        home = self._home
        sources, targets = self._script.pieces(event)
        thing = self._chosen(event, sources)
        if thing is None:  # nothing there that it could happen to
            thing = self._chosen(event, self._script.ahead(event))
        if thing is None:
            return
        was_m = thing.center_m
        if event.act is Act.MOVE:
            if not (home.move(thing, targets) or home.move(thing, self._script.ahead(event))):
                return
        elif event.act is Act.REMOVE:
            home.take_away(thing)
        elif event.act is Act.HIDE:
            home.hide(thing)
        else:
            home.stow(thing, self._drawer(event))
        first = not any(d.tour == event.tour and d.act is Act.STOW for d in self.done)
        by_robot = event.act is Act.STOW and first and event.occasion is Occasion.AWAY
        self.done.append(Done(event.at_ns, event.tour, event.act, thing, was_m, by_robot))

    def _chosen(self, event: Event, sources: set[int]) -> Thing | None:
        if event.act is Act.HIDE:
            return self._home.choose(sources, in_front=True)
        if event.act is not Act.STOW:
            return self._home.choose(sources)
        tried: set[str] = set()
        before = set(self._home.touched)
        try:
            while (thing := self._home.choose(sources)) is not None:
                if fits_in(thing.size_m):
                    return thing
                tried.add(thing.name)
                self._home.touched |= tried
            return None
        finally:
            self._home.touched = before

    def _drawer(self, event: Event) -> Drawer:
        """The drawer before the robot, or while it is away one after the other."""
        drawers = self._home.drawers
        if event.occasion is Occasion.SIGHT:
            return drawers[MIDDLE_ROOM]
        self._stowed_in += 1
        return drawers[(self._stowed_in - 1) % len(drawers)]
