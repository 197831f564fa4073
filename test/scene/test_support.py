# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Penalties of holders: what could hold at all, what is better, and the choice of the best."""

from __future__ import annotations

import numpy as np
import pytest
from worlds import put

from memory_node.config import Config
from memory_node.fusion.world import STATE_CODE, World
from memory_node.model import State
from memory_node.scene import support
from memory_node.scene.things import Things

A, B = np.array([0]), np.array([1])


def things(*boxes: tuple) -> tuple[Things, World]:
    world = World()
    for box in boxes:
        put(world, *box)
    rows = np.arange(len(boxes))
    return Things.of_records(world, world.records[rows], Config()), world


def penalty(*boxes: tuple, gap_m: float = 0.08) -> tuple[float, bool]:
    found, world = things(*boxes)
    values, inside = support.penalties(found, A, B, gap_m, world.columns.classes)
    return float(values[0]), bool(inside[0])


TABLE = ('table', (0, 0, 0.4), (1, 1, 0.8))


def cup(x: float = 0, z: float = 0.85) -> tuple:
    return 'cup', (x, 0, z), (0.1, 0.1, 0.1)


def test_a_gap_costs_and_too_large_a_one_excludes() -> None:
    flush, above, below = (penalty(cup(z=0.85 + gap), TABLE)[0] for gap in (0.0, 0.05, -0.05))
    assert above == pytest.approx(flush + 1) and below == pytest.approx(flush + 1)
    assert np.isinf(penalty(cup(z=0.85 + 0.081), TABLE)[0])
    assert np.isfinite(penalty(cup(z=0.85 + 0.081), TABLE, gap_m=0.1)[0])


def test_beside_the_footprint_costs_up_to_three_centimetres() -> None:
    plinth = ('plinth', *TABLE[1:])
    inner, outer = penalty(cup(0.5), plinth)[0], penalty(cup(0.53), plinth)[0]
    assert outer == pytest.approx(inner + 0.3)
    assert np.isinf(penalty(cup(0.54), plinth)[0])


def test_of_two_that_fit_alike_the_smaller_costs_less() -> None:
    small = ('table', (0, 0, 0.4), (0.5, 0.5, 0.8))
    assert penalty(cup(), small)[0] < penalty(cup(), TABLE)[0]


@pytest.mark.parametrize(
    ('holder', 'expected'),
    [('fridge', True), ('bowl', True), ('bed', False), ('shelf', False), ('table', False)],
)
def test_within_is_inside_only_of_what_encloses(holder: str, expected: bool) -> None:
    value, inside = penalty(cup(z=0.5), (holder, (0, 0, 0.5), (1, 1, 1)))
    assert np.isfinite(value) and inside is expected


def test_nothing_lies_on_a_knife_and_a_pan_may_jut_out_over_a_burner() -> None:
    assert np.isinf(penalty(cup(), ('knife', (0, 0, 0.79), (0.2, 0.2, 0.02)))[0])
    pan, burner = ('pan', (0, 0, 0.85), (0.3, 0.3, 0.1)), (0.1, 0.1, 0.02)
    assert np.isfinite(penalty(pan, ('stove burner', (0, 0, 0.79), burner))[0])
    assert np.isinf(penalty(pan, ('what nobody lists', (0, 0, 0.79), burner))[0])


def test_itself_another_map_and_what_is_gone_hold_nothing() -> None:
    found, world = things(cup(), TABLE)
    classes = world.columns.classes
    assert np.isinf(support.penalties(found, B, B, 0.08, classes)[0])
    world.records['map'][1] = 7
    again = Things.of_records(world, world.records[:2], Config())
    assert np.isinf(support.penalties(again, A, B, 0.08, classes)[0])
    world.records['map'][1] = world.records['map'][0]
    for state in (State.ABSENT, State.HELD):
        world.records['state'][0] = STATE_CODE[state]
        again = Things.of_records(world, world.records[:2], Config())
        assert np.isinf(support.penalties(again, A, B, 0.08, classes)[0])


def test_the_best_has_the_least_penalty_then_the_lowest_id() -> None:
    child = np.array([0, 0, 0, 1, 2])
    parent = np.array([3, 4, 5, 3, 3])
    ids = np.array([10, 11, 12, 30, 20, 40])
    values = np.array([1.0, 1.0, 2.0, np.inf, 0.5])
    chosen = support.best(child, parent, values, ids)
    assert [(int(child[k]), int(parent[k])) for k in chosen] == [(0, 4), (2, 3)]


def test_a_part_is_small_near_and_named() -> None:
    knob = ('stove knob', (0, 0.5, 0.8), (0.05, 0.05, 0.05))
    stove = ('stove', (0, 0, 0.45), (0.6, 1, 0.9))
    for part, whole, expected in (
        (knob, stove, 0.0), (stove, knob, np.inf), (cup(), stove, np.inf),
        (('stove knob', (0, 0.56, 0.8), (0.05, 0.05, 0.05)), stove, np.inf),
    ):  # fmt: skip
        found, world = things(part, whole)
        assert support.part_gaps(found, A, B, world.columns.classes)[0] == expected
