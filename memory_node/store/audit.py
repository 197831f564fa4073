# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Facts about the file as a whole: identity, last numbers, findings, hash."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from memory_node.config import Config
from memory_node.errors import StoreError
from memory_node.store.database import Database
from memory_node.store.log import to_json

HASH_DIGITS = 6
"""The hash covers values rounded to this many digits."""

_HASHED = (
    'SELECT labels, id, label, state, x, y, z, size_x, size_y, size_z, qx, qy, qz, qw, oriented, '
    'confidence, observations, looks, look_seq, first_seen_ns, last_seen_ns, map_id, version_seq '
    'FROM object ORDER BY id',
    'SELECT object_id, feature FROM object_feature ORDER BY object_id',
    'SELECT seq, kind, object_id, stamp_ns, actor, reason FROM log ORDER BY seq',
    'SELECT object_id, seq, label, x, y, z, map_id FROM tombstone ORDER BY object_id',
)
_FINDINGS = {
    'log numbers are not 1, 2, 3, …':
        'SELECT count(*), max(seq) FROM log HAVING count(*) <> coalesce(max(seq), 0)',
    'VIEW lines without a view':
        "SELECT seq FROM log WHERE kind = 'VIEW' AND seq NOT IN (SELECT seq FROM view)",
    'views without a VIEW line':
        "SELECT seq FROM view WHERE seq NOT IN (SELECT seq FROM log WHERE kind = 'VIEW')",
    'observations without a verdict that accounts for them':
        "SELECT id FROM observation WHERE (object_id IS NULL) <> (verdict = 'rejected')",
    'objects without a CREATED line':
        "SELECT id FROM object o WHERE NOT EXISTS "
        "(SELECT 1 FROM log WHERE object_id = o.id AND kind = 'CREATED')",
    'CREATED lines without an object':
        "SELECT seq FROM log l WHERE kind = 'CREATED' AND NOT EXISTS "
        '(SELECT 1 FROM object WHERE id = l.object_id)',
    'objects whose sightings are not the observations they were given':
        'SELECT id FROM object o WHERE observations <> '
        '(SELECT count(*) FROM observation WHERE object_id = o.id)',
    'objects whose version is not their last change':
        'SELECT id FROM object o WHERE version_seq IS NOT '
        '(SELECT max(seq) FROM log WHERE object_id = o.id)',
    'forgotten objects without a tombstone':
        "SELECT id FROM object WHERE state = 'forgotten' AND "
        'id NOT IN (SELECT object_id FROM tombstone)',
}  # fmt: skip
_SHOWN = 5


def store_id(database: Database, new: str) -> str:
    """Return the identity of the store; `new` becomes it in a new file."""
    found = database.rows("SELECT value FROM meta WHERE key = 'store_id'")
    if found:
        return str(found[0][0])
    with database.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES ('store_id', ?)", (new,))
    return new


def write_config(database: Database, config: Config) -> str:
    """Store the settings and return their hash."""
    settings = to_json(dataclasses.asdict(config))
    number = hashlib.sha256(settings.encode()).hexdigest()[:16]
    if not database.rows('SELECT 1 FROM config WHERE hash = ?', (number,)):
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


def check(database: Database) -> list[str]:
    """Return what is wrong with the file, in words; empty when nothing is."""
    findings = []
    try:
        for (line,) in database.rows('PRAGMA integrity_check'):
            if line != 'ok':
                findings.append(f'damaged: {line}')
        for table, row, parent, _ in database.rows('PRAGMA foreign_key_check'):
            findings.append(f'row {row} of {table} refers to a row that {parent} does not have')
        for meaning, question in _FINDINGS.items():
            rows = database.rows(question)
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
    for question in _HASHED:
        digest.update(question.encode())
        for row in database.rows(question):
            values = list(_rounded(row))
            if question is _HASHED[0]:
                masses = json.loads(values[0])
                values[0] = {k: round(v, HASH_DIGITS) for k, v in sorted(masses.items())}
            digest.update(json.dumps(values, ensure_ascii=False).encode())
    return digest.hexdigest()


def _rounded(row: tuple[Any, ...]) -> Iterable[Any]:
    for value in row:
        if isinstance(value, float):
            yield round(value, HASH_DIGITS) + 0.0
        elif isinstance(value, bytes):
            feature = np.frombuffer(value, '<f4').astype(np.float64)
            yield [round(v, HASH_DIGITS) + 0.0 for v in feature.tolist()]
        else:
            yield value
