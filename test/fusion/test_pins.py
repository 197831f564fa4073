# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What is pinned stands in the records, whatever a view makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from views import seen, view

from memory_node import Config, SpatialMemory
from memory_node.fusion.pins import boxed, effective, label_evidence, put
from memory_node.fusion.world import LABEL_SLOTS, OBJECT, World
from memory_node.model import Aspect, Pin


def pin(object_id: int, seq: int, aspect: Aspect = Aspect.LABEL) -> Pin:
    return Pin(object_id, aspect, f'of {object_id}', seq)


def record_of(world: World, **masses: float) -> np.ndarray:
    record = np.zeros(1, OBJECT)
    record['labels'] = -1
    for slot, (name, mass) in enumerate(masses.items()):
        record['labels'][0, slot] = world.labels.intern(name)
        record['masses'][0, slot] = mass
    return record


def test_what_was_said_of_the_object_itself_counts_then_the_newest() -> None:
    own, older, newer = pin(1, 3), pin(2, 5), pin(3, 9)
    assert effective([older, own, newer], 1) == {Aspect.LABEL: own}
    assert effective([newer, older], 1) == {Aspect.LABEL: newer}
    assert effective([], 1) == {}
    size = pin(1, 7, Aspect.SIZE)
    assert list(effective([size, own], 1)) == [Aspect.LABEL, Aspect.SIZE]  # in one order


def test_a_label_takes_a_slot_with_what_was_seen_of_it() -> None:
    world = World()
    record = record_of(world, a=0.5, b=0.4, c=0.3, d=0.2)
    more = {world.labels.intern('e'): 0.1}
    more = put(record, more, Aspect.LABEL, 'e', world)
    assert world.labels.names[record['label'][0]] == 'e'
    held = dict(zip(record['labels'][0].tolist(), record['masses'][0].tolist()))
    assert held == {0: 0.5, 1: 0.4, 2: 0.3, world.labels.intern('e'): 0.1}
    assert more == {3: 0.2}
    assert len(held) == LABEL_SLOTS
    assert label_evidence(record[0], more, world) == 'a'


def test_a_label_that_only_a_person_gave_goes_with_the_next() -> None:
    world = World()
    record = record_of(world, a=0.5)
    put(record, {}, Aspect.LABEL, 'x', world)
    put(record, {}, Aspect.LABEL, 'y', world)
    assert [world.labels.names[n] for n in record['labels'][0].tolist() if n >= 0] == ['a', 'y']
    put(record, {}, Aspect.LABEL, 'a', world)
    assert record['labels'][0].tolist() == [0, -1, -1, -1]


def test_nothing_was_seen_of_what_was_only_stated() -> None:
    world = World()
    record = record_of(world)
    put(record, {}, Aspect.LABEL, 'x', world)
    assert label_evidence(record[0], {}, world) is None


def test_pose_and_size_make_the_hull() -> None:
    world = World()
    record = record_of(world)
    half = 0.5**0.5
    put(record, {}, Aspect.SIZE, (1.0, 2.0, 3.0), world)
    put(record, {}, Aspect.POSE, (1.0, 2.0, 3.0, 0.0, 0.0, half, half), world)
    assert record['hull_center'][0].tolist() == [1.0, 2.0, 3.0]
    assert record['half'][0].tolist() == pytest.approx([1.0, 0.5, 1.5])
    boxed(record, off_center=True)  # profile chronotope turns no box
    assert record['half'][0].tolist() == [0.5, 1.0, 1.5]
    assert not record['oriented'][0]


def test_evidence_is_the_running_mean_since_the_pin() -> None:
    with SpatialMemory.open(':memory:', Config(blend=0.01, version_distance_m=0.02)) as memory:
        memory.observe(view(1000, seen('mug', (0.0, 0.0, 1.0))))
        memory.pin(1, ['pose'])
        for second, x in ((2, 0.01), (4, 0.03), (6, 0.05)):
            memory.observe(view(1000 + second, seen('mug', (x, 0.0, 1.0))))
            found = memory.object(1).pins[Aspect.POSE]
            assert found.conflict == (second > 2)
        assert isinstance(found.evidence, tuple)
        assert found.evidence[0] == pytest.approx(0.03)
        assert memory.object(1).center_m == (0.0, 0.0, 1.0)
        assert [v.center_m[0] for v in memory.versions(1)] == [0.0] * len(memory.versions(1))


def test_a_pin_costs_nothing_to_what_is_not_pinned() -> None:
    """Beside a pinned object all others are bit for bit what they are without it."""
    objects = []
    for pinned in (False, True):
        with SpatialMemory.open(':memory:') as memory:
            things = [seen('mug', (0.0, 0.0, 1.0)), seen('bowl', (4.0, 0.0, 1.0))]
            memory.observe(view(1000, *things))
            if pinned:
                memory.correct_pose(2, (0.01, 0.0, 1.0))
            for second in range(2, 10, 2):
                things = [seen('mug', (0.003 * second, 0, 1)), seen('bowl', (4.01, 0.0, 1.0))]
                memory.observe(view(1000 + second, *things))
            objects.append(memory.objects())
    assert objects[0][0] == objects[1][0]
    assert objects[0][1] != objects[1][1]
