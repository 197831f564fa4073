# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Records in the file are those of the working set, byte for byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import live_through
from views import observe_all, stream

from memory_node import Config, SpatialMemory
from memory_node.fusion.world import OBJECT, STORED, Records, World
from memory_node.store import objects, rows_behind
from memory_node.store.features import PUT_FEATURE
from memory_node.store.packed import chosen, joined, pack, unpack

EAGER = {'restore_looks': 2, 'restore_score': 0.3}


def drawn(seed: int, count: int) -> Records:
    """Records of any content that is stored; no NaN but as the position of an unknown sensor."""
    random = np.random.default_rng(seed)
    records = np.zeros(count, OBJECT)
    for name in STORED.names or ():
        column = records[name]
        column[...] = random.integers(0, 2 if column.dtype.kind == 'b' else 100, column.shape)
        if column.dtype.kind == 'f':
            column += random.normal(size=column.shape)
    records['look_position'][::3] = records['look_axis'][::3] = np.nan
    return records


def whole(records: Records) -> list[bytes]:
    """Every byte of each record but those between its fields, which mean nothing."""
    names = records.dtype.names or ()
    return [b''.join(record[name].tobytes() for name in names) for record in records]


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.data())
def test_what_is_unpacked_is_what_was_packed(seed: int, count: int, data: st.DataObject) -> None:
    records = drawn(seed, count)
    masses = st.dictionaries(st.integers(0, 99), st.floats(0, 1e3), min_size=1, max_size=9)
    more = data.draw(st.dictionaries(st.integers(0, count - 1), masses, max_size=4))
    packed = pack(records, more)
    got, got_more = unpack(packed)
    assert whole(got) == whole(records)
    assert [(k, list(v.items())) for k, v in got_more.items()] == sorted(
        (k, list(v.items())) for k, v in more.items()
    )
    assert pack(got, got_more) == packed


def test_nothing_is_packed_as_nothing() -> None:
    assert pack(np.zeros(0, OBJECT), {}) == []
    assert len(unpack([])[0]) == 0


def test_a_negative_zero_is_stored_as_the_columns_have_it() -> None:
    """SQLite keeps no sign of a zero; were it kept here, a replay would give other bytes."""
    records = np.zeros(2, OBJECT)
    records['center'][0] = -0.0
    first, second = pack(records, {})
    assert first == second
    assert np.signbit(records['center'][0]).all(), 'what was given was changed'


def test_some_records_are_copied_and_joined_as_they_are_stored() -> None:
    records = np.zeros(5, OBJECT)
    records['id'], records['center'][:, 1] = np.arange(5), -0.0
    some = chosen(records, [1, 4])
    assert some['id'].tolist() == [1, 4]
    some['id'] = 9
    assert records['id'].tolist() == [0, 1, 2, 3, 4], 'a copy'
    heads = [record.tobytes()[: STORED.itemsize] for record in records]
    for places in ([0, 1, 2, 3, 4], [0, 1, 2], [1, 4], [0, 2], [4], []):
        assert joined(records, places) == b''.join(heads[k] for k in places)
    assert len(chosen(records, [])) == 0


@pytest.mark.parametrize('length', [0, 1, STORED.itemsize - 1, STORED.itemsize + 1])
def test_another_length_than_any_record_has_is_refused(length: int) -> None:
    [good] = pack(np.zeros(1, OBJECT), {})
    with pytest.raises(ValueError):
        unpack([good, (good * 2)[:length], good])


def test_a_record_in_the_file_begins_with_what_is_stored() -> None:
    """What is written here is read by later versions: its layout changes with the schema only."""
    assert [OBJECT.fields[name][1] for name in STORED.names] == [
        STORED.fields[name][1] for name in STORED.names
    ]
    assert STORED.itemsize == 420
    offsets = {name: STORED.fields[name][1] for name in ('center', 'masses', 'id', 'labels')}
    assert offsets == {'center': 0, 'masses': 208, 'id': 304, 'labels': 384}


def assert_equal_bytes(world: World, read: World) -> None:
    """The live rows of both, in their order, but for numbers that hold for one opening only."""
    rows = world.live_rows()
    rows = rows[np.argsort(world.records['id'][rows])]
    held, got = world.records[rows], read.records[: read.count].copy()
    for records, maps in ((held, world.maps), (got, read.maps)):
        records['map'] = [sorted(world.maps).index(maps[n]) for n in records['map'].tolist()]
    for name in ('center', 'hull_center', 'version_center'):
        held[name] += 0.0
    assert whole(got) == whole(held)
    more = {int(world.records['id'][row]): masses for row, masses in world.more_labels.items()}
    assert {int(read.records['id'][k]): v for k, v in read.more_labels.items()} == more
    assert read.labels.names == world.labels.names
    featured = np.flatnonzero(held['has_feature'])
    assert len(featured)
    assert read.features.take(featured).tobytes() == world.features.take(rows[featured]).tobytes()


@pytest.mark.parametrize('profile', ['default', 'chronotope'])
@pytest.mark.parametrize('seed', range(3))
def test_an_opened_working_set_is_the_one_in_memory(seed: int, profile: str) -> None:
    """Objects of every state, also those that were forgotten and came back."""
    config = Config(profile=profile, **EAGER)
    with live_through(lambda: SpatialMemory.open(':memory:', config), seed, 120) as memory:
        observe_all(memory, stream(seed, 40))
        session = memory._session
        states = {o.state for o in memory.objects()}
        assert len(states) == (1 if profile == 'chronotope' else 2)
        read = objects.load_world(memory._database, session.space.id, session.space.dimension)
        rows_behind.put_in(read, rows_behind.lacking(memory._database))
        assert_equal_bytes(session.engine.world, read)
        memory.rebuild()
        assert_equal_bytes(session.engine.world, read)


def test_what_has_ended_is_read_as_it_was(tmp_path: Path) -> None:
    with SpatialMemory.open(str(tmp_path / 'memory.db')) as memory:
        observe_all(memory, stream(1, 60))
        world, space = memory._session.engine.world, memory._session.space.id
        for row in world.live_rows().tolist():
            before, more = world.records[row : row + 1].copy(), world.more_labels.get(row, {})
            number = int(before['id'][0])
            memory.forget(number)
            record, got_more, feature = objects.read_record(memory._database, world, number, space)
            assert record['state'] != before['state']
            record['state'] = before['state']
            assert whole(record) == whole(before)
            assert got_more == more
            assert (feature is not None) == before['has_feature'][0]
        assert objects.load_world(memory._database, space, 8).count == 0


def test_a_store_of_many_objects_is_read_in_several_batches() -> None:
    """Some of them forgotten, so that ids and rows part; and more than one chunk of features."""
    count = 5000
    with SpatialMemory.open(':memory:') as memory:
        world = World()
        world.labels.intern('mug')
        records = drawn(0, count)
        records['id'] = np.arange(1, count + 1)
        records['state'], records['label'] = np.arange(count) % 3, 0
        records['labels'], records['masses'][:, 1:] = [0, -1, -1, -1], 0.0
        records['half'] = records['size'] / 2
        records['orientation'] = 0, 0, 0, 1
        records['map'] = world.map_number('')
        records['look_seq'], records['check'] = 1, 0
        database = memory._database
        rows = objects.object_rows(records, {}, world, [1] * count)
        feature = np.random.default_rng(1).normal(size=(count, 4)).astype('<f4')
        with database.rewriting(whole=False) as connection:
            connection.execute("INSERT INTO label VALUES (0, 'mug')")
            connection.execute("INSERT INTO feature_space VALUES (1, 'four', 4)")
            connection.executemany(objects.INSERT_OBJECT, rows)
            connection.executemany(
                PUT_FEATURE,
                [(k + 1, 1, feature[k].tobytes(), 0) for k in reversed(range(0, count, 2))],
            )
        read = objects.load_world(database, 1, 4)
    live = records[records['state'] != 2]
    live['has_feature'] = live['id'] % 2 == 1
    assert whole(read.records[: read.count]) == whole(live)
    featured = np.flatnonzero(live['has_feature'])
    expected = feature[live['id'][featured] - 1]
    assert read.features.take(featured).tobytes() == expected.tobytes()
