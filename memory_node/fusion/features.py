# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Features, row by row: unit vectors of float32, sums in double precision.

Compiled where that is possible, like `scoring.py`, which says how.
"""

from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import sqrt

_INFINITY = cython.declare(cython.double, float('inf'))
_NAN = cython.declare(cython.double, float('nan'))
_LEAST_WHOLE = cython.declare(cython.uint, 0x38800000)
"""The bits of 2⁻¹⁴: float16 holds smaller numbers with fewer digits."""
_TINY = cython.declare(cython.double, 2.0**-24)
"""What the smallest float16 numbers are multiples of."""


@cython.cfunc
@cython.exceptval(check=False)
def _tree_sum(values: cython.double[::1]) -> cython.double:
    """As `boxes.tree_sum`: the same sum to the last bit. `values` is overwritten."""
    width: cython.Py_ssize_t = values.shape[0]
    half: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    if width == 0:
        return 0.0
    while width >= 32 and width % 16 == 0:
        width = width // 16
        for k in range(1, 16):
            for j in range(width):
                values[j] += values[k * width + j]
    while width > 1:
        half = width // 2
        for j in range(half):
            values[j] += values[half + j]
        if width % 2 == 1:
            values[0] += values[2 * half]
        width = half
    return values[0]


@cython.cfunc
@cython.exceptval(check=False)
def _product(
    a: cython.float[:, ::1],
    i: cython.Py_ssize_t,
    b: cython.float[:, ::1],
    k: cython.Py_ssize_t,
    work: cython.double[::1],
) -> cython.double:
    """Scalar product of two rows in double precision."""
    j: cython.Py_ssize_t
    for j in range(work.shape[0]):
        work[j] = float(a[i, j]) * float(b[k, j])
    return _tree_sum(work)


def unit_rows(
    rows: cython.float[:, ::1], usable: cython.uchar[::1], work: cython.double[::1]
) -> None:
    """Divide each row by its norm, where that is above zero and finite, and say where it is.

    Args:
        rows: (n, D), overwritten. usable: (n,), written. work: (D,) scratch.
    """
    width: cython.Py_ssize_t = rows.shape[1]
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    norm: cython.double
    for i in range(rows.shape[0]):
        norm = sqrt(_product(rows, i, rows, i, work))
        usable[i] = norm > 0.0 and norm < _INFINITY
        if usable[i]:
            for j in range(width):
                rows[i, j] = float(rows[i, j]) / norm


def blend_rows(
    held: cython.float[:, ::1], new: cython.float[:, ::1], weight: cython.double[::1],
    work: cython.double[::1],
) -> None:  # fmt: skip
    """Move unit rows towards new ones, as unit rows.

    Args:
        held: (n, D), overwritten. new: (n, D). weight: (n,) share of the new one. work: (D,).
    """
    width: cython.Py_ssize_t = held.shape[1]
    mixed: cython.double[::1] = np.empty(width)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for i in range(held.shape[0]):
        w: cython.double = weight[i]
        for j in range(width):
            old: cython.double = float(held[i, j])
            mixed[j] = old + w * (float(new[i, j]) - old)
            work[j] = mixed[j] * mixed[j]
        norm: cython.double = sqrt(_tree_sum(work))
        for j in range(width):
            held[i, j] = mixed[j] / norm


def halve_rows(
    rows: cython.float[:, ::1], bits: cython.uint[:, ::1], halves: cython.ushort[:, ::1]
) -> None:
    """Round numbers to what float16 can hold, ties to even, and write them as such.

    numpy takes four times as long for the way there and back.

    Args:
        rows: (n, D) of absolute value up to 65504, overwritten. bits: the same memory, as bits.
        halves: (n, D) written: the bits of the float16 numbers.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    given: cython.uint
    half: cython.uint
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):  # of 23 binary digits, 10 are kept
            given = cython.cast(cython.uint, bits[i, j])
            half = given & 0x7FFFFFFF
            half = (half + 0xFFF + ((half >> 13) & 1)) >> 13
            halves[i, j] = ((given >> 16) & 0x8000) | (half - 0x1C000 if half > 0x1C000 else 0)
        for j in range(rows.shape[1]):
            given = cython.cast(cython.uint, bits[i, j])
            half = cython.cast(cython.uint, halves[i, j])
            if (given & 0x7FFFFFFF) >= _LEAST_WHOLE:
                bits[i, j] = ((half & 0x8000) << 16) | (((half & 0x7FFF) + 0x1C000) << 13)
            else:
                half = _in_tiny_steps(given & 0x7FFFFFFF)
                halves[i, j] = ((given >> 16) & 0x8000) | half
                rows[i, j] = half * (-_TINY if given >> 31 else _TINY)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _in_tiny_steps(size: cython.uint) -> cython.uint:
    """Round a float32 number below 2⁻¹⁴, given as its bits, to multiples of 2⁻²⁴."""
    shift: cython.uint = 126 - (size >> 23)
    if shift > 24:  # less than half a step
        return 0
    whole: cython.uint = (size & 0x7FFFFF) | 0x800000
    one: cython.uint = 1
    return (whole + (one << (shift - 1)) - 1 + ((whole >> shift) & 1)) >> shift


def feature_terms(
    feature: cython.float[:, ::1],
    has_feature: cython.uchar[::1],
    place: cython.longlong[::1],
    row: cython.longlong[::1],
    held: cython.uchar[:],
    chunks: list[Any],
    rows_of_chunk: cython.Py_ssize_t,
    terms: cython.double[:, ::1],
) -> None:
    """Write the third term of each pair: the cosine, 0 to 1; NaN where one side has no feature.

    Args:
        feature: (n, D) unit rows. has_feature: (n,). place, row: (P,) the pairs.
        held: (rows,) whether the object has a feature; it stands in one of the `chunks`.
        terms: (P, 4).
    """
    work: cython.double[::1] = np.empty(feature.shape[1])
    current: cython.Py_ssize_t = -1
    stored: cython.float[:, ::1]
    p: cython.Py_ssize_t
    for p in range(place.shape[0]):
        if not (held[row[p]] and has_feature[place[p]]):
            terms[p, 2] = _NAN
            continue
        if row[p] // rows_of_chunk != current:
            current = row[p] // rows_of_chunk
            stored = chunks[current]
        cosine = _product(stored, row[p] - current * rows_of_chunk, feature, place[p], work)
        terms[p, 2] = min(max(cosine, 0.0), 1.0)


def gather(chunks: list[Any], rows: cython.longlong[:], size: cython.Py_ssize_t,
           out: cython.float[:, ::1]) -> None:  # fmt: skip
    """Copy rows out of chunks of so many rows each, (R, D)."""
    current: cython.Py_ssize_t = -1
    chunk: cython.float[:, ::1]
    r: cython.Py_ssize_t
    for r in range(rows.shape[0]):
        if rows[r] // size != current:
            current = rows[r] // size
            chunk = chunks[current]
        out[r, :] = chunk[rows[r] - current * size, :]


def scatter(chunks: list[Any], rows: cython.longlong[:], size: cython.Py_ssize_t,
            given: cython.const[cython.float][:, ::1]) -> None:  # type: ignore[valid-type] # fmt: skip
    """Copy rows into chunks of so many rows each, (R, D)."""
    current: cython.Py_ssize_t = -1
    chunk: cython.float[:, ::1]
    r: cython.Py_ssize_t
    for r in range(rows.shape[0]):
        if rows[r] // size != current:
            current = rows[r] // size
            chunk = chunks[current]
        chunk[rows[r] - current * size, :] = given[r, :]
