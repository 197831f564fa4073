# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated world as messages: camera, masks and their names, frames, and the truth."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import TransformStamped
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import CameraInfo, Image
from std_msgs.msg import Header, String

from memory_node.model import Triple
from memory_node.ros.conversions import stamp_from_ns
from memory_node.sim.route import Stand
from memory_node.sim.scene import CENTER_PX, FOCAL_PX, HEIGHT, WIDTH
from memory_node.sim.script import Done
from memory_node.sim.world import Left, Real

MAP, ODOM, BASE = 'map', 'odom', 'base_link'
FARTHEST_M = 65.0
"""What 16 bits of millimetres hold."""


def optical_frame(sensor: str) -> str:
    """Return the name of the frame of a camera."""
    return f'{sensor}_optical'


def header(frame: str, stamp_ns: int) -> Header:
    """Return a header."""
    return Header(frame_id=frame, stamp=stamp_from_ns(stamp_ns))


def camera_info(frame: str, stamp_ns: int) -> CameraInfo:
    """Return what the camera is like."""
    (cx, cy), f = CENTER_PX, FOCAL_PX
    return CameraInfo(
        header=header(frame, stamp_ns), width=WIDTH, height=HEIGHT,
        k=[f, 0.0, cx, 0.0, f, cy, 0.0, 0.0, 1.0],
    )  # fmt: skip


def image(pixels: np.ndarray, encoding: str, frame: str, stamp_ns: int) -> Image:
    """Return an image as it is."""
    pixels = np.ascontiguousarray(pixels)
    height, width, *channels = pixels.shape
    return Image(
        header=header(frame, stamp_ns), height=height, width=width, encoding=encoding,
        step=width * math.prod(channels) * pixels.itemsize, data=pixels.tobytes(),
    )  # fmt: skip


def depth_image(depth_m: np.ndarray, frame: str, stamp_ns: int) -> Image:
    """Return depth in millimetres, 0 where there is none."""
    depth_mm = np.round(np.clip(depth_m, 0.0, FARTHEST_M) * 1000.0).astype(np.uint16)
    return image(depth_mm, '16UC1', frame, stamp_ns)


def names_message(labels: Mapping[int, str]) -> String:
    """Return which number in the masks is what, as Isaac Sim says it."""
    return String(data=json.dumps({str(body): {'class': name} for body, name in labels.items()}))


def robot_frames(stand: Stand, sensor: str, stamp_ns: int) -> list[TransformStamped]:
    """Return odom → base_link, and base_link → the camera, which pans and tilts."""
    x, y, z = stand.eye_m
    base = Rotation.from_euler('z', stand.yaw_rad)
    camera = base.inv() * Rotation.from_matrix(stand.rotation)
    return [
        _frame(ODOM, BASE, (x, y, 0.0), base, stamp_ns),
        _frame(BASE, optical_frame(sensor), (0.0, 0.0, z), camera, stamp_ns),
    ]


def map_frame(stamp_ns: int) -> TransformStamped:
    """Return map → odom: the robot knows where it is."""
    return _frame(MAP, ODOM, (0.0, 0.0, 0.0), Rotation.identity(), stamp_ns)


def truth_message(real: Iterable[Real], stamp_ns: int) -> Any:
    """Return what there is as a vision_msgs/Detection3DArray.

    Each has the unique name of the thing as id; the first result is its label, with score 1 where
    the camera shows it in this image; the second one its state.
    """
    from vision_msgs.msg import Detection3DArray

    message = Detection3DArray(header=header(MAP, stamp_ns))
    message.detections = [
        _detection(one.name, (one.label, one.state), one.observable, one.center_m, one.size_m,
                   stamp_ns)
        for one in real
    ]  # fmt: skip
    return message


def left_message(left: Iterable[Left], stamp_ns: int) -> Any:
    """Return the places that things have left as a vision_msgs/Detection3DArray.

    Each has the name of the thing as id and the time at which it left as stamp; the first result
    is its label, with score 1 where this image shows the place empty; the second one says what
    happened (move, remove, stow), with score 1 where the robot did it.
    """
    from vision_msgs.msg import Detection3DArray

    message = Detection3DArray(header=header(MAP, stamp_ns))
    for one in left:
        done: Done = one.done
        detection = _detection(
            done.thing.name, (done.thing.label, done.act.value), one.observable, done.from_m,
            done.thing.size_m, done.at_ns, float(done.by_robot),
        )  # fmt: skip
        message.detections.append(detection)
    return message


def _detection(
    name: str, words: tuple[str, str], observable: bool, center_m: Triple, size_m: Triple,
    stamp_ns: int, second_score: float = 1.0,
) -> Any:  # fmt: skip
    from vision_msgs.msg import Detection3D, ObjectHypothesisWithPose

    message = Detection3D(id=str(name), header=header(MAP, stamp_ns))
    p, s = message.bbox.center.position, message.bbox.size
    p.x, p.y, p.z = (float(v) for v in center_m)
    s.x, s.y, s.z = (float(v) for v in size_m)
    message.bbox.center.orientation.w = 1.0
    for word, score in zip(words, (float(observable), second_score)):
        result = ObjectHypothesisWithPose()
        result.hypothesis.class_id, result.hypothesis.score = str(word), score
        message.results.append(result)
    return message


def _frame(
    parent: str, child: str, place_m: Triple, turn: Rotation, stamp_ns: int
) -> TransformStamped:  # fmt: skip
    message = TransformStamped(header=header(parent, stamp_ns), child_frame_id=child)
    t, q = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = (float(v) for v in place_m)
    q.x, q.y, q.z, q.w = turn.as_quat().tolist()
    return message
