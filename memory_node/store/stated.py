# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What somebody stated, in the file: properties, relations, events. All follow from log lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from memory_node.model import Change, ChangeKind, Event, Relation, RelationKind
from memory_node.store.database import Database
from memory_node.store.redirects import Redirects

TABLES = ('property', 'stated_relation', 'event')
OPEN = 'open'
"""Property of a door or a container: whether it is."""

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


_BECAME = """
    WITH RECURSIVE
    subjects(id) AS (SELECT ?1 UNION SELECT r.object_id FROM subjects s
        JOIN redirect r ON r.into_id = s.id),
    others(id) AS (SELECT ?2 UNION SELECT r.object_id FROM others o
        JOIN redirect r ON r.into_id = o.id)
"""
"""The ids that became the objects ?1 and ?2, and these."""


def apply_line(connection: apsw.Connection, change: Change) -> None:
    """Bring the tables to what a log line says."""
    said: Any = change.after
    if change.kind is ChangeKind.CORRECTED:
        _put_property(connection, change, said)
    elif change.kind is ChangeKind.RELATION and said['holds']:
        connection.execute(_PUT_RELATION, (
            change.object_id, said['relation'], said['object_id'], change.stamp_ns, change.actor,
            change.seq,
        ))  # fmt: skip
    elif change.kind is ChangeKind.RELATION:
        connection.execute(
            f'{_BECAME} DELETE FROM stated_relation WHERE relation = ?3 AND '
            'subject_id IN (SELECT id FROM subjects) AND object_id IN (SELECT id FROM others)',
            (change.object_id, said['object_id'], said['relation']),
        )
    elif change.kind is ChangeKind.EVENT:
        _put_event(connection, change, said['type'], said['payload'])
        if 'key' in said:
            _put_property(connection, change, said)


def note_act(connection: apsw.Connection, change: Change, moved: Iterable[int]) -> None:
    """Bring the tables to what an act of the robot says.

    moved: ids of what is not inside anything any more, unless it was put there.
    """
    said: Any = change.after
    connection.execute(
        'DELETE FROM stated_relation WHERE relation = ?1 AND '
        'subject_id IN (SELECT value FROM json_each(?2))',
        (RelationKind.INSIDE.value, json.dumps(list(moved))),
    )
    payload = {}
    if 'container_id' in said:
        payload = {'container_id': said['container_id']}
        connection.execute(_PUT_RELATION, (
            change.object_id, RelationKind.INSIDE.value, said['container_id'], change.stamp_ns,
            change.actor, change.seq,
        ))  # fmt: skip
    _put_event(connection, change, said['act'], payload)


def _put_event(
    connection: apsw.Connection, change: Change, kind: str, payload: Mapping[str, Any]
) -> None:
    connection.execute('INSERT INTO event VALUES (?, ?, ?, ?, ?)', (
        change.seq, kind, change.object_id, change.stamp_ns, _json(payload),
    ))  # fmt: skip


def _put_property(connection: apsw.Connection, change: Change, said: Mapping[str, Any]) -> None:
    connection.execute(_PUT_PROPERTY, (
        change.object_id, said['key'], _json(said['value']), change.stamp_ns, change.actor,
        change.seq,
    ))  # fmt: skip


def contents(database: Database, redirects: Redirects) -> dict[int, int]:
    """Object → what it was stated to be inside of, unless that is open; the last word counts."""
    inside = _holders(database, redirects)
    shown = {
        holder for holder in set(inside.values())
        if properties_of(database, redirects.held(holder)).get(OPEN) is True
    }  # fmt: skip
    return {k: holder for k, holder in inside.items() if holder not in shown and holder != k}


def held_inside(database: Database, object_id: int, redirects: Redirects) -> list[int]:
    """What was stated to be inside of an object, or inside of that, open or not; ascending."""
    holder = _holders(database, redirects)
    found: set[int] = set()
    new = {object_id}
    while new := {n for n, held_by in holder.items() if held_by in new} - found - {object_id}:
        found |= new
    return sorted(found)


def would_close(
    database: Database, object_id: int, container_id: int, redirects: Redirects
) -> bool:
    """Whether a container is inside the object that is to be put into it."""
    inside = _holders(database, redirects)
    seen: set[int] = set()
    number: int | None = container_id
    while number is not None and number not in seen:
        if number == object_id:
            return True
        seen.add(number)
        number = inside.get(number)
    return False


def _holders(database: Database, redirects: Redirects) -> dict[int, int]:
    """Object → what it was stated to be inside of, open or not; the last word counts."""
    rows = database.rows(
        'SELECT subject_id, object_id FROM stated_relation WHERE relation = ? ORDER BY seq',
        (RelationKind.INSIDE.value,),
    )
    return {redirects.final(subject): redirects.final(other) for subject, other in rows}


def properties_of(database: Database, object_ids: Sequence[int]) -> dict[str, Any]:
    """Read the properties of an object and of what was merged into it.

    Args:
        database: the file.
        object_ids: the object first, whose own value of a key counts; of the others, the newest.
    """
    rows = database.rows(
        'SELECT key, value FROM property WHERE object_id IN (SELECT value FROM json_each(?1)) '
        'ORDER BY object_id = ?2, seq',
        (json.dumps(list(object_ids)), object_ids[0]),
    )
    found = {key: json.loads(value) for key, value in rows}
    return {key: found[key] for key in sorted(found)}


def relations_of(database: Database, object_ids: set[int], redirects: Redirects) -> list[Relation]:
    """Read the stated relations in which one of the objects takes part and none has ended.

    What was stated of an object that was merged into another holds of that one.
    """
    if not object_ids:
        return []
    about = sorted(object_ids)
    if len(redirects):
        about = sorted({i for number in about for i in redirects.held(number)})
    rows = database.rows("""
        WITH about AS (SELECT value AS id FROM json_each(?1))
        SELECT r.subject_id, r.relation, r.object_id, r.stamp_ns FROM stated_relation r
        WHERE r.subject_id IN about OR r.object_id IN about
        ORDER BY r.subject_id, r.relation, r.object_id
    """, (json.dumps(about),))  # fmt: skip
    final = redirects.final
    since: dict[tuple[int, str, int], int] = {}
    for subject, kind, other, stamp_ns in rows:
        key = (final(subject), kind, final(other))
        since[key] = min(stamp_ns, since.get(key, stamp_ns))
    triples = sorted(since)
    ends = json.dumps(sorted({i for subject, _, other in triples for i in (subject, other)}))
    ended = {number for (number,) in database.rows(
        "SELECT id FROM object WHERE state = 'forgotten' "
        'AND id IN (SELECT value FROM json_each(?))', (ends,),
    )} if triples else set()  # fmt: skip
    return [
        Relation(subject, kind, other, 1.0, True, since[subject, kind, other])
        for subject, kind, other in triples
        if subject != other and not {subject, other} & ended
    ]


def events_of(
    database: Database, kind: str, object_ids: Sequence[int] | None, since_ns: int, limit: int
) -> list[Event]:
    """Read the newest events that pass, oldest first; an empty kind or None lets all pass."""
    where = None if object_ids is None else json.dumps(list(object_ids))
    rows = database.rows("""
        SELECT seq, type, object_id, stamp_ns, payload FROM event
        WHERE (?1 = '' OR type = ?1) AND stamp_ns >= ?3
            AND (?2 IS NULL OR object_id IN (SELECT value FROM json_each(?2)))
        ORDER BY stamp_ns DESC, seq DESC LIMIT ?4
    """, (kind, where, since_ns, limit))  # fmt: skip
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
