# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The index equals brute force at every moment, from a 5 mm screw to a 12 m wall.

The levels are made small, so that a few dozen objects go through the grids, a rebuild and its
swap. A rebuild stays under way until the test lets it finish.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from worlds import put

from memory_node.fusion import candidates
from memory_node.fusion.candidates import CLASS_LIMITS_M, SLACK_M, CandidateIndex
from memory_node.fusion.world import World

SIDES_M = (0.0, 0.005, 0.05, 0.3, 0.5, 1.0, 2.0, 3.0, 8.0, 12.0)
"""Some are twice the limit of a size class: 0.5, 2 and 8 m."""
BOUNDS_M = 4.0


@pytest.fixture(autouse=True)
def small_levels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(candidates, 'RECENT', 6)
    monkeypatch.setattr(candidates, 'NEIGHBOURS', 3)
    monkeypatch.setattr(candidates._Builder, 'start', lambda self: None)
    yield


def overlapping_by_brute_force(
    world: World, center: np.ndarray, half: np.ndarray, margin_m: float
) -> list[tuple[int, int]]:
    r = world.records
    return [
        (place, row)
        for place in range(len(center))
        for row in world.live_rows().tolist()
        if all(
            abs(r['hull_center'][row, k] - center[place, k]) - r['half'][row, k] - half[place, k]
            <= margin_m
            for k in range(3)
        )
    ]


def assert_equals_brute_force(
    world: World, index: CandidateIndex, random: np.random.Generator
) -> None:
    center = random.uniform(-1, BOUNDS_M + 1, (5, 3)).round(2)
    half = random.choice(SIDES_M, (5, 1)) / 2 * random.choice([0.1, 0.5, 1.0], (5, 3))
    margin = float(random.choice([0.0, 0.25, 0.6]))
    places, rows = index.overlapping(center, half, margin)
    found = list(zip(places.tolist(), rows.tolist(), strict=True))
    assert found == overlapping_by_brute_force(world, center, half, margin)
    radius = float(random.choice([0.01, 0.5, 2.0, 20.0]))
    rows, distance = index.within(center[0], radius)
    live = world.live_rows()
    apart = np.sqrt(((world.records['center'][live] - center[0]) ** 2).sum(axis=1))
    assert rows.tolist() == live[apart <= radius].tolist()
    np.testing.assert_allclose(distance, apart[apart <= radius], atol=1e-12)


class Machine(RuleBasedStateMachine):
    """Changes in any order, brute force after each."""

    @initialize(seed=st.integers(0, 2**32 - 1), count=st.sampled_from([0, 1, 3, 40]))
    def start(self, seed: int, count: int) -> None:
        self.random = np.random.default_rng(seed)
        self.world = World()
        for _ in range(count):
            self.put_one()
        self.index = CandidateIndex(self.world)

    def put_one(self) -> int:
        side = self.random.choice(SIDES_M)
        size = side * self.random.choice([0.1, 1.0], 3)
        return put(self.world, 'x', self.random.uniform(0, BOUNDS_M, 3).round(2), size)

    def some(self, count: int) -> np.ndarray:
        live = self.world.live_rows()
        return np.sort(self.random.permutation(live)[:count])

    @rule(count=st.integers(1, 7))
    def add(self, count: int) -> None:
        rows = [self.put_one() for _ in range(count)]
        self.index.add(np.array(rows))

    @rule(count=st.integers(1, 4), step=st.sampled_from([0.01, SLACK_M, 0.2, 3.0]))
    def move(self, count: int, step: float) -> None:
        rows = self.some(count)
        sign = self.random.choice([-1, 1], (len(rows), 3))
        self.world.records['center'][rows] += sign * step
        self.world.records['hull_center'][rows] = self.world.records['center'][rows]
        self.index.update(rows)

    @rule(count=st.integers(1, 3), side=st.sampled_from(SIDES_M))
    def resize(self, count: int, side: float) -> None:
        rows = self.some(count)
        self.world.records['size'][rows] = side
        self.world.records['half'][rows] = side / 2
        self.index.update(rows)

    @precondition(lambda self: len(self.world.live_rows()))
    @rule()
    def remove(self) -> None:
        [row] = self.some(1).tolist()
        self.world.end(row)
        self.index.remove(row)

    @rule()
    def maintain(self) -> None:
        self.index.maintain()

    @precondition(lambda self: self.index._builder is not None and not self.index._builder.done)
    @rule()
    def finish_the_rebuild(self) -> None:
        self.index._builder.build()

    @invariant()
    def equals_brute_force(self) -> None:
        for _ in range(2):
            assert_equals_brute_force(self.world, self.index, self.random)


def test_any_sequence_of_changes_equals_brute_force() -> None:
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=40, stateful_step_count=30, deadline=None)
    )


@pytest.mark.parametrize('seed', range(2))
def test_a_long_sequence_with_rebuilds_under_way_equals_brute_force(seed: int) -> None:
    machine = Machine()
    machine.start(seed, 20)
    random = np.random.default_rng(seed)
    under_way = swapped = 0
    for step in range(250):
        kind = random.choice(['add', 'move', 'resize', 'remove'], p=[0.3, 0.4, 0.15, 0.15])
        if kind == 'add':
            machine.add(int(random.integers(1, 5)))
        elif kind == 'move':
            machine.move(3, float(random.choice([0.02, 0.2, 3.0])))
        elif kind == 'resize':
            machine.resize(2, float(random.choice(SIDES_M)))
        elif len(machine.world.live_rows()):
            machine.remove()
        before = machine.index._builder
        machine.maintain()
        swapped += before is not None and machine.index._builder is not before
        if machine.index._builder is not None:
            under_way += 1
            if step % 7 == 0 and not machine.index._builder.done:
                machine.finish_the_rebuild()
        machine.equals_brute_force()
    assert under_way > 20 and swapped > 5, 'the sequence did not test what it is for'


@pytest.mark.parametrize('limit', CLASS_LIMITS_M)
def test_at_the_limits_of_the_size_classes(limit: float) -> None:
    for side in (limit * 2 * 0.999, limit * 2, limit * 2 * 1.001):
        world = World()
        for x in range(12):
            put(world, 'x', (x * 0.01, 0, 0), (side, side, side))
        index = CandidateIndex(world)
        # One box whose face is exactly the margin away from the face of the last.
        for gap, expected in ((0.25, 12), (0.251, 11)):
            center = np.array([[0.11 + side / 2 + gap - 0.11, 0.0, 0.0]])
            places, rows = index.overlapping(center, np.zeros((1, 3)), 0.25)
            brute = overlapping_by_brute_force(world, center, np.zeros((1, 3)), 0.25)
            assert list(zip(places.tolist(), rows.tolist(), strict=True)) == brute
            assert len(brute) == expected


def test_a_rebuild_in_its_thread_ends_and_is_swapped_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(candidates, 'RECENT', 6)
    world = World()
    index = CandidateIndex(world)
    random = np.random.default_rng(1)
    while (builder := index._builder) is None:
        assert len(world.live_rows()) < 10
        index.add(np.array([put(world, 'x', random.uniform(0, 3, 3), (0.1, 0.1, 0.1))]))
        index.maintain()
    assert builder._ready.wait(60)
    assert_equals_brute_force(world, index, random)
    index.maintain()
    assert index._builder is not builder
    assert sum(len(level.rows) for level in index._trees) > 0
    for _ in range(20):
        assert_equals_brute_force(world, index, random)


def test_an_empty_index_finds_nothing() -> None:
    index = CandidateIndex(World())
    places, rows = index.overlapping(np.zeros((2, 3)), np.ones((2, 3)), 0.25)
    assert len(places) == len(rows) == 0
    rows, distance = index.within(np.zeros(3), 1.0)
    assert len(rows) == len(distance) == 0


def test_no_boxes_find_nothing() -> None:
    world = World()
    put(world)
    index = CandidateIndex(world)
    places, rows = index.overlapping(np.zeros((0, 3)), np.zeros((0, 3)), 0.25)
    assert len(places) == len(rows) == 0


def test_what_was_removed_and_comes_back_is_found_once() -> None:
    world = World()
    index = CandidateIndex(world)
    row = put(world)
    index.add(np.array([row]))
    index.remove(row)
    index.add(np.array([row]))
    _, rows = index.overlapping(world.records['center'][[row]], np.ones((1, 3)), 0.25)
    assert rows.tolist() == [row]


@pytest.mark.parametrize('kind', [np.float64, np.int64])
def test_a_point_may_be_a_view_of_what_must_not_be_written(kind: type) -> None:
    world = World()
    row = put(world, 'x', (1.0, 2.0, 3.0))
    points = np.array([[1, 7], [2, 7], [3, 7]], kind)
    points.setflags(write=False)
    rows, distance = CandidateIndex(world).within(points[:, 0], 0.5)
    assert rows.tolist() == [row]
    assert distance.tolist() == [0.0]
