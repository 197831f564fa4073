# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Points of pixels, and where a surface breaks off."""

from __future__ import annotations

import numpy as np
import pytest

from memory_node.errors import InvalidValueError
from memory_node.perception.surface import Pinhole, Surface

CAMERA = Pinhole(500.0, 500.0, 320.0, 240.0)


def test_c20_the_point_of_a_pixel() -> None:
    depth = np.zeros((480, 640), np.float32)
    depth[240, 420] = 1.5
    surface = Surface(depth, CAMERA)
    points = surface.points(np.array([240]), np.array([420]))
    assert points[0] == pytest.approx((0.3, 0.0, 1.5), abs=1e-6)


@pytest.mark.parametrize('nothing', [0.0, -1.0, np.nan, np.inf, -np.inf])
def test_c20_what_is_no_depth_is_none(nothing: float) -> None:
    assert not Surface(np.full((4, 4), nothing), CAMERA).depth_m.any()


def test_half_the_pixels_see_the_same_points() -> None:
    half = CAMERA.scaled(0.5)
    # The pixel (u, v) of the half image covers (2 u, 2 v) to (2 u + 1, 2 v + 1) of the whole one.
    assert (100 - half.cx) / half.fx == pytest.approx((200.5 - CAMERA.cx) / CAMERA.fx)


def test_a_cloud_gives_its_own_points() -> None:
    xy = np.zeros((3, 5, 2), np.float32)
    xy[..., 0] = np.arange(5) * 0.01
    depth = np.ones((3, 5), np.float32)
    xy[1, 2] = np.nan
    surface = Surface(depth, xy_m=xy)
    assert surface.size == (5, 3) and surface.depth_m[1, 2] == 0.0
    assert surface.points(np.array([0]), np.array([3]))[0] == pytest.approx((0.03, 0.0, 1.0))
    assert surface.pixel_rad == pytest.approx(0.01, rel=0.1)


def test_both_sides_of_a_jump_are_an_edge_and_a_slope_is_none() -> None:
    depth = np.full((5, 10), 2.0, np.float32)
    depth[:, :4] = 1.0
    depth[2, 8] = 0.0
    surface = Surface(depth, CAMERA)
    edges = surface.edges(slice(0, 5), slice(0, 10), 0.02, 0.01)
    assert edges[:, 3:5].all() and edges.sum() == 10
    slope = Surface(np.linspace(1.0, 1.1, 10)[None, :].repeat(5, axis=0), CAMERA)
    assert not slope.edges(slice(0, 5), slice(0, 10), 0.02, 0.01).any()


def test_what_makes_no_surface_is_refused() -> None:
    with pytest.raises(InvalidValueError, match='expected'):
        Surface(np.zeros(5), CAMERA)
    with pytest.raises(InvalidValueError, match='either a camera'):
        Surface(np.zeros((2, 2)))
    with pytest.raises(InvalidValueError, match='x and y of'):
        Surface(np.zeros((2, 2)), xy_m=np.zeros((3, 2, 2)))
