# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/correct: what a person knows better; and the purge of ~/forget."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memory_node.errors import InvalidValueError
from memory_node.memory import SpatialMemory
from memory_node.model import IDENTITY, ChangeKind, Commit
from memory_node.ros import conversions

if TYPE_CHECKING:
    from memory_node.ros.handlers import Desk

By = tuple[str, str, int | None]
"""Why, by whom and when."""


def correct(desk: Desk, memory: SpatialMemory, request: Any, response: Any, by: By) -> None:
    """Do what is asked for, and show the object as it is now.

    Args:
        desk: what the handlers need of the node.
        memory: the memory.
        request, response: of the service.
        by: why, by whom and when.
    """
    act = _ACTS.get(request.operation)
    if act is None:
        raise InvalidValueError(
            f'operation: got {request.operation!r}, expected one of {", ".join(_ACTS)}'
        )
    commit = act(desk, memory, request, by)
    response.seq = commit.first_seq
    about = commit.changes[-1]
    if about.object_id is not None and about.kind is not ChangeKind.FORGOTTEN:
        response.object = conversions.object_to_msg(memory.object(about.object_id))
    desk.on_commit(None, commit)


def purge(desk: Desk, memory: SpatialMemory, request: Any, response: Any, by: By) -> None:
    """Remove content for good; see ~/forget."""
    if request.undo or _duration_ns(request.duration):
        raise InvalidValueError('purge: got undo or duration, expected neither: it is for good')
    corners = [conversions.triple_from_msg(p) for p in (request.region_min, request.region_max)]
    reason, actor, now_ns = by
    found = memory.purge(
        object_id=request.object_id or None, label=request.label, person=request.person,
        region_m=(corners[0], corners[1]) if any(map(any, corners)) else None,
        map_id=request.map_id or None, reason=reason, actor=actor, recorded_ns=now_ns,
    )  # fmt: skip
    response.seq = found.commit.seq
    response.objects, response.sightings = found.objects, found.sightings
    response.lines, response.erased = found.lines, found.erased
    desk.on_commit(None, found.commit)


def until_ns(memory: SpatialMemory, request: Any, now_ns: int | None) -> int | None:
    """When what is forgotten may be learned again; None: never by time."""
    given = ('label', request.label), ('person', request.person), ('map_id', request.map_id)
    named = [name for name, value in given if value]
    if named:
        raise InvalidValueError(f'got {named[0]} without purge, which alone uses it')
    duration_ns = _duration_ns(request.duration)
    if duration_ns < 0:
        raise InvalidValueError(
            f'duration: got {duration_ns / 1e9:g} s, expected 0 (for ever) or more'
        )
    if not duration_ns:
        return None
    if request.undo:
        raise InvalidValueError('got undo and duration, expected one of them')
    return int(max(memory.newest_stamp_ns, now_ns or 0) + duration_ns)


def _duration_ns(duration: Any) -> int:
    return int(duration.sec) * 10**9 + int(duration.nanosec)


def _relabel(desk: Desk, memory: SpatialMemory, request: Any, by: By) -> Commit:
    return memory.correct_label(request.object_id, request.label, *by)


def _move(desk: Desk, memory: SpatialMemory, request: Any, by: By) -> Commit:
    pose = desk.pose_to_map(request.pose)
    turn = pose.orientation_xyzw if any(pose.orientation_xyzw) else None
    return memory.correct_pose(request.object_id, pose.position_m, turn, *by)


def _resize(desk: Desk, memory: SpatialMemory, request: Any, by: By) -> Commit:
    size = conversions.triple_from_msg(request.size)
    return memory.correct_size(request.object_id, size, *by)


def _confirm(desk: Desk, memory: SpatialMemory, request: Any, by: By) -> Commit:
    return memory.confirm(request.object_id, request.confidence or None, *by)


def _absent(desk: Desk, memory: SpatialMemory, request: Any, by: By) -> Commit:
    return memory.declare_absent(request.object_id, *by)


def _assert(desk: Desk, memory: SpatialMemory, request: Any, by: By) -> Commit:
    pose = desk.pose_to_map(request.pose)
    turn = pose.orientation_xyzw if any(pose.orientation_xyzw) else IDENTITY
    reason, actor, now_ns = by
    return memory.state_object(
        request.label, pose.position_m, conversions.triple_from_msg(request.size), turn,
        request.confidence or 1.0, request.map_id or None, reason, actor, now_ns, now_ns,
    )  # fmt: skip


def _pin(desk: Desk, memory: SpatialMemory, request: Any, by: By) -> Commit:
    return memory.pin(request.object_id, request.aspects, *by)


def _unpin(desk: Desk, memory: SpatialMemory, request: Any, by: By) -> Commit:
    return memory.unpin(request.object_id, request.aspects, *by)


def _merge(desk: Desk, memory: SpatialMemory, request: Any, by: By) -> Commit:
    return memory.merge_objects(request.object_id, request.other_id, *by)


def _split(desk: Desk, memory: SpatialMemory, request: Any, by: By) -> Commit:
    return memory.split(request.object_id, *by)


def _undo(desk: Desk, memory: SpatialMemory, request: Any, by: By) -> Commit:
    return memory.undo(request.seq, *by)


_ACTS: dict[str, Callable[[Desk, SpatialMemory, Any, By], Commit]] = {
    'relabel': _relabel,
    'move': _move,
    'resize': _resize,
    'confirm': _confirm,
    'absent': _absent,
    'assert': _assert,
    'pin': _pin,
    'unpin': _unpin,
    'merge': _merge,
    'split': _split,
    'undo': _undo,
}
