# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""How belief fades while nobody looks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_node.decay import aged, exp2, presence_at, probability

ages = st.floats(0.0, 1e8)
odds = st.floats(1e-3, 1e3)


def test_powers_of_two_are_those_of_the_c_library() -> None:
    x = -np.linspace(0.0, 900.0, 20001)
    assert np.abs(exp2(x) / np.exp2(x) - 1.0).max() < 1e-12
    assert (exp2(-np.arange(60.0)) == 2.0 ** -np.arange(60)).all()
    assert exp2(np.array([-1e12]))[0] < 1e-300


def test_half_are_left_after_a_half_life() -> None:
    """CH-26: half of the belief is left after a half-life."""
    sure = 1e12
    assert presence_at(sure, 3600.0, 3600.0) == pytest.approx(0.5)
    assert presence_at(sure, 7200.0, 3600.0) == pytest.approx(0.25)
    assert presence_at(1.0, 0.0, 3600.0) == 0.5
    assert presence_at(1.0, -5.0, 3600.0) == 0.5, 'asked for before the evidence: as of it'


@given(odds, ages, ages)
def test_ch_v1_asking_in_between_changes_nothing(start: float, one: float, other: float) -> None:
    life = np.array([1e5])
    halfway = aged(np.array([start]), np.array([one]), life)
    assert aged(halfway, np.array([other]), life) == pytest.approx(
        aged(np.array([start]), np.array([one + other]), life), rel=1e-6, abs=1e-250
    )


@given(odds, ages)
def test_it_never_grows_and_stays_a_probability(start: float, age: float) -> None:
    then, now = presence_at(start, 0.0, 1e5), presence_at(start, age, 1e5)
    assert 0.0 <= now <= then <= 1.0


def test_odds_and_probability() -> None:
    assert probability(np.array([0.0, 1.0, 3.0])).tolist() == [0.0, 0.5, 0.75]


@given(
    st.floats(0, 1e4), st.floats(-10, 1e12), st.floats(1e-3, 1e12)
)  # fmt: skip
def test_one_is_as_many_to_the_last_bit(odds: float, age_s: float, half_life_s: float) -> None:
    many = aged(np.array([odds]), np.array([age_s]), np.array([half_life_s]))
    assert presence_at(odds, age_s, half_life_s) == probability(many)[0]
