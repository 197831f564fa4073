# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Puts together what several topics say of one instant; the newest wins, the rest is counted."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any, NamedTuple

SUPERSEDED = 'superseded'
UNMATCHED = 'unmatched'
JUMPED = 'clock_jumped'
JUMP_NS = 1_000_000_000
"""A stamp that lies so far before the newest one of its topic means that time begins anew."""


class Set(NamedTuple):
    """Messages of one instant by topic."""

    stamp_ns: int
    messages: dict[str, Any]


class Matcher:
    """Keeps a few messages of each topic until there is one of every topic; safe across threads.

    The first topic leads: its messages are what is worked on, each once at the most.
    """

    def __init__(self, topics: Sequence[str], tolerance_ns: int, kept: int) -> None:
        """Create it.

        Args:
            topics: what belongs together. tolerance_ns: by how much its stamps may differ.
            kept: messages of each topic; beyond, the oldest goes.
        """
        self._leader, *self._others = topics
        self._tolerance_ns = tolerance_ns
        self._queues: dict[str, deque[tuple[int, Any]]] = {t: deque() for t in topics}
        self._kept = kept
        self._newest_ns: dict[str, int] = {}
        self._lock = threading.Lock()
        self._dropped: Counter[str] = Counter()
        self._received: Counter[str] = Counter()

    def add(self, topic: str, stamp_ns: int, message: Any) -> None:
        """Take in a message."""
        with self._lock:
            self._received[topic] += 1
            newest_ns = self._newest_ns.get(topic, stamp_ns)
            if stamp_ns + JUMP_NS < newest_ns:
                self._begin_anew(stamp_ns)
            self._newest_ns[topic] = max(self._newest_ns.get(topic, stamp_ns), stamp_ns)
            queue = self._queues[topic]
            if len(queue) >= self._kept:
                oldest_ns, _ = queue[0]
                if topic == self._leader:
                    self._drop(oldest_ns)
                queue.popleft()
            queue.append((stamp_ns, message))

    def take(self) -> Set | None:
        """Return the newest complete set; what is older goes. None: there is none."""
        with self._lock:
            leaders = sorted(self._queues[self._leader], key=lambda item: item[0], reverse=True)
            for stamp_ns, message in leaders:
                found = self._partners(stamp_ns)
                if found is not None:
                    self._forget_until(stamp_ns)
                    return Set(stamp_ns, {self._leader: message, **found})
            return None

    def counts(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return topic → messages received, and reason → messages of the leader dropped."""
        with self._lock:
            return dict(self._received), dict(self._dropped)

    def _begin_anew(self, stamp_ns: int) -> None:
        """Forget what is of the time before the clock jumped back to a stamp."""
        latest_ns = stamp_ns + JUMP_NS
        for topic, queue in self._queues.items():
            kept = [item for item in queue if item[0] <= latest_ns]
            if topic == self._leader and len(kept) < len(queue):
                self._dropped[JUMPED] += len(queue) - len(kept)
            queue.clear()
            queue.extend(kept)
        self._newest_ns.clear()

    def _partners(self, stamp_ns: int) -> dict[str, Any] | None:
        """The nearest message of every other topic; None: one has none of that time."""
        found = {}
        for topic in self._others:
            nearest = min(self._queues[topic], key=lambda i: abs(i[0] - stamp_ns), default=None)
            if nearest is None or abs(nearest[0] - stamp_ns) > self._tolerance_ns:
                return None
            found[topic] = nearest[1]
        return found

    def _forget_until(self, stamp_ns: int) -> None:
        """Forget what can be of no more use when a set of that time was taken."""
        for old_ns, _ in self._queues[self._leader]:
            if old_ns < stamp_ns:
                self._drop(old_ns)
        for topic, queue in self._queues.items():
            least_ns = stamp_ns + 1 if topic == self._leader else stamp_ns - self._tolerance_ns
            kept = [item for item in queue if item[0] >= least_ns]
            queue.clear()
            queue.extend(kept)

    def _drop(self, stamp_ns: int) -> None:
        complete = self._partners(stamp_ns) is not None
        self._dropped[SUPERSEDED if complete else UNMATCHED] += 1
