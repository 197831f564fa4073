# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Rooms side by side, and the looks into them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from memory_node.demo.flat import furnish, tour
from memory_node.demo.roomr.rooms import room_names
from memory_node.errors import InvalidValueError


def test_no_two_rooms_come_near_each_other() -> None:
    rooms = furnish()
    assert len(rooms) == 4
    for a, b in itertools.combinations(rooms, 2):
        assert math.dist(a.center_m, b.center_m) > a.radius_m + b.radius_m


def test_everything_of_a_room_is_within_its_radius() -> None:
    for room in furnish(episode=3):
        stream = room.stream(seed=1)
        for boxes in stream.truth.visits:
            far = np.linalg.norm(boxes.center + room.offset_m - room.center_m, axis=1)
            assert far.max() < room.radius_m


def test_a_room_has_its_place_whichever_others_are_asked_for() -> None:
    alone, among = furnish(['bathroom'])[0], furnish()[3]
    assert alone.room.name == among.room.name
    assert alone.offset_m == among.offset_m == (60.0, 0.0, 0.0)


def test_looks_are_those_of_the_room_moved_to_its_place() -> None:
    room = furnish(['bedroom'])[0]
    looks, alone = tour([room], seed=5), room.stream(seed=5).visit(1)
    assert len(looks) == len(alone) == 10
    for look, shown in zip(looks, alone, strict=True):
        assert [d.center_m for d in look.shown.view.detections] == [
            d.center_m for d in shown.view.detections
        ]
        assert look.stand.position_m == pytest.approx(np.add(shown.stand.position_m, room.offset_m))
        centers = np.array([d.center_m for d in shown.view.detections]).reshape(-1, 3)
        back = look.optical_centers_m @ look.stand.rotation.T + look.stand.position_m
        np.testing.assert_allclose(back - room.offset_m, centers, atol=1e-12)


def test_chosen_looks_and_both_visits() -> None:
    rooms = furnish(['kitchen', 'living room'])
    some = tour(rooms, looks=[7, 2])
    assert [(look.room.room.kind, look.shown.index) for look in some] == [
        ('kitchen', 7), ('kitchen', 2), ('living room', 7), ('living room', 2),
    ]  # fmt: skip
    assert {look.shown.visit for look in tour(rooms, visit=2)} == {2}
    assert all(d.feature is None for d in tour(rooms, features=False)[0].shown.view.detections)
    assert all(d.feature is not None for d in tour(rooms)[0].shown.view.detections)


def test_the_same_seed_gives_the_same_noise_and_another_seed_other_noise() -> None:
    def centers(seed: int) -> list[object]:
        return [d.center_m for d in tour(furnish(['kitchen']), seed=seed)[0].shown.view.detections]

    assert centers(1) == centers(1) != centers(2)


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [({'visit': 3}, r'visit: got 3, expected 1 or 2'), ({'looks': [10]}, r'looks: got \[10\]')],
)
def test_a_tour_that_is_not_there_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        tour(furnish(['kitchen']), **arguments)  # type: ignore[arg-type]


def test_a_room_twice_is_refused_also_under_another_name() -> None:
    with pytest.raises(InvalidValueError, match='expected each at most once'):
        furnish(['kitchen', room_names()[0]])
    with pytest.raises(InvalidValueError, match='episode: got 9'):
        furnish(episode=9)
