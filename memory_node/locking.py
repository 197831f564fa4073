# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A lock that is given in the order in which it was asked for."""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType


class FairLock:
    """First come, first served, so that a question waits for at most the call under way.

    Python's own lock may be taken again and again by a busy thread while others starve. Not
    reentrant.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._owner: int | None = None

    @property
    def held(self) -> bool:
        """Whether the calling thread holds it."""
        return self._owner == threading.get_ident()

    def __enter__(self) -> FairLock:
        with self._guard:
            if self._owner is None and not self._waiting:
                self._owner = threading.get_ident()
                return self
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        turn.acquire()
        self._owner = threading.get_ident()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._guard:
            self._owner = None
            if self._waiting:
                self._owner = -1
                self._waiting.popleft().release()
