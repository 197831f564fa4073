# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""One function for each service: a request becomes one call of the memory, its result the reply."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spatial_memory.msg import SceneGraph

from memory_node.config import MAX_LIMIT
from memory_node.errors import InvalidValueError
from memory_node.memory import SpatialMemory
from memory_node.model import Commit, MemoryObject, Pose, Query, Relation, Triple, View
from memory_node.recall.endpoint import Endpoint
from memory_node.recall.page import Page
from memory_node.ros import (
    asking,
    conversions,
    correcting,
    facts,
    maintaining,
    noting,
    planning,
    queries,
    regions,
    reporting,
)

SERVICE = 'service'
PAGE = 100


@dataclass(frozen=True)
class Desk:
    """What the handlers need of the node.

    Attributes:
        now_ns: the node's clock; 0 before the first /clock.
        to_map: a PointStamped in map metres; raises TransformError.
        pose_to_map: a PoseStamped in the map frame; raises TransformError.
        to_view: a DetectionArray as a View; raises TransformError or InvalidValueError.
        on_commit: told of what a request changed: the view (None: there was none) and the commit.
        map_frame: frame of all replies. map_id: identity of the map.
        model: the language model that may be asked; None: there is none.
        clock: which clock the node has, wall or sim.
        on_notes: publish what notes told meanwhile.
    """

    now_ns: Callable[[], int]
    to_map: Callable[[Any], Triple]
    pose_to_map: Callable[[Any], Pose]
    to_view: Callable[[Any], View]
    on_commit: Callable[[View | None, Commit], None]
    map_frame: str
    map_id: str = ''
    model: Callable[[], Endpoint | None] = lambda: None
    clock: Callable[[], str] = lambda: 'wall'
    on_notes: Callable[[], None] = lambda: None


def query(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/query."""
    queries.query(desk, memory, request, response, _now(desk))
    if request.text:
        response.message = memory.text_search


def history(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/history."""
    limit = conversions.limit_from_request(request.limit)
    obj = memory.object(request.object_id)
    if obj.id != request.object_id:
        response.merged_into = obj.id
    response.object = conversions.object_to_msg(obj)
    response.object.properties = facts.to_msg(memory.properties(obj.id))
    response.observations = [
        conversions.observation_to_msg(o) for o in memory.history(obj.id, limit)
    ]
    response.changes = [
        conversions.change_to_msg(c) for c in memory.changes(limit=limit, object_id=obj.id)
    ]
    response.total = obj.observations
    _stamp(desk, memory, response.header)


def forget(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/forget, with `undo` the opposite, and with `purge` for good; or notes."""
    if request.note_ids:
        noting.forget(desk, memory, request, response)
        return
    by = (request.reason, request.actor or SERVICE, _now(desk))
    if request.purge:
        correcting.purge(desk, memory, request, response, by)
        return
    until_ns = correcting.until_ns(memory, request, by[2])
    if request.undo:
        commit = memory.restore(request.object_id, *by)
    else:
        commit = memory.forget(request.object_id, *by, until_ns)
    _done(desk, commit, response)


def correct(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/correct."""
    by = (request.reason, request.actor or SERVICE, _now(desk))
    correcting.correct(desk, memory, request, response, by)


def report(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/report."""
    reporting.report(desk, memory, request, response)


def set_region(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/set_region."""
    by = (request.reason, request.actor or SERVICE, _now(desk))
    regions.set_region(desk, memory, request, response, by)


def relate(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/relate: asks, or tells with `state` or `retract`."""
    limit = _limit(request.limit, Query().limit)
    if request.state and request.retract:
        raise InvalidValueError('got state and retract, expected one of them')
    subjects = _resolve(memory, request.subject_id, request.subject)
    others = _resolve(memory, request.object_id, request.object)
    if request.state or request.retract:
        commit = memory.state_relation(
            _single('subject', subjects), request.relation, _single('object', others),
            not request.retract, request.reason, request.actor or SERVICE, _now(desk),
        )  # fmt: skip
        desk.on_commit(None, commit)
        found = [r for r in memory.relate(subjects, None, others) if r.kind == request.relation]
    else:
        found = memory.relate(subjects, request.relation or None, others)
    response.subject_ids = (subjects or []) if request.subject else []
    response.object_ids = (others or []) if request.object else []
    shown = memory.dated(found[:limit])
    named = {i for r in shown for i in (r.subject_id, r.object_id)}
    labels = {o.id: o.label for o in memory.page(ids=named, limit=len(named) + 1)}
    response.relations = [conversions.relation_to_msg(r, labels) for r in shown]
    response.total = len(found)


def observe(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/observe."""
    view = desk.to_view(request.view)
    commit = memory.observe(view, _now(desk))
    if commit.refused:
        raise InvalidValueError(f'the view was refused: {commit.refused}')
    response.verdicts = [str(v.kind) for v in commit.verdicts]
    response.reasons = [str(v.reason) for v in commit.verdicts]
    response.object_ids = [int(v.object_id or 0) for v in commit.verdicts]
    response.seq = commit.first_seq
    desk.on_commit(view, commit)


def explain(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/explain."""
    found = memory.explain(request.object_id or None, request.observation_id or None)
    response.text = list(found.text)
    response.observations = [conversions.observation_to_msg(o) for o in found.observations]
    response.changes = [conversions.change_to_msg(c) for c in found.changes]
    response.settings = facts.to_msg(found.settings)


def get_changes(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/get_changes."""
    limit = int(request.limit) or PAGE
    response.store_id = memory.store_id
    response.reset = bool(request.store_id) and request.store_id != memory.store_id
    log_seq = memory.seq
    since = 0 if response.reset else request.since_seq
    changes = [c for c in memory.changes(since, limit) if c.seq <= log_seq]
    response.changes = [conversions.change_to_msg(c) for c in changes]
    response.last_seq = changes[-1].seq if len(changes) == limit else log_seq
    response.log_seq = log_seq


def get_scene(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/get_scene."""
    limit = _limit(request.limit, PAGE)
    page = memory.page(request.after_id, limit)
    relations = memory.relate(page.ids) if request.relations and page.ids else []
    there = {i for r in relations for i in (r.subject_id, r.object_id)} - set(page.ids)
    others = {o.id: o.label for o in memory.page(ids=there, limit=len(there) + 1)}
    response.scene = scene_message(
        memory.store_id, desk.map_frame, page, page, relations, others
    )  # fmt: skip
    response.scene.total = memory.object_count
    response.scene.truncated = page.truncated or request.after_id > 0
    response.next_id = page.ids[-1] if page.truncated else 0


def scene_message(
    store_id: str,
    map_frame: str,
    page: Page,
    objects: Iterable[MemoryObject],
    relations: Iterable[Relation],
    others: Mapping[int, str] | None = None,
) -> Any:
    """A SceneGraph.

    Args:
        store_id: identity of the store.
        map_frame: frame of all poses.
        page: says as of when it is, and how many objects there are.
        objects: those of the page.
        relations: of these objects; read after the objects.
        others: id → label of objects that the relations name and that are not on the page.
    """
    scene = SceneGraph(
        store_id=store_id, seq=page.seq, total=page.total, truncated=page.truncated
    )  # fmt: skip
    scene.header.frame_id = map_frame
    scene.header.stamp = conversions.stamp_from_ns(page.stamp_ns)
    labels = dict(others or {})
    messages = []
    for obj in objects:
        labels[obj.id] = obj.label
        messages.append(conversions.object_to_msg(obj))
    scene.objects = messages
    scene.relations = [conversions.relation_to_msg(r, labels) for r in relations]
    return scene


def snapshot(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/snapshot."""
    path = os.path.expanduser(request.path)
    if not os.path.isabs(path):  # where the node happens to run, nobody knows
        raise InvalidValueError(
            f'path: got {request.path!r}, expected the whole path of a new file, from / or ~ on'
        )
    response.seq = memory.snapshot(path)
    with SpatialMemory.open(path, readonly=True) as copy:
        response.snapshot_hash = copy.snapshot_hash()


def annotate(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/annotate: a property of an object, or an event."""
    actor = request.actor or SERVICE
    if bool(request.key) == bool(request.event):
        raise InvalidValueError(
            f'got key {request.key!r} and event {request.event!r}, expected one of them'
        )
    if request.key:
        commit = memory.set_property(
            request.object_id, request.key, facts.value_of(request.value), request.reason, actor,
            _now(desk),
        )  # fmt: skip
    else:
        stamp_ns = conversions.stamp_to_ns(request.stamp)
        if stamp_ns < 0:
            raise InvalidValueError(f'stamp: got {stamp_ns} ns, expected 0 (now) or more')
        commit = memory.record_event(
            request.event, facts.given(request.payload), request.object_id or None,
            stamp_ns or _now(desk), actor, _now(desk), request.reason,
        )  # fmt: skip
    _done(desk, commit, response)


def maintain(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/maintain."""
    maintaining.maintain(desk, memory, request, response, request.actor or SERVICE, _now(desk))


HANDLERS: dict[str, Callable[[Desk, SpatialMemory, Any, Any], None]] = {
    'Approach': planning.approach,
    'PlanSearch': planning.plan_search,
    'Query': query,
    'History': history,
    'Forget': forget,
    'Correct': correct,
    'Report': report,
    'Relate': relate,
    'SetRegion': set_region,
    'Observe': observe,
    'Explain': explain,
    'GetChanges': get_changes,
    'GetScene': get_scene,
    'Snapshot': snapshot,
    'WhatChanged': regions.what_changed,
    'Annotate': annotate,
    'Ask': asking.ask,
    'Maintain': maintain,
    'Remember': noting.remember,
    'Recall': noting.recall,
    'Reflect': noting.reflect,
    'Feedback': noting.feedback,
}
"""Type of the service → what answers it. Its name is that of the type in snake case."""


def _done(desk: Desk, commit: Commit, response: Any) -> None:
    response.seq = commit.seq
    desk.on_commit(None, commit)


def _now(desk: Desk) -> int | None:
    return desk.now_ns() or None


def _stamp(desk: Desk, memory: SpatialMemory, header: Any) -> None:
    header.frame_id = desk.map_frame
    header.stamp = conversions.stamp_from_ns(memory.newest_stamp_ns)


def _limit(given: int, default: int) -> int:
    limit = int(given) or default
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidValueError(f'limit: got {given}, expected 1 to {MAX_LIMIT}')
    return limit


def _resolve(memory: SpatialMemory, object_id: int, text: str) -> list[int] | None:
    """Ids that a side of a relation stands for; None: the side is open."""
    if object_id and text:
        raise InvalidValueError(
            f'got both the id {object_id} and the text {text!r} for one side, expected one of them'
        )
    if object_id:
        return [int(object_id)]
    return memory.named(text) if text else None


def _single(side: str, ids: Iterable[int] | None) -> int:
    found = [] if ids is None else list(ids)
    if len(found) != 1:
        raise InvalidValueError(
            f'{side}: got {len(found)} objects ({found[:10]}), expected one to state a relation of'
        )
    return found[0]
