# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""C32: a reader that never ends its transaction is reported, and costs nothing once it has left."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from views import DIM, observe_all, seen, stream, view
from waiting import wait_for

from memory_node import SpatialMemory
from memory_node.store import checkpoint
from memory_node.store.database import Database

EMPTY_FROM, WARN_FROM = 200_000, 600_000


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small limits, looked at often."""
    monkeypatch.setattr(checkpoint, 'EVERY_S', 0.005)
    monkeypatch.setattr(checkpoint, 'TRUNCATE_FROM_BYTES', EMPTY_FROM)
    monkeypatch.setattr(checkpoint, 'WARN_FROM_BYTES', WARN_FROM)


def warned(memory: SpatialMemory) -> bool:
    return any('reader' in text for text in memory.notices)


@pytest.mark.usefixtures('quick')
def test_c32_a_reader_outside_is_reported_and_the_log_shrinks_when_it_leaves(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / 'memory.db')
    log = Path(f'{path}-wal')
    with SpatialMemory.open(path) as memory:
        memory.observe(view(1000, seen()))
        reader = apsw.Connection(path)
        reader.execute('BEGIN')
        held = reader.execute('SELECT count(*) FROM log').get
        assert not warned(memory)
        stamp = 1001.0
        while log.stat().st_size < WARN_FROM:
            row = [seen('x' * 100, (k, stamp, 0), track_id='y' * 100) for k in range(20)]
            memory.observe(view(stamp, *row))
            stamp += 1
        wait_for(lambda: warned(memory), what='the warning')
        wait_for(
            lambda: memory.durable_seq == memory.seq, what='durable although a reader holds on'
        )
        assert reader.execute('SELECT count(*) FROM log').get == held
        reader.execute('COMMIT')
        wait_for(lambda: log.stat().st_size < EMPTY_FROM, what='the log is emptied')
        wait_for(lambda: not warned(memory), what='the end of the warning')
        memory.observe(view(stamp, seen()))
        reader.close()
        assert memory.check() == []


@pytest.mark.usefixtures('quick')
def test_c32_none_of_our_readers_keeps_a_transaction_open(tmp_path: Path) -> None:
    """Whatever a memory opened for reading is asked, the writer can empty its log afterwards."""
    path = str(tmp_path / 'memory.db')
    log = Path(f'{path}-wal')
    with SpatialMemory.open(path) as memory, SpatialMemory.open(path, readonly=True) as reader:
        observe_all(memory, stream(81, 300))
        assert memory.objects()
        reader.check()
        reader.changes()
        reader.snapshot_hash()
        with reader._database.standing_still():
            assert reader._database.rows('SELECT count(*) FROM log') == [(memory.seq,)]
        observe_all(memory, list(stream(81, 400))[300:])
        wait_for(lambda: log.stat().st_size < EMPTY_FROM, what='the log is emptied')
        assert not warned(memory)


def test_what_is_read_while_it_stands_still_is_of_one_moment(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        observe_all(memory, stream(82, 10))
        before = memory.seq
        reader = Database(path, readonly=True)
        with reader.standing_still():
            observe_all(memory, [view(5000, seen(feature=[1.0] * DIM))])
            assert reader.rows('SELECT max(seq) FROM log') == [(before,)]
        assert reader.rows('SELECT max(seq) FROM log') == [(memory.seq,)]
        with pytest.raises(ZeroDivisionError), reader.standing_still():
            raise ZeroDivisionError
        with reader.standing_still():  # the one before has ended
            assert reader.rows('SELECT max(seq) FROM log') == [(memory.seq,)]
        reader.close()
