# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A depth camera with a detector behind it: shows views to the lifting node and to the memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import CameraInfo, Image
from spatial_memory.msg import ChangeArray
from tf2_msgs.msg import TFMessage

from memory_node.demo.messages import nanoseconds, time_message
from memory_node.errors import SpatialMemoryError

MAP = 'map'
READY_S, ANSWER_S, AGAIN_S = 30.0, 30.0, 4.0
SPIN_S = 0.05
AHEAD_S = 0.05
"""Transforms are sent so long before the images: this camera jumps from place to place."""
SETTLE_S = 0.5
"""Endpoints that this side sees may not be on the other side yet."""


class CameraError(SpatialMemoryError):
    """A view could not be shown to the memory."""


class Shown(NamedTuple):
    """What is shown of one instant.

    Attributes:
        pose: (4, 4) of the optical frame in the map. k: (3, 3) of the camera.
        depth_mm: (H, W) uint16. ids: (H, W) uint16, 0: nothing.
        detected: id → label and score.
    """

    pose: np.ndarray
    k: np.ndarray
    depth_mm: np.ndarray
    ids: np.ndarray
    detected: dict[int, tuple[str, float]]


def lifting_arguments(
    sensor: str, max_range_m: float, regions: str = 'labelled_masks'
) -> list[str]:
    """Return the arguments of a lifting node that listens to such a camera."""
    return [
        '--ros-args', '-p', f'regions:={regions}', '-p', f'sensor:={sensor}',
        '-p', f'level_frame:={MAP}', '-p', f'max_range_m:={max_range_m}',
        '-r', f'depth:={sensor}/depth', '-r', f'camera_info:={sensor}/camera_info',
    ]  # fmt: skip


def memory_arguments(sensor: str, max_range_m: float) -> list[str]:
    """Return the arguments of a memory that takes depth from such a camera too."""
    return [
        '-p', f"sensors:=['{sensor}']", '-p', 'depth_wait_s:=0.5',
        '-p', f'camera_max_range_m:={max_range_m}',
    ]  # fmt: skip


class DemoCamera(Node):
    """Shows one view after the other, each when the one before is in the memory.

    Publishes: SENSOR/depth, SENSOR/camera_info, masks, detections_2d, /tf.
    Subscribes: spatial_memory/changes, for the acknowledgements.
    """

    def __init__(self, context: Context, sensor: str, check: Callable[[], None]) -> None:
        """Create it.

        Args:
            context: of the demo. sensor: its name.
            check: called while it waits; raises when that has become pointless.
        """
        super().__init__(sensor, context=context)
        from vision_msgs.msg import Detection2DArray

        self._sensor, self._frame, self._check = sensor, f'{sensor}_optical', check
        self._acknowledged: set[int] = set()
        deep = QoSProfile(depth=10)
        self._frames = self.create_publisher(TFMessage, '/tf', QoSProfile(depth=100))
        self._infos = self.create_publisher(CameraInfo, f'{sensor}/camera_info', deep)
        self._depths = self.create_publisher(Image, f'{sensor}/depth', deep)
        self._masks = self.create_publisher(Image, 'masks', deep)
        self._detections = self.create_publisher(Detection2DArray, 'detections_2d', deep)
        self.create_subscription(
            ChangeArray, 'spatial_memory/changes', self._on_changes, QoSProfile(depth=200)
        )
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self)

    def wait_ready(self, first: Shown, stamp_ns: int) -> None:
        """Wait until both nodes listen, and tell them of the camera.

        Raises:
            CameraError: they are not there.
        """
        listeners: Sequence[tuple[Publisher, int]] = (
            (self._frames, 2), (self._infos, 2), (self._depths, 2), (self._masks, 1),
            (self._detections, 1),
        )  # fmt: skip

        def listen() -> bool:
            self._check()
            return all(p.get_subscription_count() >= n for p, n in listeners)

        if not self._spin_until(listen, READY_S):
            raise CameraError(f'the lifting node and the memory are not there after {READY_S:g} s')
        self._infos.publish(self._info(first, stamp_ns))
        self._spin_until(lambda: False, SETTLE_S)

    def show(self, shown: Shown, stamp_ns: int) -> None:
        """Send one view until it is acknowledged: images may be lost on their way.

        Raises:
            CameraError: it was not.
        """
        until = time.monotonic() + ANSWER_S
        while time.monotonic() < until:
            self._check()
            self._frames.publish(TFMessage(transforms=[self._pose(shown, stamp_ns)]))
            self._spin_until(lambda: False, AHEAD_S)
            self._infos.publish(self._info(shown, stamp_ns))
            self._depths.publish(self._image(shown.depth_mm, '16UC1', stamp_ns))
            self._masks.publish(self._image(shown.ids, '16UC1', stamp_ns))
            self._detections.publish(self._detected(shown, stamp_ns))
            if self._spin_until(lambda: stamp_ns in self._acknowledged, AGAIN_S):
                return
        raise CameraError(f'a view was not acknowledged within {ANSWER_S:g} s')

    def close(self) -> None:
        """Free what the node holds."""
        self._executor.shutdown()
        self.destroy_node()

    def _pose(self, shown: Shown, stamp_ns: int) -> TransformStamped:
        message = TransformStamped(child_frame_id=self._frame)
        message.header.frame_id, message.header.stamp = MAP, time_message(stamp_ns)
        t, q = message.transform.translation, message.transform.rotation
        t.x, t.y, t.z = shown.pose[:3, 3].tolist()
        q.x, q.y, q.z, q.w = Rotation.from_matrix(shown.pose[:3, :3]).as_quat().tolist()
        return message

    def _info(self, shown: Shown, stamp_ns: int) -> CameraInfo:
        height, width = shown.ids.shape
        message = CameraInfo(width=width, height=height, k=shown.k.ravel().tolist())
        message.header.frame_id, message.header.stamp = self._frame, time_message(stamp_ns)
        return message

    def _image(self, pixels: np.ndarray, encoding: str, stamp_ns: int) -> Image:
        height, width = pixels.shape
        message = Image(height=height, width=width, encoding=encoding,
                        step=width * pixels.itemsize, data=pixels.tobytes())  # fmt: skip
        message.header.frame_id, message.header.stamp = self._frame, time_message(stamp_ns)
        return message

    def _detected(self, shown: Shown, stamp_ns: int) -> Any:
        """The detections, each with the id of its pixels."""
        from vision_msgs.msg import Detection2D, Detection2DArray, ObjectHypothesisWithPose

        message = Detection2DArray()
        message.header.frame_id, message.header.stamp = self._frame, time_message(stamp_ns)
        for number, (label, score) in shown.detected.items():
            result = ObjectHypothesisWithPose()
            result.hypothesis.class_id, result.hypothesis.score = label, score
            message.detections.append(Detection2D(id=str(number), results=[result]))
        return message

    def _on_changes(self, message: ChangeArray) -> None:
        if message.sensor == self._sensor:
            self._acknowledged.add(nanoseconds(message.header.stamp))

    def _spin_until(self, done: Callable[[], bool], deadline_s: float) -> bool:
        until = time.monotonic() + deadline_s
        while not done():
            if time.monotonic() > until:
                return False
            self._executor.spin_once(timeout_sec=SPIN_S)
        return True
