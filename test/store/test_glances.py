# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Looks that tell nothing are known at once, and written later."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from damage import copied
from rooms import look

from memory_node import Config, Detection, SpatialMemory, View
from memory_node.model import Change, ChangeKind, Check, VerdictKind
from memory_node.store import late, rows_behind

FAR, NEAR = (14.0 / 1.5, 0.0, 0.5), (3.0, 0.0, 0.5)
SIZE = (0.3, 0.3, 0.3)
WALL = [((1.5, 0.0, 0.5), (0.1, 9.0, 9.0))]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / 'memory.db')


def box(place: tuple[float, ...] = NEAR, label: str = 'box') -> Detection:
    return Detection(label, 0.9, place, SIZE)


def stored(memory: SpatialMemory) -> list[Any]:
    """What the rows of the file say of the last look."""
    return memory._database.rows('SELECT id, last_check, last_checked_ns FROM object ORDER BY id')


def known(memory: SpatialMemory) -> list[Any]:
    return [(o.id, o.last_check.value, o.last_checked_ns) for o in memory.objects()]


def test_a_glance_is_known_at_once_and_written_with_what_comes(path: str, tmp_path: Path) -> None:
    with SpatialMemory.open(path) as memory:
        memory.observe(look(1000, [box()]))
        seen = stored(memory)
        memory.observe(look(1010, [], WALL))
        assert memory.object(1).last_check is Check.OCCLUDED
        assert stored(memory) == seen == [(1, 'seen', 1000 * 10**9)]
        expected = known(memory)
        for name in 'read', 'written':
            killed = copied(memory, tmp_path / f'{name}.db')
            with SpatialMemory.open(killed, readonly=name == 'read') as again:
                assert known(again) == expected
                assert again.snapshot_hash() == memory.snapshot_hash()
                assert again.check() == []
                assert (stored(again) == expected) is (name == 'written')
        memory.confirm(1)
        assert stored(memory) == expected, 'an edit writes all that waits'
        memory.observe(look(1030, [], WALL))
    with SpatialMemory.open(path, readonly=True) as memory:
        assert stored(memory) == known(memory) == [(1, 'occluded', 1030 * 10**9)]


def test_a_later_look_is_not_undone_by_an_earlier_glance(path: str, tmp_path: Path) -> None:
    with SpatialMemory.open(path) as memory:
        memory.observe(look(1000, [box()]))
        memory.observe(look(1010, [], WALL))
        memory.observe(look(1020, [box()]))
        memory.observe(look(1020, [], WALL))  # of the same time: says no more
        with SpatialMemory.open(copied(memory, tmp_path / 'killed.db')) as again:
            assert known(again) == known(memory) == [(1, 'seen', 1020 * 10**9)]
            assert again.check() == []


def life(seed: int) -> Iterator[View]:
    """Things that are seen, hidden, too far, taken away and found elsewhere."""
    rng = random.Random(seed)
    places = {label: (float(2 + k), 0.4 * k - 1.0, 0.5) for k, label in enumerate('abcdefgh')}
    for number in range(60):
        if rng.random() < 0.2:
            label = rng.choice('abcdefgh')
            places[label] = (rng.uniform(2, 9.5), rng.uniform(-3, 3), 0.5)
        shown = [box(p, label) for label, p in places.items() if rng.random() < 0.4]
        hidden = rng.choice([WALL, [], None, [(d.center_m, SIZE) for d in shown]])
        yield look(1000 + 70 * number, [] if hidden is WALL else shown, hidden)


@pytest.mark.parametrize('seed', range(4))
def test_killed_at_any_moment_a_file_opens_as_it_was(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(rows_behind, 'LONGEST', 15)
    with SpatialMemory.open(path, Config(max_age_s=0.0)) as memory:
        waited = reunited = 0
        for number, given in enumerate(life(seed)):
            before = len(memory._session._late)
            commit = memory.observe(given)
            reunited += any(v.kind is VerdictKind.RELOCATED for v in commit.verdicts)
            waited += before > 0
            if number % 6 == 5:
                with SpatialMemory.open(copied(memory, tmp_path / f'{number}.db')) as again:
                    assert again.objects() == memory.objects()
                    assert again.snapshot_hash() == memory.snapshot_hash()
                    assert again.check() == []
            if number == 30:
                memory.forget(memory.objects()[0].id)
            mark, seq = late.mark_of(memory._database), memory.seq
            views = memory._database.rows('SELECT count(*) FROM view WHERE seq > ?', (mark,))
            assert views[0][0] <= 15 + 1, f'{mark} of {seq}: so many are read again'
        assert waited > 20
        assert reunited > 0
        assert memory.check() == []


def test_what_is_found_again_is_written_alone(path: str, tmp_path: Path) -> None:
    """A reunion in a view of a crowd does not wait for the crowd to be written."""
    crowd = [
        Detection(f'thing {k}', 0.9, (4.0, 0.5 * k - 2.0, 1.5), SIZE, feature=[1.0, float(k)])
        for k in range(8)
    ]
    cup = Detection('cup', 0.9, NEAR, SIZE, feature=[1.0, 0.1])
    moved = Detection('cup', 0.9, (5.0, 1.0, 0.5), SIZE, feature=[1.0, 0.1])
    with SpatialMemory.open(path) as memory:
        for k in range(4):
            memory.observe(look(1000 + 2 * k, [cup, *crowd]))
        made: list[Change] = []
        for k in range(4):
            made += memory.observe(look(90000 + 2 * k, [moved, *crowd])).changes
        assert [c.object_id for c in made if c.kind is ChangeKind.MOVED] == [1]
        waiting = memory._session._behind.everything()
        assert len(waiting) >= len(crowd), 'the crowd still waits'
        with SpatialMemory.open(copied(memory, tmp_path / 'killed.db')) as again:
            assert again.objects() == memory.objects()
            assert again.snapshot_hash() == memory.snapshot_hash()
            assert again.check() == []
