# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Transforms from /tf and /tf_static: `make_transforms` subscribes a node to them.

Uses `tf2_ros` where it is installed and our own TransformBuffer otherwise; both answer in the same
way and raise the same errors, which can be imported from here too. tf2 differs in one point: in
the moment in which a frame changes its parent it answers with the old one, where ours says that
the time is not covered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time
from tf2_msgs.msg import TFMessage

from memory_node.errors import InvalidValueError
from memory_node.ros import qos
from memory_node.ros.transform_buffer import (
    CACHE_S,
    MissingFrameError,
    NotConnectedError,
    TooEarlyError,
    TooOldError,
    TransformBuffer,
    TransformError,
    Transforms,
    checked,
    frame_name,
    from_message,
)
from memory_node.scene.transform import Transform

__all__ = [
    'CACHE_S', 'MissingFrameError', 'NotConnectedError', 'Tf2Buffer', 'TooEarlyError',
    'TooOldError', 'TransformBuffer', 'TransformError', 'TransformListener', 'Transforms',
    'frame_name', 'make_transforms',
]  # fmt: skip


class Tf2Buffer:
    """The buffer of tf2_ros behind the interface of TransformBuffer, with the same errors."""

    def __init__(self, cache_s: float = CACHE_S) -> None:
        """Create an empty buffer; raises ImportError where tf2_ros is not installed."""
        import tf2_ros

        self._tf2 = tf2_ros
        self._buffer = tf2_ros.Buffer(cache_time=Duration(seconds=cache_s))
        self._known: set[str] = set()
        self._refused: Counter[str] = Counter()

    @property
    def refused(self) -> Mapping[str, int]:
        """How many transforms were refused, by reason."""
        return dict(self._refused)

    def frames(self) -> frozenset[str]:
        """Return the names of all frames that were ever named."""
        return frozenset(self._known)

    def add_message(self, message: Any, *, static: bool) -> bool:
        """Take a geometry_msgs/TransformStamped, which may be changed; see TransformBuffer.add."""
        parent, child, _, transform = from_message(message)
        try:
            transform = checked(parent, child, transform)
        except InvalidValueError:
            self._refused['invalid'] += 1
            return False
        message.header.frame_id, message.child_frame_id = parent, child
        q = message.transform.rotation
        q.x, q.y, q.z, q.w = transform.rotation_xyzw
        put = self._buffer.set_transform_static if static else self._buffer.set_transform
        put(message, 'spatial_memory')
        self._known.update((parent, child))
        return True

    def lookup(self, target_frame: str, source_frame: str, stamp_ns: int) -> Transform:
        """Return the transform target ← source at this time; see TransformBuffer.lookup."""
        target, source = frame_name(target_frame), frame_name(source_frame)
        if target == source:
            return Transform()
        for frame in (target, source):
            if frame not in self._known:
                raise MissingFrameError(frame, self.frames())
        try:
            # To tf2, time 0 means the latest.
            time = Time(nanoseconds=max(stamp_ns, 1))
            stamped = self._buffer.lookup_transform_core(target, source, time)
        except self._tf2.ExtrapolationException as error:
            raise self._time_error(target, source, stamp_ns, str(error)) from error
        except self._tf2.TransformException as error:
            raise NotConnectedError(target, source) from error
        return from_message(stamped)[3]

    def newest_ns(self, target_frame: str, source_frame: str) -> int:
        """Return the newest time for which `lookup` has every transform; see TransformBuffer."""
        target, source = frame_name(target_frame), frame_name(source_frame)
        for frame in (target, source):
            if frame not in self._known:
                raise MissingFrameError(frame, self.frames())
        try:
            return int(self._buffer.get_latest_common_time(target, source).nanoseconds)
        except self._tf2.TransformException as error:
            raise NotConnectedError(target, source) from error

    def clear(self) -> None:
        """Forget all but the static transforms: the clock jumped back."""
        self._buffer.clear()

    def _time_error(self, target: str, source: str, stamp_ns: int, text: str) -> TransformError:
        try:
            newest = self._buffer.get_latest_common_time(target, source)
        except self._tf2.TransformException:
            return NotConnectedError(target, source)
        return TooEarlyError(text) if stamp_ns > newest.nanoseconds else TooOldError(text)


class TransformListener:
    """Feeds a buffer from /tf and /tf_static; both can be remapped.

    A clock that jumps back empties the buffer but for the static transforms.

    Attributes:
        buffer: where to look transforms up.
    """

    def __init__(
        self,
        node: Node,
        buffer: Transforms,
        on_update: Callable[[], None],
        callback_group: CallbackGroup | None = None,
    ) -> None:
        """Subscribe.

        Args:
            node: rclpy node.
            buffer: what to feed.
            on_update: called after every message, in the callback group.
            callback_group: a mutually exclusive one of its own when None.
        """
        self.buffer = buffer
        self._node = node
        self._on_update = on_update
        group = callback_group or MutuallyExclusiveCallbackGroup()
        self._subscriptions = [
            node.create_subscription(
                TFMessage, topic, partial(self._take, static=static), profile, callback_group=group
            )
            for topic, static, profile in (
                ('/tf', False, qos.tf()), ('/tf_static', True, qos.tf_static()),
            )
        ]  # fmt: skip
        threshold = JumpThreshold(
            min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True
        )
        # The handle must be kept: without it rclpy crashes at the next jump.
        self._jump = node.get_clock().create_jump_callback(
            threshold, post_callback=lambda _: self.buffer.clear()
        )

    def destroy(self) -> None:
        """Unsubscribe; the buffer keeps what it has."""
        self._jump.unregister()
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions = []

    def _take(self, message: Any, *, static: bool) -> None:
        for transform in message.transforms:
            self.buffer.add_message(transform, static=static)
        self._on_update()


def make_transforms(
    node: Node,
    on_update: Callable[[], None],
    callback_group: CallbackGroup | None = None,
    cache_s: float = CACHE_S,
) -> TransformListener:
    """Subscribe a node to the transforms, with tf2_ros where it is installed."""
    buffer: Transforms
    try:
        buffer = Tf2Buffer(cache_s)
    except ImportError:
        buffer = TransformBuffer(cache_s)
    return TransformListener(node, buffer, on_update, callback_group)
