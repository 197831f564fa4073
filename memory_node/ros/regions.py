# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/set_region and ~/what_changed: where things are by name, and what has changed there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geometry_msgs.msg import Point, PointStamped
from spatial_memory import msg

from memory_node import model
from memory_node.errors import InvalidValueError
from memory_node.memory import SpatialMemory
from memory_node.model import Commit, MemoryObject, Triple
from memory_node.ros import conversions

if TYPE_CHECKING:
    from memory_node.ros.handlers import Desk

TILT_M = 0.01
"""A frame is upright if the top of a region lies over its bottom within this."""


def set_region(
    desk: Desk, memory: SpatialMemory, request: Any, response: Any, by: tuple[str, str, int | None]
) -> None:
    """Make, change, remove or list regions.

    Args:
        desk: what the handlers need of the node. memory: the memory.
        request, response: of the service. by: why, by whom and when.
    """
    if not request.name and (len(request.polygon) or request.remove):
        raise InvalidValueError('name: got none, expected that of the region')
    if request.name:
        commit = _change(desk, memory, request, by)
        if commit.changes:
            response.seq = commit.seq
            desk.on_commit(None, commit)
    response.regions = [region_to_msg(region) for region in memory.regions()]


def _change(
    desk: Desk, memory: SpatialMemory, request: Any, by: tuple[str, str, int | None]
) -> Commit:
    map_id = str(request.map_id) or desk.map_id
    if request.remove:
        if len(request.polygon):
            raise InvalidValueError('remove: got it and a polygon, expected one of them')
        return memory.remove_region(request.name, map_id, *by)
    corners = [conversions.triple_from_msg(point) for point in request.polygon]
    if len(corners) == 2:
        (x, y, _), (u, v, _) = corners
        corners = [(x, y, 0.0), (u, y, 0.0), (u, v, 0.0), (x, v, 0.0)]
    low, high = float(request.low_m), float(request.high_m)
    bottom = [_in_map(desk, request.header, (x, y, low)) for x, y, _ in corners]
    top = [_in_map(desk, request.header, (x, y, high)) for x, y, _ in corners]
    leans = [abs(a - b) for p, q in zip(bottom, top) for a, b in zip(p[:2], q[:2])]
    heights = [p[2] for p in bottom]
    if any(gap > TILT_M for gap in (*leans, *(abs(z - heights[0]) for z in heights))):
        raise InvalidValueError(
            f'header.frame_id: got {request.header.frame_id!r}, expected a frame that stands '
            'upright in the map'
        )
    reason, actor, now_ns = by
    return memory.set_region(
        request.name, request.kind or 'place', polygon_m=[p[:2] for p in bottom],
        low_m=bottom[0][2] if bottom else low, high_m=top[0][2] if top else high,
        parent=request.parent, map_id=map_id, reason=reason, actor=actor, recorded_ns=now_ns,
    )  # fmt: skip


def _in_map(desk: Desk, header: Any, point: Triple) -> Triple:
    stamped = PointStamped(header=header)
    stamped.point.x, stamped.point.y, stamped.point.z = point
    return desk.to_map(stamped)


def region_to_msg(region: model.Region) -> msg.Region:
    """Return a region as a message."""
    return msg.Region(
        name=str(region.name),
        kind=str(region.kind),
        polygon=[Point(x=float(x), y=float(y), z=float(region.low_m)) for x, y in region.polygon_m],
        low_m=float(region.low_m),
        high_m=float(region.high_m),
        parent=str(region.parent),
        map_id=str(region.map_id),
        seq=int(region.seq),
    )


def what_changed(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """Group what has changed."""
    since_ns = conversions.stamp_to_ns(request.since) or None
    since_seq = int(request.since_seq) or None
    if request.last_visit and (since_ns or since_seq):
        raise InvalidValueError('last_visit: got it and since or since_seq, expected one of them')
    found = memory.what_changed(
        since_ns, since_seq, str(request.region), [str(kind) for kind in request.kinds],
        conversions.limit_from_request(request.limit),
    )  # fmt: skip
    response.since_seq = found.since_seq or 0
    if found.since_ns is not None:
        response.since = conversions.stamp_from_ns(found.since_ns)
    response.groups = [_group_to_msg(group) for group in found.groups]


def _group_to_msg(group: model.ChangeGroup) -> msg.ChangeGroup:
    message = msg.ChangeGroup(
        region=str(group.region), kind=str(group.kind), count=int(group.count)
    )
    for change, version in zip(group.changes, group.versions):
        line = conversions.change_to_msg(change)
        if version is not None:
            line.object = conversions.object_to_msg(_as_object(version))
        message.changes.append(line)  # type: ignore[attr-defined]
    return message


def _as_object(version: model.ObjectVersion) -> MemoryObject:
    """What is known of an object as of then; the rest is as of nothing."""
    return MemoryObject(
        version.object_id, version.label, {}, version.state, version.center_m,
        version.orientation_xyzw, version.size_m, 0.0, 0, 0, 0, version.map_id,
    )  # fmt: skip
