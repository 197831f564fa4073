# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""`memory inspect`: what a file is, what is in it, and one object with all that is known of it."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

from memory_node import SpatialMemory
from memory_node.cli.main import OK
from memory_node.cli.terminal import Terminal, moment, point, size
from memory_node.config import MAX_LIMIT
from memory_node.errors import DamagedStoreError, SpatialMemoryError
from memory_node.model import Change, MemoryObject, Pin, Relation
from memory_node.store import log, opening, rows_behind
from memory_node.store.database import Database

_COUNTS = {
    'log_lines': 'SELECT count(*) FROM log',
    'views': 'SELECT count(*) FROM view',
    'observations': 'SELECT count(*) FROM observation',
    'rejected_observations': "SELECT count(*) FROM observation WHERE verdict = 'rejected'",
    'rejections': 'SELECT count(*) FROM rejection',
    'tombstones': 'SELECT count(*) FROM tombstone WHERE cleared_seq IS NULL',
    'cleared_tombstones': 'SELECT count(*) FROM tombstone WHERE cleared_seq IS NOT NULL',
    'labels': 'SELECT count(*) FROM label',
    'properties': 'SELECT count(*) FROM property',
    'stated_relations': 'SELECT count(*) FROM stated_relation',
    'events': 'SELECT count(*) FROM event',
    'pins': 'SELECT count(*) FROM pin',
}
_NEWEST_OBJECTS = """
    SELECT id, label, state, x, y, z, size_x, size_y, size_z, confidence, observations,
           last_seen_ns, map_id
    FROM object WHERE state NOT IN ('forgotten', 'merged') ORDER BY last_seen_ns DESC, id LIMIT ?
"""
_SPACES = """
    SELECT s.name, s.dimension,
           (SELECT count(*) FROM object_feature f WHERE f.space = s.id) FROM feature_space s
    ORDER BY s.id
"""


def inspect(given: argparse.Namespace, terminal: Terminal) -> int:
    """Show a file, or one object of it."""
    try:
        if given.id is not None:
            with SpatialMemory.open(given.file, readonly=True) as memory:
                _show_object(memory, given.id, given.log, terminal)
        else:
            _show_file(given, terminal)
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        if isinstance(error, SpatialMemoryError):
            raise
        raise DamagedStoreError(given.file, f'{type(error).__name__}: {error}') from error
    return OK


def _show_file(given: argparse.Namespace, terminal: Terminal) -> None:
    database = Database(given.file, readonly=True)
    try:
        with database.standing_still():
            found = _facts(database)
            with rows_behind.known(database):
                rows = database.rows(_NEWEST_OBJECTS, (given.objects,))
            newest = database.rows(
                f"{log.CHANGE} WHERE kind <> 'VIEW' ORDER BY seq DESC LIMIT ?", (given.log,)
            )
    finally:
        database.close()
    changes = [log.change_from(row) for row in reversed(newest)]
    terminal.data({
        **found, 'objects': [_object_of(row) for row in rows],
        'log': [_change(change) for change in changes],
    })  # fmt: skip
    if not terminal.as_json:
        _show(found, rows, changes, terminal)


def _facts(database: Database) -> dict[str, Any]:
    path = Path(database.path)
    beside = Path(f'{path}-wal')
    counts = {name: int(database.rows(sql)[0][0]) for name, sql in _COUNTS.items()}
    states = database.rows('SELECT state, count(*) FROM object GROUP BY state ORDER BY state')
    meta = dict(database.rows('SELECT key, value FROM meta'))
    first, last = database.rows('SELECT min(stamp_ns), max(stamp_ns) FROM view')[0]
    line = database.rows(f'{log.CHANGE} ORDER BY seq DESC LIMIT 1')
    return {
        'path': str(path),
        'bytes': path.stat().st_size,
        'log_bytes': beside.stat().st_size if beside.exists() else 0,
        'in_use_by': opening.holder(path),
        'schema': database.rows('PRAGMA user_version')[0][0],
        'store_id': meta.get('store_id', ''),
        'repaired': json.loads(meta['repaired']) if 'repaired' in meta else None,
        'counts': {**counts, 'objects': dict(states)},
        'feature_spaces': [
            {'name': name, 'dimension': dimension, 'objects': count}
            for name, dimension, count in database.rows(_SPACES)
        ],
        'maps': [name for (name,) in database.rows('SELECT DISTINCT map_id FROM view ORDER BY 1')],
        'sensors': [n for (n,) in database.rows('SELECT DISTINCT sensor FROM view ORDER BY 1')],
        'first_stamp_ns': first,
        'last_stamp_ns': last,
        'last_line': _change(log.change_from(line[0])) if line else None,
    }


def _show(
    found: dict[str, Any], rows: list[tuple[Any, ...]], changes: list[Change], terminal: Terminal
) -> None:
    counts, line, repaired = found['counts'], found['last_line'], found['repaired']
    beside = f' and {size(found["log_bytes"])} write-ahead log' if found['log_bytes'] else ''
    states = counts['objects']
    spaces = [
        f'{s["name"] or "unnamed"} ({s["dimension"]}, of {s["objects"]} objects)'
        for s in found['feature_spaces']
    ]
    facts = [
        ('file', found['path']),
        ('size', f'{size(found["bytes"])}{beside}'),
        ('in use', f'by {found["in_use_by"]}' if found['in_use_by'] else 'no'),
        ('store id', found['store_id'] or 'none yet'),
        ('schema', str(found['schema'])),
        ('views', f'{counts["views"]} by {_names(found["sensors"])}, in map '
                  f'{_names(found["maps"])}'),
        ('time', f'{moment(found["first_stamp_ns"])} to {moment(found["last_stamp_ns"])}'
                 if counts['views'] else 'no view yet'),
        ('observations', f'{counts["observations"]}, {counts["rejected_observations"]} of them '
                         f'rejected for {counts["rejections"]} keyed reasons'),
        ('objects', ', '.join(f'{n} {state}' for state, n in states.items()) or 'none'),
        ('kept out', f'{counts["tombstones"]} tombstones bar, {counts["cleared_tombstones"]} were '
                     'cleared'),
        ('stated', f'{counts["properties"]} properties, {counts["stated_relations"]} relations, '
                   f'{counts["events"]} events'),
        ('features', ', '.join(spaces) or 'none'),
        ('log', f'{counts["log_lines"]} lines; the last is {line["seq"]} {line["kind"]} at '
                f'{moment(line["stamp_ns"])}' if line else 'empty'),
    ]  # fmt: skip
    if repaired:
        facts.append(('repaired', f'log lines 1 to {repaired["saved"]} of {repaired["of"]} were '
                                  f'saved from store {repaired["from"] or "unknown"}'))  # fmt: skip
    terminal.facts(facts)
    live = sum(n for state, n in states.items() if state not in ('forgotten', 'merged'))
    if rows:
        terminal.table(
            f'objects, last seen first ({len(rows)} of {live})',
            ('id', 'label', 'state', 'center (m)', 'size (m)', 'confidence', 'seen', 'last seen'),
            [
                (row[0], row[1], row[2], point(row[3:6]), point(row[6:9]), f'{row[9]:.2f}', row[10],
                 moment(row[11]))
                for row in rows
            ],
            numbers='id confidence seen',
        )  # fmt: skip
    if changes:
        _show_changes(f'last changes (of {counts["log_lines"]} log lines)', changes, terminal)


def _show_changes(title: str, changes: list[Change], terminal: Terminal) -> None:
    terminal.table(
        title, ('seq', 'kind', 'object', 'stamp', 'by', 'reason', 'before', 'after'),
        [
            (c.seq, c.kind, c.object_id or '', moment(c.stamp_ns), c.actor, c.reason,
             _json(c.before), _json(c.after))
            for c in changes
        ],
        numbers='seq object',
    )  # fmt: skip


def _show_object(memory: SpatialMemory, number: int, limit: int, terminal: Terminal) -> None:
    obj = memory.object(number)
    versions = memory.versions(number)
    most = min(limit, MAX_LIMIT)
    sightings = memory.history(number, most) if most else []
    changes = memory.changes(object_id=number, limit=most) if most else []
    relations = memory.dated(memory.relations(number))
    properties = memory.properties(number)
    terminal.data({
        **dataclasses.asdict(obj), 'state': obj.state.value,
        'properties': properties,
        'relations': [dataclasses.asdict(relation) for relation in relations],
        'versions': [dataclasses.asdict(version) for version in versions],
        'sightings': [dataclasses.asdict(sighting) for sighting in sightings],
        'changes': [_change(change) for change in changes],
    })  # fmt: skip
    if terminal.as_json:
        return
    terminal.facts(_object_facts(obj))
    if properties:
        terminal.table('properties', ('key', 'value'),
                       [(key, _json(value)) for key, value in properties.items()])  # fmt: skip
    if relations:
        columns = ('subject', 'relation', 'object', 'confidence', 'from', 'since')
        terminal.table('relations', columns,
                       [_relation(memory, r) for r in relations], numbers='confidence')  # fmt: skip
    terminal.table(
        'what was believed, from each log line on',
        ('seq', 'since', 'label', 'state', 'center (m)', 'size (m)'),
        [
            (v.seq, moment(v.stamp_ns), v.label, v.state, point(v.center_m), point(v.size_m))
            for v in versions
        ],
        numbers='seq',
    )  # fmt: skip
    if sightings:
        terminal.table(
            f'last sightings ({len(sightings)} of {obj.observations})',
            ('id', 'stamp', 'sensor', 'label', 'score', 'center (m)', 'verdict', 'terms'),
            [
                (s.id, moment(s.stamp_ns), s.sensor, s.label, f'{s.score:.2f}', point(s.center_m),
                 s.verdict, ', '.join(f'{name} {value:.2f}' for name, value in s.terms.items()))
                for s in sightings
            ],
            numbers='id score',
        )  # fmt: skip
    if changes:
        _show_changes('last changes', changes, terminal)


def _object_facts(obj: MemoryObject) -> list[tuple[str, str]]:
    return [
        ('object', str(obj.id)),
        ('label', obj.label),
        ('labels', ', '.join(f'{name} {mass:.2f}' for name, mass in obj.labels.items())),
        ('state', obj.state.value),
        ('center', f'{point(obj.center_m)} m'),
        ('size', f'{point(obj.size_m)} m'),
        ('orientation', f'{point(obj.orientation_xyzw)} (x, y, z, w)'),
        ('map', obj.map_id or 'unnamed'),
        ('confidence', f'{obj.confidence:.3f}'),
        ('sightings', str(obj.observations)),
        ('first seen', moment(obj.first_seen_ns)),
        ('last seen', moment(obj.last_seen_ns)),
        *((f'pinned {pin.aspect}', _pin(pin)) for pin in obj.pins.values()),
    ]


def _pin(pin: Pin) -> str:
    told = f'{_json(pin.value)} by line {pin.seq}'
    if pin.evidence is None:
        return told
    return f'{told}; {"in conflict, " if pin.conflict else ""}seen {_json(pin.evidence)}'


def _relation(memory: SpatialMemory, relation: Relation) -> tuple[str, ...]:
    sides = [
        f'{number} {memory.object(number).label}'
        for number in (relation.subject_id, relation.object_id)
    ]
    origin = 'stated' if relation.stated else 'geometry'
    since = moment(relation.since_ns)
    return sides[0], str(relation.kind), sides[1], f'{relation.confidence:.2f}', origin, since


def _object_of(row: tuple[Any, ...]) -> dict[str, Any]:
    return {
        'id': row[0], 'label': row[1], 'state': row[2], 'center_m': row[3:6], 'size_m': row[6:9],
        'confidence': row[9], 'observations': row[10], 'last_seen_ns': row[11], 'map_id': row[12],
    }  # fmt: skip


def _change(change: Change) -> dict[str, Any]:
    plain = dataclasses.asdict(change)
    del plain['object']
    return plain


def _names(names: list[str]) -> str:
    return ', '.join(name or 'unnamed' for name in names) or 'none'


def _json(value: Any) -> str:
    return '' if value == {} else json.dumps(_short(value), ensure_ascii=False)


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, list):
        return [_short(item) for item in value]
    return {key: _short(v) for key, v in value.items()} if isinstance(value, dict) else value
