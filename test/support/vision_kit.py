# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Messages of vision_msgs, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from node_kit import NS
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose


def seen(
    results: Mapping[str, float],
    at: Sequence[float] = (1.0, 0.0, 0.5),
    *,
    size: Sequence[float] = (0.1, 0.1, 0.2),
    frame: str = '',
    stamp_ns: int = 0,
    covariance: Sequence[float] = (),
    number: str = '',
) -> Detection3D:
    """One detection; results: class id → score."""
    message = Detection3D(id=number)
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, NS)
    p, s = message.bbox.center.position, message.bbox.size
    p.x, p.y, p.z = map(float, at)
    s.x, s.y, s.z = map(float, size)
    message.bbox.center.orientation.w = 1.0
    for class_id, score in results.items():
        result = ObjectHypothesisWithPose()
        result.hypothesis.class_id, result.hypothesis.score = class_id, float(score)
        if len(covariance):
            result.pose.covariance = [float(c) for c in covariance]
        message.results.append(result)
    return message


def array(*detections: Detection3D, stamp_ns: int, frame: str = 'map') -> Any:
    """One message of a detector."""
    message = Detection3DArray(detections=list(detections))
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(int(stamp_ns), NS)
    return message
