# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Is this file fit to be opened? Everything is looked at before anything could be changed."""

from __future__ import annotations

import fcntl
import os
import urllib.parse
from contextlib import suppress
from pathlib import Path

import apsw

from memory_node.errors import DamagedStoreError, NewerSchemaError, StoreError, StoreInUseError

APPLICATION_ID = 0x534D656D  # "SMem"
MAGIC = b'SQLite format 3\x00'
COMPANIONS = ('', '-wal', '-shm')


def resolve(path: str) -> Path:
    """Return the path with ~ expanded.

    Raises:
        StoreError: it is a folder, or its folder is missing or cannot be written to.
    """
    target = Path(path).expanduser()
    if target.is_dir():
        raise StoreError(f'{str(target)!r} is a folder, expected the path of a file')
    folder = target.parent
    if not folder.is_dir():
        raise StoreError(f'{str(target)!r}: the folder {str(folder)!r} does not exist')
    return target


def uri(path: Path, **options: str) -> str:
    """Return an SQLite URI of a file."""
    return f'file:{urllib.parse.quote(str(path))}?{urllib.parse.urlencode(options)}'


def require_sound(path: Path, newest_schema: int, writing: bool) -> None:
    """Refuse a file that is damaged, another program's, or too new; it is not changed.

    After a hard stop the write-ahead log is still there: then the whole file is checked, as SQLite
    would replay any log that lies beside it.

    Raises:
        DamagedStoreError, NewerSchemaError, StoreError: see errors.
    """
    _require_header(path)
    log = Path(f'{path}-wal')
    replays = writing and has_log(path)
    plain = None if replays else _identity(path, immutable='0' if log.exists() else '1')
    if replays:
        before = _bare_identity(path) if path.stat().st_size > 4096 else None
        plain = _identity(path, immutable='0', thorough=True)
        if before is not None and before[2] and before[2] != plain[2]:
            raise DamagedStoreError(str(path), f'{log.name!r} beside it belongs to another store')
    assert plain is not None
    application, schema, _ = plain
    if application != APPLICATION_ID:
        raise StoreError(
            f'{str(path)!r} is an SQLite file of another program (application id '
            f'{application:#x}), expected a spatial_memory file or a new path'
        )
    if schema > newest_schema:
        raise NewerSchemaError(
            f'{str(path)!r} has schema {schema}, this library knows up to {newest_schema}: '
            'open it with a newer spatial_memory'
        )
    if not writing and schema < newest_schema:
        raise StoreError(
            f'{str(path)!r} has schema {schema}, expected {newest_schema}: open it once for '
            'writing, which brings it up to date'
        )


def _require_header(path: Path) -> None:
    size = path.stat().st_size
    if size == 0:
        raise DamagedStoreError(str(path), 'it is there but empty (0 bytes)')
    with path.open('rb') as file:
        header = file.read(100)
    if len(header) < 100 or not header.startswith(MAGIC):
        raise DamagedStoreError(str(path), 'it does not begin like an SQLite file')
    page = int.from_bytes(header[16:18], 'big')
    page = 65536 if page == 1 else page
    count = int.from_bytes(header[28:32], 'big')
    log = Path(f'{path}-wal')  # a checkpoint that was killed leaves the rest of the pages there
    current = header[24:28] == header[92:96] and not (log.exists() and log.stat().st_size)
    if current and count and size < page * count:
        raise DamagedStoreError(
            str(path), f'it has {size} bytes, its header says {page * count}: it was cut'
        )


def _bare_identity(path: Path) -> tuple[int, int, str] | None:
    """`_identity` of the file without its log; None: it makes no sense alone.

    So it is when a checkpoint was killed half way: the log has the pages that are missing. Whether
    both together are sound, the thorough look at them tells.
    """
    try:
        return _identity(path, immutable='1')
    except DamagedStoreError:
        return None


def _identity(path: Path, immutable: str, thorough: bool = False) -> tuple[int, int, str]:
    """Application id, schema and store id, read without changing anything."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    options = {'mode': 'ro', **({'immutable': '1'} if immutable == '1' else {})}
    try:
        connection = apsw.Connection(uri(path, **options), flags=flags)
        try:
            application = int(connection.pragma('application_id'))
            schema = int(connection.pragma('user_version'))
            store = ''
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").get:
                store = connection.execute("SELECT value FROM meta WHERE key = 'store_id'").get
            if thorough:
                found = connection.execute('PRAGMA quick_check(3)').fetchall()
                if found != [('ok',)]:
                    raise DamagedStoreError(str(path), '; '.join(str(row[0]) for row in found))
        finally:
            connection.close()
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, UnicodeDecodeError) as error:
        raise DamagedStoreError(str(path), str(error)) from error
    except apsw.Error as error:
        raise StoreError(f'cannot read {str(path)!r}: {error}') from error
    return application, schema, store or ''


def require_no_leftovers(path: Path) -> None:
    """Refuse to create a file beside the write-ahead log of one that is gone."""
    if has_log(path):
        raise DamagedStoreError(str(path), f"it is gone, but '{path.name}-wal' is still there")


def has_log(path: Path) -> bool:
    """Whether a write-ahead log lies beside a file."""
    log = Path(f'{path}-wal')
    return log.exists() and log.stat().st_size > 0


def may_write_beside(path: Path) -> bool:
    """Whether the folder of a file may be written to."""
    return os.access(path.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def set_aside(path: Path, successor: Path | None = None) -> Path:
    """Rename a damaged file and its companions; return its new name.

    Args:
        path: the damaged file.
        successor: takes its place; the name is at no moment without a file, so that a crash in
            between never starts an empty memory.
    """
    number = 1
    while any(Path(f'{path}.damaged-{number}{end}').exists() for end in COMPANIONS):
        number += 1
    kept = Path(f'{path}.damaged-{number}')
    if successor is not None:
        with suppress(OSError):  # the file may be missing, or links may be: then it is renamed
            os.link(path, kept)
    for end in reversed(COMPANIONS):
        if end or not kept.exists():
            with suppress(FileNotFoundError):
                os.replace(f'{path}{end}', f'{kept}{end}')
    if successor is not None:
        os.replace(successor, path)
    with suppress(OSError):
        sync(path.parent)
    return kept


def sync(path: Path) -> None:
    """Have what was written to a file, or the names in a folder, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class FileLock:
    """Holds `<file>.lock` for as long as the memory is open; the kernel frees it with the process.

    Raises:
        StoreInUseError: names the process that holds it.
        StoreError: the folder cannot be written to.
    """

    def __init__(self, path: Path) -> None:
        name = f'{path}.lock'
        try:
            self._fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(f'cannot write beside {str(path)!r}: {error}') from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            named = _name_in(self._fd)
            os.close(self._fd)
            raise StoreInUseError(
                f'{str(path)!r} is open for writing already, by {named}; open it with '
                'readonly=True, or stop that process'
            ) from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f'process {os.getpid()} on {os.uname().nodename}\n'.encode(), 0)

    def release(self) -> None:
        """Give it back; may be called twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def holder(path: Path) -> str:
    """Who has a file open for writing, in words; empty: nobody."""
    try:
        descriptor = os.open(f'{path}.lock', os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ''
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return ''
    except OSError:
        return _name_in(descriptor)
    finally:
        os.close(descriptor)


def _name_in(lock: int) -> str:
    return os.pread(lock, 200, 0).decode(errors='replace').strip() or 'unknown'
