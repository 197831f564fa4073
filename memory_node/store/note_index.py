# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The index of the journal, brought up to what its files say."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from memory_node.notes.items import Note, NoteOp, extended, slug
from memory_node.notes.journal import Mark
from memory_node.notes.lines import NoteLine, Page, as_plain, day_of, digest_of, from_plain
from memory_node.store.notes import text_words

Chain = tuple[str, str, str, str, str]
"""Key, kind, user, robot and clock: one thing of which the newest note holds."""
_CHANGED = 'SELECT 1 FROM note WHERE id = ?1 AND (forgotten_ns OR now <> said OR verdicts <> ?2)'
_TABLES = ('journal_problem', 'note_op')
_INSERT = f"""INSERT INTO note (id, file, line, day, kind, network, key, user, robot, clock, said,
    now, digest, start_ns, end_ns, from_ns, frame, x, y, z) VALUES ({', '.join('?' * 20)})"""


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
