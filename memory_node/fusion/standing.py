# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What sightings say of presence and motion, object by object. Compiled like `scoring.py`.

`after` are records as a view makes them, (R + M,) OBJECT, which are overwritten: first those of the
objects that it supports, whose `rows` in `records`, (R,), are as they were before it; then the new
ones. The r-th is joined by the detection `place[r]`. `presence.py` and `motion.py` say what is asked
for when, and why. What else there is, says what a look without a sighting does.
"""

from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import fabs, ldexp, sqrt

_NAN = cython.declare(cython.double, float('nan'))
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
@cython.exceptval(check=False)
def _exp2(x: cython.double, series: cython.double[::1]) -> cython.double:
    """2 to the power of x, as `decay.exp2`."""
    x = max(x, -1000.0)
    whole: cython.double = (x + _ROUNDER) - _ROUNDER
    rest: cython.double = x - whole
    value: cython.double = rest * series[0] + series[1]
    k: cython.Py_ssize_t
    for k in range(2, series.shape[0]):
        value = value * rest + series[k]
    return ldexp(value, cython.cast(cython.int, whole))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _distance(
    a: cython.double[:, :], i: cython.Py_ssize_t, b: cython.double[:, :], k: cython.Py_ssize_t
) -> cython.double:
    x: cython.double = a[i, 0] - b[k, 0]
    y: cython.double = a[i, 1] - b[k, 1]
    z: cython.double = a[i, 2] - b[k, 2]
    return sqrt(x * x + y * y + z * z)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _speaks(
    label_term: cython.double,
    score: cython.double,
    least: cython.double,
    stamp_ns: cython.longlong,
    newest_ns: cython.longlong,
) -> cython.bint:
    """Whether a sighting says something: it is not late, not doubtful, and not of another label."""
    return label_term != 0.0 and score >= least and stamp_ns >= newest_ns


def sigmas(
    cov: cython.double[:, :],
    variance: cython.double,
    more: cython.double,
    sigma: cython.double[::1],
) -> None:
    """Write the position noise of detections, along its largest axis.

    Args:
        cov: (n, 9), NaN where unknown: `variance` then. more: to add to that of each.
        sigma: (n,) written.
    """
    i: cython.Py_ssize_t
    for i in range(sigma.shape[0]):
        largest: cython.double = variance
        if cov[i, 0] == cov[i, 0]:
            largest = max(max(cov[i, 0], cov[i, 4]), cov[i, 8])
        sigma[i] = sqrt(largest + more)


def see(
    after: Any,
    records: Any,
    rows: cython.longlong[::1],
    place: cython.longlong[::1],
    label_term: cython.double[:],
    score: cython.double[::1],
    least: cython.double,
    stamp_ns: cython.longlong,
    half_life_s: cython.double[::1],
    odds_of: Any,
    needed: cython.longlong,
    codes: Any,
    series: cython.double[::1],
) -> list[Any]:
    """Note that objects were seen: their odds, and that nothing missed them since.

    What was missed is there again, unless the sighting says nothing or is from before the miss.

    Args:
        label_term, score: (n,) of the detections. least: score below which one is doubtful.
        half_life_s: (R,). odds_of: P(detect) / P(false alarm), the odds at most, and of what is new
            or was found again. needed: looks that confirm.
        codes: of doubtful, absent, tentative, confirmed and seen. series: of `decay`.

    Returns:
        Places of those that were missed and are there again.
    """
    odds: cython.double[:] = after['odds']
    odds_ns: cython.longlong[:] = after['odds_ns']
    doubt: cython.double[:] = after['doubt']
    misses: cython.int[:] = after['misses']
    checked: cython.longlong[:] = after['checked_ns']
    check: cython.uchar[:] = after['check']
    looks: cython.longlong[:] = after['looks']
    state: cython.uchar[:] = after['state']
    looks_before: cython.longlong[:] = records['looks']
    state_before: cython.uchar[:] = records['state']
    newest: cython.longlong[:] = records['last_seen_ns']
    ratio: cython.double = odds_of[0]
    most: cython.double = odds_of[1]
    birth: cython.double = odds_of[2]
    doubtful: cython.int = codes[0]
    absent: cython.int = codes[1]
    tentative: cython.int = codes[2]
    confirmed: cython.int = codes[3]
    seen: cython.int = codes[4]
    returned: list[Any] = []
    r: cython.Py_ssize_t
    for r in range(place.shape[0]):
        if r >= rows.shape[0]:
            odds[r] = birth
            odds_ns[r] = stamp_ns
        else:
            i: cython.Py_ssize_t = place[r]
            row: cython.Py_ssize_t = rows[r]
            says: cython.bint = _speaks(label_term[i], score[i], least, stamp_ns, newest[row])
            says = says and stamp_ns >= odds_ns[r]
            was: cython.int = state_before[row]
            missed: cython.bint = was in (doubtful, absent)
            if missed:
                state[r] = was
            if not says:
                continue
            if missed:
                state[r] = confirmed if looks[r] >= needed else tentative
                returned.append(r)
            if missed or looks[r] > looks_before[row]:
                age_s: cython.double = max((stamp_ns - odds_ns[r]) / 1e9, 0.0)
                stays: cython.double = _exp2(-age_s / half_life_s[r], series)
                aged: cython.double = odds[r] * stays / (1.0 + odds[r] * (1.0 - stays))
                odds[r] = _rounded(birth if was == absent else min(aged * ratio, most))
                odds_ns[r] = stamp_ns
        misses[r] = 0
        doubt[r] = 1.0
        checked[r] = stamp_ns
        check[r] = seen
    return returned


def unlike(
    cosine: cython.double[:],
    total: cython.double[:],
    most: cython.double,
    least: cython.double,
) -> list[Any]:
    """Places of the pairs that would be joined, by `least`, although their features are unlike.

    Args:
        cosine, total: (P,), NaN where there are no two features. most: of a cosine, not included.
    """
    found: list[Any] = []
    p: cython.Py_ssize_t
    for p in range(total.shape[0]):
        if cosine[p] < most and total[p] >= least:
            found.append(p)
    return found


def that_count(
    records: Any,
    rows: cython.longlong[::1],
    kind: cython.uchar[:],
    shut: cython.uchar[::1],
    stamp_ns: cython.longlong,
    evidence: cython.int,
    held: cython.int,
    gaps_ns: Any,
    tells: cython.uchar[::1],
    noted: cython.uchar[::1],
) -> cython.Py_ssize_t:
    """Write which looks may say something of presence, and which others are noted.

    What is older than what is known says nothing, and neither does what lies in something shut, or
    what the robot holds.

    Args:
        rows: (S,) of what is looked at, in `records`. kind: (S,) codes of what a look says, up to
            `evidence` of presence. shut: (S,). held: code of a state.
        gaps_ns: after which a look without evidence is noted, and one that says the same again.
        tells, noted: (S,) written.

    Returns:
        How many may say something.
    """
    odds_ns: cython.longlong[:] = records['odds_ns']
    newest: cython.longlong[:] = records['last_seen_ns']
    checked: cython.longlong[:] = records['checked_ns']
    check: cython.uchar[:] = records['check']
    state: cython.uchar[:] = records['state']
    gap_ns: cython.double = gaps_ns[0]
    again_ns: cython.double = gaps_ns[1]
    found: cython.Py_ssize_t = 0
    s: cython.Py_ssize_t
    for s in range(rows.shape[0]):
        row: cython.Py_ssize_t = rows[s]
        known_ns: cython.longlong = max(max(odds_ns[row], newest[row]), checked[row])
        current: cython.bint = stamp_ns >= known_ns and state[row] != held and not shut[s]
        tells[s] = current and kind[s] <= evidence
        found += tells[s]
        age_ns: cython.double = float(stamp_ns - checked[row])
        anew: cython.bint = kind[s] != check[row] or age_ns > again_ns
        noted[s] = current and kind[s] > evidence and anew and age_ns > gap_ns
    return found


def follow(
    after: Any,
    records: Any,
    rows: cython.longlong[::1],
    place: cython.longlong[::1],
    center: cython.double[:, ::1],
    sigma: cython.double[::1],
    label_term: cython.double[:],
    score: cython.double[::1],
    least: cython.double,
    pinned: cython.uchar[::1],
    stamp_ns: cython.longlong,
    limits: Any,
    counts: Any,
    away: cython.double[::1],
) -> cython.Py_ssize_t:
    """Follow where objects rest: the mean of the newest sightings beside that of earlier ones.

    What is on its way is in motion until it has rested.

    Args:
        center, sigma, label_term, score: (n, 3) and (n,) of the detections. least: score below
            which one is doubtful. pinned: (R,) whether it stays where a person put it.
        limits: sigmas that noise explains, fewer of a mean of some sightings, m/s and metres that
            are motion, seconds without a sighting after which all is new, seconds of rest.
        counts: sightings that a settled place is worth at most, that rest needs, and of which fewer
            sigmas are asked for.
        away: (R,) written: how far it has gone from where it lay, NaN: not, not yet, or not farther
            than noise explains.

    Returns:
        How many may have moved.
    """
    rest: cython.double[:, :] = after['rest']
    fresh: cython.double[:, :] = after['fresh']
    rest_count: cython.int[:] = after['rest_count']
    fresh_count: cython.int[:] = after['fresh_count']
    fresh_ns: cython.longlong[:] = after['fresh_ns']
    was: cython.double[:, :] = records['center']
    in_motion: cython.uchar[:] = after['in_motion'].view(np.uint8)
    newest: cython.longlong[:] = records['last_seen_ns']
    seen: cython.longlong[:] = records['observations']
    sigmas: cython.double = limits[0]
    fewer: cython.double = limits[1]
    speed: cython.double = limits[2]
    least_m: cython.double = limits[3]
    gap_s: cython.double = limits[4]
    rest_s: cython.double = limits[5]
    most: cython.longlong = counts[0]
    needed: cython.longlong = counts[1]
    some: cython.longlong = counts[2]
    found: cython.Py_ssize_t = 0
    r: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for r in range(rows.shape[0]):
        i: cython.Py_ssize_t = place[r]
        row: cython.Py_ssize_t = rows[r]
        away[r] = _NAN
        if pinned[r] or not _speaks(label_term[i], score[i], least, stamp_ns, newest[row]):
            continue
        known: cython.longlong = fresh_count[r]
        settled: cython.longlong = min(max(seen[row], 1), most)
        gap: cython.bint = (stamp_ns - newest[row]) / 1e9 > gap_s
        off: cython.double = (
            _distance(center, i, fresh, r) if known > 0 else _distance(center, i, was, row)
        )
        spread: cython.double = sqrt(1.0 + 1.0 / float(known if known > 0 else settled))
        anew: cython.bint = gap or _rounded(off - sigmas * sigma[i] * spread) > 0.0
        if known > 0 and not gap:
            since_s: cython.double = (stamp_ns - (fresh_ns[r] / 2.0 + newest[row] / 2.0)) / 1e9
            on_its_way: cython.bint = _rounded(off - max(least_m, speed * since_s)) >= 0.0
            in_motion[r] = in_motion[r] or on_its_way
            anew = anew or on_its_way
        if anew:
            if gap or known != 1:  # one sighting that is off may be an error
                rest_count[r] = settled
                for j in range(3):
                    rest[r, j] = was[row, j]
            rest_count[r] = max(rest_count[r], 1)
            fresh_count[r] = 0
        if anew or known == 0:
            fresh_ns[r] = stamp_ns
        fresh_count[r] += 1
        for j in range(3):
            if fresh_count[r] == 1:
                fresh[r, j] = center[i, j]
            else:
                fresh[r, j] += (center[i, j] - fresh[r, j]) / fresh_count[r]
        rests: cython.bint = (stamp_ns - fresh_ns[r]) / 1e9 >= rest_s and fresh_count[r] >= needed
        if gap or rests:
            in_motion[r] = 0
            far: cython.double = _rounded(_distance(fresh, r, rest, r))
            noise: cython.double = sigma[i] * sqrt(
                1.0 / max(rest_count[r], 1) + 1.0 / fresh_count[r]
            )
            noise *= fewer if fresh_count[r] >= some else sigmas
            if far >= least_m and far >= _rounded(noise):
                away[r] = far
                found += 1
    return found
