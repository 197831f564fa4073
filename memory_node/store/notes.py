# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The rows of notes, to be read: an index of the journal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from memory_node.notes.items import Network, Note, NoteOp, NoteQuery, NoteState, slug
from memory_node.notes.journal import Mark
from memory_node.notes.lines import (
    digest_of,
    from_plain,
)
from memory_node.recall.words import key as word_key
from memory_node.recall.words import words
from memory_node.store.database import Database

COLUMNS = (
    'n.now, n.file, n.line, n.from_ns, n.to_ns, n.clock, n.forgotten_ns, n.verdicts, n.row, n.user'
)


def known_files(database: Database) -> dict[str, Mark]:
    """The files that the index is of, with their marks."""
    rows = database.rows('SELECT name, size, mtime_ns FROM journal_file')
    return {name: (size, mtime_ns) for name, size, mtime_ns in rows}


def section_of(database: Database, file: str) -> tuple[str, int]:
    """Last heading of a file, and how many lines it has."""
    rows = database.rows('SELECT section, lines FROM journal_file WHERE name = ?', (file,))
    return (str(rows[0][0]), int(rows[0][1])) if rows else ('', 0)


def problems(database: Database) -> list[str]:
    """What could not be read, as `FILE:LINE: what`."""
    rows = database.rows('SELECT file, line, problem FROM journal_problem ORDER BY file, line')
    return [f'{file}:{line}: {problem}' for file, line, problem in rows]


def state_of(row: Sequence[Any]) -> NoteState:
    """The note of a row of COLUMNS."""
    now, file, line, from_ns, to_ns, clock, forgotten_ns, verdicts, *_ = row
    return NoteState(
        from_plain(json.loads(now)), file, line, from_ns, to_ns, clock, forgotten_ns,
        json.loads(verdicts),
    )  # fmt: skip


def of_id(database: Database, note_id: str) -> list[NoteState]:
    """The notes of an id: one, unless a person copied a line."""
    question = f'SELECT {COLUMNS} FROM note n WHERE n.id = ? ORDER BY n.day, n.file, n.line'
    return [state_of(row) for row in database.rows(question, (note_id,))]


def of_chain(database: Database, note: Note, clock: str) -> list[NoteState]:
    """Everything that was ever written of a kind and key, oldest first."""
    question = (
        f'SELECT {COLUMNS} FROM note n WHERE n.key = ? AND n.kind = ? AND n.user = ? '
        'AND n.robot = ? AND n.clock = ? ORDER BY n.from_ns, n.day, n.line'
    )
    robot = note.scope.get('robot_id', '')
    owner = slug(note.scope.get('user', ''))
    rows = database.rows(question, (note.key, note.kind.value, owner, robot, clock))
    return [state_of(row) for row in rows]


def twins(database: Database, note: Note) -> list[NoteState]:
    """Notes that hold and say the same."""
    question = (
        f'SELECT {COLUMNS} FROM note n WHERE n.digest = ? AND n.forgotten_ns IS NULL '
        'AND n.to_ns IS NULL ORDER BY n.day, n.line'
    )
    return [state_of(row) for row in database.rows(question, (digest_of(note),))]


def ops_of(database: Database, note_id: str) -> list[tuple[str, int, str, int, str]]:
    """What was said of a note: file, line, what, when, and the JSON of it."""
    rows = database.rows(
        'SELECT file, line, op, at_ns, said FROM note_op WHERE note_id = ? ORDER BY day, line',
        (note_id,),
    )
    return [(f, n, op, at, said) for f, n, op, at, said in rows]


def every(database: Database) -> list[NoteState]:
    """All notes that were not forgotten, what was replaced too, in the order of files."""
    question = (
        f'SELECT {COLUMNS} FROM note n WHERE n.forgotten_ns IS NULL ORDER BY n.day, n.file, n.line'
    )
    return [state_of(row) for row in database.rows(question)]


def ops_of_kind(database: Database, op: NoteOp) -> list[tuple[str, int, str, int, str]]:
    """All lines of a kind: file, line, id of the note or user, when, and the JSON of it."""
    rows = database.rows(
        'SELECT file, line, note_id, at_ns, said FROM note_op WHERE op = ? '
        'ORDER BY day, file, line', (op.value,),
    )  # fmt: skip
    return [(file, line, of, at_ns, said) for file, line, of, at_ns, said in rows]


def events_of(database: Database, user: str) -> list[tuple[str, int, int, str]]:
    """A person's events: file, line, when, and the JSON of it."""
    rows = database.rows(
        'SELECT file, line, at_ns, said FROM note_op WHERE op = ? AND note_id = ? '
        'ORDER BY at_ns, file, line', (NoteOp.EVENT.value, user),
    )  # fmt: skip
    return [(file, line, at_ns, said) for file, line, at_ns, said in rows]


def keyed(database: Database, prefix: str, user: str) -> list[NoteState]:
    """What is a person's own, holds, and has a key that begins so, by key."""
    question = (
        f'SELECT {COLUMNS} FROM note n WHERE n.key >= ? AND n.key < ? AND n.user = ? '
        'AND n.to_ns IS NULL AND n.forgotten_ns IS NULL ORDER BY n.key, n.day, n.line'
    )
    bound = (prefix, prefix + '\U0010ffff', user)
    return [state_of(row) for row in database.rows(question, bound)]


def newest(
    database: Database, user: str, limit: int, network: Network | None = None
) -> list[NoteState]:
    """The newest notes that hold, of a person or (empty) of nobody; network: of that one only."""
    question = (
        f'SELECT {COLUMNS} FROM note n WHERE n.user = ? AND n.network = coalesce(?, n.network) '
        'AND n.to_ns IS NULL AND n.forgotten_ns IS NULL '
        'ORDER BY n.from_ns DESC, n.day DESC, n.line DESC LIMIT ?'
    )
    bound = (user, None if network is None else network.value, limit)
    return [state_of(row) for row in database.rows(question, bound)]


def touched(
    database: Database, user: str, since_ns: int, until_ns: int, limit: int
) -> list[NoteState]:
    """Notes of a person that began or ceased to hold in a time, newest first."""
    question = (
        f'SELECT {COLUMNS} FROM note n WHERE n.user = ?1 AND (n.from_ns BETWEEN ?2 AND ?3 '
        'OR n.to_ns BETWEEN ?2 AND ?3 OR n.forgotten_ns BETWEEN ?2 AND ?3) '
        'ORDER BY n.from_ns DESC, n.day DESC, n.line DESC LIMIT ?4'
    )
    return [state_of(row) for row in database.rows(question, (user, since_ns, until_ns, limit))]


def snapshot(database: Database) -> Iterator[tuple[Any, ...]]:
    """What the hash of the notes covers, in an order that does not hang on rows."""
    question = (
        'SELECT id, file, line, now, from_ns, to_ns, forgotten_ns, verdicts FROM note '
        'ORDER BY file, line, id'
    )
    for batch in database.batches(question):
        yield from batch


def conditions(query: NoteQuery) -> tuple[list[str], list[Any]]:
    """What a question asks of rows n, but for its text: conditions and their bindings."""
    robot = query.scope.get('robot_id', '')
    where = ["n.user IN ('', ?)", "n.robot IN ('', ?)"]
    bound: list[Any] = [slug(query.scope.get('user', '')), robot]

    def add(condition: str, *values: Any) -> None:
        where.append(condition)
        bound.extend(values)

    if query.kinds:
        add(f'n.kind IN ({", ".join("?" * len(query.kinds))})', *(k.value for k in query.kinds))
    if query.networks:
        marks = ', '.join('?' * len(query.networks))
        add(f'n.network IN ({marks})', *(k.value for k in query.networks))
    if query.key:
        add('n.key = ?', query.key)
    for name in ('task_id', 'episode_id'):
        if name in query.scope:
            add("json_extract(n.now, '$.scope.' || ?) = ?", name, query.scope[name])
    for entity in query.entities:
        add('n.row IN (SELECT e.row FROM note_entity e WHERE e.slug = ?)', slug(entity))
    if query.object_ids:
        names = [f'object:{number}' for number in query.object_ids]
        marks = ', '.join('?' * len(names))
        add(f'n.row IN (SELECT e.row FROM note_entity e WHERE e.slug IN ({marks}))', *names)
    if query.relation is not None:
        add(
            "EXISTS (SELECT 1 FROM json_each(n.now, '$.links') l WHERE "
            "json_extract(l.value, '$[0]') = ? AND json_extract(l.value, '$[1]') = ?)",
            *query.relation,
        )
    if query.time is not None:
        span = query.time
        last = span.start_ns if span.end_ns is None else span.end_ns
        add('n.clock = ? AND n.start_ns <= ? AND coalesce(n.end_ns, n.start_ns) >= ?',
            span.clock, last, span.start_ns)  # fmt: skip
    if query.near is not None:
        pose, radius_m = query.near
        add('n.frame = ?', pose.frame_id)
        for axis, value in zip('xyz', pose.position_m):
            add(f'n.{axis} BETWEEN ? AND ?', value - radius_m, value + radius_m)
    _add_validity(query, add)
    return where, bound


def _add_validity(query: NoteQuery, add: Any) -> None:
    if query.as_of_ns is not None:
        add('n.clock = ? AND n.from_ns <= ?', query.clock, query.as_of_ns)
        if not query.include_invalidated:
            add('(n.to_ns IS NULL OR n.to_ns > ?) AND n.forgotten_ns IS NULL', query.as_of_ns)
    elif not query.include_invalidated:
        add('n.to_ns IS NULL AND n.forgotten_ns IS NULL')


def text_words(text: str) -> list[str]:
    """The words of a text as the index has them: folded, without their endings, each once."""
    return list(dict.fromkeys(_stem(word_key(word) or word) for word in words(text)))


def _stem(word: str) -> str:
    """Fold English endings, alike for questions and notes: cleaned, cleaning → clean.

    What is left need not be a word, and two words may become one: rare, and of little harm.
    """
    if not word.isascii():
        return word
    for ending, least in (('ing', 6), ('ed', 5)):
        if len(word) >= least and word.endswith(ending):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in 'aeiou':
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith('e') else word
