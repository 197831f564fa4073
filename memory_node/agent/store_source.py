# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A file of the memory, read only, as what tools ask: always as it is now."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from memory_node.memory import SpatialMemory

_Mark = tuple[tuple[int, int, int], ...]


class StoreSource:
    """Every attribute is that of SpatialMemory, opened read only.

    What is read is the state at opening; so it is opened anew once the file, or the log that a
    writer keeps beside it, is not what it was.
    """

    def __init__(self, path: str) -> None:
        """Open a file.

        Raises:
            StoreError: it cannot be opened.
        """
        self._path = path
        self._memory = SpatialMemory.open(path, readonly=True)
        self._mark = self._marked()

    def __getattr__(self, name: str) -> Any:
        """An attribute of the memory as it is now."""
        mark = self._marked()
        if mark != self._mark:
            memory = SpatialMemory.open(self._path, readonly=True)
            self._memory.close()
            self._memory, self._mark = memory, mark
        return getattr(self._memory, name)

    def __enter__(self) -> StoreSource:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._memory.close()

    def _marked(self) -> _Mark:
        """Number, size and time of change of the file and of its log."""
        found = []
        for name in (self._memory.path, f'{self._memory.path}-wal'):
            try:
                about = os.stat(name)
                found.append((about.st_ino, about.st_size, about.st_mtime_ns))
            except OSError:
                found.append((0, 0, 0))
        return tuple(found)
