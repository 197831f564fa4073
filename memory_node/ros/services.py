# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The services: each turns a request into one call of the memory, and the result into a reply."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.lifecycle import LifecycleNode
from spatial_memory.srv import Forget, History, Query, Relate

from memory_node.errors import (
    ClosedError,
    InvalidValueError,
    ObjectEndedError,
    StoreError,
    UnknownObjectError,
)
from memory_node.memory import SpatialMemory
from memory_node.model import Commit, Triple
from memory_node.recall.words import label_score
from memory_node.ros import conversions
from memory_node.ros.diagnostics import ServiceMeter
from memory_node.ros.transform_buffer import TransformError

_CODES: tuple[tuple[type[Exception], int], ...] = (
    (UnknownObjectError, Query.Response.UNKNOWN_OBJECT),
    (ObjectEndedError, Query.Response.OBJECT_ENDED),
    (InvalidValueError, Query.Response.INVALID_REQUEST),
    (TransformError, Query.Response.NO_TRANSFORM),
    (ClosedError, Query.Response.INACTIVE),
    (StoreError, Query.Response.STORE_ERROR),
)
"""Which error is which code; anything else is INTERNAL_ERROR."""


class Services:
    """Serves ~/query, ~/history, ~/forget and ~/relate.

    Every request gets a reply: whatever goes wrong becomes an error code and a message. Each
    service answers one request at a time, different ones side by side, so that a burst of requests
    leaves threads for what comes in.
    """

    def __init__(
        self,
        node: LifecycleNode,
        memory: Callable[[], SpatialMemory | None],
        on_commit: Callable[[Commit], None],
        to_map: Callable[[Any], Triple],
        map_frame: str,
        meter: ServiceMeter,
    ) -> None:
        """Create the services.

        Args:
            node: whose they are.
            memory: returns the memory, or None while the node is not active.
            on_commit: told of what a request changed.
            to_map: turns a PointStamped into map metres; raises TransformError.
            map_frame: frame of all replies.
            meter: told of every request.
        """
        self._node, self._memory, self._meter = node, memory, meter
        self._on_commit, self._to_map, self._map_frame = on_commit, to_map, map_frame
        for kind, name, handler in (
            (Query, '~/query', self._query),
            (History, '~/history', self._history),
            (Forget, '~/forget', self._forget),
            (Relate, '~/relate', self._relate),
        ):
            node.create_service(
                kind, name, self._measured(name, self._answering(handler)),
                callback_group=MutuallyExclusiveCallbackGroup(),
            )  # fmt: skip

    def _measured(self, name: str, answer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def measured(request: Any, response: Any) -> Any:
            started = time.monotonic()
            response = answer(request, response)
            failed = response.error_code in (response.INTERNAL_ERROR, response.STORE_ERROR)
            refused = not response.success and not failed
            seconds = time.monotonic() - started
            self._meter.add(name, seconds, refused=refused, failed=failed)
            return response

        return measured

    def _answering(self, handler: Callable[..., None]) -> Callable[[Any, Any], Any]:
        def answer(request: Any, response: Any) -> Any:
            memory = self._memory()
            if memory is None:
                response.error_code = response.INACTIVE
                response.message = 'the node is not active'
                return response
            try:
                handler(memory, request, response)
                response.success = True
            except Exception as error:  # a request without a reply would hang its client
                response = self._failed(type(response)(), error)
            return response

        return answer

    def _failed(self, response: Any, error: Exception) -> Any:
        response.message = str(error)
        for kind, code in _CODES:
            if isinstance(error, kind):
                response.error_code = code
                if code == response.STORE_ERROR:
                    self._node.get_logger().warning(f'a request failed: {error}')
                return response
        response.error_code = response.INTERNAL_ERROR
        response.message = f'{type(error).__name__}: {error}'
        text = ''.join(traceback.format_exception(error))
        self._node.get_logger().error(f'a request failed: {text}')
        return response

    def _query(self, memory: SpatialMemory, request: Any, response: Any) -> None:
        near = self._to_map(request.near) if request.radius_m > 0 else None
        hits = memory.query(conversions.query_from_request(request, near))
        response.hits = [conversions.hit_to_msg(hit) for hit in hits]
        response.total = hits.total
        self._stamp(memory, response)

    def _history(self, memory: SpatialMemory, request: Any, response: Any) -> None:
        limit = conversions.limit_from_request(request.limit)
        obj = memory.object(request.object_id)
        response.object = conversions.object_to_msg(obj)
        response.observations = [
            conversions.observation_to_msg(o) for o in memory.history(obj.id, limit)
        ]
        response.changes = [
            conversions.change_to_msg(c) for c in memory.changes(limit=limit, object_id=obj.id)
        ]
        response.total = obj.observations
        self._stamp(memory, response)

    def _forget(self, memory: SpatialMemory, request: Any, response: Any) -> None:
        commit = memory.forget(
            request.object_id,
            request.reason,
            request.actor or 'service',
            self._node.get_clock().now().nanoseconds or None,
        )
        response.seq = commit.seq
        self._on_commit(commit)

    def _relate(self, memory: SpatialMemory, request: Any, response: Any) -> None:
        limit = conversions.limit_from_request(request.limit)
        objects = {o.id: o.label for o in memory.objects()}
        subjects = _resolve(objects, request.subject_id, request.subject)
        others = _resolve(objects, request.object_id, request.object)
        found = memory.relate(subjects, request.relation or None, others)
        response.subject_ids = subjects if request.subject else []
        response.object_ids = others if request.object else []
        response.relations = [conversions.relation_to_msg(r, objects) for r in found[:limit]]
        response.total = len(found)

    def _stamp(self, memory: SpatialMemory, response: Any) -> None:
        response.header.frame_id = self._map_frame
        response.header.stamp = conversions.stamp_from_ns(memory.newest_stamp_ns)


def _resolve(labels: dict[int, str], object_id: int, text: str) -> list[int] | None:
    """Ids that a side of a relation stands for; None: the side is open."""
    if object_id and text:
        raise InvalidValueError(
            f'got both the id {object_id} and the text {text!r} for one side, expected one of them'
        )
    if object_id:
        return [int(object_id)]
    if not text:
        return None
    best = {i: label_score(text, label) for i, label in labels.items()}
    return sorted(i for i, score in best.items() if score > 0)
