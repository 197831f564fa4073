# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A camera with depth before boxes, for what should be seen and is not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from views import FORWARD, SECOND

from memory_node import DepthImage, Detection, FieldOfView, Pose, View

FOV = FieldOfView(2.0, 1.4, 0.1, 9.0)
WIDTH, HEIGHT = 160, 120
BACKGROUND_M = 9.0


def camera_depth(
    position_m: Sequence[float] = (0.0, 0.0, 0.5),
    boxes: Iterable[tuple[Sequence[float], Sequence[float]]] = (),
    background_m: float = BACKGROUND_M,
) -> DepthImage:
    """Depth of a camera that looks along +x: the nearest box (centre, size) of each ray."""
    fx, fy = (
        WIDTH / 2 / math.tan(FOV.horizontal_rad / 2),
        HEIGHT / 2 / math.tan(FOV.vertical_rad / 2),
    )
    cx, cy = (WIDTH - 1) / 2, (HEIGHT - 1) / 2
    u, v = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    rays = np.stack([np.ones(u.shape), -(u - cx) / fx, -(v - cy) / fy], axis=-1)
    depth = np.full(u.shape, background_m)
    for center, size in boxes:
        low = (np.subtract(center, np.divide(size, 2)) - position_m) / rays
        high = (np.add(center, np.divide(size, 2)) - position_m) / rays
        enter, leave = np.minimum(low, high).max(axis=-1), np.maximum(low, high).min(axis=-1)
        depth = np.where((enter < leave) & (enter > 0), np.minimum(depth, enter), depth)
    return DepthImage(depth.astype(np.float32), fx, fy, cx, cy)


def look(
    stamp_s: float,
    detections: Sequence[Detection] = (),
    boxes: Iterable[tuple[Sequence[float], Sequence[float]]] | None = (),
    position_m: Sequence[float] = (0.0, 0.0, 0.5),
    **more: object,
) -> View:
    """A view along +x; boxes: what the depth shows, None: there is no depth."""
    depth = None if boxes is None else camera_depth(position_m, boxes)
    given = {'field_of_view': FOV, 'depth': depth, **more}
    return View(
        round(stamp_s * SECOND), 'camera', detections, Pose(tuple(position_m), FORWARD), **given
    )
