# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The services: each turns a request into one call of the memory, and the result into a reply."""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.lifecycle import LifecycleNode
from spatial_memory import srv
from spatial_memory.srv import Query

from memory_node.errors import (
    ClosedError,
    InvalidValueError,
    ObjectEndedError,
    StoreError,
    UnknownObjectError,
)
from memory_node.memory import SpatialMemory
from memory_node.ros.diagnostics import ServiceMeter
from memory_node.ros.handlers import HANDLERS, Desk
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
    """Serves every service in `handlers.HANDLERS` under its name in snake case.

    Every request gets a reply: whatever goes wrong becomes an error code and a message. Each
    service answers one request at a time, different ones side by side, so that a burst of requests
    leaves threads for what comes in.
    """

    def __init__(
        self,
        node: LifecycleNode,
        memory: Callable[[], SpatialMemory | None],
        desk: Desk,
        meter: ServiceMeter,
    ) -> None:
        """Create the services.

        Args:
            node: whose they are.
            memory: returns the memory, or None while the node is not active.
            desk: what the handlers need of the node.
            meter: told of every request.
        """
        self._node, self._memory, self._desk, self._meter = node, memory, desk, meter
        for kind, handler in HANDLERS.items():
            name = f'~/{snake(kind)}'
            node.create_service(
                getattr(srv, kind), name, self._measured(name, self._answering(handler)),
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
                handler(self._desk, memory, request, response)
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


def snake(name: str) -> str:
    """GetChanges → get_changes."""
    return re.sub(r'(?<!^)(?=[A-Z])', '_', name).lower()
