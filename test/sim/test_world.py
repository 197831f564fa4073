# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The world as a whole: repeatable, one after the other, and what the truth says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from memory_node.errors import InvalidValueError
from memory_node.sim.script import Act
from memory_node.sim.settings import SimulationConfig
from memory_node.sim.world import PEOPLE, SCREENS, SimulatedWorld

pytest.importorskip('pybullet', reason='needs pybullet: scripts/env --with sim')


@pytest.fixture
def make() -> Iterator[Callable[..., SimulatedWorld]]:
    made = []

    def world(**settings: float) -> SimulatedWorld:
        made.append(SimulatedWorld(SimulationConfig(**settings)))
        return made[-1]

    yield world
    for one in made:
        one.close()


def test_the_second_tour_is_the_same_if_the_first_one_is_left_out(
    make: Callable[..., SimulatedWorld],
) -> None:
    whole, second, other = make(seed=3), make(seed=3, first_tour=2, tours=1), make(seed=4)
    for stamp_ns in whole.stamps(1)[::30]:
        whole.look(stamp_ns)
    for stamp_ns in whole.stamps(2)[::24]:
        a, b = whole.look(stamp_ns), second.look(stamp_ns)
        assert (a.depth_m == b.depth_m).all() and (a.ids == b.ids).all() and a.names == b.names
        assert whole.truth(a) == second.truth(b)
        assert [(x.done.thing.name, x.observable) for x in whole.left(a)] == [
            (x.done.thing.name, x.observable) for x in second.left(b)
        ]
        assert (a.depth_m != other.look(stamp_ns).depth_m).any()


def test_time_does_not_go_back(make: Callable[..., SimulatedWorld]) -> None:
    world = make()
    stamp_ns = world.stamps(1)[0]
    world.look(stamp_ns)
    with pytest.raises(InvalidValueError, match=f'got {stamp_ns}, expected one after'):
        world.look(stamp_ns)


def test_the_truth_says_what_is_where_and_what_can_be_seen(
    make: Callable[..., SimulatedWorld],
) -> None:
    world = make(seed=2, people=3)
    frame = world.look(world.stamps(1)[0])
    truth = {real.name: real for real in world.truth(frame)}
    assert len(truth) == 30 + 9 + 3 and truth['person 1'].state == PEOPLE
    seen = {name for name, real in truth.items() if real.observable}
    assert seen == set(frame.names.values()) and 0 < len(seen) < 20
    assert world.left(frame) == []
    frame = world.look(world.stamps(2)[0])
    truth = {real.name: real for real in world.truth(frame)}
    acts = [d.act for d in world.done]
    assert acts.count(Act.MOVE) == 4 and acts.count(Act.REMOVE) == 2, 'the others come later'
    for done in world.done:
        state = {Act.REMOVE: 'away', Act.STOW: 'drawer'}.get(done.act, 'standing')
        assert truth[done.thing.name].state == state
    assert sum(real.state == SCREENS for real in truth.values()) == 1
    assert len(world.left(frame)) == len(world.done) - 1, 'what is hidden has not left'


def test_a_place_is_seen_to_be_left_from_when_it_was(make: Callable[..., SimulatedWorld]) -> None:
    world = make(seed=1, things=20)
    clear: dict[str, int] = {}
    for stamp_ns in world.stamps(2)[::4]:
        frame = world.look(stamp_ns)
        for left in world.left(frame):
            assert left.done.at_ns <= stamp_ns
            clear[left.done.thing.name] = clear.get(left.done.thing.name, 0) + left.observable
    assert len(clear) == 11 and sum(count >= 1 for count in clear.values()) >= 6


def test_endless_tours_are_endless(make: Callable[..., SimulatedWorld]) -> None:
    late = make(tours=0, first_tour=40)
    frame = late.look(late.stamps(40)[-1])
    assert {left.done.tour for left in late.left(frame)} <= {40, 41} and len(late.done) > 300
    tours = make(tours=0, first_tour=5).tours()
    assert [next(tours) for _ in range(3)] == [5, 6, 7]
    assert list(make(tours=2, first_tour=5).tours()) == [5, 6]


def test_images_come_in_their_time(make: Callable[..., SimulatedWorld]) -> None:
    world = make(period_s=2.5, start_s=50.0)
    stamps = world.stamps(1)
    assert stamps[0] == world.begins_ns(1) == 50 * 10**9
    assert set(np.diff(stamps).tolist()) == {2_500_000_000}
    assert stamps[-1] <= stamps[0] + world.route.duration_s * 1e9 < stamps[-1] + 2_500_000_000
    assert world.begins_ns(2) > stamps[-1] + 3_500_000_000_000


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'seed': -1}, 'seed: got -1, expected a whole number from 0 to'),
        ({'things': 0}, 'things: got 0, expected a whole number from 1 to 45'),
        ({'people': 99}, 'people: got 99, expected a whole number from 0 to 6'),
        ({'period_s': 0.0}, r'period_s: got 0.0, expected a number from 0.1 to 10 \[s\]'),
        ({'moves': 2.5}, 'moves: got 2.5, expected a whole number'),
        ({'tours': 'two'}, "tours: got 'two', expected a whole number"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        SimulationConfig(**settings)  # type: ignore[arg-type]
