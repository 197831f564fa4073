# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What somebody stated, in the file: properties, relations, events. All follow from log lines."""

from __future__ import annotations

import json
from typing import Any

import apsw

from memory_node.model import Change, ChangeKind, Event, Relation
from memory_node.store.database import Database

TABLES = ('property', 'stated_relation', 'event')

_PUT_PROPERTY = """
    INSERT INTO property VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (object_id, key) DO UPDATE SET value = excluded.value, seq = excluded.seq,
        stamp_ns = excluded.stamp_ns, actor = excluded.actor
"""
_PUT_RELATION = """
    INSERT INTO stated_relation VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (subject_id, relation, object_id) DO UPDATE SET seq = excluded.seq,
        stamp_ns = excluded.stamp_ns, actor = excluded.actor
"""


def apply_line(connection: apsw.Connection, change: Change) -> None:
    """Bring the tables to what a log line says."""
    said: Any = change.after
    if change.kind is ChangeKind.CORRECTED:
        connection.execute(_PUT_PROPERTY, (
            change.object_id, said['key'], _json(said['value']), change.stamp_ns, change.actor,
            change.seq,
        ))  # fmt: skip
    elif change.kind is ChangeKind.RELATION and said['holds']:
        connection.execute(_PUT_RELATION, (
            change.object_id, said['relation'], said['object_id'], change.stamp_ns, change.actor,
            change.seq,
        ))  # fmt: skip
    elif change.kind is ChangeKind.RELATION:
        connection.execute(
            'DELETE FROM stated_relation WHERE subject_id = ? AND relation = ? AND object_id = ?',
            (change.object_id, said['relation'], said['object_id']),
        )
    elif change.kind is ChangeKind.EVENT:
        connection.execute('INSERT INTO event VALUES (?, ?, ?, ?, ?)', (
            change.seq, said['type'], change.object_id, change.stamp_ns, _json(said['payload']),
        ))  # fmt: skip


def properties_of(database: Database, object_id: int) -> dict[str, Any]:
    """Read the properties of an object."""
    rows = database.rows(
        'SELECT key, value FROM property WHERE object_id = ? ORDER BY key', (object_id,)
    )
    return {key: json.loads(value) for key, value in rows}


def relations_of(database: Database, object_ids: set[int]) -> list[Relation]:
    """Read the stated relations in which one of the objects takes part and none was forgotten."""
    if not object_ids:
        return []
    rows = database.rows("""
        WITH about AS (SELECT value AS id FROM json_each(?1))
        SELECT r.subject_id, r.relation, r.object_id FROM stated_relation r
        JOIN object s ON s.id = r.subject_id JOIN object o ON o.id = r.object_id
        WHERE (r.subject_id IN about OR r.object_id IN about)
            AND s.state <> 'forgotten' AND o.state <> 'forgotten'
        ORDER BY r.subject_id, r.relation, r.object_id
    """, (json.dumps(sorted(object_ids)),))  # fmt: skip
    return [Relation(subject, kind, other, 1.0, stated=True) for subject, kind, other in rows]


def events_of(
    database: Database, kind: str, object_id: int | None, since_ns: int, limit: int
) -> list[Event]:
    """Read the newest events that pass, oldest first; an empty kind or None lets all pass."""
    rows = database.rows("""
        SELECT seq, type, object_id, stamp_ns, payload FROM event
        WHERE (?1 = '' OR type = ?1) AND (?2 IS NULL OR object_id = ?2) AND stamp_ns >= ?3
        ORDER BY stamp_ns DESC, seq DESC LIMIT ?4
    """, (kind, object_id, since_ns, limit))  # fmt: skip
    return [
        Event(seq, name, where, stamp_ns, json.loads(payload))
        for seq, name, where, stamp_ns, payload in reversed(rows)
    ]


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(',', ':'), ensure_ascii=False)


def kinds(database: Database) -> list[str]:
    """All words that stated relations use."""
    rows = database.rows('SELECT DISTINCT relation FROM stated_relation ORDER BY 1')
    return [word for (word,) in rows]
