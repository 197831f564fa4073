# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""CameraInfo and depth images as the core's words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

sensor_msgs = pytest.importorskip('sensor_msgs.msg')

from memory_node.ros import depth  # noqa: E402
from memory_node.ros.depth import CameraError, Intrinsics  # noqa: E402

CAMERA = Intrinsics(4, 3, 2.0, 3.0, 1.5, 1.0)
K = [2.0, 0.0, 1.5, 0.0, 3.0, 1.0, 0.0, 0.0, 1.0]
P = [2.5, 0.0, 1.25, 0.0, 0.0, 3.5, 0.75, 0.0, 0.0, 0.0, 1.0, 0.0]


def info(k: list[float] = K, p: list[float] = P, width: int = 4, height: int = 3) -> Any:
    return sensor_msgs.CameraInfo(width=width, height=height, k=k, p=p)


def image(pixels: np.ndarray, encoding: str, padding: int = 0, big: bool = False) -> Any:
    height, width = pixels.shape
    rows = pixels.astype(pixels.dtype.newbyteorder('>' if big else '<'))
    raw = rows.view(np.uint8).reshape(height, -1)
    data = np.pad(raw, ((0, 0), (0, padding))).tobytes()
    return sensor_msgs.Image(
        width=width, height=height, encoding=encoding, step=raw.shape[1] + padding,
        is_bigendian=int(big), data=data,
    )  # fmt: skip


def test_c21_k_counts_and_where_it_is_zero_p() -> None:
    assert depth.intrinsics_of(info()) == CAMERA
    assert depth.intrinsics_of(info(k=[0.0] * 9)) == Intrinsics(4, 3, 2.5, 3.5, 1.25, 0.75)


@pytest.mark.parametrize(
    'wrong',
    [
        {'k': [0.0] * 9, 'p': [0.0] * 12},
        {'k': [-1.0, *K[1:]]},
        {'k': [math.nan, *K[1:]]},
        {'k': [2.0, 0.0, 9.0, *K[3:]]},
        {'width': 0},
    ],
)
def test_what_makes_no_camera_is_refused(wrong: Any) -> None:
    with pytest.raises(CameraError, match='expected sizes and focal lengths above 0') as caught:
        depth.intrinsics_of(info(**wrong))
    assert caught.value.reason == 'camera_info_empty'


def test_a_field_of_view_is_the_opening_about_the_axis() -> None:
    fov = depth.field_of_view_of(CAMERA, 0.2, 4.0)
    assert (fov.min_range_m, fov.max_range_m) == (0.2, 4.0)
    assert fov.horizontal_rad == pytest.approx(math.pi / 2)
    assert fov.vertical_rad == pytest.approx(2 * math.atan(0.5))


@pytest.mark.parametrize('padding', [0, 6])
@pytest.mark.parametrize('big', [False, True])
def test_metres_and_millimetres_come_to_the_same(padding: int, big: bool) -> None:
    wanted = np.arange(12, dtype=np.float32).reshape(3, 4) / 4
    millimetres = (wanted * 1000).astype(np.uint16)
    for given, encoding in ((wanted, '32FC1'), (millimetres, '16UC1')):
        found = depth.depth_of(image(given, encoding, padding, big), CAMERA)
        assert found.depth_m.dtype == np.float32
        np.testing.assert_allclose(found.depth_m, wanted, atol=1e-6)
        assert (found.fx, found.fy, found.cx, found.cy) == CAMERA[2:]


def test_a_wrong_image_is_refused_with_a_reason() -> None:
    good = np.ones((3, 4), np.float32)
    short = image(good, '32FC1')
    short.data = short.data[:-1]
    narrow = image(good, '32FC1')
    narrow.step = 8
    for given, reason in (
        (image(good, 'rgb8'), 'depth_encoding'),
        (image(np.ones((4, 4), np.float32), '32FC1'), 'depth_size'),
        (short, 'depth_data'),
        (narrow, 'depth_data'),
    ):
        with pytest.raises(CameraError, match=r'got .* expected') as caught:
            depth.depth_of(given, CAMERA)
        assert caught.value.reason == reason
