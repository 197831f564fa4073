# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Pages of objects: by id, as of one log line, with the relations between them."""

from __future__ import annotations

import random

import pytest

from memory_node import Detection, SpatialMemory, View
from memory_node.errors import InvalidValueError
from memory_node.model import State

NS = 10**9


def crowd(memory: SpatialMemory, count: int, seed: int = 1) -> None:
    """Put things of all sizes close together, a tenth of them seen twice."""
    rng = random.Random(seed)
    things = [
        Detection(
            f'thing {k}', 0.9, (rng.uniform(0, 6), rng.uniform(0, 6), rng.uniform(0, 1)),
            [rng.choice([0.05, 0.2, 1.5]) for _ in range(3)],
        )
        for k in range(count)
    ]  # fmt: skip
    memory.observe(View(NS, detections=things))
    memory.observe(View(3 * NS, detections=things[:: 10]))  # fmt: skip


def test_pages_cover_every_object_once_by_id() -> None:
    with SpatialMemory.open(':memory:') as memory:
        crowd(memory, 100)
        every = memory.objects()
        found, after = [], 0
        while True:
            page = memory.page(after, limit=7)
            assert page.total == len([o for o in every if o.id > after])
            found += list(page)
            assert len(page) == len(page.ids)
            if not page.truncated:
                break
            after = page.ids[-1]
        assert found == every
        assert page.seq == memory.seq
        assert page.stamp_ns == 3 * NS


def test_a_page_is_of_one_log_line_whatever_happens_after() -> None:
    with SpatialMemory.open(':memory:') as memory:
        crowd(memory, 40)
        before = memory.objects()
        page = memory.page()
        memory.forget(3)
        crowd(memory, 80, seed=2)
        assert list(page) == before
        assert list(page) == before, 'it can be read again'


def test_a_page_of_certain_objects_and_of_certain_states() -> None:
    with SpatialMemory.open(':memory:') as memory:
        crowd(memory, 50)
        memory.forget(7)
        assert memory.page(ids=[9, 7, 5, 999, 2**64, 0]).ids == [5, 9]
        confirmed = [o.id for o in memory.objects() if o.state is State.CONFIRMED]
        page = memory.page(limit=3, states=[State.CONFIRMED])
        assert 3 < len(confirmed) < 50
        assert (page.ids, page.total, page.truncated) == (confirmed[:3], len(confirmed), True)
        assert memory.page(after_id=2**64 - 1).ids == []
        for states in [], [State.CONFIRMED]:
            assert memory.page(limit=0, states=states).ids == [], 'none is not all'
        with pytest.raises(InvalidValueError, match='limit: got -1'):
            memory.page(limit=-1)
        assert memory.page(states=[State.FORGOTTEN]).total == 0


def test_the_relations_of_a_page_are_those_of_relate_between_its_objects() -> None:
    with SpatialMemory.open(':memory:') as memory:
        crowd(memory, 300)
        first, last = memory.objects()[0].id, memory.objects()[-1].id
        for _ in range(2):
            for limit in (1, 120, 1000):
                page = memory.page(limit=limit, relations=True)
                here = set(page.ids)
                expected = {
                    r for r in memory.relate(here)
                    if r.subject_id in here and r.object_id in here
                }  # fmt: skip
                found = list(page.relations(memory.config))
                assert len(found) == len(set(found))
                if page.truncated:  # what is held by something else is held by the next best here
                    assert {r for r in expected if r.kind in ('near', 'on')} <= set(found)
                else:
                    assert set(found) == expected
                assert limit == 1 or len(found) > limit
            memory.state_relation(first, 'part_of', last)
        assert ('part_of', True) in {(r.kind, r.stated) for r in found}
    with SpatialMemory.open(':memory:') as memory:
        assert list(memory.page(relations=True).relations(memory.config)) == []


def test_named_finds_the_objects_that_a_text_names() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(View(NS, detections=[
            Detection(label, 0.9, (float(k), 0, 0)) for k, label in enumerate(
                ['coffee mug', 'table', 'Mugs', 'tablet'])
        ]))  # fmt: skip
        labels = {o.id: o.label for o in memory.objects()}
        assert {labels[i] for i in memory.named('mug')} == {'coffee mug', 'Mugs'}
        assert [labels[i] for i in memory.named('table')] == ['table']
        assert memory.named('') == memory.named('lamp') == []
