# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The table against the truth counts what it says."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_node.demo.flat import furnish
from memory_node.demo.truth import MATCH_M, Remembered, Score, Thing, match, score, things_of


def thing(label: str, x: float, reported: int = 3) -> Thing:
    return Thing(label, (x, 0.0, 0.0), (0.1, 0.1, 0.1), True, reported)


def held(label: str, x: float) -> Remembered:
    return Remembered(label, (x, 0.0, 0.0))


def test_found_missed_and_extra() -> None:
    things = [thing('Mug', 0.0), thing('Mug', 1.0), thing('Pan', 2.0), thing('Fork', 3.0, 1)]
    one = score(things, [held('Mug', 0.02), held('Pan', 1.9), held('Pan', 5.0)])
    assert (one.things, one.objects, one.found, one.missed, one.extra) == (3, 3, 2, 1, 1)
    assert one.median_error_m == pytest.approx(0.06)


def test_neither_another_label_nor_a_place_too_far_is_a_match() -> None:
    assert match([thing('Mug', 0.0)], [held('Cup', 0.0)]) == []
    assert match([thing('Mug', 0.0)], [held('Mug', MATCH_M + 0.01)]) == []
    assert len(match([thing('Mug', 0.0)], [held('Mug', MATCH_M)])) == 1


def test_one_object_stands_for_one_thing_only() -> None:
    drawers = [thing('Drawer', 0.0), thing('Drawer', 0.1)]
    assert match(drawers, [held('Drawer', 0.06)]) == [(1, 0, pytest.approx(0.04))]
    assert score(drawers, [held('Drawer', 0.06)]).missed == 1


def test_as_many_as_can_be_are_matched_even_where_nearest_first_would_lose_one() -> None:
    # The second object is nearest to the first thing, but only the first thing can have it.
    pairs = match([thing('Mug', 0.0), thing('Mug', 0.2)], [held('Mug', 0.1), held('Mug', -0.2)])
    assert {(i, j) for i, j, _ in pairs} == {(0, 1), (1, 0)}


def test_nothing_there_and_nothing_held() -> None:
    assert score([], []).found == 0
    assert score([thing('Mug', 0.0)], []).missed == 1
    assert score([], [held('Mug', 0.0)]).extra == 1
    assert math.isnan(Score(1, 0, ()).median_error_m)


def test_rooms_add_up() -> None:
    total = Score(3, 2, (0.1,)) + Score(1, 1, (0.3,))
    assert (total.things, total.objects, total.found) == (4, 3, 2)
    assert total.median_error_m == pytest.approx(0.2)


places = st.lists(st.floats(-0.6, 0.6), max_size=4)


@given(places, places)
def test_matching_equals_the_best_of_all_assignments(a: list[float], b: list[float]) -> None:
    things, objects = [thing('Mug', x) for x in a], [held('Mug', x) for x in b]
    pairs = match(things, objects)
    assert len({i for i, _, _ in pairs}) == len({j for _, j, _ in pairs}) == len(pairs)
    best = (0, 0.0)
    for size in range(min(len(a), len(b)) + 1):
        for rows in itertools.combinations(range(len(a)), size):
            for columns in itertools.permutations(range(len(b)), size):
                errors = [abs(a[i] - b[j]) for i, j in zip(rows, columns, strict=True)]
                if all(e <= MATCH_M for e in errors):
                    best = max(best, (size, -sum(errors)))
    assert len(pairs) == best[0]
    assert -sum(e for _, _, e in pairs) == pytest.approx(best[1], abs=1e-9)


def test_things_of_a_room_are_counted_and_in_the_map_of_the_flat() -> None:
    room = furnish(['bathroom'])[0]
    stream = room.stream(seed=1)
    views = stream.visit(1)
    things = things_of(room, stream.truth)
    assert sum(t.reported for t in things) == sum(int((v.things >= 0).sum()) for v in views)
    for t in things:
        assert math.dist(t.center_m, room.center_m) < room.radius_m
