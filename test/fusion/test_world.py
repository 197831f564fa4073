# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The working set: rows, ids, features, and what an object looks like from outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import put

from memory_node.fusion.world import OBJECT, FeatureTable, World
from memory_node.model import Check, MemoryObject, Standing, State


def test_rows_are_found_by_id_and_never_used_again() -> None:
    world = World()
    rows = [put(world, x) for x in ('mug', 'cup', 'bowl')]
    assert rows == [0, 1, 2]
    assert [world.row_of(i) for i in (1, 2, 3)] == rows
    world.end(1)
    assert world.row_of(2) is None
    assert world.live_rows().tolist() == [0, 2]
    assert put(world, 'plate') == 3
    assert world.live_rows().tolist() == [0, 2, 3]


@pytest.mark.parametrize('nobody', [0, -1, 2, 4, 10**6, 2**63, 2**64 - 1, 'one', None, 1.0])
def test_ids_of_nobody(nobody: Any) -> None:
    world = World()
    put(world)
    assert world.row_of(nobody) is None


def test_it_grows_and_keeps_what_it_has() -> None:
    world = World()
    for first in (1, 1001, 2001):  # beyond 1024, then beyond 2048
        records = np.zeros(1000, OBJECT)
        records['id'] = np.arange(first, first + 1000)
        records['center'][:, 0] = records['id']
        world.append(records)
    assert world.count == 3000
    for object_id in (1, 1000, 1024, 1025, 2048, 2049, 3000):
        row = world.row_of(object_id)
        assert row is not None
        assert world.records['center'][row, 0] == object_id
    assert len(world.live_rows()) == 3000


def test_what_follows_the_records_of_known_rows_is_new() -> None:
    world = World()
    put(world)
    records = world.take(np.array([0]), blank=1100)
    assert not records[1:].tobytes().strip(b'\0')
    records['id'] = np.arange(1, 1102)
    records['looks'] = 3
    assert world.put(np.array([0]), records).tolist() == list(range(1101))
    assert world.count == world.live_count == 1101
    assert world.row_of(1101) == 1100
    assert (world.records['looks'][:1101] == 3).all()
    assert world.append(records[:0]).tolist() == []


def test_ids_may_leave_gaps() -> None:
    world = World()
    records = np.zeros(2, OBJECT)
    records['id'] = 7, 5000
    world.append(records)
    assert (world.row_of(7), world.row_of(5000), world.row_of(8)) == (0, 1, None)


def test_features_across_chunks() -> None:
    table = FeatureTable()
    rows = np.array([0, 4095, 4096, 9000])
    features = np.arange(8, dtype=np.float32).reshape(4, 2)
    table.put(rows, features)
    assert table.dim == 2
    assert table.take(rows[::-1]).tolist() == features[::-1].tolist()
    table.put(rows[1:2], np.array([[7, 9]], np.float32))
    assert table.take(rows[:2]).tolist() == [[0, 1], [7, 9]]
    assert table.take(np.zeros(0, np.int64)).shape == (0, 2)


@given(
    seed=st.integers(0, 2**32 - 1),
    share=st.sampled_from([0.0, 0.01, 0.3, 0.9, 1.0]),
    dim=st.sampled_from([1, 3, 8, 130]),
)
@settings(max_examples=30, deadline=None)
def test_a_product_depends_on_its_row_alone(seed: int, share: float, dim: int) -> None:
    """Not on where the row lies, nor on which others are asked for; so equal features tie."""
    random = np.random.default_rng(seed)
    count, kinds = 10000, 50
    features = random.normal(size=(kinds, dim)).astype(np.float32)
    kind = random.integers(kinds, size=count)
    table = FeatureTable()
    for rows in np.split(random.permutation(count), [7, 4100]):
        table.put(rows, features[kind[rows]])
    vector = random.normal(size=dim).astype(np.float32)
    rows = np.flatnonzero(random.random(count) < share)
    got = table.dot(rows, vector)
    assert got.dtype == np.float32 and got.shape == rows.shape
    np.testing.assert_allclose(got, features[kind[rows]] @ vector, rtol=0, atol=1e-4)
    alone = np.array([table.dot(rows[k : k + 1], vector)[0] for k in range(min(20, len(rows)))])
    assert got[:20].tolist() == alone.tolist()
    for k in np.unique(kind[rows]).tolist():
        assert len(set(got[kind[rows] == k].tolist())) == 1
    assert table.take(rows).tolist() == features[kind[rows]].tolist()


def test_rows_of_ids() -> None:
    world = World()
    records = np.zeros(3, OBJECT)
    records['id'] = 7, 5000, 9
    world.append(records)
    world.end(1)
    ids = np.array([9, 5000, 7, 0, -1, 8, 10**12])
    assert world.rows_of(ids).tolist() == [2, -1, 0, -1, -1, -1, -1]
    assert World().rows_of(np.array([1, 0])).tolist() == [-1, -1]


def test_what_is_taken_is_a_copy() -> None:
    table = FeatureTable()
    table.put(np.array([0]), np.ones((1, 3), np.float32))
    table.take(np.array([0]))[:] = 5.0
    assert table.take(np.array([0])).tolist() == [[1.0, 1.0, 1.0]]


def test_masses_heaviest_first_and_ties_by_name() -> None:
    world = World()
    row = put(world, 'mug', mass=1.0)
    for slot, (label, mass) in enumerate((('cup', 2.0), ('bowl', 1.0), ('apple', 1.0)), 1):
        world.records['labels'][row, slot] = world.labels.intern(label)
        world.records['masses'][row, slot] = mass
    world.more_labels[row] = {world.labels.intern('zebra'): 9.0, world.labels.intern('ant'): 1.0}
    expected = [('zebra', 9.0), ('cup', 2.0), *((n, 1.0) for n in ('ant', 'apple', 'bowl', 'mug'))]
    assert list(world.view(row).labels.items()) == expected
    world.end(row)
    assert row not in world.more_labels


def test_an_object_in_the_words_of_the_model() -> None:
    world = World()
    row = put(world, 'Mug', (1, 2, 3), (0.1, 0.2, 0.3), mass=0.5, confidence=0.7, map_id='A')
    world.records['first_seen_ns'][row], world.records['last_seen_ns'][row] = 10, 2**62
    assert world.view(row) == MemoryObject(
        id=1, label='Mug', labels={'Mug': 0.5}, state=State.CONFIRMED, center_m=(1.0, 2.0, 3.0),
        orientation_xyzw=(0.0, 0.0, 0.0, 1.0), size_m=(0.1, 0.2, 0.3), confidence=0.7,
        observations=1, first_seen_ns=10, last_seen_ns=2**62, map_id='A',
        last_check=Check.SEEN, standing=Standing(0.0, 0, 48 * 3600.0),
    )  # fmt: skip


def test_many_objects_at_once_are_those_of_each() -> None:
    world = World()
    rows = [put(world, label, (k, 0, 0)) for k, label in enumerate(['mug', 'cup', 'bowl'])]
    world.records['labels'][1, 1], world.records['masses'][1, 1] = world.labels.intern('tea'), 7.0
    world.more_labels[2] = {world.labels.intern('dish'): 0.1, world.labels.intern('pan'): 3.0}
    assert world.views(np.array(rows[::-1])) == [world.view(row) for row in rows[::-1]]
    assert [list(o.labels) for o in world.views(np.array(rows))] == [
        ['mug'], ['tea', 'cup'], ['pan', 'bowl', 'dish'],
    ]  # fmt: skip
    assert world.views(np.zeros(0, np.int64)) == []


def test_maps_are_numbered_as_they_appear() -> None:
    world = World()
    assert [world.map_number(m) for m in ('A', '', 'A', 'B')] == [0, 1, 0, 2]
    assert world.maps == ['A', '', 'B']


def test_rows_are_found_by_label_whatever_changes() -> None:
    world = World()
    for label in (0, 1, 0):
        record = np.zeros(1, OBJECT)
        record['id'], record['label'] = world.count + 1, label
        world.append(record)
    assert world.rows_of_label(0).tolist() == [0, 2]
    assert world.rows_of_label(7).tolist() == []
    changed = world.take(np.array([2]))
    changed['label'] = 1
    world.put(np.array([2]), changed)
    record['id'], record['label'] = 4, 0
    world.append(record)
    world.end(1)
    assert world.rows_of_label(0).tolist() == [0, 3]
    assert world.rows_of_label(1).tolist() == [2]
    changed['label'], changed['first_seen_ns'] = 0, 50
    world.put(np.array([2]), changed)
    assert world.rows_of_label(0).tolist() == [0, 2, 3]
    assert world.rows_of_label(0, after_ns=49).tolist() == [2]
    assert world.rows_of_label(0, after_ns=50).tolist() == []
    changed['first_seen_ns'] = 40  # a late view
    world.put(np.array([2]), changed)
    assert world.rows_of_label(0, after_ns=45).tolist() == []
    assert world.rows_of_label(0, after_ns=39).tolist() == [2]
    changed['first_seen_ns'] = 60  # a merge was undone
    world.put(np.array([2]), changed)
    assert world.rows_of_label(0, after_ns=55).tolist() == [2]
