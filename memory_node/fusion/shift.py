# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A displacement that most things of a view share is an error of the localisation (DESIGN §6).

Things do not move together, but all of a view does when the robot is wrong about where it is. What
is shared is taken away before anything is judged, so that neither a second map comes to be nor the
first is dragged along. It is found twice: among the candidates, and, where most detections have
none although things of their kind are around, by a vote within `shift_limit_m`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memory_node.config import Config
from memory_node.fusion import scoring
from memory_node.fusion.arbiter import DIGITS, Pairs, find_pairs
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.intake import Evidence
from memory_node.fusion.labels import Ints
from memory_node.fusion.looks import Look
from memory_node.fusion.world import World
from memory_node.model import Floats
from memory_node.scene import boxes

LEAST_THINGS = 4
"""Fewer things that agree prove nothing."""
LEAST_KINDS = 3
"""Nor do things of fewer labels, beyond noise: the next row of a shelf looks so too."""
SHARE = 0.6
"""Of the things that could be compared, so many must agree."""
SIGMAS = 3.0
LIKE_COSINE = 0.6
"""A feature less alike than this shows another thing."""
KEPT_S = 5.0
"""The shift of a view holds for later ones that are too poor to tell, for so long."""
PAIRS_LIMIT = 1000
"""More pairs than this are not voted on: nothing stands out among so many of a kind."""


@dataclass(frozen=True)
class Shift:
    """What was taken away from the positions of a view.

    Attributes:
        vector: (3,) metres, map frame. stamp_ns: of the view. map_number: of its map.
    """

    vector: Floats
    stamp_ns: int
    map_number: int

    def holds_for(self, look: Look) -> bool:
        """Whether it says something of a later view."""
        near = abs(look.stamp_ns - self.stamp_ns) <= KEPT_S * 1e9
        return near and self.map_number == look.map_number and any(self.vector.tolist())


def no_shift(look: Look) -> Shift:
    """A view that lies where it says."""
    return Shift(np.zeros(3), look.stamp_ns, look.map_number)


@dataclass(frozen=True)
class Located:
    """A view where it belongs: what was taken away, its detections there, their candidates."""

    shift: Shift
    evidence: Evidence
    pairs: Pairs


def located_in(
    evidence: Evidence, label: Ints, look: Look, world: World, index: CandidateIndex,
    last: Shift | None, c: Config,
) -> Located:  # fmt: skip
    """Find and take away the displacement that most things of a view share.

    Where it is, as it lies or under the last shift, is preferred to anywhere else. A view too poor
    to tell is taken to lie as the last one did, if that was just now.
    """

    def moved(vector: Floats) -> Located:
        if np.abs(vector).max() < c.shift_min_m:
            return lying(evidence, no_shift(look))
        vector = np.round(vector, DIGITS)
        shift = Shift(vector, look.stamp_ns, look.map_number)
        return lying(evidence.moved_by(-vector) if vector.any() else evidence, shift)

    def lying(there: Evidence, shift: Shift) -> Located:
        pairs = find_pairs(there, label, look.map_number, world, index, c)
        return Located(shift, there, pairs)

    as_it_lies = lying(evidence, no_shift(look))
    if not c.shared_shift or not world.count or not len(evidence):
        return as_it_lies
    guesses = [as_it_lies]
    if last is not None and last.holds_for(look):
        guesses.append(moved(last.vector))
    for guess in guesses:
        more = by_candidates(guess.evidence, label, guess.pairs, world, c)
        if more is not None:
            return moved(guess.shift.vector + more) if any(more.tolist()) else guess
    if len(evidence) >= LEAST_THINGS:
        found = by_vote(evidence, label, look, world, index, c)
        if found is not None:
            return moved(found)
    return max(reversed(guesses), key=lambda guess: _support(guess.pairs, len(evidence)))


def _support(pairs: Pairs, n: int) -> float:
    """Sum of the best totals of the detections."""
    best = np.zeros(n)
    np.maximum.at(best, pairs.place, pairs.total)
    return round(float(boxes.tree_sum(best)), DIGITS)


def by_candidates(
    evidence: Evidence, label: Ints, pairs: Pairs, world: World, c: Config
) -> Floats | None:
    """The shift that most detections have to the nearest object of their kind.

    Returns:
        (3,) metres; zero where they lie as remembered; None: too few agree to tell.
    """
    n = len(evidence)
    away, place = np.empty((n, 3)), np.empty(n, np.int64)
    count = scoring.displacements(
        evidence.center, pairs.row, pairs.nearest_of_kind(n), pairs.terms, LIKE_COSINE,
        world.records, away, place,
    )  # fmt: skip
    if count < LEAST_THINGS or count < SHARE * n:
        return None
    away, place = away[:count], place[:count]
    agrees, least = np.empty(count, bool), max(LEAST_THINGS, SHARE * n)
    within = evidence.sigma, SIGMAS * 1.2
    if scoring.agreement(away, place, *within, np.zeros(3), agrees.view(np.uint8)) < least:
        middle = np.sort(away, axis=0)[(len(away) - 1) // 2]
        if scoring.agreement(away, place, *within, middle, agrees.view(np.uint8)) < least:
            return None
        if len(set(label[place[agrees]].tolist())) < LEAST_KINDS:
            return None
    return _significant(away[agrees], c)


def by_vote(
    evidence: Evidence, label: Ints, look: Look, world: World, index: CandidateIndex, c: Config
) -> Floats | None:
    """The shift within `shift_limit_m` that brings most detections to an object of their kind.

    Returns:
        (3,) metres, or None: no shift stands out.
    """
    place, row = index.overlapping(evidence.center, np.zeros_like(evidence.half), c.shift_limit_m)
    r = world.records
    same = (r['labels'][row] == label[place][:, None]).any(axis=1)
    same &= r['map'][row] == look.map_number
    place, row = place[same], row[same]
    comparable = len(set(place.tolist()))
    if comparable < LEAST_THINGS or len(place) > PAIRS_LIMIT:
        return None
    away = evidence.center[place] - r['center'][row]
    gap = np.abs(away[:, None] - away[None]).max(axis=2)
    tolerance, size = _tolerance(evidence, place), boxes.largest(np.abs(away))
    close = gap <= tolerance[None]
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    votes = np.logical_or.reduceat(close, starts, axis=1).sum(axis=1)
    still = np.logical_or.reduceat(size <= tolerance, starts)
    most = int(votes.max())
    if most < max(LEAST_THINGS, SHARE * comparable) or most <= still.sum():
        return None
    best = np.flatnonzero(votes == most)
    smallest = np.lexsort([row[best], place[best], size[best].round(DIGITS)])[0]
    winner = int(best[smallest])
    if len(set(label[place[close[winner]]].tolist())) < LEAST_KINDS:
        return None
    vector = _significant(away[close[winner]], c)
    return vector if vector.any() else None


def _tolerance(evidence: Evidence, place: np.ndarray) -> Floats:
    result: Floats = SIGMAS * 1.2 * evidence.sigma[place]
    return result


def _significant(away: Floats, c: Config) -> Floats:
    """The mean of displacements; zero where noise alone explains it."""
    mean = scoring.mean_of(away)
    if max(map(abs, mean)) < c.shift_min_m:
        return np.zeros(3)
    middle = np.array(mean)
    spread = np.sqrt(((away - middle) ** 2).mean(axis=0).max())
    least = max(c.shift_min_m, 4.0 * spread / len(away) ** 0.5)
    if np.abs(middle).max() < least:
        return np.zeros(3)
    result: Floats = np.round(middle, DIGITS)
    return result
