# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Whether a depth image can be what it says it is."""

from __future__ import annotations

import math

import numpy as np

from memory_node.model import DepthImage, FieldOfView


def depth_problem(depth: DepthImage, fov: FieldOfView | None) -> str:
    """Return why a depth image says nothing (see intake.VIEW_FAULTS); empty: it may."""
    try:
        shown = np.asarray(depth.depth_m)
        fits = all(map(math.isfinite, (depth.fx, depth.fy, depth.cx, depth.cy)))
    except (TypeError, ValueError, OverflowError, AttributeError):
        return 'bad_depth'
    if shown.ndim != 2 or not shown.size or shown.dtype.kind not in 'fiu' or not fits:
        return 'bad_depth'
    if min(depth.fx, depth.fy) <= 0:
        return 'bad_depth'
    height, width = shown.shape
    if not (0 <= depth.cx < width and 0 <= depth.cy < height):
        return 'depth_size'
    if fov is not None and not _is_as_wide(depth, width, height, fov):
        return 'depth_size'
    if 0.0 < float(shown[height // 2, width // 2]) < math.inf:  # as a rule one pixel will do
        return ''
    return '' if _measures(shown[::32, ::32]) or _measures(shown) else 'no_depth'


def _measures(shown: np.ndarray) -> bool:
    return bool((np.isfinite(shown) & (shown > 0)).any())


def _is_as_wide(depth: DepthImage, width: int, height: int, fov: FieldOfView) -> bool:
    """Whether an image of this size shows the declared field of view, within a tenth or two pixels.

    Depth of another size than the intrinsics are for shows more or less than that.
    """
    if max(fov.horizontal_rad, fov.vertical_rad) >= math.pi:
        return True
    for size, focal, angle in (
        (width, depth.fx, fov.horizontal_rad), (height, depth.fy, fov.vertical_rad),
    ):  # fmt: skip
        wanted = 2.0 * focal * math.tan(angle / 2)
        if not abs(size - wanted) <= max(2.0, 0.1 * wanted):
            return False
    return True
