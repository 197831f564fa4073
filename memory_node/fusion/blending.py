# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Boxes as detections give them, and how those of objects move. Compiled like `scoring.py`."""

from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import fabs, sqrt

_INFINITY = cython.declare(cython.double, float('inf'))


def are_sound(numbers: cython.double[:, ::1]) -> bool:
    """Whether all of (n, 11) score, centre, size and orientation may be used as they are.

    All finite, the scores from 0 to 1, no side negative.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for i in range(numbers.shape[0]):
        if not 0.0 <= numbers[i, 0] <= 1.0:
            return False
        for j in range(1, numbers.shape[1]):
            if not fabs(numbers[i, j]) < _INFINITY or (4 <= j < 7 and numbers[i, j] < 0.0):
                return False
    return True


def spread_out(
    numbers: cython.double[:, ::1],
    order: cython.longlong[::1],
    center: cython.double[:, ::1],
    size: cython.double[:, ::1],
    half: cython.double[:, ::1],
    orientation: cython.double[:, ::1],
    oriented: cython.uchar[::1],
) -> None:
    """Write the boxes of detections as arrays of their own.

    An orientation of all zeros means unknown and becomes identity (C16), others get unit norm.

    Args:
        numbers: (m, 11) as for `are_sound`. order: (n,) rows of it.
        center, size, half: (n, 3) written. orientation: (n, 4). oriented: (n,) whether it is known.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for i in range(order.shape[0]):
        k: cython.Py_ssize_t = order[i]
        largest: cython.double = 0.0
        for j in range(3):
            center[i, j] = numbers[k, 1 + j]
            size[i, j] = numbers[k, 4 + j]
        for j in range(4):
            orientation[i, j] = numbers[k, 7 + j]
            largest = max(largest, fabs(numbers[k, 7 + j]))
        oriented[i] = largest > 0.0
        if not oriented[i]:
            orientation[i, 3] = 1.0
        elif not (largest <= 1.0 and fabs(_norm(orientation, i) - 1.0) < 1e-12):
            for j in range(4):
                orientation[i, j] /= largest
            norm: cython.double = _norm(orientation, i)
            for j in range(4):
                orientation[i, j] /= norm
    _set_half(size, orientation, half)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _norm(q: cython.double[:, :], r: cython.Py_ssize_t) -> cython.double:
    return sqrt((q[r, 0] * q[r, 0] + q[r, 2] * q[r, 2]) + (q[r, 1] * q[r, 1] + q[r, 3] * q[r, 3]))


def blend_boxes(
    old: Any,
    matched: cython.longlong[::1],
    evidence: Any,
    weight: cython.double[::1],
    speaks: cython.uchar[::1],
) -> None:
    """Move centre, size and orientation towards the sighting, and set the hull.

    Args:
        old: (R,) records of the objects that a view supports, overwritten.
        matched: (R,) detections that join them. evidence: all detections.
        weight, speaks: (R,) share of each sighting, and whether it may rewrite.
    """
    center: cython.double[:, :] = old['center']
    size: cython.double[:, :] = old['size']
    hull: cython.double[:, :] = old['hull_center']
    seen_center: cython.double[:, ::1] = evidence.center
    seen_size: cython.double[:, ::1] = evidence.size
    extent: cython.uchar[::1] = evidence.extent.view(np.uint8)
    r: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for r in range(matched.shape[0]):
        i: cython.Py_ssize_t = matched[r]
        w: cython.double = weight[r] if speaks[r] else 0.0
        step: cython.double = 0.0
        if extent[i]:
            step = w
            if w > 0.0 and not (size[r, 0] > 0.0 or size[r, 1] > 0.0 or size[r, 2] > 0.0):
                step = 1.0
        for j in range(3):
            center[r, j] += w * (seen_center[i, j] - center[r, j])
            size[r, j] += step * (seen_size[i, j] - size[r, j])
            hull[r, j] = center[r, j]
    _turn(old, matched, evidence, weight, speaks)
    _set_half(size, old['orientation'], old['half'])


@cython.cfunc
def _turn(
    old: Any,
    matched: cython.longlong[::1],
    evidence: Any,
    weight: cython.double[::1],
    speaks: cython.uchar[::1],
) -> cython.void:
    """Turn towards the orientation that was seen, by the shorter way."""
    q: cython.double[:, :] = old['orientation']
    turned: cython.uchar[:] = old['oriented'].view(np.uint8)
    seen: cython.double[:, ::1] = evidence.orientation
    oriented: cython.uchar[::1] = evidence.oriented.view(np.uint8)
    r: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for r in range(matched.shape[0]):
        i: cython.Py_ssize_t = matched[r]
        if not (oriented[i] and speaks[r]):
            continue
        w: cython.double = weight[r] if turned[r] else 1.0
        turned[r] = 1
        if (
            q[r, 0] == seen[i, 0]
            and q[r, 1] == seen[i, 1]
            and q[r, 2] == seen[i, 2]
            and q[r, 3] == seen[i, 3]
        ):
            continue
        dot: cython.double = (q[r, 0] * seen[i, 0] + q[r, 2] * seen[i, 2]) + (
            q[r, 1] * seen[i, 1] + q[r, 3] * seen[i, 3]
        )
        side: cython.double = -1.0 if dot < 0.0 else 1.0
        for j in range(4):
            q[r, j] += w * (side * seen[i, j] - q[r, j])
        norm: cython.double = _norm(q, r)
        for j in range(4):
            q[r, j] /= norm


@cython.cfunc
@cython.exceptval(check=False)
def _set_half(
    size: cython.double[:, :], q: cython.double[:, :], half: cython.double[:, :]
) -> cython.void:
    """Half extents of the axis-aligned hulls: see `boxes.hull_half`."""
    r: cython.Py_ssize_t
    for r in range(q.shape[0]):
        x: cython.double = q[r, 0]
        y: cython.double = q[r, 1]
        z: cython.double = q[r, 2]
        w: cython.double = q[r, 3]
        a: cython.double = size[r, 0] * 0.5
        b: cython.double = size[r, 1] * 0.5
        c: cython.double = size[r, 2] * 0.5
        if x == 0.0 and y == 0.0 and z == 0.0:
            half[r, 0], half[r, 1], half[r, 2] = a, b, c
            continue
        half[r, 0] = (
            fabs(1 - 2 * (y * y + z * z)) * a
            + fabs(2 * (x * y - z * w)) * b
            + fabs(2 * (x * z + y * w)) * c
        )
        half[r, 1] = (
            fabs(2 * (x * y + z * w)) * a
            + fabs(1 - 2 * (x * x + z * z)) * b
            + fabs(2 * (y * z - x * w)) * c
        )
        half[r, 2] = (
            fabs(2 * (x * z - y * w)) * a
            + fabs(2 * (y * z + x * w)) * b
            + fabs(1 - 2 * (x * x + y * y)) * c
        )
