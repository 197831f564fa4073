# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Facts about the file as a whole: identity, last numbers, findings, hash."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

import numpy as np

from memory_node.config import Config
from memory_node.errors import StoreError
from memory_node.fusion.classes import Classes
from memory_node.fusion.shift import Shift
from memory_node.fusion.world import World
from memory_node.store import features, rows_behind
from memory_node.store.database import Database
from memory_node.store.log import to_json
from memory_node.store.redirects import LAST

CLASSES = 'classes'
"""Under this key the stored settings hold what was known of classes."""
HASH_DIGITS = 6
"""The hash covers values rounded to this many digits."""
SENSES_FROM = 1000
"""So many of the newest views are looked at for what is known of the sensors."""

_FEATURES = 'SELECT object_id, space, feature FROM object_feature ORDER BY object_id, space'
_OBJECTS = """
    SELECT id, label, labels, state, x, y, z, size_x, size_y, size_z, qx, qy, qz, qw, oriented,
           hull_x, hull_y, hull_z, confidence, observations, looks, look_seq, first_seen_ns,
           last_seen_ns, map_id, version_seq, last_checked_ns, last_check, odds, odds_ns, misses
    FROM object ORDER BY id
"""
_HASHED = (
    _OBJECTS,
    _FEATURES,
    'SELECT seq, kind, object_id, stamp_ns, actor, reason, after FROM log ORDER BY seq',
    'SELECT object_id, seq, label, x, y, z, map_id, detections, looks, look_seq, score_sum, '
    'sum_x, sum_y, sum_z, cleared_seq, until_ns FROM tombstone ORDER BY object_id',
    'SELECT label, cell_x, cell_y, cell_z, map_id, reason, count FROM rejection ORDER BY id',
    'SELECT object_id, aspect, value, seq, sightings, evidence, conflict FROM pin '
    'ORDER BY object_id, aspect',
)
_FINDINGS = {
    'log numbers are not 1, 2, 3, …': (
        'SELECT count(*), max(seq) FROM log HAVING count(*) <> coalesce(max(seq), 0)'
    ),
    'VIEW lines without a view': (
        "SELECT seq FROM log WHERE kind = 'VIEW' AND seq NOT IN (SELECT seq FROM view)"
    ),
    'views without a VIEW line': (
        "SELECT seq FROM view WHERE seq NOT IN (SELECT seq FROM log WHERE kind = 'VIEW')"
    ),
    'observations without a verdict that accounts for them': (
        "SELECT id FROM observation WHERE (object_id IS NULL) <> (verdict = 'rejected')"
    ),
    'rejected observations without a key or a tombstone': (
        "SELECT id FROM observation WHERE verdict = 'rejected' AND label <> '' "
        'AND (rejection_id IS NULL) = (barred_by IS NULL)'
    ),
    'objects without a CREATED line': (
        'SELECT id FROM object o WHERE NOT EXISTS '
        "(SELECT 1 FROM log WHERE object_id = o.id AND kind = 'CREATED')"
    ),
    'CREATED lines without an object': (
        "SELECT seq FROM log l WHERE kind = 'CREATED' AND NOT EXISTS "
        '(SELECT 1 FROM object WHERE id = l.object_id)'
    ),
    'objects whose sightings are not the observations they were given': (
        'WITH RECURSIVE step(id, now) AS (SELECT id, id FROM object UNION ALL '
        'SELECT s.id, r.into_id FROM step s JOIN redirect r ON r.object_id = s.now), '
        'final AS (SELECT id, now FROM step WHERE now NOT IN (SELECT object_id FROM redirect)), '
        'owned AS (SELECT f.now AS id, count(*) AS n FROM observation o '
        f'LEFT JOIN {LAST} a ON a.observation_id = o.id '
        'JOIN final f ON f.id = coalesce(a.object_id, o.object_id) '
        "WHERE o.reason <> 'duplicate' AND o.label <> '' GROUP BY f.now) "
        'SELECT o.id FROM object o LEFT JOIN owned w ON w.id = o.id '
        "WHERE o.state <> 'merged' AND o.observations <> coalesce(w.n, 0)"
    ),
    'objects whose version is not their last change in kind': (
        'SELECT id FROM object o WHERE version_seq IS NOT (SELECT max(seq) FROM log '
        "WHERE object_id = o.id AND kind NOT IN ('RELATION', 'EVENT') "
        "AND (kind <> 'CORRECTED' OR json_extract(after, '$.correction') IS NOT NULL))"
    ),
    'merged objects that were merged into none, or the other way round': (
        "SELECT id FROM object WHERE (state = 'merged') <> (id IN (SELECT object_id FROM redirect))"
    ),
    'forgotten objects without a tombstone that bars': (
        "SELECT id FROM object WHERE state = 'forgotten' AND label <> '' AND id NOT IN "
        '(SELECT object_id FROM tombstone WHERE cleared_seq IS NULL)'
    ),
    'purged objects of which something is left': (
        "SELECT id FROM object o WHERE label = '' AND (labels <> '{}' OR length(record) > 0 "
        'OR EXISTS (SELECT 1 FROM object_version WHERE object_id = o.id) '
        'OR EXISTS (SELECT 1 FROM object_feature WHERE object_id = o.id) '
        'OR EXISTS (SELECT 1 FROM tombstone WHERE object_id = o.id) '
        'OR EXISTS (SELECT 1 FROM property WHERE object_id = o.id) '
        'OR EXISTS (SELECT 1 FROM pin WHERE object_id = o.id))'
    ),
    'objects without a label that no PURGED line is about': (
        "SELECT id FROM object o WHERE label = '' AND NOT EXISTS "
        "(SELECT 1 FROM log WHERE object_id = o.id AND kind = 'PURGED')"
    ),
}
_SHOWN = 5


def store_id(database: Database, new: str) -> str:
    """Return the identity of the store; `new` becomes it in a new file, empty: it has none yet."""
    found = database.rows("SELECT value FROM meta WHERE key = 'store_id'")
    if found:
        return str(found[0][0])
    if database.readonly:
        return ''
    with database.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES ('store_id', ?)", (new,))
    return new


def settings_of(config: Config, classes: Classes) -> str:
    """The settings, with what was known of classes, as they are stored."""
    return to_json({**dataclasses.asdict(config), CLASSES: classes.as_plain()})


def write_config(database: Database, config: Config, classes: Classes) -> str:
    """Store the settings and return their hash."""
    settings = settings_of(config, classes)
    number = hashlib.sha256(settings.encode()).hexdigest()[:16]
    known = database.rows('SELECT 1 FROM config WHERE hash = ?', (number,))
    if not known and not database.readonly:
        with database.transaction() as connection:
            connection.execute('INSERT INTO config VALUES (?, ?)', (number, settings))
    return number


def last_numbers(database: Database) -> tuple[int, int, int, int]:
    """Last log line, object id and observation id, and the newest stamp of a view; 0: none."""
    row = database.rows("""
        SELECT coalesce((SELECT max(seq) FROM log), 0), coalesce((SELECT max(id) FROM object), 0),
               coalesce((SELECT max(id) FROM observation), 0),
               coalesce((SELECT max(stamp_ns) FROM view), 0)
    """)[0]
    return int(row[0]), int(row[1]), int(row[2]), int(row[3])


def last_senses(database: Database, world: World) -> tuple[Shift | None, dict[str, float]]:
    """The shift of the newest view, and the position noise of each sensor that was used lately."""
    rows = database.rows(
        'SELECT sensor, noise_m, shift, stamp_ns, map_id FROM view ORDER BY seq DESC LIMIT ?',
        (SENSES_FROM,),
    )
    noise = {sensor: noise_m for sensor, noise_m, *_ in reversed(rows) if noise_m is not None}
    if not rows:
        return None, noise
    _, _, blob, stamp_ns, map_id = rows[0]
    vector = np.zeros(3) if blob is None else np.frombuffer(blob, '<f8')
    return Shift(vector, stamp_ns, world.map_number(map_id)), noise


def check(database: Database) -> list[str]:
    """Return what is wrong with the file, in words; empty when nothing is."""
    findings = []
    try:
        for (line,) in database.rows('PRAGMA integrity_check'):
            if line != 'ok':
                findings.append(f'damaged: {line}')
        for table, row, parent, _ in database.rows('PRAGMA foreign_key_check'):
            findings.append(f'row {row} of {table} refers to a row that {parent} does not have')
        with rows_behind.known(database):
            found = {meaning: database.rows(question) for meaning, question in _FINDINGS.items()}
        for meaning, rows in found.items():
            if rows:
                shown = ', '.join(str(r[0]) for r in rows[:_SHOWN])
                more = f' and {len(rows) - _SHOWN} more' if len(rows) > _SHOWN else ''
                findings.append(f'{meaning}: {shown}{more}')
    except StoreError as error:
        findings.append(str(error))
    return findings


def snapshot_hash(database: Database) -> str:
    """SHA-256 over objects, features, log and tombstones; not over record times or store id."""
    digest = hashlib.sha256()
    with rows_behind.known(database):
        for question in _HASHED:
            digest.update(question.encode())
            of_features = question == _FEATURES
            for row in features.all_rows(database) if of_features else database.rows(question):
                digest.update(json.dumps(_rounded(row), ensure_ascii=False).encode())
    return digest.hexdigest()


def _rounded(value: Any) -> Any:
    """The value with every number in it rounded; stored JSON and features are looked into."""
    if isinstance(value, float):
        return round(value, HASH_DIGITS) + 0.0
    if isinstance(value, bytes):
        return _rounded(np.frombuffer(value, '<f4').astype(np.float64).tolist())
    if isinstance(value, str) and value.startswith('{'):
        try:
            return _rounded(json.loads(value))
        except ValueError:  # a label may look like that
            return value
    if isinstance(value, dict):
        return {key: _rounded(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return value
