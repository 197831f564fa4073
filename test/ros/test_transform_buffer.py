# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The transform buffer, without ROS."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_node.model import Pose
from memory_node.ros.transform_buffer import (
    MissingFrameError,
    NotConnectedError,
    TooEarlyError,
    TooOldError,
    TransformBuffer,
)
from memory_node.scene.transform import Transform

S = 1_000_000_000
MS = 1_000_000
T0 = 1000 * S


def at(x: float, y: float = 0.0, z: float = 0.0, yaw: float = 0.0) -> Transform:
    return Transform((x, y, z), (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)))


@pytest.fixture
def buffer() -> TransformBuffer:
    """map > odom > base_link (0 to 10 s), base_link > camera static."""
    buffer = TransformBuffer(cache_s=10.0)
    for i in range(11):
        buffer.add('map', 'odom', T0 + i * S, at(0, 1))
        buffer.add('odom', 'base_link', T0 + i * S, at(i))
    buffer.add('base_link', 'camera', 0, at(0, 0, 0.5), static=True)
    return buffer


def test_c08_uses_the_transform_of_the_stamp() -> None:
    buffer = TransformBuffer()
    buffer.add('map', 'base_link', T0, at(0, yaw=0.0))
    stamp = T0 + 50 * MS
    with pytest.raises(TooEarlyError) as error:
        buffer.lookup('map', 'base_link', stamp)
    assert error.value.waiting_helps
    buffer.add('map', 'base_link', T0 + 100 * MS, at(0, yaw=0.1))
    [point] = buffer.lookup('map', 'base_link', stamp).apply([(5, 0, 0.5)])
    np.testing.assert_allclose(point, (4.994, 0.250, 0.5), atol=0.001)


def test_c07_the_missing_frame_is_named() -> None:
    buffer = TransformBuffer()
    with pytest.raises(MissingFrameError, match="'map' is missing; known frames: none at all"):
        buffer.lookup('map', 'base_link', T0)
    buffer.add('world', 'base_link', T0, at(0))
    with pytest.raises(MissingFrameError, match='base_link, world') as error:
        buffer.lookup('map', 'base_link', T0 + 5 * S)  # though the stamp is not covered either
    assert error.value.frame == 'map'
    assert error.value.waiting_helps
    with pytest.raises(MissingFrameError) as error:
        buffer.lookup('world', 'camera', T0)
    assert error.value.frame == 'camera'
    buffer.add('map', 'world', 0, at(1), static=True)
    assert buffer.lookup('map', 'base_link', T0) == at(1)


def test_through_the_tree_up_and_down(buffer: TransformBuffer) -> None:
    buffer.add('base_link', 'lidar', 0, at(1, yaw=math.pi / 2), static=True)
    assert buffer.lookup('map', 'camera', T0 + 2500 * MS).translation_m == (2.5, 1.0, 0.5)
    assert buffer.lookup('camera', 'map', T0 + 2500 * MS).translation_m == (-2.5, -1.0, -0.5)
    [point] = buffer.lookup('lidar', 'camera', T0 + 50 * S).apply([(1, 2, 0)])  # all static
    np.testing.assert_allclose(point, (2, 0, 0.5), atol=1e-12)
    assert buffer.lookup('odom', 'odom', T0 + 50 * S) == Transform()
    assert buffer.frames() == {'map', 'odom', 'base_link', 'camera', 'lidar'}


def test_what_lies_above_the_meeting_point_does_not_matter(buffer: TransformBuffer) -> None:
    buffer.add('earth', 'map', T0 + 20 * S, at(0))
    assert buffer.lookup('odom', 'base_link', T0 + 3 * S) == at(3)


def test_never_extrapolates(buffer: TransformBuffer) -> None:
    with pytest.raises(TooEarlyError, match=r"frame 'base_link'.* newest is 0\.001 s older"):
        buffer.lookup('map', 'base_link', T0 + 10 * S + MS)
    with pytest.raises(TooOldError, match=r'oldest is 0\.001 s newer') as error:
        buffer.lookup('map', 'base_link', T0 - MS)
    assert not error.value.waiting_helps
    assert buffer.lookup('odom', 'base_link', T0) == at(0)
    assert buffer.lookup('odom', 'base_link', T0 + 10 * S) == at(10)


def test_too_old_is_said_before_too_early(buffer: TransformBuffer) -> None:
    buffer.add('base_link', 'arm', T0 + 20 * S, at(0))
    with pytest.raises(TooOldError, match="'arm'"):
        buffer.lookup('map', 'arm', T0 + 15 * S)


def test_the_past_is_dropped_after_the_cache_time(buffer: TransformBuffer) -> None:
    buffer.add('odom', 'base_link', T0 + 14 * S, at(14))
    assert buffer.lookup('odom', 'base_link', T0 + 4 * S) == at(4)
    with pytest.raises(TooOldError):
        buffer.lookup('odom', 'base_link', T0 + 4 * S - 1)


def test_not_connected_names_both(buffer: TransformBuffer) -> None:
    buffer.add('world', 'drone', T0, at(0))
    with pytest.raises(NotConnectedError, match="'map' and 'drone'") as error:
        buffer.lookup('map', 'drone', T0 + 50 * S)
    assert (error.value.a, error.value.b) == ('map', 'drone')


def test_leading_slashes_are_the_same_frame() -> None:
    buffer = TransformBuffer()
    buffer.add('/map', 'base_link', T0, at(1))
    assert buffer.lookup('map', '/base_link', T0) == at(1)
    assert buffer.frames() == {'map', 'base_link'}


def test_out_of_order_is_the_same_as_in_order() -> None:
    buffer = TransformBuffer()
    for i in (0, 4, 2, 1, 3):
        buffer.add('map', 'base_link', T0 + i * S, at(i * i))
    for i in range(5):
        assert buffer.lookup('map', 'base_link', T0 + i * S) == at(i * i)
    assert buffer.lookup('map', 'base_link', T0 + 2500 * MS) == at(6.5)


@given(st.permutations(range(12)), st.integers(0, 11_000))
def test_any_order_gives_the_same_answer(order: list[int], offset_ms: int) -> None:
    buffer = TransformBuffer(cache_s=20.0)
    for i in order:
        buffer.add('map', 'base_link', T0 + i * S, at(3 * i, yaw=0.2 * i))
    found = buffer.lookup('map', 'base_link', T0 + offset_ms * MS)
    expected = at(3e-3 * offset_ms, yaw=0.2e-3 * offset_ms)
    np.testing.assert_allclose(found.translation_m, expected.translation_m, atol=1e-9)
    np.testing.assert_allclose(found.rotation_xyzw, expected.rotation_xyzw, atol=1e-9)


@pytest.mark.parametrize(
    ('parent', 'child', 'transform'),
    [
        ('map', 'base_link', Transform((math.nan, 0, 0))),
        ('map', 'base_link', Transform((0, math.inf, 0))),
        ('map', 'base_link', Transform((0, 0, 0), (0, 0, 0, 0))),
        ('map', 'base_link', Transform((0, 0, 0), (math.nan, 0, 0, 1))),
        ('', 'base_link', at(0)),
        ('map', '', at(0)),
        ('map', '/map', at(0)),
    ],
)
def test_invalid_is_refused_and_counted(parent: str, child: str, transform: Transform) -> None:
    buffer = TransformBuffer()
    assert not buffer.add(parent, child, T0, transform)
    assert buffer.refused == {'invalid': 1}
    assert buffer.frames() == frozenset()


def test_c16_a_rotation_that_is_not_normalised_is_normalised() -> None:
    buffer = TransformBuffer()
    buffer.add('map', 'base_link', T0, Pose((1, 2, 3), (0, 0, 0, 2)))
    assert buffer.lookup('map', 'base_link', T0) == at(1, 2, 3)


def test_a_frame_may_change_its_parent(buffer: TransformBuffer) -> None:
    buffer.add('table', 'cup', T0, at(1))
    buffer.add('table', 'cup', T0 + S, at(2))
    buffer.add('base_link', 'cup', T0 + 2 * S, at(3))
    assert buffer.lookup('table', 'cup', T0 + 500 * MS) == at(1.5)
    assert buffer.lookup('map', 'cup', T0 + 2 * S) == at(5, 1)
    with pytest.raises(TooOldError, match="changed from 'table' to 'base_link'"):
        buffer.lookup('map', 'cup', T0 + 1500 * MS)
    with pytest.raises(NotConnectedError):
        buffer.lookup('map', 'cup', T0 + 500 * MS)


def test_static_and_moving_replace_each_other() -> None:
    buffer = TransformBuffer()
    buffer.add('map', 'camera', 0, at(1), static=True)
    buffer.add('map', 'camera', 0, at(2), static=True)
    assert buffer.lookup('map', 'camera', T0) == at(2)
    buffer.add('map', 'camera', T0, at(3))
    assert buffer.lookup('map', 'camera', T0) == at(3)
    with pytest.raises(TooEarlyError):
        buffer.lookup('map', 'camera', T0 + 1)


def test_a_loop_of_frames_ends() -> None:
    buffer = TransformBuffer()
    for parent, child in (('a', 'b'), ('b', 'c'), ('c', 'a')):
        buffer.add(parent, child, T0, at(1))
    buffer.add('map', 'base_link', T0, at(0))
    with pytest.raises(NotConnectedError):
        buffer.lookup('map', 'a', T0)


def test_c11_clear_keeps_what_is_static(buffer: TransformBuffer) -> None:
    buffer.clear()
    assert buffer.frames() == {'base_link', 'camera'}
    buffer.add('map', 'base_link', S, at(7))
    assert buffer.lookup('map', 'camera', S).translation_m == (7, 0, 0.5)


def test_c11_a_clock_that_went_back_unseen_heals() -> None:
    buffer = TransformBuffer(cache_s=10.0)
    buffer.add('map', 'base_link', T0, at(1))
    taken = [buffer.add('map', 'base_link', i * S, at(2)) for i in range(1, 6)]
    assert taken == [False, False, True, True, True]
    assert buffer.refused == {'too_old': 2}
    assert buffer.lookup('map', 'base_link', 4 * S) == at(2)


def test_a_straggler_older_than_the_cache_changes_nothing(buffer: TransformBuffer) -> None:
    for i in range(11, 20):
        assert not buffer.add('odom', 'base_link', T0 - 5 * S, at(99))
        assert buffer.add('odom', 'base_link', T0 + i * S, at(i))
    assert buffer.lookup('odom', 'base_link', T0 + 15 * S) == at(15)


def test_c29_one_stamp_repeated_stays_one_entry() -> None:
    buffer = TransformBuffer()
    for i in range(30_000):  # 50 Hz for ten minutes
        buffer.add('map', 'base_link', T0, at(i))
    assert buffer.lookup('map', 'base_link', T0) == at(29_999)
    assert len(buffer._tracks['base_link'].stamps) == 1


def test_c29_a_long_run_is_bounded() -> None:
    buffer = TransformBuffer(cache_s=1.0)
    for i in range(5000):
        buffer.add('map', 'base_link', T0 + 10 * i * MS, at(i))
    track = buffer._tracks['base_link']
    assert len(track.stamps) == len(track.parents) == len(track.values) / 7 == 101
    assert sys.getsizeof(track.values) < 20_000
