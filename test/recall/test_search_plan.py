# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Where to look next: last and past places, habits, priors, less what was just checked."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from views import seen, view

from memory_node import Config, SpatialMemory
from memory_node.errors import InvalidValueError, ObjectEndedError, UnknownObjectError
from memory_node.recall.search_plan import SearchPlan

HOUR = 3_600_000_000_000
FURNITURE = (
    seen('table', (0, 0, 0.4), size_m=(1, 1, 0.8)),
    seen('desk', (5, 0, 0.4), size_m=(1, 1, 0.8)),
    seen('fridge', (9, 0, 0.9), size_m=(0.7, 0.7, 1.8)),
)
ON_TABLE, ON_DESK = (0.0, 0.1, 0.85), (5.0, 0.1, 0.85)


@pytest.fixture
def memory():
    with SpatialMemory.open(':memory:') as opened:
        yield opened


def look(memory: SpatialMemory, second: float, *things) -> None:
    memory.observe(view(second, *FURNITURE, *things))


def sums_to_one(plan: SearchPlan) -> bool:
    assert all(0 < place.probability <= 1 for place in plan.places)
    chances = [place.probability for place in plan.places]
    assert chances == sorted(chances, reverse=True)
    return math.isclose(sum(chances) + plan.elsewhere, 1, abs_tol=1e-6)


def test_first_where_it_was_seen_last(memory: SpatialMemory) -> None:
    for k in range(3):
        look(memory, 1 + 2 * k, seen('mug', ON_TABLE, size_m=(0.1, 0.1, 0.1)))
    plan = memory.plan_search('mug')
    first = plan.places[0]
    assert (first.source, first.receptacle_label, first.object_id) == (
        'last', 'table', *memory.named('mug'),
    )  # fmt: skip
    assert first.position_m == pytest.approx(ON_TABLE) and first.probability > 0.9
    assert sums_to_one(plan) and plan.total == len(plan.places)
    later = memory.plan_search('mug', at_ns=int(5e9) + 240 * HOUR)
    assert later.places[0].probability < 0.2, 'half of all mugs leave within two days'
    assert sums_to_one(later)
    assert memory.plan_search(object_id=first.object_id) == plan


def test_then_where_it_was_before_and_not_where_it_was_just_missed(memory: SpatialMemory) -> None:
    for k in range(3):
        look(memory, 1 + 2 * k, seen('mug', ON_TABLE, size_m=(0.1, 0.1, 0.1)))
    [mug] = memory.named('mug')
    memory.correct_pose(mug, ON_DESK)
    memory.unpin(mug, ['pose'])
    plan = memory.plan_search(object_id=mug, at_ns=int(7e9) + 100 * HOUR)
    by_source = {place.source: place for place in plan.places}
    assert by_source['last'].receptacle_label == 'desk'
    assert by_source['past'].receptacle_label == 'table'
    assert by_source['past'].position_m == pytest.approx(ON_TABLE, abs=0.01)
    look(memory, 20)
    at_ns = int(21e9)
    checked = memory.plan_search(object_id=mug, at_ns=at_ns)
    assert sums_to_one(checked)
    past = next(p for p in checked.places if p.source == 'past')
    assert past.last_checked_ns == int(20e9)
    rest = 1 - next(p.probability for p in checked.places if p.source == 'last')
    unchecked = next(p for p in plan.places if p.source == 'past').probability
    spread = 1 - by_source['last'].probability
    assert past.probability / rest < unchecked / spread, 'it was seen without it'


def test_habits_and_priors_for_what_was_never_seen(memory: SpatialMemory) -> None:
    for k in range(3):
        look(memory, 1 + 2 * k, seen('Egg', (9, 0, 1.0), size_m=(0.06, 0.06, 0.06)))
    plan = memory.plan_search('Lettuce', limit=1000)
    assert sums_to_one(plan)
    assert {place.source for place in plan.places} == {'prior'}
    assert plan.places[0].receptacle_label == 'fridge', plan.places
    assert plan.places[0].last_checked_ns == 0, 'a closed fridge says nothing of what is in it'
    assert next(p for p in plan.places if p.receptacle_label == 'table').last_checked_ns > 0
    nothing = memory.plan_search('xyzzy')
    assert nothing.elsewhere > 0.95 and sums_to_one(nothing), 'anywhere, most likely elsewhere'
    assert {place.receptacle_label for place in nothing.places} == {'table', 'desk', 'fridge'}


def test_others_of_its_kind_say_where_such_things_are_kept(memory: SpatialMemory) -> None:
    for k in range(3):
        look(memory, 1 + 2 * k, seen('gizmo', ON_DESK, size_m=(0.1, 0.1, 0.1)),
             seen('gizmo', (5.3, 0.1, 0.85), size_m=(0.1, 0.1, 0.1)),
             seen('gizmo', (2, 3, 0.05), size_m=(0.1, 0.1, 0.1)))  # fmt: skip
    ids = memory.named('gizmo')
    lost = next(i for i in ids if memory.object(i).center_m[0] < 3)
    plan = memory.plan_search(object_id=lost)
    [habit] = [place for place in plan.places if place.source == 'habit']
    assert habit.receptacle_label == 'desk' and '2 other' in habit.reason


def test_the_nearer_of_equals_first_and_a_limit(memory: SpatialMemory) -> None:
    twins = [seen('safe', (x, 0, 0.5), size_m=(0.5, 0.5, 1.0)) for x in (0, 4)]
    for k in range(3):
        memory.observe(view(1 + 2 * k, *twins))
    for x in (0, 4):
        plan = memory.plan_search('safe', from_m=(x, 1, 0), limit=1)
        assert plan.places[0].position_m[0] == x and plan.total == 2 and len(plan.places) == 1


def test_what_was_forgotten_or_held(memory: SpatialMemory) -> None:
    for k in range(3):
        look(memory, 1 + 2 * k, seen('mug', ON_TABLE, size_m=(0.1, 0.1, 0.1)))
    [mug] = memory.named('mug')
    memory.picked(mug)
    [place] = memory.plan_search(object_id=mug).places
    assert place.probability == 1 and 'holds' in place.reason
    memory.forget(mug)
    with pytest.raises(ObjectEndedError):
        memory.plan_search(object_id=mug)
    assert 'last' not in {place.source for place in memory.plan_search('mug').places}


@pytest.mark.parametrize(
    ('arguments', 'word'),
    [
        ({}, 'expected one of them'), ({'text': 'mug', 'object_id': 1}, 'one of them'),
        ({'text': 'a' * 100_000}, 'text'), ({'text': 'a\x00b'}, 'text'), ({'text': '  '}, 'text'),
        ({'text': 'mug', 'limit': 0}, 'limit'), ({'text': 'mug', 'limit': 10**9}, 'limit'),
        ({'text': 'mug', 'at_ns': -1}, 'at_ns'), ({'text': 'mug', 'at_ns': 2**63}, 'at_ns'),
        ({'text': 'mug', 'from_m': (math.nan, 0, 0)}, 'from_m'),
    ],
)  # fmt: skip
def test_bad_requests(memory: SpatialMemory, arguments: dict, word: str) -> None:
    with pytest.raises(InvalidValueError, match=word):
        memory.plan_search(**arguments)
    for number in (7, 0, -1, 2**63, 2**64):
        with pytest.raises(UnknownObjectError):
            memory.plan_search(object_id=number)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(['mug', 'cup', 'book', 'bowl', 'Apple']),
                       st.floats(-3, 8), st.floats(-1, 1), st.floats(0, 1)), max_size=6),
    st.integers(0, 10**6), st.sampled_from(['mug', 'bowl', 'apple', 'table', 'nothing']),
)  # fmt: skip
def test_all_that_is_said_sums_to_one(things: list, later_s: int, text: str) -> None:
    with SpatialMemory.open(':memory:', Config()) as memory:
        for k in range(4):
            some = things[k % 2 :]
            look(memory, 1 + 30 * k, *[
                seen(label, (x, y, z), size_m=(0.1, 0.1, 0.1)) for label, x, y, z in some
            ])  # fmt: skip
        plan = memory.plan_search(text, at_ns=int(1e9) * (100 + later_s), limit=1000)
        assert sums_to_one(plan)
        assert plan == memory.plan_search(text, at_ns=int(1e9) * (100 + later_s), limit=1000)
