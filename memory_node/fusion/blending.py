# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A sighting and the record it joins, number by number. Compiled like `scoring.py`.

`old` are the records of the objects that a view supports, (R,) OBJECT, which are overwritten; the
r-th of them is joined by the detection `matched[r]`. `update.py` says what is asked for when.
"""

from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import fabs, sqrt

_INFINITY = cython.declare(cython.double, float('inf'))
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


def weigh(
    old: Any,
    matched: cython.longlong[::1],
    score: cython.double[::1],
    stamp_ns: cython.longlong,
    blend: cython.double,
    create_score: cython.double,
    weight: cython.double[::1],
    speaks: cython.uchar[::1],
) -> None:
    """Write what share each sighting has, and whether it may rewrite.

    The share is that of a running mean at first, `blend` later. A late or doubtful sighting only
    supports.
    """
    count: cython.longlong[:] = old['observations']
    newest: cython.longlong[:] = old['last_seen_ns']
    r: cython.Py_ssize_t
    for r in range(matched.shape[0]):
        weight[r] = max(blend, 1.0 / (float(count[r]) + 1.0))
        speaks[r] = stamp_ns >= newest[r] and score[matched[r]] >= create_score


def keep_features(
    old: Any,
    matched: cython.longlong[::1],
    has_feature: cython.uchar[::1],
    cosine: cython.double[:],
    weight: cython.double[::1],
    speaks: cython.uchar[::1],
    first: cython.longlong,
    least: cython.double,
    kept: cython.uchar[::1],
) -> None:
    """Write which features are kept: the first few of an object, later ones that move its feature.

    With cosine k between the two and weight w of the new one, the blended feature has the cosine
    ((1 - w) + w k) / sqrt((1 - w)² + w² + 2 w (1 - w) k) to the old one.

    Args:
        cosine: (n,) of each detection to its object, NaN where one has no feature.
        first: how many of an object are kept in any case. least: the move, 1 - cosine, above which
            later ones are. kept: (n,) written where matched.
    """
    count: cython.longlong[:] = old['observations']
    held: cython.uchar[:] = old['has_feature'].view(np.uint8)
    r: cython.Py_ssize_t
    for r in range(matched.shape[0]):
        i: cython.Py_ssize_t = matched[r]
        w: cython.double = weight[r]
        k: cython.double = cosine[i] if cosine[i] == cosine[i] else 0.0
        wanted: cython.bint = count[r] < first or not held[r]
        if not wanted:
            length: cython.double = sqrt((1.0 - w) * (1.0 - w) + w * w + 2.0 * w * (1.0 - w) * k)
            wanted = 1.0 - ((1.0 - w) + w * k) / length > least
        kept[i] = wanted and has_feature[i] and speaks[r]


def blend_boxes(
    old: Any,
    matched: cython.longlong[::1],
    evidence: Any,
    weight: cython.double[::1],
    speaks: cython.uchar[::1],
) -> None:
    """Move centre, size and orientation towards the sighting, and set the hull."""
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


def add_labels(
    after: Any,
    place: cython.longlong[::1],
    label: cython.int[::1],
    score: cython.double[::1],
    unknown: cython.uchar[::1],
) -> cython.Py_ssize_t:
    """Add the score to the evidence for a label that the record has (CH-19).

    Args:
        after: (R + M,) records. place: (R + M,) detection of each. label, score: (n,).
        unknown: (R + M,) written: whether the record has no such label.

    Returns:
        How many have not.
    """
    held: cython.int[:, :] = after['labels']
    mass: cython.double[:, :] = after['masses']
    missing: cython.Py_ssize_t = 0
    r: cython.Py_ssize_t
    k: cython.Py_ssize_t
    for r in range(place.shape[0]):
        unknown[r] = 1
        for k in range(held.shape[1]):
            if held[r, k] == label[place[r]]:
                mass[r, k] += score[place[r]]
                unknown[r] = 0
        if unknown[r]:
            missing += 1
    return missing


def choose_labels(old: Any, margin: cython.double) -> None:
    """The heaviest label wins, but the current one stays until it is beaten by the margin."""
    held: cython.int[:, :] = old['labels']
    mass: cython.double[:, :] = old['masses']
    label: cython.int[:] = old['label']
    r: cython.Py_ssize_t
    k: cython.Py_ssize_t
    for r in range(label.shape[0]):
        best: cython.Py_ssize_t = 0
        current: cython.double = 0.0
        for k in range(held.shape[1]):
            if mass[r, k] > mass[r, best]:
                best = k
            if held[r, k] == label[r]:
                current = max(current, mass[r, k])
        if mass[r, best] > margin * current:
            label[r] = held[r, best]


def independent(
    look_ns: cython.longlong[:],
    position: cython.double[:, :],
    axis: cython.double[:, :],
    stamp_ns: cython.longlong,
    new_position: cython.double[::1],
    new_axis: cython.double[::1],
    gap_ns: cython.double,
    distance_m: cython.double,
    cosine: cython.double,
    result: cython.uchar[::1],
) -> None:
    """Write whether a look tells something that the last counted ones did not: see `looks.py`.

    Args:
        look_ns: (N,). position, axis: (N, 3). new_position, new_axis: (3,).
        gap_ns, distance_m, cosine: how far apart in time, place or direction. result: (N,).
    """
    r: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for r in range(look_ns.shape[0]):
        if fabs(float(stamp_ns - look_ns[r])) > gap_ns:
            result[r] = 1
            continue
        step: cython.double = 0.0
        turn: cython.double = 0.0
        for j in range(3):
            away: cython.double = position[r, j] - new_position[j]
            step += away * away
            turn += axis[r, j] * new_axis[j]
        result[r] = _rounded(sqrt(step)) >= distance_m or _rounded(turn) <= cosine


def count_sighting(
    old: Any,
    matched: cython.longlong[::1],
    score: cython.double[::1],
    gain: cython.double,
    look: Any,
    counts: cython.uchar[::1],
) -> None:
    """Count a sighting, and its look where that is independent (counts: (R,))."""
    confidence: cython.double[:] = old['confidence']
    observations: cython.longlong[:] = old['observations']
    first: cython.longlong[:] = old['first_seen_ns']
    last: cython.longlong[:] = old['last_seen_ns']
    looks: cython.longlong[:] = old['looks']
    look_ns: cython.longlong[:] = old['look_ns']
    stamp_ns: cython.longlong = look.stamp_ns
    newer: list[Any] = []
    r: cython.Py_ssize_t
    for r in range(matched.shape[0]):
        confidence[r] += (1.0 - confidence[r]) * score[matched[r]] * gain
        observations[r] += 1
        first[r] = min(first[r], stamp_ns)
        last[r] = max(last[r], stamp_ns)
        looks[r] += counts[r]
        if counts[r] and stamp_ns >= look_ns[r]:
            newer.append(r)
    if newer:
        some = slice(None) if len(newer) == len(old) else newer
        old['look_seq'][some], old['look_ns'][some] = look.seq, stamp_ns
        old['look_position'][some], old['look_axis'][some] = look.position, look.axis


def confirm(
    after: Any,
    newest: cython.longlong[:],
    stamp_ns: cython.longlong,
    needed: cython.longlong,
    tentative: cython.uchar,
    confirmed: cython.uchar,
) -> None:
    """Confirm what was tentative and seen in enough looks, but never by a late view.

    Args:
        after: (R + M,) records. newest: (R,) when the first of them were last seen before.
        needed: looks. tentative, confirmed: codes of the states.
    """
    looks: cython.longlong[:] = after['looks']
    state: cython.uchar[:] = after['state']
    r: cython.Py_ssize_t
    for r in range(looks.shape[0]):
        enough: cython.bint = state[r] == tentative and looks[r] >= needed
        if enough and (r >= newest.shape[0] or stamp_ns >= newest[r]):
            state[r] = confirmed


def moved_from_version(
    old: Any, distance_m: cython.double, share: cython.double, moved: cython.uchar[::1]
) -> None:
    """Write whether centre or size are so far from those of the last version, along an axis.

    The measured length of a side is off in proportion to it: `share` of it does not count.
    """
    center: cython.double[:, :] = old['center']
    size: cython.double[:, :] = old['size']
    version_center: cython.double[:, :] = old['version_center']
    version_size: cython.double[:, :] = old['version_size']
    r: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for r in range(moved.shape[0]):
        most: cython.double = -distance_m
        for j in range(3):
            least: cython.double = max(distance_m, share * version_size[r, j])
            most = max(most, fabs(center[r, j] - version_center[r, j]) - distance_m)
            most = max(most, fabs(size[r, j] - version_size[r, j]) - least)
        moved[r] = _rounded(most) >= 0.0
