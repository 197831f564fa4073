# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What changed, grouped by region and kind (CH-40): each test holds what must stay out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from views import SECOND, seen, view

from memory_node import Config, SpatialMemory
from memory_node.errors import InvalidValueError
from memory_node.model import WhatChanged

MUG, BOOK = 1, 2


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    """A mug in the kitchen and a book in the office, each seen twice in a first visit."""
    with SpatialMemory.open(':memory:') as opened:
        opened.set_region('kitchen', 'room', ((0, 0, 0), (5, 5, 3)))
        opened.set_region('office', 'room', ((10, 0, 0), (15, 5, 3)))
        for second in (0, 2):
            opened.observe(view(1000 + second, seen('mug', (1, 1, 1)), seen('xbook', (11, 1, 1))))
        yield opened


def shown(found: WhatChanged) -> dict[tuple[str, str], list[int | None]]:
    """(region, kind) → objects, oldest first."""
    for group in found.groups:
        assert group.count >= len(group.changes) == len(group.versions)
    return {(g.region, g.kind.value): [c.object_id for c in g.changes] for g in found.groups}


def test_grouped_by_region_and_kind_in_this_order(memory: SpatialMemory) -> None:
    memory.observe(view(1003, seen('lamp', (30, 1, 1))))
    found = memory.what_changed(since_seq=2)
    assert shown(found) == {
        ('kitchen', 'CREATED'): [MUG], ('kitchen', 'CONFIRMED'): [MUG],
        ('office', 'CREATED'): [BOOK], ('office', 'CONFIRMED'): [BOOK],
        ('', 'CREATED'): [3],
    }  # fmt: skip
    assert [*shown(found)] == sorted(
        shown(found), key=lambda k: (k[0] == '', k[0], k[1] == 'CONFIRMED')
    )
    assert (found.since_seq, found.since_ns) == (2, None)


def test_what_was_there_before_stays_out(memory: SpatialMemory) -> None:
    assert memory.what_changed(since_seq=memory.seq).groups == ()
    assert memory.what_changed(since_ns=1003 * SECOND).groups == ()
    seq = memory.seq
    memory.correct_label(MUG, 'cup')
    memory.forget(BOOK)
    memory.record_event('door_opened')
    memory.set_region('office', 'hall', ((10, 0, 0), (15, 5, 3)))
    expected = {
        ('kitchen', 'CORRECTED'): [MUG], ('office', 'FORGOTTEN'): [BOOK],
        ('office', 'REGION'): [None], ('', 'EVENT'): [None],
    }  # fmt: skip
    assert shown(memory.what_changed(since_seq=seq)) == expected
    since = memory.what_changed(since_ns=1002 * SECOND)
    assert (since.since_seq, since.since_ns) == (None, 1002 * SECOND)
    assert shown(since) == {
        **expected, ('kitchen', 'CONFIRMED'): [MUG], ('office', 'CONFIRMED'): [BOOK],
    }  # fmt: skip


def test_what_has_moved_is_where_it_went(memory: SpatialMemory) -> None:
    seq = memory.seq
    memory.picked(MUG)
    memory.placed(MUG, (12, 2, 1))
    found = memory.what_changed(since_seq=seq)
    assert shown(found) == {('kitchen', 'HELD'): [MUG], ('office', 'MOVED'): [MUG]}
    [moved] = [g for g in found.groups if g.region == 'office']
    assert moved.changes[0].from_m == (1, 1, 1)
    assert moved.versions[0] is not None and moved.versions[0].center_m == (12, 2, 1)
    assert moved.versions[0].label == 'mug'


def test_in_a_region_and_its_parts_and_of_some_kinds(memory: SpatialMemory) -> None:
    memory.set_region('shelf', 'place', ((10, 0, 0), (12, 2, 2)), parent='kitchen')
    memory.observe(view(1003, seen('vase', (14, 1, 1))))
    found = memory.what_changed(since_seq=2, region='KITCHEN', kinds=['CREATED'])
    assert shown(found) == {('kitchen', 'CREATED'): [MUG], ('shelf', 'CREATED'): [BOOK]}
    found = memory.what_changed(since_seq=2, region='office')
    assert shown(found) == {('office', 'CREATED'): [3]}
    with pytest.raises(InvalidValueError, match="region: got 'cellar'"):
        memory.what_changed(since_seq=2, region='cellar')


def test_the_newest_of_a_group_and_how_many_there_are(memory: SpatialMemory) -> None:
    for number in range(5):
        memory.set_property(MUG, 'full', number)
    [group] = memory.what_changed(since_seq=6, kinds=['CORRECTED'], limit=2).groups
    assert group.count == 5
    assert [c.after['value'] for c in group.changes] == [3, 4]


def test_since_the_last_visit_is_since_the_last_view_before_the_gap(memory: SpatialMemory) -> None:
    assert memory.what_changed().since_seq == 0, 'there was no other visit: all is new'
    memory.forget(BOOK)
    left = memory.seq - 1  # a visit ends with its last view, so what was said since counts too
    gap_s = memory.config.visit_gap_s
    memory.observe(view(1002 + gap_s - 1))
    assert memory.what_changed().since_seq == 0
    memory.configure(Config(visit_gap_s=gap_s - 2))
    memory.observe(view(1003 + gap_s, seen('lamp', (2, 2, 1))))
    found = memory.what_changed()
    assert found.since_seq == left
    assert shown(found) == {
        ('kitchen', 'CREATED'): [3], ('office', 'FORGOTTEN'): [BOOK],
    }  # fmt: skip


@pytest.mark.parametrize(
    ('given', 'name'),
    [
        ({'since_ns': 1, 'since_seq': 1}, 'since_ns'),
        ({'since_ns': -1}, 'since_ns'),
        ({'since_seq': 1.5}, 'since_seq'),
        ({'since_seq': 2**63}, 'since_seq'),
        ({'kinds': ['VIEW']}, 'kinds'),
        ({'kinds': 'MOVED'}, 'kinds'),
        ({'kinds': [7]}, 'kinds'),
        ({'limit': 0}, 'limit'),
        ({'limit': 10**9}, 'limit'),
        ({'region': '\x00'}, 'region'),
    ],
)
def test_bad_values_are_refused_by_name(
    memory: SpatialMemory, given: dict[str, Any], name: str
) -> None:
    with pytest.raises(InvalidValueError, match=f'^{name}: got .*expected'):
        memory.what_changed(**given)
