# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The loops of the index beside plain numpy, compiled and interpreted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted

from memory_node.fusion import indexing
from memory_node.fusion.grid import KEYS
from memory_node.fusion.world import OBJECT
from memory_node.scene import boxes

BOTH = pytest.mark.parametrize(
    'module', [indexing, interpreted('fusion/indexing')], ids=['installed', 'interpreted']
)
SEEDS = st.integers(0, 2**32 - 1)


def things(random: np.random.Generator, count: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Records about the origin, and their levels; some are gone."""
    records = np.zeros(count, OBJECT)
    records['center'] = random.uniform(-1, 1, (count, 3))
    records['hull_center'] = records['center'] + random.normal(0, 0.01, (count, 3))
    records['half'] = random.uniform(0, 0.5, (count, 3))
    return records, random.integers(-1, 3, count)


@BOTH
@given(SEEDS)
def test_touching_pairs_equal_brute_force_each_once(module, seed: int) -> None:
    random = np.random.default_rng(seed)
    records, level_of = things(random)
    center, half = random.uniform(-1, 1, (6, 3)), random.uniform(0, 0.5, (6, 3))
    place, row = np.divmod(np.arange(6 * 9), 9)
    touch = boxes.boxes_touch(
        center[place], half[place], records['hull_center'][row], records['half'][row], 0.1
    )
    keep = touch & (level_of[row] >= 0)
    pairs = np.repeat(place * KEYS + row, random.integers(1, 3, len(place)))
    places, rows = np.empty(len(pairs), np.int64), np.empty(len(pairs), np.int64)
    count = module.touching(center, half, 0.1, pairs, level_of, records, places, rows)
    assert places[:count].tolist() == place[keep].tolist()
    assert rows[:count].tolist() == row[keep].tolist()


@BOTH
@given(SEEDS)
def test_what_is_close_by_equals_brute_force_each_once(module, seed: int) -> None:
    random = np.random.default_rng(seed)
    records, level_of = things(random)
    point = random.uniform(-1, 1, 3)
    away = boxes.distance(records['center'], point)
    keep = (away <= 0.8) & (level_of >= 0)
    rows = np.repeat(np.arange(9), random.integers(1, 3, 9))
    distance = np.empty(len(rows))
    count = module.close_by(point, 0.8, rows, level_of, records, distance)
    assert rows[:count].tolist() == np.flatnonzero(keep).tolist()
    assert distance[:count].tobytes() == away[keep].tobytes()


@BOTH
def test_how_far_to_look_follows_from_the_longest_side(module) -> None:
    half, radius = np.array([[0.5, 0.25, 0.0], [0.0, 0.0, 2.0], [0.0, 1.0, 0.0]]), np.empty(3)
    assert module.radii(half, 0.25, radius) == 2.25
    assert radius.tolist() == [0.75, 2.25, 1.25]


@BOTH
def test_a_place_with_as_many_as_were_asked_for_is_looked_at_again(module) -> None:
    found = np.array([[0.1, 0.2], [0.1, np.inf], [np.inf, np.inf]])
    entry = np.array([[2, 0], [1, 3], [3, 3]])
    rows = np.array([10, 11, 12])
    for more, expected in ((True, [(1, 11)]), (False, [(0, 12), (0, 10), (1, 11)])):
        pairs = np.empty(6, np.int64)
        count, full = module.reached(found, entry, np.full(3, 0.2), 0.3, rows, more, pairs)
        assert [divmod(pair, KEYS) for pair in pairs[:count].tolist()] == expected
        assert full == [0][: int(more)]


@BOTH
def test_a_row_is_placed_by_its_hull_and_its_longest_side(module) -> None:
    records = np.zeros(4, OBJECT)
    records['hull_center'][2] = 1, 2, 3
    records['half'][1:] = (0.1, 0.25, 0.1), (0.1, 0.1, 0.26), (9.0, 0.1, 0.1)
    placed, class_of = np.full((4, 3), -1.0), np.full(4, 2, np.int8)
    reach = np.array([0.25, 1.0, np.inf])
    module.place(records, np.array([1, 2, 3]), reach, placed, class_of)
    assert class_of.tolist() == [2, 0, 1, 2]
    assert placed.tolist() == [[-1, -1, -1], [0, 0, 0], [1, 2, 3], [0, 0, 0]]


@BOTH
def test_what_left_its_place_or_outgrew_its_class_has_strayed(module) -> None:
    records = np.zeros(4, OBJECT)
    records['hull_center'][1] = 0, 0.06, 0
    records['half'][2] = 0.1, 0.1, 0.3
    placed, reach = np.zeros((4, 3)), np.array([0.25, 1.0])
    strayed = module.strayed(
        records, np.array([0, 1, 2, 3]), placed, np.zeros(4, np.int8), reach, 0.05
    )
    assert strayed == [1, 2]
