# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The numbers of detections, one after the other. Compiled like `scoring.py`.

Of each detection: score, centre, size and orientation, (n, 11).
"""

from typing import Any

import cython
import numpy as np


def read_numbers(detections: Any, numbers: cython.double[:, ::1]) -> list[Any]:
    """Write what each of n detections says, where that is in plain numbers.

    Args:
        detections: a sequence. numbers: (n, 11) written.

    Returns:
        Places of those of which some are not: these rows hold anything.
    """
    odd: list[Any] = []
    k: cython.Py_ssize_t
    for k in range(numbers.shape[0]):
        d = detections[k]
        try:
            plain: bool = (
                _reads((d.score,), numbers[k, 0:1])
                and _reads(d.center_m, numbers[k, 1:4])
                and _reads(d.size_m, numbers[k, 4:7])
                and _reads(d.orientation_xyzw, numbers[k, 7:11])
            )
        except OverflowError:  # an int beyond all floats
            plain = False
        if not plain:
            odd.append(k)
    return odd


@cython.cfunc
def _reads(values: Any, row: cython.double[::1]) -> bool:
    """Write values into a row, where they are as many plain numbers."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, (tuple, list)) or len(values) != row.shape[0]:
        return False
    j: cython.Py_ssize_t
    for j in range(row.shape[0]):
        value = values[j]
        if not isinstance(value, (float, int)):
            return False
        row[j] = value
    return True


def sort_rows(
    names: list[Any], numbers: cython.double[:, ::1], order: cython.longlong[::1]
) -> bool:
    """Sort by name, centre, size and score.

    Args:
        names: n texts. numbers: (n, 11). order: (m,) some rows, sorted in place.

    Returns:
        Whether no two of them are alike in all of these.
    """
    count: cython.Py_ssize_t = order.shape[0]
    merged: cython.longlong[::1] = np.empty(count, np.int64)
    width: cython.Py_ssize_t = 1
    i: cython.Py_ssize_t
    while width < count:  # runs of this length are sorted, and two of them are merged
        for i in range(0, count, 2 * width):
            middle: cython.Py_ssize_t = min(i + width, count)
            end: cython.Py_ssize_t = min(i + 2 * width, count)
            a: cython.Py_ssize_t = i
            b: cython.Py_ssize_t = middle
            k: cython.Py_ssize_t
            for k in range(i, end):
                if a < middle and (b >= end or not _is_before(names, numbers, order[b], order[a])):
                    merged[k] = order[a]
                    a += 1
                else:
                    merged[k] = order[b]
                    b += 1
        order[:] = merged
        width *= 2
    differ: cython.bint = True
    for i in range(1, count):
        differ = differ and _is_before(names, numbers, order[i - 1], order[i])
    return differ


@cython.cfunc
def _is_before(
    names: list[Any], numbers: cython.double[:, ::1], a: cython.Py_ssize_t, b: cython.Py_ssize_t
) -> bool:
    one, other = names[a], names[b]
    if one is not other and one != other:
        return one < other
    j: cython.Py_ssize_t
    for j in range(1, 7):
        if numbers[a, j] != numbers[b, j]:
            return numbers[a, j] < numbers[b, j]
    return numbers[a, 0] < numbers[b, 0]


def pick(
    numbers: cython.double[:, ::1],
    order: cython.longlong[::1],
    score: cython.double[::1],
    extent: cython.uchar[::1],
) -> None:
    """Write the scores of some rows, and whether any side of their box is above zero.

    Args:
        numbers: (n, 11). order: (m,) rows of it. score, extent: (m,) written.
    """
    i: cython.Py_ssize_t
    for i in range(order.shape[0]):
        k: cython.Py_ssize_t = order[i]
        score[i] = numbers[k, 0]
        extent[i] = max(numbers[k, 4], numbers[k, 5], numbers[k, 6]) > 0.0
