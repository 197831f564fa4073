# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Topics that show what the memory holds: published after changes, and at most so often."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from rclpy.event_handler import PublisherEventCallbacks
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import QoSProfile

from memory_node.errors import ClosedError
from memory_node.memory import SpatialMemory
from memory_node.model import ChangeKind, Commit

BATCH, SMALL_BATCH = 25, 100
REST_S = 0.001
"""How many things, or small things, to handle before resting, and how long."""

OnProblem = Callable[[str, str], None]
_T = TypeVar('_T')


class Board:
    """Publishes what the memory holds when that has changed.

    Those who commit only leave a note (`changed`), which costs next to nothing. A thread does the
    work; it holds the memory but briefly, and rests in between, so that intake gets its turn. It
    sleeps while there is nothing to do. What could not be published is reported, and all of it is
    shown the next time.
    """

    def __init__(
        self,
        node: LifecycleNode,
        message_type: Any,
        topic: str,
        profile: QoSProfile,
        on_problem: OnProblem,
        *,
        period_s: float,
        sighting_period_s: float | None,
        lazy: bool,
    ) -> None:
        """Create the publisher; `start` makes it work.

        Args:
            node: whose it is.
            message_type, topic, profile: of the publisher.
            on_problem: told of what could not be published: reason, and the details in words.
            period_s: least time between two messages.
            sighting_period_s: the same after sightings that changed nothing in kind, only counts,
                evidence and times; None: these are not shown.
            lazy: nothing is computed without a subscriber, and a new one gets everything at once.
        """
        self._on_problem, self._lazy = on_problem, lazy
        self._period_s, self._sighting_period_s = period_s, sighting_period_s
        self._news = threading.Condition()
        self._due: float | None = None
        self._last = float('-inf')
        self._whole = True
        self._ids: set[int] = set()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._publisher = node.create_lifecycle_publisher(
            message_type, topic, profile,
            event_callbacks=PublisherEventCallbacks(matched=self._matched),
        )  # fmt: skip

    # -- called by other threads -------------------------------------------------------------

    def start(self, memory: SpatialMemory) -> None:
        """Show what there is, and from now on what changes."""
        self._stopping = False
        self._thread = threading.Thread(target=self._run, args=(memory,), daemon=True)
        self._thread.start()
        self.refresh()

    def stop(self) -> None:
        """Show what has changed until now, and stop; may be called twice."""
        with self._news:
            self._stopping = True
            self._news.notify()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def changed(self, commit: Commit) -> None:
        """Take note of a commit; never blocks."""
        ids = _ids_of(commit)
        if any(change.kind is ChangeKind.REGION for change in commit.changes):
            self._note(self._period_s, whole=True)
        elif ids:
            self._note(self._period_s, ids)
        elif self._sighting_period_s is not None and any(v.object_id for v in commit.verdicts):
            self._note(self._sighting_period_s)

    def refresh(self) -> None:
        """Show everything anew: settings were changed."""
        self._note(self._period_s, whole=True)

    def _matched(self, info: Any) -> None:
        if self._lazy and info.current_count_change > 0:
            self._note(0.0, whole=True)

    def _note(self, delay_s: float, ids: Iterable[int] = (), whole: bool = False) -> None:
        with self._news:
            self._whole |= whole
            if not self._whole:
                self._ids.update(ids)
            due = self._last + delay_s
            if self._due is None or due < self._due:
                self._due = due
                self._news.notify()

    # -- the thread --------------------------------------------------------------------------

    def _run(self, memory: SpatialMemory) -> None:
        while True:
            with self._news:
                while not self._stopping and (left := self._patience()) != 0.0:
                    self._news.wait(left)
                stopping, due, self._due = self._stopping, self._due, None
                ids, self._ids = self._ids, set()
                whole, self._whole = self._whole, False
                self._last = time.monotonic()
            if due is not None and not self._show(memory, None if whole else ids):
                with self._news:
                    self._whole = True
            if stopping:
                return

    def _patience(self) -> float | None:
        """Seconds until there is something to do; None: there is nothing to do."""
        return None if self._due is None else max(0.0, self._due - time.monotonic())

    def _show(self, memory: SpatialMemory, ids: set[int] | None) -> bool:
        """Publish; return whether the next time may be about what changes from now on."""
        if self._lazy and not self._publisher.get_subscription_count():
            return False
        try:
            for message in self._messages(memory, ids):
                self._publisher.publish(message)
        except ClosedError:
            return False
        except Exception as error:
            name = self._publisher.topic_name
            self._on_problem('not_published', f'{name}: {type(error).__name__}: {error}')
            return False
        return True

    def _messages(self, memory: SpatialMemory, ids: set[int] | None) -> Iterable[Any]:
        """Return what to publish; ids: the objects that changed, None: show everything."""
        raise NotImplementedError


def gently(items: Iterable[_T], batch: int = BATCH) -> Iterator[_T]:
    """Yield the items, resting now and then: a busy thread would hold up intake at every turn."""
    for count, item in enumerate(items, 1):
        yield item
        if count % batch == 0:
            time.sleep(REST_S)


def _ids_of(commit: Commit) -> set[int]:
    """Objects that look different after a commit, or have other relations."""
    ids: set[int] = set()
    for change in commit.changes:
        if change.kind is ChangeKind.EVENT or change.object_id is None:
            continue
        ids.add(change.object_id)
        other = change.after.get('object_id')
        if isinstance(other, int):
            ids.add(other)
    return ids
