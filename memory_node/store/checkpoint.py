# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Checkpoints off the commit path: in a commit they cost a factor ten in the 99th percentile."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

EVERY_S = 1.0
TRUNCATE_FROM_BYTES = 8 * 2**20
"""A write-ahead log from this size on is emptied as soon as no other reader needs it."""
WARN_FROM_BYTES = 64 * 2**20


class Checkpointer:
    """Makes commits durable and moves them into the file, once a second, in a thread of its own.

    Attributes:
        committed_seq: set by the writer after each commit.
        durable_seq: log line up to which a power cut loses nothing.
        log_bytes: size of the write-ahead log when last looked at.
    """

    def __init__(self, path: Path, seq: int) -> None:
        self.committed_seq = self.durable_seq = seq
        self.log_bytes = 0
        self._stuck = False
        self._path = path
        self._connection: apsw.Connection | None = None
        self._turn = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='checkpointer', daemon=True)
        self._thread.start()

    @property
    def held_back(self) -> bool:
        """Whether a reader outside keeps the write-ahead log from being emptied (C32)."""
        return self._stuck and self.log_bytes >= WARN_FROM_BYTES

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the file to somebody who needs it alone."""
        with self._turn:
            yield

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        with suppress(apsw.Error):
            self._connection = apsw.Connection(str(self._path))
            self._connection.set_busy_timeout(0)
            while not self._stop.wait(EVERY_S):
                with self._turn:
                    self._once(self._connection)
        if self._connection is not None:
            self._connection.close()

    def _once(self, connection: apsw.Connection) -> None:
        seq = self.committed_seq
        log = f'{self._path}-wal'
        with suppress(OSError):
            self.log_bytes = os.stat(log).st_size
        if seq == self.durable_seq and self.log_bytes < TRUNCATE_FROM_BYTES:
            return
        with suppress(OSError):
            descriptor = os.open(log, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            self.durable_seq = seq
        with suppress(apsw.Error):
            done: Any = connection.execute('PRAGMA wal_checkpoint(PASSIVE)').fetchall()
            [(_, frames, moved)] = done
            self._stuck = moved < frames  # only a reader holds a passive checkpoint back
            if self.log_bytes >= TRUNCATE_FROM_BYTES:
                connection.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()
