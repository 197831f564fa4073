# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Follow the changes of a memory from a Python node: every change once, in order, none missing."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.task import Future
from spatial_memory.msg import Change, ChangeArray
from spatial_memory.srv import GetChanges

from memory_node.config import MAX_LIMIT
from memory_node.ros import qos

RETRY_S = 0.25
"""How often to look whether the log can be asked, while that is needed."""
REPLY_S = 2.0
"""A request without a reply for this long is made again: the node may have died."""
MOST_WAITING = 1000
"""Messages that are kept while the log is read; what is lost beyond is read from the log too."""

OnChanges = Callable[[list[Change]], None]
OnReset = Callable[[str], None]


class FeedClient:
    """Tells a node of every change of a memory exactly once and in order.

    It follows ~/changes. What was missed there (before it began, while the memory node was away,
    or because messages were lost) it reads from the log with ~/get_changes. It never blocks, so it
    works with any executor; its callbacks come one at a time, from the executor of the node.

        feed = FeedClient(self, on_changes=self.apply, on_reset=self.start_over)

    Changes that come from the feed hold the object after the change, those from the log only its
    id. A callback that raises is not called again with the same changes.

    Attributes:
        store_id, last_seq: of which store, and up to which log line everything was told. Kept with
            what was made of the changes, they let a restarted program go on from there.
        gaps: how often messages were found missing on the feed.
        in_step: whether nothing is missing at present.
    """

    def __init__(
        self,
        node: Node,
        on_changes: OnChanges,
        on_reset: OnReset,
        name: str = 'spatial_memory',
        *,
        store_id: str = '',
        since_seq: int = 0,
    ) -> None:
        """Begin.

        Args:
            node: whose subscription and client these are.
            on_changes: called with new changes, oldest first.
            on_reset: called with the identity of the store when it is another one than before, or
                was cut short: what was told before holds no longer, and all is told from the start.
            name: of the memory node, relative to the namespace of the node or absolute.
            store_id, since_seq: where to go on; by default everything is told from the start.
        """
        self.store_id, self.last_seq = store_id, since_seq
        self.gaps = 0
        self.in_step = False
        self._node, self._on_changes, self._on_reset = node, on_changes, on_reset
        self._waiting: deque[ChangeArray] = deque(maxlen=MOST_WAITING)
        self._asked: Future | None = None
        self._asked_at = 0.0
        self._asked_since = 0
        group = MutuallyExclusiveCallbackGroup()
        self._subscription = node.create_subscription(
            ChangeArray, f'{name}/changes', self._take, qos.changes(), callback_group=group,
            event_callbacks=SubscriptionEventCallbacks(matched=self._matched),
        )  # fmt: skip
        self._client = node.create_client(GetChanges, f'{name}/get_changes', callback_group=group)
        # A reply is announced outside the group, perhaps by another thread: this brings it in.
        self._replied = node.create_guard_condition(self._read_reply, callback_group=group)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(RETRY_S, self._tick, callback_group=group, clock=steady)

    def close(self) -> None:
        """End it; nothing is told any more."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_guard_condition(self._replied)
        self._node.destroy_client(self._client)
        self._node.destroy_subscription(self._subscription)

    # -- callbacks, one at a time --------------------------------------------------------------

    def _take(self, message: ChangeArray) -> None:
        self._waiting.append(message)
        self._follow()

    def _matched(self, info: Any) -> None:
        """A memory node has come, perhaps again: it may have changed what was not published."""
        if info.current_count_change > 0:
            self._read_log()

    def _tick(self) -> None:
        if self.in_step:
            return
        if self._asked is not None and time.monotonic() - self._asked_at > REPLY_S:
            self._client.remove_pending_request(self._asked)
            self._asked = None
        self._ask()

    def _read_reply(self) -> None:
        future = self._asked
        if future is None or not future.done():
            return
        self._asked = None
        reply = future.result()
        if reply is not None and reply.success:  # otherwise the timer asks again
            self._take_reply(reply)

    # -- the feed ----------------------------------------------------------------------------

    def _follow(self) -> None:
        """Tell what the messages say, as far as they follow on one another."""
        while self.in_step and self._waiting:
            message = self._waiting.popleft()
            if message.store_id != self.store_id:
                self._read_log()
            elif message.first_seq > self.last_seq + 1:
                self.gaps += 1
                self._read_log()
            elif message.last_seq > self.last_seq:
                new = [change for change in message.changes if change.seq > self.last_seq]
                self.last_seq = message.last_seq
                if new:
                    self._on_changes(new)

    # -- the log -----------------------------------------------------------------------------

    def _read_log(self) -> None:
        self.in_step = False
        self._ask()

    def _ask(self) -> None:
        if self._asked is not None or not self._client.service_is_ready():
            return
        self._asked_at, self._asked_since = time.monotonic(), self.last_seq
        self._asked = self._client.call_async(
            GetChanges.Request(store_id=self.store_id, since_seq=self.last_seq, limit=MAX_LIMIT)
        )
        self._asked.add_done_callback(self._announce_reply)

    def _announce_reply(self, _: Future) -> None:
        with suppress(InvalidHandle):  # closed meanwhile
            self._replied.trigger()

    def _take_reply(self, reply: Any) -> None:
        before, self.store_id = self.store_id, reply.store_id
        cut = reply.log_seq < self._asked_since
        if cut or before not in ('', reply.store_id):
            self.last_seq = 0
            if not reply.reset:  # the reply goes on from the line that was asked for
                self._ask()
            self._on_reset(reply.store_id)
            if not reply.reset:
                return
        new = [change for change in reply.changes if change.seq > self.last_seq]
        self.last_seq = max(self.last_seq, reply.last_seq)
        self.in_step = self.last_seq >= reply.log_seq
        if not self.in_step:
            self._ask()
        try:
            if new:
                self._on_changes(new)
        finally:
            self._follow()
