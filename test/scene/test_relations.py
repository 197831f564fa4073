# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Exact sets: CH-33 at and beside its thresholds (0.6 m and 0.08 m), and what the default adds."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from worlds import put

from memory_node.config import Config
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.world import STATE_CODE, World
from memory_node.model import State
from memory_node.scene.relations import relations_about

DEFAULT = Config(near_m=0.0)
CH33 = Config(profile='chronotope')
Found = set[tuple[int, str, int]]


def related(world: World, *rows: int, config: Config = CH33) -> Found:
    index = CandidateIndex(world)
    found = relations_about(world, index, np.array(rows, np.int64), config)
    triples = [(r.subject_id, r.kind.value, r.object_id) for r in found]
    assert len(set(triples)) == len(triples), 'a relation was given twice'
    return set(triples)


def both_near(a: int, b: int) -> Found:
    return {(a, 'near', b), (b, 'near', a)}


def on(a: int, b: int) -> Found:
    return {(a, 'on', b), (b, 'under', a)}


def test_c02_a_cup_on_a_table() -> None:
    world = World()
    table = put(world, 'table', (2, 0, 0.375), (1.2, 0.8, 0.75))
    cup = put(world, 'cup', (2.0, 0.1, 0.80), (0.08, 0.08, 0.10))
    put(world, 'chair', (4, 0, 0.45), (0.5, 0.5, 0.9))  # must stay out: far from both
    # Top of the table 0.75, bottom of the cup 0.75; centres sqrt(0.1² + 0.425²) = 0.437 m apart.
    assert related(world, cup) == on(2, 1) | both_near(1, 2)
    assert related(world, table) == on(2, 1) | both_near(1, 2)
    assert related(world, table, cup) == on(2, 1) | both_near(1, 2)
    assert related(world, cup, config=Config()) == on(2, 1) | both_near(1, 2)


@pytest.mark.parametrize('origin', [0.0, 1.0, 7.3])
@pytest.mark.parametrize(('apart', 'expected'), [(0.59, True), (0.6, True), (0.601, False)])
def test_near_at_its_threshold(origin: float, apart: float, expected: bool) -> None:
    """CH-33: near is a distance of centres."""
    world = World()
    put(world, 'mug', (origin, 2, 1), (0.1, 0.1, 0.1))
    put(world, 'cup', (origin + apart, 2, 1), (0.1, 0.1, 0.1))
    assert related(world, 0) == (both_near(1, 2) if expected else set())


def test_near_is_of_centres_not_of_faces() -> None:
    world = World()
    put(world, 'table', (0, 0, 0), (3.0, 3.0, 0.1))
    put(world, 'shelf', (1.6, 0, 2.0), (0.2, 3.0, 0.2))
    assert related(world, 0) == set()


@pytest.mark.parametrize('height', [0.0, 1.0, 0.3])
@pytest.mark.parametrize(
    ('gap', 'expected'),
    [(0.081, False), (0.08, True), (0.0, True), (-0.08, True), (-0.081, False)],
)
def test_on_at_its_threshold(height: float, gap: float, expected: bool) -> None:
    """CH-33: on is a gap between top and bottom."""
    world = World()
    put(world, 'table', (0, 0, height), (2, 2, 1))
    # Bottom of the lamp = top of the table + gap; 0.9 m higher or more, so never near.
    put(world, 'lamp', (0.5, 0.5, height + 0.5 + gap + 0.5), (0.2, 0.2, 1.0))
    assert related(world, 0) == (on(2, 1) if expected else set())


@pytest.mark.parametrize(('x', 'expected'), [(1.09, True), (1.11, False)])
def test_on_needs_footprints_that_overlap(x: float, expected: bool) -> None:
    # Footprints: table to x = 1, lamp from x - 0.1.
    world = World()
    put(world, 'table', (0, 0, 0), (2, 2, 1))
    put(world, 'lamp', (x, 0, 1.0), (0.2, 0.2, 1.0))
    assert related(world, 1) == (on(2, 1) if expected else set())


def test_of_two_that_pass_the_gap_both_ways_the_higher_centre_is_on_the_other() -> None:
    # a: z 0.00 ± 0.01, b: z -0.01 ± 0.05. bottom(b) - top(a) = -0.07, bottom(a) - top(b) = -0.05.
    world = World()
    put(world, 'sheet', (0, 0, 0.0), (0.3, 0.3, 0.02))
    put(world, 'block', (0, 0, -0.01), (0.3, 0.3, 0.1))
    assert related(world, 0) == on(1, 2) | both_near(1, 2)


def test_the_confidence_is_the_lesser_of_the_two() -> None:
    """CH-10, CH-33: the confidence of an edge."""
    world = World()
    put(world, 'table', (0, 0, 0.5), (2, 2, 1), confidence=0.9)
    put(world, 'lamp', (0, 0, 1.5), (0.2, 0.2, 1.0), confidence=0.4)
    found = relations_about(world, CandidateIndex(world), np.array([0]), Config())
    assert [r.confidence for r in found] == [0.4, 0.4]


def test_another_map_is_never_related() -> None:
    world = World()
    put(world, 'table', (0, 0, 0.5), (1, 1, 1), map_id='A')
    put(world, 'cup', (0, 0, 1.05), (0.1, 0.1, 0.1), map_id='B')
    put(world, 'plate', (0, 0, 1.01), (0.1, 0.1, 0.02), map_id='A')
    assert related(world, 0) == on(3, 1) | both_near(1, 3)
    assert related(world, 1) == set()


def test_only_what_was_asked_about_and_only_what_is_alive() -> None:
    world = World()
    for x in (0.0, 0.5, 1.0):
        put(world, 'mug', (x, 0, 0), (0.1, 0.1, 0.1))
    assert related(world, 0) == both_near(1, 2)
    assert related(world, 1) == both_near(1, 2) | both_near(2, 3)
    assert related(world) == set()
    world.end(1)
    assert related(world, 0, 2) == set()


def test_the_thresholds_are_settings() -> None:
    world = World()
    put(world, 'mug', (0, 0, 0), (0.1, 0.1, 0.1))
    put(world, 'cup', (1.5, 0, 0), (0.1, 0.1, 0.1))
    assert related(world, 0, config=dataclasses.replace(CH33, near_m=1.5)) == both_near(1, 2)
    world = World()
    put(world, 'table', (0, 0, 0), (2, 2, 1))
    put(world, 'lamp', (0, 0, 1.2), (0.2, 0.2, 1.0))
    assert related(world, 0, config=dataclasses.replace(CH33, on_gap_m=0.3)) == on(2, 1)


def both(kind: str, a: int, b: int) -> Found:
    return {(a, kind, b), (b, kind, a)}


def kitchen() -> World:
    """1 table, 2 plate on it, 3 apple on that, 4 drawer, 5 fork in it, 6 fridge, 7 wall."""
    world = World()
    put(world, 'table', (0, 0, 0.4), (1.2, 0.8, 0.8))
    put(world, 'plate', (0, 0, 0.81), (0.25, 0.25, 0.02))
    put(world, 'apple', (0.02, 0, 0.86), (0.08, 0.08, 0.08))
    put(world, 'drawer', (0, 0, 0.72), (0.5, 0.4, 0.14))
    put(world, 'fork', (0.1, 0.1, 0.71), (0.2, 0.03, 0.02))
    put(world, 'fridge', (5, 0, 0.9), (0.7, 0.7, 1.8))
    put(world, 'wall', (5.4, 0, 1.25), (0.1, 6, 2.5))
    return world


def test_one_thing_holds_another_and_parts_are_parts() -> None:
    world = kitchen()
    held = on(2, 1) | on(3, 2) | {(4, 'part_of', 1), (5, 'inside', 4)}
    wall = both('beside', 6, 7) | {(6, 'against', 7)}
    assert related(world, *range(7), config=DEFAULT) == held | wall
    assert related(world, 2, config=DEFAULT) == on(3, 2), 'the table is beaten by the plate'
    assert related(world, 0, config=DEFAULT) == on(2, 1) | {(4, 'part_of', 1)}
    assert related(world, 6, config=DEFAULT) == wall


def test_the_holder_is_the_best_of_all_even_if_only_the_second_best_is_asked_about() -> None:
    world = kitchen()
    world.end(1)
    assert (3, 'on', 1) in related(world, 0, config=Config(near_m=0.0, on_gap_m=0.2))


@pytest.mark.parametrize(
    ('holder', 'z', 'expected'),
    [
        ('bed', 0.5, 'on'), ('bed', 0.12, 'under'), ('chair', 0.55, 'on'), ('chair', 0.12, 'under'),
        ('fridge', 0.5, 'inside'), ('desk', 0.9, 'on'), ('desk', 0.12, 'under'),
        ('what nobody lists', 0.5, None),
    ],
)  # fmt: skip
def test_what_lies_within_a_box_by_its_class(holder: str, z: float, expected: str | None) -> None:
    world = World()
    put(world, holder, (0, 0, 0.5), (1, 1, 1))
    put(world, 'pillow', (0, 0.1, z), (0.3, 0.2, 0.2))
    words = {kind for one, kind, _ in related(world, 1, config=DEFAULT) if one == 2}
    assert words == ({expected} if expected else set())


def test_a_towel_hangs_on_its_holder_and_a_plate_does_not() -> None:
    world = World()
    put(world, 'towel holder', (0, 0, 1.2), (0.5, 0.05, 0.05))
    put(world, 'towel', (0.1, 0.05, 1.0), (0.3, 0.05, 0.5))
    put(world, 'plate', (0.1, 0.05, 1.0), (0.3, 0.05, 0.3))
    assert on(2, 1) <= related(world, 0, config=DEFAULT)
    assert (3, 'on', 1) not in related(world, 2, config=DEFAULT)


@pytest.mark.parametrize(('gap', 'beside', 'against'), [
    (0.05, True, True), (0.07, True, False), (0.25, True, False), (0.26, False, False),
    (-0.06, False, False),
])  # fmt: skip
def test_beside_and_against_at_their_thresholds(gap: float, beside: bool, against: bool) -> None:
    world = World()
    put(world, 'sofa', (0, 0, 0.4), (2, 1, 0.8))
    put(world, 'cabinet', (1.5 + gap, 0, 0.5), (1, 1, 2.0))
    found = related(world, 0, config=DEFAULT)
    assert found == (both('beside', 1, 2) if beside else set()) | (
        {(1, 'against', 2)} if against else set()
    )


def test_side_by_side_needs_a_common_height() -> None:
    world = World()
    put(world, 'sofa', (0, 0, 0.4), (2, 1, 0.8))
    put(world, 'painting', (1.1, 0, 1.9), (0.1, 1, 0.5))
    assert related(world, 0, config=DEFAULT) == set()


def test_what_is_gone_holds_nothing() -> None:
    world = kitchen()
    world.records['state'][1] = STATE_CODE[State.ABSENT]
    assert not {r for r in related(world, *range(7), config=DEFAULT) if 2 in (r[0], r[2])}


def test_a_mean_that_wanders_within_its_version_changes_nothing() -> None:
    world = kitchen()
    before = related(world, *range(7), config=Config())
    random = np.random.default_rng(3)
    for _ in range(20):
        world.records['center'][:7] = world.records['version_center'][:7]
        world.records['center'][:7] += random.uniform(-0.049, 0.049, (7, 3))
        world.records['hull_center'][:7] = world.records['center'][:7]
        assert related(world, *range(7), config=Config()) == before
