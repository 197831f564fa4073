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


@cython.cfunc
@cython.exceptval(check=False)
def _to_unit(
    rows: cython.float[:, ::1], i: cython.Py_ssize_t, work: cython.double[::1]
) -> cython.bint:
    """Divide a row by its norm, where that is above zero and finite; returns whether it is."""
    norm: cython.double = sqrt(_product(rows, i, rows, i, work))
    j: cython.Py_ssize_t
    if not (norm > 0.0 and norm < _INFINITY):
        return False
    for j in range(rows.shape[1]):
        rows[i, j] = float(rows[i, j]) / norm
    return True


def unit_rows(
    rows: cython.float[:, ::1], usable: cython.uchar[::1], work: cython.double[::1]
) -> None:
    """Divide each row by its norm, where that is above zero and finite, and say where it is.

    Args:
        rows: (n, D), overwritten. usable: (n,), written. work: (D,) scratch.
    """
    i: cython.Py_ssize_t
    for i in range(rows.shape[0]):
        usable[i] = _to_unit(rows, i, work)


def blend_rows(
    new: cython.float[:, ::1],
    place: cython.longlong[::1],
    row: cython.longlong[::1],
    has_feature: cython.uchar[:],
    weight: cython.double[::1],
    chunks: list[Any],
    rows_of_chunk: cython.Py_ssize_t,
) -> None:
    """Write what the unit rows of objects become, moved towards new ones, as unit rows.

    Args:
        new: (n, D), overwritten. place: (n,) of its object among those that follow; beyond them it
            is a new object.
        row: (R,) of objects. has_feature: (R,) whether there is a feature, which stands in one of
            the `chunks`. weight: (R,) share of the new one.
    """
    width: cython.Py_ssize_t = new.shape[1]
    work: cython.double[::1] = np.empty(width)
    mixed: cython.double[::1] = np.empty(width)
    current: cython.Py_ssize_t = -1
    held: cython.float[:, ::1]
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for i in range(new.shape[0]):
        r: cython.Py_ssize_t = place[i]
        if r >= row.shape[0] or not has_feature[r]:
            _to_unit(new, i, work)
            continue
        if row[r] // rows_of_chunk != current:
            current = row[r] // rows_of_chunk
            held = chunks[current]
        k: cython.Py_ssize_t = row[r] - current * rows_of_chunk
        w: cython.double = weight[r]
        for j in range(width):
            old: cython.double = float(held[k, j])
            mixed[j] = old + w * (float(new[i, j]) - old)
            work[j] = mixed[j] * mixed[j]
        norm: cython.double = sqrt(_tree_sum(work))
        for j in range(width):
            new[i, j] = mixed[j] / norm


def halve_rows(
    numbers: cython.const[cython.uint][:, ::1],  # type: ignore[valid-type]
    place: cython.longlong[::1],
    rows: cython.float[:, ::1],
    bits: cython.uint[:, ::1],
    halves: cython.ushort[:, ::1],
) -> None:
    """Write some rows rounded to what float16 can hold, ties to even.

    numpy takes many times as long for the way there and back.

    Args:
        numbers: (m, D) of absolute value up to 65504, the bits of float32. place: (n,) rows of it.
        rows: (n, D) written. bits: the same memory, as bits.
        halves: (n, D) written: the bits of the float16 numbers.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    given: cython.uint
    size: cython.uint
    half: cython.uint
    whole: cython.uint
    tiny: cython.uint
    for i in range(rows.shape[0]):
        tiny = 0
        for j in range(rows.shape[1]):  # of 23 binary digits, 10 are kept
            given = cython.cast(cython.uint, numbers[place[i], j])
            size = given & 0x7FFFFFFF
            half = (size + 0xFFF + ((size >> 13) & 1)) >> 13
            halves[i, j] = ((given >> 16) & 0x8000) | ((half - 0x1C000) & 0x7FFF)
            whole = ((given >> 31) << 31) | (half << 13)
            bits[i, j] = whole if size >= _LEAST_WHOLE else given
            tiny |= size < _LEAST_WHOLE
        if not tiny:
            continue
        for j in range(rows.shape[1]):
            given = cython.cast(cython.uint, bits[i, j])
            size = given & 0x7FFFFFFF
            if size < _LEAST_WHOLE:
                half = _in_tiny_steps(size)
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
