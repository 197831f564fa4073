# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The frames of the robot lead to where the sensor is."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from memory_node.demo.flat import furnish, tour
from memory_node.demo.roomr.sensor import Stand
from memory_node.demo.trajectory import (
    DWELL_NS,
    FIXED,
    MAP,
    OPTICAL,
    TICK_NS,
    Trajectory,
    Transform,
    ticks,
)
from memory_node.errors import InvalidValueError

START_NS = 1_700_000_000 * 10**9
PERIOD_NS = 500_000_000


def compose(transforms: list[Transform]) -> tuple[np.ndarray, Rotation]:
    """Pose of the optical frame in the map, by following the parents."""
    parents = {t.child: t for t in transforms}
    frame, position, rotation = OPTICAL, np.zeros(3), Rotation.identity()
    while frame != MAP:
        up = parents[frame]
        turn = Rotation.from_quat(up.rotation_xyzw)
        position = turn.apply(position) + up.translation_m
        rotation, frame = turn * rotation, up.parent
    return position, rotation


@functools.cache
def trajectory_of_all_rooms() -> tuple[Trajectory, list[Stand], list[int]]:
    stands = [look.stand for look in tour(furnish())]
    stamps = [START_NS + k * PERIOD_NS for k in range(len(stands))]
    return Trajectory(stands, stamps), stands, stamps


@pytest.mark.parametrize('off_ns', [0, -DWELL_NS, DWELL_NS])
def test_at_a_look_and_around_it_the_frames_are_those_of_its_pose(off_ns: int) -> None:
    trajectory, stands, stamps = trajectory_of_all_rooms()
    for stand, stamp in zip(stands, stamps, strict=True):
        chain = [*FIXED, *trajectory.transforms_at(stamp + off_ns)]
        position, rotation = compose(chain)
        np.testing.assert_allclose(position, stand.position_m, atol=1e-9)
        np.testing.assert_allclose(rotation.as_matrix(), stand.rotation, atol=1e-9)


def test_between_looks_it_is_elsewhere() -> None:
    trajectory, stands, stamps = trajectory_of_all_rooms()
    for k in range(len(stands) - 1):
        middle = trajectory.stand_at(stamps[k] + PERIOD_NS // 2)
        a, b = stands[k], stands[k + 1]
        np.testing.assert_allclose(
            middle.position_m, np.add(a.position_m, b.position_m) / 2, atol=1e-6
        )
        turned = abs(math.remainder(middle.yaw_rad - a.yaw_rad, 2 * math.pi))
        assert turned <= math.pi / 2 + 1e-9


@given(st.integers(-(10**9), 25 * 10**9))
def test_every_frame_has_a_unit_quaternion_and_the_base_stays_on_the_floor(off_ns: int) -> None:
    trajectory, _, _ = trajectory_of_all_rooms()
    for t in trajectory.transforms_at(START_NS + off_ns):
        assert np.linalg.norm(t.rotation_xyzw) == pytest.approx(1.0)
        if t.child == 'base_link':
            assert t.translation_m[2] == pytest.approx(0.0)


def test_it_stands_still_before_the_first_look_and_after_the_last() -> None:
    trajectory, stands, stamps = trajectory_of_all_rooms()
    assert trajectory.stand_at(stamps[0] - 10**10) == stands[0]
    assert trajectory.stand_at(stamps[-1] + 10**10) == stands[-1]


@given(st.integers(0, 10**18), st.lists(st.integers(1, 10**9), min_size=1, max_size=5))
def test_ticks_go_on_without_a_gap_and_reach_what_was_asked(start: int, steps: list[int]) -> None:
    last = start // TICK_NS * TICK_NS
    seen, until = [last], start
    for step in steps:
        until += step
        seen += ticks(seen[-1], until)
        assert seen[-1] >= until
        assert seen[-1] < until + TICK_NS
    assert {b - a for a, b in itertools.pairwise(seen)} <= {TICK_NS}


def test_what_cannot_be_driven_is_refused() -> None:
    stand = Stand((0.0, 0.0, 1.5), 0.0, 0.0)
    with pytest.raises(InvalidValueError, match=r'got two 0\.2 s apart, expected more than 0\.2 s'):
        Trajectory([stand, stand], [0, 2 * DWELL_NS])
    with pytest.raises(InvalidValueError, match='expected as many of both and at least one'):
        Trajectory([], [])
