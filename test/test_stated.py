# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What callers state (CH-11 to CH-13), and questions by time, place and appearance (CH-36 to 40).

In CH-47's style: each test puts in what must stay out, and asserts the exact set that is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from views import seen, view

from memory_node import Detection, Query, SpatialMemory, View
from memory_node.errors import InvalidValueError, ObjectEndedError, UnknownObjectError

SECOND = 10**9
START_NS = 1_700_000_000 * SECOND


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    with SpatialMemory.open(':memory:') as opened:
        yield opened


def show(memory: SpatialMemory, second: float, label: str, x: float, **more: Any) -> int:
    """One sighting of a 40 cm thing on a line; returns its object."""
    detection = Detection(label, more.pop('score', 0.9), (x, 0, 0), (0.4, 0.4, 0.4), **more)
    view = View(START_NS + int(second * SECOND), 'camera', [detection])
    (verdict,) = memory.observe(view).verdicts
    assert verdict.object_id is not None
    return verdict.object_id


def found(memory: SpatialMemory, **filters: Any) -> list[int]:
    return [hit.object.id for hit in memory.query(Query(**filters))]


# -- CH-11: stated relations -----------------------------------------------------------------


def test_ch_11_stated_relations_are_read_from_both_sides(memory: SpatialMemory) -> None:
    door, fridge, lamp = (
        show(memory, k, n, 5.0 * k) for k, n in enumerate(('door', 'fridge', 'lamp'))
    )
    memory.state_relation(door, 'part_of', fridge)
    memory.state_relation(door, 'part_of', fridge)  # once more changes nothing
    memory.state_relation(lamp, 'lights', fridge)

    def triples(found: list[Any]) -> list[tuple[int, str, int]]:
        return [(r.subject_id, r.kind, r.object_id) for r in found]

    assert triples(memory.relations(door)) == [(door, 'part_of', fridge)]
    assert triples(memory.relations(fridge)) == [
        (door, 'part_of', fridge),
        (lamp, 'lights', fridge),
    ]
    assert triples(memory.relate(None, 'part_of', [fridge])) == [(door, 'part_of', fridge)]
    assert all(r.stated and r.confidence == 1 for r in memory.relations(fridge))
    memory.state_relation(door, 'part_of', fridge, holds=False)
    assert triples(memory.relations(fridge)) == [(lamp, 'lights', fridge)]


def test_ch_11_nothing_is_stated_of_what_is_not_there(memory: SpatialMemory) -> None:
    door, fridge = show(memory, 0, 'door', 0), show(memory, 1, 'fridge', 5)
    memory.state_relation(door, 'part_of', fridge)
    memory.forget(fridge)
    assert memory.relations(door) == []
    with pytest.raises(ObjectEndedError):
        memory.state_relation(door, 'part_of', fridge)
    with pytest.raises(UnknownObjectError):
        memory.state_relation(door, 'part_of', 99)
    for word in ('', '   ', 'a\nb', 'x' * 200):
        with pytest.raises(InvalidValueError, match='relation: got'):
            memory.state_relation(door, word, fridge)
    with pytest.raises(InvalidValueError, match='twice'):
        memory.state_relation(door, 'near', door)


# -- CH-12: properties -----------------------------------------------------------------------


def test_ch_12_the_latest_value_of_a_key_counts(memory: SpatialMemory) -> None:
    mug, other = show(memory, 0, 'mug', 0), show(memory, 1, 'mug', 5)
    memory.set_property(mug, 'colour', 'red')
    memory.set_property(mug, 'owner', {'name': 'Ada', 'age': None, 'likes': [1, 2.5, True]})
    memory.set_property(mug, 'colour', 'blue')
    memory.set_property(other, 'colour', 'green')
    assert memory.properties(mug) == {
        'colour': 'blue',
        'owner': {'name': 'Ada', 'age': None, 'likes': [1, 2.5, True]},
    }
    memory.forget(mug)
    assert memory.properties(mug)['colour'] == 'blue'
    with pytest.raises(ObjectEndedError):
        memory.set_property(mug, 'colour', 'black')


@pytest.mark.parametrize(
    'value', [float('nan'), {1, 2}, object(), b'x', {'a': float('inf')}, 'x' * 70000]
)
def test_ch_12_only_plain_values(memory: SpatialMemory, value: Any) -> None:
    mug = show(memory, 0, 'mug', 0)
    with pytest.raises(InvalidValueError, match='value: got'):
        memory.set_property(mug, 'key', value)
    assert memory.properties(mug) == {}


# -- CH-13: events ---------------------------------------------------------------------------


def test_ch_13_events_by_type_place_and_time(memory: SpatialMemory) -> None:
    door = show(memory, 0, 'door', 0)
    memory.record_event('opened', {'by': 'Ada'}, door, START_NS + 10 * SECOND)
    memory.record_event('opened', {}, None, START_NS + 5 * SECOND)
    memory.record_event('rang', {}, door, START_NS + 7 * SECOND)

    def seen(**filters: Any) -> list[tuple[str, int | None]]:
        return [(e.type, e.object_id) for e in memory.events(**filters)]

    assert seen() == [('opened', None), ('rang', door), ('opened', door)]  # in order of time
    assert seen(kind='opened') == [('opened', None), ('opened', door)]
    assert seen(object_id=door) == [('rang', door), ('opened', door)]
    assert seen(since_ns=START_NS + 7 * SECOND) == [('rang', door), ('opened', door)]
    assert seen(limit=1) == [('opened', door)]
    memory.forget(door)  # the event stays (CH-13)
    assert len(seen()) == 3
    with pytest.raises(UnknownObjectError):
        memory.record_event('opened', {}, 99)


# -- CH-36, CH-37, CH-40 ---------------------------------------------------------------------


def test_ch_36_recent_first(memory: SpatialMemory) -> None:
    a, b, c = show(memory, 0, 'cup', 0), show(memory, 9, 'cup', 5), show(memory, 4, 'cup', 10)
    assert found(memory, order='recent') == [b, c, a]
    assert found(memory, order='recent', limit=2) == [b, c]
    assert found(memory) == [a, b, c]


def test_ch_37_by_appearance_the_score_is_the_cosine(memory: SpatialMemory) -> None:
    same = show(memory, 0, 'cup', 0, feature=[1, 0, 0, 0])
    close = show(memory, 1, 'cup', 5, feature=[0.6, 0.8, 0, 0])
    show(memory, 2, 'cup', 10, feature=[0, 1, 0, 0])
    show(memory, 3, 'cup', 15)  # has none
    show(memory, 4, 'cup', 20, feature=[-1, 0, 0, 0])
    hits = memory.query(Query(feature=[12.5, 0, 0, 0]))
    assert [(h.object.id, round(h.score, 3)) for h in hits] == [(same, 1.0), (close, 0.6)]
    assert found(memory, feature=[1, 0, 0, 0], min_score=0.7) == [same]
    for bad in ([1, 0, 0], [0, 0, 0, 0], [float('nan'), 0, 0, 0], 'mug', [[1, 0, 0, 0]]):
        with pytest.raises(InvalidValueError, match='feature: got'):
            memory.query(Query(feature=bad))


def test_c35_the_score_is_the_cosine_not_a_distance(memory: SpatialMemory) -> None:
    thing = show(memory, 0, 'cup', 0, feature=[1, 0, 0, 0])
    (hit,) = memory.query(Query(feature=[0.4, 0.9165, 0, 0], min_score=0.3))
    assert hit.object.id == thing
    assert hit.score == pytest.approx(0.4, abs=1e-3)


def test_ch_37_many_objects_at_once_give_the_same(memory: SpatialMemory) -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(600, 8))
    for k in range(30):
        rows = range(20 * k, 20 * k + 20)
        memory.observe(View(START_NS + k * SECOND, 'camera', [
            Detection('cup', 0.9, (3.0 * i, 0, 0), (0.4,) * 3, feature=features[i]) for i in rows
        ]))  # fmt: skip
    wanted = rng.normal(size=8)
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    order = np.argsort(-(unit @ wanted / np.linalg.norm(wanted)))[:5]
    hits = memory.query(Query(feature=wanted, limit=5))
    assert [round(h.object.center_m[0] / 3) for h in hits] == order.tolist()


def test_ch_40_new_stale_and_seen_since(memory: SpatialMemory) -> None:
    old = show(memory, 0, 'cup', 0)
    again = show(memory, 1, 'cup', 5)
    show(memory, 50, 'cup', 5)
    new = show(memory, 60, 'cup', 10)
    noon = START_NS + 40 * SECOND
    assert found(memory, seen_since_ns=noon) == [again, new]
    assert found(memory, new_since_ns=noon) == [new]
    assert found(memory, unseen_since_ns=noon) == [old]
    assert found(memory, unseen_since_ns=noon, new_since_ns=START_NS + SECOND) == []
    with pytest.raises(InvalidValueError, match='seen_since_ns'):
        memory.query(Query(seen_since_ns=noon, unseen_since_ns=noon))


def test_ch_40_moved_is_how_far_it_is_from_where_it_was_first_seen(memory: SpatialMemory) -> None:
    moved, still = show(memory, 0, 'cup', 0), show(memory, 1, 'cup', 5)
    for k in range(2, 30):
        show(memory, 2 * k, 'cup', 0.01 * k)
        show(memory, 2 * k + 1, 'cup', 5)
    (hit,) = memory.query(Query(moved_m=0.1))
    assert hit.object.id == moved != still
    assert hit.terms['moved_m'] == pytest.approx(hit.object.center_m[0])


def test_ch_38_salient_is_recent_sure_and_often_seen(memory: SpatialMemory) -> None:
    once, often = show(memory, 0, 'cup', 0), show(memory, 1, 'cup', 5)
    for k in range(2, 8):
        show(memory, 2 * k, 'cup', 5)
    assert found(memory, order='salient') == [often, once]
    with pytest.raises(InvalidValueError, match='order: got'):
        memory.query(Query(order='newest'))


def test_labels_filter_exactly(memory: SpatialMemory) -> None:
    mug = show(memory, 0, 'Mug', 0)
    show(memory, 1, 'red mug', 5)
    cup = show(memory, 2, 'cup', 10)
    assert found(memory, labels=['mug', 'CUP']) == [mug, cup]
    assert found(memory, labels=['plate']) == []


# -- CH-25: explain --------------------------------------------------------------------------


def test_ch_25_why_is_this_one_object(memory: SpatialMemory) -> None:
    mug = show(memory, 0, 'mug', 0)
    show(memory, 2, 'mug', 0.02)
    why = memory.explain(object_id=mug)
    assert [o.verdict for o in why.observations] == ['created', 'merged']
    assert [c.kind for c in why.changes] == ['CREATED', 'CONFIRMED']
    assert why.settings['merge_score'] == 0.62
    assert '2 sightings went to it' in why.text[0]
    total = why.observations[1].terms['total']
    assert any(f'{total:.2f}' in line for line in why.text)


def test_ch_25_why_was_this_sighting_judged_so(memory: SpatialMemory) -> None:
    mug = show(memory, 0, 'mug', 0)
    bowl = show(memory, 2, 'bowl', 0.3)
    created, other = (memory.history(i)[0] for i in (mug, bowl))
    assert 'No stored object overlapped it' in memory.explain(observation_id=created.id).text[1]
    text = memory.explain(observation_id=other.id).text[1]
    assert f'Against object {mug} it scored' in text and 'under 0.62' in text
    memory.observe(View(START_NS + 9 * SECOND, 'camera', [Detection('fly', 0.1, (9, 9, 9))]))
    assert 'rejected' in memory.explain(observation_id=other.id + 1).text[1]
    with pytest.raises(UnknownObjectError):
        memory.explain(observation_id=99)
    with pytest.raises(InvalidValueError, match='expected one'):
        memory.explain()


def test_what_is_stated_and_seen_is_told_once(memory: SpatialMemory) -> None:
    for k in range(3):
        memory.observe(
            view(100 + 2 * k, seen('fridge', (0, 5, 0.9), size_m=(0.7, 0.7, 1.8)),
                 seen('milk', (0, 5, 1.0), size_m=(0.1, 0.1, 0.2)))
        )  # fmt: skip
    [fridge], [milk] = memory.named('fridge'), memory.named('milk')
    [seen_inside] = [r for r in memory.relations(milk) if r.kind == 'inside']
    assert not seen_inside.stated
    memory.state_relation(milk, 'inside', fridge)
    [told] = [r for r in memory.relations(milk) if r.kind == 'inside']
    assert told.stated
    page = memory.page(relations=True)
    [shown] = [r for r in page.relations(memory.config) if r.kind == 'inside']
    assert shown.stated
