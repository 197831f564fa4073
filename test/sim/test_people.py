# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""People walk through all rooms, steadily, not through walls, and not into the robot."""

from __future__ import annotations

import math

import numpy as np

from memory_node.sim.home import DOOR_M, ROOM_M, WALL_M, Home
from memory_node.sim.people import BERTH_M, PACE_MPS, PERSON_M, People
from memory_node.sim.route import Route

FAR = (100.0, 100.0, 0.0)
PITCH_M = ROOM_M + WALL_M


def test_they_walk_through_all_rooms_and_the_doors() -> None:
    people = People(1, 1)
    rooms, before = set(), people.at(0.0, FAR)[0]
    for time_s in np.arange(0.1, 120.0, 0.1):
        (place,) = people.at(float(time_s), FAR)
        assert math.dist(place, before) <= PACE_MPS[1] * 0.1 + 1e-6
        before = place
        rooms.add(round(place[0] / PITCH_M))
        if abs(place[0] % PITCH_M - PITCH_M / 2) < WALL_M / 2:
            assert abs(place[1]) < DOOR_M / 2
    assert rooms == {0, 1, 2}


def test_they_do_not_walk_through_furniture() -> None:
    furniture = Home(1).furniture
    for time_s in np.arange(0.0, 120.0, 0.2):
        for place in People(2, 3).at(float(time_s), FAR):
            assert not any(
                all(
                    abs(place[k] - piece.center_m[k]) < (piece.size_m[k] + PERSON_M[1]) / 2
                    for k in (0, 1)
                )
                for piece in furniture
            )


def test_they_step_aside_for_the_robot() -> None:
    route = Route(Home(1).furniture)
    people, near = People(1, 6), 0
    for time_s in np.arange(0.0, route.duration_s, 0.1):
        eye = route.stand_at(float(time_s)).eye_m
        for place, free in zip(people.at(float(time_s), eye), people.at(float(time_s), FAR)):
            assert math.dist(place[:2], eye[:2]) >= BERTH_M - 1e-9
            near += place != free
    assert near > 0, 'nobody ever had to'


def test_a_seed_is_a_walk_of_its_own() -> None:
    assert People(1, 2).at(10.0, FAR) == People(1, 2).at(10.0, FAR) != People(2, 2).at(10.0, FAR)
    assert People(1, 0).at(10.0, FAR) == []
