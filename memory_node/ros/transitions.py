# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What rclpy's lifecycle leaves open: transitions that fail must say so."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import Any

from lifecycle_msgs.srv import ChangeState
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

Transition = Callable[[Any, LifecycleState], TransitionCallbackReturn]


def reported(transition: Transition) -> Transition:
    """Log what a transition raises: rclpy swallows it, and goes to error processing."""

    @functools.wraps(transition)
    def wrapper(self: Any, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            return transition(self, state)
        except Exception:
            self.get_logger().error(f'{transition.__name__} failed: {traceback.format_exc()}')
            return TransitionCallbackReturn.ERROR

    return wrapper


def answer_invalid_transitions(node: LifecycleNode) -> None:
    """Refuse a transition that the present state does not have; rclpy of Jazzy never answers."""
    for service in node.services:
        if service.srv_type is ChangeState:
            service.callback = _answering(node, service.callback)


def _answering(node: LifecycleNode, change: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def answer(request: Any, response: Any) -> Any:
        try:
            return change(request, response)
        except Exception as error:
            wanted = request.transition.label or request.transition.id
            node.get_logger().error(f'transition {wanted} was refused: {error}')
            response.success = False
            return response

    return answer
