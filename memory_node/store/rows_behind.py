# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Rows of the object table that are written behind what is known.

What a view tells of an object without changing it in kind, a sighting (`store.late`) or a glance
(`store.glances`), is on disk with the view. The row follows once enough others came, before
anything but a view changes the file, and at closing. Whoever reads a file that was not closed reads
it as it is `known`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import apsw
import numpy as np

from memory_node.errors import StoreError
from memory_node.fusion.world import World
from memory_node.store import glances, late, objects
from memory_node.store.database import Database

LONGEST = 20_000
"""Log lines for which a row may wait: so many are read again at most after a crash."""
Lacking = tuple[dict[int, late.Late], dict[int, glances.Glance]]
"""Sightings, and glances after them, of objects by id."""


def write(
    connection: apsw.Connection, world: World, object_ids: list[int], mark: int | None = None
) -> None:
    """Write the rows of objects as they are in memory, within a transaction.

    Args:
        object_ids: of these, the live ones.
        mark: all rows have everything up to this log line; None: nothing new is said of that.
    """
    rows = world.rows_of(np.array(object_ids, dtype=np.int64))
    rows = rows[rows >= 0]
    if len(rows):
        spilled = world.more_labels
        more = {k: spilled[row] for k, row in enumerate(rows.tolist()) if row in spilled}
        connection.executemany(
            objects.UPDATE_OBJECT,
            objects.object_rows(world.take(rows), more, world, [None] * len(rows)),
        )
    if mark is not None:
        late.remove(connection, mark)


def lacking(database: Database) -> Lacking:
    """What the rows of a file do not have."""
    return late.recovered(database), glances.recovered(database)


def put_in(world: World, found: Lacking) -> list[int]:
    """Make known what the rows that were read do not have; returns whose rows these are."""
    sighted, glanced = found
    if sighted:
        rows = world.rows_of(np.array([*sighted], dtype=np.int64))
        packed, maps = zip(*((one.packed, one.map_id) for one in sighted.values()))
        records, more = objects.unpacked(packed, maps, world)
        records['has_feature'] = world.records['has_feature'][rows]
        world.put(rows, records)
        for place, row in enumerate(rows.tolist()):
            world.more_labels.pop(row, None)
            if place in more:
                world.more_labels[row] = more[place]
    return [*sighted, *glances.put_in(world, glanced)]


@contextmanager
def known(database: Database) -> Iterator[None]:
    """In the block, the table `object` is as it is known: questions see what is not written yet.

    A temporary table stands before the one of the file, if that lacks anything.

    Raises:
        StoreError: what is late is not as this package writes it.
    """
    found = lacking(database)
    if not any(found):
        yield
        return
    try:
        world = objects.load_world(database, space=0, dimension=None)
        behind = put_in(world, found)
    except (ValueError, LookupError) as error:
        raise StoreError(f'what is written behind cannot be read: {error}') from error
    connection = database.connection
    names = [name for (name,) in database.rows("SELECT name FROM pragma_table_info('object')")]
    columns = ', '.join('id INTEGER PRIMARY KEY' if name == 'id' else name for name in names)
    connection.execute(f'CREATE TEMP TABLE object ({columns})')
    try:
        connection.execute('INSERT INTO temp.object SELECT * FROM main.object')
        write(connection, world, behind)
        yield
    finally:
        connection.execute('DROP TABLE temp.object')
