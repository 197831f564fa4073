# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Features: unit rows, float16, products; compiled and interpreted alike to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted

from memory_node.fusion import features
from memory_node.scene import boxes

SOURCE = interpreted('fusion/features')
BOTH = pytest.mark.parametrize('module', [features, SOURCE], ids=['installed', 'interpreted'])


def random_rows(seed: int, count: int, width: int) -> np.ndarray:
    """Unit rows of float32."""
    rows = np.random.default_rng(seed).normal(size=(count, width))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@BOTH
@pytest.mark.parametrize('width', [1, 2, 3, 7, 32, 33, 48, 96])
def test_rows_get_unit_norm_as_boxes_give_it(module, width: int) -> None:
    rows = np.random.default_rng(width).normal(size=(5, width)).astype(np.float32)
    expected = boxes.normalized(rows.astype(np.float64)).astype(np.float32)
    usable = np.zeros(5, np.uint8)
    module.unit_rows(rows, usable, np.empty(width))
    assert usable.all()
    assert (rows == expected).all()


@BOTH
def test_rows_without_a_direction_stay_as_they_are(module) -> None:
    given_rows = np.array([[0, 0], [np.nan, 1], [np.inf, 1], [1e-30, 0], [3, 4]], np.float32)
    rows, usable = given_rows.copy(), np.zeros(5, np.uint8)
    module.unit_rows(rows, usable, np.empty(2))
    assert usable.tolist() == [0, 0, 0, 1, 1]
    assert np.array_equal(rows[:3], given_rows[:3], equal_nan=True)
    assert np.allclose(rows[3:], [[1, 0], [0.6, 0.8]])


FLOATS = st.floats(-60000, 60000, width=32, allow_subnormal=True) | st.floats(
    -(2.0**-13), 2.0**-13, width=32
)


@given(st.lists(FLOATS, min_size=1, max_size=40))
def test_float16_is_as_numpy_rounds_it(values: list[float]) -> None:
    for module in (features, SOURCE):
        numbers = np.array([values, values[::-1]], np.float32)
        numbers.setflags(write=False)
        expected = numbers[[1, 0, 1]].astype(np.float16)
        rows, halves = np.empty(expected.shape, np.float32), np.empty(expected.shape, np.uint16)
        place = np.array([1, 0, 1])
        module.halve_rows(numbers.view(np.uint32), place, rows, rows.view(np.uint32), halves)
        assert (halves == expected.view(np.uint16)).all()
        assert (rows == expected.astype(np.float32)).all()


@pytest.mark.parametrize('shift', range(30))
def test_float16_at_every_tie(shift: int) -> None:
    steps = np.arange(2048, 2080, dtype=np.float64) + 0.5
    numbers = (steps * 2.0 ** -(11 + shift))[None].astype(np.float32)
    expected = numbers.astype(np.float16)
    rows, halves = np.empty_like(numbers), np.empty(numbers.shape, np.uint16)
    first = np.zeros(1, np.int64)
    features.halve_rows(numbers.view(np.uint32), first, rows, rows.view(np.uint32), halves)
    assert (halves == expected.view(np.uint16)).all()


@BOTH
def test_blending_moves_towards_the_new_one_by_its_share(module) -> None:
    """Where there is one: what is new, or had no feature, gets the new one."""
    held, new = random_rows(1, 6, 32), 0.5 * random_rows(2, 5, 32)
    row, has = np.array([5, 0, 2, 3]), np.array([1, 1, 1, 0], np.uint8)
    place, weight = np.array([0, 1, 2, 3, 4]), np.array([0.0, 0.2, 1.0, 0.2])
    wide, seen = held[row].astype(np.float64), new.astype(np.float64)
    mixed = seen.copy()
    mixed[:3] = wide[:3] + weight[:3, None] * (seen[:3] - wide[:3])
    expected = boxes.normalized(mixed).astype(np.float32)
    before = held.copy()
    module.blend_rows(new, place, row, has, weight, [held[:4], held[4:]], 4)
    assert (new == expected).all()
    assert (held == before).all()


@BOTH
def test_a_term_is_the_cosine_from_0_to_1_where_both_have_a_feature(module) -> None:
    seen, held = random_rows(3, 3, 64), random_rows(4, 6, 64)
    held[1], held[2] = seen[0], -seen[0]
    place, row = np.array([0, 0, 0, 1, 2]), np.array([1, 2, 5, 3, 4])
    terms = np.zeros((5, 4))
    module.feature_terms(
        seen, np.array([1, 1, 0], np.uint8), place, row, np.array([1, 1, 1, 0, 1, 1], np.uint8),
        [held[:4], held[4:]], 4, terms,
    )  # fmt: skip
    cosine = float(held[5].astype(np.float64) @ seen[0].astype(np.float64))
    expected = [1.0, 0.0, max(cosine, 0.0), np.nan, np.nan]
    assert terms[:, 2] == pytest.approx(expected, abs=1e-6, nan_ok=True)
    assert not terms[:, [0, 1, 3]].any()


def test_compiled_and_interpreted_agree_to_the_last_bit() -> None:
    seen, held = random_rows(5, 8, 512), random_rows(6, 8, 512)
    place = row = np.arange(8)
    ones = np.ones(8, np.uint8)
    found = []
    for module in (features, SOURCE):
        terms, blended = np.zeros((8, 4)), seen.copy()
        module.feature_terms(seen, ones, place, row, ones, [held], 8, terms)
        module.blend_rows(blended, place, row, ones, np.linspace(0, 1, 8), [held], 8)
        found.append((terms.tobytes(), blended.tobytes()))
    assert found[0] == found[1]


@BOTH
def test_rows_are_copied_out_of_chunks_and_back(module) -> None:
    chunks = [np.zeros((4, 3), np.float32) for _ in range(3)]
    rows, given_rows = np.array([9, 1, 4, 0]), random_rows(7, 4, 3)
    given_rows.setflags(write=False)
    module.scatter(chunks, rows, 4, given_rows)
    found = np.empty((4, 3), np.float32)
    module.gather(chunks, rows, 4, found)
    assert (found == given_rows).all()
    assert np.count_nonzero(np.concatenate(chunks).any(axis=1)) == 4
