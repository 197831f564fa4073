# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Objects in the file: their rows, their versions and their features."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np

from memory_node.fusion.update import Update
from memory_node.fusion.world import OBJECT, STATE_CODE, STATE_WORDS, Features, Records, World
from memory_node.model import Change, Floats, MemoryObject, ObjectVersion, State
from memory_node.scene import boxes
from memory_node.store.database import Database

_COLUMNS = (
    'id, label, labels, state, x, y, z, size_x, size_y, size_z, qx, qy, qz, qw, oriented, '
    'hull_x, hull_y, hull_z, confidence, observations, looks, look_seq, first_seen_ns, '
    'last_seen_ns, map_id'
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
INSERT_VERSION = f'INSERT OR REPLACE INTO object_version VALUES ({", ".join("?" * 16)})'
PUT_FEATURE = """
    INSERT INTO object_feature VALUES (?1, ?2, ?3)
    ON CONFLICT (object_id, space) DO UPDATE SET feature = excluded.feature
"""
_LIVE = f"""
    SELECT {', '.join('o.' + name.strip() for name in _COLUMNS.split(','))},
           l.stamp_ns, l.sensor_pose, v.x, v.y, v.z, v.size_x, v.size_y, v.size_z
    FROM object o
    JOIN view l ON l.seq = o.look_seq
    JOIN object_version v ON v.object_id = o.id AND v.seq = o.version_seq
"""
INSERT_LABEL = 'INSERT INTO label VALUES (?, ?)'


def object_rows(
    records: Records,
    more_labels: dict[int, dict[int, float]],
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
    labels = _labels_json(records, more_labels, world)
    return [
        (
            number, names[label], labels[k], state[k], *center, *size, *turns[k], int(oriented),
            *hulls[k], *rest, world.maps[maps[k]], version_seq[k],
        )
        for k, (number, label, center, size, oriented, *rest) in enumerate(zip(*columns))
    ]  # fmt: skip


def _labels_json(
    records: Records, more_labels: dict[int, dict[int, float]], world: World
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


def write_update(
    connection: apsw.Connection,
    update: Update,
    world: World,
    changes: Sequence[Change],
    space: int,
) -> None:
    """Write the objects of an update, the versions that its changes make, and new features.

    Args:
        connection: within a transaction.
        update: what happens to the objects.
        world: for the words behind the numbers.
        changes: one for each of `update.changes`, numbered.
        space: number of the feature space.
    """
    version_seq: list[int | None] = [None] * len(update.after)
    last: dict[int, Change] = {}
    for draft, change in zip(update.changes, changes):
        version_seq[draft.place] = change.seq
        last[draft.place] = change
    rows = object_rows(update.after, update.more_labels, world, version_seq)
    count = len(update.rows)
    if count:
        connection.executemany(UPDATE_OBJECT, rows[:count])
    if count < len(rows):
        connection.executemany(INSERT_OBJECT, rows[count:])
    if last:
        connection.executemany(
            INSERT_VERSION, [_version_row(rows[place], change) for place, change in last.items()]
        )
    if len(update.feature_place):
        ids = update.after['id'][update.feature_place].tolist()
        connection.executemany(
            PUT_FEATURE, [(i, space, f.tobytes()) for i, f in zip(ids, update.feature)]
        )


def _version_row(row: Sequence[Any], change: Change) -> tuple[Any, ...]:
    return (row[0], change.seq, change.stamp_ns, change.recorded_ns, row[1], row[3], *row[4:14])


def write_record(
    connection: apsw.Connection,
    record: Records,
    more_labels: dict[int, float],
    world: World,
    change: Change,
) -> None:
    """Write one object as a change leaves it (record: (1,)), and the version that this makes."""
    row = object_rows(record, {0: more_labels}, world, [change.seq])[0]
    connection.execute(UPDATE_OBJECT, row)
    connection.execute(INSERT_VERSION, _version_row(row, change))


def read_object(database: Database, object_id: int) -> MemoryObject | None:
    """Read one object, ended ones too."""
    rows = database.rows(f'SELECT {_COLUMNS} FROM object WHERE id = ?', (object_id,))
    if not rows:
        return None
    (number, label, labels, state, x, y, z, sx, sy, sz, qx, qy, qz, qw, _, _, _, _, confidence,
     observations, _, _, first, last, map_id) = rows[0]  # fmt: skip
    masses = sorted(json.loads(labels).items(), key=lambda item: (-item[1], item[0]))
    return MemoryObject(
        id=number, label=label, labels=dict(masses), state=State(state), center_m=(x, y, z),
        orientation_xyzw=(qx, qy, qz, qw), size_m=(sx, sy, sz), confidence=confidence,
        observations=observations, first_seen_ns=first, last_seen_ns=last, map_id=map_id,
    )  # fmt: skip


def versions_of(database: Database, object_id: int) -> list[ObjectVersion]:
    """Read all versions of an object, oldest first."""
    rows = database.rows(
        'SELECT seq, stamp_ns, recorded_ns, label, state, x, y, z, size_x, size_y, size_z, '
        'qx, qy, qz, qw FROM object_version WHERE object_id = ? ORDER BY seq',
        (object_id,),
    )
    return [
        ObjectVersion(
            object_id, seq, stamp_ns, recorded_ns, label, State(state), (x, y, z),
            (sx, sy, sz), (qx, qy, qz, qw),
        )
        for seq, stamp_ns, recorded_ns, label, state, x, y, z, sx, sy, sz, qx, qy, qz, qw in rows
    ]  # fmt: skip


def read_record(
    database: Database, world: World, object_id: int, space: int
) -> tuple[Records, dict[int, float], Features | None]:
    """Read one object as a record (1,), its labels beyond the slots, and its feature."""
    records, more = _records(database.rows(f'{_LIVE} WHERE o.id = ?', (object_id,)), world)
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
    for (name,) in database.rows('SELECT name FROM label ORDER BY number'):
        world.labels.intern(name)
    rows = database.rows(f"{_LIVE} WHERE o.state <> 'forgotten' ORDER BY o.id")
    records, more = _records(rows, world)
    world.append(records)
    world.more_labels = more
    world.features.dim = dimension
    question = 'SELECT object_id, feature FROM object_feature WHERE space = ?'
    for number, blob in database.rows(question, (space,)):
        row = world.row_of(number)
        if row is not None:
            world.features.put(np.array([row]), np.frombuffer(blob, '<f4')[None])
            world.records['has_feature'][row] = True
    return world


def _records(
    rows: list[tuple[Any, ...]], world: World
) -> tuple[Records, dict[int, dict[int, float]]]:
    records = np.zeros(len(rows), OBJECT)
    more: dict[int, dict[int, float]] = {}
    for k, row in enumerate(rows):
        _fill(records[k], row, world, k, more)
    records['half'] = boxes.hull_half(records['size'], records['orientation'])
    return records, more


def _fill(
    record: Any, row: tuple[Any, ...], world: World, k: int, more: dict[int, dict[int, float]]
) -> None:
    (number, label, labels, state, x, y, z, sx, sy, sz, qx, qy, qz, qw, oriented, hx, hy, hz,
     confidence, observations, looks, look_seq, first, last, map_id, look_ns, pose,
     *version) = row  # fmt: skip
    record['id'], record['label'] = number, world.labels.intern(label)
    record['center'], record['size'] = (x, y, z), (sx, sy, sz)
    record['hull_center'] = (x, y, z) if hx is None else (hx, hy, hz)
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
