# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the named sensors see beside their detections: NAME/camera_info and NAME/depth."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any

from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image

from memory_node.config import NodeConfig
from memory_node.model import FieldOfView, View
from memory_node.ros import conversions, depth, qos
from memory_node.ros.depth import CameraError, Intrinsics
from memory_node.ros.inputs import Input
from memory_node.ros.transform_buffer import frame_name

INFO, DEPTH = 'camera_info', 'depth'
KEPT = 20
"""Depth images that are kept for views which are still to come, or wait for a transform."""
ALIVE_S = 2.0
"""A camera that has sent no depth for so long is not waited for."""
FRAME = 'camera_frame'
NO_INFO = 'camera_info_missing'
LATE, UNMATCHED = 'depth_late', 'depth_unmatched'

REASONS = {
    depth.NO_INTRINSICS: 'K and P of camera_info are zero, or make no camera',
    NO_INFO: 'depth came, but no camera_info',
    FRAME: 'camera_info or depth is of another frame than the sensor of the view',
    depth.ENCODING: 'the depth image is neither 32FC1 nor 16UC1',
    depth.SIZE: 'the depth image has another size than camera_info says',
    depth.DATA: 'the depth image has more or fewer bytes than it says',
    LATE: 'no depth of its time had come after depth_wait_s',
    UNMATCHED: 'no depth image is within depth_tolerance_s of its stamp',
}
"""Why a view was judged without depth, beside the reasons of the core."""


class Camera:
    """The two topics of one sensor; nothing is decoded before a view needs it."""

    def __init__(self, node: Node, sensor: str, group: CallbackGroup) -> None:
        """Create it; `start` subscribes."""
        self._sensor = sensor
        self._lock = threading.Lock()
        self._inputs = {
            topic: Input(
                node, kind, f'{sensor}/{topic}', qos.images, qos.sensor_data, callback_group=group
            )
            for topic, kind in ((INFO, CameraInfo), (DEPTH, Image))
        }
        self._info: CameraInfo | None = None
        self._images: deque[tuple[int, Image]] = deque(maxlen=KEPT)
        self._depth_at = -ALIVE_S
        self._changed: Callable[[], None] = _nothing

    def start(self, changed: Callable[[], None]) -> None:
        """Subscribe; `changed` is called after each depth image."""
        self._changed = changed
        self._inputs[INFO].start(self._take_info)
        self._inputs[DEPTH].start(self._take_depth)

    def stop(self) -> None:
        """Unsubscribe, and forget what came."""
        for source in self._inputs.values():
            source.stop()
        with self._lock:
            self._info, self._depth_at = None, -ALIVE_S
            self._images.clear()

    def _take_info(self, message: CameraInfo) -> None:
        with self._lock:
            self._info = message

    def _take_depth(self, message: Image) -> None:
        with self._lock:
            self._images.append((conversions.stamp_to_ns(message.header.stamp), message))
            self._depth_at = time.monotonic()
        self._changed()

    def is_late(self, stamp_ns: int, tolerance_ns: float) -> bool:
        """Whether the depth of a view may still come: the camera sends some, all of it older."""
        with self._lock:
            newest_ns = max((stamp for stamp, _ in self._images), default=0)
            alive = time.monotonic() - self._depth_at < ALIVE_S
            return alive and newest_ns < stamp_ns - tolerance_ns

    def found(self, stamp_ns: int, tolerance_ns: float) -> tuple[CameraInfo | None, Image | None]:
        """The camera's info, and the depth image nearest to a stamp; None where there is none.

        Raises:
            CameraError: depth comes, but none of that time.
        """
        with self._lock:
            info, images = self._info, list(self._images)
        if not images:
            return info, None
        nearest_ns, image = min(images, key=lambda item: abs(item[0] - stamp_ns))
        away_ns = abs(nearest_ns - stamp_ns)
        if away_ns > tolerance_ns:
            late = max(stamp for stamp, _ in images) < stamp_ns
            raise CameraError(
                LATE if late else UNMATCHED,
                f'depth of {self._sensor!r}: the nearest one is {away_ns / 1e9:.3f} s away',
            )
        return info, image


class Cameras:
    """Gives views the field of view and the depth of the cameras that took them."""

    def __init__(
        self, node: Node, settings: Callable[[], NodeConfig], on_problem: Callable[[str, str], None]
    ) -> None:
        """Create it; `start` subscribes.

        Args:
            node: whose subscriptions they are.
            settings: returns what the parameters say.
            on_problem: told why something cannot be used: reason, and details in words.
        """
        self._settings, self._on_problem = settings, on_problem
        group = MutuallyExclusiveCallbackGroup()
        self._cameras = {name: Camera(node, name, group) for name in settings().sensors}
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def start(self, changed: Callable[[], None]) -> None:
        """Subscribe; `changed` is called when something came that views may wait for."""
        for camera in self._cameras.values():
            camera.start(changed)

    def stop(self) -> None:
        """Unsubscribe."""
        for camera in self._cameras.values():
            camera.stop()

    def counts(self) -> dict[str, int]:
        """Return reason → views judged without what a camera should have told."""
        with self._lock:
            return dict(self._counts)

    def waits_for(self, view: View) -> bool:
        """Whether it is worth waiting for the depth of a view."""
        camera = self._cameras.get(view.sensor)
        if camera is None or view.sensor_pose is None:
            return False
        return camera.is_late(view.stamp_ns, self._settings().depth_tolerance_s * 1e9)

    def complete(self, view: View, frame: str) -> View:
        """Return a view with the field of view and the depth of its camera, as far as they are.

        What cannot be used is counted. Depth that contradicts its camera takes the field of view
        along: what such a view does not show tells nothing.

        Args:
            view: in the map. frame: optical frame of its sensor; empty: unknown.
        """
        camera = self._cameras.get(view.sensor)
        if camera is None or view.sensor_pose is None:
            return view
        settings = self._settings()
        info = image = None
        try:
            info, image = camera.found(view.stamp_ns, settings.depth_tolerance_s * 1e9)
        except CameraError as error:
            self._count(error)
            info, _ = camera.found(view.stamp_ns, float('inf'))
        try:
            return _completed(view, frame, info, image, settings)
        except CameraError as error:
            self._count(error)
            return dataclasses.replace(view, field_of_view=None)

    def _count(self, error: CameraError) -> None:
        with self._lock:
            self._counts[error.reason] += 1
        self._on_problem(error.reason, str(error))


def _completed(
    view: View, frame: str, info: Any | None, image: Any | None, settings: NodeConfig
) -> View:
    """A view with what its camera says.

    Raises:
        CameraError: that contradicts itself, or cannot be used.
    """
    if info is None:
        if image is None:
            return view
        raise CameraError(NO_INFO, f'{view.sensor}/{INFO}: nothing came, expected it beside depth')
    _same_frame((info, image), frame, view.sensor)
    intrinsics = depth.intrinsics_of(info)
    fov = view.field_of_view or _field_of_view(intrinsics, settings)
    found = None if image is None else depth.depth_of(image, intrinsics)
    return dataclasses.replace(view, field_of_view=fov, depth=found)


def _field_of_view(intrinsics: Intrinsics, settings: NodeConfig) -> FieldOfView:
    return depth.field_of_view_of(
        intrinsics, settings.camera_min_range_m, settings.camera_max_range_m
    )


def _same_frame(messages: Iterable[Any], frame: str, sensor: str) -> None:
    for message in messages:
        given = '' if message is None else frame_name(message.header.frame_id)
        if given and frame_name(frame) != given:
            raise CameraError(
                FRAME, f'camera of {sensor!r}: got frame {given!r}, expected {frame_name(frame)!r}'
            )


def _nothing() -> None:
    return None
