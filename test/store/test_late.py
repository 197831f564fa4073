# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Records that are kept with a view until the rows of their objects are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from views import seen, view

from memory_node import SpatialMemory
from memory_node.fusion.world import OBJECT, Records
from memory_node.store import late
from memory_node.store.database import Database
from memory_node.store.packed import pack


def records(*ids: int, observations: int = 1) -> Records:
    made = np.zeros(len(ids), OBJECT)
    made['id'], made['observations'] = ids, observations
    return made


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """A file with the objects 1, 2 and 3, made in lines 2 to 4, and with two views more."""
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        things = [seen(label, (2.0 * k, 0.0, 0.0)) for k, label in enumerate('abc')]
        memory.observe(view(1000, *things, map_id='A'))
        memory.observe(view(1001))
        memory.observe(view(1002))
        assert memory.seq == 6
    database = Database(path)
    with database.transaction() as connection:
        late.remove(connection, 4)
    return database


def test_the_newest_record_of_an_object_counts(database: Database) -> None:
    with database.transaction() as connection:
        late.put(
            connection, 5, [(records(1, 2, observations=2), [0, 1], {}), (records(9, 3), [1], {})]
        )
        late.put(
            connection,
            6,
            [(records(9, 2, observations=3), [1], {0: {5: 0.1}, 1: {7: 0.5, 8: 0.25}})],
        )
    found = late.recovered(database)
    assert {number: one.observations for number, one in found.items()} == {1: 2, 2: 3, 3: 1}
    assert {one.map_id for one in found.values()} == {'A'}
    assert [found[2].packed] == pack(records(2, observations=3), {0: {7: 0.5, 8: 0.25}})
    assert [found[3].packed] == pack(records(3), {})


def test_a_row_that_was_written_for_a_change_is_newer(database: Database) -> None:
    with database.transaction() as connection:
        late.put(connection, 5, [(records(1, 2), [0, 1], {})])
        connection.execute('UPDATE object SET version_seq = 6 WHERE id = 1')
    assert [*late.recovered(database)] == [2]


def test_what_all_rows_have_is_removed(database: Database) -> None:
    with database.transaction() as connection:
        late.put(connection, 5, [(records(1), [0], {})])
        late.put(connection, 6, [(records(2), [0], {})])
        late.remove(connection, 5)
    assert late.mark_of(database) == 5
    assert [*late.recovered(database)] == [2]
    assert database.rows('SELECT seq FROM late_record') == [(6,)]


def test_nothing_is_kept_of_a_view_that_shows_nothing(database: Database) -> None:
    with database.transaction() as connection:
        late.put(connection, 5, [])
        late.put(connection, 6, [(records(1), [], {})])
    assert database.rows('SELECT * FROM late_record') == []
    assert late.recovered(database) == {}


def test_half_a_record_is_refused(database: Database) -> None:
    with database.transaction() as connection:
        connection.execute('INSERT INTO late_record VALUES (5, ?, NULL)', (b'x' * 100,))
    with pytest.raises(ValueError):
        late.recovered(database)
