# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Waiting for what another thread or process does, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from memory_node.locking import FairLock

# Only a failing test waits so long; a loaded machine (C44 starts two runs beside the rest) may
# need some of it.
DEADLINE_S = 60.0
"""Longest wait for anything that should happen at once; this machine may be busy."""


def wait_for(
    condition: Callable[[], Any], timeout_s: float = DEADLINE_S, what: str = 'condition'
) -> Any:
    """Return the first true value of the condition; AssertionError after the deadline."""
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f'waited {timeout_s:g} s in vain for {what}')
        time.sleep(0.002)
    return value


def wait_until_queued(lock: FairLock, count: int) -> None:
    """Return once so many threads stand in line; nothing else tells that one has queued."""
    wait_for(lambda: len(lock._waiting) >= count, what=f'{count} threads in line')
