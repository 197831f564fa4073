# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The journal and its index together: reading what was edited, adding lines, removing a person."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence

from memory_node.errors import StoreError
from memory_node.notes.doomed import Doomed, doomed_ids, without
from memory_node.notes.journal import Journal, Mark
from memory_node.notes.lines import BEGIN, END, RETAIN, Page, day_name, read_page, user_of
from memory_node.store import note_index, opening
from memory_node.store import notes as rows
from memory_node.store.database import Database

FILES_AT_ONCE = 200
PURGED_PAGE = 'bank/purged.md'
"""Here stands what people wrote on pages whose name had to go."""


class Filing:
    """What stands below notes: a journal, and the index of it in the store.

    Attributes:
        journal: the files; the source of truth. database: the store, with the index of them.
    """

    def __init__(self, database: Database, journal: Journal) -> None:
        """Take a store and its journal."""
        self.journal = journal
        self.database = database

    def known_files(self) -> dict[str, Mark]:
        """The files that the index is of, with their marks."""
        return rows.known_files(self.database)

    def sync(self, progress: Callable[[int, int], None] | None = None) -> list[str]:
        """Read the files that are not what they were; returns their names.

        Args:
            progress: called with how many of how many files were read.

        Raises:
            StoreError: a file cannot be read, or the index cannot be written.
        """
        changed = differing(self.known_files(), self.journal.marks())
        for first in range(0, len(changed), FILES_AT_ONCE):
            part = changed[first : first + FILES_AT_ONCE]
            self.take_in(part)
            if progress is not None:
                progress(first + len(part), len(changed))
        return changed

    def take_in(self, names: Sequence[str]) -> None:
        """Read some files, as they are by now, into the index; one that is gone is taken out of it.

        Raises:
            StoreError: a file cannot be read, or the index cannot be written.
        """
        pages = []
        for name in names:
            mark = self.journal.mark(name)  # before it is read: what is written meanwhile is newer
            page = None if mark is None else read_page(name, self.journal.read(name))
            pages.append((name, page, mark or (0, 0)))
        with self.database.waiting() as connection:
            note_index.put_files(connection, pages)

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Make the index anew from the files.

        Raises:
            StoreError: see `sync`.
        """
        with self.database.waiting() as connection:
            note_index.erase(connection)
        self.sync(progress)

    def problems(self) -> list[str]:
        """Lines that could not be read, as `FILE:LINE: what`; they stay as they are."""
        return rows.problems(self.database)

    def snapshot(self) -> str:
        """A hash of all notes and where they stand, for the manifest of a run."""
        digest = hashlib.sha256()
        for row in rows.snapshot(self.database):
            digest.update(repr(row).encode())
        return digest.hexdigest()

    def copy_to(self, database: str) -> None:
        """Copy the journal beside a copy of the store; nothing is locked meanwhile.

        Raises:
            StoreError: it cannot be copied.
        """
        self.journal.copy_to(str(opening.resolve(database)))

    def purge(self, doomed: Doomed) -> int:
        """Remove every line that says what has to go, and a person's own files, for good.

        What a person wrote by hand goes too. What a version control system keeps of the journal,
        and copies made before, stay.

        Returns:
            How many lines are gone, but for generated ones.

        Raises:
            StoreError: not everything was removed, or somebody writes a file just now.
        """
        gone, changed = 0, False
        ids: set[str] = set()
        files = {}
        for file in self.journal.marks():
            data = self.journal.read(file)
            if doomed.person and user_of(file) == doomed.person:
                gone += data.count(b'\n')
                self.journal.remove(file)
                changed = True
                continue
            files[file] = data
            ids |= doomed_ids(file, data, doomed)
        lines = {file: without(file, data, doomed, ids, False)[1] for file, data in files.items()}
        gone += sum(lines.values())
        for file, data in files.items():
            kept, _ = without(file, data, doomed, ids, bool(gone) or doomed.elsewhere)
            if kept != data and not self.journal.replace(file, data, kept):
                raise StoreError(f'{file}: somebody is writing it; purge again')
            changed |= kept != data
            if doomed.has_text(file.rsplit('/', 1)[-1][: -len('.md')]):
                self._rename(file, kept)
                changed = True
        if changed:
            self.rebuild()
        return gone

    def _rename(self, file: str, data: bytes) -> None:
        """Take a page away whose name has to go; what a person wrote on it goes to another one."""
        rest = [
            line
            for line in data.split(b'\n')
            if line.strip() and line.strip() not in (BEGIN.encode(), END.encode())
        ]
        if rest:
            self.journal.append(PURGED_PAGE, b'\n'.join(rest).decode('utf-8', 'replace') + '\n')
        self.journal.remove(file)

    def _append(self, name: str, text: str, at_ns: int) -> None:
        """Add lines under the last heading Retain of a file, and to the index."""
        known = self._known(name)
        if self.journal.mark(name) != known:
            self.sync()
            known = self._known(name)
        section, lines = rows.section_of(self.database, name)
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
        with self.database.waiting() as connection:
            note_index.put_more(connection, name, _moved(page, lines - 1), mark)

    def _known(self, name: str) -> tuple[int, int] | None:
        found = self.database.rows(
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


def differing(known: Mapping[str, Mark], found: Mapping[str, Mark]) -> list[str]:
    """Names of the files whose marks are not the same in both, sorted."""
    return sorted({name for name, _ in known.items() ^ found.items()})
