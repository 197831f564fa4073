# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A thing boxed twice in one view is one thing, seen once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from views import seen, view
from worlds import evidence_of

from memory_node import Config, SpatialMemory
from memory_node.fusion.doubles import doubles
from memory_node.fusion.world import World

BOX = (0.2, 0.2, 0.2)


def twins(*detections, fold_iou: float = 0.5) -> list[int]:
    evidence, label = evidence_of(World(), *detections)
    found = doubles(evidence, label, fold_iou)
    given = evidence.index.tolist()  # in the order in which they were given
    places = {given[k]: -1 if t < 0 else given[t] for k, t in enumerate(found.tolist())}
    return [places[k] for k in range(len(detections))]


def test_the_weaker_of_two_boxes_of_a_thing_is_folded() -> None:
    weak, strong = seen('cup', (0.02, 0, 0), 0.5, BOX), seen('cup', (0, 0, 0), 0.9, BOX)
    other = seen('cup', (0.3, 0, 0), 0.9, BOX)
    assert twins(weak, strong, other) == [1, -1, -1]


@pytest.mark.parametrize(('x', 'folded'), [(0.066, True), (0.067, False)])
def test_from_half_of_the_union_on(x: float, folded: bool) -> None:
    # Moved by x of 0.2: (0.2 - x) / (0.2 + x) = 0.5 at x = 0.0667.
    found = twins(seen('cup', (0, 0, 0), 0.9, BOX), seen('cup', (x, 0, 0), 0.5, BOX))
    assert found == [-1, 0 if folded else -1]


def test_another_label_or_another_look_is_another_thing() -> None:
    plate, cup = seen('plate', (0, 0, 0), 0.9, BOX), seen('cup', (0, 0, 0), 0.8, BOX)
    assert twins(plate, cup) == [-1, -1]
    red = seen('cup', (0, 0, 0), 0.9, BOX, feature=[1.0, 0.0])
    blue = seen('cup', (0, 0, 0), 0.8, BOX, feature=[0.0, 1.0])
    assert twins(red, blue) == [-1, -1]


def test_without_a_volume_only_the_very_same_is_folded() -> None:
    dot = seen('tag', (0, 0, 0), 0.9, (0, 0, 0))
    assert twins(dot, dot) == [-1, 0]
    assert twins(dot, seen('tag', (0.001, 0, 0), 0.9, (0, 0, 0))) == [-1, -1]


def test_a_chain_is_folded_onto_what_stands() -> None:
    row = [seen('cup', (0.05 * k, 0, 0), 0.9 - 0.1 * k, BOX) for k in range(4)]
    found = twins(*row)
    assert found[0] == -1
    assert all(t == -1 or found[t] == -1 for t in found), 'a twin is never folded itself'


def test_any_order_gives_the_same_memory() -> None:
    row = [seen('cup', (0.03 * k, 0, 0), 0.5 + 0.1 * (k % 3), BOX) for k in range(4)]
    hashes = set()
    for order in itertools.permutations(row):
        with SpatialMemory.open(':memory:') as memory:
            memory.observe(view(1000, *order))
            memory.observe(view(1002, *order))
            hashes.add(memory.snapshot_hash())
    assert len(hashes) == 1


def test_a_double_goes_where_its_twin_goes_and_counts_once(tmp_path) -> None:
    pair = (seen('cup', (0, 0, 0), 0.9, BOX), seen('cup', (0.02, 0, 0), 0.6, BOX))
    path = str(tmp_path / 'a.db')
    with SpatialMemory.open(path) as memory:
        for k in range(3):
            commit = memory.observe(view(1000 + 2 * k, *pair))
            first, second = commit.verdicts
            assert (first.object_id, second.object_id) == (1, 1)
            assert (second.kind, second.reason) == ('merged', 'duplicate')
        [cup] = memory.objects()
        assert cup.observations == 3
        assert cup.center_m == (0, 0, 0)
        assert len(memory.history(1)) == 6
        before = memory.snapshot_hash()
        assert memory.check() == []
        memory.rebuild()
        assert memory.snapshot_hash() == before


def test_what_is_rejected_takes_its_double_with_it() -> None:
    with SpatialMemory.open(':memory:') as memory:
        pair = (seen('cup', (0, 0, 0), 0.2, BOX), seen('cup', (0.01, 0, 0), 0.1, BOX))
        verdicts = memory.observe(view(1000, *pair)).verdicts
        assert [(v.kind, v.reason) for v in verdicts] == [('rejected', 'low_score')] * 2
        assert memory.objects() == []


def test_it_can_be_switched_off() -> None:
    with SpatialMemory.open(':memory:', Config(fold_duplicates=False)) as memory:
        pair = (seen('cup', (0, 0, 0), 0.9, BOX), seen('cup', (0.02, 0, 0), 0.6, BOX))
        assert [v.object_id for v in memory.observe(view(1000, *pair)).verdicts] == [1, 2]


@pytest.mark.parametrize('size_m', [BOX, (0, 0, 0), (50.0, 50.0, 10.0)])
def test_five_hundred_that_are_all_the_same_are_one(size_m) -> None:
    with SpatialMemory.open(':memory:') as memory:
        for k in range(2):
            commit = memory.observe(
                view(1000 + 2 * k, *[seen('cup', (1, 2, 3), 0.9, size_m)] * 500)
            )
            assert {v.object_id for v in commit.verdicts} == {1}
        [cup] = memory.objects()
        assert cup.observations == 2
        assert memory.check() == []


def test_pairs_are_found_across_chunks() -> None:
    random = np.random.default_rng(1)
    center = random.uniform(0, 2, (300, 3))
    row = [seen('cup', c.tolist(), 0.5, BOX) for c in center]
    evidence, label = evidence_of(World(), *row)
    twin = doubles(evidence, label, 0.5)
    c = evidence.center
    side = np.maximum(0.2 - np.abs(c[:, None] - c[None]), 0)
    shared = side.prod(axis=2)
    overlap = shared / (2 * 0.008 - shared) >= 0.5
    np.fill_diagonal(overlap, False)
    standing = twin < 0
    assert not overlap[np.ix_(standing, standing)].any(), 'two that stand are two things'
    assert all(overlap[k, t] for k, t in enumerate(twin.tolist()) if t >= 0)
