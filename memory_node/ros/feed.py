# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The change feed: one ChangeArray for every commit, in the order of the log."""

from __future__ import annotations

import threading

from rclpy.lifecycle import LifecycleNode
from spatial_memory.msg import ChangeArray

from memory_node.memory import SpatialMemory
from memory_node.model import Commit
from memory_node.ros import conversions, qos

SPARE = 1000


class Feed:
    """Publishes ~/changes.

    Commits are made by several threads; a commit that arrives before the one that precedes it in
    the log waits for it, so that the numbers on the feed have no gaps.
    """

    def __init__(self, node: LifecycleNode, map_frame: str) -> None:
        self._publisher = node.create_lifecycle_publisher(ChangeArray, '~/changes', qos.changes())
        self._map_frame = map_frame
        self._lock = threading.Lock()
        self._next_seq: int | None = None
        self._early: dict[int, tuple[int, ChangeArray]] = {}

    def publish(
        self, memory: SpatialMemory, commit: Commit, stamp_ns: int, sensor: str = ''
    ) -> None:
        """Publish a commit when its turn has come; one that wrote nothing is not published."""
        if commit.seq < commit.first_seq:
            return
        message = conversions.commit_to_change_array(
            commit, stamp_ns=stamp_ns, sensor=sensor, store_id=memory.store_id,
            durable_seq=memory.durable_seq, map_frame=self._map_frame,
        )  # fmt: skip
        with self._lock:
            self._early[commit.first_seq] = (commit.seq, message)
            if self._next_seq is None or len(self._early) > SPARE:
                self._next_seq = min(self._early)
            while self._next_seq in self._early:
                last, ready = self._early.pop(self._next_seq)
                self._publisher.publish(ready)
                self._next_seq = last + 1

    def start(self, memory: SpatialMemory) -> None:
        """Begin after the last line of the log."""
        with self._lock:
            self._early.clear()
            self._next_seq = memory.seq + 1
