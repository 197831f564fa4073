# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The persistence filter: odds, independent looks, and the states they lead to."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rooms import look
from views import SECOND, seen

from memory_node import Config, Query, SpatialMemory
from memory_node.fusion.presence import BIRTH_ODDS, MOST_ODDS
from memory_node.model import ChangeKind, MemoryObject, State

HALF_LIFE_S = 48 * 3600.0
"""Of a mug."""
THING = seen('mug', (3.0, 0.0, 0.5), size_m=(0.2, 0.2, 0.2))
BOX = ((3.0, 0.0, 0.5), (0.2, 0.2, 0.2))
DETECT, FALSE = 0.9, 0.01
THROUGH = 0.05 / 0.9


def kinds(memory: SpatialMemory) -> list[str]:
    return [c.kind.value for c in memory.changes()]


def the(memory: SpatialMemory) -> MemoryObject:
    (only,) = memory.objects()
    return only


@given(
    st.lists(
        st.tuples(st.sampled_from(['hit', 'through', 'nothing']), st.floats(2.0, 1e6)),
        min_size=1, max_size=6,
    )
)  # fmt: skip
def test_it_is_the_filter_of_rosen_et_al(steps: list[tuple[str, float]]) -> None:
    """Against its two evidences, added up over the time of departure in closed form."""
    there, gone, stamp = BIRTH_ODDS, 1.0, 1000.0
    with SpatialMemory.open(':memory:', Config(absent_misses=100, max_age_s=0)) as memory:
        memory.observe(look(stamp, [THING], [BOX]))
        for kind, pause_s in steps:
            stamp += pause_s
            left = there * (1.0 - 2.0 ** (-pause_s / HALF_LIFE_S))
            there, gone = there - left, gone + left
            if kind == 'hit':
                there, gone = there * DETECT, gone * FALSE
                memory.observe(look(stamp, [THING], [BOX]))
            elif kind == 'through':
                there, gone = there * 0.05, gone * 0.9
                memory.observe(look(stamp, [], []))
            least = 1 / 1024 if kind == 'through' else 0.0
            bounded = min(max(there / gone, least), MOST_ODDS)
            if kind != 'nothing':
                there, gone = bounded, 1.0
        asked = the(memory).presence(round((stamp) * SECOND))
    assert asked == pytest.approx(there / (there + gone), abs=1e-4)


def test_looks_from_one_place_within_a_second_count_once() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(look(1000, [THING], [BOX]))
        for k in range(10):
            memory.observe(look(1005 + k * 0.1, [], []))
        assert kinds(memory) == ['CREATED', 'DOUBTFUL']
        memory.observe(look(1006.5, [], []))
        assert kinds(memory) == ['CREATED', 'DOUBTFUL', 'ABSENT']


def test_from_elsewhere_it_counts_at_once() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(look(1000, [THING], [BOX]))
        memory.observe(look(1005, [], []))
        memory.observe(look(1005.1, [], [], position_m=(0.0, 0.5, 0.5)))
        assert kinds(memory) == ['CREATED', 'DOUBTFUL', 'ABSENT']


@pytest.mark.parametrize(
    ('views', 'check'),
    [
        ({'boxes': [((1.5, 0, 0.5), (0.1, 1, 1))]}, 'occluded'),
        ({'boxes': [BOX]}, 'no_evidence'),
        ({'boxes': [], 'position_m': (-7.0, 0.0, 0.5)}, 'out_of_range'),
        ({'boxes': [], 'position_m': (5.0, 0.0, 0.5)}, 'seen'),
        ({'field_of_view': None}, 'seen'),
    ],
)
def test_ch_w11_not_looked_at_is_not_absent(views: dict[str, Any], check: str) -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(look(1000, [THING], [BOX]))
        for k in range(20):
            memory.observe(look(1100 + 2 * k, [], **views))
        it = the(memory)
        assert (it.state, it.last_check.value) == (State.TENTATIVE, check)
        assert (it.last_checked_ns == 1000 * SECOND) == (check == 'seen')
        assert kinds(memory) == ['CREATED']
        assert memory.check() == []


def test_without_depth_many_more_looks_are_needed() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(look(1000, [THING], [BOX]))
        memory.observe(look(1002, [THING], [BOX]))
        needed = 0
        while the(memory).state is not State.ABSENT:
            needed += 1
            memory.observe(look(1002 + 2 * needed, [], None))
        assert 6 <= needed <= 20
        assert kinds(memory)[-2:] == ['DOUBTFUL', 'ABSENT']


def test_a_hit_brings_it_back_with_a_reason() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(look(1000, [THING], [BOX]))
        for stamp in (1010, 1020, 1030):
            memory.observe(look(stamp, [], []))
        assert the(memory).presence(1030 * SECOND) < 0.15
        commit = memory.observe(look(1040, [THING], [BOX]))
        assert commit.verdicts[0].object_id == 1
        [back] = [c for c in commit.changes if c.kind is ChangeKind.RETURNED]
        assert back.before == {'state': 'absent'} and back.reason
        assert back.object is not None and back.object.state is State.CONFIRMED
        assert the(memory).presence(1040 * SECOND) == pytest.approx(BIRTH_ODDS / (1 + BIRTH_ODDS))
        assert memory.check() == []


def test_another_thing_in_its_place_does_not_bring_it_back() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(look(1000, [THING], [BOX]))
        for stamp in (1010, 1020, 1030):
            memory.observe(look(stamp, [], []))
        other = seen('teapot', (3.0, 0.0, 0.5), size_m=(0.2, 0.2, 0.2))
        (verdict,) = memory.observe(look(1040, [other], [BOX])).verdicts
        assert verdict.object_id == 2
        assert memory.object(1).state is State.ABSENT


def test_a_late_view_changes_no_state() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(look(1000, [THING], [BOX]))
        memory.observe(look(1100, [THING], [BOX]))
        for stamp in (1050, 1060, 1070):
            memory.observe(look(stamp, [], []))
        assert the(memory).state is State.CONFIRMED
        assert the(memory).last_checked_ns == 1100 * SECOND


def test_presence_off() -> None:
    with SpatialMemory.open(':memory:', Config(presence=False)) as memory:
        memory.observe(look(1000, [THING], [BOX]))
        for stamp in (1010, 1020, 1030):
            memory.observe(look(stamp, [], []))
        assert kinds(memory) == ['CREATED']


def test_queries_ask_for_a_time_and_for_presence() -> None:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(look(1000, [THING, seen('table', (3, 2, 0.5))], [BOX]))
        later = 1000 * SECOND + round(3 * HALF_LIFE_S * SECOND)
        now, then = (memory.query(Query(text='mug', at_ns=at))[0] for at in (None, later))
        assert now.presence == pytest.approx(BIRTH_ODDS / (1 + BIRTH_ODDS))
        assert then.presence == pytest.approx(now.presence / 8, rel=1e-6)
        assert then.presence == pytest.approx(then.object.presence(later))
        left = memory.query(Query(min_presence=0.5, at_ns=later))
        assert [hit.object.label for hit in left] == ['table']
        assert math.isclose(memory.query(Query(text='mug'))[0].presence, now.presence), 'CH-V1'
