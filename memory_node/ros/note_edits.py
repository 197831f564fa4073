# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Takes in what people edit in the journal of notes, now and then."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode

from memory_node.errors import ClosedError, SpatialMemoryError
from memory_node.memory import SpatialMemory


class Edits:
    """Looks for edits by a timer of its own; what takes long is done in turns with the rest."""

    def __init__(
        self,
        node: LifecycleNode,
        period_s: float,
        memory: Callable[[], SpatialMemory | None],
        on_problem: Callable[[str, str], None],
    ) -> None:
        """Start; period_s: 0: never look.

        Args:
            node: whose timer it is. memory: what is open, or None.
            on_problem: told of what could not be read: reason, and the details in words.
        """
        self._memory, self._on_problem = memory, on_problem
        if period_s:
            # Files change in the time of the world, whatever a simulator's clock says.
            node.create_timer(
                period_s, self.look, MutuallyExclusiveCallbackGroup(),
                Clock(clock_type=ClockType.STEADY_TIME),
            )  # fmt: skip

    def look(self) -> None:
        """Take in what was edited; where that fails, the map goes on, and it is told."""
        memory = self._memory()
        if memory is None:
            return
        try:
            memory.sync_notes()
        except ClosedError:
            pass  # it is shut down just now
        except SpatialMemoryError as error:
            self._on_problem('notes', f'the journal could not be read: {error}')
