# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Waiting for what another thread does, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable

from memory_node.locking import FairLock

PATIENCE_S = 60.0


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Return once it holds; AssertionError after the deadline."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f'never: {what}'
        time.sleep(0.0005)  # between two looks


def wait_until_queued(lock: FairLock, count: int) -> None:
    """Return once so many threads stand in line; nothing else tells that one has queued."""
    wait_until(lambda: len(lock._waiting) >= count, f'{count} threads stand in line')
