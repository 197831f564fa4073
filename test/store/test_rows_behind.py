# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Sightings are known at once, and their rows are written later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest
from damage import copied
from views import observe_all, seen, stream, view

from memory_node import Config, SpatialMemory
from memory_node.errors import DamagedStoreError
from memory_node.store import behind, rows_behind
from memory_node.store.database import Database


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / 'memory.db')


def stored(memory: SpatialMemory) -> list[Any]:
    """What the rows of the file say."""
    return memory._database.rows('SELECT id, x, observations FROM object ORDER BY id')


def known(memory: SpatialMemory) -> list[Any]:
    return [(o.id, o.center_m[0], o.observations) for o in memory.objects()]


def twice(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen('cup', (1.0, 0.0, 0.0))))
    memory.observe(view(1001, seen('cup', (1.02, 0.0, 0.0))))


def test_a_sighting_that_changes_no_kind_is_known_at_once_and_written_later(
    path: str, tmp_path: Path
) -> None:
    with SpatialMemory.open(path, Config(confirm_looks=9)) as memory:
        twice(memory)
        assert known(memory) == [(1, pytest.approx(1.01), 2)]
        assert stored(memory) == [(1, 1.0, 1)]
        for name in 'read', 'written':
            killed = copied(memory, tmp_path / f'{name}.db')
            with SpatialMemory.open(killed, readonly=name == 'read') as again:
                assert known(again) == known(memory)
                assert again.snapshot_hash() == memory.snapshot_hash()
                assert again.check() == []
                assert (stored(again) == known(again)) is (name == 'written')
    with SpatialMemory.open(path, readonly=True) as memory:
        assert stored(memory) == known(memory), 'closing writes all that waits'
        assert memory._database.rows('SELECT * FROM late_record') == []


def test_an_edit_reads_and_leaves_rows_as_they_are_known(path: str) -> None:
    with SpatialMemory.open(path, Config(confirm_looks=9)) as memory:
        twice(memory)
        memory.set_property(1, 'owner', 'Ann')
        assert stored(memory) == known(memory)
        assert memory.check() == []


def test_a_merge_with_a_sighting_since_is_undone_as_if_its_row_had_been_written(
    tmp_path: Path,
) -> None:
    left = []
    for closed in (False, True):
        path = str(tmp_path / f'{closed}.db')
        memory = SpatialMemory.open(path)
        memory.observe(view(1000, seen('cup', (0.0, 0.0, 0.0)), seen('cup', (3.0, 0.0, 0.0))))
        merged = memory.merge_objects(1, 2)
        memory.observe(view(1001, seen('cup', (1.5, 0.0, 0.0))))
        if closed:
            memory.close()
            memory = SpatialMemory.open(path)
        memory.undo(merged.seq)
        left.append([(o.id, o.observations, o.center_m) for o in memory.objects()])
        assert memory.check() == []
        memory.close()
    assert left[0] == left[1]
    assert [number for number, _, _ in left[0]] == [1, 2]
    assert sum(count for _, count, _ in left[0]) == 3


def test_whoever_waits_too_long_or_with_too_many_is_written(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(behind, 'MOST', 2)
    things = [seen(label, (2.0 * k, 0.0, 0.0)) for k, label in enumerate('abcde')]
    with SpatialMemory.open(path, Config(confirm_looks=9)) as memory:
        memory.observe(view(1000, *things))
        memory.observe(view(1001, *things))
        memory.observe(view(1002))
        assert [n for _, _, n in stored(memory)] == [2, 2, 2, 1, 1]
        assert [n for _, _, n in known(memory)] == [2] * 5
        monkeypatch.setattr(rows_behind, 'LONGEST', 3)
        memory._session._late._longest = 3
        for k in range(5):
            memory.observe(view(1003 + k))
        assert [n for _, _, n in stored(memory)] == [2] * 5
        assert memory._database.rows('SELECT * FROM late_record') == []


def test_in_the_block_questions_see_what_is_known(path: str) -> None:
    question = 'SELECT id, x, observations FROM object ORDER BY id'
    with SpatialMemory.open(path, Config(confirm_looks=9)) as memory:
        twice(memory)
        other = Database(path, readonly=True)
        with rows_behind.known(other):
            assert other.rows(question) == known(memory)
        assert other.rows(question) == [(1, 1.0, 1)]
        other.close()


@pytest.mark.parametrize('seed', range(3))
def test_labels_beyond_the_slots_are_not_lost(path: str, tmp_path: Path, seed: int) -> None:
    with SpatialMemory.open(path) as memory:
        observe_all(memory, stream(seed, 60))
        assert any(len(o.labels) > 4 for o in memory.objects())
        with SpatialMemory.open(copied(memory, tmp_path / 'killed.db')) as again:
            assert again.objects() == memory.objects()
            assert again.snapshot_hash() == memory.snapshot_hash()


def test_a_late_record_that_was_damaged_is_found(path: str, tmp_path: Path) -> None:
    with SpatialMemory.open(path, Config(confirm_looks=9)) as memory:
        twice(memory)
        killed = copied(memory, tmp_path / 'killed.db')
    with apsw.Connection(killed) as connection:
        connection.execute("UPDATE late_record SET records = x'00'")
    connection.close()
    with pytest.raises(DamagedStoreError):
        SpatialMemory.open(killed)
