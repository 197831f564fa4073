# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What sightings count for, in the record of the object that each joins. Compiled like `scoring.py`.

`old` are the records of the objects that a view supports, (R,) OBJECT, which are overwritten; the
r-th of them is joined by the detection `matched[r]`. `update.py` says what is asked for when.
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


def sort_out(
    row: cython.longlong[::1], created: cython.uchar[::1], place: cython.longlong[::1]
) -> tuple[int, int]:
    """Write which detections join an object, and after them which begin one.

    Args:
        row: (n,) of the object; -1: it joins none. created: (n,) whether it begins one.
        place: (n,) written in part.

    Returns:
        How many join one, and how many do either.
    """
    joined: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(row.shape[0]):
        if row[i] >= 0:
            place[joined] = i
            joined += 1
    count: cython.Py_ssize_t = joined
    for i in range(row.shape[0]):
        if created[i]:
            place[count] = i
            count += 1
    return joined, count


def bear(
    new: Any,
    created: cython.longlong[::1],
    evidence: Any,
    label: cython.int[::1],
    next_id: cython.longlong,
    look: Any,
    state: cython.uchar,
) -> None:
    """Fill the blank records of new objects, (M,) OBJECT, from the detections they begin with.

    Args:
        created: (M,) these detections. label: (n,). next_id: of the first object.
        look: of the view. state: its code.
    """
    score: cython.double[::1] = evidence.score
    oriented: cython.uchar[::1] = evidence.oriented.view(np.uint8)
    number: cython.longlong[:] = new['id']
    confidence: cython.double[:] = new['confidence']
    turned: cython.uchar[:] = new['oriented'].view(np.uint8)
    held: cython.int[:, :] = new['labels']
    own: cython.int[:] = new['label']
    r: cython.Py_ssize_t
    k: cython.Py_ssize_t
    for r in range(created.shape[0]):
        i: cython.Py_ssize_t = created[r]
        number[r] = next_id + r
        confidence[r] = score[i]
        turned[r] = oriented[i]
        own[r] = label[i]
        for k in range(held.shape[1]):
            held[r, k] = -1
    for column in ('center', 'hull_center', 'version_center'):
        _copy_rows(evidence.center, created, new[column])
    for column in ('size', 'version_size'):
        _copy_rows(evidence.size, created, new[column])
    _copy_rows(evidence.orientation, created, new['orientation'])
    _copy_rows(evidence.half, created, new['half'])
    new['observations'] = new['looks'] = 1
    new['look_seq'] = look.seq
    new['look_ns'] = new['first_seen_ns'] = new['last_seen_ns'] = look.stamp_ns
    new['look_position'], new['look_axis'] = look.position, look.axis
    new['map'], new['state'] = look.map_number, state


@cython.cfunc
def _copy_rows(
    given: cython.double[:, ::1], place: cython.longlong[::1], out: cython.double[:, :]
) -> cython.void:
    r: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for r in range(place.shape[0]):
        for j in range(out.shape[1]):
            out[r, j] = given[place[r], j]


def weigh(
    old: Any,
    matched: cython.longlong[::1],
    evidence: Any,
    cosine: cython.double[:],
    stamp_ns: cython.longlong,
    limits: Any,
    weight: cython.double[::1],
    speaks: cython.uchar[::1],
    kept: cython.uchar[::1],
) -> None:
    """Write what share each sighting has, whether it may rewrite, and whether its feature is kept.

    The share is that of a running mean at first, `blend` later. A late or doubtful sighting only
    supports. Kept are the first few features of an object, later ones that move its feature.

    With cosine k between the two and weight w of the new one, the blended feature has the cosine
    ((1 - w) + w k) / sqrt((1 - w)² + w² + 2 w (1 - w) k) to the old one.

    Args:
        cosine: (n,) of each detection to its object, NaN where one has no feature.
        limits: blend, the score below which a sighting is doubtful, how many features are kept in
            any case, the move, 1 - cosine, above which later ones are.
        weight, speaks: (R,) written. kept: (n,) written where matched.
    """
    count: cython.longlong[:] = old['observations']
    newest: cython.longlong[:] = old['last_seen_ns']
    held: cython.uchar[:] = old['has_feature'].view(np.uint8)
    score: cython.double[::1] = evidence.score
    has_feature: cython.uchar[::1] = evidence.has_feature.view(np.uint8)
    blend: cython.double = limits[0]
    create_score: cython.double = limits[1]
    first: cython.longlong = limits[2]
    least: cython.double = limits[3]
    r: cython.Py_ssize_t
    for r in range(matched.shape[0]):
        i: cython.Py_ssize_t = matched[r]
        w: cython.double = max(blend, 1.0 / (float(count[r]) + 1.0))
        weight[r] = w
        speaks[r] = stamp_ns >= newest[r] and score[i] >= create_score
        wanted: cython.bint = count[r] < first or not held[r]
        if not wanted:
            k: cython.double = cosine[i] if cosine[i] == cosine[i] else 0.0
            length: cython.double = sqrt((1.0 - w) * (1.0 - w) + w * w + 2.0 * w * (1.0 - w) * k)
            wanted = 1.0 - ((1.0 - w) + w * k) / length > least
        kept[i] = wanted and has_feature[i] and speaks[r]


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


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _tells(
    r: cython.Py_ssize_t,
    position: cython.double[:, :],
    axis: cython.double[:, :],
    new_position: cython.double[::1],
    new_axis: cython.double[::1],
    distance_m: cython.double,
    cosine: cython.double,
) -> cython.bint:
    """Whether a look was taken from elsewhere, or in another direction, than the r-th one."""
    j: cython.Py_ssize_t
    step: cython.double = 0.0
    turn: cython.double = 0.0
    for j in range(3):
        away: cython.double = position[r, j] - new_position[j]
        step += away * away
        turn += axis[r, j] * new_axis[j]
    return _rounded(sqrt(step)) >= distance_m or _rounded(turn) <= cosine


def independent(
    look_ns: cython.longlong[:],
    position: cython.double[:, :],
    axis: cython.double[:, :],
    look: Any,
    limits: Any,
    result: cython.uchar[::1],
) -> None:
    """Write whether a look tells something that the last counted ones did not: see `looks.py`.

    Args:
        look_ns: (N,). position, axis: (N, 3). look: the new one.
        limits: how far apart in time, place or direction. result: (N,).
    """
    stamp_ns: cython.longlong = look.stamp_ns
    new_position: cython.double[::1] = look.position
    new_axis: cython.double[::1] = look.axis
    gap_ns: cython.double = limits[0]
    distance_m: cython.double = limits[1]
    cosine: cython.double = limits[2]
    r: cython.Py_ssize_t
    for r in range(look_ns.shape[0]):
        result[r] = fabs(float(stamp_ns - look_ns[r])) > gap_ns or _tells(
            r, position, axis, new_position, new_axis, distance_m, cosine
        )


def count_sightings(
    after: Any,
    matched: cython.longlong[::1],
    score: cython.double[::1],
    gain: cython.double,
    look: Any,
    limits: Any,
    needed: cython.longlong,
    codes: Any,
) -> None:
    """Count sightings, and their look where that is independent; enough looks confirm.

    A late sighting confirms nothing.

    Args:
        after: (R + M,) records, of which the first (R,) are joined, and the others new.
        gain: share of its score by which a sighting is surer. look: of the view.
        limits: as for `independent`. needed: looks. codes: of tentative and confirmed.
    """
    confidence: cython.double[:] = after['confidence']
    observations: cython.longlong[:] = after['observations']
    first: cython.longlong[:] = after['first_seen_ns']
    last: cython.longlong[:] = after['last_seen_ns']
    looks: cython.longlong[:] = after['looks']
    look_seq: cython.longlong[:] = after['look_seq']
    look_ns: cython.longlong[:] = after['look_ns']
    position: cython.double[:, :] = after['look_position']
    axis: cython.double[:, :] = after['look_axis']
    state: cython.uchar[:] = after['state']
    new_position: cython.double[::1] = look.position
    new_axis: cython.double[::1] = look.axis
    seq: cython.longlong = look.seq
    stamp_ns: cython.longlong = look.stamp_ns
    gap_ns: cython.double = limits[0]
    distance_m: cython.double = limits[1]
    cosine: cython.double = limits[2]
    tentative: cython.int = codes[0]
    confirmed: cython.int = codes[1]
    r: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for r in range(looks.shape[0]):
        late: cython.bint = stamp_ns < last[r]
        if r < matched.shape[0]:
            confidence[r] += (1.0 - confidence[r]) * score[matched[r]] * gain
            observations[r] += 1
            first[r] = min(first[r], stamp_ns)
            last[r] = max(last[r], stamp_ns)
            if fabs(float(stamp_ns - look_ns[r])) > gap_ns or _tells(
                r, position, axis, new_position, new_axis, distance_m, cosine
            ):
                looks[r] += 1
                if stamp_ns >= look_ns[r]:
                    look_seq[r] = seq
                    look_ns[r] = stamp_ns
                    for j in range(3):
                        position[r, j] = new_position[j]
                        axis[r, j] = new_axis[j]
        if state[r] == tentative and looks[r] >= needed and not late:
            state[r] = confirmed


def note_changes(
    old: Any,
    state: cython.uchar[::1],
    label: cython.int[::1],
    distance_m: cython.double,
    share: cython.double,
    found: cython.uchar[:, ::1],
) -> cython.Py_ssize_t:
    """Write what changed in kind.

    The measured length of a side is off in proportion to it: `share` of it does not count.

    Args:
        state, label: (R,) as they were.
        distance_m: from the last version at which centre or size have changed, along an axis.
        found: (3, R) written: whether state, label, and centre or size have changed.

    Returns:
        How many have changed.
    """
    new_state: cython.uchar[:] = old['state']
    new_label: cython.int[:] = old['label']
    center: cython.double[:, :] = old['center']
    size: cython.double[:, :] = old['size']
    version_center: cython.double[:, :] = old['version_center']
    version_size: cython.double[:, :] = old['version_size']
    count: cython.Py_ssize_t = 0
    r: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for r in range(state.shape[0]):
        most: cython.double = -distance_m
        for j in range(3):
            least: cython.double = max(distance_m, share * version_size[r, j])
            most = max(most, fabs(center[r, j] - version_center[r, j]) - distance_m)
            most = max(most, fabs(size[r, j] - version_size[r, j]) - least)
        found[0, r] = new_state[r] != state[r]
        found[1, r] = new_label[r] != label[r]
        found[2, r] = _rounded(most) >= 0.0
        if found[0, r] or found[1, r] or found[2, r]:
            count += 1
    return count
