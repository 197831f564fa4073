# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A real shelf: depth and a network's masks through the lifting node into the memory.

A robot's wrist camera looks at four things in a shelf from fifteen places (Amazon Picking Challenge
2016, see data/README.md). The masks are those of a network, with all its mistakes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
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
from spatial_memory.msg import ChangeArray, MemoryObject
from tf2_msgs.msg import TFMessage

from memory_node.demo.client import center_of
from memory_node.demo.messages import NS_PER_S, nanoseconds, time_message
from memory_node.demo.report import Report
from memory_node.errors import SpatialMemoryError
from memory_node.model import Triple

DATA = Path(__file__).parent / 'data' / 'shelf' / 'shelf.npz'
SENSOR, FRAME, MAP = 'wrist_camera', 'wrist_camera_optical', 'map'
CREATE_SCORE = 0.55
"""A mask whose pixels the network is hardly surer of than not makes no new object: it may be a
rest of something, or show nothing. It still supports what is there."""
NEAR_M = 0.03
"""The centre of an object is right when it is no farther from that of the clean masks."""
STEP_NS = 2 * NS_PER_S
"""From one view to the next, by their stamps."""
READY_S, ANSWER_S, AGAIN_S = 30.0, 30.0, 4.0
SPIN_S = 0.05
SETTLE_S = 0.5
"""Endpoints that this side sees may not be on the other side yet."""

MEMORY_ARGUMENTS = (
    '-p', f"sensors:=['{SENSOR}']", '-p', f'create_score:={CREATE_SCORE}',
    '-p', 'depth_wait_s:=0.5', '-p', 'camera_max_range_m:=2.0',
)  # fmt: skip
LIFTING_ARGUMENTS = (
    '--ros-args', '-p', 'regions:=labelled_masks', '-p', f'sensor:={SENSOR}',
    '-p', f'level_frame:={MAP}', '-p', 'max_range_m:=2.0',
    '-r', f'depth:={SENSOR}/depth', '-r', f'camera_info:={SENSOR}/camera_info',
)  # fmt: skip


class ShelfError(SpatialMemoryError):
    """A view could not be shown to the memory."""


class Shelf(NamedTuple):
    """The views.

    Attributes:
        labels: of the things. depth_mm: (V, H, W). ids: (V, H, W) place in labels + 1; 0: nothing.
        scores: (V, L). k: (3, 3). poses: (V, 4, 4) of the optical frame in the map.
        truth: label → centre by clean masks, metres, map.
    """

    labels: tuple[str, ...]
    depth_mm: np.ndarray
    ids: np.ndarray
    scores: np.ndarray
    k: np.ndarray
    poses: np.ndarray
    truth: dict[str, Triple]


def load_shelf() -> Shelf:
    """Read the views that come with the package."""
    with np.load(DATA, allow_pickle=False) as data:
        labels = tuple(str(label) for label in data['labels'])
        truth = {label: (x, y, z) for label, (x, y, z) in zip(labels, data['truth_m'].tolist())}
        depth_mm = np.round(data['depth_tenth_mm'] / 10.0).astype(np.uint16)
        return Shelf(
            labels, depth_mm, data['ids'], data['scores'], data['k'], data['poses'], truth
        )  # fmt: skip


class WristCamera(Node):
    """Shows the views to the lifting node and to the memory, each after the one before is in.

    Publishes: wrist_camera/depth, wrist_camera/camera_info, masks, detections_2d, /tf.
    Subscribes: spatial_memory/changes, for the acknowledgements.
    """

    def __init__(self, context: Context, shelf: Shelf) -> None:
        super().__init__('wrist_camera', context=context)
        from vision_msgs.msg import Detection2DArray

        self._shelf = shelf
        self._acknowledged: set[int] = set()
        deep = QoSProfile(depth=10)
        self._frames = self.create_publisher(TFMessage, '/tf', QoSProfile(depth=100))
        self._infos = self.create_publisher(CameraInfo, f'{SENSOR}/camera_info', deep)
        self._depths = self.create_publisher(Image, f'{SENSOR}/depth', deep)
        self._masks = self.create_publisher(Image, 'masks', deep)
        self._detections = self.create_publisher(Detection2DArray, 'detections_2d', deep)
        self.create_subscription(
            ChangeArray, 'spatial_memory/changes', self._on_changes, QoSProfile(depth=200)
        )
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self)

    def show(self, check: Callable[[], None]) -> int:
        """Show all views; return how many detections the network made.

        Args:
            check: called while it waits; raises when that has become pointless.

        Raises:
            ShelfError: nobody listens, or a view was not acknowledged.
        """
        listeners: Sequence[tuple[Publisher, int]] = (
            (self._frames, 2), (self._infos, 2), (self._depths, 2), (self._masks, 1),
            (self._detections, 1),
        )  # fmt: skip

        def listen() -> bool:
            check()
            return all(p.get_subscription_count() >= n for p, n in listeners)

        ready = self._spin_until(listen, READY_S)
        if not ready:
            raise ShelfError(f'the lifting node and the memory are not there after {READY_S:g} s')
        count = len(self._shelf.poses)
        first_ns = int(self.get_clock().now().nanoseconds) - count * STEP_NS
        self._infos.publish(self._info(first_ns))
        self._spin_until(lambda: False, SETTLE_S)
        for view in range(count):
            self._show(view, first_ns + view * STEP_NS, check)
        return int((self._shelf.scores > 0).sum())

    def close(self) -> None:
        """Free what the node holds."""
        self._executor.shutdown()
        self.destroy_node()

    def _show(self, view: int, stamp_ns: int, check: Callable[[], None]) -> None:
        """Send one view until it is acknowledged: images may be lost on their way."""
        until = time.monotonic() + ANSWER_S
        while time.monotonic() < until:
            check()
            self._frames.publish(TFMessage(transforms=[self._pose(view, stamp_ns)]))
            self._infos.publish(self._info(stamp_ns))
            self._depths.publish(self._image(self._shelf.depth_mm[view], '16UC1', stamp_ns))
            self._masks.publish(self._image(self._shelf.ids[view], 'mono8', stamp_ns))
            self._detections.publish(self._detected(view, stamp_ns))
            if self._spin_until(lambda: stamp_ns in self._acknowledged, AGAIN_S):
                return
        raise ShelfError(f'view {view + 1} was not acknowledged within {ANSWER_S:g} s')

    def _pose(self, view: int, stamp_ns: int) -> TransformStamped:
        pose = self._shelf.poses[view]
        message = TransformStamped(child_frame_id=FRAME)
        message.header.frame_id, message.header.stamp = MAP, time_message(stamp_ns)
        t, q = message.transform.translation, message.transform.rotation
        t.x, t.y, t.z = pose[:3, 3].tolist()
        q.x, q.y, q.z, q.w = Rotation.from_matrix(pose[:3, :3]).as_quat().tolist()
        return message

    def _info(self, stamp_ns: int) -> CameraInfo:
        _, height, width = self._shelf.ids.shape
        message = CameraInfo(width=width, height=height, k=self._shelf.k.ravel().tolist())
        message.header.frame_id, message.header.stamp = FRAME, time_message(stamp_ns)
        return message

    def _image(self, pixels: np.ndarray, encoding: str, stamp_ns: int) -> Image:
        height, width = pixels.shape
        message = Image(height=height, width=width, encoding=encoding,
                        step=width * pixels.itemsize, data=pixels.tobytes())  # fmt: skip
        message.header.frame_id, message.header.stamp = FRAME, time_message(stamp_ns)
        return message

    def _detected(self, view: int, stamp_ns: int) -> Any:
        """The network's detections, each with the id of its pixels."""
        from vision_msgs.msg import Detection2D, Detection2DArray, ObjectHypothesisWithPose

        message = Detection2DArray()
        message.header.frame_id, message.header.stamp = FRAME, time_message(stamp_ns)
        for number, (label, score) in enumerate(
            zip(self._shelf.labels, self._shelf.scores[view].tolist()), start=1
        ):
            if score > 0:
                result = ObjectHypothesisWithPose()
                result.hypothesis.class_id, result.hypothesis.score = label, score
                message.detections.append(Detection2D(id=str(number), results=[result]))
        return message

    def _on_changes(self, message: ChangeArray) -> None:
        if message.sensor == SENSOR:
            self._acknowledged.add(nanoseconds(message.header.stamp))

    def _spin_until(self, done: Callable[[], bool], deadline_s: float) -> bool:
        until = time.monotonic() + deadline_s
        while not done():
            if time.monotonic() > until:
                return False
            self._executor.spin_once(timeout_sec=SPIN_S)
        return True


def told(report: Report, objects: Sequence[MemoryObject], truth: dict[str, Triple]) -> bool:
    """Print the objects beside the truth; return whether they are those, and where they should be.

    Args:
        report: where to. objects: whatever their state. truth: label → centre.
    """
    lines = []
    worst_m = 0.0
    for one in objects:
        center = center_of(one)
        away_m = math.dist(center, truth[one.label]) if one.label in truth else math.inf
        worst_m = max(worst_m, away_m)
        lines.append((one.label, str(one.state), f'{int(one.observations)}x', _words(center),
                      f'{away_m * 100:.1f} cm'))  # fmt: skip
    report.table(('label', 'state', 'seen', 'centre x y z', 'from that of the clean masks'), lines)
    right = sorted(one.label for one in objects) == sorted(truth) and worst_m <= NEAR_M
    names = ', '.join(sorted(one.label for one in objects))
    report.say('')
    if not right:
        report.say(f'demo: FAILED: expected one each of {", ".join(sorted(truth))}, within 3 cm')
    report.say(f'{len(objects)} objects: {names}; all within {worst_m * 100:.1f} cm')
    return right


def _words(center: Triple) -> str:
    return ' '.join(f'{value:6.2f}' for value in center)
