# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/plan_search and ~/approach: where to look next, and where to stand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from spatial_memory import msg

from memory_node.errors import InvalidValueError
from memory_node.memory import SpatialMemory
from memory_node.model import Triple
from memory_node.recall.search_plan import SearchPlace
from memory_node.ros import conversions
from memory_node.scene.approach import Grid

if TYPE_CHECKING:
    from memory_node.ros.handlers import Desk

DISTANCE_M, RADIUS_M, OCCUPIED_FROM = 0.8, 0.25, 65
"""What 0 stands for in a request."""
FLAT = 1e-3
"""Most that x and y of the quaternion of a grid may be."""


def plan_search(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """Say where to look next."""
    at_ns = conversions.stamp_to_ns(request.at)
    plan = memory.plan_search(
        str(request.text), int(request.object_id) or None, at_ns or desk.now_ns() or None,
        _start(desk, request), conversions.limit_from_request(request.limit),
    )  # fmt: skip
    response.places = [_place_to_msg(place) for place in plan.places]
    response.elsewhere, response.total = plan.elsewhere, plan.total
    response.header.frame_id = desk.map_frame
    response.header.stamp = conversions.stamp_from_ns(plan.at_ns)


def approach(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """Say where to stand."""
    found = memory.approach(
        int(request.object_id), request.distance_m or DISTANCE_M, request.min_distance_m or None,
        request.robot_radius_m or RADIUS_M, _grid(desk, request), _start(desk, request),
        conversions.limit_from_request(request.limit),
    )  # fmt: skip
    response.poses = [
        conversions.pose_to_msg(s.pose.position_m, s.pose.orientation_xyzw) for s in found.poses
    ]
    response.distances_m = [s.distance_m for s in found.poses]
    response.clearances_m = [s.clearance_m for s in found.poses]
    response.reason = found.reason
    response.header.frame_id = desk.map_frame
    response.header.stamp = conversions.stamp_from_ns(memory.newest_stamp_ns)


def _start(desk: Desk, request: Any) -> Triple | None:
    """Where the robot is, in the map frame; an empty frame: it is not told."""
    return desk.to_map(request.from_point) if request.from_point.header.frame_id else None


def _grid(desk: Desk, request: Any) -> Grid | None:
    given = request.grid
    info = given.info
    if not len(given.data) and not info.width and not info.height:
        return None
    origin = desk.pose_to_map(PoseStamped(header=given.header, pose=info.origin))
    x, y, z, w = origin.orientation_xyzw
    if max(abs(x), abs(y)) > FLAT:
        raise InvalidValueError(
            f'grid: got an origin turned by ({x:g}, {y:g}, {z:g}, {w:g}), expected one that lies '
            'flat in the map'
        )
    return Grid.of_cells(
        np.frombuffer(given.data, np.int8), int(info.height), int(info.width),
        float(info.resolution), (origin.position_m[0], origin.position_m[1]),
        2 * math.atan2(z, w), int(request.occupied_from) or OCCUPIED_FROM,
    )  # fmt: skip


def _place_to_msg(place: SearchPlace) -> msg.SearchPlace:
    x, y, z = place.position_m
    result = msg.SearchPlace(
        probability=float(place.probability),
        source=place.source,
        receptacle_id=int(place.receptacle_id),
        receptacle_label=place.receptacle_label,
        object_id=int(place.object_id),
        last_checked=conversions.stamp_from_ns(place.last_checked_ns),
        reason=place.reason,
    )
    result.position.x, result.position.y, result.position.z = x, y, z
    return result
