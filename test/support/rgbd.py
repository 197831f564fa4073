# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Depth and masks of boxes, as a perfect camera would see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memory_node.perception.surface import Pinhole

CAMERA = Pinhole(500.0, 500.0, 320.0, 240.0)
SIZE = (640, 480)
WALL_M = 3.0

Box = tuple[Sequence[float], Sequence[float]]
"""Centre and sides in the optical frame, along its axes."""


def rendered(
    boxes: Sequence[Box], camera: Pinhole = CAMERA, size: tuple[int, int] = SIZE,
    wall_m: float = WALL_M,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return depth (H, W) in metres before a wall, and ids (H, W): box k has k + 1, the wall 0."""
    width, height = size
    v, u = np.mgrid[:height, :width]
    ray = np.stack(
        [(u - camera.cx) / camera.fx, (v - camera.cy) / camera.fy, np.ones(u.shape)], axis=2
    )
    ray[ray == 0] = 1e-9
    depth, ids = np.full((height, width), wall_m, np.float32), np.zeros((height, width), np.int32)
    for k, (center, sides) in enumerate(boxes):
        half = np.asarray(sides, float) / 2
        one, two = (np.asarray(center) - half) / ray, (np.asarray(center) + half) / ray
        enter, leave = np.minimum(one, two).max(axis=2), np.maximum(one, two).min(axis=2)
        hit = (enter < leave) & (enter > 0) & (enter < depth)
        depth[hit], ids[hit] = enter[hit], k + 1
    return depth, ids


def image(array: Any, encoding: str, **more: Any) -> Any:
    """Return a stand-in for sensor_msgs/Image with what the conversions read of one."""
    from types import SimpleNamespace

    return SimpleNamespace(**{
        'height': array.shape[0], 'width': array.shape[1], 'encoding': encoding,
        'is_bigendian': 0, 'step': array.shape[1] * array.itemsize * (
            array.shape[2] if array.ndim == 3 else 1
        ), 'data': array.tobytes(), **more,
    })  # fmt: skip
