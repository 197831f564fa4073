# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What sightings say of presence and motion, object by object. Compiled like `scoring.py`.

`old` are the records of the objects that a view supports as the view makes them, (R,) OBJECT, which
are overwritten; `before` the same as they were. The r-th is joined by the detection `place[r]`.
`presence.py` and `motion.py` say what is asked for when, and why.
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


def may_rewrite(
    before: Any,
    place: cython.longlong[::1],
    label_term: cython.double[:],
    score: cython.double[::1],
    create_score: cython.double,
    stamp_ns: cython.longlong,
    speaks: cython.uchar[::1],
) -> None:
    """Write which sightings say something: not late, not doubtful, and not of another label.

    Args:
        label_term: (n,) of each detection to its object. speaks: (R,).
    """
    newest: cython.longlong[:] = before['last_seen_ns']
    r: cython.Py_ssize_t
    for r in range(place.shape[0]):
        i: cython.Py_ssize_t = place[r]
        speaks[r] = label_term[i] != 0.0 and score[i] >= create_score and stamp_ns >= newest[r]


def see(
    old: Any,
    before: Any,
    speaks: cython.uchar[::1],
    stamp_ns: cython.longlong,
    half_life_s: cython.double[::1],
    ratio: cython.double,
    most: cython.double,
    birth: cython.double,
    codes: Any,
    series: cython.double[::1],
    missed: cython.uchar[::1],
) -> cython.Py_ssize_t:
    """Note that objects were seen: their odds, and that nothing missed them since.

    Args:
        speaks: (R,) overwritten: sightings from before the newest evidence say nothing.
        half_life_s: (R,). ratio: P(detect) / P(false alarm). most, birth: odds at most, and of what
            was found again. codes: of doubtful, absent and seen. series: of `decay`.
        missed: (R,) written: which of them were doubtful or absent.

    Returns:
        How many were.
    """
    odds: cython.double[:] = old['odds']
    odds_ns: cython.longlong[:] = old['odds_ns']
    doubt: cython.double[:] = old['doubt']
    misses: cython.int[:] = old['misses']
    checked: cython.longlong[:] = old['checked_ns']
    check: cython.uchar[:] = old['check']
    looks: cython.longlong[:] = old['looks']
    looks_before: cython.longlong[:] = before['looks']
    state: cython.uchar[:] = before['state']
    doubtful: cython.int = codes[0]
    absent: cython.int = codes[1]
    seen: cython.int = codes[2]
    count: cython.Py_ssize_t = 0
    r: cython.Py_ssize_t
    for r in range(speaks.shape[0]):
        speaks[r] = speaks[r] and stamp_ns >= odds_ns[r]
        missed[r] = state[r] == doubtful or state[r] == absent
        if missed[r]:
            count += 1
        if not speaks[r]:
            continue
        if missed[r] or looks[r] > looks_before[r]:
            age_s: cython.double = max((stamp_ns - odds_ns[r]) / 1e9, 0.0)
            stays: cython.double = _exp2(-age_s / half_life_s[r], series)
            aged: cython.double = odds[r] * stays / (1.0 + odds[r] * (1.0 - stays))
            odds[r] = _rounded(birth if state[r] == absent else min(aged * ratio, most))
            odds_ns[r] = stamp_ns
        misses[r] = 0
        doubt[r] = 1.0
        checked[r] = stamp_ns
        check[r] = seen
    return count


def follow(
    old: Any,
    before: Any,
    place: cython.longlong[::1],
    center: cython.double[:, ::1],
    sigma: cython.double[::1],
    speaks: cython.uchar[::1],
    stamp_ns: cython.longlong,
    limits: Any,
    counts: Any,
    away: cython.double[::1],
) -> cython.Py_ssize_t:
    """Follow where objects rest: the mean of the newest sightings beside that of earlier ones.

    What is on its way is in motion until it has rested.

    Args:
        center, sigma: (n, 3) and (n,) of the detections. speaks: (R,) whether each says something.
        limits: sigmas that noise explains, fewer of a mean of some sightings, m/s and metres that
            are motion, seconds without a sighting after which all is new, seconds of rest.
        counts: sightings that a settled place is worth at most, that rest needs, and of which fewer
            sigmas are asked for.
        away: (R,) written: how far it has gone from where it lay, NaN: not, not yet, or not farther
            than noise explains.

    Returns:
        How many may have moved.
    """
    rest: cython.double[:, :] = old['rest']
    fresh: cython.double[:, :] = old['fresh']
    rest_count: cython.int[:] = old['rest_count']
    fresh_count: cython.int[:] = old['fresh_count']
    fresh_ns: cython.longlong[:] = old['fresh_ns']
    was: cython.double[:, :] = before['center']
    in_motion: cython.uchar[:] = old['in_motion'].view(np.uint8)
    newest: cython.longlong[:] = before['last_seen_ns']
    seen: cython.longlong[:] = before['observations']
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
    for r in range(place.shape[0]):
        away[r] = _NAN
        if not speaks[r]:
            continue
        i: cython.Py_ssize_t = place[r]
        known: cython.longlong = fresh_count[r]
        settled: cython.longlong = min(max(seen[r], 1), most)
        gap: cython.bint = (stamp_ns - newest[r]) / 1e9 > gap_s
        off: cython.double = (
            _distance(center, i, fresh, r) if known > 0 else _distance(center, i, was, r)
        )
        spread: cython.double = sqrt(1.0 + 1.0 / float(known if known > 0 else settled))
        anew: cython.bint = gap or _rounded(off - sigmas * sigma[i] * spread) > 0.0
        if known > 0 and not gap:
            since_s: cython.double = (stamp_ns - (fresh_ns[r] / 2.0 + newest[r] / 2.0)) / 1e9
            on_its_way: cython.bint = _rounded(off - max(least_m, speed * since_s)) >= 0.0
            in_motion[r] = in_motion[r] or on_its_way
            anew = anew or on_its_way
        if anew:
            if gap or known != 1:  # one sighting that is off may be an error
                rest_count[r] = settled
                for j in range(3):
                    rest[r, j] = was[r, j]
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
