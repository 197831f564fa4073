# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Save what a damaged file holds into a new file, which then takes its place.

The damaged file is only read, as it lies there; where its write-ahead log must be read too, a copy
of both is. No damage to what can be derived costs anything.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from memory_node.config import Config
from memory_node.errors import StoreError
from memory_node.notes.journal import copy_journal
from memory_node.store import opening
from memory_node.store.database import Database
from memory_node.store.rebuild import findings
from memory_node.store.salvage import Attempt, Progress, new_store, salvage


@dataclass(frozen=True)
class Saved:
    """What a repair saved.

    Attributes:
        path: the new file; None: nothing could be saved, and everything is as it was.
        set_aside: where the damaged file is now; None: where it was.
        seq: last log line that was saved. last_seq: the last that the damaged file had, as far as
            can be told; it may have had more.
        views, observations, objects: how many were saved.
        stopped: why no more could be saved; empty: all was.
        notes: what else there is to know.
    """

    path: Path | None
    set_aside: Path | None
    seq: int
    last_seq: int
    views: int = 0
    observations: int = 0
    objects: int = 0
    stopped: str = ''
    notes: tuple[str, ...] = ()


def repair(path: str, out: str | None = None, progress: Progress | None = None) -> Saved:
    """Write what a damaged file holds into a new one, and check that.

    The journal beside it is the source of notes: it stays, or is copied beside the new file, and
    the index of it is made anew when notes are next used.

    Args:
        path: the damaged file; its bytes are never altered.
        out: the new file; None: the damaged one is set aside, and the new one takes its place.
        progress: is told how far it is.

    Raises:
        StoreInUseError: a memory has the file open.
        NewerSchemaError: a newer version of this package wrote it.
        StoreError: there is no such file, it is another program's, or the new one cannot be
            written. Everything is as it was.
    """
    damaged = opening.resolve(path)
    target = damaged if out is None else opening.resolve(out)
    if not damaged.exists() and not _bytes_of(_log_of(damaged)):
        raise StoreError(f'{str(damaged)!r} does not exist')
    if out is not None and target.exists():
        raise StoreError(f'{str(target)!r} exists already, expected a new path')
    with _held(damaged, writing=out is None), _folder_beside(target) as folder:
        best = _best(damaged, folder, progress or _silent)
        if not best.seq:
            return Saved(None, None, 0, best.last_seq, stopped=best.stopped)
        counts = _finish(best)
        kept = None
        if out is None:
            kept = opening.set_aside(damaged, successor=best.path)
        else:
            os.replace(best.path, target)
            opening.sync(target.parent)
            copy_journal(str(damaged), str(target))
    return Saved(target, kept, best.seq, best.last_seq, *counts, best.stopped, tuple(best.notes))


@contextmanager
def _held(damaged: Path, writing: bool) -> Iterator[None]:
    """Keep memories away from the file; on a disk that is read-only there can be none."""
    lock = None
    try:
        if writing or opening.may_write_beside(damaged):
            lock = opening.FileLock(damaged)
        yield
    finally:
        if lock is not None:
            lock.release()


@contextmanager
def _folder_beside(target: Path) -> Iterator[Path]:
    """A folder for what is being made, on the same disk; gone afterwards."""
    folder = None
    try:
        folder = Path(tempfile.mkdtemp(prefix=f'.{target.name}.repair-', dir=target.parent))
        yield folder
    except (apsw.Error, OSError) as error:
        raise StoreError(f'cannot write {str(target)!r}: {error}') from error
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _best(damaged: Path, folder: Path, progress: Progress) -> Attempt:
    """The attempt that saved most.

    First the file alone is read, then with the write-ahead log that lies beside it, which must go
    on where the file ends, or it is another store's. Where both give nothing, the pages that say
    which tables there are may be what is lost; they are alike in all stores.
    """
    with_log = _bytes_of(_log_of(damaged)) > 0
    best = Attempt(folder / 'alone', stopped='it is empty')
    if _bytes_of(damaged):
        best.stopped = ''
        uri = opening.uri(damaged, mode='ro', immutable='1')
        salvage(best, uri, _bytes_of(damaged), progress)
    if with_log:
        best = _longer(best, _copied(damaged, folder / 'log', progress, with_log=True))
    if not best.seq and _bytes_of(damaged):
        best = _longer(best, _copied(damaged, folder / 'tables', progress, tables=True))
    if not best.seq and with_log:
        both = _copied(damaged, folder / 'both', progress, with_log=True, tables=True)
        best = _longer(best, both)
    return best


def _copied(
    damaged: Path, new: Path, progress: Progress, with_log: bool = False, tables: bool = False
) -> Attempt:
    """Read a copy: together with the write-ahead log, or with fresh pages for the tables."""
    attempt = Attempt(new, with_log=with_log)
    copy = Path(f'{new}-copy')
    if _bytes_of(damaged):
        shutil.copyfile(damaged, copy)
    if tables or not _bytes_of(damaged):
        _put_tables(copy)
    if with_log:
        shutil.copyfile(_log_of(damaged), _log_of(copy))
    size = _bytes_of(damaged) + _bytes_of(_log_of(damaged))
    salvage(attempt, opening.uri(copy), size, progress)
    for end in opening.COMPANIONS:
        Path(f'{copy}{end}').unlink(missing_ok=True)
    return attempt


def _longer(best: Attempt, other: Attempt) -> Attempt:
    if other.with_log and best.seq and not _goes_on(best, other):
        why = 'the write-ahead log beside it does not go on where it ends, and was left out'
        best.stopped = f'{best.stopped}; {why}' if best.stopped else why
        return best
    return other if other.seq > best.seq else best


def _goes_on(alone: Attempt, with_log: Attempt) -> bool:
    """Whether a write-ahead log goes on where the file ends: a line once written never changes."""
    if alone.store_id and with_log.store_id and alone.store_id != with_log.store_id:
        return False
    if with_log.seq < alone.seq:
        return False
    return _lines(alone, alone.seq) == _lines(with_log, alone.seq)


def _lines(attempt: Attempt, seq: int) -> str:
    """Digest of the first lines of the log."""
    digest = hashlib.sha256()
    connection = apsw.Connection(str(attempt.path))
    for row in connection.execute('SELECT * FROM log WHERE seq <= ? ORDER BY seq', (seq,)):
        digest.update(repr(row).encode())
    connection.close()
    return digest.hexdigest()


def _put_tables(copy: Path) -> None:
    """Overwrite the pages that say which tables there are, and where, with those of a new store.

    All stores of one schema have their tables begin at the same pages.
    """
    fresh = Path(f'{copy}-fresh')
    connection = new_store(fresh)
    roots = {row[0] for row in connection.execute('SELECT rootpage FROM sqlite_schema')}
    size: Any = connection.pragma('page_size')
    connection.close()
    content = fresh.read_bytes()
    fresh.unlink()
    old = _bytes_of(copy) // size
    first = bytearray(content[:size])
    first[28:32] = max(len(content) // size, old).to_bytes(4, 'big')  # pages of the file
    with open(copy, 'r+b' if copy.exists() else 'w+b') as file:
        for number in range(1, len(content) // size + 1):
            if number not in roots or number > old:
                file.seek((number - 1) * size)
                page = content[(number - 1) * size : number * size]
                file.write(first if number == 1 else page)


def _finish(best: Attempt) -> tuple[int, int, int]:
    """Give the new file its identity, check it, and count what is in it.

    Where anything was lost, log numbers and ids that others may know are given once more: so it is
    another store, and they can tell by its identity.
    """
    database = Database(str(best.path))
    try:
        meta = {
            'repaired': json.dumps({'saved': best.seq, 'of': best.last_seq, 'from': best.store_id})
        }
        if best.stopped or not best.store_id:
            meta['store_id'] = str(uuid.uuid4())
            best.notes.append('it has a new store id, as that was lost' if not best.store_id else (
                'it has a new store id, as lost log numbers and object ids will be given once more'
            ))  # fmt: skip
        with database.transaction() as connection:
            connection.executemany('INSERT OR REPLACE INTO meta VALUES (?, ?)', list(meta.items()))
        wrong = findings(database, Config())
        if wrong:
            raise StoreError(f'what was saved is not sound, so nothing was changed: {wrong[0]}')
        counts = [
            int(database.rows(f'SELECT count(*) FROM {table}')[0][0])
            for table in ('view', 'observation', 'object')
        ]
    finally:
        database.close()
    opening.sync(best.path)
    return counts[0], counts[1], counts[2]


def _log_of(path: Path) -> Path:
    return Path(f'{path}-wal')


def _bytes_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _silent(what: str, seq: int) -> None:
    return None
