# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the checkpointer does in one round; the rounds are called here, not waited for."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from waiting import DEADLINE_S, wait_until_queued

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


@pytest.mark.parametrize(
    'frames',
    [
        [200, 280, 310, 314],
        [200, 280, 380],  # the disk is no faster than the writer
        [200, 3],  # it began anew meanwhile
    ],
)
def test_what_a_writer_adds_meanwhile_is_moved_as_long_as_it_gets_less(
    checkpointer: Checkpointer, path: Path, writer: apsw.Connection,
    monkeypatch: pytest.MonkeyPatch, frames: list[int],
) -> None:  # fmt: skip
    """frames: those of the log at each attempt to move them while the writer goes on."""
    frame = checkpoint._FRAME_BYTES
    for name, few in (('TRUNCATE_FROM', 0), ('MOST', 200), ('FEW', 10)):
        monkeypatch.setattr(checkpoint, f'{name}_BYTES', few * frame)
    steps, answers = [], iter(frames)

    def moved(connection: apsw.Connection, how: str = 'PASSIVE') -> tuple[int, int]:
        steps.append((how, checkpointer.writing.held))
        found = next(answers, 0)
        return found, found

    monkeypatch.setattr(checkpoint, '_moved', moved)
    monkeypatch.setattr(checkpointer, '_sync_file', lambda: steps.append(('sync', False)))
    checkpointer.committed_seq = 7
    once(checkpointer, path)
    passive, sync = ('PASSIVE', False), ('sync', False)
    expected = [passive] + [sync, passive] * (len(frames) - 1)
    assert steps == [*expected, sync, ('RESTART', True)]


@pytest.mark.parametrize(
    ('frames', 'new', 'cut'), [(90, True, False), (90, False, True), (9, True, True)]
)
def test_a_log_is_cut_once_its_size_is_not_needed(
    checkpointer: Checkpointer, path: Path, writer: apsw.Connection,
    monkeypatch: pytest.MonkeyPatch, frames: int, new: bool, cut: bool,
) -> None:  # fmt: skip
    """frames: in the log when they were moved. new: whether anything was committed since."""
    steps = []

    def moved(connection: apsw.Connection, how: str = 'PASSIVE') -> tuple[int, int]:
        steps.append((how, checkpointer.writing.held))
        return frames, frames

    monkeypatch.setattr(checkpoint, '_moved', moved)
    monkeypatch.setattr(checkpoint, 'TRUNCATE_FROM_BYTES', 10 * checkpoint._FRAME_BYTES)
    for _ in range(100):
        writer.execute('INSERT INTO t VALUES (zeroblob(2000))')
    checkpointer.committed_seq += new
    once(checkpointer, path)
    assert steps == [('PASSIVE', False)] + [('TRUNCATE', True)] * cut


def test_nothing_is_lost_of_what_is_written_while_the_log_begins_anew(
    checkpointer: Checkpointer, path: Path, writer: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (('TRUNCATE_FROM', 100_000), ('MOST', 500_000), ('FEW', 50_000)):
        monkeypatch.setattr(checkpoint, f'{name}_BYTES', size)
    anew = []
    real = checkpoint._moved

    def moved(connection: apsw.Connection, how: str = 'PASSIVE') -> tuple[int, int]:
        if how != 'PASSIVE':
            anew.append(written)
        return real(connection, how)

    monkeypatch.setattr(checkpoint, '_moved', moved)
    written, enough = 0, 20

    def write() -> None:
        nonlocal written
        while len(anew) < enough and written < 100_000:
            with checkpointer.writing:
                writer.execute('INSERT INTO t VALUES (zeroblob(2000))')
            written += 1
            checkpointer.committed_seq += 1

    thread = threading.Thread(target=write)
    thread.start()
    while thread.is_alive():
        once(checkpointer, path)
    assert len(anew) >= enough and anew[-1] > anew[0]
    copy = path.with_name('copy.db')  # as a power cut would leave it
    copy.write_bytes(path.read_bytes())
    log_of(copy).write_bytes(log_of(path).read_bytes())
    for connection in (writer, apsw.Connection(str(copy))):
        assert connection.execute('SELECT count(*) FROM t').get == written
        assert connection.execute('PRAGMA integrity_check').get == 'ok'
    once(checkpointer, path)
    once(checkpointer, path)
    assert log_of(path).stat().st_size < 100_000


def test_emptying_the_log_waits_for_a_writer_and_a_writer_for_it(
    checkpointer: Checkpointer, path: Path, writer: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, 'TRUNCATE_FROM_BYTES', 100_000)
    for _ in range(100):
        writer.execute('INSERT INTO t VALUES (zeroblob(2000))')
    with checkpointer.writing:
        thread = threading.Thread(target=once, args=(checkpointer, path))
        thread.start()
        wait_until_queued(checkpointer.writing, 1)
        assert log_of(path).stat().st_size > 200_000
    thread.join(DEADLINE_S)
    assert log_of(path).stat().st_size == 0


def test_a_writer_that_adds_meanwhile_is_no_reader(
    checkpointer: Checkpointer, path: Path, writer: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite tells of more frames than it moved in both cases."""
    monkeypatch.setattr(checkpoint, 'WARN_FROM_BYTES', 1)
    answers = iter([(950, 947), (960, 955), (0, 0)])
    monkeypatch.setattr(checkpoint, '_moved', lambda *_: next(answers))
    writer.execute('INSERT INTO t VALUES (1)')
    checkpointer.committed_seq = 7
    once(checkpointer, path)
    assert not checkpointer.held_back


def test_a_log_begins_anew_where_nothing_can_have_the_disk_write_before(
    checkpointer: Checkpointer, path: Path, writer: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise FileNotFoundError('sync')

    monkeypatch.setattr(subprocess, 'run', fail)
    sizes = grown_twice(checkpointer, path, writer, monkeypatch)
    assert sizes[0] == sizes[1] > 200_000


def grown_twice(
    checkpointer: Checkpointer, path: Path, writer: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> list[int]:
    """Let the log grow, begin anew and grow as much again; returns its sizes."""
    monkeypatch.setattr(checkpoint, 'TRUNCATE_FROM_BYTES', 100_000)
    monkeypatch.setattr(checkpoint, 'MOST_BYTES', 100_000)
    sizes = []
    for _ in range(2):
        for _ in range(100):
            writer.execute('INSERT INTO t VALUES (zeroblob(2000))')
        sizes.append(log_of(path).stat().st_size)
        checkpointer.committed_seq += 100
        once(checkpointer, path)
    return sizes


LOCK_ALL_OF_IT = """
import fcntl, sys
SHARED_FIRST, SHARED_SIZE = 0x40000002, 510  # of SQLite's file format
with open(sys.argv[1], 'r+b') as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, SHARED_SIZE, SHARED_FIRST)
    except OSError:
        sys.exit(0)
sys.exit('nobody has it locked')
"""


def test_emptying_the_log_leaves_the_locks_of_the_writer(
    checkpointer: Checkpointer, path: Path, writer: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """POSIX takes all locks of a process on a file from it once it closes that anywhere."""
    grown_twice(checkpointer, path, writer, monkeypatch)
    subprocess.run([sys.executable, '-c', LOCK_ALL_OF_IT, str(path)], check=True)


def test_it_stops_at_once_and_may_be_stopped_twice(checkpointer: Checkpointer) -> None:
    checkpointer.stop()
    checkpointer.stop()
    assert not checkpointer._thread.is_alive()
