# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Other programs at the same file: waited for, named, and never in the way once they are dead."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import apsw
import pytest
from children import OPEN_MEMORY, WRITE_LOCK, child, release
from views import observe_all, seen, stream, view

from memory_node import Config, Query, SpatialMemory
from memory_node.errors import StoreBusyError, StoreInUseError
from memory_node.store import opening

LOCKED_S = 2.0
EVERY_S = 0.1
PATIENT = Config(busy_wait_s=600.0)
"""A write waits for the lock far longer than a test takes."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'memory.db'


# -- C30: the write lock of the file ----------------------------------------------------------


def test_c30_nothing_is_lost_while_another_process_holds_the_write_lock(path: Path) -> None:
    """Two seconds at 10 Hz: each view is there in the end, and questions are answered meanwhile."""
    views = list(stream(51, 40))
    given_so_far, commits = [], []
    errors: list[BaseException] = []
    stop = threading.Event()
    with SpatialMemory.open(str(path), PATIENT) as memory:

        def feed() -> None:
            try:
                for given in views:
                    given_so_far.append(given)
                    commits.append(memory.observe(given))
                    if not stop.is_set():
                        stop.wait(EVERY_S)
            except BaseException as error:
                errors.append(error)

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        while not commits:
            assert feeder.is_alive()
            time.sleep(0.001)
        with child(WRITE_LOCK, str(path)) as locker:
            locked = memory.seq
            answers, start = 0, time.monotonic()
            while time.monotonic() - start < LOCKED_S or answers <= 20:
                memory.query(Query(near_m=(2.5, 2.5, 2.5), radius_m=3.0))
                memory.objects()
                answers += 1
                assert memory.seq <= locked + len(views[0].detections) + 50
            # These did not wait for the lock: a view still does, and more would not have come.
            assert len(given_so_far) == len(commits) + 1
            still = memory.seq
            release(locker)
        stop.set()
        feeder.join(250)
        assert not feeder.is_alive()
        assert errors == []
        assert len(commits) == len(views)
        assert memory.seq > still
        assert memory.check() == []
        with SpatialMemory.open(':memory:', PATIENT) as plain:
            for given in views:
                plain.observe(given)
            assert memory.snapshot_hash() == plain.snapshot_hash()


def test_c30_a_lock_that_lasts_too_long_is_said_and_changes_nothing(path: Path) -> None:
    with SpatialMemory.open(str(path), Config(busy_wait_s=0.2)) as memory:
        observe_all(memory, stream(52, 10))
        [one, *_] = memory.objects()
        before = (memory.objects(), memory.seq, memory.snapshot_hash(), memory.refusals.copy())
        with child(WRITE_LOCK, str(path)):
            for call in (
                lambda: memory.observe(view(2000, seen('never seen before'))),
                lambda: memory.forget(one.id),
                lambda: memory.set_property(one.id, 'a', 1),
                lambda: memory.rebuild(),
            ):
                start = time.monotonic()
                with pytest.raises(StoreBusyError, match=r'memory\.db.*locked'):
                    call()
                assert time.monotonic() - start > 0.05, 'it did not wait'
                now = (memory.objects(), memory.seq, memory.snapshot_hash(), memory.refusals)
                assert now == before
        assert memory.observe(view(2000, seen())).first_seq == before[1] + 1
        assert memory.check() == []


def test_c30_a_reader_outside_never_holds_up_a_writer(path: Path) -> None:
    with SpatialMemory.open(str(path), Config(busy_wait_s=0.0)) as memory:
        observe_all(memory, stream(53, 5))
        reader = apsw.Connection(str(path))
        reader.execute('BEGIN')
        held = reader.execute('SELECT count(*) FROM log').get
        observe_all(memory, list(stream(53, 10))[5:])
        assert reader.execute('SELECT count(*) FROM log').get == held < memory.seq
        reader.close()


# -- two memories on one file -----------------------------------------------------------------


def test_a_second_process_is_refused_and_told_who_has_it(path: Path) -> None:
    with child(OPEN_MEMORY, str(path)) as other:
        with pytest.raises(StoreInUseError, match=rf'memory\.db.*process {other.pid} on '):
            SpatialMemory.open(str(path))
        assert f'process {other.pid} ' in opening.holder(path)
        with SpatialMemory.open(str(path), readonly=True) as reader:
            assert reader.seq > 0
        release(other)
        assert opening.holder(path) == ''
        with SpatialMemory.open(str(path)) as memory:
            assert memory.check() == []


def test_the_lock_of_a_process_that_was_killed_does_not_block(path: Path) -> None:
    with child(OPEN_MEMORY, str(path)) as other:
        other.send_signal(signal.SIGKILL)
        other.wait(60)
        assert Path(f'{path}.lock').read_text().startswith(f'process {other.pid} ')
        assert opening.holder(path) == ''
        with SpatialMemory.open(str(path)) as memory:
            assert memory.seq > 0
            assert memory.check() == []


def test_a_write_lock_dies_with_its_process(path: Path) -> None:
    with SpatialMemory.open(str(path), Config(busy_wait_s=0.2)) as memory:
        memory.observe(view(1000, seen()))
        with child(WRITE_LOCK, str(path)) as other:
            with pytest.raises(StoreBusyError):
                memory.observe(view(1001, seen()))
            other.kill()
            other.wait(60)
            memory.observe(view(1001, seen()))
        assert memory.check() == []


def test_files_that_are_gone_have_no_holder(tmp_path: Path) -> None:
    assert opening.holder(tmp_path / 'memory.db') == ''
    assert opening.holder(tmp_path / 'not' / 'there.db') == ''
