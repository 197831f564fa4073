# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Each test puts in what must stay out, and asserts the exact set that is found (CH-47)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from views import seen, stream, view

from memory_node import Query, SpatialMemory
from memory_node.checks import MAX_TEXT
from memory_node.errors import InvalidValueError
from memory_node.model import Order
from memory_node.recall import query as recall
from memory_node.recall.words import label_score, words

NAN, INF = float('nan'), float('inf')


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    with SpatialMemory.open(':memory:') as opened:
        yield opened


def fill(memory: SpatialMemory, *labels: str) -> None:
    """One object for each label, with the ids 1, 2, 3, … in their order, 10 m apart."""
    for k, label in enumerate(labels):
        memory.observe(view(1000 + k / 10, seen(label, (10.0 * k, 0, 0))))


def found(memory: SpatialMemory, text: str = '', **more: Any) -> list[str]:
    return [hit.object.label for hit in memory.query(Query(text=text, **more))]


# -- words -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('asked', 'expected'),
    [
        ('table', ['table', 'coffee table']),
        ('able', []),
        ('tab', []),
        ('TABLE', ['table', 'coffee table']),
        ('  table ', ['table', 'coffee table']),
        ('coffee table', ['coffee table']),
        ('table coffee', ['coffee table']),
        ('coffee', ['coffee table']),
        ('coffee mug', ['mug']),  # a listed name
        ('table mug', ['mug', 'table', 'coffee table']),  # alike, see test_rank.py
        ('chair', []),
        ('!?', []),
    ],
)
def test_words_of_a_label_are_whole_words(
    memory: SpatialMemory, asked: str, expected: list[str]
) -> None:
    """CH-47: able is no table."""
    fill(memory, 'table', 'tablet', 'stable', 'coffee table', 'mug')
    assert found(memory, asked) == expected


@pytest.mark.parametrize('asked', ['mug', 'mugs', 'Mugs'])
def test_one_or_many(memory: SpatialMemory, asked: str) -> None:
    fill(memory, 'mug', 'mugs', 'smug', 'mud', 'muggle')
    assert found(memory, asked) == ['mug', 'mugs']


@pytest.mark.parametrize(
    ('one', 'many'),
    [('box', 'boxes'), ('dish', 'dishes'), ('watch', 'watches'), ('glass', 'glasses')],
)
def test_plurals_with_es(memory: SpatialMemory, one: str, many: str) -> None:
    fill(memory, one, many, 'other')
    assert set(found(memory, one)) == set(found(memory, many)) == {one, many}


@pytest.mark.parametrize('asked', ['bus', 'glass', 'gas', 'tennis', 'cactus'])
def test_words_that_only_look_like_many(memory: SpatialMemory, asked: str) -> None:
    fill(memory, asked, asked[:-1], f'{asked[:-2]}')
    assert found(memory, asked) == [asked]


@pytest.mark.parametrize('asked', ['coffee machine', 'CoffeeMachine', 'coffee_machine', 'machine'])
def test_names_in_camel_case_have_words(memory: SpatialMemory, asked: str) -> None:
    fill(memory, 'CoffeeMachine', 'coffee_machine', 'CoffeeTable', 'mach', 'coffeemachinery')
    assert set(found(memory, asked)) == {'CoffeeMachine', 'coffee_machine'}


def test_words_by_hand() -> None:
    assert words('TVStand') == ('tv', 'stand')
    assert words('desk-2') == ('desk', '2')
    assert words('desk2B') == ('desk', '2', 'b')
    assert words('Kaffeemühle') == ('kaffeemühle',)
    assert words('KücheÖfen') == ('küche', 'öfen')
    assert words(
        'コーヒー',
    ) == ('コーヒー',)
    assert words('') == ()


@pytest.mark.parametrize(
    ('asked', 'expected'),
    [
        ('kühlschrank', ['Kühlschrank']),
        ('hlschrank', []),
        ('k', []),
        ('caf', []),
        ('café', ['café']),
    ],
)
def test_words_in_other_alphabets_are_whole_too(
    memory: SpatialMemory, asked: str, expected: list[str]
) -> None:
    fill(memory, 'Kühlschrank', 'café')
    assert found(memory, asked) == expected


def test_a_label_of_no_words_is_found_by_itself(memory: SpatialMemory) -> None:
    fill(memory, '???', '!', 'mug')
    assert found(memory, '???') == ['???']


def test_the_label_itself_comes_before_one_that_holds_it(memory: SpatialMemory) -> None:
    fill(memory, 'round coffee table', 'coffee table', 'table', 'lamp')
    assert found(memory, 'table') == ['table', 'coffee table', 'round coffee table']
    scores = [hit.score for hit in memory.query(Query(text='table'))]
    # the label; a listed kind of it; that with a word for how it is
    assert scores == pytest.approx([1.0, 0.9, 0.85])


def test_label_scores() -> None:
    assert label_score('mug', 'Mug') == label_score('mugs', 'mug') == 1.0
    assert label_score('coffee machine', 'CoffeeMachine') == 1.0
    assert label_score('mug', 'mug tree') == pytest.approx(0.5 + 0.5 / 3)
    assert label_score('mug tree', 'mug') == label_score('', 'mug') == 0.0


# -- evidence --------------------------------------------------------------------------------


@pytest.mark.parametrize(('stools', 'expected'), [(3, []), (4, ['chair']), (5, ['chair'])])
def test_c19_a_label_is_found_while_it_holds_a_fifth_of_the_evidence(
    memory: SpatialMemory, stools: int, expected: list[str]
) -> None:
    """16 chairs at 0.6 are 9.6; 3, 4, 5 stools at 0.6 are 15.8 %, 20 %, 23.8 % of all."""
    for k in range(16 + stools):
        label = 'chair' if k < 16 else 'stool'
        memory.observe(view(1000 + k, seen(label, score=0.6), seen('lamp', (9, 9, 9))))
    assert found(memory, 'stool') == expected
    assert found(memory, 'chair') == ['chair']
    assert len(memory.objects()) == 2


def test_one_chair_in_five_is_a_fifth(memory: SpatialMemory) -> None:
    """0.6 of 3.0 is 20 %, whatever floating point makes of 0.2 · 3.0."""
    for k, label in enumerate(['chair', 'stool', 'stool', 'stool', 'stool']):
        memory.observe(view(1000 + k, seen(label, score=0.6)))
    assert found(memory, 'chair') == found(memory, 'stool') == ['stool']


def test_a_label_beyond_the_slots_is_found_too(memory: SpatialMemory) -> None:
    """Five labels with a fifth each: one of them has no place in the record."""
    others = dict.fromkeys(('bowl', 'cup', 'dish', 'ewer'), 0.5)
    memory.observe(view(1000, seen('amphora', score=0.5, alternatives=others)))
    memory.observe(view(1000, seen('vase', (9, 0, 0))))
    for label in ('amphora', *others):
        assert found(memory, label) == ['amphora'], label


def test_a_label_that_came_late_but_won_is_found(memory: SpatialMemory) -> None:
    junk = dict.fromkeys(('bowl', 'cup', 'dish'), 0.2)
    memory.observe(view(1000, seen('amphora', score=0.3, alternatives=junk)))
    for k in range(4):
        memory.observe(view(1001 + k, seen('vase', score=0.9)))
    assert found(memory, 'vase') == ['vase']
    assert found(memory, 'amphora') == found(memory, 'bowl') == []


# -- the order -------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(0, 60),
    limit=st.integers(1, 70),
    values=st.integers(1, 6),
)
def test_the_first_are_those_of_a_whole_sort(
    seed: int, count: int, limit: int, values: int
) -> None:
    """However many tie in the first key, in the first two, or in none."""
    random = np.random.default_rng(seed)
    first, second = random.integers(values, size=(2, 2 * count)).astype(np.float64)
    third = random.permutation(2 * count)
    found = np.sort(random.permutation(2 * count)[:count])
    whole = found[np.lexsort([third[found], second[found], first[found]])]
    keys = [column.__getitem__ for column in (first, second, third)]
    assert recall._first(found, keys, limit).tolist() == whole[:limit].tolist()


@pytest.mark.parametrize('order', list(Order))
@pytest.mark.parametrize('limit', [1, 7, 1000])
def test_the_limit_only_cuts_what_is_found(memory: SpatialMemory, order: Order, limit: int) -> None:
    """Also where a label beyond the slots counts, where all tie, and after one came back."""
    for one in stream(5, 80):
        memory.observe(one)
    memory.forget(3)
    memory.restore(3)  # its row is now the last, its id is not
    feature = np.arange(8, dtype=np.float32)
    for more in ({}, {'text': 'chair'}, {'feature': feature}, {'labels': ['mug', 'lamp']}):
        every = memory.query(Query(order=order, limit=1000, **more))
        assert 1 < len(every) == every.total
        cut = memory.query(Query(order=order, limit=limit, **more))
        assert list(cut) == list(every)[:limit]
        assert cut.total == every.total
    key = {
        Order.RELEVANCE: lambda hit: (-hit.score, hit.object.id),
        Order.RECENT: lambda hit: (-hit.object.last_seen_ns, -hit.score, hit.object.id),
    }.get(order)
    if key:
        assert list(every) == sorted(every, key=key)


# -- place -----------------------------------------------------------------------------------


def test_near_is_sorted_by_distance_then_id(memory: SpatialMemory) -> None:
    for label, x in (('c', 2.0), ('b', -1.0), ('a', 1.0), ('d', 0.0)):
        memory.observe(view(1000, seen(label, (x, 5, 5))))
    memory.observe(view(1000, seen('far', (0, 7.001, 5))))
    hits = memory.query(Query(near_m=(0, 5, 5), radius_m=2.0))
    assert [hit.object.label for hit in hits] == ['d', 'b', 'a', 'c']
    assert [hit.terms['distance_m'] for hit in hits] == [0.0, 1.0, 1.0, 2.0]
    assert [hit.score for hit in hits] == [1.0, 0.5, 0.5, 0.0]  # 1 − d / radius (CH-36)


def test_near_is_a_ball_of_centres_in_three_dimensions(memory: SpatialMemory) -> None:
    for label, center in (
        ('in', (0.6, 0.0, 0.8)),
        ('corner of the cube', (0.9, 0.9, 0.9)),
        ('above', (0, 0, 1.1)),
    ):
        memory.observe(view(1000, seen(label, center)))
    memory.observe(view(1000, seen('its box only', (2, 0, 0), size_m=(3, 3, 3))))
    assert found(memory, near_m=(0, 0, 0), radius_m=1.0) == ['in']


def test_near_and_text_both_must_hold(memory: SpatialMemory) -> None:
    for label, x in (('mug', 1.0), ('mug', 9.0), ('cup', 0.5), ('mug tree', 0.1)):
        memory.observe(view(1000, seen(label, (x, 0, 0))))
    hits = memory.query(Query(text='mug', near_m=(0, 0, 0), radius_m=2.0))
    # mug: 1·(1 − 1/2) = 0.5; mug tree: (0.5 + 0.5/3)·(1 − 0.1/2) = 0.6333.
    assert [(hit.object.label, hit.object.center_m[0]) for hit in hits] == [
        ('mug tree', 0.1),
        ('mug', 1.0),
    ]
    assert [hit.score for hit in hits] == pytest.approx([0.63333, 0.5], abs=1e-5)


@pytest.mark.parametrize('point', [[1, 0, 1], (1.0, 0.0, 1.0), np.array([1, 0, 1], np.float32)])
def test_points_of_many_types(memory: SpatialMemory, point: Any) -> None:
    memory.observe(view(1000, seen('mug', (1, 0, 1)), seen('cup', (3, 0, 1))))
    assert found(memory, near_m=point, radius_m=1) == ['mug']


# -- the rest --------------------------------------------------------------------------------


def test_states(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen('mug', (0, 0, 0)), seen('cup', (5, 0, 0))))
    memory.observe(view(1002, seen('cup', (5, 0, 0))))
    assert found(memory, states=['tentative']) == ['mug']
    assert found(memory, states=['confirmed']) == ['cup']
    assert set(found(memory)) == {'mug', 'cup'}
    assert set(found(memory, states=('confirmed', 'tentative'))) == {'mug', 'cup'}


def test_what_was_forgotten_stays_out(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen('mug', (0, 0, 0)), seen('mug', (5, 0, 0))))
    memory.forget(1)
    assert [hit.object.id for hit in memory.query(Query(text='mug'))] == [2]
    assert [hit.object.id for hit in memory.query(Query(near_m=(0, 0, 0), radius_m=9))] == [2]


def test_the_limit_cuts_the_list_not_the_total(memory: SpatialMemory) -> None:
    memory.observe(view(1000, *(seen('mug', (k, 0, 0)) for k in range(15)), seen('cup')))
    for limit in (1, 10, 14):
        hits = memory.query(Query(text='mug', limit=limit))
        assert [hit.object.id for hit in hits] == list(range(2, 2 + limit))  # the cup is 1
        assert hits.total == 15
    assert len(memory.query(Query())) == 10
    assert len(memory.query(Query(limit=1000))) == 16


def test_c14_an_empty_memory_answers_with_an_empty_list(memory: SpatialMemory) -> None:
    for query in (Query(), Query(text='mug'), Query(near_m=(0, 0, 0), radius_m=1, limit=5)):
        hits = memory.query(query)
        assert list(hits) == []
        assert hits.total == 0


@pytest.mark.parametrize(
    ('values', 'name'),
    [
        ({'text': None}, 'text'),
        ({'text': 7}, 'text'),
        ({'text': 'x' * (MAX_TEXT + 1)}, 'text'),
        ({'limit': 0}, 'limit'),
        ({'limit': -1}, 'limit'),
        ({'limit': 1001}, 'limit'),
        ({'limit': 2.5}, 'limit'),
        ({'limit': True}, 'limit'),
        ({'limit': None}, 'limit'),
        ({'near_m': (NAN, 0, 0), 'radius_m': 1}, 'near_m'),
        ({'near_m': (0, INF, 0), 'radius_m': 1}, 'near_m'),
        ({'near_m': (0, 0), 'radius_m': 1}, 'near_m'),
        ({'near_m': (0, 0, 0, 0), 'radius_m': 1}, 'near_m'),
        ({'near_m': ((0, 0, 0),), 'radius_m': 1}, 'near_m'),
        ({'near_m': ('a', 0, 0), 'radius_m': 1}, 'near_m'),
        ({'near_m': (None, 0, 0), 'radius_m': 1}, 'near_m'),
        ({'near_m': ((1, 2), 0, 0), 'radius_m': 1}, 'near_m'),
        ({'near_m': 'here', 'radius_m': 1}, 'near_m'),
        ({'near_m': {}, 'radius_m': 1}, 'near_m'),
        ({'near_m': (0, 0, 0)}, 'radius_m'),
        ({'near_m': (0, 0, 0), 'radius_m': -1}, 'radius_m'),
        ({'near_m': (0, 0, 0), 'radius_m': NAN}, 'radius_m'),
        ({'near_m': (0, 0, 0), 'radius_m': INF}, 'radius_m'),
        ({'near_m': (0, 0, 0), 'radius_m': 'far'}, 'radius_m'),
        ({'near_m': (0, 0, 0), 'radius_m': None}, 'radius_m'),
        ({'radius_m': 2.0}, 'radius_m'),
        ({'states': ['lost']}, 'states'),
        ({'states': ['confirmed', '']}, 'states'),
        ({'states': [7]}, 'states'),
        ({'states': [[]]}, 'states'),
        ({'states': 'confirmed'}, 'states'),
        ({'states': None}, 'states'),
        ({'states': 5}, 'states'),
    ],
)
def test_c14_a_malformed_value_is_named_and_costs_nothing_else(
    memory: SpatialMemory, values: dict[str, Any], name: str
) -> None:
    fill(memory, 'mug', 'cup')
    with pytest.raises(InvalidValueError, match=rf'^{name}: got .*expected'):
        memory.query(Query(**values))
    assert found(memory, 'mug') == ['mug']
