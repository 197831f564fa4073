# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a view says of stored boxes, one after the other. Compiled like `scoring.py`.

`visibility.py` says what the words mean and what the limits are. Frames are optical: z forward,
x right, y down.
"""

from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import fabs, sqrt

_ROUNDER = cython.declare(cython.double, 6755399441055744.0)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _rounded(value: cython.double) -> cython.double:
    """To nine digits: see `scoring.py`."""
    scaled: cython.double = value * 1e9
    if fabs(scaled) >= 2251799813685248.0:
        return value
    return ((scaled + _ROUNDER) - _ROUNDER) / 1e9


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _whole(pixel: cython.double) -> cython.double:
    """The pixel that a place on the image lies in, halves to even; far off it stays as it is."""
    place: cython.double = _rounded(pixel)
    if fabs(place) >= 1e9:
        return place
    return (place + _ROUNDER) - _ROUNDER


def in_view(points: cython.double[:, ::1], angles: cython.double[::1]) -> list[Any]:
    """Whether each of some points, (N, 3), lies between the opening angles: see `_in_view`."""
    return [_in_view(points, k, angles) for k in range(points.shape[0])]


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _in_view(p: cython.double[:, ::1], k: cython.Py_ssize_t, angles: cython.double[::1]) -> bool:
    """Whether a point lies between the opening angles.

    angles: 0 and the tangents of their halves; or, from half a turn on, 1 and the cosines of theirs.
    """
    x: cython.double = p[k, 0]
    y: cython.double = p[k, 1]
    z: cython.double = p[k, 2]
    if angles[0] == 0.0:
        return (
            _rounded(angles[1] * z - fabs(x)) >= 0.0
            and _rounded(angles[2] * z - fabs(y)) >= 0.0
            and z > 0.0
        )
    level: cython.double = sqrt(x * x + z * z)
    away: cython.double = sqrt(level * level + y * y)
    return _rounded(z - angles[1] * level) >= 0.0 and _rounded(level - angles[2] * away) >= 0.0


@cython.cfunc
@cython.exceptval(check=False)
def _set_axes(
    size: cython.double[:, :],
    q: cython.double[:, :],
    i: cython.Py_ssize_t,
    turn: cython.double[:, ::1],
    axes: cython.double[:, ::1],
) -> cython.double:
    """Write the half axes of a box in the optical frame, one a row; returns the square sum."""
    x: cython.double = q[i, 0]
    y: cython.double = q[i, 1]
    z: cython.double = q[i, 2]
    w: cython.double = q[i, 3]
    total: cython.double = 0.0
    k: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for k in range(3):
        half: cython.double = size[i, k] * 0.5
        if k == 0:
            a, b, c = 1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)
        elif k == 1:
            a, b, c = 2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)
        else:
            a, b, c = 2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)
        for j in range(3):
            axes[k, j] = a * half * turn[0, j] + b * half * turn[1, j] + c * half * turn[2, j]
            total += axes[k, j] * axes[k, j]
    return total


@cython.cfunc
@cython.exceptval(check=False)
def _set_probes(
    middle: cython.double[:, ::1],
    axes: cython.double[:, ::1],
    steps: cython.double[:, ::1],
    share: cython.double,
    probes: cython.double[:, ::1],
) -> cython.void:
    """Write points of a box: its middle and so much of its half axes."""
    k: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for k in range(steps.shape[0]):
        for j in range(3):
            probes[k, j] = middle[0, j] + (
                steps[k, 0] * share * axes[0, j]
                + steps[k, 1] * share * axes[1, j]
                + steps[k, 2] * share * axes[2, j]
            )


@cython.cfunc
@cython.exceptval(check=False)
def _by_depth(
    depth: cython.const[cython.float][:, :],  # type: ignore[valid-type]
    lens: cython.double[::1],
    middle: cython.double[:, ::1],
    axes: cython.double[:, ::1],
    probes: cython.double[:, ::1],
    kind: cython.int,
    limits: cython.double[::1],
    codes: cython.longlong[::1],
) -> cython.int:
    """What depth at the pixels of a box says; kind: what the detector alone says."""
    far: cython.double = middle[0, 2]
    tolerance: cython.double = limits[1] + limits[2] * far
    half: cython.double = fabs(axes[0, 2]) + fabs(axes[1, 2]) + fabs(axes[2, 2])
    valid: cython.Py_ssize_t = 0
    nearer: cython.Py_ssize_t = 0
    beyond: cython.Py_ssize_t = 0
    through: cython.Py_ssize_t = 0
    open_: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = probes.shape[0]
    k: cython.Py_ssize_t
    for k in range(count):
        if not probes[k, 2] > limits[3]:
            return codes[1]
        u: cython.double = _whole(probes[k, 0] / probes[k, 2] * lens[0] + lens[2])
        v: cython.double = _whole(probes[k, 1] / probes[k, 2] * lens[1] + lens[3])
        if not (0.0 <= u < depth.shape[1] and 0.0 <= v < depth.shape[0]):
            return codes[1]
        shown: cython.double = float(
            depth[cython.cast(cython.Py_ssize_t, v), cython.cast(cython.Py_ssize_t, u)]
        )
        if not 0.0 < shown < 1e300:
            continue
        valid += 1
        behind: cython.double = _rounded(shown - far)
        nearer += behind < -(half + tolerance)
        beyond += behind > tolerance
        through += behind > half + tolerance
        open_ += behind >= -tolerance
    most: cython.double = limits[4] * count
    if not valid > most:
        return codes[1]
    if nearer >= limits[5] * count:
        return codes[3]
    if through > most and _is_resolved(axes, lens, far, limits):
        return codes[2]
    if beyond > most or (_is_thin(axes, tolerance) and open_ >= limits[6] * count):
        return kind
    return codes[1]


@cython.cfunc
@cython.exceptval(check=False)
def _is_resolved(
    axes: cython.double[:, ::1],
    lens: cython.double[::1],
    far: cython.double,
    limits: cython.double[::1],
) -> bool:
    """Whether a box is large enough on the image for depth to tell it."""
    extent: cython.double = 0.0
    k: cython.Py_ssize_t
    for k in range(3):
        extent = max(extent, sqrt(axes[k, 0] * axes[k, 0] + axes[k, 1] * axes[k, 1]))
    return _rounded(extent * min(lens[0], lens[1]) / max(far, limits[3])) >= limits[7]


@cython.cfunc
@cython.exceptval(check=False)
def _is_thin(axes: cython.double[:, ::1], tolerance: cython.double) -> bool:
    """Whether a side of a box is less than depth can tell."""
    k: cython.Py_ssize_t
    for k in range(3):
        square: cython.double = axes[k, 0] * axes[k, 0] + axes[k, 1] * axes[k, 1]
        if _rounded(sqrt(square + axes[k, 2] * axes[k, 2]) - tolerance) <= 0.0:
            return True
    return False


@cython.cfunc
@cython.exceptval(check=False)
def _is_taken(
    center: cython.double[:, :],
    half: cython.double[:, :],
    i: cython.Py_ssize_t,
    shown_center: cython.double[:, ::1],
    shown_half: cython.double[:, ::1],
    least: cython.double,
) -> bool:
    """Whether something shown shares that much of the union of the boxes: see `boxes.iou`."""
    volume: cython.double = 8 * half[i, 0] * half[i, 1] * half[i, 2]
    m: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for m in range(shown_center.shape[0]):
        other: cython.double = 8 * shown_half[m, 0] * shown_half[m, 1] * shown_half[m, 2]
        if not (volume > 0.0 and other > 0.0):
            continue
        shared: cython.double = 1.0
        for j in range(3):
            low: cython.double = max(
                shown_center[m, j] - shown_half[m, j], center[i, j] - half[i, j]
            )
            high: cython.double = min(
                shown_center[m, j] + shown_half[m, j], center[i, j] + half[i, j]
            )
            shared *= max(high - low, 0.0)
        if _rounded(min(shared / (other + volume - shared), 1.0)) >= least:
            return True
    return False


@cython.cfunc
@cython.exceptval(check=False)
def _kind_of(
    middle: cython.double[:, ::1],
    axes: cython.double[:, ::1],
    square: cython.double,
    probes: cython.double[:, ::1],
    angles: cython.double[::1],
    ranges: cython.double[::1],
    steps: cython.double[:, ::1],
    depth: cython.const[cython.float][:, :],  # type: ignore[valid-type]
    lens: cython.double[::1],
    limits: cython.double[::1],
    codes: cython.longlong[::1],
) -> cython.longlong:
    """What a view says of one box, of which it sees the middle; square: sum of its half axes'."""
    level: cython.double = middle[0, 0] * middle[0, 0] + middle[0, 1] * middle[0, 1]
    away: cython.double = _rounded(sqrt(level + middle[0, 2] * middle[0, 2]))
    if away > ranges[1]:
        return codes[4]
    if away < ranges[0] or away <= sqrt(square):  # too near, or the sensor is within, or all but
        return codes[1]
    _set_probes(middle, axes, steps, 1.0, probes)
    kind: cython.longlong = codes[0]
    k: cython.Py_ssize_t
    for k in range(probes.shape[0]):
        if not _in_view(probes, k, angles):
            kind = codes[1]
            break
    if not depth.shape[0]:
        return kind
    _set_probes(middle, axes, steps, limits[0], probes)
    return _by_depth(depth, lens, middle, axes, probes, kind, limits, codes)


def kinds(
    records: Any,
    rows: cython.longlong[::1],
    shown: cython.longlong[::1],
    shown_center: cython.double[:, ::1],
    shown_half: cython.double[:, ::1],
    sensor: cython.double[::1],
    turn: cython.double[:, ::1],
    angles: cython.double[::1],
    ranges: cython.double[::1],
    steps: cython.double[:, ::1],
    depth: cython.const[cython.float][:, :],  # type: ignore[valid-type]
    lens: cython.double[::1],
    limits: cython.double[::1],
    codes: cython.longlong[::1],
    kind: cython.uchar[::1],
) -> None:
    """Write what a view says of each object.

    Args:
        records: (rows,) OBJECT. rows: (R,) to look at. shown: (S,) those of them that it shows, of
            which it says `never` here.
        shown_center, shown_half: (M, 3) of all that it shows: where one of these is in the place of
            an object of which depth says nothing, the object is missed.
        sensor: (3,) where it is, map. turn: (3, 3) of the optical frame in the map.
        angles: (3,) see `_in_view`. ranges: (2,) metres. steps: (K, 3) points of a box, half axes.
        depth: (H, W) float32 metres; (0, 0): there is none. lens: (4,) fx, fy, cx, cy.
        limits: of `_by_depth`: share of the box, tolerance and its growth, least distance, the
            shares that are most, hidden and bare, least pixels; then of `_is_taken`.
        codes: of missed, nothing, seen through, occluded, too far, never.
        kind: (R,) written.
    """
    center: cython.double[:, :] = records['center']
    size: cython.double[:, :] = records['size']
    orientation: cython.double[:, :] = records['orientation']
    hull: cython.double[:, :] = records['hull_center']
    half: cython.double[:, :] = records['half']
    middle: cython.double[:, ::1] = np.empty((1, 3))
    axes: cython.double[:, ::1] = np.empty((3, 3))
    probes: cython.double[:, ::1] = np.empty((steps.shape[0], 3))
    r: cython.Py_ssize_t
    s: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for r in range(rows.shape[0]):
        i: cython.Py_ssize_t = rows[r]
        kind[r] = codes[5]
        is_shown: cython.bint = False
        for s in range(shown.shape[0]):
            is_shown = is_shown or shown[s] == i
        if is_shown:
            continue
        x: cython.double = center[i, 0] - sensor[0]
        y: cython.double = center[i, 1] - sensor[1]
        z: cython.double = center[i, 2] - sensor[2]
        for j in range(3):
            middle[0, j] = x * turn[0, j] + y * turn[1, j] + z * turn[2, j]
        if not _in_view(middle, 0, angles):
            continue
        square: cython.double = _set_axes(size, orientation, i, turn, axes)
        kind[r] = _kind_of(
            middle, axes, square, probes, angles, ranges, steps, depth, lens, limits, codes
        )
        if kind[r] == codes[1] and _is_taken(hull, half, i, shown_center, shown_half, limits[8]):
            kind[r] = codes[0]
