# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The loops over the numbers of detections beside plain Python, compiled and interpreted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted
from views import seen

from memory_node import Detection
from memory_node.fusion import reading

BOTH = pytest.mark.parametrize(
    'module', [reading, interpreted('fusion/reading')], ids=['installed', 'interpreted']
)
NUMBERS = st.one_of(st.floats(), st.integers(-(2**60), 2**60), st.booleans())


def read(module: Any, detections: list[Detection]) -> tuple[np.ndarray, list[int]]:
    numbers = np.empty((len(detections), 11))
    return numbers, module.read_numbers(detections, numbers)


@BOTH
@given(st.lists(st.lists(NUMBERS, min_size=11, max_size=11), max_size=4), st.booleans())
def test_numbers_are_those_of_numpy(module: Any, rows: list[list[float]], lists: bool) -> None:
    kind = list if lists else tuple
    detections = [
        Detection('cup', row[0], kind(row[1:4]), kind(row[4:7]), kind(row[7:])) for row in rows
    ]
    numbers, odd = read(module, detections)
    assert odd == []
    expected = np.array(rows, dtype=np.float64).reshape(len(rows), 11)
    np.testing.assert_array_equal(numbers, expected)


@BOTH
@pytest.mark.parametrize('kind', [np.float64, np.float32, np.int16])
def test_arrays_are_read(module: Any, kind: type) -> None:
    given_one = seen(center_m=np.array([1, 2, 3], kind), size_m=np.array([4, 5, 6], kind))
    numbers, odd = read(module, [given_one])
    assert odd == []
    assert numbers[0, 1:7].tolist() == [1, 2, 3, 4, 5, 6]


@BOTH
@pytest.mark.parametrize(
    'fields',
    [
        {'score': None},
        {'score': np.float32(0.5)},
        {'score': '0.5'},
        {'center_m': None},
        {'center_m': (1.0, 2.0)},
        {'center_m': (1.0, 2.0, '3')},
        {'center_m': 'abc'},
        {'center_m': np.zeros((3, 1))},
        {'center_m': np.array(1.0)},
        {'size_m': iter((1.0, 1.0, 1.0))},
        {'orientation_xyzw': (0.0, 0.0, 1.0)},
        {'orientation_xyzw': [0.0, 0.0, 0.0, [1.0]]},
    ],
    ids=str,
)
def test_what_is_no_plain_number_is_told(module: Any, fields: dict[str, Any]) -> None:
    numbers, odd = read(module, [seen(), seen(**fields), seen(center_m=(7, 8, 9))])
    assert odd == [1]
    assert numbers[2, 1:4].tolist() == [7, 8, 9]


@BOTH
@given(
    st.lists(st.tuples(st.sampled_from('ab'), *[st.sampled_from([-0.0, 0.0, 1.0])] * 7)), st.data()
)
def test_rows_are_sorted_by_name_centre_size_and_score(
    module: Any, keys: list[Any], data: st.DataObject
) -> None:
    numbers = np.zeros((len(keys), 11))
    for k, (_, *centre_and_size, score) in enumerate(keys):
        numbers[k, :7] = score, *centre_and_size
    order = np.array(data.draw(st.permutations(range(len(keys)))), dtype=np.int64)
    order = order[: data.draw(st.integers(0, len(keys)))]
    expected = sorted(order.tolist(), key=keys.__getitem__)
    differ = len({keys[k] for k in expected}) == len(expected)
    assert module.sort_rows([name for name, *_ in keys], numbers, order) == differ
    assert order.tolist() == expected


@BOTH
def test_scores_and_extents_of_some_rows(module: Any) -> None:
    numbers = np.zeros((4, 11))
    numbers[:, 0] = 0.1, 0.2, 0.3, 0.4
    numbers[1, 6] = numbers[3, 4] = 0.5
    score, extent = np.empty(3), np.empty(3, np.uint8)
    module.pick(numbers, np.array([3, 0, 1]), score, extent)
    assert score.tolist() == [0.4, 0.1, 0.2]
    assert extent.tolist() == [1, 0, 1]
