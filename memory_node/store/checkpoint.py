# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Checkpoints off the commit path: in a commit they cost a factor ten in the 99th percentile."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from memory_node.locking import FairLock

EVERY_S = 1.0
TRUNCATE_FROM_BYTES = 8 * 2**20
"""A write-ahead log from this size on is cut to nothing once less than that is in it."""
MOST_BYTES = 256 * 2**20
"""With so much in it, it begins anew even if the writer must wait for that."""
FEW_BYTES = 2**20
"""For so much to be moved the writer may wait."""
_FRAME_BYTES = 4096 + 24
WARN_FROM_BYTES = 64 * 2**20


class Checkpointer:
    """Makes commits durable and moves them into the file, once a second, in a thread of its own.

    Attributes:
        committed_seq: set by the writer after each commit.
        durable_seq: log line up to which a power cut loses nothing.
        log_bytes: size of the write-ahead log when last looked at.
        writing: held by whoever writes; emptying the log takes it for some milliseconds.
    """

    def __init__(self, path: Path, seq: int) -> None:
        self.committed_seq = self.durable_seq = seq
        self.log_bytes = 0
        self.writing = FairLock()
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
        at_rest = seq == self.durable_seq
        log = f'{self._path}-wal'
        with suppress(OSError):
            self.log_bytes = os.stat(log).st_size
        if at_rest and self.log_bytes < TRUNCATE_FROM_BYTES:
            return
        with suppress(OSError):
            descriptor = os.open(log, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            self.durable_seq = seq
        with suppress(apsw.Error):
            frames = self._move(connection)
            if self._stuck or self.log_bytes < TRUNCATE_FROM_BYTES:
                return
            if frames * _FRAME_BYTES >= MOST_BYTES:
                self._begin_anew(connection, frames)
            elif at_rest or frames * _FRAME_BYTES < TRUNCATE_FROM_BYTES:
                with self.writing:
                    _moved(connection, 'TRUNCATE')

    def _move(self, connection: apsw.Connection) -> int:
        """Move what was committed into the file; returns the frames of the log.

        Only a reader holds this back; what came meanwhile is moved by the next attempt.
        """
        frames, moved = _moved(connection)
        self._stuck = False
        if moved < frames:
            before, (frames, moved) = frames, _moved(connection)
            self._stuck = moved < before <= frames
        return frames

    def _begin_anew(self, connection: apsw.Connection, frames: int) -> None:
        """Let the log be written over from its beginning; cutting it would take a writer longer.

        A writer that never rests adds to the log while it is moved. So what it added is moved as
        long as that gets less, and then the writer waits for the little that is left: not for the
        disk, which has the rest.
        """
        added = frames
        while True:
            self._sync_file()
            last, before, (frames, _) = added, frames, _moved(connection)
            added = frames - before
            if added * _FRAME_BYTES <= FEW_BYTES or added > last // 2:
                break
        self._sync_file()
        with self.writing:
            _moved(connection, 'RESTART')

    def _sync_file(self) -> None:
        """Have the disk write what was moved into the file.

        By another process: where this one closes a file, SQLite's locks on that are gone. Without
        the program the writer waits for the disk.
        """
        with suppress(OSError, RuntimeError):  # there is none; the interpreter is ending
            subprocess.run(['sync', '-d', self._path], check=False, capture_output=True)


def _moved(connection: apsw.Connection, how: str = 'PASSIVE') -> tuple[int, int]:
    """Move what was committed into the file; returns the frames of the log, and those moved."""
    done: Any = connection.execute(f'PRAGMA wal_checkpoint({how})').fetchall()
    [(_, frames, moved)] = done
    return frames, moved
