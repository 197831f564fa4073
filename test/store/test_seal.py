# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A sealed file is replayed from its seal, which keeps what the log no longer gives."""

from __future__ import annotations

from pathlib import Path

import apsw
from views import observe_all, seen, stream, view

from memory_node import SpatialMemory
from memory_node.store import seal
from memory_node.store.rebuild import DERIVED, replayed


def test_a_replay_begins_at_the_seal(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        observe_all(memory, stream(5, 20))
        assert seal.sealed(memory._database) is None
        seq = memory.purge(object_id=1).commit.seq
        assert seal.sealed(memory._database) == (seq, memory._session.space.id)
        memory.observe(view(5000, seen()))
        told: list[int] = []
        replayed(memory._database, memory.config, told.append).database.close()
        assert told == [memory.seq]
        again = memory.purge(object_id=2).commit.seq
        assert seal.sealed(memory._database) == (again, memory._session.space.id)


def test_what_came_after_the_seal_is_still_proven(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        observe_all(memory, stream(5, 20))
        memory.purge(object_id=1)
        (number,) = [v.object_id for v in memory.observe(view(5000, seen())).verdicts]
    connection = apsw.Connection(path)
    connection.execute('UPDATE object SET confidence = 0.5 WHERE id = ?', (number,))
    connection.close()
    with SpatialMemory.open(path) as memory:
        assert 'object is not what the log gives' in memory.check()[0]
        memory.rebuild()
        assert memory.check() == []


def test_every_derived_table_is_kept_with_its_columns() -> None:
    with SpatialMemory.open(':memory:') as memory:
        observe_all(memory, stream(5, 20))
        memory.purge(object_id=1)
        rows = memory._database.rows
        for table in DERIVED:
            own, kept = (rows(f'PRAGMA table_info({t})') for t in (table, f'sealed_{table}'))
            assert [c[1:3] for c in own] == [c[1:3] for c in kept]
            assert rows(f'SELECT * FROM {table} ORDER BY 1, 2') == rows(
                f'SELECT * FROM sealed_{table} ORDER BY 1, 2'
            )
