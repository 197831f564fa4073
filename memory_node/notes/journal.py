# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The files of the journal (WM-5): `memory.md`, `memory/DATE.md`, `bank/…`, and `users/NAME/…`.

They are appended to, and people edit them; the memory replaces only what it generated itself, and
what a purge removes. Nothing else is ever rewritten.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from memory_node.errors import InvalidValueError, ReadOnlyError, StoreError

NAME = re.compile(r'[^/\0]+(?:/[^/\0]+)*\.md')
Mark = tuple[int, int]
"""Size and time of change of a file: it is read anew when these are other ones."""


class Journal:
    """A folder of Markdown files, or the same kept in memory.

    Attributes:
        folder: None: kept in memory.
    """

    def __init__(self, folder: Path | None, readonly: bool = False, durable: bool = False) -> None:
        """Name the folder; it is made by the first write.

        Args:
            folder: see the class. readonly: refuse to write.
            durable: wait until what is written survives a power cut.
        """
        self.folder = folder
        self._readonly, self._durable = readonly, durable
        self._kept: dict[str, tuple[bytes, int]] = {}

    def marks(self) -> dict[str, Mark]:
        """Every file with its mark, by name.

        Links are not followed, so that a circle of them ends; what is no file has no pages.

        Raises:
            StoreError: the folder cannot be read.
        """
        if self.folder is None:
            return {name: (len(data), n) for name, (data, n) in sorted(self._kept.items())}
        if not self.folder.is_dir():
            return {}
        try:
            return _walk(self.folder)
        except OSError as error:
            raise StoreError(f'cannot read {str(self.folder)!r}: {error}') from error

    def mark(self, name: str) -> Mark | None:
        """The mark of one file; None: it is not there."""
        if self.folder is None:
            kept = self._kept.get(name)
            return None if kept is None else (len(kept[0]), kept[1])
        try:
            found = os.stat(self.folder / name)
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns

    def read(self, name: str) -> bytes:
        """What a file holds; nothing where it is not there.

        Raises:
            StoreError: it cannot be read.
        """
        if self.folder is None:
            return self._kept.get(name, (b'', 0))[0]
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return b''
        except OSError as error:
            raise StoreError(f'cannot read {str(self.folder / name)!r}: {error}') from error

    def append(self, name: str, text: str) -> Mark:
        """Add to the end of a file, in one piece; a last line without an end is ended first.

        Returns:
            The mark of the file before.

        Raises:
            StoreError: nothing was written, or only a part at the end.
        """
        self._require(name)
        data = text.encode()
        if self.folder is None:
            old, n = self._kept.get(name, (b'', 0))
            gap = b'' if not old or old.endswith(b'\n') else b'\n'
            self._kept[name] = (old + gap + data, n + 1)
            return len(old), n
        path = self.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, 'ab+', buffering=0) as file:
                before = os.fstat(file.fileno())
                if before.st_size:
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b'\n':
                        data = b'\n' + data
                file.write(data)
                if self._durable:
                    os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f'cannot write to {str(path)!r}: {error}') from error
        return before.st_size, before.st_mtime_ns

    def replace(self, name: str, old: bytes, new: bytes) -> bool:
        """Put something else into a file at once, unless it is not what was read any more.

        Returns:
            Whether it was done; a person may have written meanwhile.

        Raises:
            StoreError: nothing was changed.
        """
        self._require(name)
        if self.read(name) != old:
            return False
        if self.folder is None:
            self._kept[name] = (new, self._kept.get(name, (b'', 0))[1] + 1)
            return True
        path = self.folder / name
        part = path.with_name(f'.{path.name}.part')
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(part, 'wb') as file:
                file.write(new)
                file.flush()
                os.fsync(file.fileno())
            if self.read(name) != old:
                part.unlink()
                return False
            os.replace(part, path)
        except OSError as error:
            raise StoreError(f'cannot write {str(path)!r}: {error}') from error
        return True

    def copy_to(self, database: str) -> None:
        """Copy all files beside another store; what is there by the same names is replaced.

        Raises:
            StoreError: a file cannot be read or written.
        """
        folder = journal_of(database)
        assert folder is not None, 'only a file has copies'
        for name in self.marks():
            data = self.read(name)
            if not data:
                continue  # it is gone meanwhile
            try:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
            except OSError as error:
                raise StoreError(f'cannot write {str(folder / name)!r}: {error}') from error

    def remove(self, name: str) -> None:
        """Remove a file for good.

        Raises:
            StoreError: it cannot be removed.
        """
        self._require(name)
        self._kept.pop(name, None)
        if self.folder is not None:
            try:
                (self.folder / name).unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(f'cannot remove {name!r}: {error}') from error

    def _require(self, name: str) -> None:
        if self._readonly:
            raise ReadOnlyError('the journal was opened for reading only')
        if not NAME.fullmatch(name) or '..' in name.split('/') or name.startswith('.'):
            raise InvalidValueError(f'file: got {name!r}, expected NAME.md or FOLDER/NAME.md')


def journal_of(database: str) -> Path | None:
    """The folder of the journal of a file; None: it is kept in memory."""
    return None if database == ':memory:' else Path(f'{database}.journal')


def copy_journal(database: str, copy: str) -> None:
    """Copy the journal of a file beside another file.

    Raises:
        StoreError: it cannot be copied.
    """
    Journal(journal_of(database), readonly=True).copy_to(copy)


def _walk(folder: Path) -> dict[str, Mark]:
    """Every page below a folder, by name: a loop, as there may be tens of thousands of them."""
    found: dict[str, Mark] = {}
    folders = [(str(folder), '')]
    while folders:
        path, prefix = folders.pop()
        with os.scandir(path) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == '.':
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, f'{prefix}{name}/'))
                elif name.endswith('.md') and entry.is_file(follow_symlinks=False):
                    stat = entry.stat(follow_symlinks=False)
                    found[prefix + name] = (stat.st_size, stat.st_mtime_ns)
    return {name: found[name] for name in sorted(found)}
