# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The arithmetic of a view, loop by loop: Python that Cython compiles where it can.

A view has some twenty detections and a few candidates each. For so few numbers numpy spends its
time on calls, not on arithmetic: these loops take a tenth of it (docs/measurements.md). Where the
package was installed without a compiler the same file runs as it is: slower, to the same last bit,
for every sum has one order and nothing is contracted (CMakeLists.txt, setup.py). `COMPILED` says
which of the two runs.

Arrays are those of `Evidence` and of the records of `World`; flags are uint8. Who calls checks what
is given; nothing is checked here.
"""

from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import fabs, sqrt

COMPILED = cython.compiled

_NAN = cython.declare(cython.double, float('nan'))
_INFINITY = cython.declare(cython.double, float('inf'))
_ROUNDER = cython.declare(cython.double, 6755399441055744.0)
"""1.5 × 2⁵²: adding and subtracting it rounds to a whole number, halves to even."""

IOU_SIGMAS = 3.0
OVERLAP_SIGMAS = 3.0
RANGE_GATES = 1.5
GATE_SIGMAS = 4.5
GATE_SIZE = 0.3
"""What noise may do, in sigmas of the pair; GATE_SIZE: and partial sight, as a share of the smaller
diagonal. Measured with bench/quality.py (docs/measurements.md)."""
SETTLED = 0.11
"""Variance of a running mean of share w in those of a sighting: w / (2 - w), with w 0.2."""


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _rounded(value: cython.double) -> cython.double:
    """To nine digits, as every term is before it is compared."""
    scaled: cython.double = value * 1e9
    if fabs(scaled) >= 2251799813685248.0:  # 2⁵¹: it has no digits beyond these
        return value
    return ((scaled + _ROUNDER) - _ROUNDER) / 1e9


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _diagonal(half: cython.double[:, :], i: cython.Py_ssize_t) -> cython.double:
    return 2.0 * sqrt(half[i, 0] * half[i, 0] + half[i, 1] * half[i, 1] + half[i, 2] * half[i, 2])


@cython.cfunc
@cython.exceptval(check=False)
def _iou(
    center_a: cython.double[::1],
    half_a: cython.double[:, ::1],
    i: cython.Py_ssize_t,
    center_b: cython.double[:, :],
    half_b: cython.double[:, :],
    k: cython.Py_ssize_t,
) -> cython.double:
    """Intersection over union of axis-aligned boxes (CH-16); NaN where one has no volume."""
    volume_a: cython.double = 8.0 * half_a[i, 0] * half_a[i, 1] * half_a[i, 2]
    volume_b: cython.double = 8.0 * half_b[k, 0] * half_b[k, 1] * half_b[k, 2]
    if not (volume_a > 0.0 and volume_b > 0.0):
        return _NAN
    shared: cython.double = 1.0
    j: cython.Py_ssize_t
    for j in range(3):
        side: cython.double = min(center_a[j] + half_a[i, j], center_b[k, j] + half_b[k, j])
        side -= max(center_a[j] - half_a[i, j], center_b[k, j] - half_b[k, j])
        shared *= max(side, 0.0)
    return min(shared / (volume_a + volume_b - shared), 1.0)  # rounding may exceed 1


def geometry_terms(
    center: cython.double[:, ::1],
    half: cython.double[:, ::1],
    sigma: cython.double[::1],
    place: cython.longlong[::1],
    row: cython.longlong[::1],
    records: Any,
    aware: cython.bint,
    range_m: cython.double,
    terms: cython.double[:, ::1],
    near: cython.uchar[::1],
) -> None:
    """Write the first two terms of each pair (CH-16), less what noise alone explains.

    Box overlap says nothing where a side is under IOU_SIGMAS of the noise; elsewhere the boxes are
    first moved together by as much as noise may have moved them apart.

    Args:
        center, half: (n, 3) metres, of the detections. sigma: (n,) metres.
        place, row: (P,) the pairs. records: (rows,) OBJECT.
        aware: whether noise is allowed for. range_m: distance at which the first term is 0.
        terms: (P, 4). near: (P,) whether noise, and a box seen in part, explain the distance.
    """
    there: cython.double[:, :] = records['center']
    hull: cython.double[:, :] = records['hull_center']
    box: cython.double[:, :] = records['half']
    seen: cython.longlong[:] = records['observations']
    settled: cython.double = SETTLED
    gate_sigmas: cython.double = GATE_SIGMAS
    gate_size: cython.double = GATE_SIZE
    overlap_sigmas: cython.double = OVERLAP_SIGMAS
    range_gates: cython.double = RANGE_GATES
    iou_sigmas: cython.double = IOU_SIGMAS
    moved: cython.double[::1] = np.empty(3)
    p: cython.Py_ssize_t
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for p in range(place.shape[0]):
        i, k = place[p], row[p]
        spread: cython.double = sigma[i] * sqrt(1.0 + max(settled, 1.0 / float(max(seen[k], 1))))
        gate: cython.double = gate_sigmas * spread
        gate += gate_size * min(_diagonal(half, i), _diagonal(box, k))
        away: cython.double = 0.0
        side: cython.double = _INFINITY
        for j in range(3):
            away += (center[i, j] - there[k, j]) * (center[i, j] - there[k, j])
            side = min(side, min(half[i, j], box[k, j]))
            moved[j] = center[i, j]
            if aware:
                allowed = overlap_sigmas * spread
                moved[j] += min(max(hull[k, j] - center[i, j], -allowed), allowed)
        away = sqrt(away)
        reach = max(range_m, range_gates * gate) if aware else range_m
        terms[p, 0] = max(0.0, 1.0 - away / reach)
        terms[p, 1] = _NAN
        if _rounded(side * 2.0 - iou_sigmas * sigma[i]) >= 0.0:
            terms[p, 1] = _iou(moved, half, i, hull, box, k)
        near[p] = _rounded(away - gate) <= 0.0


def label_terms(
    evidence_label: cython.int[::1],
    place: cython.longlong[::1],
    row: cython.longlong[::1],
    records: Any,
    floor: cython.double,
    terms: cython.double[:, ::1],
) -> cython.Py_ssize_t:
    """Write the last term of each pair: 0 unless the object has the label of the detection (CH-17).

    Args:
        evidence_label: (n,) numbers. place, row: (P,) the pairs. records: (rows,) OBJECT.
        floor: what a label that is held counts for at least; at most it counts for 1.
        terms: (P, 4).

    Returns:
        How many pairs have 0.
    """
    held: cython.int[:, :] = records['labels']
    mass: cython.double[:, :] = records['masses']
    others: cython.Py_ssize_t = 0
    p: cython.Py_ssize_t
    k: cython.Py_ssize_t
    value: cython.double
    for p in range(place.shape[0]):
        value = 0.0
        for k in range(held.shape[1]):
            if held[row[p], k] == evidence_label[place[p]]:
                value = max(value, min(max(mass[row[p], k], floor), 1.0))
        terms[p, 3] = value
        others += value == 0.0
    return others


def totals(
    terms: cython.double[:, ::1],
    weights: cython.double[::1],
    near: cython.uchar[::1],
    total: cython.double[::1],
) -> None:
    """Round the terms of each pair, then take the weighted mean of those that exist (CH-15).

    Args:
        terms: (P, T), overwritten. weights: (T,). near: (P,) the total of others is 0.
        total: (P,), written.
    """
    p: cython.Py_ssize_t
    k: cython.Py_ssize_t
    for p in range(terms.shape[0]):
        part: cython.double = 0.0
        weight: cython.double = 0.0
        for k in range(terms.shape[1]):
            terms[p, k] = _rounded(terms[p, k])
            if terms[p, k] == terms[p, k]:
                part += terms[p, k] * weights[k]
                weight += weights[k]
        total[p] = _rounded(part / max(weight, 1e-12)) if near[p] else 0.0


def best_pairs(
    place: cython.longlong[::1],
    total: cython.double[::1],
    object_id: cython.longlong[::1],
    best: cython.longlong[::1],
) -> None:
    """Find the pair with the highest total of each detection, ties to the lowest object id.

    Args:
        place, total, object_id: (P,) of the pairs.
        best: (n,) written: number of the pair, -1: there is none.
    """
    p: cython.Py_ssize_t
    best[:] = -1
    for p in range(place.shape[0]):
        q: cython.Py_ssize_t = best[place[p]]
        if q < 0 or total[p] > total[q] or (total[p] == total[q] and object_id[p] < object_id[q]):
            best[place[p]] = p


def claims(
    best: cython.longlong[::1],
    row: cython.longlong[::1],
    total: cython.double[::1],
    least: cython.double,
    chosen: cython.longlong[::1],
) -> bool:
    """Give each detection its best pair, where the total is not less than asked for.

    Args:
        best: (n,) pair of each detection, -1: none. row, total: (P,) of the pairs.
        chosen: (n,) written: number of the pair, -1: none.

    Returns:
        Whether no object was given twice.
    """
    taken: set[Any] = set()
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(best.shape[0]):
        p: cython.Py_ssize_t = best[i]
        chosen[i] = -1
        if p >= 0 and total[p] >= least:
            chosen[i] = p
            taken.add(row[p])
            count += 1
    return len(taken) == count


def settle(
    chosen: cython.longlong[::1],
    best: cython.longlong[::1],
    pairs: Any,
    terms: cython.double[:, ::1],
    total: cython.double[::1],
    candidate: cython.longlong[::1],
    row: cython.longlong[::1],
) -> None:
    """Write what each detection joins, and how it compares to that, or to what it is most like.

    Args:
        chosen, best: (n,) pair it joins by, and its best one, -1: none. pairs: as in `arbiter`.
        terms, total: (n, 4) and (n,) written; NaN: there is none. candidate, row: (n,) written: row
            of the object that it is compared to, and joins; -1: none.
    """
    of_pair: cython.double[:, ::1] = pairs.terms
    total_of_pair: cython.double[::1] = pairs.total
    row_of_pair: cython.longlong[::1] = pairs.row
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    for i in range(chosen.shape[0]):
        p: cython.Py_ssize_t = chosen[i] if chosen[i] >= 0 else best[i]
        for k in range(terms.shape[1]):
            terms[i, k] = of_pair[p, k] if p >= 0 else _NAN
        total[i] = total_of_pair[p] if p >= 0 else _NAN
        candidate[i] = row_of_pair[p] if p >= 0 else -1
        row[i] = candidate[i] if chosen[i] >= 0 else -1


def nearest_of_kind(
    place: cython.longlong[::1],
    terms: cython.double[:, ::1],
    object_id: cython.longlong[::1],
    floor: cython.double,
    best: cython.longlong[::1],
) -> None:
    """Find the pair with the nearest object that has the label of the detection (`best_pairs`).

    Args:
        terms: (P, 4). floor: the label term of such an object is not less.
    """
    p: cython.Py_ssize_t
    best[:] = -1
    for p in range(place.shape[0]):
        if not terms[p, 3] >= floor:
            continue
        q: cython.Py_ssize_t = best[place[p]]
        if (
            q < 0
            or terms[p, 0] > terms[q, 0]
            or (terms[p, 0] == terms[q, 0] and object_id[p] < object_id[q])
        ):
            best[place[p]] = p


def displacements(
    center: cython.double[:, ::1],
    row: cython.longlong[::1],
    nearest: cython.longlong[::1],
    terms: cython.double[:, ::1],
    like: cython.double,
    records: Any,
    away: cython.double[:, ::1],
    place: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """How far detections are from the nearest object of their kind, unless it looks different.

    Args:
        center: (n, 3). row, terms: of the pairs. nearest: (n,) pair of each detection, -1: none.
        like: a cosine below it says that it is another thing.
        records: (rows,) OBJECT. away: (n, 3) written. place: (n,) written: of which detections.

    Returns:
        How many there are.
    """
    there: cython.double[:, :] = records['center']
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for i in range(nearest.shape[0]):
        p: cython.Py_ssize_t = nearest[i]
        if p < 0 or terms[p, 2] < like:
            continue
        for j in range(3):
            away[count, j] = center[i, j] - there[row[p], j]
        place[count] = i
        count += 1
    return count


def agreement(
    away: cython.double[:, ::1],
    place: cython.longlong[::1],
    sigma: cython.double[::1],
    sigmas: cython.double,
    middle: cython.double[::1],
    agrees: cython.uchar[::1],
) -> cython.Py_ssize_t:
    """Which displacements lie within so many sigmas of a vector along every axis.

    Args:
        away: (m, 3). place: (m,) detections. sigma: (n,) metres. middle: (3,).
        agrees: (m,) written.

    Returns:
        How many.
    """
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for i in range(place.shape[0]):
        reach: cython.double = sigmas * sigma[place[i]]
        close: cython.bint = True
        for j in range(3):
            if not fabs(away[i, j] - middle[j]) <= reach:
                close = False
        agrees[i] = close
        count += close
    return count


def mean_of(vectors: cython.double[:, ::1]) -> tuple[float, float, float]:
    """The mean of some vectors, (m, 3), one added after the other."""
    x: cython.double = 0.0
    y: cython.double = 0.0
    z: cython.double = 0.0
    count: cython.Py_ssize_t = vectors.shape[0]
    i: cython.Py_ssize_t
    for i in range(count):
        x += vectors[i, 0]
        y += vectors[i, 1]
        z += vectors[i, 2]
    return x / count, y / count, z / count


def spread(
    center: cython.double[:, ::1],
    cov: cython.double[:, ::1],
    row: cython.longlong[::1],
    nearest: cython.longlong[::1],
    records: Any,
    bound: cython.double,
    least_for_mean: cython.Py_ssize_t,
) -> tuple[int, float]:
    """Mean square, per axis, of how far detections are from the nearest object of their kind.

    What all share is taken away first, where there are enough of them: it is no noise.

    Args:
        center: (n, 3). cov: (n, 9), of those whose first value is NaN. row: of the pairs.
        nearest: (n,) pair of each detection, -1: none. records: (rows,) OBJECT.
        bound: each square counts for so much at most.

    Returns:
        Of how many detections, and the mean.
    """
    there: cython.double[:, :] = records['center']
    seen: cython.longlong[:] = records['observations']
    away: cython.double[:, ::1] = np.empty((nearest.shape[0], 3))
    share: cython.double[::1] = np.empty(nearest.shape[0])
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for i in range(nearest.shape[0]):
        if nearest[i] < 0 or cov[i, 0] == cov[i, 0]:
            continue
        k: cython.Py_ssize_t = row[nearest[i]]
        share[count] = 3.0 * (1.0 + 1.0 / float(max(seen[k], 1)))
        for j in range(3):
            away[count, j] = center[i, j] - there[k, j]
        count += 1
    total: cython.double = 0.0
    if count >= least_for_mean:
        factor: cython.double = sqrt(count / (count - 1.0))
        for j in range(3):
            mean: cython.double = 0.0
            for i in range(count):
                mean += away[i, j]
            mean /= count
            for i in range(count):
                away[i, j] = (away[i, j] - mean) * factor
    for i in range(count):
        square: cython.double = (
            away[i, 0] * away[i, 0] + away[i, 1] * away[i, 1] + away[i, 2] * away[i, 2]
        )
        total += min(square / share[i], bound)
    return count, total / max(count, 1)


def close_boxes(
    center: cython.double[:, ::1], half: cython.double[:, ::1], label: cython.int[::1]
) -> list[Any]:
    """Pairs (a, b), a < b, of boxes of one label each of which holds the centre of the other.

    Args:
        center, half: (n, 3) metres. label: (n,).
    """
    found: list[Any] = []
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for a in range(center.shape[0]):
        for b in range(a + 1, center.shape[0]):
            if label[a] != label[b]:
                continue
            close: cython.bint = True
            for j in range(3):
                if fabs(center[a, j] - center[b, j]) > min(half[a, j], half[b, j]):
                    close = False
            if close:
                found.append((a, b))
    return found
