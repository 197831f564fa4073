# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""vision_msgs in and out: `detections_vision` becomes views, the memory ~/objects_vision, and
what it follows ~/tracks_vision.

The package is optional: without it there is none of these.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rclpy.lifecycle import LifecycleNode
from spatial_memory.msg import Detection, DetectionArray, LabelWeight
from std_msgs.msg import Header

from memory_node.memory import SpatialMemory
from memory_node.model import (
    IDENTITY,
    Commit,
    MemoryObject,
    Quaternion,
    State,
    Track,
    Triple,
)
from memory_node.perception.adapters import ClassNames, claim_of, position_covariance
from memory_node.ros import conversions, qos
from memory_node.ros.board import Board, OnProblem, gently
from memory_node.ros.scene import PERIOD_S, SIGHTING_PERIOD_S
from memory_node.ros.transform_buffer import frame_name

TRACK_PERIOD_S = 0.1


def has_vision_msgs() -> bool:
    """Whether the package is installed."""
    return importlib.util.find_spec('vision_msgs') is not None


def arrays_of(message: Any, names: ClassNames) -> list[DetectionArray]:
    """Return a vision_msgs/Detection3DArray as views, in the frames in which it is given.

    A view is what was detected at one instant in one frame: detections that name a frame or a
    stamp of their own (not empty, not zero) go into views of their own, one for each. An array
    without detections is one empty view.

    Args:
        message: a Detection3DArray.
        names: of the class ids.
    """
    views: dict[tuple[str, int], DetectionArray] = {}
    for given in message.detections:
        frame, stamp_ns = _frame_and_stamp(given.header, message.header)
        view = views.get((frame, stamp_ns))
        if view is None:
            view = views[frame, stamp_ns] = _view(frame, stamp_ns)
        view.detections.append(_detection(given, names))
    if not views:
        return [_view(*_frame_and_stamp(message.header, message.header))]
    return list(views.values())


def _frame_and_stamp(own: Header, array: Header) -> tuple[str, int]:
    stamp_ns = conversions.stamp_to_ns(own.stamp) or conversions.stamp_to_ns(array.stamp)
    return frame_name(own.frame_id) or frame_name(array.frame_id), stamp_ns


def _view(frame: str, stamp_ns: int) -> DetectionArray:
    view = DetectionArray()
    view.header.frame_id = frame
    view.header.stamp = conversions.stamp_from_ns(stamp_ns)
    return view


def _detection(given: Any, names: ClassNames) -> Detection:
    guesses = ((r.hypothesis.class_id, r.hypothesis.score) for r in given.results)
    claim = claim_of(guesses, names)
    detection = Detection(
        label=claim.label,
        score=float(claim.score),
        alternatives=[
            LabelWeight(label=label, weight=float(score))
            for label, score in claim.alternatives.items()
        ],
        pose=given.bbox.center,
        size=given.bbox.size,
        track_id=str(given.id),
    )
    if given.results:
        detection.position_covariance = position_covariance(given.results[0].pose.covariance)
    return detection


class VisionBoard(Board):
    """Publishes ~/objects_vision: confirmed objects, latched; only with a subscriber.

    Of each object: its id, its box, and every label with its share of the evidence.
    """

    def __init__(
        self,
        node: LifecycleNode,
        map_frame: str,
        max_objects: Callable[[], int],
        on_problem: OnProblem,
    ) -> None:
        """Create the publisher; needs vision_msgs.

        Args:
            node: whose it is.
            map_frame: frame of all poses.
            max_objects: returns how many objects to show at most.
            on_problem: told of what could not be published.
        """
        from vision_msgs.msg import Detection3DArray

        self._map_frame, self._max_objects = map_frame, max_objects
        super().__init__(
            node, Detection3DArray, '~/objects_vision', qos.state(), on_problem,
            period_s=PERIOD_S, sighting_period_s=SIGHTING_PERIOD_S, lazy=True,
        )  # fmt: skip

    def _messages(self, memory: SpatialMemory, ids: set[int] | None) -> Iterator[Any]:
        from vision_msgs.msg import Detection3DArray

        page = memory.page(limit=self._max_objects(), states=[State.CONFIRMED])
        array = Detection3DArray()
        array.header.frame_id = self._map_frame
        array.header.stamp = conversions.stamp_from_ns(page.stamp_ns)
        array.detections = [object_to_vision(o, self._map_frame) for o in gently(page)]
        yield array


class TracksBoard(Board):
    """Publishes ~/tracks_vision: the mobile things in sight, where `track_mobile` is on."""

    def __init__(self, node: LifecycleNode, map_frame: str, on_problem: OnProblem) -> None:
        """Create the publisher; needs vision_msgs.

        Args:
            node: whose it is.
            map_frame: frame of all poses.
            on_problem: told of what could not be published.
        """
        from vision_msgs.msg import Detection3DArray

        self._map_frame = map_frame
        super().__init__(
            node, Detection3DArray, '~/tracks_vision', qos.state(), on_problem,
            period_s=TRACK_PERIOD_S, sighting_period_s=None, lazy=True,
        )  # fmt: skip

    def changed(self, commit: Commit) -> None:
        """Take note of a commit: each view may have moved what is followed."""
        if self._publisher.get_subscription_count():
            self._note(TRACK_PERIOD_S)

    def _messages(self, memory: SpatialMemory, ids: set[int] | None) -> Iterator[Any]:
        from vision_msgs.msg import Detection3DArray

        if not memory.config.track_mobile:
            return
        array = Detection3DArray()
        array.header.frame_id = self._map_frame
        array.header.stamp = conversions.stamp_from_ns(memory.newest_stamp_ns)
        array.detections = [track_to_vision(t, self._map_frame) for t in memory.tracks()]
        yield array


def track_to_vision(track: Track, map_frame: str) -> Any:
    """Return what is followed as a vision_msgs/Detection3D; its stamp is that it was seen last."""
    return _to_vision(
        track.id, {track.label: 1.0}, track.center_m, IDENTITY, track.size_m, track.last_seen_ns,
        map_frame,
    )  # fmt: skip


def object_to_vision(obj: MemoryObject, map_frame: str) -> Any:
    """Return an object as a vision_msgs/Detection3D; its stamp is that of the last sighting."""
    return _to_vision(
        obj.id, obj.labels, obj.center_m, obj.orientation_xyzw, obj.size_m, obj.last_seen_ns,
        map_frame,
    )  # fmt: skip


def _to_vision(
    number: int, labels: Mapping[str, float], center_m: Triple, turn: Quaternion, size_m: Triple,
    stamp_ns: int, map_frame: str,
) -> Any:  # fmt: skip
    from vision_msgs.msg import Detection3D, ObjectHypothesisWithPose

    message = Detection3D(id=str(number))
    message.header.frame_id = str(map_frame)
    message.header.stamp = conversions.stamp_from_ns(stamp_ns)
    message.bbox.center = conversions.pose_to_msg(center_m, turn)
    size = message.bbox.size
    size.x, size.y, size.z = map(float, size_m)
    whole = sum(labels.values()) or 1.0
    results = []
    for label, mass in labels.items():
        result = ObjectHypothesisWithPose()
        result.hypothesis.class_id, result.hypothesis.score = str(label), float(mass / whole)
        result.pose.pose = message.bbox.center
        results.append(result)
    message.results = results
    return message
