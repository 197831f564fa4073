# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""near, on and under: exact sets, at and beside the thresholds of CH-33 (0.6 m and 0.08 m)."""

from __future__ import annotations

import numpy as np
import pytest
from worlds import put

from memory_node.config import Config
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.world import World
from memory_node.scene.relations import relations_about

Found = set[tuple[int, str, int]]


def related(world: World, *rows: int, config: Config | None = None) -> Found:
    index = CandidateIndex(world)
    found = relations_about(world, index, np.array(rows, np.int64), config or Config())
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


@pytest.mark.parametrize('origin', [0.0, 1.0, 7.3])
@pytest.mark.parametrize(('apart', 'expected'), [(0.59, True), (0.6, True), (0.601, False)])
def test_near_at_its_threshold(origin: float, apart: float, expected: bool) -> None:
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
    assert related(world, 0, config=Config(near_m=1.5)) == both_near(1, 2)
    world = World()
    put(world, 'table', (0, 0, 0), (2, 2, 1))
    put(world, 'lamp', (0, 0, 1.2), (0.2, 0.2, 1.0))
    assert related(world, 0, config=Config(on_gap_m=0.3)) == on(2, 1)
