# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The features of objects in the file. They are written behind what is known.

A feature follows from the observations that kept theirs, which are on disk with each view. So its
own row, the largest part of what a view would write, may wait: it is written once enough others
came, before anything but a view changes the file, and at closing. Whoever reads a file that was
not closed blends what the rows lack: `recovered`. Profile chronotope writes at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import apsw
import numpy as np

from memory_node.config import CHRONOTOPE
from memory_node.fusion.features import blend_rows
from memory_node.fusion.update import share
from memory_node.fusion.world import Features, World
from memory_node.store import behind, late
from memory_node.store.database import Database

PUT_FEATURE = """
    INSERT INTO object_feature VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (object_id, space) DO UPDATE
    SET feature = excluded.feature, observation_id = max(observation_id, excluded.observation_id)
"""
_MARK = 'features_to'
_SINCE = """
    SELECT o.object_id, o.id, o.space, o.feature, v.config
    FROM observation o JOIN view v ON v.seq = o.view_seq
    WHERE o.id > ? AND o.object_id IS NOT NULL AND o.reason <> 'duplicate' ORDER BY o.id
"""
_HELD = 'SELECT space, feature, observation_id FROM object_feature WHERE object_id = ?'

LONGEST = 50_000
"""Observations for which one may wait: so many are read again at most after a crash."""


def write(
    connection: apsw.Connection, world: World, space: int, object_ids: list[int],
    observation_id: int, mark: int | None = None,
) -> None:  # fmt: skip
    """Write the features of live objects as they are in memory, within a transaction.

    Args:
        object_ids: of these. observation_id: last one that is in them.
        mark: all rows have all observations up to this one; None: as it is.
    """
    rows = world.rows_of(np.array(object_ids, dtype=np.int64))
    units = world.features.take(rows) if len(rows) else ()
    connection.executemany(
        PUT_FEATURE,
        [(i, space, unit.tobytes(), observation_id) for i, unit in zip(object_ids, units)],
    )
    if mark is not None:
        put_mark(connection, mark)


def put_mark(connection: apsw.Connection, observation_id: int) -> None:
    """Say that all rows have all observations up to this one in them."""
    behind.put_mark(connection, _MARK, observation_id)


def mark_of(database: Database) -> int:
    """Last observation that all rows are said to have in them; 0: nothing is said."""
    return behind.mark_of(database, _MARK)


def recovered(database: Database) -> Iterator[tuple[int, int, int, Features]]:
    """The features that are newer than their rows.

    Yields:
        Id of the object, number of the feature space, last observation, (D,) unit vector.
    """
    settings: dict[str, dict[str, Any]] = {}
    since: dict[int, list[Any]] = {}
    for number, *row in database.rows(_SINCE, (mark_of(database),)):
        since.setdefault(number, []).append(row)
    if since:
        rows = database.rows('SELECT hash, settings FROM config')
        settings = {number: json.loads(text) for number, text in rows}
    sighted = late.recovered(database) if since else {}
    for number, observations in since.items():
        if all(feature is None for _, _, feature, _ in observations):
            continue
        count = sighted[number].observations if number in sighted else _count(database, number)
        held = {space: (blob, to) for space, blob, to in database.rows(_HELD, (number,))}
        newer: dict[int, tuple[int, Features]] = {}
        for before, (last, space, feature, config) in enumerate(
            observations, count - len(observations)
        ):
            blob, to = held.get(space, (None, 0))
            if feature is None or last <= to or settings[config]['profile'] == CHRONOTOPE:
                continue
            unit = newer[space][1] if space in newer else _of_row(blob)
            weight = share(before, settings[config]['blend'])
            newer[space] = last, _blended(unit, np.frombuffer(feature, '<f2'), weight)
        for space, (last, unit) in newer.items():
            yield number, space, last, unit


def _count(database: Database, object_id: int) -> int:
    """How often the row of an object says that it was sighted."""
    rows = database.rows('SELECT observations FROM object WHERE id = ?', (object_id,))
    return int(rows[0][0])


def _of_row(blob: bytes | None) -> Features | None:
    return None if blob is None else np.frombuffer(blob, '<f4').copy()


def _blended(held: Features | None, stored: Any, weight: float) -> Features:
    """A feature with one more sighting in it, as `update` makes it."""
    new = stored.astype(np.float32)
    if held is not None and held.shape != new.shape:
        raise ValueError(f'a feature of {len(new)} numbers is stored beside {len(held)}')
    first, has = np.zeros(1, np.int64), np.array([held is not None], np.uint8)
    chunks = [] if held is None else [held[None]]
    blend_rows(new[None], first, first, has, np.array([weight]), chunks, rows_of_chunk=1)
    return new


def catch_up(database: Database) -> None:
    """Write what the rows lack, in one transaction: the file was not closed."""
    newer = list(recovered(database))
    if not newer:
        return
    last = database.rows('SELECT max(id) FROM observation')[0][0]
    with database.transaction() as connection:
        connection.executemany(
            PUT_FEATURE, [(number, space, unit.tobytes(), to) for number, space, to, unit in newer]
        )
        put_mark(connection, last)


def all_rows(database: Database) -> list[tuple[int, int, bytes]]:
    """Object, space and feature of all that have one, in this order, as they are known."""
    rows = {
        (number, space): blob
        for number, space, blob in database.rows(
            'SELECT object_id, space, feature FROM object_feature'
        )
    }
    for number, space, _, unit in recovered(database):
        rows[number, space] = unit.tobytes()
    return [(number, space, blob) for (number, space), blob in sorted(rows.items())]
