# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Ask the memory from a Python node, also from inside its callbacks."""

from __future__ import annotations

import itertools
import os
import threading
from types import TracebackType
from typing import Any

import spatial_memory.srv
from rclpy.client import Client
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

from memory_node.errors import SpatialMemoryError

DEADLINE_S = 5.0
_SPIN_S = 0.2
_numbers = itertools.count(1)


class RequestError(SpatialMemoryError):
    """A request was not answered, or was refused.

    Attributes:
        error_code: of the reply, see the .srv files; None: there was no reply.
    """

    def __init__(self, text: str, error_code: int | None = None) -> None:
        super().__init__(text)
        self.error_code = error_code


class MemoryClient:
    """Calls the services of a memory node, and waits for each reply.

    Safe to use from any thread and from any callback, whatever the executor: replies are taken by
    a node and a thread of its own, so that waiting for one never holds up what would bring it.

        with MemoryClient() as memory:
            for hit in memory.call('query', text='mug').hits: ...
    """

    def __init__(
        self,
        memory: str = 'spatial_memory',
        namespace: str = '',
        context: Context | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        """Create it; rclpy must be initialised.

        Args:
            memory: name of the memory node, relative to the namespace or absolute.
            namespace: where it is.
            context: rclpy's; None: the default one.
            deadline_s: longest wait for a service and its reply.
        """
        self._memory, self._deadline_s = memory, deadline_s
        self._node = Node(
            f'memory_client_{os.getpid()}_{next(_numbers)}', namespace=namespace or None,
            context=context, start_parameter_services=False,
        )  # fmt: skip
        self._clients: dict[str, Client] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, name='memory_client', daemon=True)
        self._thread.start()

    def call(self, service: str, **fields: Any) -> Any:
        """Send a request and return the reply.

        Args:
            service: its name, for example 'query' or 'get_changes'.
            **fields: of the request; those left out have their defaults.

        Raises:
            RequestError: it was refused, or there was no reply within the deadline.
            AttributeError: there is no such service, or its request has no such field.
        """
        client = self._client(service)
        if not client.wait_for_service(self._deadline_s):
            raise RequestError(f'{client.srv_name}: no such service within {self._deadline_s:g} s')
        future = client.call_async(client.srv_type.Request(**fields))
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        if not done.wait(self._deadline_s):
            client.remove_pending_request(future)
            raise RequestError(f'{client.srv_name}: no reply within {self._deadline_s:g} s')
        reply = future.result()
        if not reply.success:
            raise RequestError(f'{client.srv_name}: {reply.message}', int(reply.error_code))
        return reply

    def close(self) -> None:
        """Free everything; may be called twice."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
            self._executor.shutdown()
            self._node.destroy_node()

    def __enter__(self) -> MemoryClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _client(self, service: str) -> Client:
        with self._lock:
            if service not in self._clients:
                name = ''.join(word.capitalize() for word in service.split('_'))
                kind = getattr(spatial_memory.srv, name)
                self._clients[service] = self._node.create_client(kind, f'{self._memory}/{service}')
            return self._clients[service]

    def _spin(self) -> None:
        while not self._stop.is_set():
            try:
                self._executor.spin_once(timeout_sec=_SPIN_S)
            except InvalidHandle:
                continue  # something was destroyed while it was waited for
            except ExternalShutdownException:
                return
