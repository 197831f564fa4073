# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""CH-29: what another store knows is taken over, once, and it is known from where."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import apsw
import pytest
from views import observe_all, seen, stream, view

from memory_node import Config, SpatialMemory
from memory_node.errors import InvalidValueError, NewerSchemaError, StoreError
from memory_node.model import MergedStore, State

RED, BLUE = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another robot's file: a mug and a chair confirmed, a lamp only seen once, a box forgotten."""
    path = tmp_path / 'other.db'
    with SpatialMemory.open(str(path)) as memory:
        things = (
            seen('mug', (1, 0, 1), feature=RED),
            seen('chair', (4, 0, 0.5), size_m=(0.5, 0.5, 1.0)),
            seen('box', (8, 0, 0.5)),
        )
        for second in (0, 5):
            observe_all(memory, [view(500 + second, thing) for thing in things])
        memory.observe(view(506, seen('lamp', (6, 0, 1))))
        memory.forget(3)
    return path


def here(tmp_path: Path, **config: Any) -> SpatialMemory:
    """A memory that knows a table, and the same mug."""
    memory = SpatialMemory.open(str(tmp_path / 'here.db'), Config(**config))
    for second in (0, 5):
        for thing in (seen('table', (3, 3, 0.4)), seen('mug', (1.02, 0, 1), feature=RED)):
            memory.observe(view(9000 + second, thing))
    return memory


def state_of(memory: SpatialMemory) -> tuple[str, int]:
    return memory.snapshot_hash(), memory.seq


def test_ch_29_confirmed_objects_come_through_the_arbiter(tmp_path: Path, other: Path) -> None:
    before = hashlib.sha256(other.read_bytes()).digest()
    with here(tmp_path) as memory, SpatialMemory.open(str(other), readonly=True) as theirs:
        told: list[Any] = []
        report = memory.merge_store(str(other), on_commit=told.append)
        assert report == MergedStore(theirs.store_id, 2, 2, 1, {1: 2, 2: 3})
        assert [o.label for o in memory.objects()] == ['table', 'mug', 'chair']
        mug, chair = memory.object(2), memory.object(3)
        assert mug.observations == 3 and chair.state is State.TENTATIVE
        assert mug.first_seen_ns == chair.last_seen_ns == 505 * 10**9
        sensors = {o.sensor for o in memory.history(3)}
        assert sensors == {f'merged:{theirs.store_id}'}
        assert memory.alias(theirs.store_id, 1) == 2 and memory.alias(theirs.store_id, 4) is None
        assert memory.alias('nobody', 1) is None
        assert [c.seq for c in told] == [memory.seq]
        assert memory.check() == []
    assert hashlib.sha256(other.read_bytes()).digest() == before


def test_ch_29_twice_changes_nothing(tmp_path: Path, other: Path) -> None:
    with here(tmp_path) as memory:
        first = memory.merge_store(str(other))
        known = state_of(memory)
        again = memory.merge_store(str(other))
        assert state_of(memory) == known
        assert (again.taken, again.views, again.aliases) == (0, 0, first.aliases)
    with SpatialMemory.open(str(tmp_path / 'here.db')) as memory:
        memory.merge_store(str(other))
        assert state_of(memory) == known
    with SpatialMemory.open(str(other)) as theirs:  # the mug was seen there again
        theirs.observe(view(510, seen('mug', (1, 0, 1), feature=RED)))
    with SpatialMemory.open(str(tmp_path / 'here.db')) as memory:
        assert memory.merge_store(str(other)).taken == 1
        assert memory.object(2).observations == 4 and memory.check() == []


def test_ch_29_aliases_follow_what_becomes_of_an_object(tmp_path: Path, other: Path) -> None:
    with here(tmp_path) as memory:
        store_id = memory.merge_store(str(other)).store_id
        memory.merge_objects(1, 3)
        assert memory.alias(store_id, 2) == 1
        memory.undo(memory.seq)
        assert memory.alias(store_id, 2) == 3


def test_ch_29_what_was_forgotten_here_stays_forgotten(tmp_path: Path, other: Path) -> None:
    with here(tmp_path) as memory:
        memory.forget(2)
        report = memory.merge_store(str(other))
        assert [o.label for o in memory.objects()] == ['table', 'chair']
        assert report.aliases == {2: 3}
        known = state_of(memory)
        memory.merge_store(str(other))
        assert state_of(memory) == known


def test_ch_29_two_larger_stores_become_one(tmp_path: Path) -> None:
    for name, seed in (('a', 1), ('b', 2)):
        with SpatialMemory.open(str(tmp_path / name)) as memory:
            observe_all(memory, stream(seed, 60))
    with SpatialMemory.open(str(tmp_path / 'a')) as memory:
        report = memory.merge_store(str(tmp_path / 'b'))
        assert report.taken == report.confirmed > 5
        known = state_of(memory)
        assert memory.merge_store(str(tmp_path / 'b')).taken == 0
        assert state_of(memory) == known
        assert memory.check() == []


def test_ch_29_refuses_what_cannot_be_merged(tmp_path: Path, other: Path) -> None:
    text, foreign, newer = tmp_path / 'a.txt', tmp_path / 'b.db', tmp_path / 'c.db'
    text.write_text('not a store, but long enough to be looked at as one' * 20)
    apsw.Connection(str(foreign)).execute('CREATE TABLE t (x)')
    newer.write_bytes(other.read_bytes())
    apsw.Connection(str(newer)).pragma('user_version', 999)
    with here(tmp_path) as memory:
        memory.snapshot(str(tmp_path / 'copy.db'))
        known = state_of(memory)
        for path in (memory.path, str(tmp_path / 'copy.db')):
            with pytest.raises(InvalidValueError, match='this memory or a copy of it'):
                memory.merge_store(path)
        with pytest.raises(StoreError, match='does not exist'):
            memory.merge_store(str(tmp_path / 'nothing.db'))
        for path in (text, foreign, tmp_path):
            with pytest.raises(StoreError):
                memory.merge_store(str(path))
        with pytest.raises(NewerSchemaError, match='schema 999'):
            memory.merge_store(str(newer))
        for given in ('', ':memory:', 7):
            with pytest.raises(InvalidValueError, match='path: got'):
                memory.merge_store(given)  # type: ignore[arg-type]
        assert state_of(memory) == known
    assert not (tmp_path / 'nothing.db').exists()


def test_ch_29_features_must_be_as_long_as_here(tmp_path: Path, other: Path) -> None:
    with SpatialMemory.open(str(tmp_path / 'four.db')) as memory:
        memory.observe(view(1, seen('cup', feature=[1.0, 0, 0, 0])))
        known = state_of(memory)
        with pytest.raises(InvalidValueError, match='have 3 numbers, expected 4 as here'):
            memory.merge_store(str(other))
        assert state_of(memory) == known
    with SpatialMemory.open(str(tmp_path / 'named.db')) as memory:
        memory.observe(view(1, seen('cup', feature=RED), feature_space='clip'))
        named = str(tmp_path / 'other_name.db')
        with SpatialMemory.open(named) as theirs:
            for second in (1, 5):
                theirs.observe(view(second, seen(feature=BLUE), feature_space='dino'))
        with pytest.raises(InvalidValueError, match="are of 'dino', expected 'clip'"):
            memory.merge_store(named)
    with SpatialMemory.open(str(tmp_path / 'none.db')) as memory:
        assert memory.merge_store(str(other)).taken == 2
        assert memory.check() == []


def test_ch_29_ignored_labels_are_not_taken(tmp_path: Path, other: Path) -> None:
    with here(tmp_path, ignored_labels=('Chair',)) as memory:
        assert memory.merge_store(str(other)).taken == 1
        assert [o.label for o in memory.objects()] == ['table', 'mug']
