# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Rigid transforms against scipy, and what a bad number may touch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp

from memory_node.errors import InvalidValueError
from memory_node.model import Pose
from memory_node.scene.transform import Transform

coordinates = st.floats(-100, 100, allow_nan=False)
triples = st.tuples(coordinates, coordinates, coordinates)
units = st.floats(-1, 1, allow_nan=False)
quaternions = st.tuples(units, units, units, units).filter(lambda q: sum(v * v for v in q) > 1e-3)
transforms = st.builds(Transform.of, triples, quaternions)


def same_rotation(a, b, tolerance: float = 1e-9) -> bool:
    return bool(abs(abs(np.dot(a, b)) - 1) < tolerance)


@given(transforms, st.lists(triples, max_size=5))
def test_points_move_as_in_scipy(transform: Transform, points: list) -> None:
    expected = np.reshape(points, (-1, 3))
    if points:
        expected = Rotation(transform.rotation_xyzw).apply(expected) + transform.translation_m
    moved = transform.apply(points)
    assert moved.shape == (len(points), 3)
    np.testing.assert_allclose(moved, expected, atol=1e-10)
    assert [transform.apply_point(p) for p in points] == [tuple(p) for p in moved.tolist()]


@given(transforms, transforms, triples)
def test_composition_is_one_after_the_other(a: Transform, b: Transform, point: tuple) -> None:
    np.testing.assert_allclose(a.compose(b).apply([point]), a.apply(b.apply([point])), atol=1e-10)
    np.testing.assert_allclose(a.compose(b).matrix(), a.matrix() @ b.matrix(), atol=1e-10)


@given(transforms)
def test_inverse_undoes(transform: Transform) -> None:
    for both in (transform.compose(transform.inverse()), transform.inverse().compose(transform)):
        np.testing.assert_allclose(both.translation_m, (0, 0, 0), atol=1e-10)
        assert same_rotation(both.rotation_xyzw, (0, 0, 0, 1))


@given(transforms, quaternions)
def test_orientations_turn_as_in_scipy_and_keep_their_norm(
    transform: Transform, quaternion: tuple
) -> None:
    [turned] = transform.rotate([quaternion])
    expected = (Rotation(transform.rotation_xyzw) * Rotation(quaternion)).as_quat()
    norm = np.linalg.norm(quaternion)
    assert np.linalg.norm(turned) == pytest.approx(norm)
    assert same_rotation(turned / norm, expected)


@given(transforms, st.lists(triples, min_size=3, max_size=3))
def test_covariances_turn(transform: Transform, rows: list) -> None:
    covariance = np.array(rows) @ np.array(rows).T
    [turned] = transform.rotate_covariances([covariance])
    r = transform.rotation_matrix()
    np.testing.assert_allclose(turned, r @ covariance @ r.T, atol=1e-8)


@given(transforms, transforms, st.floats(0, 1))
def test_interpolation_is_linear_and_slerp(a: Transform, b: Transform, fraction: float) -> None:
    middle = a.interpolate(b, fraction)
    np.testing.assert_allclose(
        middle.translation_m,
        np.array(a.translation_m) * (1 - fraction) + np.array(b.translation_m) * fraction,
        atol=1e-10,
    )
    half_turn = abs(np.dot(a.rotation_xyzw, b.rotation_xyzw)) < 1e-6
    if not half_turn:  # there both ways round are equally short
        slerp = Slerp([0, 1], Rotation([a.rotation_xyzw, b.rotation_xyzw]))
        assert same_rotation(middle.rotation_xyzw, slerp(fraction).as_quat())
    assert np.linalg.norm(middle.rotation_xyzw) == pytest.approx(1, abs=1e-12)


@given(transforms, transforms)
def test_interpolation_ends_at_its_ends(a: Transform, b: Transform) -> None:
    for fraction, end in ((0.0, a), (1.0, b)):
        there = a.interpolate(b, fraction)
        np.testing.assert_allclose(there.translation_m, end.translation_m, atol=1e-10)
        assert same_rotation(there.rotation_xyzw, end.rotation_xyzw)


def test_a_quaternion_and_its_negative_are_the_same_rotation() -> None:
    a = Transform.of((0, 0, 0), (0, 0, 0.3827, 0.9239))
    b = Transform.of((0, 0, 0), (0, 0, -0.3827, -0.9239))
    assert same_rotation(a.interpolate(b, 0.5).rotation_xyzw, a.rotation_xyzw)


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
@given(transform=transforms)
def test_a_bad_row_comes_out_as_it_went_in(transform: Transform, bad: float) -> None:
    points = np.array([(1, 2, 3), (bad, 2, 3), (4, 5, 6)], dtype=np.float64)
    moved = transform.apply(points)
    np.testing.assert_array_equal(moved[1], points[1])
    np.testing.assert_array_equal(moved[[0, 2]], transform.apply(points[[0, 2]]))
    turned = transform.rotate([(bad, 0, 0, 1), (0, 0, 0, 1)])
    np.testing.assert_array_equal(turned[0], (bad, 0, 0, 1))
    np.testing.assert_allclose(turned[1], transform.rotation_xyzw, atol=1e-12)
    covariances = np.stack([np.eye(3), np.eye(3)])
    covariances[0, 0, 0] = bad
    spread = transform.rotate_covariances(covariances)
    np.testing.assert_array_equal(spread[0], covariances[0])
    np.testing.assert_allclose(spread[1], np.eye(3), atol=1e-12)


def test_an_unknown_orientation_stays_unknown() -> None:
    quarter = Transform.of((0, 0, 0), (0, 0, 1, 1))
    assert not quarter.rotate([(0, 0, 0, 0)]).any()


def test_of_normalises_and_refuses() -> None:
    assert Transform.of((1, 2, 3), (0, 0, 0, 2)) == Transform((1.0, 2.0, 3.0), (0, 0, 0, 1))
    with pytest.raises(InvalidValueError, match='expected a quaternion of norm 1'):
        Transform.of((0, 0, 0), (0, 0, 0, 0))
    with pytest.raises(InvalidValueError, match='expected finite numbers'):
        Transform.of((np.nan, 0, 0), (0, 0, 0, 1))
    with pytest.raises(InvalidValueError, match='expected finite numbers'):
        Transform.of((0, 0, 0), (0, np.inf, 0, 1))


def test_poses() -> None:
    pose = Pose((1.0, 2.0, 3.0), (0.0, 0.0, 0.6, 0.8))
    assert Transform.from_pose(pose).as_pose() == pose
