# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What is kept out, in the file: tombstones of the forgotten, and keyed rejections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apsw
import numpy as np

from memory_node.fusion.looks import Look
from memory_node.fusion.rejections import Rejection, Rejections
from memory_node.fusion.tombstones import Tombstone, Tombstones
from memory_node.fusion.world import World
from memory_node.store.database import Database
from memory_node.store.objects import look_geometry

INSERT_TOMBSTONE = """
    INSERT INTO tombstone (object_id, seq, label, x, y, z, map_id, until_ns)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (object_id) DO UPDATE SET seq = excluded.seq, label = excluded.label,
        x = excluded.x, y = excluded.y, z = excluded.z, map_id = excluded.map_id, detections = 0,
        looks = 0, look_seq = NULL, score_sum = 0, sum_x = 0, sum_y = 0, sum_z = 0,
        cleared_seq = NULL, until_ns = excluded.until_ns
"""
UPDATE_TOMBSTONE = """
    UPDATE tombstone SET detections = ?2, looks = ?3, look_seq = ?4, score_sum = ?5,
        sum_x = ?6, sum_y = ?7, sum_z = ?8 WHERE object_id = ?1
"""
CLEAR_TOMBSTONE = 'UPDATE tombstone SET cleared_seq = ? WHERE object_id = ?'
PUT_REJECTION = """
    INSERT INTO rejection VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    ON CONFLICT (id) DO UPDATE SET count = excluded.count, last_seq = excluded.last_seq
"""


def insert_tombstone(connection: apsw.Connection, stone: Tombstone, seq: int, world: World) -> None:
    """Write the tombstone of an object that a log line ended."""
    connection.execute(INSERT_TOMBSTONE, (
        stone.object_id, seq, world.labels.names[stone.label], *stone.center.tolist(),
        world.maps[stone.map_number], stone.until_ns,
    ))  # fmt: skip


def write_barred(connection: apsw.Connection, barred: Iterable[Tombstone | None]) -> None:
    """Write what has been seen of forgotten things."""
    final = {stone.object_id: stone for stone in barred if stone is not None}
    if final:
        connection.executemany(UPDATE_TOMBSTONE, [
            (s.object_id, s.detections, s.looks, s.look.seq if s.look else None, s.score_sum,
             *s.center_sum.tolist())
            for s in final.values()
        ])  # fmt: skip


def write_rejections(
    connection: apsw.Connection, rejections: Iterable[Rejection | None], world: World
) -> None:
    """Write keyed rejections with their counts."""
    final = {r.id: r for r in rejections if r is not None}
    if final:
        connection.executemany(PUT_REJECTION, [_rejection_row(r, world) for r in final.values()])


def _rejection_row(r: Rejection, world: World) -> tuple[Any, ...]:
    label, x, y, z, map_number, reason = r.key
    return (
        r.id, world.labels.names[label], x, y, z, world.maps[map_number], reason, r.count,
        r.first_seq, r.last_seq,
    )  # fmt: skip


def load_tombstones(database: Database, world: World, space: int) -> Tombstones:
    """Read the tombstones that still bar."""
    rows = database.rows("""
        SELECT t.object_id, t.label, t.x, t.y, t.z, t.map_id, t.detections, t.looks, t.score_sum,
               t.sum_x, t.sum_y, t.sum_z, v.seq, v.stamp_ns, v.sensor_pose, f.feature, t.until_ns
        FROM tombstone t LEFT JOIN view v ON v.seq = t.look_seq
        LEFT JOIN object_feature f ON f.object_id = t.object_id AND f.space = ?
        WHERE t.cleared_seq IS NULL ORDER BY t.object_id
    """, (space,))  # fmt: skip
    return Tombstones(_tombstone(row, world) for row in rows)


def _tombstone(row: tuple[Any, ...], world: World) -> Tombstone:
    (number, label, x, y, z, map_id, detections, looks, score_sum, sx, sy, sz, seq, stamp_ns, pose,
     feature, until_ns) = row  # fmt: skip
    map_number = world.map_number(map_id)
    look = None if seq is None else Look(seq, stamp_ns, *look_geometry(pose), map_number)
    return Tombstone(
        object_id=number, label=world.labels.intern(label), center=np.array([x, y, z]),
        map_number=map_number, feature=None if feature is None else np.frombuffer(feature, '<f4'),
        detections=detections, looks=looks, score_sum=score_sum,
        center_sum=np.array([sx, sy, sz]), look=look, until_ns=until_ns,
    )  # fmt: skip


def load_rejections(database: Database, world: World) -> Rejections:
    """Read all keyed rejections."""
    rows = database.rows(
        'SELECT id, label, cell_x, cell_y, cell_z, map_id, reason, count, first_seq, last_seq '
        'FROM rejection ORDER BY id'
    )
    return Rejections(
        Rejection(
            number, (world.labels.intern(label), x, y, z, world.map_number(map_id), reason),
            count, first, last,
        )
        for number, label, x, y, z, map_id, reason, count, first, last in rows
    )  # fmt: skip
