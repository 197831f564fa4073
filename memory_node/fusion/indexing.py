# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What an index finds, pair by pair. Compiled like `scoring.py`.

Pairs (place, row) come as `grid.KEYS`, sorted, some more than once; rows at level -1 are gone.
"""

from typing import Any

import cython
from cython.cimports.libc.math import fabs, sqrt

from memory_node.fusion import grid

_INFINITY = cython.declare(cython.double, float('inf'))
_KEYS = cython.declare(cython.longlong, grid.KEYS)


def radii(
    half: cython.double[:, ::1], margin_m: cython.double, radius: cython.double[::1]
) -> cython.double:
    """Write how far about the centre of each box to look, half a cube's side; returns the largest.

    Args:
        half: (n, 3) metres. margin_m: is added to the longest. radius: (n,) written.
    """
    most: cython.double = 0.0
    i: cython.Py_ssize_t
    for i in range(half.shape[0]):
        radius[i] = max(half[i, 0], half[i, 1], half[i, 2]) + margin_m
        most = max(most, radius[i])
    return most


def reached(
    found: cython.double[:, :],
    entry: cython.Py_ssize_t[:, :],
    radius: cython.double[::1],
    reach_m: cython.double,
    rows: cython.longlong[::1],
    more: cython.bint,
    pairs: cython.longlong[::1],
) -> tuple[int, list[Any]]:
    """Turn the answer of `cKDTree.query` into pairs.

    Args:
        found, entry: (n, k) distances, ascending, and entries of the tree.
        radius: (n,) half side of the cube that is asked about, less what an entry may reach.
        reach_m: that. rows: (entries,) rows of the entries.
        more: whether there may be more than k entries.
        pairs: (n * k,) written.

    Returns:
        How many pairs there are; places where more than the k that were found may be in the cube:
        such a place makes no pairs here.
    """
    full: list[Any] = []
    last: cython.Py_ssize_t = found.shape[1] - 1
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    for i in range(found.shape[0]):
        most: cython.double = radius[i] + reach_m
        if more and found[i, last] <= most:
            full.append(i)
            continue
        for k in range(last + 1):
            if not found[i, k] <= most:
                break
            pairs[count] = i * _KEYS + rows[entry[i, k]]
            count += 1
    return count, full


def touching(
    center: cython.double[:, ::1],
    half: cython.double[:, ::1],
    margin_m: cython.double,
    pairs: cython.longlong[::1],
    level_of: cython.longlong[::1],
    records: Any,
    place: cython.longlong[::1],
    row: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Keep the pairs whose boxes overlap once those of the records are grown by a margin.

    Args:
        center, half: (n, 3) metres. pairs: (P,). level_of: (rows,). records: (rows,) OBJECT.
        place, row: (P,) written with the pairs that are kept, each once.

    Returns:
        How many are kept.
    """
    hull: cython.double[:, :] = records['hull_center']
    box: cython.double[:, :] = records['half']
    kept: cython.Py_ssize_t = 0
    p: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for p in range(pairs.shape[0]):
        i: cython.Py_ssize_t = pairs[p] // _KEYS
        k: cython.Py_ssize_t = pairs[p] % _KEYS
        if level_of[k] < 0 or (p > 0 and pairs[p] == pairs[p - 1]):
            continue
        gap: cython.double = -_INFINITY
        for j in range(3):
            gap = max(gap, fabs(hull[k, j] - center[i, j]) - box[k, j] - half[i, j])
        if gap <= margin_m:
            place[kept] = i
            row[kept] = k
            kept += 1
    return kept


def close_by(
    point: cython.double[::1],
    radius_m: cython.double,
    rows: cython.longlong[::1],
    level_of: cython.longlong[::1],
    records: Any,
    distance_m: cython.double[::1],
) -> cython.Py_ssize_t:
    """Keep the rows of objects whose centre is within a radius of a point.

    Args:
        point: (3,) metres. rows: (R,) sorted, overwritten with those that are kept, each once.
        level_of: (rows,). records: (rows,) OBJECT. distance_m: (R,) written for those.

    Returns:
        How many are kept.
    """
    center: cython.double[:, :] = records['center']
    before: cython.longlong = -1
    kept: cython.Py_ssize_t = 0
    r: cython.Py_ssize_t
    for r in range(rows.shape[0]):
        k: cython.Py_ssize_t = rows[r]
        if level_of[k] < 0 or k == before:
            continue
        before = k
        x: cython.double = center[k, 0] - point[0]
        y: cython.double = center[k, 1] - point[1]
        z: cython.double = center[k, 2] - point[2]
        away: cython.double = sqrt(x * x + y * y + z * z)
        if away <= radius_m:
            rows[kept] = k
            distance_m[kept] = away
            kept += 1
    return kept


def place(
    records: Any,
    rows: cython.longlong[::1],
    reach_m: cython.double[::1],
    placed: cython.double[:, ::1],
    class_of: cython.schar[::1],
) -> None:
    """Write where some rows are, and of which size class.

    Args:
        records: (rows,) OBJECT. rows: (R,) of them. reach_m: largest half extent in each class.
        placed: (rows, 3) metres. class_of: (rows,).
    """
    hull: cython.double[:, :] = records['hull_center']
    half: cython.double[:, :] = records['half']
    r: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for r in range(rows.shape[0]):
        k: cython.Py_ssize_t = rows[r]
        class_of[k] = 0
        for j in range(3):
            placed[k, j] = hull[k, j]
            while half[k, j] > reach_m[class_of[k]]:
                class_of[k] += 1


def strayed(
    records: Any,
    rows: cython.longlong[::1],
    placed: cython.double[:, ::1],
    class_of: cython.schar[::1],
    reach_m: cython.double[::1],
    slack_m: cython.double,
) -> list[Any]:
    """The rows whose centre left the place, or whose box the size class, they are indexed with.

    Args:
        records: (rows,) OBJECT. rows: (R,) to look at. placed: (rows, 3) metres.
        class_of: (rows,). reach_m: largest half extent in each class.
    """
    hull: cython.double[:, :] = records['hull_center']
    half: cython.double[:, :] = records['half']
    found: list[Any] = []
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for i in range(rows.shape[0]):
        k: cython.Py_ssize_t = rows[i]
        off: cython.bint = False
        for j in range(3):
            off = off or fabs(hull[k, j] - placed[k, j]) > slack_m
            off = off or half[k, j] > reach_m[class_of[k]]
        if off:
            found.append(k)
    return found
