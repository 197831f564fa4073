# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""C30: four threads ask and write at once; nothing is lost, and nobody meets an error."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from views import stream

from memory_node import Query, SpatialMemory

ROUNDS = 120


def test_c30_four_threads_query_history_relate_and_insert_together(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rounds = ROUNDS * 20 if request.config.getoption('--long') else ROUNDS
    views = list(stream(41, rounds))
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        memory.observe(views[0])
        errors: list[BaseException] = []
        start = threading.Barrier(4)

        def repeat(work: Callable[[int], object]) -> Callable[[], None]:
            def run() -> None:
                start.wait(60)
                try:
                    for k in range(1, rounds):
                        work(k)
                except BaseException as error:
                    errors.append(error)

            return run

        def insert(k: int) -> None:
            seq = memory.seq
            commit = memory.observe(views[k])
            assert commit.first_seq == seq + 1

        def query(k: int) -> None:
            hits = memory.query(Query(near_m=(2.5, 2.5, 2.5), radius_m=3.0, limit=100))
            assert all(hit.terms['distance_m'] <= 3.0 for hit in hits)

        def history(k: int) -> None:
            one = memory.objects()[k % len(memory.objects())]
            assert len(memory.history(one.id)) >= min(one.observations, 1000)

        def relate(k: int) -> None:
            for one in memory.objects()[:3]:
                for relation in memory.relations(one.id):
                    assert one.id in (relation.subject_id, relation.object_id)
            memory.changes(since_seq=k, limit=5)

        works: tuple[Callable[[int], object], ...] = (insert, query, history, relate)
        threads = [threading.Thread(target=repeat(work), daemon=True) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(250)
        assert not any(thread.is_alive() for thread in threads), 'they wait for each other'
        assert errors == []
        assert memory.check() == []
        with SpatialMemory.open(':memory:') as plain:
            for given in views:
                plain.observe(given)
            assert memory.snapshot_hash() == plain.snapshot_hash()


def test_a_memory_may_be_used_and_closed_in_another_thread_than_it_was_opened(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / 'memory.db')
    memory = SpatialMemory.open(path)
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for given in stream(42, 5):
                memory.observe(given)
            memory.close()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert errors == []
    with SpatialMemory.open(path) as again:
        assert again.check() == []
        assert len(again.changes()) > 0
