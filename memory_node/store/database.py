# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The SQLite connection: creating and opening the file, migrations, transactions."""

from __future__ import annotations

import importlib.resources
import itertools
import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import apsw

from memory_node.errors import DamagedStoreError, ReadOnlyError, StoreBusyError, StoreError
from memory_node.store import opening
from memory_node.store.checkpoint import MOST_BYTES, Checkpointer

MEMORY = ':memory:'
BUSY_TIMEOUT_MS = 50
"""How long one attempt to write waits for a lock; `SpatialMemory` tries again."""
ERASING = 'erasing'
"""Key in `meta` while the file may still hold bytes of what was purged."""
ERASE_TIMEOUT_MS = 1000
"""How long removing old bytes waits for readers outside."""
PATIENCE_MS = 5000
_LAST_SEQ = 'SELECT coalesce(max(seq), 0) FROM log'


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
    """The connection to one file; forward migrations are applied at opening.

    Attributes:
        path: the file, or `:memory:`.
        readonly: whether writing is refused.
    """

    def __init__(
        self, path: str, durability: str = 'process', readonly: bool = False, recover: bool = False
    ) -> None:
        """Open or create the file.

        Args:
            path: `~` is expanded; `:memory:` keeps everything in memory.
            durability: `process` (a commit survives kill -9, and a power cut after about a second)
                or `power` (a commit survives a power cut).
            readonly: open an existing file for reading; it may be in use by a writer.
            recover: set a damaged file aside under a new name, and start empty.

        Raises:
            StoreError: cannot be opened, is another program's, or does not exist (readonly).
            StoreInUseError: another memory has it open for writing.
            DamagedStoreError, NewerSchemaError: see errors.
        """
        self.readonly = readonly
        self.path = path
        self.set_aside: Path | None = None
        self._log_was_left = False
        self._power = durability == 'power'
        self._lock: opening.FileLock | None = None
        self._checkpointer: Checkpointer | None = None
        self._writing: AbstractContextManager[Any] = nullcontext()
        if path == MEMORY:
            self.connection = self._connect(MEMORY)
            _migrate(self.connection)
            return
        target = opening.resolve(path)
        self.path = str(target)
        if not readonly:
            self._lock = opening.FileLock(target)
            self._log_was_left = opening.has_log(target)
        try:
            self.connection = self._open(target, recover)
            self._watch()
        except BaseException:
            self._release()
            raise

    def start_anew(self) -> None:
        """Set aside a file that could be opened but not be loaded, and go on with an empty one.

        Raises:
            StoreError: the new file cannot be made.
        """
        self._stop_watching()
        self.connection.close()
        target = Path(self.path)
        self.set_aside = opening.set_aside(target)
        self.connection = self._open_sound(target)
        self._watch()

    def _watch(self) -> None:
        if not self.readonly:
            seq = int(self.rows(_LAST_SEQ)[0][0])
            self._checkpointer = Checkpointer(Path(self.path), seq)
            self._writing = self._checkpointer.writing

    def _stop_watching(self) -> None:
        if self._checkpointer is not None:
            self._checkpointer.stop()

    def _open(self, target: Path, recover: bool) -> apsw.Connection:
        try:
            return self._open_sound(target)
        except DamagedStoreError:
            if not recover or self.readonly:
                raise
            self.set_aside = opening.set_aside(target)
            return self._open_sound(target)

    def _open_sound(self, target: Path) -> apsw.Connection:
        if target.exists():
            opening.require_sound(target, migrations()[-1][0], writing=not self.readonly)
        elif self.readonly:
            raise StoreError(f'{str(target)!r} does not exist')
        else:
            opening.require_no_leftovers(target)
            _create(target)
        connection = None
        try:
            connection = self._connect(str(target))
            if not self.readonly:
                _migrate(connection)
            connection.execute(_LAST_SEQ).fetchall()
            return connection
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
                raise DamagedStoreError(str(target), str(error)) from error
            if isinstance(error, apsw.Error):
                raise StoreError(f'cannot open {str(target)!r}: {error}') from error
            raise

    def _connect(self, name: str) -> apsw.Connection:
        if self.readonly:
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            options = {'mode': 'ro'}
            if not opening.may_write_beside(Path(name)) and not opening.has_log(Path(name)):
                options['immutable'] = '1'  # on a disk that is read-only nobody writes either
            connection = apsw.Connection(opening.uri(Path(name), **options), flags=flags)
            connection.set_busy_timeout(1000)
            return connection
        connection = apsw.Connection(name)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.pragma('journal_mode', 'wal')
        connection.pragma('synchronous', 'full' if self._power else 'normal')
        connection.pragma('foreign_keys', 'on')
        connection.pragma('wal_autocheckpoint', 0)
        connection.pragma('journal_size_limit', 2 * MOST_BYTES)  # cutting it takes long
        return connection

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """Everything inside goes down together, or not at all.

        Raises:
            StoreBusyError: another program holds the write lock.
            StoreError: SQLite refused; nothing of the block was written.
            ReadOnlyError: the file was opened for reading.
        """
        if self.readonly:
            raise ReadOnlyError(f'{self.path!r} was opened for reading only')
        try:
            with self._writing:
                yield from self._transaction()
        except apsw.BusyError as error:
            raise StoreBusyError(f'{self.path!r} is locked by another program') from error
        except apsw.Error as error:
            raise StoreError(f'cannot write to {self.path!r}: {error}') from error

    def _transaction(self) -> Iterator[apsw.Connection]:
        connection = self.connection
        connection.execute('BEGIN IMMEDIATE')
        try:
            yield connection
            connection.execute('COMMIT')
        except BaseException:
            with suppress(apsw.Error):
                connection.execute('ROLLBACK')
            raise

    @contextmanager
    def waiting(self) -> Iterator[apsw.Connection]:
        """A transaction that waits longer for a lock: what it writes is in other files already.

        Raises:
            StoreBusyError, StoreError, ReadOnlyError: see `transaction`.
        """
        self.connection.set_busy_timeout(PATIENCE_MS)
        try:
            with self.transaction() as connection:
                yield connection
        finally:
            self.connection.set_busy_timeout(BUSY_TIMEOUT_MS)

    @contextmanager
    def rewriting(self, whole: bool = True) -> Iterator[apsw.Connection]:
        """A transaction in which rows are replaced in any order; references are checked at its end.

        Checked one by one, each deleted row would be looked for in all tables that may refer to it.

        Args:
            whole: False: rows that others refer to are still to come, so nothing is checked.

        Raises:
            StoreError: a row refers to one that is not there; nothing of the block was written.
        """
        self.connection.pragma('foreign_keys', False)
        try:
            with self.transaction() as connection:
                yield connection
                wrong = connection.execute('PRAGMA foreign_key_check').fetchall() if whole else []
                if wrong:
                    raise StoreError(f'{len(wrong)} rows of {wrong[0][0]} and others refer to none')
        finally:
            self.connection.pragma('foreign_keys', True)

    def erase(self) -> bool:
        """Write the whole file anew, so that nothing that was removed is left in any of its pages.

        Returns:
            Whether the write-ahead log is empty too; a reader outside may still need what it holds.

        Raises:
            StoreError: there is no room for a second copy of the file.
        """
        self.connection.set_busy_timeout(ERASE_TIMEOUT_MS)
        try:
            return self._empty_log('VACUUM')
        except (apsw.BusyError, apsw.LockedError):
            return False
        except apsw.Error as error:
            raise StoreError(f'cannot write {self.path!r} anew: {error}') from error
        finally:
            self.connection.set_busy_timeout(BUSY_TIMEOUT_MS)

    def empty_left_log(self) -> None:
        """Empty a write-ahead log that a kill left, once the file is known to be sound.

        At its end may stand what was never committed, and so no purge could find.
        """
        if self._log_was_left and not self.readonly:
            with suppress(apsw.Error):  # a reader outside may need it
                self._empty_log()

    def _empty_log(self, *before: str) -> bool:
        """Run statements and empty the log; returns whether it is empty."""
        with self._checkpointer.paused() if self._checkpointer else nullcontext():
            for statement in (*before, 'PRAGMA wal_checkpoint(TRUNCATE)'):
                found = self.connection.execute(statement).fetchall()
        return not found[0][0]

    def committed(self, seq: int) -> None:
        """Say that the log up to `seq` has been committed."""
        if self._checkpointer is not None:
            self._checkpointer.committed_seq = seq

    def durable_seq(self, seq: int) -> int:
        """Return the log line up to which a power cut loses nothing, given the last line."""
        if self._power or self._checkpointer is None:
            return seq
        return self._checkpointer.durable_seq

    @property
    def log_held_back(self) -> bool:
        """Whether a reader outside makes the write-ahead log grow (C32)."""
        return self._checkpointer is not None and self._checkpointer.held_back

    def rows(self, sql: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a question.

        Raises:
            StoreError: SQLite refused.
        """
        with self._reading():
            return self.connection.execute(sql, bindings).fetchall()

    def batches(
        self, sql: str, bindings: Any = (), size: int = 256
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Return all rows of a question, some at a time: large ones are not held twice.

        Raises:
            StoreError: SQLite refused.
        """
        with self._reading():
            cursor = self.connection.execute(sql, bindings)
        while True:
            with self._reading():
                batch = list(itertools.islice(cursor, size))
            if not batch:
                return
            yield batch

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as error:
            raise DamagedStoreError(self.path, str(error)) from error
        except apsw.Error as error:
            raise StoreError(f'cannot read {self.path!r}: {error}') from error

    @property
    def reads_alone(self) -> bool:
        """Whether a copy is made on the one connection there is."""
        return self.path == MEMORY or self.readonly

    def copy_to(self, target: str) -> int:
        """Write a consistent copy into a new file, without holding up writers.

        Returns:
            The last log line of the copy.

        Raises:
            StoreError: the target exists already or cannot be written.
        """
        path = opening.resolve(target)
        if path.exists():
            raise StoreError(f'{str(path)!r} exists already, expected a new path')
        part = Path(f'{path}.part')
        own = self.reads_alone
        try:
            part.unlink(missing_ok=True)
            source = self.connection if own else apsw.Connection(self.path)
            try:
                copy = apsw.Connection(str(part))
                with copy.backup('main', source, 'main') as backup:
                    backup.step(-1)
                copy.pragma('journal_mode', 'delete')
                if copy.execute('SELECT 1 FROM meta WHERE key = ?', (ERASING,)).get:
                    copy.execute('VACUUM')
                seq = int(copy.execute('SELECT coalesce(max(seq), 0) FROM log').get)
                copy.close()
            finally:
                if not own:
                    source.close()
            opening.sync(part)
            os.replace(part, path)
            opening.sync(path.parent)
        except (apsw.Error, OSError) as error:
            part.unlink(missing_ok=True)
            raise StoreError(f'cannot copy to {str(path)!r}: {error}') from error
        return seq

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Everything read inside is of one moment, whatever a writer does meanwhile.

        Raises:
            StoreError: the file cannot be read.
        """
        self.rows('BEGIN')
        try:
            self.rows('SELECT 1 FROM sqlite_schema')
            yield
        finally:
            with suppress(apsw.Error):
                self.connection.execute('ROLLBACK')

    def close(self) -> None:
        """Write everything back into the one file and close it."""
        self._stop_watching()
        if not self.readonly:
            with suppress(apsw.Error):
                self.connection.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()
        self.connection.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()


def _create(target: Path) -> None:
    """Make the file under another name first, so that it is never there half made."""
    new = Path(f'{target}.new')
    for end in opening.COMPANIONS:
        Path(f'{new}{end}').unlink(missing_ok=True)
    try:
        connection = apsw.Connection(str(new))
        _migrate(connection)
        connection.close()
        opening.sync(new)
        os.replace(new, target)
    except (apsw.Error, OSError) as error:
        raise StoreError(f'cannot create {str(target)!r}: {error}') from error


def _migrate(connection: apsw.Connection) -> None:
    version = int(connection.pragma('user_version'))
    for number, sql in migrations():
        if number > version:
            with connection:
                list(connection.execute(sql))
                connection.pragma('application_id', opening.APPLICATION_ID)
                connection.pragma('user_version', number)
