# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Geometry of boxes and rotations: (N, 3) and (N, 4) float64 arrays, metres, map frame.

Only elementwise arithmetic and sums in a fixed order, so that results are the same on every CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from memory_node.model import Floats

Bools = npt.NDArray[np.bool_]


def tree_sum(values: Floats) -> Floats:
    """Sum over the last axis in a fixed order, whatever vector width the CPU has.

    Sixteenths of a wide row are added to each other one after the other, then halves, until one
    column is left. `values` is overwritten.
    """
    width = values.shape[-1]
    if width == 0:
        return np.zeros(values.shape[:-1])
    while width >= 32 and width % 16 == 0:
        width //= 16
        values = np.add.reduce(values.reshape(*values.shape[:-1], 16, width), axis=-2)
    while width > 1:
        half = width // 2
        values[..., :half] += values[..., half : 2 * half]
        if width % 2:
            values[..., 0] += values[..., 2 * half]
        width = half
    return values[..., 0]


def largest(rows: Floats) -> Floats:
    """The largest of each row, (N, 3) → (N,); quicker than `max(axis=1)` for few rows."""
    result: Floats = np.maximum(np.maximum(rows[:, 0], rows[:, 1]), rows[:, 2])
    return result


def distance(a: Floats, b: Floats) -> Floats:
    """Euclidean distance of points, (N, 3) and (N, 3) → (N,)."""
    d = a - b
    result: Floats = np.sqrt(d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2])
    return result


def normalized(rows: Floats) -> Floats:
    """Rows of any width divided by their norm; the norm must not be zero."""
    norm: Floats = np.sqrt(tree_sum(rows * rows))
    return rows / norm[..., None]


def rotation_matrices(xyzw: Floats) -> Floats:
    """(N, 4) unit quaternions → (N, 3, 3) rotation matrices."""
    m = np.empty((len(xyzw), 3, 3))
    for row, numbers in enumerate(rotation_of(*xyzw.T)):
        for column, number in enumerate(numbers):
            m[:, row, column] = number
    return m


def rotation_of(x: Any, y: Any, z: Any, w: Any) -> tuple[tuple[Any, Any, Any], ...]:
    """The rows of `rotation_matrices` for one unit quaternion, or for arrays of its numbers."""
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def optical_axis(xyzw: Floats) -> Floats:
    """(N, 4) orientations of optical frames → (N, 3) directions in which they look."""
    return np.stack(optical_axis_of(*xyzw.T), axis=1)


def optical_axis_of(x: Any, y: Any, z: Any, w: Any) -> tuple[Any, Any, Any]:
    """`optical_axis` for one orientation, or for arrays of the four numbers."""
    return 2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)


def hull_half(size: Floats, xyzw: Floats) -> Floats:
    """Half extents of the axis-aligned hull of oriented boxes: (N, 3) sides, (N, 4) → (N, 3)."""
    half = size * 0.5
    if not xyzw[:, :3].any():
        return half
    m = np.abs(rotation_matrices(xyzw))
    return (
        m[:, :, 0] * half[:, 0, None]
        + m[:, :, 1] * half[:, 1, None]
        + m[:, :, 2] * half[:, 2, None]
    )


def overlap_volume(center_a: Floats, half_a: Floats, center_b: Floats, half_b: Floats) -> Floats:
    """Volume shared by axis-aligned boxes, row by row, (N,) cubic metres."""
    side = np.minimum(center_a + half_a, center_b + half_b)
    side -= np.maximum(center_a - half_a, center_b - half_b)
    np.maximum(side, 0.0, out=side)
    result: Floats = side[:, 0] * side[:, 1] * side[:, 2]
    return result


def iou(center_a: Floats, half_a: Floats, center_b: Floats, half_b: Floats) -> Floats:
    """Intersection over union of axis-aligned boxes, row by row (CH-16); NaN without volume."""
    shared = overlap_volume(center_a, half_a, center_b, half_b)
    volume_a = 8 * half_a[:, 0] * half_a[:, 1] * half_a[:, 2]
    volume_b = 8 * half_b[:, 0] * half_b[:, 1] * half_b[:, 2]
    union = volume_a + volume_b - shared
    defined = (volume_a > 0) & (volume_b > 0)
    ratio = np.minimum(shared / np.where(defined, union, 1.0), 1.0)  # rounding may exceed 1
    result: Floats = np.where(defined, ratio, np.nan)
    return result


def boxes_touch(
    center_a: Floats, half_a: Floats, center_b: Floats, half_b: Floats, margin_m: float
) -> Bools:
    """Whether axis-aligned boxes overlap once grown by the margin; broadcasts over leading axes."""
    gap = np.abs(center_a - center_b) - half_a - half_b
    result: Bools = gap.max(axis=-1) <= margin_m
    return result
