# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/report: what the robot did."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from memory_node.errors import InvalidValueError
from memory_node.memory import SpatialMemory
from memory_node.model import Commit
from memory_node.reporting import ROBOT
from memory_node.ros import conversions

if TYPE_CHECKING:
    from memory_node.ros.handlers import Desk


class _By(NamedTuple):
    """Why and by whom, when the memory learned it, and when it was done."""

    reason: str
    actor: str
    recorded_ns: int | None
    stamp_ns: int | None


def report(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """Write down what was done, and show the object as it is now."""
    do = _ACTS.get(request.act)
    if do is None:
        raise InvalidValueError(f'act: got {request.act!r}, expected one of {", ".join(_ACTS)}')
    if request.container_id and request.act != 'put_inside':
        raise InvalidValueError(
            f'container_id: got {request.container_id} with {request.act}, expected 0'
        )
    stamp_ns, now_ns = conversions.stamp_to_ns(request.stamp), desk.now_ns() or None
    if stamp_ns < 0:
        raise InvalidValueError(f'stamp: got {stamp_ns} ns, expected 0 (now) or more')
    by = _By(request.reason, request.actor or ROBOT, now_ns, stamp_ns or now_ns)
    commit = do(desk, memory, request, by)
    response.seq = commit.seq
    response.object = conversions.object_to_msg(memory.object(request.object_id))
    desk.on_commit(None, commit)


def _placed(desk: Desk, memory: SpatialMemory, request: Any, by: _By) -> Commit:
    pose = desk.pose_to_map(request.pose)
    turn = pose.orientation_xyzw if any(pose.orientation_xyzw) else None
    return memory.placed(request.object_id, pose.position_m, turn, None, *by)


_ACTS: dict[str, Callable[[Desk, SpatialMemory, Any, _By], Commit]] = {
    'picked': lambda desk, memory, request, by: memory.picked(request.object_id, *by),
    'placed': _placed,
    'put_inside': lambda desk, memory, request, by: memory.put_inside(
        request.object_id, request.container_id, *by
    ),
    'opened': lambda desk, memory, request, by: memory.opened(request.object_id, True, *by),
    'closed': lambda desk, memory, request, by: memory.opened(request.object_id, False, *by),
    'not_found': lambda desk, memory, request, by: memory.not_found(request.object_id, *by),
}
