# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Messages to the words of the core and back: pure functions, nothing else.

Lengths are metres, orientations quaternions (x, y, z, w), times int64 nanoseconds. Messages in may
be in any frame: the caller says how it stands to the map. Messages out are in the map frame. What a
detector claims passes untouched where it is malformed: the core refuses each detection alone.

Fields are set through float(), int() or str(), since a wrong type ends the process or is sent as
garbage. Nested messages that are there already are filled, since a new one costs as much as all the
rest; what an answer or a change holds many of is made without them: see `ros.blank`.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Vector3
from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import Quaternion as QuaternionMsg
from spatial_memory import msg

from memory_node import model
from memory_node.ros import facts, pins
from memory_node.ros.blank import blank
from memory_node.scene.transform import Transform

_NANOSECONDS = 1_000_000_000
FOREVER_S = 1e12
"""Half-life in an object read from a message: that of its class is not sent."""
_INT32, _UINT32 = 2**31, 2**32


def stamp_to_ns(stamp: Time) -> int:
    """Return a stamp in nanoseconds."""
    return int(stamp.sec) * _NANOSECONDS + int(stamp.nanosec)


def stamp_from_ns(stamp_ns: int) -> Time:
    """Return nanoseconds as a stamp; beyond what its int32 seconds hold, the nearest one."""
    stamp = blank(Time)
    _fill_stamp(stamp, stamp_ns)
    return stamp


def triple_from_msg(value: Point | Vector3) -> model.Triple:
    """Return a point or vector as it is."""
    return value.x, value.y, value.z


def pose_from_msg(pose: PoseMsg) -> model.Pose:
    """Return a pose as it is; nothing is checked or normalised."""
    q = pose.orientation
    return model.Pose(triple_from_msg(pose.position), (q.x, q.y, q.z, q.w))


def pose_to_msg(position_m: Sequence[float], orientation_xyzw: Sequence[float]) -> PoseMsg:
    """Return a pose message."""
    pose = blank(PoseMsg)
    pose.position, pose.orientation = blank(Point), blank(QuaternionMsg)
    _fill_pose(pose, position_m, orientation_xyzw)
    return pose


def sensor_frame_of(message: msg.DetectionArray, map_frame: str) -> str:
    """Return the optical frame of the sensor; empty: it is not said."""
    frame = str(message.header.frame_id)
    declared = '' if frame.lstrip('/') == map_frame.lstrip('/') else frame
    return str(message.sensor_frame) or declared


def view_from_msg(
    message: msg.DetectionArray,
    to_map: Transform,
    sensor_pose: model.Pose | None,
    map_id: str,
    clock: str,
) -> model.View:
    """Return what a detector claims, in the map frame.

    Args:
        message: not changed; the features of the view share its memory.
        to_map: map ← frame of the header, at the stamp.
        sensor_pose: of the optical frame in the map; None: unknown.
        map_id: identity of the map.
        clock: 'wall' or 'sim'.
    """
    return model.View(
        stamp_ns=stamp_to_ns(message.header.stamp),
        sensor=str(message.sensor or message.header.frame_id),
        detections=_detections(message.detections, to_map),
        sensor_pose=sensor_pose,
        field_of_view=field_of_view_from_msg(message.field_of_view),
        map_id=map_id,
        clock=clock,
        feature_space=str(message.feature_space),
    )


def view_to_msg(view: model.View, map_frame: str) -> msg.DetectionArray:
    """Return a view as a message in the map frame; what it knows of the sensor's pose is lost."""
    message = msg.DetectionArray(sensor=str(view.sensor))
    message.header.frame_id = str(map_frame)
    _fill_stamp(message.header.stamp, view.stamp_ns)
    if (fov := view.field_of_view) is not None:
        for name in ('horizontal_rad', 'vertical_rad', 'min_range_m', 'max_range_m'):
            setattr(message.field_of_view, name, float(getattr(fov, name)))
    message.detections = [detection_to_msg(d) for d in view.detections]
    return message


def detection_to_msg(detection: model.Detection) -> msg.Detection:
    """Return a detection as a message in the frame in which its pose is given."""
    message = msg.Detection(
        label=str(detection.label),
        score=float(detection.score),
        alternatives=_weights_to_msg(detection.alternatives),
        track_id=str(detection.track_id),
    )
    _fill_pose(message.pose, detection.center_m, detection.orientation_xyzw)
    _fill_three(message.size, detection.size_m)
    if detection.position_cov is not None:
        message.position_covariance = np.array(detection.position_cov, np.float64).reshape(9)
    if detection.feature is not None:
        message.feature = array('f', np.asarray(detection.feature, np.float32).tobytes())
    return message


def field_of_view_from_msg(message: msg.FieldOfView) -> model.FieldOfView | None:
    """Return what the sensor could see; all zero is not declared: None."""
    values = (
        message.horizontal_rad, message.vertical_rad, message.min_range_m, message.max_range_m,
    )  # fmt: skip
    return model.FieldOfView(*values) if any(values) else None


def object_to_msg(obj: model.MemoryObject) -> msg.MemoryObject:
    """Return an object as a message."""
    message = blank(msg.MemoryObject)
    message.id = int(obj.id)
    message.label = str(obj.label)
    message.labels = _weights_to_msg(obj.labels)
    message.state = str(obj.state)
    message.pose = pose_to_msg(obj.center_m, obj.orientation_xyzw)
    message.size = blank(Vector3)
    _fill_three(message.size, obj.size_m)
    message.confidence = float(obj.confidence)
    odds = obj.standing.odds
    message.presence = 1.0 if obj.stated else float(odds / (1.0 + odds))
    message.last_check = str(obj.last_check)
    message.last_checked = stamp_from_ns(obj.last_checked_ns)
    message.in_motion = bool(obj.in_motion)
    message.observations = min(int(obj.observations), _UINT32 - 1)
    message.first_seen = stamp_from_ns(obj.first_seen_ns)
    message.last_seen = stamp_from_ns(obj.last_seen_ns)
    message.region = str(obj.region)
    message.map_id = str(obj.map_id)
    message.pins = [pins.to_msg(pin) for pin in obj.pins.values()]
    message.properties = []
    return message


def object_from_msg(message: msg.MemoryObject) -> model.MemoryObject:
    """Return an object from a message."""
    pose = pose_from_msg(message.pose)
    return model.MemoryObject(
        id=message.id,
        label=message.label,
        labels=_weights_from_msg(message.labels),
        state=model.State(message.state),
        center_m=pose.position_m,
        orientation_xyzw=pose.orientation_xyzw,
        size_m=triple_from_msg(message.size),
        confidence=message.confidence,
        observations=message.observations,
        first_seen_ns=stamp_to_ns(message.first_seen),
        last_seen_ns=stamp_to_ns(message.last_seen),
        map_id=message.map_id,
        pins={pin.aspect: pin for pin in map(pins.from_msg, message.pins)},
        last_checked_ns=stamp_to_ns(message.last_checked),
        last_check=model.Check(message.last_check),
        in_motion=bool(message.in_motion),
        standing=_standing_from_msg(message),
        region=message.region,
    )


def observation_to_msg(observation: model.Observation) -> msg.ObservationRecord:
    """Return a sighting as a message."""
    message = msg.ObservationRecord(
        id=int(observation.id),
        object_id=int(observation.object_id or 0),
        view_seq=int(observation.view_seq),
        sensor=str(observation.sensor),
        label=str(observation.label),
        score=float(observation.score),
        verdict=str(observation.verdict),
        reason=str(observation.reason),
        terms=_terms_to_msg(observation.terms),
        candidate_id=int(observation.candidate_id or 0),
    )
    _fill_stamp(message.stamp, observation.stamp_ns)
    _fill_stamp(message.recorded, observation.recorded_ns)
    _fill_pose(message.pose, observation.center_m, observation.orientation_xyzw)
    _fill_three(message.size, observation.size_m)
    return message


def observation_from_msg(message: msg.ObservationRecord) -> model.Observation:
    """Return a sighting from a message."""
    pose = pose_from_msg(message.pose)
    return model.Observation(
        id=message.id,
        object_id=message.object_id or None,
        view_seq=message.view_seq,
        stamp_ns=stamp_to_ns(message.stamp),
        recorded_ns=stamp_to_ns(message.recorded),
        sensor=message.sensor,
        label=message.label,
        score=message.score,
        center_m=pose.position_m,
        orientation_xyzw=pose.orientation_xyzw,
        size_m=triple_from_msg(message.size),
        verdict=model.VerdictKind(message.verdict),
        reason=message.reason,
        terms=_terms_from_msg(message.terms),
        candidate_id=message.candidate_id or None,
    )


def change_to_msg(change: model.Change) -> msg.Change:
    """Return a line of the log as a message; without its object only the id of that is known."""
    message = blank(msg.Change)
    message.seq, message.kind = int(change.seq), str(change.kind)
    message.actor, message.reason = str(change.actor), str(change.reason)
    message.before, message.after = facts.to_msg(change.before), facts.to_msg(change.after)
    if change.object is not None:
        message.object = object_to_msg(change.object)
    else:
        message.object = msg.MemoryObject(id=int(change.object_id or 0))
    message.stamp = stamp_from_ns(change.stamp_ns)
    message.recorded = stamp_from_ns(change.recorded_ns)
    return message


def change_from_msg(message: msg.Change) -> model.Change:
    """Return a line of the log from a message."""
    return model.Change(
        seq=message.seq,
        kind=model.ChangeKind(message.kind),
        object_id=message.object.id or None,
        stamp_ns=stamp_to_ns(message.stamp),
        recorded_ns=stamp_to_ns(message.recorded),
        actor=message.actor,
        reason=message.reason,
        before=facts.from_msg(message.before),
        after=facts.from_msg(message.after),
        object=object_from_msg(message.object) if message.object.state else None,
    )


def commit_to_change_array(
    commit: model.Commit,
    *,
    stamp_ns: int,
    sensor: str,
    store_id: str,
    durable_seq: int,
    map_frame: str,
) -> msg.ChangeArray:
    """Return what one commit put on disk as the message for the feed.

    Args:
        commit: of a view that was stored, or of a request.
        stamp_ns: of the view or the request.
        sensor: of the view; empty for a request.
        store_id: identity of the store.
        durable_seq: log lines up to this one survive a power cut.
        map_frame: name of the frame of all poses.
    """
    message = msg.ChangeArray(
        sensor=str(sensor),
        store_id=str(store_id),
        first_seq=int(commit.first_seq),
        last_seq=int(commit.seq),
        durable_seq=int(durable_seq),
        changes=[
            change_to_msg(change)
            for change in commit.changes
            if change.kind is not model.ChangeKind.VIEW
        ],
    )
    _fill_stamp(message.header.stamp, stamp_ns)
    message.header.frame_id = str(map_frame)
    return message


def hit_to_msg(hit: model.Hit) -> msg.Hit:
    """Return an answer as a message."""
    message = blank(msg.Hit)
    message.object = object_to_msg(hit.object)
    message.score, message.presence = float(hit.score), float(hit.presence)
    message.terms = _terms_to_msg(hit.terms)
    return message


def hit_from_msg(message: msg.Hit) -> model.Hit:
    """Return an answer from a message."""
    obj, terms = object_from_msg(message.object), _terms_from_msg(message.terms)
    return model.Hit(obj, message.score, terms, message.presence)


def relation_to_msg(relation: model.Relation, labels: Mapping[int, str]) -> msg.Relation:
    """Return a relation as a message; labels: object id → label, as far as known."""
    return msg.Relation(
        subject_id=int(relation.subject_id),
        subject_label=str(labels.get(relation.subject_id, '')),
        relation=str(relation.kind),
        object_id=int(relation.object_id),
        object_label=str(labels.get(relation.object_id, '')),
        confidence=float(relation.confidence),
        stated=bool(relation.stated),
        since=stamp_from_ns(relation.since_ns),
    )


def relation_from_msg(message: msg.Relation) -> model.Relation:
    """Return a relation from a message."""
    return model.Relation(
        message.subject_id,
        message.relation,
        message.object_id,
        message.confidence,
        message.stated,
        stamp_to_ns(message.since),
    )


def limit_from_request(limit: int) -> int:
    """Return the limit that is meant: 0 is the default; the core refuses one out of range."""
    return int(limit) or model.Query().limit


def _detections(
    messages: Sequence[msg.Detection], to_map: Transform
) -> tuple[model.Detection, ...]:
    if not messages:
        return ()
    poses = [pose_from_msg(m.pose) for m in messages]
    centers = to_map.apply([p.position_m for p in poses]).tolist()
    turns = to_map.rotate([p.orientation_xyzw for p in poses]).tolist()
    raw = np.array([m.position_covariance for m in messages], np.float64).reshape(-1, 3, 3)
    known = raw.any(axis=(1, 2)).tolist()
    covariances = to_map.rotate_covariances(raw)
    return tuple(
        model.Detection(
            label=m.label,
            score=m.score,
            center_m=tuple(centers[i]),
            size_m=triple_from_msg(m.size),
            orientation_xyzw=tuple(turns[i]),
            position_cov=covariances[i] if known[i] else None,
            feature=feature_from_msg(m.feature),
            alternatives=_weights_from_msg(m.alternatives),
            track_id=m.track_id,
        )
        for i, m in enumerate(messages)
    )


def feature_from_msg(values: array[float]) -> npt.NDArray[np.float32] | None:
    """Return a feature; an empty one is none."""
    return np.frombuffer(values, np.float32) if len(values) else None


def _standing_from_msg(message: msg.MemoryObject) -> model.Standing:
    """What is known of its presence, at the time of its last check; how it ages is not said."""
    share = message.presence  # 1 only of what was stated, which needs no odds
    odds = share / (1.0 - share) if share < 1.0 else 0.0
    return model.Standing(odds, stamp_to_ns(message.last_checked), FOREVER_S)


def _fill_stamp(stamp: Time, stamp_ns: int) -> None:
    sec, nanosec = divmod(int(stamp_ns), _NANOSECONDS)
    if not -_INT32 <= sec < _INT32:
        sec, nanosec = (-_INT32, 0) if sec < 0 else (_INT32 - 1, _NANOSECONDS - 1)
    stamp.sec, stamp.nanosec = sec, nanosec


def _fill_pose(pose: PoseMsg, position_m: Sequence[float], turn_xyzw: Sequence[float]) -> None:
    _fill_three(pose.position, position_m)
    q = pose.orientation
    q.x, q.y, q.z, q.w = map(float, turn_xyzw)


def _fill_three(message: Point | Vector3, values: Sequence[float]) -> None:
    message.x, message.y, message.z = map(float, values)


def _weights_to_msg(weights: Mapping[str, float]) -> list[msg.LabelWeight]:
    messages = []
    for label, weight in weights.items():
        message = blank(msg.LabelWeight)
        message.label, message.weight = str(label), float(weight)
        messages.append(message)
    return messages


def _weights_from_msg(messages: Sequence[msg.LabelWeight]) -> dict[str, float]:
    return {m.label: m.weight for m in messages}


def _terms_to_msg(terms: Mapping[str, float]) -> list[msg.Term]:
    messages = []
    for name, value in terms.items():
        message = blank(msg.Term)
        message.name, message.value = str(name), float(value)
        messages.append(message)
    return messages


def _terms_from_msg(messages: Sequence[msg.Term]) -> dict[str, float]:
    return {m.name: m.value for m in messages}
