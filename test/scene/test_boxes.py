# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Boxes against scipy, exact sums and brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from views import FORWARD

from memory_node.scene import boxes

coordinates = st.floats(-1000, 1000)
halves = st.one_of(st.floats(1e-6, 10), st.sampled_from([0.0, 0.0025, 0.05, 6.0]))
one_box = st.tuples(st.tuples(*[coordinates] * 3), st.tuples(*[halves] * 3))
units = st.floats(-1, 1)
quaternions = st.tuples(units, units, units, units).filter(lambda q: sum(v * v for v in q) > 1e-3)


def rows(*values: object) -> list[np.ndarray]:
    return [np.array([value], dtype=np.float64) for value in values]


@given(st.integers(0, 700), st.integers(0, 2**32 - 1))
@example(512, 0)
@example(1, 0)
def test_tree_sum_is_the_sum(width: int, seed: int) -> None:
    values = np.random.default_rng(seed).uniform(-1, 1, (3, width))
    expected = [math.fsum(row) for row in values.tolist()]
    np.testing.assert_allclose(boxes.tree_sum(values.copy()), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize('width', [32, 48, 512, 768, 1024])
@pytest.mark.parametrize('rows', [1, 2, 3, 20, 300])
def test_tree_sum_adds_in_one_order_on_every_machine(rows: int, width: int) -> None:
    values = np.random.default_rng(width).normal(size=(rows, width))
    expected = values.copy()
    while expected.shape[1] >= 32 and expected.shape[1] % 16 == 0:
        parts = np.split(expected, 16, axis=1)
        expected = parts[0].copy()
        for part in parts[1:]:
            expected = expected + part
    assert (boxes.tree_sum(values) == boxes.tree_sum(expected)).all()


@pytest.mark.parametrize('width', range(70))
def test_tree_sum_leaves_no_column_out_and_counts_none_twice(width: int) -> None:
    # 1 + 2 + … + width, whole numbers: exact in float64 whatever the order.
    values = np.arange(1.0, width + 1)[None]
    assert boxes.tree_sum(values).tolist() == [width * (width + 1) / 2]


def test_distance_by_hand() -> None:
    # (2, 3, 6) is 7 long: 4 + 9 + 36 = 49.
    assert boxes.distance(*rows((1, 1, 1), (3, 4, 7))).tolist() == [7.0]


@given(st.lists(st.tuples(*[st.floats(-10, 10)] * 4), min_size=1, max_size=5))
def test_normalized_rows_have_norm_one_and_the_same_direction(given_rows: list) -> None:
    values = np.array(given_rows) + 20.0
    out = boxes.normalized(values)
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(out * np.linalg.norm(values, axis=1)[:, None], values, atol=1e-9)


@given(st.lists(quaternions, min_size=1, max_size=4))
def test_rotation_matrices_and_optical_axes_are_those_of_scipy(given_rows: list) -> None:
    turns = boxes.normalized(np.array(given_rows))
    expected = Rotation(turns).as_matrix()
    np.testing.assert_allclose(boxes.rotation_matrices(turns), expected, atol=1e-12)
    np.testing.assert_allclose(boxes.optical_axis(turns), expected[:, :, 2], atol=1e-12)


def test_an_optical_frame_looks_along_its_z() -> None:
    # FORWARD turns z (forward) to +x, x (right) to -y, y (down) to -z of the map.
    turn = np.array([(0.0, 0.0, 0.0, 1.0), FORWARD])
    assert boxes.optical_axis(turn).tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    assert boxes.rotation_matrices(turn)[1].tolist() == [[0, 0, 1], [-1, 0, 0], [0, -1, 0]]


@given(st.lists(st.tuples(st.tuples(*[halves] * 3), quaternions), min_size=1, max_size=4))
def test_the_hull_holds_the_turned_corners(given_boxes: list) -> None:
    size = np.array([2 * np.array(half) for half, _ in given_boxes])
    turn = boxes.normalized(np.array([q for _, q in given_boxes]))
    signs = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    expected = [
        Rotation(q).apply(signs * sides).max(axis=0) for sides, q in zip(size, turn, strict=True)
    ]
    np.testing.assert_allclose(boxes.hull_half(size, turn), expected, atol=1e-9)


def test_the_hull_of_an_upright_box_is_the_box_exactly_whatever_stands_beside_it() -> None:
    size = np.array([(0.1, 0.3, 0.7), (0.1, 0.3, 0.7)])
    alone = boxes.hull_half(size[:1], np.array([(0.0, 0.0, 0.0, 1.0)]))
    beside = boxes.hull_half(size, np.array([(0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.6, 0.8)]))
    assert beside[0].tolist() == alone[0].tolist() == (size[0] / 2).tolist()


@given(one_box, one_box)
@example(((1000.0, 0.0, 0.0), (0.0025, 1.0, 1.0)), ((1000.0, 0.0, 0.0), (0.0025, 1.0, 1.0)))
def test_iou_is_symmetric_and_from_0_to_1(a: tuple, b: tuple) -> None:
    there = boxes.iou(*rows(*a, *b))[0]
    back = boxes.iou(*rows(*b, *a))[0]
    if min(*a[1], *b[1]) == 0.0:
        assert math.isnan(there) and math.isnan(back)
    else:
        assert 0.0 <= there <= 1.0
        assert there == back


@given(one_box.filter(lambda box: min(box[1]) > 1e-3))
def test_iou_with_itself_is_1(box: tuple) -> None:
    assert boxes.iou(*rows(*box, *box))[0] == pytest.approx(1.0, abs=1e-9)


def test_iou_by_hand() -> None:
    # Unit cubes 0.1 apart in x: shared 0.9, union 2 - 0.9 = 1.1.
    a, b = ((0, 0, 0), (0.5, 0.5, 0.5)), ((0.1, 0, 0), (0.5, 0.5, 0.5))
    assert boxes.overlap_volume(*rows(*a, *b))[0] == pytest.approx(0.9)
    assert boxes.iou(*rows(*a, *b))[0] == pytest.approx(0.9 / 1.1)
    # Apart in one axis only: nothing shared.
    assert boxes.iou(*rows(*a, (0, 0, 1.5), (0.5, 0.5, 0.5)))[0] == 0.0


def test_iou_without_volume_is_undefined_not_zero() -> None:
    poster, tag, cube = (0.5, 0.0, 0.3), (0.0, 0.0, 0.0), (0.5, 0.5, 0.5)
    origin = (0.0, 0.0, 0.0)
    for half in (poster, tag):
        for other in (poster, tag, cube):
            assert np.isnan(boxes.iou(*rows(origin, half, origin, other)))[0]
            assert np.isnan(boxes.iou(*rows(origin, other, origin, half)))[0]


@pytest.mark.parametrize(('x', 'touches'), [(1.249, True), (1.25, True), (1.251, False)])
def test_boxes_touch_when_grown_by_the_margin(x: float, touches: bool) -> None:
    # Unit cubes: 0.25 between their faces when the centres are 1.25 apart.
    half = (0.5, 0.5, 0.5)
    assert boxes.boxes_touch(*rows((0, 0, 0), half, (x, 0, 0), half), 0.25)[0] == touches
    assert boxes.boxes_touch(*rows((0, 0, 0), half, (0, 0, -x), half), 0.25)[0] == touches
