# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What is read back is what was held: a memory that was closed goes on as if it had not been."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from views import FORWARD, observe_all, seen, stream, view

from memory_node import Pose, Query, SpatialMemory
from memory_node.fusion.classes import load_classes
from memory_node.fusion.world import World
from memory_node.model import State
from memory_node.store import kept_out, objects, rows_behind
from memory_node.store.database import Database

VIEWS = 60


@pytest.mark.parametrize('seed', range(3))
def test_objects_are_equal_before_and_after_a_reopen(tmp_path: Path, seed: int) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        observe_all(memory, stream(seed, VIEWS))
        memory.forget(3, 'a test')
        held = memory.objects(), memory.object(3), memory.seq, memory.newest_stamp_ns
        order = [list(o.labels.items()) for o in memory.objects()]
        answer = memory.query(Query('chair', limit=1000))
    assert any(len(o.labels) > 4 for o in held[0]), 'the stream did not spill a label'
    with SpatialMemory.open(path) as memory:
        assert (memory.objects(), memory.object(3), memory.seq, memory.newest_stamp_ns) == held
        assert [list(o.labels.items()) for o in memory.objects()] == order
        assert memory.query(Query('chair', limit=1000)) == answer
        assert memory.check() == []


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('written', [True, False])
def test_the_working_set_is_equal_before_and_after_a_reopen(
    tmp_path: Path, written: bool, seed: int
) -> None:
    """Every column of every record: label slots in order, looks, versions, hulls, features."""
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        observe_all(memory, stream(seed, VIEWS))
        world, space = memory._session.engine.world, memory._session.space
        if written:
            memory._session.finish()
        read = objects.load_world(memory._database, space.id, space.dimension)
        lacking = rows_behind.lacking(memory._database)
        assert bool(rows_behind.put_in(read, lacking)) is not written
        rows = world.live_rows()
        assert len(rows) == read.count > 20
        for name in (world.records.dtype.names or ())[:]:
            held, got = world.records[name][rows], read.records[name][: read.count]
            if name in ('label', 'labels', 'map'):
                texts = [world.maps, read.maps] if name == 'map' else [
                    world.labels.names, read.labels.names
                ]  # fmt: skip
                held, got = (named(table, v) for table, v in zip(texts, (held, got), strict=True))
            np.testing.assert_array_equal(got, held, name)
        assert spilled(read) == spilled(world) != {}
        featured = np.flatnonzero(world.records['has_feature'][rows])
        np.testing.assert_array_equal(
            read.features.take(featured), world.features.take(rows[featured])
        )


def named(table: list[str], numbers: np.ndarray) -> np.ndarray:
    return np.array([*table, ''])[numbers]


def spilled(world: World) -> dict[int, list[tuple[str, float]]]:
    """Labels beyond the slots by object id, in their order."""
    return {
        int(world.records['id'][row]): [(world.labels.names[n], m) for n, m in masses.items()]
        for row, masses in world.more_labels.items()
    }


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.sets(st.integers(1, VIEWS - 1), max_size=4),
    forgotten=st.integers(1, 12),
)
def test_a_stream_goes_on_after_reopens_as_without(
    tmp_path_factory: pytest.TempPathFactory, seed: int, cuts: set[int], forgotten: int
) -> None:
    path = str(tmp_path_factory.mktemp('store') / 'memory.db')
    plain, memory = SpatialMemory.open(':memory:'), SpatialMemory.open(path)
    for k, one in enumerate(stream(seed, VIEWS)):
        if k in cuts:
            memory.close()
            memory = SpatialMemory.open(path)
        expected, got = plain.observe(one), memory.observe(one)
        assert got == expected
        if k == VIEWS // 2:
            plain.forget(forgotten)
            memory.forget(forgotten)
    assert memory.objects() == plain.objects()
    assert memory.snapshot_hash() == plain.snapshot_hash()
    assert memory.check() == plain.check() == []
    memory.close()
    plain.close()


def test_a_label_keeps_its_first_spelling_across_a_reopen(tmp_path: Path) -> None:
    """Also one that was only ever seen on what was rejected, or on what was forgotten."""
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        memory.observe(view(1000, seen('CoffeeMachine', score=0.1)))
        memory.observe(view(1001, seen('desk', (5, 0, 0), alternatives={'DESK LAMP': 0.1})))
        memory.forget(1)
    with SpatialMemory.open(path) as memory:
        memory.observe(view(1002, seen('coffeemachine'), seen('desk lamp', (9, 0, 0))))
        assert [o.label for o in memory.objects()] == ['CoffeeMachine', 'DESK LAMP']


def test_an_ended_object_is_read_with_everything_it_was(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        memory.observe(
            view(
                1000,
                seen('mug', alternatives={'cup': 0.1}, orientation_xyzw=(0, 0, 0.6, 0.8)),
                map_id='A',
            )
        )
        before = memory.object(1)
        memory.forget(1)
        after = memory.object(1)
    assert after == dataclasses.replace(before, state=State.FORGOTTEN)
    with SpatialMemory.open(path) as memory:
        assert memory.object(1) == after
        assert memory.objects() == []


def test_a_version_is_written_for_each_change_in_kind_only(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    large = {'size_m': (1.0, 1.0, 1.0), 'feature': [1.0, 0.0]}
    with SpatialMemory.open(path) as memory:
        for stamp, x in ((1000, 0.0), (1000.1, 0.02), (1002, 0.0), (1002.1, 0.4), (1002.2, 0.1)):
            memory.observe(view(stamp, seen('mug', (x, 0, 0), **large)))
        # Means 0, 0.01, 0.00667, 0.105, 0.104: confirmed by the third, moved 0.05 by the fourth.
        rows = memory._database.rows('SELECT seq, state, x FROM object_version ORDER BY seq')
        logged = memory._database.rows('SELECT seq, kind FROM log WHERE object_id = 1 ORDER BY seq')
    assert [(seq, kind) for seq, kind in logged] == [
        (2, 'CREATED'),
        (5, 'CONFIRMED'),
        (7, 'UPDATED'),
    ]
    assert [(seq, state) for seq, state, _ in rows] == [
        (2, 'tentative'),
        (5, 'confirmed'),
        (7, 'confirmed'),
    ]
    assert [x for _, _, x in rows] == pytest.approx([0.0, 0.02 / 3, 0.105])


def test_the_last_look_is_that_of_its_view(tmp_path: Path) -> None:
    pose = Pose((1.0, 2.0, 3.0), FORWARD)
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(view(1000, seen(), sensor_pose=pose))
        memory.observe(view(1000.1, seen(), sensor_pose=pose))
        world = objects.load_world(memory._database, 0, None)
    assert world.records['look_seq'][0] == 1
    assert world.records['look_position'][0].tolist() == [1.0, 2.0, 3.0]
    assert world.records['look_axis'][0].tolist() == [1.0, 0.0, 0.0]


def test_tombstones_are_read_back(tmp_path: Path) -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(view(1000, seen('mug', (1, 2, 3)), seen('cup', (5, 0, 0)), map_id='A'))
        memory.forget(2)
        world = memory._session.engine.world
        stone = kept_out.load_tombstones(memory._database, world, 0).get(2)
    assert stone is not None and stone.center.tolist() == [1.0, 2.0, 3.0]
    assert world.labels.names[stone.label] == 'mug'
    assert world.maps[stone.map_number] == 'A'


def test_an_empty_file_is_an_empty_world() -> None:
    database = Database(':memory:')
    world = objects.load_world(database, 0, None)
    assert world.count == 0
    assert objects.read_object(database, 1, load_classes()) is None
    assert kept_out.load_tombstones(database, world, 0).get(1) is None
    assert len(kept_out.load_rejections(database, world)) == 0
    database.close()
