# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Learned words (OM-9, OM-14)."""

from __future__ import annotations

import pytest

from memory_node.errors import InvalidValueError
from memory_node.notes.calibration import TERMS, Learned, Option, accepted, learn, resolve


def test_om_9_a_tolerance_is_the_most_that_was_accepted() -> None:
    near = resolve('near', {})
    assert (near.value, near.samples) == (2.0, 0)
    near = learn(near, 3.0)
    assert (near.value, near.samples) == (3.0, 1)
    assert learn(near, 1.0).value == 3.0


def test_om_9_the_typical_is_followed_slowly() -> None:
    budget = resolve('budget', {})
    assert budget.value is None
    budget = learn(budget, 10.0)
    assert budget.value == 10.0 and learn(budget, 20.0).value == 13.0


def test_om_9_a_context_falls_back_to_any_and_then_to_the_prior() -> None:
    known = {'work': Learned('near', 5.0, 2, 'work'), '': Learned('near', 3.0, 1)}
    assert resolve('near', known, 'work').value == 5.0
    assert resolve('near', known, 'home').value == 3.0
    assert resolve('near', {}, 'home').value == 2.0
    assert {'near', 'walk_time', 'budget', 'noise', 'reach', 'quiet', 'soon'} == {*TERMS}


def test_om_14_what_was_accepted_teaches_and_what_was_rejected_does_not() -> None:
    options = [
        Option('Far café', {'distance': 9.0}), Option('Café', {'distance': 3.0, 'price': 12.0}),
    ]  # fmt: skip
    assert accepted(options, 'café') == {'near': 3.0, 'budget': 12.0}
    with pytest.raises(InvalidValueError, match='Far café, Café'):
        accepted(options, 'bar')


def test_om_9_bad_values_are_refused() -> None:
    with pytest.raises(InvalidValueError, match='term'):
        resolve('far', {})
    with pytest.raises(InvalidValueError, match='near'):
        learn(resolve('near', {}), float('nan'))
