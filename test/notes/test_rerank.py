# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Ranking of live candidates (OM-12, 13, 16)."""

from __future__ import annotations

import math

import pytest
from notes_kit import T0

from memory_node.errors import InvalidValueError
from memory_node.notes.beliefs import STATED, Belief
from memory_node.notes.rerank import Candidate, Frame, rerank


def test_om_12_the_score_by_hand() -> None:
    likes = Belief('anna', 'likes', 'quiet', 0.5, STATED, T0)
    candidates = [
        Candidate('a', ['quiet', 'work'], 2.0, text_rank=1, vector_rank=2),
        Candidate('b', [], None, text_rank=2),
    ]  # fmt: skip
    first, second = rerank(candidates, Frame(goals=['work'], vibe=['bright']), [likes], 2.0, T0)
    expected = 0.6 + 0.25 * 0.5 + 0.15 * 0.5 + 0.15 * math.exp(-1)
    assert (first.candidate.name, first.score) == ('a', pytest.approx(expected, abs=1e-9))
    assert second.score == pytest.approx(0.6 * (1 / 62) / (1 / 61 + 1 / 62), abs=1e-9)


def test_om_16_beliefs_change_the_order() -> None:
    avoids = Belief('anna', 'avoids', 'loud', 1.0, STATED, T0)
    pair = [Candidate('bar', ['loud'], text_rank=1), Candidate('park', ['green'], text_rank=1)]
    assert [r.candidate.name for r in rerank(pair, Frame(), [], 2.0, T0)] == ['bar', 'park']
    assert [r.candidate.name for r in rerank(pair, Frame(), [avoids], 2.0, T0)] == ['park', 'bar']


def test_om_12_near_is_measured_by_the_learned_radius() -> None:
    pair = [Candidate('far', [], 8.0, 1), Candidate('mid', [], 4.0, 2)]
    assert rerank(pair, Frame(), [], 1000.0, T0)[0].candidate.name == 'far'
    assert rerank(pair, Frame(), [], 4.0, T0)[0].candidate.name == 'mid'


def test_om_12_no_candidates_and_a_bad_radius() -> None:
    assert rerank([], Frame(), [], 2.0, T0) == []
    with pytest.raises(InvalidValueError, match='radius_m'):
        rerank([], Frame(), [], 0.0, T0)
