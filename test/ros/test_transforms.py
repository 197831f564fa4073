# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Transforms over the real middleware, and tf2_ros (where installed) held to the same answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('tf2_msgs')

from geometry_msgs.msg import TransformStamped
from rclpy.qos import DurabilityPolicy
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage

from memory_node.ros import qos
from memory_node.ros.transforms import (
    MissingFrameError,
    NotConnectedError,
    Tf2Buffer,
    TooEarlyError,
    TooOldError,
    TransformBuffer,
    TransformListener,
    Transforms,
    make_transforms,
)
from memory_node.scene.transform import Transform

S = 1_000_000_000
MS = 1_000_000
T0 = 1000 * S


def stamped(parent: str, child: str, stamp_ns: int, x: float, yaw: float = 0.0) -> TransformStamped:
    message = TransformStamped()
    message.header.frame_id, message.child_frame_id = parent, child
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, S)
    message.transform.translation.x = float(x)
    message.transform.rotation.z = math.sin(yaw / 2)
    message.transform.rotation.w = math.cos(yaw / 2)
    return message


@pytest.fixture(params=['own', 'tf2'])
def buffer(request: pytest.FixtureRequest) -> Transforms:
    if request.param == 'own':
        return TransformBuffer()
    pytest.importorskip('tf2_ros', reason='tf2_ros is not installed')
    return Tf2Buffer()


def test_both_interpolate_at_the_stamp(buffer: Transforms) -> None:
    buffer.add_message(stamped('map', 'odom', T0, 1), static=False)
    buffer.add_message(stamped('map', 'odom', T0 + S, 2, yaw=1.0), static=False)
    buffer.add_message(stamped('odom', 'camera', 0, 5), static=True)
    found = buffer.lookup('map', '/camera', T0 + 300 * MS)
    half = 0.15
    np.testing.assert_allclose(
        found.translation_m, (1.3 + 5 * math.cos(0.3), 5 * math.sin(0.3), 0), atol=1e-9
    )
    np.testing.assert_allclose(
        found.rotation_xyzw, (0, 0, math.sin(half), math.cos(half)), atol=1e-9
    )
    assert buffer.frames() == {'map', 'odom', 'camera'}


def test_both_name_what_is_missing(buffer: Transforms) -> None:
    with pytest.raises(MissingFrameError, match="'map' is missing"):
        buffer.lookup('map', 'base_link', T0)
    assert buffer.lookup('map', 'map', T0) == Transform()
    buffer.add_message(stamped('world', 'base_link', T0, 1), static=False)
    with pytest.raises(MissingFrameError, match=r"'map' is missing.*base_link, world"):
        buffer.lookup('map', 'base_link', T0 + 5 * S)
    buffer.add_message(stamped('map', 'odom', T0, 1), static=False)
    for stamp_ns in (T0, T0 + S):
        with pytest.raises(NotConnectedError, match="'map' and 'base_link'"):
            buffer.lookup('map', 'base_link', stamp_ns)


def test_both_never_extrapolate(buffer: Transforms) -> None:
    buffer.add_message(stamped('map', 'base_link', T0, 1), static=False)
    for stamp_ns, error in ((T0 + 1000, TooEarlyError), (T0 - 1000, TooOldError)):
        with pytest.raises(error):  # with a single transform
            buffer.lookup('map', 'base_link', stamp_ns)
    buffer.add_message(stamped('map', 'base_link', T0 + S, 2), static=False)
    for stamp_ns, error in ((T0 + 2 * S, TooEarlyError), (T0 - S, TooOldError), (0, TooOldError)):
        with pytest.raises(error):
            buffer.lookup('map', 'base_link', stamp_ns)


def test_both_refuse_invalid_and_normalise(buffer: Transforms) -> None:
    bad = stamped('map', 'base_link', T0, math.nan)
    zero = stamped('map', 'base_link', T0, 1)
    zero.transform.rotation.w = 0.0
    for message in (bad, zero, stamped('map', '', T0, 1), stamped('map', 'map', T0, 1)):
        assert not buffer.add_message(message, static=False)
    assert buffer.refused == {'invalid': 4}
    double = stamped('/map', 'base_link', T0, 1)
    double.transform.rotation.w = 2.0
    assert buffer.add_message(double, static=False)
    assert buffer.lookup('map', 'base_link', T0) == Transform((1, 0, 0))


def test_both_keep_the_static_ones_over_a_clear(buffer: Transforms) -> None:
    buffer.add_message(stamped('base_link', 'camera', 0, 1), static=True)
    buffer.add_message(stamped('map', 'base_link', T0, 1), static=False)
    buffer.clear()
    buffer.add_message(stamped('map', 'base_link', S, 5), static=False)
    assert buffer.lookup('map', 'camera', S).translation_m == (6, 0, 0)


def test_the_listener_hears_both_topics(
    make_node: Callable[..., Any], spin_until: Callable[..., bool]
) -> None:
    node, other = make_node('listener'), make_node('publisher')
    static = other.create_publisher(TFMessage, '/tf_static', qos.tf_static())
    static.publish(TFMessage(transforms=[stamped('base_link', 'camera', 0, 1)]))
    updates: list[int] = []
    listener = make_transforms(node, lambda: updates.append(1))
    assert spin_until(lambda: updates), 'a late listener did not get the static transforms'
    moving = other.create_publisher(TFMessage, '/tf', qos.tf())
    assert spin_until(lambda: moving.get_subscription_count() == 1)
    moving.publish(TFMessage(transforms=[stamped('map', 'base_link', T0, 2)]))
    assert spin_until(lambda: len(updates) == 2)
    assert listener.buffer.lookup('map', 'camera', T0).translation_m == (3, 0, 0)
    listener.destroy()
    assert spin_until(lambda: moving.get_subscription_count() == 0)


def test_c41_the_topics_can_be_remapped_into_a_namespace(make_node: Callable[..., Any]) -> None:
    remap = ['--ros-args', '-r', '/tf:=tf', '-r', '/tf_static:=tf_static']
    node = make_node('listener', namespace='robot1', cli_args=remap)
    make_transforms(node, lambda: None)
    topics = {subscription.topic_name for subscription in node.subscriptions}
    assert {'/robot1/tf', '/robot1/tf_static'} <= topics


def test_c13_a_volatile_tf_static_is_warned_of_by_name(
    make_node: Callable[..., Any], spin_until: Callable[..., bool], capfd: pytest.CaptureFixture
) -> None:
    node, other = make_node('listener'), make_node('publisher')
    make_transforms(node, lambda: None)
    volatile = qos.tf_static()
    volatile.durability = DurabilityPolicy.VOLATILE
    other.create_publisher(TFMessage, '/tf_static', volatile)
    warned: list[str] = []

    def has_warned() -> bool:
        warned.append(capfd.readouterr().err)
        text = ''.join(warned)
        return '/tf_static' in text and 'DURABILITY' in text

    assert spin_until(has_warned), warned


def test_c11_a_clock_that_jumps_back_empties_the_buffer(
    make_node: Callable[..., Any], spin_until: Callable[..., bool]
) -> None:
    node = make_node('listener', {'use_sim_time': True})
    other = make_node('clock')
    listener = TransformListener(node, TransformBuffer(), lambda: None)
    clock = other.create_publisher(Clock, '/clock', 10)
    assert spin_until(lambda: clock.get_subscription_count() == 1)

    def set_clock(seconds: int) -> None:
        message = Clock()
        message.clock.sec = seconds
        clock.publish(message)
        assert spin_until(lambda: node.get_clock().now().nanoseconds == seconds * S)

    set_clock(1000)
    listener.buffer.add_message(stamped('base_link', 'camera', 0, 1), static=True)
    listener.buffer.add_message(stamped('map', 'base_link', T0, 1), static=False)
    set_clock(1001)
    assert 'map' in listener.buffer.frames()
    set_clock(5)
    assert listener.buffer.frames() == {'base_link', 'camera'}


def test_make_transforms_takes_tf2_where_it_is(make_node: Callable[..., Any]) -> None:
    try:
        import tf2_ros  # noqa: F401
    except ImportError:
        expected = TransformBuffer
    else:
        expected = Tf2Buffer
    assert type(make_transforms(make_node(), lambda: None).buffer) is expected
