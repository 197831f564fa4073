# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The change feed: one ChangeArray for every commit, in the order of the log."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rclpy.lifecycle import LifecycleNode
from spatial_memory.msg import ChangeArray

from memory_node.memory import SpatialMemory
from memory_node.model import Commit
from memory_node.ros import conversions, qos

PATIENCE_S = 1.0
"""How long a commit waits for the one that precedes it, which is published at the same moment by
another thread; after that it will not come."""

OnProblem = Callable[[str, str], None]


class Feed:
    """Publishes ~/changes.

    Commits are made by several threads; a commit that arrives before the one that precedes it in
    the log waits for it, so that the numbers on the feed have no gaps.
    """

    def __init__(self, node: LifecycleNode, map_frame: str, on_problem: OnProblem) -> None:
        """Create the publisher.

        Args:
            node: whose it is.
            map_frame: frame of all poses.
            on_problem: told of what could not be published: reason, and the details in words.
        """
        self._publisher = node.create_lifecycle_publisher(ChangeArray, '~/changes', qos.changes())
        self._map_frame, self._on_problem = map_frame, on_problem
        self._lock = threading.Lock()
        self._next_seq = 1
        self._early: dict[int, tuple[int, ChangeArray | None]] = {}
        self._early_since = 0.0

    def start(self, memory: SpatialMemory) -> None:
        """Begin after the last line of the log."""
        with self._lock:
            self._early.clear()
            self._next_seq = memory.seq + 1

    def publish(
        self, memory: SpatialMemory, commit: Commit, stamp_ns: int, sensor: str = ''
    ) -> None:
        """Publish a commit when its turn has come; one that wrote nothing is not published.

        What cannot be published is reported and left out: readers see the gap in the numbers, and
        those that follow are not held up.
        """
        if commit.seq < commit.first_seq:
            return
        message = self._message(memory, commit, stamp_ns, sensor)
        now = time.monotonic()
        with self._lock:
            if not self._early:
                self._early_since = now
            self._early[commit.first_seq] = (commit.seq, message)
            self._send_ready()
            if self._early and now - self._early_since > PATIENCE_S:
                first = min(self._early)
                self._on_problem('not_published', f'log lines {self._next_seq} to {first - 1}')
                self._next_seq = first
                self._send_ready()

    def _send_ready(self) -> None:
        while self._next_seq in self._early:
            last, ready = self._early.pop(self._next_seq)
            self._next_seq = last + 1
            self._send(ready)

    def _message(
        self, memory: SpatialMemory, commit: Commit, stamp_ns: int, sensor: str
    ) -> ChangeArray | None:
        try:
            return conversions.commit_to_change_array(
                commit, stamp_ns=stamp_ns, sensor=sensor, store_id=memory.store_id,
                durable_seq=memory.durable_seq, map_frame=self._map_frame,
            )  # fmt: skip
        except Exception as error:
            self._report(error)
            return None

    def _send(self, message: ChangeArray | None) -> None:
        if message is None:
            return
        try:
            self._publisher.publish(message)
        except Exception as error:
            self._report(error)

    def _report(self, error: Exception) -> None:
        self._on_problem('not_published', f'{type(error).__name__}: {error}')
