# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The point from which a log is replayed, once a purge has removed content from before it.

What follows from the log up to there is kept beside it, in tables of the name `sealed_TABLE`: it
cannot be had from lines without content. So the file is the seal and what came after.
"""

from __future__ import annotations

import apsw

from memory_node.store.database import Database

APPENDED = {'log': 'seq', 'view': 'seq', 'observation': 'view_seq'}
"""The tables that nothing else leads to, and the column with the log line of a row."""


def seal(connection: apsw.Connection, tables: tuple[str, ...], seq: int, space: int) -> None:
    """Keep the derived tables as they are, in a transaction that has begun.

    Args:
        connection: of the file. tables: the derived ones.
        seq: last log line. space: number of the feature space in use; 0: none.
    """
    for table in tables:
        connection.execute(f'DROP TABLE IF EXISTS sealed_{table}')
        make_table(connection, table)
        connection.execute(f'INSERT INTO sealed_{table} SELECT * FROM {table}')
    connection.execute('DELETE FROM seal')
    connection.execute('INSERT INTO seal VALUES (?, ?)', (seq, space))


def make_table(connection: apsw.Connection, table: str) -> None:
    """Create the empty table that keeps another, with the same columns."""
    columns = connection.execute(f'PRAGMA table_info({table})').fetchall()
    listed = ', '.join(f'{name} {kind}' for _, name, kind, *_ in columns)
    connection.execute(f'CREATE TABLE sealed_{table} ({listed})')


def sealed(database: Database) -> tuple[int, int] | None:
    """The log line up to which the file is sealed, and the space in use then; None: it is not."""
    rows = database.rows('SELECT seq, space FROM seal')
    return (int(rows[0][0]), int(rows[0][1])) if rows else None


def begin_with(source: Database, target: Database, tables: tuple[str, ...], seq: int) -> None:
    """Put everything up to the seal of one store into another, empty one."""
    with target.rewriting(whole=False) as connection:
        configs = source.rows('SELECT hash, settings FROM config')
        connection.executemany('INSERT OR IGNORE INTO config VALUES (?, ?)', configs)
        for table, line in APPENDED.items():
            question = f'SELECT * FROM {table} WHERE {line} <= ?'
            _copy(source, connection, table, question, (seq,))
        for table in tables:
            names = source.rows(f'PRAGMA table_info(sealed_{table})')
            listed = ', '.join(name for _, name, *_ in names)
            _copy(source, connection, f'{table} ({listed})', f'SELECT * FROM sealed_{table}')


def _copy(
    source: Database, connection: apsw.Connection, into: str, question: str,
    bindings: tuple[int, ...] = (),
) -> None:  # fmt: skip
    for batch in source.batches(question, bindings):
        marks = ', '.join('?' * len(batch[0]))
        connection.executemany(f'INSERT INTO {into} VALUES ({marks})', batch)
