# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The rows of notes: an index of the journal, brought up to what its files say."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw

from memory_node.notes.items import Note, NoteOp, NoteQuery, NoteState, extended, slug
from memory_node.notes.journal import Mark
from memory_node.notes.lines import (
    NoteLine,
    Page,
    as_plain,
    day_of,
    digest_of,
    from_plain,
)
from memory_node.recall.words import key as word_key
from memory_node.recall.words import words
from memory_node.store.database import Database

COLUMNS = (
    'n.now, n.file, n.line, n.from_ns, n.to_ns, n.clock, n.forgotten_ns, n.verdicts, n.row, n.user'
)
Chain = tuple[str, str, str, str, str]
"""Key, kind, user, robot and clock: one thing of which the newest note holds."""
_CHANGED = 'SELECT 1 FROM note WHERE id = ?1 AND (forgotten_ns OR now <> said OR verdicts <> ?2)'
_TABLES = ('journal_problem', 'note_op')
_INSERT = f"""INSERT INTO note (id, file, line, day, kind, network, key, user, robot, clock, said,
    now, digest, start_ns, end_ns, from_ns, frame, x, y, z) VALUES ({', '.join('?' * 20)})"""


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


def put_files(
    connection: apsw.Connection, pages: Iterable[tuple[str, Page | None, Mark]]
) -> None:  # fmt: skip
    """Bring the rows to what files say, in a transaction that has begun.

    Args:
        connection: of the file. pages: name, what it holds (None: it is gone), its mark.
    """
    ids: set[str] = set()
    chains: set[Chain] = set()
    for name, page, mark in pages:
        _take_out(connection, name, ids, chains)
        if page is None:
            continue
        _put_in(connection, name, page, ids, chains)
        connection.execute(
            'INSERT INTO journal_file VALUES (?, ?, ?, ?, ?)',
            (name, *mark, page.section, page.lines),
        )
    _settle(connection, ids, chains)


def put_more(
    connection: apsw.Connection, name: str, page: Page, mark: Mark
) -> None:  # fmt: skip
    """Add what was appended to a file; its lines are numbered as in the whole of it."""
    ids: set[str] = set()
    chains: set[Chain] = set()
    _put_in(connection, name, page, ids, chains)
    connection.execute(
        'INSERT OR REPLACE INTO journal_file VALUES (?, ?, ?, ?, ?)',
        (name, *mark, page.section, page.lines),
    )
    _settle(connection, ids, chains)


def erase(connection: apsw.Connection) -> None:
    """Empty all of the index, also of what its text index keeps of words that are gone."""
    for table in (*_TABLES, 'journal_file', 'note', 'note_entity'):
        connection.execute(f'DELETE FROM {table}')
    connection.execute("INSERT INTO note_text (note_text) VALUES ('delete-all')")


# -- reading ---------------------------------------------------------------------------------------


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


def newest(database: Database, user: str, limit: int) -> list[NoteState]:
    """The newest notes that hold, of a person or (empty) of nobody."""
    question = (
        f'SELECT {COLUMNS} FROM note n WHERE n.user = ? AND n.to_ns IS NULL '
        'AND n.forgotten_ns IS NULL ORDER BY n.from_ns DESC, n.day DESC, n.line DESC LIMIT ?'
    )
    return [state_of(row) for row in database.rows(question, (user, limit))]


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
        add('EXISTS (SELECT 1 FROM note_entity e WHERE e.slug = ? AND e.row = n.row)', slug(entity))
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


# -- writing ---------------------------------------------------------------------------------------


def _take_out(
    connection: apsw.Connection, name: str, ids: set[str], chains: set[Chain]
) -> None:  # fmt: skip
    rows: list[Any] = connection.execute(
        'SELECT row, id, key, kind, user, robot, clock FROM note WHERE file = ?', (name,)
    ).fetchall()
    marks = [(row,) for row, *_ in rows]
    connection.executemany('DELETE FROM note_entity WHERE row = ?', marks)
    connection.executemany('DELETE FROM note_text WHERE rowid = ?', marks)
    connection.execute('DELETE FROM note WHERE file = ?', (name,))
    chains.update((key, kind, user, robot, clock)
                  for _, _, key, kind, user, robot, clock in rows if key)  # fmt: skip
    gone: list[Any] = connection.execute(
        'SELECT note_id FROM note_op WHERE file = ?', (name,)
    ).fetchall()
    ids.update(number for (number,) in gone)
    for table in _TABLES:
        connection.execute(f'DELETE FROM {table} WHERE file = ?', (name,))
    connection.execute('DELETE FROM journal_file WHERE name = ?', (name,))


def _put_in(
    connection: apsw.Connection, name: str, page: Page, ids: set[str], chains: set[Chain]
) -> None:  # fmt: skip
    start = day_of(name)
    day = '' if start is None else name.rsplit('/', 1)[-1][:10]
    connection.executemany(
        'INSERT INTO journal_problem VALUES (?, ?, ?)',
        [(name, found.line, found.text) for found in page.problems],
    )
    connection.executemany('INSERT INTO note_op VALUES (?, ?, ?, ?, ?, ?, ?)', [
        (name, op.line, day, op.op.value, op.of, op.at_ns, _json(dict(op.said)))
        for op in page.ops
    ])  # fmt: skip
    ids.update(op.of for op in page.ops)
    row = int(connection.execute('SELECT coalesce(max(row), 0) FROM note').get)
    texts, entities = [], []
    for found in page.notes:
        row += 1
        _insert(connection, name, day, start, found, chains)
        texts.append((row, text_of(found.note)))
        entities += [(entity, row) for entity in _entities(found.note)]
        ids.add(found.note.id)
    connection.executemany('INSERT INTO note_text (rowid, text) VALUES (?, ?)', texts)
    connection.executemany('INSERT INTO note_entity VALUES (?, ?)', entities)


def _insert(
    connection: apsw.Connection, file: str, day: str, day_ns: int | None, found: NoteLine,
    chains: set[Chain],
) -> None:  # fmt: skip
    note, time, pose = found.note, found.note.event_time, found.note.pose
    clock = 'wall' if time is None else time.clock
    start = time.start_ns if time else found.at_ns if found.at_ns is not None else day_ns
    from_ns = note.valid_from_ns if note.valid_from_ns is not None else start or 0
    user, robot = slug(note.scope.get('user', '')), note.scope.get('robot_id', '')
    assert note.network is not None
    plain = _json(as_plain(note))
    connection.execute(_INSERT, (
        note.id, file, found.line, day, note.kind.value, note.network.value, note.key, user, robot,
        clock, plain, plain, digest_of(note), start, time.end_ns if time else None, from_ns,
        *((pose.frame_id, *pose.position_m) if pose else (None,) * 4),
    ))  # fmt: skip
    if note.key:
        chains.add((note.key, note.kind.value, user, robot, clock))


def text_of(note: Note) -> str:
    """What the text index has of a note."""
    return ' '.join(word for text in (note.content, *note.entities, note.key)
                    for word in text_words(text))  # fmt: skip


def _entities(note: Note) -> list[str]:
    names = [slug(name) for name in (*note.entities, *(target for _, target in note.links))]
    return [name for name in dict.fromkeys(names) if name]


def _settle(connection: apsw.Connection, ids: set[str], chains: set[Chain]) -> None:
    """Work out anew what later lines make of notes, and until when those of a chain hold."""
    for number in sorted(ids):
        ops: list[Any] = connection.execute(
            'SELECT op, at_ns, said FROM note_op WHERE note_id = ? ORDER BY day, line', (number,)
        ).fetchall()
        if ops or connection.execute(_CHANGED, (number, '{}')).fetchall():
            _apply(connection, number, ops)
    for chain in sorted(chains):
        rows = connection.execute(
            'SELECT row, from_ns FROM note WHERE key = ? AND kind = ? AND user = ? AND robot = ? '
            'AND clock = ? ORDER BY from_ns, day, line', chain,
        ).fetchall()  # fmt: skip
        ends = [from_ns for _, from_ns in rows[1:]] + [None]
        connection.executemany(
            'UPDATE note SET to_ns = ?1 WHERE row = ?2 AND to_ns IS NOT ?1',
            [(end, row) for end, (row, _) in zip(ends, rows)],
        )


def _apply(connection: apsw.Connection, note_id: str, ops: Sequence[tuple[str, int, str]]) -> None:
    for row, said in connection.execute(
        'SELECT row, said FROM note WHERE id = ?', (note_id,)
    ).fetchall():
        note = from_plain(json.loads(str(said)))
        forgotten: int | None = None
        verdicts: dict[str, int] = {}
        for op, at_ns, text in ops:
            more = json.loads(text)
            if op in (NoteOp.MERGE.value, NoteOp.REVISE.value):
                addition = from_plain({**more, 'content': note.content})
                note = extended(note, addition)
                if op == NoteOp.REVISE.value:
                    note = dataclasses.replace(note, confidence=addition.confidence)
            elif op == NoteOp.FORGET.value:
                forgotten = at_ns
            elif op == NoteOp.VERDICT.value:
                word = str(more.get('verdict', ''))
                verdicts[word] = verdicts.get(word, 0) + 1
        connection.execute(
            'UPDATE note SET now = ?, forgotten_ns = ?, verdicts = ? WHERE row = ?',
            (_json(as_plain(note)), forgotten, _json(verdicts), row),
        )
        connection.execute('DELETE FROM note_entity WHERE row = ?', (row,))
        connection.executemany(
            'INSERT INTO note_entity VALUES (?, ?)', [(name, row) for name in _entities(note)]
        )
        connection.execute('DELETE FROM note_text WHERE rowid = ?', (row,))
        connection.execute(
            'INSERT INTO note_text (rowid, text) VALUES (?, ?)', (row, text_of(note))
        )


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(',', ':'), ensure_ascii=False)
