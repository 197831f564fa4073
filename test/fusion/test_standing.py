# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Presence and motion of what is seen: the loops, compiled beside interpreted. What they mean is
tested with test_presence.py and test_motion's cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted

from memory_node import decay
from memory_node.fusion import standing
from memory_node.fusion.world import OBJECT

SOURCE = interpreted('fusion/standing')
S = 10**9


def records(random: np.random.Generator, n: int) -> np.ndarray:
    """Objects in all sorts of standings."""
    some = np.zeros(n, OBJECT)
    for name in ('center', 'rest', 'fresh'):
        some[name] = random.normal(0, 0.1, (n, 3))
    some['odds'], some['doubt'] = random.uniform(0, 130, n), random.random(n)
    for name in ('odds_ns', 'last_seen_ns', 'fresh_ns'):
        some[name] = random.integers(0, 200, n) * S
    for name in ('observations', 'looks', 'rest_count', 'fresh_count', 'misses'):
        some[name] = random.integers(0, 4, n)
    some['state'] = random.integers(0, 7, n)
    return some


DOUBTFUL, ABSENT, TENTATIVE, CONFIRMED, SEEN = CODES = (4, 5, 0, 1, 9)
ODDS = (90.0, 128.0, 20.0)
"""Of a hit, at most, and of what is new."""
STAMP_NS = 150 * S


def world(random: np.random.Generator, n: int, new: int) -> tuple[np.ndarray, ...]:
    """Records of a world, rows of some, and these as a view makes them, with new ones."""
    held = records(random, 2 * n)
    rows = random.permutation(2 * n)[:n]
    after = np.concatenate([held[rows], np.zeros(new, OBJECT)])
    after['looks'] += random.integers(0, 2, n + new)
    return held, rows, after


@given(st.integers(0, 2**32 - 1))
def test_compiled_and_interpreted_agree_to_the_last_bit(seed: int) -> None:
    found = []
    for module in (standing, SOURCE):
        random = np.random.default_rng(seed)
        n, new = 7, 2
        held, rows, after = world(random, n, new)
        place, center = random.permutation(n + new), random.normal(0, 0.1, (n + new, 3))
        cov = random.choice([np.nan, 1e-4, 4e-4], (n + new, 1)) * random.uniform(1, 2, 9)
        term, score = random.choice([0.0, 0.5, 1.0, np.nan], n + new), random.random(n + new)
        sigma, away = np.zeros(n + new), np.zeros(n)
        module.sigmas(cov, 1e-3, 1e-4, sigma)
        back = module.see(
            after, held, rows, place, term, score, 0.3, STAMP_NS, random.uniform(1, 1e6, n), ODDS,
            2, CODES, decay.SERIES,
        )  # fmt: skip
        moved = module.follow(
            after, held, rows, place, center, sigma, term, score, 0.3,
            random.integers(0, 2, n).astype(np.uint8), STAMP_NS,
            (4.9, 4.4, 0.2, 0.05, 60.0, 1.0), (9, 2, 3), away,
        )  # fmt: skip
        arrays = (sigma, away, *(after[name] for name in after.dtype.names))
        found.append((back, moved, *(array.tobytes() for array in arrays)))
    assert found[0] == found[1]


@given(st.integers(0, 2**32 - 1))
def test_a_hit_counts_as_the_columns_say(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, new = 7, 2
    held, rows, after = world(random, n, new)
    before, was = held[rows], after.copy()
    place, half_life_s = random.permutation(n + new), random.uniform(10, 1e6, n)
    term, score = random.choice([0.0, 0.5, 1.0, np.nan], n + new), random.random(n + new)
    back = standing.see(
        after, held, rows, place, term, score, 0.3, STAMP_NS, half_life_s, ODDS, 2, CODES,
        decay.SERIES,
    )  # fmt: skip
    old, seen = after[:n], place[:n]
    says = (term[seen] != 0) & (score[seen] >= 0.3) & (before['last_seen_ns'] <= STAMP_NS)
    says &= was['odds_ns'][:n] <= STAMP_NS
    missed = np.isin(before['state'], (DOUBTFUL, ABSENT))
    assert back == np.flatnonzero(missed & says).tolist()
    state = np.where(was['looks'][:n] >= 2, CONFIRMED, TENTATIVE)
    assert (old['state'] == np.where(missed & says, state, before['state'])).all()
    age_s = (STAMP_NS - before['odds_ns']) / 1e9
    odds = np.minimum(decay.aged(before['odds'], age_s, half_life_s) * ODDS[0], ODDS[1])
    odds = np.where(before['state'] == ABSENT, ODDS[2], odds)
    counts = says & (missed | (old['looks'] > before['looks']))
    assert old['odds'] == pytest.approx(np.where(counts, odds, before['odds']), abs=1e-9)
    assert (old['odds_ns'] == np.where(counts, STAMP_NS, before['odds_ns'])).all()
    for name, value in (('misses', 0), ('doubt', 1.0), ('checked_ns', STAMP_NS), ('check', SEEN)):
        assert (old[name] == np.where(says, value, before[name])).all()


def test_what_is_new_has_the_odds_of_a_birth() -> None:
    after = np.zeros(2, OBJECT)
    nothing = np.zeros(0, np.int64)
    back = standing.see(
        after, records(np.random.default_rng(1), 3), nothing, np.arange(2), np.ones(2),
        np.zeros(2), 0.3, STAMP_NS, np.zeros(0), ODDS, 2, CODES, decay.SERIES,
    )  # fmt: skip
    assert back == []
    assert after['odds'].tolist() == [20.0, 20.0]
    assert after['doubt'].tolist() == [1.0, 1.0]
    assert set(after['check'].tolist()) == {SEEN}
    assert set(after['odds_ns'].tolist() + after['checked_ns'].tolist()) == {STAMP_NS}


def test_late_doubtful_and_foreign_sightings_and_what_a_person_put_move_nothing() -> None:
    held = np.zeros(6, OBJECT)
    held['last_seen_ns'] = [10, 11, 10, 10, 10, 10]
    after, away = held.copy(), np.zeros(6)
    term = np.array([1.0, 1.0, 0.0, np.nan, 1.0, np.nan])
    score = np.array([0.3, 0.9, 0.9, 0.29, 0.9, 0.9])
    pinned = np.array([0, 0, 0, 0, 1, 0], np.uint8)
    standing.follow(
        after, held, np.arange(6), np.arange(6), np.ones((6, 3)), np.ones(6), term, score, 0.3,
        pinned, 10, (4.9, 4.4, 0.2, 0.05, 60.0, 1.0), (9, 2, 3), away,
    )  # fmt: skip
    assert after['fresh_count'].tolist() == [1, 0, 0, 0, 0, 1]


def test_sigmas() -> None:
    cov = np.full((3, 9), np.nan)
    cov[1], cov[2] = np.diag([0.04, 0.09, 0.01]).ravel(), np.diag([0.04, 0.01, 0.25]).ravel()
    sigma = np.empty(3)
    standing.sigmas(cov, 0.01, 0.0, sigma)
    assert sigma.tolist() == [0.1, 0.3, 0.5]
    standing.sigmas(cov, 0.01, 0.07, sigma)
    assert sigma == pytest.approx(np.sqrt([0.08, 0.16, 0.32]))


@given(st.integers(0, 2**32 - 1))
def test_looks_that_count_are_those_that_the_columns_say(seed: int) -> None:
    random = np.random.default_rng(seed)
    held = records(random, 12)
    held['checked_ns'] = random.integers(100, 152, 12) * S
    held['check'] = random.integers(0, 7, 12)
    rows, kind = random.permutation(12)[:7], random.integers(0, 7, 7).astype(np.uint8)
    shut = random.integers(0, 2, 7).astype(np.uint8)
    found = []
    for module in (standing, SOURCE):
        tells, noted = np.empty(7, np.uint8), np.empty(7, np.uint8)
        count = module.that_count(held, rows, kind, shut, STAMP_NS, 2, 6, (1e9, 10e9), tells, noted)
        found.append((count, tells.tolist(), noted.tolist()))
    assert found[0] == found[1]
    some, evidence = held[rows], kind <= 2
    known_ns = np.maximum(np.maximum(some['odds_ns'], some['last_seen_ns']), some['checked_ns'])
    current = (known_ns <= STAMP_NS) & (some['state'] != 6) & (shut == 0)
    age_ns = STAMP_NS - some['checked_ns']
    anew = ((some['check'] != kind) | (age_ns > 10 * S)) & (age_ns > S)
    assert found[0][0] == (current & evidence).sum()
    assert found[0][1] == (current & evidence).tolist()
    assert found[0][2] == (current & ~evidence & anew).tolist()


@given(st.lists(st.sampled_from([0.1, 0.4, 0.5, np.nan, 0.7, 0.9]), min_size=4, max_size=4))
def test_pairs_whose_features_are_unlike(cosine: list[float]) -> None:
    total = np.array([0.7, 0.6, 0.5, np.nan])
    expected = [k for k in range(4) if cosine[k] < 0.5 and total[k] >= 0.6]
    for module in (standing, SOURCE):
        assert module.unlike(np.array(cosine), total, 0.5, 0.6) == expected
