# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Asks the memory over its services, and listens to its feed of changes."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.client import Client
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from spatial_memory.msg import Change, ChangeArray, Hit, MemoryObject, Property
from spatial_memory.srv import Forget, History, Query, Relate

from memory_node.demo.messages import nanoseconds
from memory_node.errors import SpatialMemoryError
from memory_node.model import Triple

MEMORY = 'spatial_memory'
ANSWER_S = 10.0
"""Longest wait for an answer."""
HELLO_S = 1.0
"""Longest wait for one try of the first answer, which may be lost while endpoints still match."""
SPIN_S = 0.05
ALL = 1000
"""The largest limit."""
CONFIRMED = (MemoryObject.STATE_CONFIRMED,)
KNOWN = (
    MemoryObject.STATE_CONFIRMED, MemoryObject.STATE_DOUBTFUL, MemoryObject.STATE_ABSENT,
)  # fmt: skip
"""States of what was once confirmed, or is missed."""
EVERY_STATE = (*KNOWN, MemoryObject.STATE_TENTATIVE, MemoryObject.STATE_HELD)
"""States of all that has not ended."""


class ServiceError(SpatialMemoryError):
    """A service is missing, did not answer, or refused a request."""


class MemoryClient(Node):
    """A client of ~/query, ~/history, ~/relate and ~/forget of the memory.

    Attributes:
        kinds: kind of change → how often it came on ~/changes.
        moved: object → where it was and where it is, of those that moved since this was emptied.
        last_stamp_ns: newest stamp of a view that came on ~/changes; 0: none.
    """

    def __init__(self, context: Context) -> None:
        super().__init__('demo', context=context)
        self.kinds: Counter[str] = Counter()
        self.moved: dict[int, tuple[Triple, Triple]] = {}
        self.last_stamp_ns = 0
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self)
        self._doors: dict[str, Client] = {
            name: self.create_client(kind, f'{MEMORY}/{name}')
            for name, kind in (
                ('query', Query),
                ('history', History),
                ('relate', Relate),
                ('forget', Forget),
            )
        }
        self.create_subscription(
            ChangeArray, f'{MEMORY}/changes', self._on_changes, QoSProfile(depth=200)
        )

    def wait_ready(self, deadline_s: float, check: Callable[[], None]) -> None:
        """Wait until the memory answers.

        Args:
            deadline_s: longest wait.
            check: called meanwhile; raises when waiting has become pointless.

        Raises:
            ServiceError: a service is missing, or the first answer did not come.
        """
        until = time.monotonic() + deadline_s
        while missing := [n for n, c in self._doors.items() if not c.service_is_ready()]:
            check()
            self.spin()
            if time.monotonic() > until:
                names = ', '.join(f'/{MEMORY}/{name}' for name in missing)
                raise ServiceError(f'no service {names} within {deadline_s:g} s')
        while True:
            check()
            try:
                self._call('query', Query.Request(limit=1), HELLO_S)
                return
            except ServiceError:
                if time.monotonic() > until:
                    raise

    def wait_gone(self) -> None:
        """Wait until no service of the memory is left.

        Raises:
            ServiceError: one still is.
        """
        until = time.monotonic() + ANSWER_S
        while any(client.service_is_ready() for client in self._doors.values()):
            self.spin()
            if time.monotonic() > until:
                raise ServiceError('the memory has ended, but its services are still announced')

    def query(
        self,
        text: str = '',
        near_m: Triple | None = None,
        radius_m: float = 0.0,
        states: Sequence[str] = (),
        limit: int = ALL,
    ) -> tuple[list[Hit], int]:
        """Return the hits, best first, and how many match whatever the limit."""
        request = Query.Request(text=text, states=[str(s) for s in states], limit=int(limit))
        if near_m is not None:
            point = request.near.point
            point.x, point.y, point.z = (float(v) for v in near_m)
            request.radius_m = float(radius_m)
        reply = self._call('query', request)
        return list(reply.hits), int(reply.total)

    def history(self, object_id: int, limit: int = 0) -> History.Response:
        """Return what is known of one object; limit 0: as many as the memory gives by itself."""
        return self._call('history', History.Request(object_id=int(object_id), limit=int(limit)))

    def relate(self, relation: str, label: str, limit: int = ALL) -> Relate.Response:
        """Return what stands in a relation to the things of a label."""
        request = Relate.Request(relation=str(relation), object=str(label), limit=int(limit))
        return self._call('relate', request)

    def forget(self, object_id: int, actor: str, reason: str) -> Forget.Response:
        """End an object."""
        request = Forget.Request(object_id=int(object_id), actor=str(actor), reason=str(reason))
        return self._call('forget', request)

    def spin(self) -> None:
        """Handle what has come, or wait a moment for something to come."""
        self._executor.spin_once(timeout_sec=SPIN_S)

    def close(self) -> None:
        """Free what the node holds."""
        self._executor.shutdown()
        self.destroy_node()

    def _call(self, name: str, request: Any, deadline_s: float = ANSWER_S) -> Any:
        client = self._doors[name]
        future = client.call_async(request)
        self._executor.spin_until_future_complete(future, timeout_sec=deadline_s)
        if not future.done():
            client.remove_pending_request(future)
            raise ServiceError(f'/{MEMORY}/{name} did not answer within {deadline_s:g} s')
        reply = future.result()
        if not reply.success:
            raise ServiceError(
                f'/{MEMORY}/{name} refused (error_code {reply.error_code}): {reply.message}'
            )
        return reply

    def _on_changes(self, message: ChangeArray) -> None:
        for change in message.changes:
            self.kinds[change.kind] += 1
            if change.kind == Change.MOVED:
                number = int(change.object.id)
                start, end = _place_in(change.before), _place_in(change.after)
                self.moved[number] = (self.moved.get(number, (start, end))[0], end)
        if message.sensor:
            self.last_stamp_ns = max(self.last_stamp_ns, nanoseconds(message.header.stamp))


def center_of(thing: MemoryObject) -> Triple:
    """Return the centre of an object, metres, map."""
    p = thing.pose.position
    return float(p.x), float(p.y), float(p.z)


def _place_in(said: Sequence[Property]) -> Triple:
    (value,) = (p.value for p in said if p.key == 'center_m')
    x, y, z = json.loads(value)
    return float(x), float(y), float(z)


def change_words(change: Change) -> str:
    """Return one line of the log in words."""
    by = f' by {change.actor}' if change.actor else ''
    because = f': {change.reason}' if change.reason else ''
    return f'{change.kind}{by}{because}'
