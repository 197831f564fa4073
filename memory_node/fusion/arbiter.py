# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What does each detection of a view mean? Decided from arrays, before anything is written.

The terms, weights and thresholds are Chronotope's (CH-14 to CH-18). Added to them here: missing
terms renormalise the weights instead of scoring zero; the box overlap says nothing where a side is
under three sigma of the position noise; and a view is matched one to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from memory_node.config import CHRONOTOPE, Config
from memory_node.fusion import scoring
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.intake import Evidence
from memory_node.fusion.labels import EXACT_FLOOR, Ints
from memory_node.fusion.world import Records, Rows, World
from memory_node.model import Floats
from memory_node.scene import boxes

DIGITS = 9
"""Terms are rounded to this many digits before any comparison."""
TIE = 1e-10
"""Far less than what totals differ by; it lets the lowest id win where they do not."""
CANDIDATE_SIGMAS = 3.5
"""A stored box this far away, in sigmas of the detection, may still be met by noise alone."""
VAST_M = 4.0
VAST_PAIRS = 256
"""A box of larger half extent is compared with so many objects at most: a view of boxes that cover
the whole map is judged in bounded time and memory."""
LOW_SCORE = 'low_score'
FORGOTTEN = 'forgotten'
DOUBLE = 'duplicate'
"""Why a detection changes nothing."""

GEOMETRY, IOU, FEATURE, LABEL = range(4)
TERMS = ('geometry', 'iou', 'feature', 'label')


@dataclass(frozen=True)
class Pairs:
    """Detections beside the objects they could be.

    Attributes:
        place: (P,) place of the detection in the evidence. row: (P,) row of the object.
        object_id: (P,) its id; ties go to the lowest.
        terms: (P, 4) in the order of TERMS, 0 to 1, NaN where a term does not exist.
        total: (P,) 0 to 1; 0 where the distance cannot be explained (`size_gate`)
            or the labels are antonyms.
    """

    place: npt.NDArray[np.int64]
    row: Rows
    object_id: Rows
    terms: Floats
    total: Floats

    def __len__(self) -> int:
        return len(self.place)

    def nearest_of_kind(self, n: int) -> npt.NDArray[np.int64]:
        """(n,) the pair with the nearest object of its label of each detection; -1: none."""
        best = np.empty(n, np.int64)
        scoring.nearest_of_kind(self.place, self.terms, self.object_id, EXACT_FLOOR, best)
        return best

    def without(self, left_out: boxes.Bools) -> Pairs:
        """The same pairs, with those of some detections made too poor to join anything."""
        total = np.where(left_out[self.place], -1.0, self.total)
        return Pairs(self.place, self.row, self.object_id, self.terms, total)


@dataclass(frozen=True)
class Judgement:
    """The decision for each detection of the evidence.

    Attributes:
        row: (n,) row of the object it joins, -1: none.
        candidate: (n,) row of the object that the terms are about, -1: there was no candidate.
        created: (n,) whether it makes a new object.
        reason: n texts, empty unless rejected.
        terms: (n, 4) of the chosen pair, or of the best pair where it joins none.
        total: (n,) likewise, NaN without any candidate.
        twin: (n,) place of the stronger box of the same thing in the same view, -1: none. It goes
            where that one goes, and is no evidence of its own.
    """

    row: Rows
    candidate: Rows
    created: boxes.Bools
    reason: list[str]
    terms: Floats
    total: Floats
    twin: npt.NDArray[np.int64]

    @classmethod
    def joined(cls, parts: Sequence[Judgement]) -> Judgement:
        """Several judgements as one."""
        if not parts:
            nothing = np.zeros(0, np.int64)
            return cls(
                nothing, nothing, np.zeros(0, bool), [], np.zeros((0, 4)), np.zeros(0), nothing
            )
        return cls(
            row=np.concatenate([p.row for p in parts]),
            candidate=np.concatenate([p.candidate for p in parts]),
            created=np.concatenate([p.created for p in parts]),
            reason=[reason for p in parts for reason in p.reason],
            terms=np.concatenate([p.terms for p in parts]),
            total=np.concatenate([p.total for p in parts]),
            twin=np.full(sum(len(p.row) for p in parts), -1, np.int64),
        )


def find_pairs(
    evidence: Evidence, label: Ints, map_number: int, world: World, index: CandidateIndex, c: Config
) -> Pairs:
    """Candidates by box overlap (CH-14), each with its terms (CH-15 to CH-17)."""
    place, row = _candidates(evidence, world, index, c)
    records = world.records
    if len(world.maps) > 1:
        here = records['map'][row] == map_number
        place, row = place[here], row[here]
    object_id = records['id'][row]
    terms, total = np.empty((len(place), len(TERMS))), np.empty(len(place))
    if not len(place):
        return Pairs(place, row, object_id, terms, total)
    near = np.empty(len(place), bool)
    _set_geometry(terms, near, evidence, place, row, records, c)
    world.features.cosines(evidence.feature, evidence.has_feature, place, row, records, terms)
    world.labels.terms(label, place, row, records, terms)
    scoring.totals(terms, np.array(c.weights), near.view(np.uint8), total)
    if c.antonyms and c.profile != CHRONOTOPE:
        total[world.labels.opposed(label[place], records['label'][row], c.antonyms)] = 0.0
    return Pairs(place, row, object_id, terms, total)


def _candidates(
    evidence: Evidence, world: World, index: CandidateIndex, c: Config
) -> tuple[npt.NDArray[np.int64], Rows]:
    """Places and rows of pairs whose boxes nearly touch; of a vast box only the nearest ones."""
    center, half, margin_m = evidence.center, evidence.half, _margin(evidence, c)
    if c.profile == CHRONOTOPE or not max(half.ravel().tolist(), default=0.0) > VAST_M:
        return index.overlapping(center, half, margin_m)
    vast = np.flatnonzero(boxes.largest(half) > VAST_M)
    usual = np.setdiff1d(np.arange(len(evidence)), vast)
    place, row = index.overlapping(center[usual], half[usual], margin_m)
    places, rows = [usual[place]], [row]
    for k in vast.tolist():
        _, row = index.overlapping(center[k : k + 1], half[k : k + 1], margin_m)
        if len(row) > VAST_PAIRS:
            away = boxes.distance(center[k : k + 1], world.records['center'][row]).round(DIGITS)
            row = np.sort(row[np.lexsort([row, away])[:VAST_PAIRS]])
        places.append(np.full(len(row), k))
        rows.append(row)
    place, row = np.concatenate(places), np.concatenate(rows)
    order = np.lexsort([row, place])
    return place[order], row[order]


def _margin(evidence: Evidence, c: Config) -> float:
    """How far a box may be from a stored one and still be a candidate: noise may demand more."""
    if c.profile == CHRONOTOPE or not c.noise_aware:
        return c.dilation_m
    return max(c.dilation_m, CANDIDATE_SIGMAS * max(evidence.sigma.tolist(), default=0.0))


def _set_geometry(
    terms: Floats, near: boxes.Bools, evidence: Evidence, place: Rows, row: Rows, records: Records,
    c: Config,
) -> None:  # fmt: skip
    """Write distance and box overlap of each pair (CH-16).

    near: (P,) written: whether noise, and a box seen in part, explain the distance, or that is not
        asked.
    """
    if c.profile == CHRONOTOPE:
        center, half = evidence.center[place], evidence.half[place]
        away = boxes.distance(center, records['center'][row])
        terms[:, GEOMETRY] = np.maximum(0.0, 1.0 - away / c.geometry_range_m)
        overlap = boxes.iou(center, half, records['hull_center'][row], records['half'][row])
        terms[:, IOU] = np.nan_to_num(overlap, nan=0.0)
        near[:] = True
        return
    scoring.geometry_terms(
        evidence.center, evidence.half, evidence.sigma, place, row, records,
        c.noise_aware, c.geometry_range_m, terms, near.view(np.uint8),
    )  # fmt: skip
    if not c.size_gate:
        near[:] = True


def judge(
    evidence: Evidence, pairs: Pairs, barred: boxes.Bools, c: Config,
    twin: npt.NDArray[np.int64] | None = None,
) -> Judgement:  # fmt: skip
    """Match one to one, then create or reject what is left (CH-18).

    Args:
        evidence: n detections. pairs: their candidates.
        barred: (n,) whether a detection looks like something that was forgotten there.
        c: settings.
        twin: (n,) as in Judgement; None: each detection stands for itself.
    """
    n = len(evidence)
    if twin is None:
        twin = np.full(n, -1, np.int64)
    folded = twin >= 0
    some_folded = any(folded.tolist())
    alone = pairs.without(folded) if some_folded else pairs
    best = _best(pairs, n)
    chosen = _assign(alone, _best(alone, n) if alone is not pairs else best, c.merge_score)
    terms, total = np.empty((n, len(TERMS))), np.empty(n)
    candidate, row = np.empty(n, np.int64), np.empty(n, np.int64)
    scoring.settle(chosen, best, pairs, terms, total, candidate, row)
    matched = row >= 0
    certain = evidence.score >= c.create_score
    created = certain & ~(matched | barred | folded)
    reason = [''] * n
    for k, kept in enumerate((matched | created).tolist()):
        if not kept:
            reason[k] = FORGOTTEN if barred[k] and certain[k] else LOW_SCORE
    if some_folded:
        twin = twin.copy()
        for k in np.flatnonzero(folded).tolist():
            first = int(twin[k])
            if matched[first] or created[first]:
                reason[k] = DOUBLE
            else:
                reason[k], twin[k] = reason[first], -1
    return Judgement(row, candidate, created, reason, terms, total, twin)


def _best(pairs: Pairs, n: int) -> npt.NDArray[np.int64]:
    """(n,) the pair with the highest total of each detection, ties to the lowest id; -1: none."""
    best = np.empty(n, np.int64)
    scoring.best_pairs(pairs.place, pairs.total, pairs.object_id, best)
    return best


def _assign(pairs: Pairs, best: npt.NDArray[np.int64], merge_score: float) -> npt.NDArray[np.int64]:
    """(n,) the pair each detection is given, no object twice, highest sum of totals; -1: none.

    best: (n,) the pair with the highest total of each detection, -1: none.
    """
    chosen = np.empty(len(best), np.int64)
    if scoring.claims(best, pairs.row, pairs.total, merge_score, chosen):
        return chosen  # nobody is in another's way
    chosen[:] = -1
    good = np.flatnonzero(pairs.total >= merge_score)
    place, object_id, total = pairs.place[good], pairs.object_id[good], pairs.total[good]
    places, i = np.unique(place, return_inverse=True)
    ids, j = np.unique(object_id, return_inverse=True)
    gain = np.zeros((len(places), len(ids)))
    which = np.full(gain.shape, -1, np.int64)
    gain[i, j] = total - j * (TIE / gain.size)
    which[i, j] = good
    a, b = linear_sum_assignment(gain, maximize=True)
    picked = which[a, b]
    chosen[places[a]] = picked
    return chosen
