# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Which detections look like something that was forgotten (CH-W2)."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from views import seen
from worlds import evidence_of

from memory_node.fusion.tombstones import Tombstone, Tombstones
from memory_node.fusion.world import World


def barred(stones: Tombstones, world: World, map_number: int, *detections: object) -> list[bool]:
    evidence, label = evidence_of(world, *detections)  # type: ignore[arg-type]
    bars = stones.barring(evidence, label, map_number, 0.25, 0)
    order = np.argsort(evidence.index).tolist()  # in which they were given
    return [bars[k] is not None for k in order]


def stone(world: World, label: str = 'mug', number: int = 0) -> Tombstone:
    return Tombstone(1, world.labels.intern(label), np.array([1.0, 2.0, 3.0]), number)


def test_nothing_is_barred_before_something_is_forgotten() -> None:
    assert barred(Tombstones(), World(), 0, seen('mug', (1, 2, 3))) == [False]


@pytest.mark.parametrize(
    ('offset', 'expected'),
    [
        ((0, 0, 0), True),
        ((0.25, -0.25, 0.25), True),
        ((0.251, 0, 0), False),
        ((0, -0.251, 0), False),
        ((0, 0, 0.251), False),
    ],
)
def test_the_cell_is_centred_on_where_it_lay(offset: tuple, expected: bool) -> None:
    world = World()
    stones = Tombstones([stone(world)])
    center = (1 + offset[0], 2 + offset[1], 3 + offset[2])
    assert barred(stones, world, 0, seen('mug', center)) == [expected]


def test_only_the_same_label_in_the_same_map_is_barred() -> None:
    world = World()
    stones = Tombstones()
    stones.put(stone(world, 'Mug', number=1))
    mug, cup, away = seen('mug', (1, 2, 3)), seen('cup', (1, 2, 3)), seen('mug', (5, 2, 3))
    assert barred(stones, world, 1, cup, mug, away) == [False, True, False]
    assert barred(stones, world, 0, cup, mug, away) == [False, False, False]


def test_several_stones_of_one_label() -> None:
    world = World()
    mug = world.labels.intern('mug')
    stones = Tombstones(Tombstone(k, mug, np.array([float(k), 0.0, 0.0]), 0) for k in (1, 2, 3))
    given = [seen('mug', (x, 0, 0)) for x in (1, 2.1, 3.2, 4)]
    assert barred(stones, world, 0, *given) == [True, True, True, False]


def test_one_for_a_time_bars_no_view_of_a_later_time() -> None:
    world = World()
    for_ever = stone(world)
    for_a_time = dataclasses.replace(for_ever, until_ns=100)
    evidence, label = evidence_of(world, seen('mug', (1, 2, 3)))
    for stamp_ns, bars in ((0, True), (99, True), (100, False), (2**62, False)):
        found = Tombstones([for_a_time]).barring(evidence, label, 0, 0.25, stamp_ns)
        assert (found[0] is for_a_time) == bars
        assert Tombstones([for_ever]).barring(evidence, label, 0, 0.25, stamp_ns) == [for_ever]
