# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What happens when: as many moves and removals as asked for, each where its occasion says."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from memory_node.sim.home import ELSEWHERE_M, Home, Where
from memory_node.sim.route import Route
from memory_node.sim.script import Act, Director, Done, Occasion, Script
from memory_node.sim.settings import SimulationConfig


def played(tours: int, **settings: int) -> tuple[Home, Script, list[Done]]:
    """Let everything happen until the end of some tours."""
    config = SimulationConfig(tours=tours, **settings)
    home = Home(config.seed, config.things)
    script = Script(config, Route(home.furniture))
    director = Director(home, script)
    for tour in range(1, tours + 1):
        for event in script.events(tour):
            director.play(event)
    return home, script, director.done


@pytest.mark.parametrize('seed', range(1, 9))
def test_two_tours_have_six_moves_three_removals_and_what_is_put_away(seed: int) -> None:
    home, _, done = played(2, seed=seed)
    counts = Counter(one.act for one in done)
    assert counts == {Act.MOVE: 6, Act.REMOVE: 3, Act.STOW: 2, Act.HIDE: 1}
    assert len({one.thing.name for one in done}) == 12, 'each happens to another thing'
    assert [one.by_robot for one in done if one.act is Act.STOW] == [True, False]
    for one in done:
        if one.act is Act.MOVE:
            assert math.dist(one.thing.center_m[:2], one.from_m[:2]) > ELSEWHERE_M
    assert Counter(t.where for t in home.things)[Where.AWAY] == 3
    assert not any(drawer.is_open for drawer in home.drawers)


def test_things_happen_behind_the_robot_while_it_is_away_ahead_of_it_and_in_its_sight() -> None:
    config = SimulationConfig()
    home = Home(1)
    route = Route(home.furniture)
    script = Script(config, route)
    events = script.events(2)
    assert [e.at_ns for e in events] == sorted(e.at_ns for e in events)
    first_ends_ns = script.begins_ns(1) + round(route.duration_s * 1e9)
    for event in events:
        sources, targets = script.pieces(event)
        if event.occasion is Occasion.BEHIND:
            assert event.at_ns < first_ends_ns and 0 in sources and 8 not in sources | targets
        elif event.occasion is Occasion.AWAY:
            assert first_ends_ns < event.at_ns < script.begins_ns(2)
        elif event.occasion is Occasion.AHEAD:
            assert event.at_ns > script.begins_ns(2) and sources == targets == {6, 7, 8}
        else:
            (here,) = sources
            stops = [stop for stop in route.stops if stop.piece == here]
            after_s = (event.at_ns - script.begins_ns(2)) / 1e9
            assert stops[0].at_s < after_s < stops[-1].at_s, 'the robot looks at it'
            assert all(piece > here for piece in targets)
    assert {e.occasion for e in events if e.act is Act.MOVE} == set(Occasion)


def test_a_drawer_is_open_only_while_something_is_put_in() -> None:
    config = SimulationConfig()
    home = Home(1)
    script = Script(config, Route(home.furniture))
    director = Director(home, script)
    opened = []
    for event in script.events(2):
        director.play(event)
        opened.append((event.act, any(drawer.is_open for drawer in home.drawers)))
    assert (Act.OPEN, True) in opened and (Act.CLOSE, False) in opened
    assert [act for act, is_open in opened if is_open and act is not Act.OPEN] == [Act.STOW]


def test_what_was_away_comes_back_for_the_tour_after() -> None:
    home, script, done = played(3, moves=0, removals=3, stowed=2, hidden=1)
    gone = {d.thing.name for d in done if d.tour == 2 and d.act in (Act.REMOVE, Act.STOW)}
    back = {d.thing.name for d in done if d.tour == 3 and d.act is Act.RETURN}
    assert gone == back and len(gone) == 5
    returned = [d for d in done if d.act is Act.RETURN]
    assert all(d.at_ns < script.begins_ns(3) for d in returned)
    assert len(home.screens) == 1, 'the new one; that of the second tour is gone'


def test_many_tours_can_be_made() -> None:
    home, _, done = played(30, seed=4, moves=12, removals=6, stowed=3, hidden=3)
    assert Counter(one.tour for one in done if one.act is Act.MOVE)[30] >= 6
    assert len(home.things) == 30


def test_nothing_happens_before_the_first_tour_or_after_the_last_one() -> None:
    _, script, _ = played(2)
    assert script.events(1) == [] and script.events(3) == []
    endless = Script(SimulationConfig(tours=0), Route(Home(1).furniture))
    assert endless.events(1000)
