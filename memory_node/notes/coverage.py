# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Whether the index of notes says what the journal says, and a hash of the journal."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from memory_node.notes.filing import Filing
from memory_node.notes.journal import Journal
from memory_node.store import notes as rows
from memory_node.store.database import Database

SHOWN = 5
_DERIVED = 'n.now, n.from_ns, n.to_ns, n.forgotten_ns, n.verdicts'
_NOTES = (
    'SELECT n.file, n.line, n.id, n.said, n.kind, n.network, n.key, n.user, n.robot, n.clock, '
    'n.digest, n.start_ns, n.end_ns, n.frame, n.x, n.y, n.z{derived}, '
    "(SELECT group_concat(slug, ' ') FROM (SELECT e.slug FROM note_entity e "
    'WHERE e.row = n.row{named} ORDER BY e.slug)) FROM note n'
)
_BESIDE = (
    ('what is said of a note', 'SELECT file, line, op, note_id, at_ns, said FROM note_op'),
    ('a problem', 'SELECT file, line, problem FROM journal_problem'),
)
_VOCABULARY = (
    'CREATE VIRTUAL TABLE IF NOT EXISTS temp.note_word USING fts5vocab(main, note_text, row)'
)
_WORDS = 'SELECT term, doc, cnt FROM temp.note_word ORDER BY term'


def digest(journal: Journal) -> str:
    """SHA-256 of all files with their names; empty: there are none.

    Raises:
        StoreError: a file cannot be read.
    """
    names = list(journal.marks())
    if not names:
        return ''
    found = hashlib.sha256()
    for name in names:
        data = journal.read(name)
        found.update(f'{name}\0{len(data)}\0'.encode())
        found.update(data)
    return found.hexdigest()


def findings(filing: Filing) -> list[str]:
    """Where the index does not say what the journal says, as `journal: FILE:LINE: what`.

    What was edited and not taken in yet is nothing wrong, and is left out.

    Raises:
        StoreError: a file or the index cannot be read.
    """
    known, there = rows.known_files(filing.database), filing.journal.marks()
    same = {name for name, mark in there.items() if known.get(name) == mark}
    whole = len(same) == len(known) == len(there)
    fresh = Filing(Database(':memory:'), filing.journal)
    try:
        fresh.sync()
        return _compared(fresh.database, filing.database, same, whole)
    finally:
        fresh.database.close()


def _compared(right: Database, stored: Database, same: set[str], whole: bool) -> list[str]:
    question = _NOTES.format(
        derived=f', {_DERIVED}' if whole else '', named='' if whole else ' AND 0'
    )
    found: list[str] = []
    for what, asked in (('a note', question), *_BESIDE):
        mine, theirs = _by_line(right, asked, same), _by_line(stored, asked, same)
        for place in sorted({*mine, *theirs}):
            if mine.get(place) == theirs.get(place):
                continue
            where = f'journal: {place[0]}:{place[1]}'
            if place not in theirs:
                found.append(f'{where}: {what} that stands there is not in the index')
            elif place not in mine:
                found.append(f'{where}: the index has {what} that does not stand there')
            else:
                found.append(f'{where}: the index says something else of {what} there')
    if whole and _words(right) != _words(stored):
        found.append('journal: the text index has other words than the notes')
    more = len(found) - SHOWN
    return [*found[:SHOWN], f'journal: and {more} findings more'] if more > 0 else found


def _by_line(
    database: Database, question: str, same: set[str]
) -> Mapping[tuple[Any, ...], tuple[Any, ...]]:  # fmt: skip
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for batch in database.batches(question):
        for file, line, *rest in batch:
            if file in same:
                place = (file, line)
                found[place] = (*found.get(place, ()), tuple(rest))
    return {place: tuple(sorted(given, key=repr)) for place, given in found.items()}


def _words(database: Database) -> list[Any]:
    database.rows(_VOCABULARY)
    return database.rows(_WORDS)
