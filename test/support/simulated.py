# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A simulator as the launch files meet it: its messages, its clock, and who asks the memory."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import TransformStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rgbd import CAMERA, rendered
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image
from spatial_memory.srv import Query
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import Detection2D, Detection2DArray, ObjectHypothesisWithPose

NS = 1_000_000_000
DEADLINE_S = 90.0
SENSOR, FRAME = 'head_camera', 'head_camera_optical'
MUG = ((0.1, 0.05, 0.9), (0.1, 0.12, 0.08))
BOX = ((-0.2, 0.0, 1.2), (0.2, 0.2, 0.1))
HEIGHT_M = 1.0
TRUTH = {'mug': (0.9, -0.1, 0.95), 'box': (1.2, 0.2, 1.0)}
"""Centres in the map: its x is forward, and the camera is 1 m above its origin."""
NEAR_M = 0.08
"""Only the fronts of the boxes are seen."""


class Simulator:
    """Publishes one scene over and over with a clock of its own, and asks the memory for it."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=int(os.environ['ROS_DOMAIN_ID']))
        self.node = rclpy.create_node('simulator', context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._publishers: dict[str, Any] = {}
        self._client = self.node.create_client(Query, '/spatial_memory/query')
        self._stamp_ns = 5 * NS
        self.depth_m, self.ids = rendered([MUG, BOX], wall_m=math.inf)  # the sky of a world

    def close(self) -> None:
        """Take it away."""
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)

    def publish(self, kind: Any, topic: str, message: Any, frame: str = '') -> None:
        """Publish at the present stamp of the simulation."""
        if topic not in self._publishers:
            deep = QoSProfile(depth=10)
            if topic == '/tf_static':
                deep = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
            self._publishers[topic] = self.node.create_publisher(kind, topic, deep)
        if frame:
            message.header.frame_id = frame
            message.header.stamp = self.stamp()
        self._publishers[topic].publish(message)

    def stamp(self) -> Any:
        """The present stamp of the simulation."""
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(self._stamp_ns, NS)
        return message.clock

    def image(self, pixels: np.ndarray, encoding: str) -> Image:
        """An image without a header."""
        pixels = np.ascontiguousarray(pixels)
        channels = pixels.shape[2] if pixels.ndim == 3 else 1
        return Image(
            height=pixels.shape[0], width=pixels.shape[1], encoding=encoding,
            step=pixels.shape[1] * channels * pixels.itemsize, data=pixels.tobytes(),
        )  # fmt: skip

    def boxes(self, class_ids: tuple[str, str]) -> Detection2DArray:
        """The boxes of the two things, as both simulators fill them in."""
        message = Detection2DArray()
        for number, class_id in enumerate(class_ids, start=1):
            rows, columns = np.nonzero(self.ids == number)
            one = Detection2D()
            box = one.bbox
            box.center.position.x = float(columns.max() + 1 + columns.min()) / 2
            box.center.position.y = float(rows.max() + 1 + rows.min()) / 2
            box.size_x = float(columns.max() + 1 - columns.min())
            box.size_y = float(rows.max() + 1 - rows.min())
            result = ObjectHypothesisWithPose()
            result.hypothesis.class_id, result.hypothesis.score = class_id, 1.0
            one.results = [result]
            message.detections.append(one)
        return message

    def show(self, detector: Callable[[], None], depth_frame: str = FRAME) -> None:
        """Publish the clock, frames, camera and what `detector` publishes, a second later each."""
        self._stamp_ns += NS
        self.publish(Clock, '/clock', Clock(clock=self.stamp()))
        pose = TransformStamped(child_frame_id=FRAME)
        pose.header.frame_id, pose.header.stamp = 'map', self.stamp()
        pose.transform.translation.z = HEIGHT_M
        q = pose.transform.rotation
        q.x, q.y, q.z, q.w = -0.5, 0.5, -0.5, 0.5
        self.publish(TFMessage, '/tf', TFMessage(transforms=[pose]))
        k = [CAMERA.fx, 0.0, CAMERA.cx, 0.0, CAMERA.fy, CAMERA.cy, 0.0, 0.0, 1.0]
        info = CameraInfo(width=640, height=480, k=k)
        self.publish(CameraInfo, f'/{SENSOR}/camera_info', info, depth_frame)
        depth = self.image(self.depth_m.astype(np.float32), '32FC1')
        self.publish(Image, f'/{SENSOR}/depth', depth, depth_frame)
        detector()

    def remembered(self, detector: Callable[[], None], labels: set[str]) -> dict[str, Any]:
        """Show the scene until the memory holds these labels, confirmed; return its objects."""
        until = time.monotonic() + DEADLINE_S
        held: dict[str, Any] = {}
        while time.monotonic() < until:
            self.show(detector)
            self.spin(0.3)
            held = {h.object.label: h.object for h in self.ask() if h.object.state == 'confirmed'}
            if set(held) >= labels:
                return held
        raise AssertionError(f'the memory holds {sorted(held)}, expected {sorted(labels)}')

    def ask(self) -> list[Any]:
        """All that the memory holds."""
        if not self._client.wait_for_service(timeout_sec=1.0):
            return []
        answer = self._client.call_async(Query.Request(limit=100))
        self._executor.spin_until_future_complete(answer, timeout_sec=10.0)
        return list(answer.result().hits) if answer.done() and answer.result().success else []

    def spin(self, seconds: float) -> None:
        """Handle what comes."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._executor.spin_once(timeout_sec=0.05)


def check_places(held: dict[str, Any], names: dict[str, str]) -> None:
    """Assert that the things are where they are; names: label → one of TRUTH."""
    for label, name in names.items():
        p = held[label].pose.position
        away_m = math.dist((p.x, p.y, p.z), TRUTH[name])
        assert away_m < NEAR_M, f'{label}: {away_m:.3f} m off, at {(p.x, p.y, p.z)}'
        assert held[label].last_seen.sec < 1_000_000, 'simulated time'
