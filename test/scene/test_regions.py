# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Which region is a point in? Checked by hand, and against a slow way of asking."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_node.errors import InvalidValueError
from memory_node.model import Region
from memory_node.scene.regions import RegionBook, area, box_outline, outline, volume

NAN, INF = float('nan'), float('inf')
L_SHAPE = ((0.0, 0.0), (4.0, 0.0), (4.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 3.0))


def region(name: str, polygon: Any, low: float = 0.0, high: float = 2.0, **more: Any) -> Region:
    return Region(name, 'room', polygon, low, high, **more)


def box(name: str, low: Any, high: Any, **more: Any) -> Region:
    corners, z0, z1 = box_outline((low, high))
    return Region(name, 'room', corners, z0, z1, **more)


def book(*regions: Region) -> RegionBook:
    names: list[str] = []

    def number(name: str) -> int:
        if name not in names:
            names.append(name)
        return names.index(name)

    number('')
    return RegionBook(regions, number)


def names_at(found: RegionBook, *points: tuple[float, float, float]) -> list[str]:
    return found.names_at(np.array(points), np.zeros(len(points), np.int64))


def test_area_and_volume_by_hand() -> None:
    assert area(L_SHAPE) == area(L_SHAPE[::-1]) == 6.0
    assert volume(region('l', L_SHAPE, 1.0, 2.5)) == 9.0


def test_an_outline_with_a_corner_cut_out() -> None:
    found = book(region('l', L_SHAPE))
    assert names_at(found, (0.5, 2.5, 1), (3.5, 0.5, 1), (0.5, 0.5, 1)) == ['l'] * 3
    assert names_at(found, (2, 2, 1), (4.5, 0.5, 1), (0.5, 0.5, 2.1), (0.5, 0.5, -0.1)) == [''] * 4


def test_the_smallest_counts_of_nested_and_overlapping_ones() -> None:
    found = book(
        box('house', (0, 0, 0), (20, 20, 6)),
        box('kitchen', (0, 0, 0), (5, 5, 3)),
        box('hall', (4, 0, 0), (12, 5, 3)),
        box('cupboard', (1, 1, 1), (2, 2, 2)),
    )
    assert [r.name for r in found.regions] == ['cupboard', 'kitchen', 'hall', 'house']
    assert names_at(
        found, (1.5, 1.5, 1.5), (3, 3, 1), (4.5, 1, 1), (7, 1, 1), (7, 1, 4), (21, 1, 1)
    ) == ['cupboard', 'kitchen', 'kitchen', 'hall', 'house', '']


def test_equal_ones_go_by_name_and_another_map_is_elsewhere() -> None:
    same = ((0, 0, 0), (1, 1, 1))
    assert names_at(book(box('b', *same), box('A', *same)), (0.5, 0.5, 0.5)) == ['A']
    other = book(box('A', *same, map_id='upstairs'))
    assert names_at(other, (0.5, 0.5, 0.5)) == ['']
    assert other.at((0.5, 0.5, 0.5), 1) == other.regions[0]
    assert other.at((0.5, 0.5, 0.5), 0) is None


def test_a_border_of_a_box_belongs_to_it_and_a_shared_edge_to_one_of_two() -> None:
    assert names_at(book(box('a', (0, 0, 0), (1, 1, 1))), (1, 1, 1), (0, 0, 0)) == ['a', 'a']
    left = region('left', ((0, 0), (1, 0.2), (1, 1), (0, 1)))
    right = region('right', ((1, 0.2), (2, 0), (2, 1), (1, 1)))
    found, maps = book(left, right), np.zeros(1, np.int64)
    for y in (0.3, 0.5, 0.99):
        point = np.array([[1.0, y, 1.0]])
        assert sum(bool(found.inside([k], point, maps)[0]) for k in (0, 1)) == 1


def test_what_is_part_of_a_region_is_in_it() -> None:
    found = book(
        box('House', (0, 0, 0), (4, 4, 3)),
        box('shed', (8, 8, 0), (9, 9, 2), parent='house'),
        box('shelf', (8, 8, 1), (9, 8.5, 2), parent='SHED'),
        box('street', (20, 20, 0), (30, 30, 2)),
    )
    [house] = found.named('hOUSE')
    assert {found.regions[k].name for k in found.parts_of(house)} == {'House', 'shed', 'shelf'}
    assert found.named('road') == []


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_book_agrees_with_asking_each_region_about_each_point(seed: int) -> None:
    """Stars about a centre never cross themselves; their insides are told by angles."""
    random = np.random.default_rng(seed)
    regions = []
    for k in range(int(random.integers(1, 8))):
        n = int(random.integers(3, 9))
        steps = random.uniform(0.5, 1.5, n)
        angles = np.cumsum(steps / steps.sum() * 2 * np.pi)
        if np.diff(angles, append=angles[0] + 2 * np.pi).max() > 3:
            continue
        reach = random.uniform(0.5, 3, n)
        middle = random.uniform(-2, 2, 2)
        corners = middle + reach[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        plain, low, high = outline(corners, float(random.uniform(-1, 0)), 1.0)
        regions.append(region(f'r{k}', plain, low, high))
    points = random.uniform(-4, 4, (40, 3)) * (1, 1, 0.4)
    expected = []
    for point in points.tolist():
        holding = [r for r in regions if slowly_inside(r, point)]
        expected.append(min(holding, key=lambda r: (volume(r), r.name)).name if holding else '')
    assert book(*regions).names_at(points, np.zeros(40, np.int64)) == expected


def slowly_inside(one: Region, point: list[float]) -> bool:
    """By the angles under which the outline is seen: all the way round, or not at all."""
    turned = 0.0
    for (x, y), (u, v) in zip(one.polygon_m, [*one.polygon_m[1:], one.polygon_m[0]]):
        first = math.atan2(y - point[1], x - point[0])
        last = math.atan2(v - point[1], u - point[0])
        turned += (last - first + math.pi) % (2 * math.pi) - math.pi
    return abs(turned) > 3 and one.low_m <= point[2] <= one.high_m


@pytest.mark.parametrize(
    ('polygon', 'low', 'high', 'words'),
    [
        (((0, 0), (1, 0)), 0, 1, 'polygon_m'),
        (((0, 0), (1, 0), (1, NAN)), 0, 1, 'polygon_m'),
        (((0, 0), (1, 0), (1, 1e10)), 0, 1, 'polygon_m'),
        (((0, 0, 0), (1, 0, 0), (1, 1, 0)), 0, 1, 'polygon_m'),
        ([(k, k * k) for k in range(300)], 0, 1, 'polygon_m'),
        ('room', 0, 1, 'polygon_m'),
        (None, 0, 1, 'polygon_m'),
        (((0, 0), (1, 1), (2, 2)), 0, 1, 'area'),
        (((0, 0), (2, 2), (2, 0), (0, 1.9)), 0, 1, 'crosses itself'),
        (((0, 0), (1, 0), (1, 0), (0, 1)), 0, 1, 'crosses itself'),
        (((0, 0), (2, 0), (2, 2), (1, 0), (0, 2)), 0, 1, 'crosses itself'),
        (L_SHAPE, 1, 1, 'high_m'),
        (L_SHAPE, NAN, 1, 'low_m'),
        (L_SHAPE, 0, INF, 'high_m'),
        (L_SHAPE, None, 1, 'low_m'),
    ],
)
def test_an_outline_in_which_nothing_can_lie_is_refused(
    polygon: Any, low: Any, high: Any, words: str
) -> None:
    with pytest.raises(InvalidValueError, match=words):
        outline(polygon, low, high)


@pytest.mark.parametrize(
    'corners', [((0, 0, 0), (1, 1, 0)), ((0, 0, 0),), ((0, 0, 0), (1, 1, NAN)), None]
)
def test_a_box_without_a_volume_is_refused(corners: Any) -> None:
    with pytest.raises(InvalidValueError, match=r'^box_m: got'):
        box_outline(corners)
