# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Looks and frames as messages. Every value is converted to the field's type here."""

from __future__ import annotations

import array
from collections.abc import Iterable

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Quaternion, TransformStamped, Vector3
from spatial_memory.msg import Detection, DetectionArray, FieldOfView
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from memory_node.demo.flat import Look
from memory_node.demo.trajectory import OPTICAL, Transform
from memory_node.model import Detection as Claim
from memory_node.model import FieldOfView as Opening
from memory_node.model import Floats
from memory_node.model import Quaternion as Xyzw

NS_PER_S = 10**9


def time_message(stamp_ns: int) -> Time:
    """Return a time as a message."""
    seconds, rest = divmod(int(stamp_ns), NS_PER_S)
    return Time(sec=seconds, nanosec=rest)


def nanoseconds(stamp: Time) -> int:
    """Return a message's time, ns."""
    return int(stamp.sec) * NS_PER_S + int(stamp.nanosec)


def frames_message(transforms: Iterable[Transform], stamp_ns: int) -> TFMessage:
    """Return frames at one time, for /tf or /tf_static."""
    return TFMessage(transforms=[_transform(t, stamp_ns) for t in transforms])


def look_message(look: Look, stamp_ns: int, sensor: str) -> DetectionArray:
    """Return a look as the detector would send it: boxes in the sensor's optical frame."""
    message = empty_message(stamp_ns, sensor)
    view = look.shown.view
    if view.field_of_view is not None:
        message.field_of_view = _field_of_view(view.field_of_view)
    x, y, z, w = look.stand.orientation_xyzw
    map_aligned = (-x, -y, -z, w)
    message.detections = [
        _detection(claim, center, map_aligned)
        for claim, center in zip(view.detections, look.optical_centers_m, strict=True)
    ]
    return message


def empty_message(stamp_ns: int, sensor: str) -> DetectionArray:
    """Return a message without detections and field of view: nothing follows from it."""
    header = Header(stamp=time_message(stamp_ns), frame_id=OPTICAL)
    return DetectionArray(header=header, sensor=str(sensor))


def _detection(claim: Claim, center_m: Floats, orientation: Xyzw) -> Detection:
    message = Detection(label=str(claim.label), score=float(claim.score))
    message.pose.position = _point(center_m)
    message.pose.orientation = _quaternion(orientation)
    message.size = _vector(claim.size_m)
    if claim.position_cov is not None:
        # The same along all axes, hence the same in every frame.
        message.position_covariance = np.asarray(claim.position_cov, dtype=float).ravel().tolist()
    if claim.feature is not None:
        message.feature = array.array('f', np.asarray(claim.feature, dtype=np.float32).tobytes())
    return message


def _field_of_view(opening: Opening) -> FieldOfView:
    return FieldOfView(
        horizontal_rad=float(opening.horizontal_rad),
        vertical_rad=float(opening.vertical_rad),
        min_range_m=float(opening.min_range_m),
        max_range_m=float(opening.max_range_m),
    )


def _transform(transform: Transform, stamp_ns: int) -> TransformStamped:
    message = TransformStamped(
        header=Header(stamp=time_message(stamp_ns), frame_id=transform.parent),
        child_frame_id=transform.child,
    )
    message.transform.translation = _vector(transform.translation_m)
    message.transform.rotation = _quaternion(transform.rotation_xyzw)
    return message


def _point(values: Iterable[float]) -> Point:
    x, y, z = (float(v) for v in values)
    return Point(x=x, y=y, z=z)


def _vector(values: Iterable[float]) -> Vector3:
    x, y, z = (float(v) for v in values)
    return Vector3(x=x, y=y, z=z)


def _quaternion(xyzw: Xyzw) -> Quaternion:
    x, y, z, w = (float(v) for v in xyzw)
    return Quaternion(x=x, y=y, z=z, w=w)
