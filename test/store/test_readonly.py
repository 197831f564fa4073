# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Opened for reading: nothing is written, whoever else has the file open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from children import OPEN_MEMORY, child
from views import observe_all, seen, stream, view

from memory_node import Config, Query, SpatialMemory
from memory_node.errors import NewerSchemaError, ReadOnlyError, StoreError
from memory_node.store import database as module
from memory_node.store.database import migrations


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with a few views in it, closed."""
    target = tmp_path / 'memory.db'
    with SpatialMemory.open(str(target)) as memory:
        observe_all(memory, stream(61, 30))
        memory.forget(2)
    return target


def test_everything_can_be_asked_and_nothing_be_told(path: Path) -> None:
    """CH-4: read-only refuses every mutator."""
    with SpatialMemory.open(str(path)) as memory:
        expected = (memory.objects(), memory.snapshot_hash(), memory.changes(), memory.store_id)
    before = path.read_bytes()
    with SpatialMemory.open(str(path), readonly=True) as memory:
        told: list[Callable[[], object]] = [
            lambda: memory.observe(view(2000, seen())),
            lambda: memory.forget(1),
            lambda: memory.restore(2),
            lambda: memory.set_property(1, 'a', 1),
            lambda: memory.state_relation(1, 'part_of', 3),
            lambda: memory.record_event('x'),
            memory.rebuild,
        ]
        for call in told:
            with pytest.raises(ReadOnlyError, match='reading only'):
                call()
        now = (memory.objects(), memory.snapshot_hash(), memory.changes(), memory.store_id)
        assert now == expected
        assert memory.check() == []
        memory.query(Query('mug'))
        memory.relations(1)
        memory.configure(Config(blend=0.5))
        memory.snapshot(str(path.with_name('copy.db')))
    assert path.read_bytes() == before
    with SpatialMemory.open(str(path.with_name('copy.db'))) as copy:
        assert copy.snapshot_hash() == expected[1]


def test_profile_chronotope_is_as_it_was_after_a_refusal(tmp_path: Path) -> None:
    """Its plans are applied while they are made."""
    path = str(tmp_path / 'memory.db')
    config = Config(profile='chronotope')
    with SpatialMemory.open(path, config) as memory:
        observe_all(memory, stream(61, 30))
        expected = memory.objects()
    with SpatialMemory.open(path, config, readonly=True) as memory:
        with pytest.raises(ReadOnlyError):
            memory.observe(view(2000, seen(feature=[1.0] * 8)))
        assert memory.objects() == expected


def test_beside_a_live_writer_the_state_at_opening_is_read(path: Path) -> None:
    with SpatialMemory.open(str(path)) as writer:
        observe_all(writer, [view(3000, seen('first'))])
        with SpatialMemory.open(str(path), readonly=True) as reader:
            assert reader.objects() == writer.objects()
            assert reader.store_id == writer.store_id
            observe_all(writer, [view(3001, seen('second', (9, 9, 9)))])
            assert 'second' not in {o.label for o in reader.objects()}
            assert 'first' in {o.label for o in reader.objects()}
        with SpatialMemory.open(str(path), readonly=True) as reader:
            assert reader.objects() == writer.objects()
        assert writer.check() == []


def test_beside_a_writer_in_another_process(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with child(OPEN_MEMORY, path), SpatialMemory.open(path, readonly=True) as reader:
        assert reader.seq > 0
        assert reader.check() == []


def test_after_a_hard_stop_the_write_ahead_log_is_read_and_stays(tmp_path: Path) -> None:
    path = tmp_path / 'memory.db'
    with child(OPEN_MEMORY, str(path)) as other:
        other.kill()
        other.wait(60)
        content = [path.read_bytes(), Path(f'{path}-wal').read_bytes()]
        assert content[1]
        with SpatialMemory.open(str(path), readonly=True) as reader:
            assert reader.seq > 0
            assert reader.check() == []
            copied = reader.seq
            assert reader.snapshot(str(tmp_path / 'copy.db')) == copied
        assert [path.read_bytes(), Path(f'{path}-wal').read_bytes()] == content
        with SpatialMemory.open(str(path)) as memory:
            assert memory.seq == copied


def test_a_file_that_nobody_has_written_to_yet_is_empty(tmp_path: Path) -> None:
    """A process may be killed between making the file and giving it an identity."""
    path = tmp_path / 'memory.db'
    module._create(path)
    with SpatialMemory.open(str(path), readonly=True) as reader:
        assert (reader.objects(), reader.seq, reader.store_id) == ([], 0, '')
    with SpatialMemory.open(str(path)) as memory:
        assert memory.store_id


def test_an_older_schema_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = migrations()[-1][0]
    steps = [*migrations(), (newest + 1, 'CREATE TABLE extra (x);')]
    monkeypatch.setattr(module, 'migrations', lambda: steps)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f'schema {newest}, expected {newest + 1}.*for writing'):
        SpatialMemory.open(str(path), readonly=True)
    assert path.read_bytes() == before
    SpatialMemory.open(str(path)).close()
    SpatialMemory.open(str(path), readonly=True).close()


def test_a_newer_schema_is_said(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.pragma('user_version', 999)
    connection.close()
    with pytest.raises(NewerSchemaError, match='schema 999'):
        SpatialMemory.open(str(path), readonly=True)


def test_a_reader_leaves_no_lock(path: Path) -> None:
    Path(f'{path}.lock').unlink()
    with SpatialMemory.open(str(path), readonly=True):
        assert not Path(f'{path}.lock').exists()
        SpatialMemory.open(str(path)).close()
