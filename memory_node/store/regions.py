# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Regions in the file. Each line REGION of the log says what one region is from then on."""

from __future__ import annotations

import json
from typing import Any

import apsw

from memory_node.model import Change, Region
from memory_node.scene.regions import key_of
from memory_node.store.bound import NOW, Bound
from memory_node.store.database import Database

_INSERT = f'INSERT INTO region VALUES ({", ".join("?" * 10)})'
_CURRENT = """
    SELECT seq, name, kind, polygon, low_z, high_z, parent, map_id, max(seq) FROM region
    WHERE seq <= ?1 AND stamp_ns <= ?2 GROUP BY key, map_id
"""


def apply_line(connection: apsw.Connection, line: Change) -> None:
    """Bring the table to what a log line says."""
    said: Any = line.after
    polygon = None if said['polygon_m'] is None else json.dumps(said['polygon_m'])
    connection.execute(_INSERT, (
        line.seq, key_of(said['name']), said['name'], said['kind'], polygon, said['low_m'],
        said['high_m'], said['parent'], said['map_id'], line.stamp_ns,
    ))  # fmt: skip


def load(database: Database, bound: Bound = NOW) -> list[Region]:
    """Read the regions there were as of a bound, by name."""
    found = [
        Region(
            name, kind, tuple((x, y) for x, y in json.loads(polygon)), low, high, parent, map_id,
            seq,
        )
        for seq, name, kind, polygon, low, high, parent, map_id, _ in database.rows(
            _CURRENT, (bound.seq, bound.stamp_ns)
        ) if polygon is not None
    ]  # fmt: skip
    return sorted(found, key=lambda region: (key_of(region.name), region.map_id))


def plain(region: Region) -> dict[str, Any]:
    """What a line says of a region."""
    return {
        'name': region.name, 'kind': region.kind, 'polygon_m': [[*c] for c in region.polygon_m],
        'low_m': region.low_m, 'high_m': region.high_m, 'parent': region.parent,
        'map_id': region.map_id,
    }  # fmt: skip
