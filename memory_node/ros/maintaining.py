# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/maintain: what is one thing and what is two."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from memory_node.errors import InvalidValueError
from memory_node.memory import SpatialMemory
from memory_node.model import ChangeKind, Commit, Consolidation

if TYPE_CHECKING:
    from memory_node.ros.handlers import Desk

OnCommit = Callable[[Commit], None]


def maintain(
    desk: Desk, memory: SpatialMemory, request: Any, response: Any, actor: str, now_ns: int | None
) -> None:
    """Do what is asked for, and tell the node of each commit at once.

    Args:
        desk: what the handlers need of the node.
        memory: the memory.
        request, response: of the service.
        actor: who asks. now_ns: when; None: the clock does not say.
    """
    commits: list[Commit] = []

    def told(commit: Commit) -> None:
        commits.append(commit)
        desk.on_commit(None, commit)

    act = _ACTS.get(request.operation)
    if act is None:
        raise InvalidValueError(
            f'operation: got {request.operation!r}, expected one of {", ".join(_ACTS)}'
        )
    response.summary = act(memory, request, response, (actor, now_ns), told)
    _tell_splits(response, commits)
    response.last_seq = memory.seq
    response.written = sum(c.seq - c.first_seq + 1 for c in commits)


def _split(
    memory: SpatialMemory, request: Any, response: Any, by: tuple[str, int | None], told: OnCommit
) -> str:
    commit = memory.split(request.object_id, request.reason, *by)
    told(commit)
    return f'object {request.object_id} was split; the new one is {commit.changes[1].object_id}'


def _merge_objects(
    memory: SpatialMemory, request: Any, response: Any, by: tuple[str, int | None], told: OnCommit
) -> str:
    keep, other = request.object_id, request.other_id
    commit = memory.merge_objects(keep, other, request.reason, *by)
    told(commit)
    response.kept_ids, response.merged_ids = [keep], [other]
    response.merge_seqs = [commit.first_seq]
    return f'object {other} was merged into object {keep}'


def _undo(
    memory: SpatialMemory, request: Any, response: Any, by: tuple[str, int | None], told: OnCommit
) -> str:
    commit = memory.undo(request.seq, request.reason, *by)
    told(commit)
    ids = ' and '.join(str(c.object_id) for c in commit.changes)
    return f'line {request.seq} was undone; it is about objects {ids}'


def _consolidate(
    memory: SpatialMemory, request: Any, response: Any, by: tuple[str, int | None], told: OnCommit
) -> str:
    return _tell_merges(response, memory.consolidate(*by, on_commit=told))


def _maintain_all(
    memory: SpatialMemory, request: Any, response: Any, by: tuple[str, int | None], told: OnCommit
) -> str:
    splits, report = memory.maintain(*by, on_commit=told)
    return f'{len(splits)} objects were split; {_tell_merges(response, report)}'


def _merge_store(
    memory: SpatialMemory, request: Any, response: Any, by: tuple[str, int | None], told: OnCommit
) -> str:
    path = os.path.expanduser(request.path)
    if not os.path.isabs(path):  # where the node happens to run, nobody knows
        raise InvalidValueError(
            f'path: got {request.path!r}, expected the whole path of another store, from / or ~ on'
        )
    report = memory.merge_store(path, by[1], on_commit=told)
    response.store_id = report.store_id
    response.their_ids = sorted(report.aliases)
    response.our_ids = [report.aliases[i] for i in response.their_ids]
    return (
        f'{report.taken} of {report.confirmed} confirmed objects of store {report.store_id} were '
        f'taken over in {report.views} views; the others were before'
    )


_ACTS: dict[str, Callable[..., str]] = {
    'split': _split,
    'consolidate': _consolidate,
    'merge_objects': _merge_objects,
    'undo': _undo,
    'merge_store': _merge_store,
    'maintain_all': _maintain_all,
}


def _tell_merges(response: Any, report: Consolidation) -> str:
    merges = report.merges
    response.kept_ids = [m.kept_id for m in merges]
    response.merged_ids = [m.other_id for m in merges]
    response.scores = [m.score for m in merges]
    response.merge_seqs = [m.seq for m in merges]
    return (
        f'{report.looked_at} objects had changed; {len(merges)} merges, {report.kept_apart} pairs '
        'kept apart'
    )


def _tell_splits(response: Any, commits: Iterable[Commit]) -> None:
    pairs = [c.changes for c in commits if c.changes and c.changes[0].kind is ChangeKind.SPLIT]
    response.split_ids = [first.object_id for first, _ in pairs]
    response.new_ids = [second.object_id for _, second in pairs]
    response.split_seqs = [first.seq for first, _ in pairs]
