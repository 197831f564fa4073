# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What was lost and found again: how likely it is, and what is no move at all."""

from __future__ import annotations

import numpy as np
import pytest
from rooms import look
from worlds import put

from memory_node import Config, Detection, SpatialMemory
from memory_node.fusion import motion
from memory_node.fusion.world import STATE_CODE, World
from memory_node.model import ChangeKind, State

A, B = (3.0, 1.0, 0.5), (4.0, -1.5, 0.5)
SIZE = (0.2, 0.2, 0.3)
HOUR_S, DAY_S = 3600, 86400
HALF_LIFE_H = 168.0
"""Of what labels.yaml does not list."""


def thing(place: tuple[float, float, float], label: str = 'gizmo') -> Detection:
    return Detection(label, 0.9, place, SIZE)


def moves(memory: SpatialMemory) -> list[int | None]:
    return [c.object_id for c in memory.changes() if c.kind is ChangeKind.MOVED]


def pair(last_s: float, first_s: float, doubt: float = 1.0) -> tuple[World, np.ndarray, np.ndarray]:
    """An old thing, seen until `last_s`, and a young one, seen from `first_s` on."""
    world = World()
    old, young = put(world, 'gizmo', A, SIZE), put(world, 'gizmo', B, SIZE)
    records = world.records
    records['last_seen_ns'][old], records['doubt'][old] = round(last_s * 1e9), doubt
    records['first_seen_ns'][young] = records['last_seen_ns'][young] = round(first_s * 1e9)
    records['observations'][[old, young]] = 3
    return world, np.array([old]), np.array([young])


def went(last_h: float, first_h: float, now_h: float, doubt: float) -> float:
    world, old, young = pair(last_h * HOUR_S, first_h * HOUR_S, doubt)
    r = world.records
    return float(motion._went(world, r[old], r[young], round(now_h * HOUR_S * 1e9))[0, 0])


def test_what_left_did_so_before_it_was_found_elsewhere() -> None:
    """The three ways it can be, worked by hand: half of such things leave within 168 hours."""
    assert went(0, 168, 168, 1.0) == pytest.approx(0.5), 'nobody looked'
    assert went(0, 168, 168, 0.01) == pytest.approx(0.5 / (0.5 + 0.5 * 0.01)), 'it was missed'
    assert went(0, 168, 336, 1.0) == pytest.approx(0.5), 'it may have left later too'
    assert went(0, 168, 336, 0.0) == pytest.approx(0.5 / 0.75), 'it did leave, then or later'
    early = 1 - 0.5 ** (1 / 3600 / HALF_LIFE_H)
    assert went(0, 1 / 3600, 168, 0.0) == pytest.approx(early / 0.5), 'hardly within a second'


def test_old_and_young_are_matched_by_the_likeliest_times() -> None:
    for first_h, now_h, doubt, matched in (
        (24, 24, 0.02, True),
        (24, 24, 1.0, True),  # nobody looked, and new things of a label are seldom
        (4 / 3600, 24, 0.02, False),
        (4 / 3600, 4 / 3600, 1e-9, True),  # its place is empty for sure, and nothing else happened
    ):
        world, old, young = pair(0, first_h * HOUR_S, doubt)
        chance = motion._chances(
            world, old, young, round(now_h * HOUR_S * 1e9), Config(), settled=True, false=0.0
        )
        assert bool(chance[0, 0] >= 0.5) is matched, (first_h, now_h, doubt)


def test_a_false_alarm_moments_before_a_thing_is_found_is_not_where_it_was() -> None:
    """Half of all moves that 0.5 false alarms a view led to were of this sort."""
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(look(1000, [thing(A)], None))
        for k in range(4):
            memory.observe(look(1004 + 2 * k, [thing(B)], None))
        for k in range(4):
            memory.observe(look(1000 + DAY_S + 2 * k, [thing(B)], []))
        assert moves(memory) == []
        assert memory.maybe_same() == []
        assert [o.state for o in memory.objects()] == [State.ABSENT, State.CONFIRMED]
        assert memory.check() == []


def test_the_same_a_day_apart_is_a_move() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for k in range(3):
            memory.observe(look(1000 + 2 * k, [thing(A)], None))
        for k in range(4):
            memory.observe(look(1000 + DAY_S + 2 * k, [thing(B)], []))
        assert moves(memory) == [1]
        assert memory.check() == []


def test_what_was_found_and_then_missed_once_may_still_be_the_same() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for k in range(3):
            memory.observe(look(1000 + 2 * k, [thing(A)], None, (0.0, 0.0, 0.5)))
        away = (3.2, -1.5, 0.5)  # from there A is out of view
        for k in range(3):
            memory.observe(look(1000 + DAY_S + 2 * k, [thing(B)], None, away))
        memory.observe(look(1010 + DAY_S, [], [], away))
        assert memory.object(2).state is State.DOUBTFUL
        [link] = memory.maybe_same()
        assert (link.old_id, link.new_id) == (1, 2)


@pytest.mark.parametrize(('state', 'offered'), [(State.DOUBTFUL, True), (State.ABSENT, False)])
def test_what_is_gone_itself_is_nothing_that_was_found(state: State, offered: bool) -> None:
    world, _, young = pair(0, 24 * HOUR_S)
    world.records['state'][young] = STATE_CODE[state]
    found = motion.hypotheses(world, round(24 * HOUR_S * 1e9), Config())
    assert bool(found) is offered


@pytest.mark.parametrize(
    ('noise_m', 'step_m', 'sightings', 'moved'),
    [(0.02, 0.15, 3, True), (0.02, 0.03, 3, False), (0.10, 0.12, 3, False)],
)
def test_a_short_shift_is_a_move_where_noise_does_not_explain_it(
    noise_m: float, step_m: float, sightings: int, moved: bool
) -> None:
    rng = np.random.default_rng(3)
    config = Config(position_sigma_m=noise_m, learn_noise=False)
    with SpatialMemory.open(':memory:', config) as memory:
        for visit in range(2):
            place = np.add(A, (0.0, visit * step_m, 0.0))
            for k in range(sightings):
                x, y, z = (place + rng.normal(0.0, noise_m / 4, 3)).tolist()
                memory.observe(look(1000 + visit * DAY_S + 2 * k, [thing((x, y, z))], None))
        assert bool(moves(memory)) is moved
        assert len(memory.objects()) == 1


def test_a_first_sighting_that_was_off_is_no_place_that_it_left() -> None:
    """Four standard deviations off along an axis, then where it is: it was there all along."""
    off = (A[0] + 0.07, A[1] + 0.05, A[2] - 0.05)
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(look(1000, [thing(off)], None))
        for k in range(5):
            memory.observe(look(1002 + 2 * k, [thing(A)], None))
        assert moves(memory) == []
        assert len(memory.objects()) == 1


@pytest.mark.parametrize(
    ('label', 'shift_m', 'moved'),
    [('mug', 0.060, False), ('mug', 0.065, True), ('chair', 0.067, False), ('chair', 0.073, True)],
)
def test_what_is_moved_seldom_must_be_farther_off(label: str, shift_m: float, moved: bool) -> None:
    """After four sightings each the mean is uncertain by sigma / sqrt(2), 1.41 cm.

    A day moves 29 % of mugs and 2.3 % of chairs, so 4.40 and 4.95 of these are asked for.
    """
    config = Config(position_sigma_m=0.02, learn_noise=False)
    with SpatialMemory.open(':memory:', config) as memory:
        for visit in range(2):
            for k in range(4):
                x = A[0] + visit * shift_m
                memory.observe(
                    look(1000 + visit * DAY_S + 2 * k, [thing((x, *A[1:]), label)], None)
                )
        assert bool(moves(memory)) is moved


def test_a_drawer_goes_nowhere_by_itself() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for visit in range(2):
            for k in range(4):
                x = A[0] + visit * 0.15
                memory.observe(
                    look(1000 + visit * DAY_S + 2 * k, [thing((x, *A[1:]), 'drawer')], None)
                )
        assert moves(memory) == []
        assert len(memory.objects()) == 1
