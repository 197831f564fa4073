# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Warnings that say what goes wrong again and again without flooding the log."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

EVERY_S = 5.0


class Complaints:
    """Logs at most one line in five seconds for each reason, and how many were left out.

    rclpy's own throttle goes by the line of code, so that one reason would silence all others.
    """

    def __init__(self, log: Callable[[str], object], clock: Callable[[], float] = time.monotonic):
        """Create it.

        Args:
            log: where lines go, for example `node.get_logger().warning`.
            clock: returns seconds.
        """
        self._log, self._clock = log, clock
        self._lock = threading.Lock()
        self._last: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def __call__(self, reason: str, text: str) -> None:
        """Log, unless the same reason was logged just now."""
        now = self._clock()
        with self._lock:
            last = self._last.get(reason)
            if last is not None and now - last < EVERY_S:
                self._left_out[reason] = self._left_out.get(reason, 0) + 1
                return
            self._last[reason] = now
            more = self._left_out.pop(reason, 0)
        self._log(f'{text} ({more} more like this in between)' if more else text)
