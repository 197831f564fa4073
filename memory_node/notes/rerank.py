# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Ranking of live candidates by what is known of a person (OM-12, 13, 16): pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memory_node import checks
from memory_node.notes.beliefs import Belief, taste
from memory_node.notes.items import slug

RRF = 60
WEIGHTS = {'relevance': 0.6, 'affect': 0.25, 'taste': 0.15, 'near': 0.15}


@dataclass(frozen=True)
class Frame:
    """What a question is for: goals, who is along, the occasion, the mood, what must hold."""

    goals: Sequence[str] = ()
    companions: Sequence[str] = ()
    occasion: str = ''
    vibe: Sequence[str] = ()
    constraints: Sequence[str] = ()

    @property
    def wanted(self) -> set[str]:
        """All that a candidate may afford."""
        words = (
            *self.goals,
            *self.vibe,
            *self.constraints,
            *([self.occasion] * bool(self.occasion)),
        )
        return {slug(word) for word in words}


@dataclass(frozen=True)
class Candidate:
    """Something that a host found.

    Attributes:
        concepts: what it is and affords. distance_m: from the person; None: unknown.
        text_rank, vector_rank: place in searches by text and by vector, from 1; None: not in it.
    """

    name: str
    concepts: Sequence[str] = ()
    distance_m: float | None = None
    text_rank: int | None = None
    vector_rank: int | None = None


@dataclass(frozen=True)
class Ranked:
    """A candidate with its score and what that is made of."""

    candidate: Candidate
    score: float
    terms: dict[str, float]


def rerank(
    candidates: Sequence[Candidate], frame: Frame, beliefs: Sequence[Belief], radius_m: float,
    now_ns: int,
) -> list[Ranked]:  # fmt: skip
    """Best first; equal ones in the order of their names.

    Args:
        candidates: not kept. frame: what it is for. beliefs: of the person.
        radius_m: what near means to them, more than 0. now_ns: when.

    Raises:
        InvalidValueError: the radius is not more than 0.
    """
    checks.finite('radius_m', radius_m, 1e-9)
    fused = [_fused(candidate) for candidate in candidates]
    best = max(fused, default=0.0) or 1.0
    ranked = []
    for candidate, rank in zip(candidates, fused):
        concepts = {slug(concept) for concept in candidate.concepts}
        wanted = frame.wanted
        distance = candidate.distance_m
        terms = {
            'relevance': rank / best,
            'affect': len(wanted & concepts) / len(wanted) if wanted else 0.0,
            'taste': taste(beliefs, candidate.concepts, now_ns),
            'near': 0.0 if distance is None else math.exp(-max(0.0, distance) / radius_m),
        }
        score = round(sum(WEIGHTS[name] * value for name, value in terms.items()), 9)
        ranked.append(Ranked(candidate, score, terms))
    return sorted(ranked, key=lambda item: (-item.score, item.candidate.name))


def _fused(candidate: Candidate) -> float:
    """Reciprocal rank fusion of the searches that found it."""
    ranks = (candidate.text_rank, candidate.vector_rank)
    return sum(1.0 / (RRF + rank) for rank in ranks if rank is not None)
