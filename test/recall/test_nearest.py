# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The best by codes are the best by features, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from memory_node.fusion.world import FeatureTable
from memory_node.recall import nearest

DIM = 32


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use codes for few rows too."""
    pytest.importorskip('numkong')
    monkeypatch.setattr(nearest, 'FEW', 10)


def units(rng: np.random.Generator, count: int, spread: float = 1.0) -> np.ndarray:
    rows = rng.standard_normal((count, DIM)).astype(np.float32) * spread
    rows[:, 0] += 1 - spread
    return rows / np.sqrt((rows * rows).sum(axis=1, keepdims=True))


def by_features(table: FeatureTable, rows: np.ndarray, vector: np.ndarray, most: int):
    cosine = table.dot(rows, vector).astype(np.float64)
    order = np.lexsort([rows, -cosine])[:most]
    return rows[order].tolist(), cosine[order].tolist()


def by_codes(table: FeatureTable, rows: np.ndarray, vector: np.ndarray, most: int, least=0.0):
    some, cosine, _ = nearest.best(table, rows, vector, most, least)
    order = np.lexsort([rows[some], -cosine])[:most]
    return rows[some][order].tolist(), cosine[order].tolist()


@pytest.mark.parametrize('spread', [1.0, 0.05, 0.001])
@pytest.mark.parametrize('chunks_at_once', [1, 4])
def test_the_best_are_the_same(spread: float, chunks_at_once: int, monkeypatch) -> None:
    monkeypatch.setattr(nearest, 'CODED_AT_ONCE', chunks_at_once)
    rng = np.random.default_rng(3)
    table = FeatureTable()
    rows = np.arange(10_000)
    table.put(rows, units(rng, len(rows), spread))
    for _ in range(5):
        vector = units(rng, 1, spread)[0]
        for some in (rows, rows[rng.random(len(rows)) < 0.5], rows[50:3000]):
            assert by_codes(table, some, vector, 10) == by_features(table, some, vector, 10)
        changed = rng.choice(rows, 40, replace=False)
        table.put(changed, units(rng, 40, spread))
        added = np.arange(len(rows), len(rows) + 700)
        table.put(added, units(rng, len(added), spread))
        rows = np.concatenate([rows, added])


def test_ties_and_thresholds_are_exact() -> None:
    rng = np.random.default_rng(4)
    table = FeatureTable()
    rows = np.arange(6000)
    values = units(rng, len(rows))
    values[100:140] = values[7]
    table.put(rows, values)
    assert by_codes(table, rows, values[7], 10)[0] == [7, *range(100, 109)]
    least = float(table.dot(rows, values[7])[100])
    some, cosine, total = nearest.best(table, rows, values[7], 1000, least)
    assert some.tolist() == [7, *range(100, 140)] and total == 41
    assert (cosine >= least).all()


def test_nothing_alike_is_nothing() -> None:
    table = FeatureTable()
    rows = np.arange(5000)
    table.put(rows, np.tile(np.eye(DIM, dtype=np.float32)[0], (len(rows), 1)))
    some, _, total = nearest.best(table, rows, -np.eye(DIM, dtype=np.float32)[0], 10)
    assert len(some) == total == 0


def test_without_numkong_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    table = FeatureTable()
    rows = np.arange(9000)
    table.put(rows, units(rng, len(rows)))
    vector = units(rng, 1)[0]
    expected = by_codes(table, rows, vector, 10)
    monkeypatch.setattr(nearest, 'numkong', None)
    assert by_codes(table, rows, vector, 10) == expected
    assert table.codes is not None


def test_a_number_that_enough_values_reach() -> None:
    rng = np.random.default_rng(6)
    for size in (5, 300, 50_000):
        values = rng.standard_normal(size)
        low = nearest.surely_among(values, 4)
        assert np.count_nonzero(values >= low) >= 4
        assert low >= np.sort(values)[-100 if size > 100 else 0]
    assert nearest.surely_among(np.ones(3), 3) == -np.inf
