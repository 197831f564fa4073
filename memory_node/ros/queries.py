# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/query: what a request asks, in the words of the core. Nothing that is given is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory_node import model
from memory_node.errors import InvalidValueError
from memory_node.memory import SpatialMemory
from memory_node.recall.query import THERE
from memory_node.ros import conversions, facts, noting
from memory_node.ros.conversions import stamp_to_ns

if TYPE_CHECKING:
    from memory_node.ros.handlers import Desk

Box = tuple[tuple[model.Triple, model.Triple], model.Pose]
"""Two opposite corners, and the pose of the axes in which they are given."""


def query(
    desk: Desk, memory: SpatialMemory, request: Any, response: Any, now_ns: int | None
) -> None:
    """Answer a request.

    Args:
        desk: what the handlers need of the node. memory: the memory.
        request, response: of the service. now_ns: None: the clock does not say.
    """
    near_m, radius_m = _near(desk, memory, request, response)
    asked = query_from_request(request, near_m, _box(desk, request), now_ns, radius_m)
    hits = memory.query(asked)
    response.hits = [conversions.hit_to_msg(hit) for hit in hits]
    response.total = hits.total
    about_ns = asked.as_of_ns if asked.at_ns is None else asked.at_ns
    response.header.frame_id = desk.map_frame
    response.header.stamp = conversions.stamp_from_ns(
        memory.newest_stamp_ns if about_ns is None else about_ns
    )


def query_from_request(
    request: Any,
    near_m: model.Triple | None = None,
    box: Box | None = None,
    now_ns: int | None = None,
    radius_m: float | None = None,
) -> model.Query:
    """Return what srv/Query asks.

    Args:
        request: Query.Request; its numbers are the core's to check.
        near_m: its point `near` in the map frame; None: it has none. box: its box; None: likewise.
        now_ns: the time its presence is about where it names none; None: that of the newest view.
        radius_m: around near_m; None: that of the request.

    Raises:
        InvalidValueError: a part of it says nothing without another one, which is missing.
    """
    states = tuple(str(state) for state in request.states)
    if not states and request.include_absent:
        states = tuple(str(state) for state in (*THERE, model.State.ABSENT))
    as_of_ns = stamp_to_ns(request.as_of) or None
    corners, pose = box if box is not None else (None, None)
    return model.Query(
        text=str(request.text),
        labels=tuple(str(label) for label in request.labels),
        feature=conversions.feature_from_msg(request.feature),
        near_m=near_m,
        radius_m=float(request.radius_m) if radius_m is None else radius_m,
        states=states,
        seen_since_ns=stamp_to_ns(request.seen_since),
        unseen_since_ns=stamp_to_ns(request.unseen_since),
        new_since_ns=stamp_to_ns(request.new_since),
        moved_m=float(request.moved_m),
        min_score=float(request.min_score),
        min_presence=float(request.min_presence),
        order=str(request.order) or model.Order.RELEVANCE,
        limit=conversions.limit_from_request(request.limit),
        at_ns=stamp_to_ns(request.at) or (now_ns if as_of_ns is None else None),
        offset=int(request.offset),
        ids=tuple(int(number) for number in request.ids),
        properties=facts.given(request.properties),
        box_m=corners,
        box_pose=pose,
        region=str(request.region),
        relation=_relation(request),
        seen_from_ns=stamp_to_ns(request.seen_from) or None,
        seen_until_ns=stamp_to_ns(request.seen_until) or None,
        sensor=str(request.sensor),
        scope={str(p.key): str(p.value) for p in request.scope},
        source=str(request.source),
        as_of_ns=as_of_ns,
        known_at=int(request.known_at) or None,
        known_at_ns=stamp_to_ns(request.known_at_time) or None,
    )


def _near(
    desk: Desk, memory: SpatialMemory, request: Any, response: Any
) -> tuple[model.Triple | None, float]:  # fmt: skip
    """The point near which to look, in the map frame (None: anywhere), and how far."""
    if request.near_me:
        speaker = memory.speaker(str(request.user), str(request.context), desk.map_frame)
        radius_m = noting.radius_of(speaker.meanings['near'], request.radius_m, response)
        if request.near.header.frame_id or any(conversions.triple_from_msg(request.near.point)):
            return desk.to_map(request.near), radius_m
        if speaker.place_m is None:
            raise InvalidValueError(
                'near: got no point with near_me, and no place of the user is known: expected a '
                'point, for example header.frame_id base_link'
            )
        response.radius_why += ', around where the user mostly is'
        return speaker.place_m, radius_m
    response.radius_m = float(request.radius_m)
    return _point(desk, request), float(request.radius_m)


def _point(desk: Desk, request: Any) -> model.Triple | None:
    if request.radius_m != 0:
        return desk.to_map(request.near)
    if request.near.header.frame_id or any(conversions.triple_from_msg(request.near.point)):
        raise InvalidValueError('radius_m: got 0 together with near, expected above 0 [m]')
    return None


def _box(desk: Desk, request: Any) -> Box | None:
    """The box in which to look; None: anywhere."""
    size = conversions.triple_from_msg(request.box_size)
    given = conversions.pose_from_msg(request.box.pose)
    turned = any(given.orientation_xyzw[:3])  # the w of an empty message is 1
    if not any(size):
        if request.box.header.frame_id or any(given.position_m) or turned:
            raise InvalidValueError('box_size: got 0 together with box, expected side lengths [m]')
        return None
    if min(size) < 0:
        raise InvalidValueError(f'box_size: got {size}, expected side lengths of 0 m or more')
    if not any(given.orientation_xyzw):
        request.box.pose.orientation.w = 1.0
    pose = desk.pose_to_map(request.box)
    x, y, z = (side / 2 for side in size)
    return ((-x, -y, -z), (x, y, z)), pose


def _relation(request: Any) -> tuple[str, int | str] | None:
    """The relation that is asked for; None: none is."""
    number, text = int(request.relation_to_id), str(request.relation_to)
    if not request.relation:
        if number or text:
            raise InvalidValueError('relation: got relation_to without it, expected both')
        return None
    if bool(number) == bool(text):
        raise InvalidValueError(
            f'relation_to: got the id {number} and the text {text!r}, expected one of them'
        )
    return str(request.relation), number or text
