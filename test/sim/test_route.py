# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The tour: steady, through the doors, and each piece of furniture looked at from four places."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from memory_node.sim.home import DOOR_M, ROOM_M, Home
from memory_node.sim.route import AWAY_M, EYE_M, SPEED_MPS, STAY_S, TURN_RADPS, Route, Stand

HOME = Home(1)
ROUTE = Route(HOME.furniture)
STEP_S = 0.05


def test_each_piece_is_looked_at_from_four_places() -> None:
    for number, piece in enumerate(HOME.furniture):
        stops = [stop for stop in ROUTE.stops if stop.piece == number]
        assert len(stops) == 4
        for stop in stops:
            _, y, z = stop.stand.eye_m
            assert abs(y - piece.center_m[1]) == pytest.approx(AWAY_M) and z == EYE_M
            assert stop.stand.target_m[:2] == piece.center_m[:2]
            assert ROUTE.stand_at(stop.at_s + STAY_S / 2) == stop.stand
    assert ROUTE.stand_at(-5.0) == ROUTE.stops[0].stand
    assert ROUTE.stand_at(ROUTE.duration_s + 5.0) == ROUTE.stops[-1].stand


def test_it_neither_jumps_nor_spins_and_goes_through_the_doors() -> None:
    times = np.arange(0.0, ROUTE.duration_s, STEP_S)
    stands = [ROUTE.stand_at(float(t)) for t in times]
    for one, next_ in itertools.pairwise(stands):
        assert math.dist(one.eye_m, next_.eye_m) <= SPEED_MPS * STEP_S + 1e-6
        turn = (next_.yaw_rad - one.yaw_rad + math.pi) % (2 * math.pi) - math.pi
        assert abs(turn) <= TURN_RADPS * STEP_S + 1e-6
    for stand in stands:
        x, y, _ = stand.eye_m
        if abs(x % 4.1 - 2.05) < 0.1:
            assert abs(y) < DOOR_M / 2
        assert abs(y) < ROOM_M / 2


def test_passed_are_the_pieces_that_it_has_left() -> None:
    assert ROUTE.passed(0.0) == set()
    first_of_third = next(stop for stop in ROUTE.stops if stop.piece == 2)
    assert ROUTE.passed(first_of_third.at_s) == {0, 1}
    assert ROUTE.passed(ROUTE.duration_s) == set(range(9))


def test_the_rotation_of_a_stand_looks_where_it_says() -> None:
    stand = Stand((0.0, 0.0, 1.5), (2.0, 2.0, 0.5))
    turn = stand.rotation
    assert np.linalg.det(turn) == pytest.approx(1.0)
    assert turn[:, 2] == pytest.approx(np.array((2.0, 2.0, -1.0)) / 3.0)
    assert turn[2, 0] == pytest.approx(0.0) and turn[2, 1] < 0, 'level, and its y points down'
    assert stand.yaw_rad == pytest.approx(math.pi / 4)
    assert stand.down_rad == pytest.approx(math.atan2(1.0, math.sqrt(8.0)))
