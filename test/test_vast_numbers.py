# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Whole numbers beyond all floats: refused like any other that cannot be meant, nothing is lost."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from views import seen, view

from memory_node import Pose, Query, SpatialMemory
from memory_node.errors import InvalidValueError

VAST = 10**400


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(view(1000, seen('cup', feature=[1.0, 0.0])))
        yield memory


@pytest.mark.parametrize(
    ('field', 'value'),
    [
        ('score', VAST), ('center_m', (VAST, 0, 0)), ('size_m', (1, VAST, 1)),
        ('orientation_xyzw', (0, 0, 0, VAST)), ('feature', [VAST, 0]),
    ],
)  # fmt: skip
def test_c14_a_detection_with_one_touches_no_other(
    memory: SpatialMemory, field: str, value: Any
) -> None:
    bad = dataclasses.replace(seen('book', (3.0, 0.0, 0.0)), **{field: value})
    first, second = memory.observe(view(1001, bad, seen('cup'))).verdicts
    assert (first.object_id, first.reason) == (None, 'bad_type')
    assert second.object_id == 1


def test_c14_a_covariance_with_one_is_unknown(memory: SpatialMemory) -> None:
    bad = dataclasses.replace(seen('cup'), position_cov=[VAST] * 9)
    assert memory.observe(view(1001, bad)).verdicts[0].object_id == 1
    assert (
        memory.observe(view(1002, seen('cup'), localization_cov=[VAST] * 36)).verdicts[0].object_id
    )


def test_a_pose_with_one_costs_the_view_and_says_so(memory: SpatialMemory) -> None:
    pose = Pose((VAST, 0, 0), (0, 0, 0, 1))
    assert memory.observe(view(1001, seen('cup'), sensor_pose=pose)).refused == 'bad_pose'


@pytest.mark.parametrize(
    'query',
    [
        Query(near_m=(0, 0, 0), radius_m=VAST), Query(near_m=(VAST, 0, 0), radius_m=1.0),
        Query(seen_since_ns=VAST), Query(at_ns=VAST), Query(feature=[VAST, 0]),
        Query(min_score=VAST), Query(moved_m=VAST), Query(limit=VAST), Query(offset=VAST),
        Query(ids=[VAST]),
        Query(as_of_ns=VAST), Query(known_at=VAST), Query(box_m=((VAST, 0, 0), (1, 1, 1))),
    ],
)  # fmt: skip
def test_a_query_with_one_is_refused_by_name(memory: SpatialMemory, query: Query) -> None:
    with pytest.raises(InvalidValueError, match=': got'):
        memory.query(query)


@pytest.mark.parametrize(
    ('call', 'name'),
    [
        (lambda m: m.correct_pose(1, (VAST, 0, 0)), 'center_m'),
        (lambda m: m.correct_size(1, (VAST, 1, 1)), 'size_m'),
        (lambda m: m.state_object('cup', (VAST, 0, 0)), 'center_m'),
        (lambda m: m.placed(1, (VAST, 0, 0)), 'center_m'),
        (lambda m: m.record_event('door_opened', stamp_ns=VAST), 'stamp_ns'),
        (lambda m: m.set_property(1, 'owner', 'Ann', recorded_ns=VAST), 'recorded_ns'),
        (lambda m: m.forget(1, recorded_ns=-1), 'recorded_ns'),
        (lambda m: m.declare_absent(1, recorded_ns=VAST), 'recorded_ns'),
        (lambda m: m.picked(1, stamp_ns=VAST), 'stamp_ns'),
        (lambda m: m.purge(object_id=1, recorded_ns=VAST), 'recorded_ns'),
        (lambda m: m.observe(view(1001, seen('cup')), recorded_ns=VAST), 'recorded_ns'),
        (lambda m: m.observe(view(1001, seen('cup')), recorded_ns=-1), 'recorded_ns'),
        (lambda m: m.observe(view(1001, seen('cup')), recorded_ns=1e9), 'recorded_ns'),
    ],
)
def test_an_edit_with_one_is_refused_by_name(
    memory: SpatialMemory, call: Callable[[SpatialMemory], Any], name: str
) -> None:
    seq = memory.seq
    with pytest.raises(InvalidValueError, match=f'{name}: got'):
        call(memory)
    assert memory.seq == seq
    assert memory.observe(view(1001, seen('cup'))).verdicts[0].object_id == 1
