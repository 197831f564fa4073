# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The journal and its index together: reading what was edited, adding lines, removing a person."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable

from memory_node import checks
from memory_node.errors import InvalidValueError, StoreError
from memory_node.notes.items import slug
from memory_node.notes.journal import Journal, Mark, journal_of
from memory_node.notes.lines import RETAIN, Page, day_name, read_page, user_of
from memory_node.store import notes as rows
from memory_node.store import opening
from memory_node.store.database import Database

FILES_AT_ONCE = 200


class Filing:
    """What stands below notes: a journal, and the index of it in the store.

    Attributes:
        journal: the files; the source of truth.
    """

    def __init__(self, database: Database, journal: Journal) -> None:
        """Take a store and its journal."""
        self.journal = journal
        self._database = database

    def known_files(self) -> dict[str, Mark]:
        """The files that the index is of, with their marks."""
        return rows.known_files(self._database)

    def sync(
        self, progress: Callable[[int, int], None] | None = None, most: int | None = None
    ) -> list[str]:
        """Read the files that are not what they were; returns their names.

        Args:
            progress: called with how many of how many files were read.
            most: so many files at most; None: all.

        Raises:
            StoreError: a file cannot be read, or the index cannot be written.
        """
        known, found = rows.known_files(self._database), self.journal.marks()
        changed = sorted(name for name in {*known, *found} if known.get(name) != found.get(name))
        changed = changed[:most]
        for first in range(0, len(changed), FILES_AT_ONCE):
            part = changed[first : first + FILES_AT_ONCE]
            pages = []
            for name in part:
                page = None
                if name in found:
                    page = read_page(name, self.journal.read(name))
                pages.append((name, page, found.get(name, (0, 0))))
            with self._database.waiting() as connection:
                rows.put_files(connection, pages)
            if progress is not None:
                progress(first + len(part), len(changed))
        return changed

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Make the index anew from the files.

        Raises:
            StoreError: see `sync`.
        """
        with self._database.waiting() as connection:
            rows.erase(connection)
        self.sync(progress)

    def problems(self) -> list[str]:
        """Lines that could not be read, as `FILE:LINE: what`; they stay as they are."""
        return rows.problems(self._database)

    def snapshot(self) -> str:
        """A hash of all notes and where they stand, for the manifest of a run."""
        digest = hashlib.sha256()
        for row in rows.snapshot(self._database):
            digest.update(repr(row).encode())
        return digest.hexdigest()

    def copy_to(self, database: str) -> None:
        """Copy the journal beside a copy of the store.

        Raises:
            StoreError: it cannot be copied.
        """
        copy = Journal(journal_of(str(opening.resolve(database))))
        for name in self.journal.marks():
            copy.replace(name, copy.read(name), self.journal.read(name))

    def purge(self, name: str, is_person: bool) -> int:
        """Remove every line that names something, and a person's own files, for good.

        What a version control system keeps of the journal, and copies made before, stay.

        Args:
            name: of a person, a label, or `object:ID`. is_person: files of that name go too.

        Returns:
            How many lines are gone.

        Raises:
            InvalidValueError: no name.
            StoreError: not everything was removed, or somebody writes a file just now.
        """
        key = slug(checks.word('name', name)).replace(':', '-').replace('.', '-')
        if not key:
            raise InvalidValueError(f'name: got {name!r}, expected letters or digits')
        gone = 0
        for file in self.journal.marks():
            data = self.journal.read(file)
            if is_person and user_of(file) == slug(name):
                gone += data.count(b'\n')
                self.journal.remove(file)
                continue
            kept, count = _without(data, key)
            if count and not self.journal.replace(file, data, kept):
                raise StoreError(f'{file}: somebody is writing it; purge again')
            gone += count
        if gone:
            self.rebuild()
        return gone

    def _append(self, name: str, text: str, at_ns: int) -> None:
        """Add lines under the last heading Retain of a file, and to the index."""
        known = self._known(name)
        if self.journal.mark(name) != known:
            self.sync()
            known = self._known(name)
        section, lines = rows.section_of(self._database, name)
        if known is None:
            text = f'# {day_name(at_ns)}\n\n## Retain\n{text}'
        elif section != RETAIN:
            text = f'\n## Retain\n{text}'
        before = self.journal.append(name, text)
        mark = self.journal.mark(name)
        if mark is None or (known is not None and before != known):
            self.sync()  # somebody wrote in between
            return
        page = read_page(name, f'## Retain\n{text}'.encode())
        with self._database.waiting() as connection:
            rows.put_more(connection, name, _moved(page, lines - 1), mark)

    def _known(self, name: str) -> tuple[int, int] | None:
        found = self._database.rows(
            'SELECT size, mtime_ns FROM journal_file WHERE name = ?', (name,)
        )
        return (found[0][0], found[0][1]) if found else None


def _moved(page: Page, by: int) -> Page:
    """A page whose lines stand further down."""
    return Page(
        [dataclasses.replace(found, line=found.line + by) for found in page.notes],
        [dataclasses.replace(found, line=found.line + by) for found in page.ops],
        [dataclasses.replace(found, line=found.line + by) for found in page.problems],
        page.section, page.lines + by,
    )  # fmt: skip


def _without(data: bytes, key: str) -> tuple[bytes, int]:
    """A file without the lines that name something, and how many these were."""
    kept, count, dropping = [], 0, False
    for line in data.split(b'\n'):
        text = line.decode('utf-8', 'replace')
        if dropping and text[:1] in (' ', '\t') and text.strip():
            count += 1
            continue
        dropping = f'-{key}-' in f'-{slug(text).replace(":", "-").replace(".", "-")}-'
        if dropping:
            count += 1
        else:
            kept.append(line)
    return b'\n'.join(kept), count
