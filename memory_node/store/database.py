# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The SQLite connection: opening, migrations, transactions, checkpoints off the commit path."""

from __future__ import annotations

import importlib.resources
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from memory_node.errors import StoreError

APPLICATION_ID = 0x534D656D  # "SMem"
MEMORY = ':memory:'
CHECKPOINT_EVERY_S = 1.0
BUSY_TIMEOUT_MS = 5000


def migrations() -> list[tuple[int, str]]:
    """Return (number, SQL) of every migration this library has, ascending."""
    folder = importlib.resources.files('memory_node.store') / 'schema'
    found = []
    for item in folder.iterdir():
        match = re.fullmatch(r'(\d{4})_\w+\.sql', item.name)
        if match:
            found.append((int(match[1]), item.read_text(encoding='utf-8')))
    return sorted(found)


class Database:
    """One writing connection to one file; forward migrations are applied at opening.

    Args:
        path: the file; `:memory:` keeps everything in memory.
        durability: `process` (a commit survives kill -9, and a power cut after at most about a
            second) or `power` (a commit survives a power cut).

    Raises:
        StoreError: the file cannot be opened, is not one of ours, or is newer than this library.
    """

    def __init__(self, path: str, durability: str = 'process') -> None:
        self.path = path if path == MEMORY else str(Path(path).expanduser())
        self._power = durability == 'power'
        self.connection = self._open()
        self._checkpointer: _Checkpointer | None = None
        if self.path != MEMORY:
            self._checkpointer = _Checkpointer(self.path)

    def _open(self) -> apsw.Connection:
        try:
            connection = apsw.Connection(self.path)
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            self._prepare(connection)
        except apsw.Error as error:
            raise StoreError(f'cannot open {self.path!r} as a memory: {error}') from error
        return connection

    def _prepare(self, connection: apsw.Connection) -> None:
        owner = connection.pragma('application_id')
        version = int(connection.pragma('user_version'))
        tables = connection.execute('SELECT count(*) FROM sqlite_master').get
        if owner != APPLICATION_ID and tables:
            raise StoreError(
                f'{self.path!r} is an SQLite file of another program (application id '
                f'{owner:#x}), expected a spatial_memory file or a new path'
            )
        known = migrations()
        newest = known[-1][0]
        if version > newest:
            raise StoreError(
                f'{self.path!r} has schema {version}, this library knows up to {newest}: '
                'open it with a newer spatial_memory'
            )
        connection.pragma('journal_mode', 'wal')
        connection.pragma('synchronous', 'full' if self._power else 'normal')
        connection.pragma('foreign_keys', 'on')
        connection.pragma('wal_autocheckpoint', 0)
        for number, sql in known:
            if number > version:
                with connection:
                    list(connection.execute(sql))
                    connection.pragma('application_id', APPLICATION_ID)
                    connection.pragma('user_version', number)

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """Everything inside goes down together, or not at all.

        Raises:
            StoreError: SQLite refused; nothing of the block was written.
        """
        connection = self.connection
        try:
            connection.execute('BEGIN IMMEDIATE')
            try:
                yield connection
                connection.execute('COMMIT')
            except BaseException:
                with suppress(apsw.Error):
                    connection.execute('ROLLBACK')
                raise
        except apsw.Error as error:
            raise StoreError(f'cannot write to {self.path!r}: {error}') from error

    def committed(self, seq: int) -> None:
        """Tell the checkpointer that the log up to `seq` has been committed."""
        if self._checkpointer is not None:
            self._checkpointer.committed_seq = seq

    def durable_seq(self, seq: int) -> int:
        """Return the log line up to which a power cut loses nothing, given the last line."""
        if self._power or self._checkpointer is None:
            return seq
        return self._checkpointer.durable_seq

    def rows(self, sql: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a question.

        Raises:
            StoreError: SQLite refused.
        """
        try:
            return self.connection.execute(sql, bindings).fetchall()
        except apsw.Error as error:
            raise StoreError(f'cannot read {self.path!r}: {error}') from error

    def close(self) -> None:
        """Write everything back into the one file and close it."""
        if self._checkpointer is not None:
            self._checkpointer.stop()
        with suppress(apsw.Error):
            self.connection.pragma('wal_checkpoint(TRUNCATE)')
        self.connection.close()


class _Checkpointer:
    """Moves the write-ahead log into the file once a second, on a connection of its own.

    In-commit checkpoints cost a factor ten in the 99th percentile of a commit.
    """

    def __init__(self, path: str) -> None:
        self.committed_seq = 0
        self.durable_seq = 0
        self._path = path
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='checkpointer', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        connection = apsw.Connection(self._path)
        connection.set_busy_timeout(0)
        while not self._stop.wait(CHECKPOINT_EVERY_S):
            seq = self.committed_seq
            if seq == self.durable_seq:
                continue
            with suppress(apsw.BusyError, apsw.LockedError):
                connection.execute('PRAGMA wal_checkpoint(PASSIVE)').fetchall()
                self.durable_seq = seq
        connection.close()
