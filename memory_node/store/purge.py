# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Removing content for good (X-5): rows stay and are numbered as before, what they said is gone.

What follows from the log before a purge can no longer be replayed from it, so it is sealed. The
file is then written anew, as SQLite leaves removed content in pages that are free.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import apsw

from memory_node.errors import StoreError
from memory_node.fusion.pins import label_evidence, put
from memory_node.model import Aspect, Change, ChangeKind, Pin
from memory_node.store import beliefs, log, objects, pins
from memory_node.store.corrections import PURGED, WORD
from memory_node.store.database import ERASING, Database
from memory_node.store.edits import Asked
from memory_node.store.rebuild import DERIVED
from memory_node.store.redirects import listed
from memory_node.store.seal import seal
from memory_node.store.session import Session
from memory_node.store.wanted import IN, INSIDE, OWNER, Found, Wanted, find

_BLANK_SIGHTINGS = f"""
    UPDATE observation SET label = '', score = 0, x = 0, y = 0, z = 0, size_x = 0, size_y = 0,
        size_z = 0, qx = NULL, qy = NULL, qz = NULL, qw = NULL, position_cov = NULL,
        alternatives = NULL, track_id = NULL, geometry_term = NULL, iou_term = NULL,
        feature_term = NULL, label_term = NULL, total = NULL, space = NULL, feature = NULL,
        rejection_id = NULL, barred_by = NULL
    WHERE id IN {IN}
"""
_BLANK_OBJECTS = f"""
    UPDATE object SET label = '', labels = '{{}}', x = 0, y = 0, z = 0, size_x = 0, size_y = 0,
        size_z = 0, qx = 0, qy = 0, qz = 0, qw = 1, oriented = 0, hull_x = NULL, hull_y = NULL,
        hull_z = NULL, confidence = 0, observations = 0, looks = 0, look_seq = NULL,
        first_seen_ns = 0, last_seen_ns = 0, map_id = '', record = x'',
        state = CASE state WHEN 'merged' THEN state ELSE 'forgotten' END
    WHERE id IN {IN}
"""
_OF_OBJECTS = (
    f'DELETE FROM object_version WHERE object_id IN {IN}',
    f'DELETE FROM object_feature WHERE object_id IN {IN}',
    f'DELETE FROM tombstone WHERE object_id IN {IN}',
    f'DELETE FROM property WHERE object_id IN {IN}',
    f'DELETE FROM stated_relation WHERE subject_id IN {IN} OR object_id IN {IN}',
    f'DELETE FROM event WHERE object_id IN {IN}',
    f'DELETE FROM pin WHERE object_id IN {IN}',
)
_OF_LINES = (
    f'DELETE FROM property WHERE seq IN {IN}',
    f'DELETE FROM stated_relation WHERE seq IN {IN}',
    f'DELETE FROM event WHERE seq IN {IN}',
    f'DELETE FROM region WHERE seq IN {IN}',
    f'DELETE FROM identity_change WHERE seq IN {IN} OR seq + 1 IN {IN}',
    f"""UPDATE log SET before = '{{}}', reason = '', after = CASE WHEN
        json_extract(after, '$.{WORD}') IS NULL THEN '{{}}' ELSE '{{"{WORD}":"{PURGED}"}}' END
        WHERE seq IN {IN}""",
)
_UNUSED_REJECTIONS = """
    DELETE FROM rejection WHERE id NOT IN
        (SELECT rejection_id FROM observation WHERE rejection_id IS NOT NULL)
"""
_USED_LABELS = """
    SELECT label FROM observation UNION SELECT label FROM object
    UNION SELECT label FROM object_version UNION SELECT label FROM rejection
    UNION SELECT label FROM tombstone UNION SELECT key FROM object, json_each(object.labels)
    UNION SELECT key FROM object_version v, json_each(v.labels) WHERE v.labels IS NOT NULL
    UNION SELECT key FROM observation, json_each(alternatives) WHERE alternatives IS NOT NULL
"""

Rewrite = Callable[[Any, dict[int, float]], dict[int, float]]
"""Changes a record, (1,), and its labels beyond the slots; returns the latter."""


def purge(session: Session, wanted: Wanted, asked: Asked) -> tuple[Found, list[Change]]:
    """Remove what is wanted from all tables, say so in the log, and seal what follows from it.

    The session must be loaded anew afterwards, and the file erased.

    Raises:
        StoreError: nothing was changed.
    """
    session.finish()
    found = find(session, wanted)
    if not found:
        return found, []
    changes = _said(wanted, found, asked)
    objects_, lines = listed(found.objects), listed(found.lines)
    with session.database.rewriting() as connection:
        _take_counts(session, connection, found)
        if wanted.by == 'person':
            _unname(session, connection, wanted.person, found)
        connection.execute(_BLANK_SIGHTINGS, (listed(found.sightings),))
        connection.execute(_BLANK_OBJECTS, (objects_,))
        for statement in _OF_OBJECTS:
            connection.execute(statement, (objects_,))
        for statement in _OF_LINES:
            connection.execute(statement, (lines,))
        connection.execute(_UNUSED_REJECTIONS)
        connection.execute('DELETE FROM late_record')  # all rows have it: see finish above
        if wanted.by == 'region':
            connection.execute(
                f'DELETE FROM object_version WHERE {INSIDE} AND '
                'object_id IN (SELECT id FROM object WHERE map_id = ?7)',
                (*wanted.box, wanted.map_id),
            )
        _rename_labels(session.database, wanted.label.casefold())
        log.write_lines(connection, changes)
        connection.executemany(
            'UPDATE object SET version_seq = ? WHERE id = ?',
            [(c.seq, c.object_id) for c in changes if c.object_id is not None],
        )
        connection.execute('INSERT OR REPLACE INTO meta VALUES (?, ?)', (ERASING, '1'))
        seal(connection, DERIVED, changes[-1].seq, session.space.id)
    return found, changes


def erase(session: Session) -> bool:
    """Write the file anew if a purge left old bytes in it; returns whether none are left.

    What was purged is gone from all tables by then, so nothing raises: it is tried again later.
    """
    database = session.database
    if not database.rows('SELECT 1 FROM meta WHERE key = ?', (ERASING,)):
        return True
    try:
        if not database.erase():
            return False
        with database.transaction() as connection:
            connection.execute('DELETE FROM meta WHERE key = ?', (ERASING,))
    except StoreError:  # there is no room for a second copy of the file
        return False
    return True


def _said(wanted: Wanted, found: Found, asked: Asked) -> list[Change]:
    """The log lines: one of the whole, with numbers only, and one for each object."""
    counts = {
        'by': wanted.by, 'objects': len(found.objects), 'sightings': len(found.sightings),
        'lines': len(found.lines),
    }  # fmt: skip
    more = [
        dataclasses.replace(asked, seq=asked.seq + k).change(
            ChangeKind.PURGED, number, {}, {'of': asked.seq}
        )
        for k, number in enumerate(sorted(found.objects), 1)
    ]
    return [asked.change(ChangeKind.PURGED, None, {}, counts), *more]


# -- what stays, without what is gone --------------------------------------------------------------


def _take_counts(session: Session, connection: apsw.Connection, found: Found) -> None:
    """Objects that stay lose the count of sightings that go.

    Merges and splits of whatever loses something can no longer be undone.
    """
    rows = session.database.rows(
        f'SELECT {OWNER} FROM observation o WHERE o.id IN {IN} AND o.object_id IS NOT NULL '
        "AND o.reason <> 'duplicate'", (listed(found.sightings),),
    )  # fmt: skip
    gone: dict[int, int] = {}
    for (number,) in rows:
        final = session.redirects.final(number)
        if final not in found.objects:
            gone[final] = gone.get(final, 0) + 1
    for number, count in gone.items():

        def less(record: Any, more: dict[int, float], by: int = count) -> dict[int, float]:
            record['observations'] -= by
            return more

        _rewrite(session, connection, number, less)
    lost = {
        number
        for found_id in {*found.objects, *gone}
        for number in session.redirects.held(found_id)
    }
    pairs = session.database.rows('SELECT object_id, other_id FROM identity_change')
    lost |= {number for pair in pairs if lost & {*pair} for number in pair}
    connection.execute(
        f'DELETE FROM identity_change WHERE object_id IN {IN} OR other_id IN {IN}', (listed(lost),)
    )


def _unname(
    session: Session, connection: apsw.Connection, person: str, found: Found
) -> None:  # fmt: skip
    """Take a person's name out of scopes and lines, and their word from what stays."""
    for seq, scope in session.database.rows(
        'SELECT seq, scope FROM view WHERE EXISTS (SELECT 1 FROM json_each(scope) WHERE value = ?)',
        (person,),
    ):
        left = {key: value for key, value in json.loads(scope).items() if value != person}
        connection.execute('UPDATE view SET scope = ? WHERE seq = ?', (log.to_json(left), seq))
    owners = session.database.rows('SELECT DISTINCT object_id FROM pin')
    own = {
        seq for (seq,) in session.database.rows('SELECT seq FROM log WHERE actor = ?', (person,))
    }
    for pin in pins.held(session.database, [number for (number,) in owners]):
        final = session.redirects.final(pin.object_id)
        if pin.seq in own and final not in found.objects:
            pins.remove(connection, [pin])
            connection.execute(
                'DELETE FROM object_version WHERE object_id = ? AND label = ?',
                (final, pin.value if pin.aspect is Aspect.LABEL else ''),
            )
            connection.execute(
                'UPDATE object_version SET labels = NULL WHERE object_id = ?', (final,)
            )
            _rewrite(session, connection, final, _as_seen(session, pin))
    connection.execute('UPDATE log SET actor = ? WHERE actor = ?', (PURGED, person))


def _as_seen(session: Session, pin: Pin) -> Rewrite:
    """Sets what was pinned to what the evidence says; where it says nothing it stays."""
    world = session.engine.world

    def rewrite(record: Any, more: dict[int, float]) -> dict[int, float]:
        seen: Any = pin.evidence
        if pin.aspect is Aspect.LABEL:
            seen = label_evidence(record[0], more, world)
        return more if seen is None else put(record, more, pin.aspect, seen, world)

    return rewrite


def _rewrite(
    session: Session, connection: apsw.Connection, object_id: int, rewrite: Rewrite
) -> None:  # fmt: skip
    """Change the row of an object that stays; its last version stays what it was."""
    belief = beliefs.read(session, object_id)
    more = rewrite(belief.record, dict(belief.more))
    row = objects.object_rows(belief.record, {0: more}, session.engine.world, [None])[0]
    connection.execute(objects.UPDATE_OBJECT, row)


# -- labels ----------------------------------------------------------------------------------------


def _rename_labels(database: Database, purged: str) -> None:
    """Labels keep their numbers; one that is purged or no longer used loses its name.

    Args:
        database: in a transaction. purged: case-folded; empty: none, only unused ones.
    """
    numbered = database.rows('SELECT number, name FROM label')
    taken = {name.casefold() for _, name in numbered}
    used = {name.casefold() for (name,) in database.rows(_USED_LABELS)}
    for number, name in numbered:
        is_purged = bool(purged) and name.casefold() == purged
        if name.startswith(PURGED) or (name.casefold() in used and not is_purged):
            continue
        other = f'{PURGED} {number}'
        while other in taken:
            other += '.'
        database.rows('UPDATE label SET name = ? WHERE number = ?', (other, number))
        if is_purged:
            _rename(database, name, other)
    if purged:
        _drop_alternatives(database, purged)


def _rename(database: Database, name: str, other: str) -> None:
    """Give a label another name in what stays."""
    for table in ('object', 'object_version'):
        rows = database.rows(
            f'SELECT DISTINCT labels FROM {table} WHERE labels IS NOT NULL AND EXISTS '
            '(SELECT 1 FROM json_each(labels) WHERE key = ?)', (name,),
        )  # fmt: skip
        for (text,) in rows:
            masses = {other if key == name else key: mass for key, mass in json.loads(text).items()}
            new = json.dumps(masses, separators=(',', ':'), ensure_ascii=False)
            database.rows(f'UPDATE {table} SET labels = ? WHERE labels = ?', (new, text))
    database.rows('UPDATE object_version SET label = ? WHERE label = ?', (other, name))
    old, new = (json.dumps(text, ensure_ascii=False) for text in (name, other))
    database.rows('UPDATE pin SET value = ? WHERE value = ?', (new, old))
    database.rows('UPDATE pin SET evidence = ? WHERE evidence = ?', (new, old))


def _drop_alternatives(database: Database, purged: str) -> None:
    rows = database.rows('SELECT id, alternatives FROM observation WHERE alternatives IS NOT NULL')
    for number, text in rows:
        given = json.loads(text)
        left = {key: score for key, score in given.items() if key.casefold() != purged}
        if left != given:
            database.rows(
                'UPDATE observation SET alternatives = ? WHERE id = ?',
                (log.to_json(left) if left else None, number),
            )
