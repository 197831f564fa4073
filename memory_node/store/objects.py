# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Objects in the file: their rows, their versions and their features."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import numpy as np

from memory_node.fusion.classes import HOUR_S, Classes
from memory_node.fusion.update import Update
from memory_node.fusion.world import CHECK_WORDS, IS_LOST, STATE_WORDS, Features, Records, World
from memory_node.model import (
    Change,
    ChangeKind,
    Check,
    Floats,
    MemoryObject,
    ObjectVersion,
    Standing,
    State,
)
from memory_node.scene import boxes
from memory_node.store import features, pins
from memory_node.store.database import Database
from memory_node.store.packed import chosen, pack, unpack

_COLUMNS = (
    'id, label, labels, state, x, y, z, size_x, size_y, size_z, qx, qy, qz, qw, oriented, '
    'hull_x, hull_y, hull_z, confidence, observations, looks, look_seq, first_seen_ns, '
    'last_seen_ns, map_id, record, last_checked_ns, last_check, odds, odds_ns, misses'
)
_COUNT = _COLUMNS.count(',') + 1
INSERT_OBJECT = (
    f'INSERT INTO object ({_COLUMNS}, version_seq) VALUES ({", ".join("?" * (_COUNT + 1))})'
)
UPDATE_OBJECT = (
    'UPDATE object SET '
    + ', '.join(f'{name.strip()} = ?{k}' for k, name in enumerate(_COLUMNS.split(','), 1) if k > 1)
    + f', version_seq = coalesce(?{_COUNT + 1}, version_seq) WHERE id = ?1'
)
INSERT_VERSION = f'INSERT OR REPLACE INTO object_version VALUES ({", ".join("?" * 24)})'
_WITHOUT_VERSION = (ChangeKind.RELATION, ChangeKind.EVENT, ChangeKind.PURGED, ChangeKind.REGION)
_RECORD = 'SELECT id, label, state, map_id, record FROM object'
LIVE = "state NOT IN ('forgotten', 'merged')"
_CODE = {word: code for code, word in enumerate(STATE_WORDS)}
_VERSION = """
    SELECT v.object_id, v.seq, v.stamp_ns, v.recorded_ns, v.label, v.state, v.x, v.y, v.z, v.size_x,
           v.size_y, v.size_z, v.qx, v.qy, v.qz, v.qw, coalesce(v.map_id, o.map_id)
    FROM object_version v JOIN object o ON o.id = v.object_id
"""
INSERT_LABEL = 'INSERT INTO label VALUES (?, ?)'


def object_rows(
    records: Records,
    more_labels: Mapping[int, Mapping[int, float]],
    world: World,
    version_seq: Sequence[int | None],
) -> list[Any]:
    """One row of the object table for each record."""
    names = world.labels.names
    state = [STATE_WORDS[code] for code in records['state'].tolist()]
    turns, maps = records['orientation'].tolist(), records['map'].tolist()
    hulls: list[Any] = [(None, None, None)] * len(records)
    if world.off_center:
        hulls = records['hull_center'].tolist()
    columns = [
        records[name].tolist()
        for name in (
            'id', 'label', 'center', 'size', 'oriented', 'confidence', 'observations', 'looks',
            'look_seq', 'first_seen_ns', 'last_seen_ns',
        )
    ]  # fmt: skip
    columns[8] = [seq or None for seq in columns[8]]  # what was only stated has no look yet
    checked, check, odds, odds_ns, misses = (
        records[name].tolist() for name in ('checked_ns', 'check', 'odds', 'odds_ns', 'misses')
    )
    labels, packed = _labels_json(records, more_labels, world), pack(records, more_labels)
    return [
        (
            number, names[label], labels[k], state[k], *center, *size, *turns[k], int(oriented),
            *hulls[k], *rest, world.maps[maps[k]], packed[k], checked[k], CHECK_WORDS[check[k]],
            odds[k], odds_ns[k], misses[k], version_seq[k],
        )
        for k, (number, label, center, size, oriented, *rest) in enumerate(zip(*columns))
    ]  # fmt: skip


def _labels_json(
    records: Records, more_labels: Mapping[int, Mapping[int, float]], world: World
) -> list[str]:
    """Label → mass in the order of the record's slots: reading it gives the same record back."""
    quoted = world.labels.quoted
    texts = []
    slots = zip(records['labels'].tolist(), records['masses'].tolist())
    for k, (labels, masses) in enumerate(slots):
        if labels[1] < 0:  # most objects have one label
            texts.append(f'{{{quoted[labels[0]]}:{masses[0]!r}}}')
            continue
        held = [f'{quoted[n]}:{m!r}' for n, m in zip(labels, masses) if n >= 0]
        held += [f'{quoted[n]}:{m!r}' for n, m in more_labels.get(k, {}).items()]
        texts.append(f'{{{",".join(held)}}}')
    return texts


def urgent(update: Update) -> list[int]:
    """Places of the records that are new or change in kind: their rows are not written behind."""
    new = range(len(update.rows), len(update.after))
    return sorted({draft.place for draft in update.changes}.union(new))


def write_update(
    connection: apsw.Connection,
    update: Update,
    places: Sequence[int],
    world: World,
    changes: Sequence[Change],
) -> None:
    """Write objects of an update, and the versions that its changes make.

    Args:
        connection: within a transaction.
        update: what happens to the objects. places: of the records to write, ascending.
        world: for the words behind the numbers.
        changes: one for each of `update.changes`, numbered.
    """
    last = {draft.place: change for draft, change in zip(update.changes, changes)}
    if places:
        records = update.after
        if len(places) < len(records):
            records = chosen(records, places)
        more = {k: held for k, p in enumerate(places) if (held := update.more_labels.get(p))}
        version_seq = [last[place].seq if place in last else None for place in places]
        rows = object_rows(records, more, world, version_seq)
        count = bisect_left(places, len(update.rows))
        versions = [
            _version_row(row, last[place]) for place, row in zip(places, rows) if place in last
        ]
        for sql, some in (
            (UPDATE_OBJECT, rows[:count]), (INSERT_OBJECT, rows[count:]), (INSERT_VERSION, versions)
        ):  # fmt: skip
            if some:
                connection.executemany(sql, some)
    if update.pins:
        pins.write(connection, update.pins)


def _version_row(row: Sequence[Any], change: Change) -> tuple[Any, ...]:
    number, label, labels, state, *box = row[:14]
    confidence, observations, _, _, first_ns, last_ns, map_id = row[18:25]
    return (
        number, change.seq, change.stamp_ns, change.recorded_ns, label, state, *box,
        labels if ',' in labels else None, map_id, confidence, observations, first_ns, last_ns,
        row[28], row[29],
    )  # fmt: skip


def write_record(
    connection: apsw.Connection,
    record: Records,
    more_labels: dict[int, float],
    world: World,
    change: Change,
    new: bool = False,
) -> None:
    """Write one object as a change leaves or makes it (record: (1,)), and the version of that."""
    row = object_rows(record, {0: more_labels}, world, [change.seq])[0]
    connection.execute(INSERT_OBJECT if new else UPDATE_OBJECT, row)
    connection.execute(INSERT_VERSION, _version_row(row, change))


def read_object(database: Database, object_id: int, classes: Classes) -> MemoryObject | None:
    """Read one object, ended ones too."""
    rows = database.rows(f'SELECT {_COLUMNS} FROM object WHERE id = ?', (object_id,))
    if not rows:
        return None
    (number, label, labels, state, x, y, z, sx, sy, sz, qx, qy, qz, qw, _, _, _, _, confidence,
     observations, _, _, first, last, map_id, _, checked, check, odds, odds_ns,
     _) = rows[0]  # fmt: skip
    masses = sorted(json.loads(labels).items(), key=lambda item: (-item[1], item[0]))
    return MemoryObject(
        id=number, label=label, labels=dict(masses), state=State(state), center_m=(x, y, z),
        orientation_xyzw=(qx, qy, qz, qw), size_m=(sx, sy, sz), confidence=confidence,
        observations=observations, first_seen_ns=first, last_seen_ns=last, map_id=map_id,
        pins=pins.of(database, object_id), last_checked_ns=checked, last_check=Check(check),
        standing=Standing(odds, odds_ns, HOUR_S * classes.of(label).half_life_h),
    )  # fmt: skip


def versions_of(database: Database, object_id: int) -> list[ObjectVersion]:
    """Read all versions of an object, oldest first."""
    return [
        _version(row)
        for row in database.rows(f'{_VERSION} WHERE v.object_id = ? ORDER BY v.seq', (object_id,))
    ]


def version_of(database: Database, change: Change) -> ObjectVersion | None:
    """Read an object as a log line left it; None: it is about none, or no version is left.

    Lines of one view about one object lead to one version, which has the number of the last.
    """
    where = 'v.seq <= ?2 ORDER BY v.seq DESC'
    if change.kind not in _WITHOUT_VERSION and (
        change.kind is not ChangeKind.CORRECTED or 'correction' in change.after
    ):
        where = 'v.seq >= ?2 ORDER BY v.seq'
    rows = database.rows(
        f'{_VERSION} WHERE v.object_id = ?1 AND {where} LIMIT 1', (change.object_id, change.seq)
    )
    return _version(rows[0]) if rows else None


def _version(row: tuple[Any, ...]) -> ObjectVersion:
    (number, seq, stamp_ns, recorded_ns, label, state, x, y, z, sx, sy, sz, qx, qy, qz, qw,
     map_id) = row  # fmt: skip
    return ObjectVersion(
        number, seq, stamp_ns, recorded_ns, label, State(state), (x, y, z), (sx, sy, sz),
        (qx, qy, qz, qw), map_id,
    )  # fmt: skip


def read_record(
    database: Database, world: World, object_id: int, space: int
) -> tuple[Records, dict[int, float], Features | None]:
    """Read one object as a record (1,), its labels beyond the slots, and its feature."""
    records, more = _records(database.rows(f'{_RECORD} WHERE id = ?', (object_id,)), world)
    blob = database.rows(
        'SELECT feature FROM object_feature WHERE object_id = ? AND space = ?', (object_id, space)
    )
    feature = np.frombuffer(blob[0][0], '<f4') if blob else None
    records['has_feature'] = feature is not None
    return records, more.get(0, {}), feature


def write_labels(connection: apsw.Connection, world: World, written: int) -> None:
    """Write the labels beyond the first `written` ones."""
    new = world.labels.names[written:]
    if new:
        connection.executemany(INSERT_LABEL, list(enumerate(new, written)))


def load_world(database: Database, space: int, dimension: int | None) -> World:
    """Read all live objects, with their features of one space, into a working set."""
    world = World()
    for number, name in database.rows('SELECT number, name FROM label ORDER BY number'):
        if world.labels.intern(name) != number:
            raise ValueError(f'label {name!r} is not numbered as it was')
    for batch in database.batches(f'{_RECORD} WHERE {LIVE} ORDER BY id', size=1024):
        records, more = _records(batch, world)
        rows = world.append(records)
        world.note_lost(rows[IS_LOST[records['state']]])
        world.more_labels.update((int(rows[place]), masses) for place, masses in more.items())
    world.features.dim = dimension
    _load_features(database, world, space)
    return world


def _load_features(database: Database, world: World, space: int) -> None:
    question = 'SELECT object_id, feature FROM object_feature WHERE space = ?'
    for batch in database.batches(question, (space,)):
        ids, blobs = zip(*batch)
        if set(map(len, blobs)) != {4 * (world.features.dim or 0)}:
            raise ValueError('a feature is not as long as those of its space')
        units = np.frombuffer(b''.join(blobs), '<f4').reshape(len(blobs), -1)
        rows = world.rows_of(np.array(ids, dtype=np.int64))
        live = rows >= 0
        if not live.all():  # some have ended
            rows, units = rows[live], units[live]
        world.features.put(rows, units)
        world.records['has_feature'][rows] = True
    newer = [(number, unit) for number, where, _, unit in features.recovered(database)
             if where == space]  # fmt: skip
    if newer:
        rows = world.rows_of(np.array([number for number, _ in newer], dtype=np.int64))
        world.features.put(rows, np.stack([unit for _, unit in newer]))
        world.records['has_feature'][rows] = True


def unpacked(
    packed: Sequence[bytes], maps: Sequence[str], world: World
) -> tuple[Records, dict[int, dict[int, float]]]:
    """Stored records, each with its map, as records, and place → labels beyond their slots."""
    records, more = unpack(packed)
    number = {name: world.map_number(name) for name in dict.fromkeys(maps)}
    records['map'] = [number[name] for name in maps]
    records['half'] = boxes.hull_half(records['size'], records['orientation'])
    return records, more


def _records(
    rows: list[tuple[Any, ...]], world: World
) -> tuple[Records, dict[int, dict[int, float]]]:
    """Rows of _RECORD as records, and place → labels beyond their slots.

    Raises:
        ValueError, KeyError: they are not as this package writes them.
    """
    ids, names, states, maps, packed = zip(*rows) if rows else ((),) * 5
    records, more = unpacked(packed, maps, world)
    label = {name: world.labels.find(name) for name in dict.fromkeys(names)}
    used = {*records['labels'].ravel().tolist()}.union(*more.values())
    if not (
        records['id'].tolist() == list(ids)
        and records['label'].tolist() == [label[name] for name in names]
        and records['state'].tolist() == [_CODE[word] for word in states]
        and used <= {-1, *range(len(world.labels))}
    ):
        raise ValueError('the record of an object is not what its columns say')
    return records, more


def look_geometry(pose: bytes | None) -> tuple[Floats, Floats]:
    """Position and viewing direction of a stored sensor pose; NaN where it was unknown."""
    if pose is None:
        return np.full(3, np.nan), np.full(3, np.nan)
    values = np.frombuffer(pose, '<f8').copy()  # what stands in the file cannot be written to
    return values[:3], boxes.optical_axis(values[None, 3:])[0]
