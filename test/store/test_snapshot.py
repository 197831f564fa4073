# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A copy of a store in use is an exact prefix of it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from views import observe_all, stream

from memory_node import Config, SpatialMemory
from memory_node.errors import StoreError

COPIES = 5


@pytest.mark.parametrize('profile', ['default', 'chronotope'])
def test_a_copy_made_while_another_thread_observes_is_an_exact_prefix(
    tmp_path: Path, profile: str
) -> None:
    views = list(stream(71, 1500))
    with SpatialMemory.open(str(tmp_path / 'memory.db'), Config(profile=profile)) as memory:
        observe_all(memory, views[:100])
        stop = threading.Event()
        done = []
        errors: list[BaseException] = []

        def feed() -> None:
            try:
                for given in views[100:]:
                    done.append(memory.observe(given).seq)
                    if stop.is_set():
                        return
            except BaseException as error:
                errors.append(error)

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        told = []
        for number in range(COPIES):
            before = memory.seq
            told.append(memory.snapshot(str(tmp_path / f'{number}.db')))
            assert before <= told[-1] <= memory.seq
        stop.set()
        feeder.join(60)
        assert errors == []
        assert done, 'nothing was observed meanwhile'
        lines = memory._database.rows('SELECT * FROM log ORDER BY seq')
        store_id = memory.store_id
    for number, seq in enumerate(told):
        with SpatialMemory.open(str(tmp_path / f'{number}.db')) as copy:
            assert copy.check() == []
            assert copy.seq == seq
            assert copy.store_id == store_id
            assert copy._database.rows('SELECT * FROM log ORDER BY seq') == lines[:seq]
            [(observed,)] = copy._database.rows('SELECT count(*) FROM view')
            with SpatialMemory.open(':memory:', Config(profile=profile)) as plain:
                observe_all(plain, views[:observed])
                assert copy.snapshot_hash() == plain.snapshot_hash()


def test_a_memory_without_a_file_can_be_copied_into_one(tmp_path: Path) -> None:
    path = str(tmp_path / 'copy.db')
    with SpatialMemory.open(':memory:') as memory:
        observe_all(memory, stream(72, 20))
        assert memory.snapshot(path) == memory.seq
        with SpatialMemory.open(path) as copy:
            assert copy.snapshot_hash() == memory.snapshot_hash()
            assert copy.check() == []


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with SpatialMemory.open(str(tmp_path / 'memory.db')) as memory:
        observe_all(memory, stream(73, 5))
        (tmp_path / 'copy.db').write_text('mine')
        (tmp_path / 'there.db.part').write_text('left over of a copy that was interrupted')
        with pytest.raises(StoreError, match='exists already'):
            memory.snapshot(str(tmp_path / 'copy.db'))
        with pytest.raises(StoreError, match='does not exist'):
            memory.snapshot(str(tmp_path / 'not' / 'there.db'))
        assert memory.snapshot(str(tmp_path / 'there.db')) == memory.seq
        assert (tmp_path / 'copy.db').read_text() == 'mine'
        assert not list(tmp_path.glob('*.part'))
        assert memory.check() == []
