# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The loops of the arbiter beside plain numpy, and compiled beside interpreted."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreted import PACKAGE, interpreted

from memory_node.fusion import scoring
from memory_node.fusion.world import OBJECT
from memory_node.scene import boxes

SOURCE = interpreted('fusion/scoring')
BOTH = pytest.mark.parametrize('module', [scoring, SOURCE], ids=['installed', 'interpreted'])
SEEDS = st.integers(0, 2**32 - 1)


def scene(seed: int, n: int = 6, objects: int = 9):
    """Detections and objects about the same places: center, half, records, all pairs."""
    random = np.random.default_rng(seed)
    records = np.zeros(objects, OBJECT)
    records['center'] = random.uniform(-1, 1, (objects, 3))
    records['hull_center'] = records['center'] + random.normal(0, 0.01, (objects, 3))
    records['half'] = random.uniform(0, 0.5, (objects, 3)) * (random.random((objects, 1)) > 0.2)
    records['observations'] = random.integers(1, 9, objects)
    center, half = random.uniform(-1, 1, (n, 3)), random.uniform(0, 0.5, (n, 3))
    half[0] = 0.0
    place = np.repeat(np.arange(n), objects)
    row = np.tile(np.arange(objects), n)
    return center, half, records, place, row


def test_the_list_of_what_is_compiled_names_modules_that_exist() -> None:
    names = (PACKAGE / 'compiled.txt').read_text().split()
    assert 'fusion/scoring' in names
    assert names == sorted(set(names))
    for name in names:
        assert (PACKAGE / f'{name}.py').read_text().startswith('# cython: '), name


@given(SEEDS, st.booleans())
def test_compiled_and_interpreted_agree_to_the_last_bit(seed: int, aware: bool) -> None:
    center, half, records, place, row = scene(seed)
    sigma = np.random.default_rng(seed).uniform(0.01, 0.2, len(center))
    found = []
    for module in (scoring, SOURCE):
        terms, near = np.full((len(place), 4), np.nan), np.zeros(len(place), np.uint8)
        module.geometry_terms(
            center, half, sigma, place, row, records, aware, 0.5, terms, near
        )  # fmt: skip
        total = np.zeros(len(place))
        module.totals(terms, np.array([0.2, 0.2, 0.5, 0.1]), near, total)
        found.append((terms.tobytes(), near.tobytes(), total.tobytes()))
    assert found[0] == found[1]


@BOTH
def test_geometry_where_noise_is_not_allowed_for(module) -> None:
    center, half, records, place, row = scene(1)
    terms, near = np.zeros((len(place), 4)), np.zeros(len(place), np.uint8)
    sigma = np.full(len(center), 1e-12)
    module.geometry_terms(center, half, sigma, place, row, records, False, 0.5, terms, near)
    away = boxes.distance(center[place], records['center'][row])
    assert terms[:, 0] == pytest.approx(np.maximum(0, 1 - away / 0.5))
    overlap = boxes.iou(
        center[place], half[place], records['hull_center'][row], records['half'][row]
    )
    flat = np.minimum(half[place], records['half'][row]).min(axis=1) <= 0
    assert terms[:, 1] == pytest.approx(np.where(flat, np.nan, overlap), nan_ok=True)


@BOTH
def test_a_total_is_the_weighted_mean_of_the_terms_that_exist(module) -> None:
    nan = np.nan
    rows = [[0.5, nan, 1.0, 0.0], [nan, nan, nan, 0.8], [nan] * 4, [1 / 3, 0, 0, 0], [1.0] * 4]
    terms, near = np.array(rows), np.array([1, 1, 1, 1, 0], np.uint8)
    total = np.full(5, nan)
    module.totals(terms, np.array([0.2, 0.2, 0.5, 0.1]), near, total)
    assert total.tolist() == [0.75, 0.8, 0.0, pytest.approx(0.066666667, abs=1e-12), 0.0]
    assert terms[3, 0] == 0.333333333  # rounded before anything is compared


@BOTH
def test_the_best_pair_has_the_highest_total_then_the_lowest_id(module) -> None:
    place, ids = np.array([0, 0, 0, 2, 2]), np.array([7, 3, 5, 9, 8])
    best = np.empty(3, np.int64)
    module.best_pairs(place, np.array([0.4, 0.9, 0.9, -1.0, -1.0]), ids, best)
    assert best.tolist() == [1, -1, 4]


@BOTH
def test_each_claims_its_best_pair_unless_another_wants_the_same_object(module) -> None:
    best, row = np.array([1, -1, 2, 3]), np.array([5, 5, 7, 5])
    total, chosen = np.array([0.1, 0.9, 0.3, 0.7]), np.empty(4, np.int64)
    assert module.claims(best, row, total, 0.75, chosen)
    assert chosen.tolist() == [1, -1, -1, -1]
    assert not module.claims(best, row, total, 0.7, chosen)
    assert module.claims(best[:0], row, total, 0.7, chosen[:0])


@BOTH
def test_what_a_detection_joins_is_shown_else_what_it_is_most_like(module) -> None:
    pairs = SimpleNamespace(
        terms=np.arange(12.0).reshape(3, 4),
        total=np.array([0.5, 0.6, 0.7]),
        row=np.array([9, 8, 7]),
    )
    terms, total = np.zeros((3, 4)), np.zeros(3)
    candidate, row = np.zeros(3, np.int64), np.zeros(3, np.int64)
    chosen, best = np.array([1, -1, -1]), np.array([0, 2, -1])
    module.settle(chosen, best, pairs, terms, total, candidate, row)
    np.testing.assert_array_equal(terms, [[4, 5, 6, 7], [8, 9, 10, 11], [np.nan] * 4])
    np.testing.assert_array_equal(total, [0.6, 0.7, np.nan])
    assert candidate.tolist() == [8, 7, -1]
    assert row.tolist() == [8, -1, -1]


@BOTH
def test_the_nearest_of_kind_has_the_label_and_is_the_nearest(module) -> None:
    terms = np.array([[0.9, 0, 0, 0.5], [0.4, 0, 0, 0.8], [0.4, 0, 0, 1.0], [0.7, 0, 0, np.nan]])
    best = np.empty(2, np.int64)
    module.nearest_of_kind(np.array([0, 0, 0, 1]), terms, np.array([1, 4, 3, 9]), 0.8, best)
    assert best.tolist() == [2, -1]


@BOTH
def test_displacements_leave_out_what_looks_different(module) -> None:
    center, _, records, _, _ = scene(2, n=3)
    terms = np.array([[0, 0, np.nan, 1], [0, 0, 0.5, 1], [0, 0, 0.9, 1]])
    away, place = np.empty((3, 3)), np.empty(3, np.int64)
    count = module.displacements(
        center, np.array([4, 5, 6]), np.array([0, 1, 2]), terms, 0.6, records, away, place
    )
    assert count == 2
    assert place[:2].tolist() == [0, 2]
    assert away[:2] == pytest.approx(center[[0, 2]] - records['center'][[4, 6]])


@BOTH
@given(SEEDS, st.integers(1, 30))
def test_the_mean_of_vectors_is_that_of_numpy(module, seed: int, count: int) -> None:
    vectors = np.random.default_rng(seed).normal(0, 1, (count, 3))
    expected = np.add.reduce(vectors, axis=0) / count
    assert module.mean_of(vectors) == tuple(expected.tolist())


@BOTH
def test_boxes_of_one_label_that_hold_each_others_centre(module) -> None:
    center = np.array([[0, 0, 0], [0.05, 0, 0], [0.05, 0, 0], [0.2, 0, 0]], dtype=float)
    half, label = np.full((4, 3), 0.1), np.array([1, 1, 2, 1], np.int32)
    assert module.close_boxes(center, half, label) == [(0, 1)]
