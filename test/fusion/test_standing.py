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


@given(st.integers(0, 2**32 - 1))
def test_compiled_and_interpreted_agree_to_the_last_bit(seed: int) -> None:
    found = []
    for module in (standing, SOURCE):
        random = np.random.default_rng(seed)
        n = 7
        before = records(random, n)
        old = before.copy()
        old['looks'] += random.integers(0, 2, n)
        place, center = random.permutation(n), random.normal(0, 0.1, (n, 3))
        term, score = random.choice([0.0, 0.5, 1.0, np.nan], n), random.random(n)
        speaks, missed, away = np.zeros(n, np.uint8), np.zeros(n, np.uint8), np.zeros(n)
        module.may_rewrite(before, place, term, score, 0.3, 150 * S, speaks)
        spoken = speaks.copy()
        lost = module.see(
            old, before, speaks, 150 * S, random.uniform(1, 1e6, n), 90.0, 128.0, 20.0, (4, 5, 0),
            decay.SERIES, missed,
        )  # fmt: skip
        moved = module.follow(
            old, before, place, center, np.full(n, 0.02), spoken, 150 * S,
            (4.9, 4.4, 0.2, 0.05, 60.0, 1.0), (9, 2, 3), away,
        )  # fmt: skip
        arrays = (speaks, spoken, missed, away, *(old[name] for name in old.dtype.names))
        found.append((lost, moved, *(array.tobytes() for array in arrays)))
    assert found[0] == found[1]


@given(st.integers(0, 2**32 - 1))
def test_a_hit_ages_the_odds_first_as_decay_does(seed: int) -> None:
    random = np.random.default_rng(seed)
    before = records(random, 5)
    before['state'] = 1
    old = before.copy()
    old['looks'] += 1
    speaks, half_life_s = np.ones(5, np.uint8), random.uniform(10, 1e6, 5)
    standing.see(
        old, before, speaks, 200 * S, half_life_s, 2.0, 128.0, 20.0, (4, 5, 0), decay.SERIES,
        np.zeros(5, np.uint8),
    )  # fmt: skip
    age_s = (200 * S - before['odds_ns']) / 1e9
    expected = np.minimum(decay.aged(before['odds'], age_s, half_life_s) * 2.0, 128.0)
    assert old['odds'] == pytest.approx(expected, abs=1e-9)
    assert (old['misses'] == 0).all()
    assert (old['odds_ns'] == 200 * S).all()


def test_a_late_a_doubtful_and_a_foreign_sighting_say_nothing() -> None:
    before = np.zeros(4, OBJECT)
    before['last_seen_ns'] = [10, 11, 10, 10]
    speaks = np.zeros(4, np.uint8)
    term, score = np.array([1.0, 1.0, 0.0, np.nan]), np.array([0.3, 0.9, 0.9, 0.29])
    standing.may_rewrite(before, np.arange(4), term, score, 0.3, 10, speaks)
    assert speaks.tolist() == [1, 0, 0, 0]
