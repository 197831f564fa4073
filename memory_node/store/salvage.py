# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Copy what a damaged file still says: the longest prefix of its log that is whole.

Views, observations and log lines are taken over up to the first that cannot be read, is not as
this package writes it, or contradicts the others. What follows from them is not read but replayed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from memory_node.config import CHRONOTOPE, Config
from memory_node.errors import NewerSchemaError, StoreError
from memory_node.fusion.classes import load_classes
from memory_node.model import ChangeKind, VerdictKind
from memory_node.store import audit, log, opening, seal
from memory_node.store.database import MEMORY, Database, migrations
from memory_node.store.rebuild import DERIVED, Replay, put_derived
from memory_node.store.session import Session

Progress = Callable[[str, int], None]
"""Is told what is being done, and the log line up to which it has been."""

_SIZES = {'sensor_pose': 56, 'field_of_view': 32, 'localization_cov': 288, 'position_cov': 72}
"""Bytes of the blobs whose length never varies."""
_TYPES: dict[Any, type] = {'INTEGER': int, 'REAL': float, 'TEXT': str, 'BLOB': bytes}
_KINDS = frozenset(kind.value for kind in ChangeKind)
_VERDICTS = frozenset(kind.value for kind in VerdictKind)
_JUDGED = """
    SELECT id, view_seq, object_id, verdict, rejection_id, barred_by FROM observation ORDER BY id
"""
_LEAST_LINE = 20
"""Bytes that a log line takes at least: a file has no more lines than its size allows."""


@dataclass
class Attempt:
    """One way to read a damaged file, and the new file that it gives.

    Attributes:
        path: the new file. seq: its last log line.
        last_seq: last log line of the damaged file, as far as any of its tables knows.
        stopped: why there is no more; empty: nothing is missing.
        store_id: of the damaged file; empty: unknown.
        with_log: whether the write-ahead log was read too.
        notes: what else there is to know.
    """

    path: Path
    seq: int = 0
    last_seq: int = 0
    stopped: str = ''
    store_id: str = ''
    with_log: bool = False
    notes: list[str] = field(default_factory=list)

    def stop(self, seq: int, why: str) -> None:
        """Save nothing beyond this line."""
        if max(0, seq) < self.seq:
            self.seq, self.stopped = max(0, seq), why


def salvage(attempt: Attempt, uri: str, size: int, progress: Progress) -> None:
    """Make the new file of an attempt.

    Args:
        attempt: what is found out is written into it.
        uri: of the file to read. size: its bytes.
        progress: is told how far it is.

    Raises:
        NewerSchemaError: a newer version of this package wrote it.
        StoreError: it is another program's, or the new file cannot be written.
    """
    writable = apsw.SQLITE_OPEN_READONLY if 'immutable=1' in uri else apsw.SQLITE_OPEN_READWRITE
    try:
        source = apsw.Connection(uri, flags=writable | apsw.SQLITE_OPEN_URI)
    except apsw.Error as error:
        attempt.stopped = str(error)
        return
    try:
        source.set_busy_timeout(0)
        source.pragma('writable_schema', True)  # what is wrong with one table is not with others
        source.pragma('cell_size_check', True)
        _require_ours(source)
        target = new_store(attempt.path)
        try:
            with target:
                _copy(attempt, source, target, size, progress)
        finally:
            target.close()
    except apsw.Error as error:
        attempt.seq, attempt.stopped = 0, str(error)
    finally:
        source.close()
    if attempt.seq:
        _replay(attempt, progress)


def new_store(path: Path) -> apsw.Connection:
    """A new store without anything in it, not even an identity."""
    connection = apsw.Connection(str(path))
    with connection:
        for number, sql in migrations():
            list(connection.execute(sql))
            connection.pragma('user_version', number)
        connection.pragma('application_id', opening.APPLICATION_ID)
    return connection


def _require_ours(source: apsw.Connection) -> None:
    """Refuse what is not damaged but another program's, or of a newer version of this one."""
    newest = migrations()[-1][0]
    with suppress(apsw.Error, UnicodeDecodeError):
        ours = source.pragma('application_id') == opening.APPLICATION_ID
        schema: Any = source.pragma('user_version')
        if ours and newest < schema < 1000:
            raise NewerSchemaError(
                f'it has schema {schema}, this library knows up to {newest}: repair it with a '
                'newer spatial_memory'
            )
        tables = {row[0] for row in source.execute('SELECT name FROM sqlite_schema')}
        if not ours and tables and not tables & {'log', 'view', 'observation'}:
            raise StoreError('it is an SQLite file of another program')


# -- what can be read ------------------------------------------------------------------------------


def _copy(
    attempt: Attempt, source: apsw.Connection, target: apsw.Connection, size: int,
    progress: Progress,
) -> None:  # fmt: skip
    meta = list(_Rows(source, target, 'meta'))
    target.executemany('INSERT INTO meta VALUES (?, ?)', meta)
    attempt.store_id = ''.join(value for key, value in meta if key == 'store_id')
    configs = _configs(_Rows(source, target, 'config'))
    target.executemany('INSERT INTO config VALUES (?, ?)', list(configs.items()))
    spaces = [row for row in _Rows(source, target, 'feature_space') if row[0] > 0 and row[2] > 0]
    target.executemany('INSERT OR IGNORE INTO feature_space VALUES (?, ?, ?)', spaces)
    views = _copy_log(attempt, source, target, progress)
    attempt.last_seq = max(attempt.seq, _last_seq(source, size))
    hits = _copy_views(attempt, source, target, views, configs, progress)
    _copy_observations(attempt, source, target, views, hits, progress)
    _copy_seal(source, target)
    _cut(target, attempt.seq)
    _name_spaces(attempt, target)


class _Rows:
    """The rows of a table in the order of its key, as far as they can be read.

    Attributes:
        problem: why reading ended before the table did; empty: it did not.
    """

    def __init__(self, source: apsw.Connection, target: apsw.Connection, table: str) -> None:
        self.problem = ''
        self._source, self._table = source, table
        rows: Any = target.execute(f'PRAGMA table_info({table})')
        self._columns = [(row[1], _TYPES[row[2]], bool(row[3] or row[5])) for row in rows]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        names = ', '.join(name for name, _, _ in self._columns)
        key = self._columns[0][0]
        question = f'SELECT {names} FROM {self._table} NOT INDEXED ORDER BY {key}'
        try:
            for row in self._source.execute(question):
                for value, column in zip(row, self._columns):
                    if not _is_sound(value, *column):
                        self.problem = f'a {column[0]} in the table {self._table} is not as written'
                        return
                yield row
        except (apsw.Error, UnicodeDecodeError, MemoryError) as error:
            self.problem = f'the table {self._table} cannot be read any further: {error}'


def _is_sound(value: Any, name: str, kind: type, needed: bool) -> bool:
    """Whether a value is one that this package may have written into that column."""
    if value is None:
        return not needed
    if isinstance(value, float) and not math.isfinite(value):
        return False
    if isinstance(value, bytes) and len(value) != _SIZES.get(name, len(value)):
        return False
    return isinstance(value, kind)


def _are_json(texts: tuple[str, ...]) -> bool:
    try:
        return all(isinstance(json.loads(text), dict) for text in texts if text != '{}')
    except ValueError:
        return False


def _configs(rows: _Rows) -> dict[str, str]:
    """Settings by hash; the hash tells whether they are as written. The defaults are known."""
    found = {}
    for config in (Config(), Config(profile=CHRONOTOPE)):
        text = audit.settings_of(config, load_classes())
        found[_hash(text)] = text
    return found | {number: text for number, text in rows if number == _hash(text)}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _copy_log(
    attempt: Attempt, source: apsw.Connection, target: apsw.Connection, progress: Progress
) -> list[int]:
    """Copy log lines up to the first that is missing; returns those of views."""
    rows, views = _Rows(source, target, 'log'), []
    for row in rows:
        if row[0] != attempt.seq + 1 or row[1] not in _KINDS or not _are_json(row[7:9]):
            rows.problem = f'log line {attempt.seq + 1} is not as written'
            break
        target.execute(log.INSERT_LOG, row)
        attempt.seq = row[0]
        if row[1] == ChangeKind.VIEW.value:
            views.append(row[0])
            progress('reading log lines', row[0])
    attempt.stopped = rows.problem or ('' if attempt.seq else 'it holds no log lines')
    return views


def _copy_views(
    attempt: Attempt, source: apsw.Connection, target: apsw.Connection, views: list[int],
    configs: dict[str, str], progress: Progress,
) -> dict[int, int]:  # fmt: skip
    """Copy views up to the first that is missing; returns how many hits each tells of."""
    rows, hits = _Rows(source, target, 'view'), dict[int, int]()
    expected = iter(views)
    wanted = next(expected, None)
    for row in rows:
        if wanted is None or row[0] != wanted or row[10] not in configs:
            break
        with suppress(ValueError):
            looks = np.frombuffer(row[11] or b'', log.LOOK)
            hits[wanted] = int((looks['kind'] == log.HIT).sum())
        if wanted not in hits:
            break
        target.execute(log.INSERT_VIEW, row)
        progress('reading views', wanted)
        wanted = next(expected, None)
    if wanted is not None:
        attempt.stop(wanted - 1, rows.problem or f'the view of log line {wanted} is not as written')
    return hits


def _copy_observations(
    attempt: Attempt, source: apsw.Connection, target: apsw.Connection, views: list[int],
    hits: dict[int, int], progress: Progress,
) -> None:  # fmt: skip
    """Copy observations up to the first that is missing; the view that misses it is given up."""
    rows = _Rows(source, target, 'observation')
    told: Counter[int] = Counter()
    number, view = 0, views[0] if views else 0
    for row in rows:
        if row[1] > attempt.seq:
            break
        if row[0] != number + 1 or row[1] < view or row[1] not in hits or row[3] not in _VERDICTS:
            rows.problem = f'observation {number + 1} is not as written'
            break
        target.execute(log.INSERT_OBSERVATION, row)
        number, view = row[:2]
        told[view] += row[2] is not None
        progress('reading observations', view)
    if rows.problem:
        attempt.stop(view - 1, rows.problem)
    for seq in views:
        if seq > attempt.seq:
            break
        if hits[seq] != told[seq]:
            attempt.stop(seq - 1, f'observations of the view of log line {seq} are missing')


def _copy_seal(source: apsw.Connection, target: apsw.Connection) -> None:
    """Copy what was sealed by a purge, if all of it can be read."""
    seals = list(_Rows(source, target, 'seal'))
    for table in DERIVED if seals else ():
        seal.make_table(target, table)
        rows = _Rows(source, target, f'sealed_{table}')
        for row in rows:
            target.execute(f'INSERT INTO sealed_{table} VALUES ({", ".join("?" * len(row))})', row)
        if rows.problem:
            return
    target.executemany('INSERT INTO seal VALUES (?, ?)', seals)


def _last_seq(source: apsw.Connection, size: int) -> int:
    """The last log line of the damaged file, as far as any table knows it."""
    last = 0
    for table in ('log', 'view'):
        with suppress(apsw.Error):
            seq = source.execute(f'SELECT max(seq) FROM {table}').get
            if isinstance(seq, int) and seq <= size // _LEAST_LINE:
                last = max(last, seq)
    return last


def _cut(target: apsw.Connection, seq: int) -> None:
    """Remove what comes after a log line."""
    target.execute('DELETE FROM observation WHERE view_seq > ?', (seq,))
    target.execute('DELETE FROM view WHERE seq > ?', (seq,))
    target.execute('DELETE FROM log WHERE seq > ?', (seq,))
    target.execute('DELETE FROM seal WHERE seq > ?', (seq,))


def _name_spaces(attempt: Attempt, target: apsw.Connection) -> None:
    """Feature spaces whose row is lost get another name; their length is that of the features."""
    lost: Any = target.execute("""
        SELECT o.space, max(length(o.feature)), max(json_extract(c.settings, '$.profile'))
        FROM observation o JOIN view v ON v.seq = o.view_seq JOIN config c ON c.hash = v.config
        WHERE o.space IS NOT NULL AND o.space NOT IN (SELECT id FROM feature_space)
        GROUP BY o.space
    """).fetchall()
    for number, length, profile in lost:
        name = f'lost name {number}'
        dimension = length // (4 if profile == CHRONOTOPE else 2)
        target.execute('INSERT INTO feature_space VALUES (?, ?, ?)', (number, name, dimension))
        attempt.notes.append(f'the name of the model of its features was lost: it is {name!r} now')


# -- what follows from it --------------------------------------------------------------------------


def _replay(attempt: Attempt, progress: Progress) -> None:
    """Cut the new file to what can be replayed, and write what follows from it."""
    database = Database(str(attempt.path))
    try:
        while attempt.seq:
            fresh = Session(Database(MEMORY), Config())
            seq, why = _replayed(database, fresh, attempt.seq, progress)
            if not why:
                _write(database, fresh.database)
            fresh.database.close()
            if not why:
                return
            attempt.stop(min(seq, attempt.seq - 1), why)
            with database.rewriting(whole=False) as connection:
                _cut(connection, attempt.seq)
    finally:
        database.close()


def _replayed(database: Database, fresh: Session, last: int, progress: Progress) -> tuple[int, str]:
    """Replay into a fresh session; returns how far that went, and why not further."""
    replay = None
    try:
        replay = Replay(database, fresh, lambda seq: progress('replaying the log', seq))
        with np.errstate(all='ignore'):
            replay.run()
    except Exception as error:  # whatever a replay of damaged values may meet
        seq = replay.seq if replay else 0
        return seq, f'log line {seq + 1} cannot be replayed: {error}'
    wrong = _first_misjudged(database, fresh.database)
    if wrong is not None:
        return wrong - 1, f'the view of log line {wrong} contradicts its verdicts'
    return last, ''


def _first_misjudged(stored: Database, fresh: Database) -> int | None:
    """View of the first observation that does not say what its replay says."""
    theirs: Any = stored.connection.execute(_JUDGED)
    for row, other in zip(theirs, fresh.connection.execute(_JUDGED)):
        if row != other:
            return int(row[1])
    return None


def _write(database: Database, fresh: Database) -> None:
    with database.rewriting() as connection:
        put_derived(connection, fresh)
