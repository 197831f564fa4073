# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the checkpointer does in one round; the rounds are called here, not waited for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from memory_node.store import checkpoint
from memory_node.store.checkpoint import Checkpointer


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'memory.db'


@pytest.fixture
def writer(path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(path))
    connection.pragma('journal_mode', 'wal')
    connection.pragma('wal_autocheckpoint', 0)
    connection.execute('CREATE TABLE t (x)')
    yield connection
    connection.close()


@pytest.fixture
def checkpointer(
    path: Path, writer: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Checkpointer]:
    """Its own thread sleeps for the whole test."""
    monkeypatch.setattr(checkpoint, 'EVERY_S', 3600.0)
    made = Checkpointer(path, 5)
    yield made
    made.stop()


def log_of(path: Path) -> Path:
    return Path(f'{path}-wal')


def once(checkpointer: Checkpointer, path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(0)
    checkpointer._once(connection)
    connection.close()


def test_what_is_committed_becomes_durable_and_moves_into_the_file(
    checkpointer: Checkpointer, path: Path, writer: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, 'fsync', lambda fd: (synced.append(os.fstat(fd).st_ino), real(fd))[1])
    assert checkpointer.durable_seq == 5
    writer.execute('INSERT INTO t VALUES (1)')
    checkpointer.committed_seq = 7
    once(checkpointer, path)
    assert checkpointer.durable_seq == 7
    assert synced == [log_of(path).stat().st_ino], 'durable was said before the log was synced'
    alone = path.with_name('alone.db')
    alone.write_bytes(path.read_bytes())  # without the log beside it
    assert apsw.Connection(str(alone)).execute('SELECT x FROM t').get == 1


def test_nothing_new_needs_no_sync(
    checkpointer: Checkpointer, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        pytest.fail('synced although nothing was committed')

    monkeypatch.setattr(os, 'fsync', fail)
    once(checkpointer, path)
    assert checkpointer.durable_seq == 5


def test_what_could_not_be_synced_is_not_called_durable(
    checkpointer: Checkpointer, path: Path, writer: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError('no space left on device')

    writer.execute('INSERT INTO t VALUES (1)')
    checkpointer.committed_seq = 7
    with monkeypatch.context() as patch:
        patch.setattr(os, 'fsync', fail)
        once(checkpointer, path)
    assert checkpointer.durable_seq == 5
    once(checkpointer, path)
    assert checkpointer.durable_seq == 7


def test_c32_a_log_that_a_reader_held_back_is_emptied_when_it_leaves(
    checkpointer: Checkpointer, path: Path, writer: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, 'TRUNCATE_FROM_BYTES', 100_000)
    monkeypatch.setattr(checkpoint, 'WARN_FROM_BYTES', 200_000)
    reader = apsw.Connection(str(path))
    reader.execute('BEGIN')
    reader.execute('SELECT count(*) FROM t').fetchall()
    assert not checkpointer.held_back
    for _ in range(200):
        writer.execute('INSERT INTO t VALUES (zeroblob(2000))')
    checkpointer.committed_seq = 205
    once(checkpointer, path)
    assert checkpointer.held_back
    assert checkpointer.durable_seq == 205, 'a reader does not make commits less durable'
    assert log_of(path).stat().st_size > 200_000
    reader.execute('COMMIT')
    once(checkpointer, path)
    assert log_of(path).stat().st_size == 0
    once(checkpointer, path)
    assert not checkpointer.held_back
    reader.close()


def test_it_stops_at_once_and_may_be_stopped_twice(checkpointer: Checkpointer) -> None:
    checkpointer.stop()
    checkpointer.stop()
    assert not checkpointer._thread.is_alive()
