# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A subscription that hears reliable and best-effort publishers alike."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSPolicyKind, QoSProfile, qos_policy_name_from_kind
from rclpy.subscription import Subscription

from memory_node.ros import qos


class Input:
    """Subscribes reliably, so that each message counts, until a publisher offers only best effort.

    A reliable request never matches such a publisher (C13): then the subscription is made again as
    best effort, which matches both kinds, with one warning. That holds until the node ends.
    """

    def __init__(
        self,
        node: Node,
        message_type: Any,
        topic: str,
        profile: Callable[[], QoSProfile],
        best_effort_profile: Callable[[], QoSProfile],
        views_of: Callable[[Any], Iterable[Any]] = lambda message: (message,),
        callback_group: CallbackGroup | None = None,
    ) -> None:
        """Create it; `start` subscribes.

        Args:
            node: whose subscription it is.
            message_type: class of the messages.
            topic: relative name, so that it can be remapped.
            profile, best_effort_profile: return what to ask for, first and after a mismatch.
            views_of: returns what to hand on of a message.
            callback_group: a mutually exclusive one of its own when None.
        """
        self._node, self._type, self._topic = node, message_type, topic
        self._profiles = (profile, best_effort_profile)
        self._best_effort = False
        self._group = callback_group or MutuallyExclusiveCallbackGroup()
        self._views_of = views_of
        self._lock = threading.Lock()
        self._receive: Callable[[Any], None] | None = None
        self._subscription: Subscription | None = None

    @property
    def name(self) -> str:
        """Name of the topic, resolved and remapped."""
        return str(self._node.resolve_topic_name(self._topic))

    @property
    def type_name(self) -> str:
        """Name of the type as ROS writes it."""
        return f'{self._type.__module__.split(".")[0]}/msg/{self._type.__name__}'

    @property
    def reliability(self) -> str:
        """What is asked for at present, in words."""
        return 'best effort' if self._best_effort else 'reliable'

    def publishers(self) -> tuple[int, tuple[str, ...]]:
        """How many publishers of this type there are, and which other types are published."""
        types = [str(i.topic_type) for i in self._node.get_publishers_info_by_topic(self.name)]
        others = sorted({t for t in types if t != self.type_name})
        return types.count(self.type_name), tuple(others)

    def start(self, receive: Callable[[Any], None]) -> None:
        """Subscribe; `receive` is called with the views of every message, one at a time."""
        with self._lock:
            self._receive = receive
            self._subscribe()

    def stop(self) -> None:
        """Unsubscribe."""
        with self._lock:
            self._receive = None
            self._unsubscribe()

    def _subscribe(self) -> None:
        self._subscription = self._node.create_subscription(
            self._type, self._topic, self._take, self._profiles[self._best_effort](),
            callback_group=self._group,
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=self._mismatch),
            qos_overriding_options=qos.overrides(),
        )  # fmt: skip

    def _take(self, message: Any) -> None:
        receive = self._receive
        if receive is not None:
            for view in self._views_of(message):
                receive(view)

    def _unsubscribe(self) -> None:
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def _mismatch(self, event: Any) -> None:
        kind = event.last_policy_kind
        what = (
            f'a publisher of {self.name!r} offers an incompatible QoS (policy '
            f'{qos_policy_name_from_kind(kind)}): '
        )
        log = self._node.get_logger()
        if self._best_effort or kind != QoSPolicyKind.RELIABILITY:
            log.warning(f'{what}nothing is received from it')
            return
        log.warning(f'{what}listening as best effort from now on')
        with self._lock:
            self._best_effort = True
            if self._receive is not None:
                self._unsubscribe()
                self._subscribe()
