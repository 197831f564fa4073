# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The derived part of the file: objects, their versions and features, tombstones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np

from memory_node.fusion.tombstones import Tombstone
from memory_node.fusion.update import Update
from memory_node.fusion.world import OBJECT, STATE_CODE, STATES, Features, World
from memory_node.model import Change, Floats, MemoryObject, State
from memory_node.scene import boxes
from memory_node.store.database import Database

_COLUMNS = (
    'id, label, labels, state, x, y, z, size_x, size_y, size_z, qx, qy, qz, qw, oriented, '
    'confidence, observations, looks, look_seq, first_seen_ns, last_seen_ns, map_id'
)
INSERT_OBJECT = f'INSERT INTO object ({_COLUMNS}, version_seq) VALUES ({", ".join("?" * 23)})'
UPDATE_OBJECT = """
    UPDATE object SET label = ?2, labels = ?3, state = ?4, x = ?5, y = ?6, z = ?7,
        size_x = ?8, size_y = ?9, size_z = ?10, qx = ?11, qy = ?12, qz = ?13, qw = ?14,
        oriented = ?15, confidence = ?16, observations = ?17, looks = ?18, look_seq = ?19,
        first_seen_ns = ?20, last_seen_ns = ?21, map_id = ?22,
        version_seq = coalesce(?23, version_seq)
    WHERE id = ?1
"""
INSERT_VERSION = f'INSERT INTO object_version VALUES ({", ".join("?" * 16)})'
PUT_FEATURE = """
    INSERT INTO object_feature VALUES (?1, ?2)
    ON CONFLICT (object_id) DO UPDATE SET feature = excluded.feature
"""
INSERT_LABEL = 'INSERT INTO label VALUES (?, ?)'
INSERT_TOMBSTONE = f'INSERT INTO tombstone VALUES ({", ".join("?" * 7)})'


def object_rows(update: Update, world: World, version_seq: Sequence[int | None]) -> list[Any]:
    """One row of the object table for each record of an update."""
    after, names = update.after, world.labels.names
    state = [STATES[code].value for code in after['state'].tolist()]
    turns, maps = after['orientation'].tolist(), after['map'].tolist()
    columns = [
        after[name].tolist()
        for name in (
            'id', 'label', 'center', 'size', 'oriented', 'confidence', 'observations', 'looks',
            'look_seq', 'first_seen_ns', 'last_seen_ns',
        )
    ]  # fmt: skip
    labels = _labels_json(update, world)
    return [
        (
            number, names[label], labels[k], state[k], *center, *size, *turns[k], int(oriented),
            *rest, world.maps[maps[k]], version_seq[k],
        )
        for k, (number, label, center, size, oriented, *rest) in enumerate(zip(*columns))
    ]  # fmt: skip


def _labels_json(update: Update, world: World) -> list[str]:
    """Label → mass in the order of the record's slots: reading it gives the same record back."""
    quoted = world.labels.quoted
    texts = []
    slots = zip(update.after['labels'].tolist(), update.after['masses'].tolist())
    for k, (labels, masses) in enumerate(slots):
        held = [f'{quoted[n]}:{m!r}' for n, m in zip(labels, masses) if n >= 0]
        held += [f'{quoted[n]}:{m!r}' for n, m in update.more_labels.get(k, {}).items()]
        texts.append(f'{{{",".join(held)}}}')
    return texts


def write_update(
    connection: apsw.Connection, update: Update, world: World, changes: Sequence[Change]
) -> None:
    """Write new labels, the objects of an update, the versions of its changes, and new features."""
    _write_labels(connection, world)
    version_seq: list[int | None] = [None] * len(update.after)
    last: dict[int, Change] = {}
    for draft, change in zip(update.changes, changes):
        version_seq[draft.place] = change.seq
        last[draft.place] = change
    rows = object_rows(update, world, version_seq)
    count = len(update.rows)
    if count:
        connection.executemany(UPDATE_OBJECT, rows[:count])
    if count < len(rows):
        connection.executemany(INSERT_OBJECT, rows[count:])
    if last:
        connection.executemany(
            INSERT_VERSION, [version_row(rows[place], change) for place, change in last.items()]
        )
    if len(update.feature_place):
        ids = update.after['id'][update.feature_place].tolist()
        connection.executemany(PUT_FEATURE, [(i, f.tobytes()) for i, f in zip(ids, update.feature)])


def _write_labels(connection: apsw.Connection, world: World) -> None:
    """Write the labels that appeared since the last ones that were written."""
    first = 1 + int(connection.execute('SELECT coalesce(max(number), -1) FROM label').get)
    new = world.labels.names[first:]
    if new:
        connection.executemany(INSERT_LABEL, list(enumerate(new, first)))


def version_row(row: Sequence[Any], change: Change) -> tuple[Any, ...]:
    """The version of an object (a row of the object table) that a change makes."""
    return (row[0], change.seq, change.stamp_ns, change.recorded_ns, row[1], row[3], *row[4:14])


def end_object(
    connection: apsw.Connection, change: Change, state: State, tombstone: Tombstone | None,
    world: World,
) -> None:  # fmt: skip
    """Give an object an ending state, and leave a tombstone where it lay."""
    assert change.object_id is not None
    connection.execute(
        'UPDATE object SET state = ?, version_seq = ? WHERE id = ?',
        (state.value, change.seq, change.object_id),
    )
    row = connection.execute(
        f'SELECT {_COLUMNS} FROM object WHERE id = ?', (change.object_id,)
    ).fetchone()
    assert row is not None
    connection.execute(INSERT_VERSION, version_row(row, change))
    if tombstone is not None:
        connection.execute(INSERT_TOMBSTONE, (
            tombstone.object_id, change.seq, world.labels.names[tombstone.label],
            *tombstone.center.tolist(), world.maps[tombstone.map_number],
        ))  # fmt: skip


def read_object(database: Database, object_id: int) -> MemoryObject | None:
    """Read one object, ended ones too."""
    rows = database.rows(f'SELECT {_COLUMNS} FROM object WHERE id = ?', (object_id,))
    if not rows:
        return None
    (number, label, labels, state, x, y, z, sx, sy, sz, qx, qy, qz, qw, _, confidence,
     observations, _, _, first, last, map_id) = rows[0]  # fmt: skip
    masses = sorted(json.loads(labels).items(), key=lambda item: (-item[1], item[0]))
    return MemoryObject(
        id=number, label=label, labels=dict(masses), state=State(state), center_m=(x, y, z),
        orientation_xyzw=(qx, qy, qz, qw), size_m=(sx, sy, sz), confidence=confidence,
        observations=observations, first_seen_ns=first, last_seen_ns=last, map_id=map_id,
    )  # fmt: skip


def load_world(database: Database) -> World:
    """Read all live objects into a working set."""
    world = World()
    for (name,) in database.rows('SELECT name FROM label ORDER BY number'):
        world.labels.intern(name)
    rows = database.rows(f"""
        SELECT {', '.join('o.' + c.strip() for c in _COLUMNS.split(','))},
               l.stamp_ns, l.sensor_pose, v.x, v.y, v.z, v.size_x, v.size_y, v.size_z
        FROM object o
        JOIN view l ON l.seq = o.look_seq
        JOIN object_version v ON v.object_id = o.id AND v.seq = o.version_seq
        WHERE o.state <> 'forgotten' ORDER BY o.id
    """)
    records = np.zeros(len(rows), OBJECT)
    more: dict[int, dict[int, float]] = {}
    for k, row in enumerate(rows):
        _fill(records[k], row, world, k, more)
    records['half'] = boxes.hull_half(records['size'], records['orientation'])
    world.append(records)
    world.more_labels = more
    _load_features(database, world)
    return world


def _fill(
    record: Any, row: tuple[Any, ...], world: World, k: int, more: dict[int, dict[int, float]]
) -> None:
    (number, label, labels, state, x, y, z, sx, sy, sz, qx, qy, qz, qw, oriented, confidence,
     observations, looks, look_seq, first, last, map_id, look_ns, pose, *version) = row  # fmt: skip
    record['id'], record['label'] = number, world.labels.intern(label)
    record['center'], record['size'] = (x, y, z), (sx, sy, sz)
    record['orientation'], record['oriented'] = (qx, qy, qz, qw), oriented
    record['confidence'], record['observations'] = confidence, observations
    record['looks'], record['look_seq'], record['look_ns'] = looks, look_seq, look_ns
    record['look_position'], record['look_axis'] = look_geometry(pose)
    record['first_seen_ns'], record['last_seen_ns'] = first, last
    record['state'], record['map'] = STATE_CODE[State(state)], world.map_number(map_id)
    record['version_center'], record['version_size'] = version[:3], version[3:]
    record['labels'] = -1
    for slot, (text, mass) in enumerate(json.loads(labels).items()):
        if slot < len(record['labels']):
            record['labels'][slot], record['masses'][slot] = world.labels.intern(text), mass
        else:
            more.setdefault(k, {})[world.labels.intern(text)] = mass


def look_geometry(pose: bytes | None) -> tuple[Floats, Floats]:
    """Position and viewing direction of a stored sensor pose; NaN where it was unknown."""
    if pose is None:
        return np.full(3, np.nan), np.full(3, np.nan)
    values = np.frombuffer(pose, '<f8')
    return values[:3], boxes.optical_axis(values[None, 3:])[0]


def _load_features(database: Database, world: World) -> None:
    for number, blob in database.rows('SELECT object_id, feature FROM object_feature'):
        row = world.row_of(number)
        feature: Features = np.frombuffer(blob, '<f4')
        if world.features.dim is None:
            world.features.dim = len(feature)
        if row is not None:
            world.features.put(np.array([row]), feature[None])
            world.records['has_feature'][row] = True


def load_tombstones(database: Database, world: World) -> list[Tombstone]:
    """Read what must not come back by itself."""
    return [
        Tombstone(number, world.labels.intern(label), np.array([x, y, z]), world.map_number(map_id))
        for number, label, x, y, z, map_id in database.rows(
            'SELECT object_id, label, x, y, z, map_id FROM tombstone ORDER BY object_id'
        )
    ]
