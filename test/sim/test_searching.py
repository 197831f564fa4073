# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""HY-17: with a memory a robot that looks for things again needs fewer steps."""

from __future__ import annotations

import statistics

import pytest
from scipy.stats import wilcoxon

from memory_node import SpatialMemory
from memory_node.errors import InvalidValueError
from memory_node.sim.searching import searches

LATER = 30
"""At least so many of the searches are for what was looked for before."""
P = 0.01


@pytest.mark.parametrize(
    'seed', [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)]
)
def test_hy17_later_searches_take_significantly_fewer_steps(seed: int) -> None:
    with SpatialMemory.open(':memory:') as memory:
        episodes = searches(memory, seed, 36)
        assert memory.check() == []
    later = [e for e in episodes if e.times_before]
    assert len(later) >= LATER
    steps, without = [e.steps for e in later], [e.steps_without for e in later]
    assert wilcoxon(steps, without, alternative='less').pvalue < P
    assert statistics.median(steps) < 0.6 * statistics.median(without)


def test_searches_are_repeatable_and_steps_are_counted() -> None:
    runs = []
    for _ in range(2):
        with SpatialMemory.open(':memory:') as memory:
            runs.append((searches(memory, 5, 6), memory.snapshot_hash()))
    assert runs[0] == runs[1]
    assert all(e.steps >= 1 and e.steps_without >= 1 for e in runs[0][0])


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ((-1, 5), 'seed: got -1'),
        ((1, 0), 'count: got 0, expected at least 1 search'),
        ((1, 5, 2), 'things: got 2, expected at least 6'),
    ],
)
def test_what_cannot_be_searched_is_refused(arguments: tuple[int, ...], message: str) -> None:
    with (
        SpatialMemory.open(':memory:') as memory,
        pytest.raises(InvalidValueError, match=message),
    ):
        searches(memory, *arguments)
