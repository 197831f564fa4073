# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/note_events: one message for each retrieval and write of notes (HY-14)."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from rclpy.lifecycle import LifecycleNode
from spatial_memory.msg import NoteActivity

from memory_node.memory import SpatialMemory
from memory_node.ros import note_messages, qos
from memory_node.ros.conversions import stamp_from_ns

WAITING = 10_000
"""Events that wait at most; beyond, the oldest is lost."""


class NoteFeed:
    """Publishes ~/note_events; the memory tells it under its lock, and it publishes after that."""

    def __init__(
        self,
        node: LifecycleNode,
        now_ns: Callable[[], int],
        on_problem: Callable[[str, str], None],
    ) -> None:
        """Create the publisher.

        Args:
            node: whose it is. now_ns: its clock.
            on_problem: told of what could not be published: reason, and the details in words.
        """
        self._publisher = node.create_lifecycle_publisher(
            NoteActivity, '~/note_events', qos.note_events()
        )
        self._now_ns, self._on_problem = now_ns, on_problem
        self._waiting: deque[Mapping[str, Any]] = deque(maxlen=WAITING)
        self._turn = threading.Lock()

    def start(self, memory: SpatialMemory) -> None:
        """Be told by a memory from now on."""
        self._waiting.clear()
        memory.on_note_event(self._waiting.append)

    def flush(self) -> None:
        """Publish what was told, in its order."""
        with self._turn:
            while self._waiting:
                event = self._waiting.popleft()
                try:
                    message = note_messages.activity_to_msg(event)
                    message.stamp = stamp_from_ns(self._now_ns())
                    self._publisher.publish(message)
                except Exception as error:  # a request is not refused for it
                    self._on_problem('not_published', f'{type(error).__name__}: {error}')
