# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What sightings count for, by hand and beside the interpreted loops."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted
from sightings import sightings

from memory_node.fusion import counting
from memory_node.fusion.world import OBJECT

SOURCE = interpreted('fusion/counting')
LOOK = SimpleNamespace(
    seq=3, stamp_ns=5, position=np.ones(3), axis=np.array([0, 0, 1.0]), map_number=2
)
BOTH = pytest.mark.parametrize('module', [counting, SOURCE], ids=['installed', 'interpreted'])
SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
def test_compiled_and_interpreted_agree_to_the_last_bit(seed: int) -> None:
    found = []
    for module in (counting, SOURCE):
        old, evidence, matched = sightings(seed)
        weight, speaks = np.empty(len(old)), np.empty(len(old), np.uint8)
        kept, unknown = np.empty(len(old), np.uint8), np.empty(len(old), np.uint8)
        state, label = old['state'].copy(), old['label'].copy()
        limits = (0.2, 0.3, 5, 0.02)
        module.weigh(old, matched, evidence, evidence.score, 5, limits, weight, speaks, kept)
        numbers = np.arange(len(old), dtype=np.int32)
        module.add_labels(old, matched, numbers, evidence.score, unknown)
        module.choose_labels(old, 1.2)
        module.count_sightings(
            old, matched, evidence.score, 0.5, LOOK, (2.0, 0.3, 0.9), 2, (0, 1)
        )  # fmt: skip
        changed, new = np.empty((3, len(old)), np.uint8), np.zeros(2, OBJECT)
        module.note_changes(old, state, label, 0.1, 0.1, changed)
        module.bear(new, matched[:2], evidence, numbers, 7, LOOK, 3)
        written = (old, new, weight, speaks, kept, unknown, changed)
        found.append([values.tobytes() for values in written])
    assert found[0] == found[1]


@BOTH
def test_a_late_or_doubtful_sighting_may_not_rewrite(module) -> None:
    old = np.zeros(3, OBJECT)
    old['observations'], old['last_seen_ns'] = [1, 9, 1], [10, 10, 11]
    evidence = SimpleNamespace(score=np.array([0.3, 0.29, 0.9]), has_feature=np.ones(3, bool))
    weight, speaks, kept = np.empty(3), np.empty(3, np.uint8), np.empty(3, np.uint8)
    module.weigh(
        old, np.arange(3), evidence, np.ones(3), 10, (0.2, 0.3, 5, 0.02), weight, speaks, kept
    )
    assert weight.tolist() == [0.5, 0.2, 0.5]
    assert speaks.tolist() == [1, 0, 0]
    assert kept.tolist() == [1, 0, 0]


@BOTH
def test_the_first_features_and_those_that_move_it_are_kept(module) -> None:
    old = np.zeros(5, OBJECT)
    old['observations'] = [4, 5, 5, 5, 4]
    old['has_feature'] = [True, True, True, False, True]
    cosine = np.array([1.0, 1.0, 0.0, np.nan, 1.0])
    evidence = SimpleNamespace(score=np.ones(5), has_feature=np.array([1, 1, 1, 1, 0], bool))
    kept, limits = np.empty(5, np.uint8), (0.2, 0.3, 5, 0.02)
    module.weigh(
        old, np.arange(5), evidence, cosine, 0, limits, np.empty(5), np.empty(5, np.uint8), kept
    )
    moved = 1 - 0.8 / math.sqrt(0.64 + 0.04)
    assert moved > 0.02
    assert kept.tolist() == [1, 0, 1, 1, 0]


@BOTH
def test_detections_that_join_come_before_those_that_begin_an_object(module) -> None:
    row, created = np.array([-1, 7, -1, 3, -1]), np.array([1, 0, 0, 0, 1], np.uint8)
    place = np.empty(5, np.int64)
    assert module.sort_out(row, created, place) == (2, 4)
    assert place[:4].tolist() == [1, 3, 0, 4]
    assert module.sort_out(row[:0], created[:0], place) == (0, 0)


@BOTH
def test_a_new_object_is_what_was_seen(module) -> None:
    _, evidence, _ = sightings(4)
    new, created = np.zeros(2, OBJECT), np.array([3, 1])
    module.bear(new, created, evidence, np.arange(5, dtype=np.int32), 7, LOOK, 6)
    assert new['id'].tolist() == [7, 8]
    assert new['label'].tolist() == [3, 1]
    assert (new['labels'] == -1).all()
    for name in ('center', 'size', 'orientation', 'half', 'oriented'):
        assert (new[name] == getattr(evidence, name)[created]).all()
    for name in ('hull_center', 'version_center'):
        assert (new[name] == evidence.center[created]).all()
    assert (new['version_size'] == evidence.size[created]).all()
    assert (new['confidence'] == evidence.score[created]).all()
    for name, value in {
        'observations': 1, 'looks': 1, 'look_seq': 3, 'look_ns': 5, 'first_seen_ns': 5,
        'last_seen_ns': 5, 'look_position': LOOK.position, 'look_axis': LOOK.axis, 'map': 2,
        'state': 6, 'masses': 0, 'odds': 0, 'has_feature': False,
    }.items():  # fmt: skip
        assert (new[name] == value).all(), name


@BOTH
def test_sightings_are_counted_and_independent_looks_confirm(module) -> None:
    """By turns: the same look, one from elsewhere, a late one, one more, and two new objects."""
    after = np.zeros(6, OBJECT)
    after['looks'], after['observations'] = [1, 1, 1, 2, 1, 2], 1
    after['look_ns'], after['last_seen_ns'] = [5, 5, 9, 5, 5, 5], [5, 5, 9, 5, 5, 5]
    after['first_seen_ns'] = [5, 5, 9, 2, 5, 5]
    after['look_position'], after['look_axis'] = LOOK.position, LOOK.axis
    after['look_position'][1] += 1.0
    after['confidence'] = 0.5
    module.count_sightings(
        after, np.array([1, 0, 2, 3]), np.array([0.2, 0.4, 0.6, 0.8]), 0.5, LOOK, (2.0, 0.3, 0.9),
        2, (0, 1),
    )  # fmt: skip
    assert after['observations'].tolist() == [2, 2, 2, 2, 1, 1]
    assert after['confidence'].tolist() == pytest.approx([0.6, 0.55, 0.65, 0.7, 0.5, 0.5])
    assert after['looks'].tolist() == [1, 2, 2, 2, 1, 2]
    assert after['look_seq'].tolist() == [0, 3, 0, 0, 0, 0]
    assert after['look_ns'].tolist() == [5, 5, 9, 5, 5, 5]
    assert (after['look_position'][1] == LOOK.position).all()
    assert after['first_seen_ns'].tolist() == [5, 5, 5, 2, 5, 5]
    assert after['last_seen_ns'].tolist() == [5, 5, 9, 5, 5, 5]
    assert after['state'].tolist() == [0, 1, 0, 1, 0, 1], 'never by a late view'


@BOTH
def test_looks_tell_something_new_by_time_place_or_direction(module) -> None:
    look_ns = np.array([0, 95, 100, 100, 100])
    position = np.array([[0, 0, 0]] * 2 + [[0.4, 0, 0], [0, 0, 0], [np.nan] * 3], dtype=float)
    axis = np.array([[0, 0, 1.0]] * 3 + [[1.0, 0, 0], [np.nan] * 3])
    result = np.empty(5, np.uint8)
    look = SimpleNamespace(stamp_ns=100, position=np.zeros(3), axis=np.array([0, 0, 1.0]))
    limits = (50.0, 0.3, math.cos(math.radians(15)))
    module.independent(look_ns, position, axis, look, limits, result)
    assert result.tolist() == [1, 0, 1, 1, 0]


@BOTH
def test_a_version_is_due_when_centre_or_size_moved_along_an_axis(module) -> None:
    old = np.zeros(7, OBJECT)
    old['center'][1] = 0, 0.1, 0
    old['size'][2] = 0, 0, 0.1
    old['center'][3] = 0.09, 0.09, 0.09
    old['version_size'][4:] = 4.0, 1.0, 1.0
    old['size'][4:] = [(4.3, 1, 1), (4.4, 1, 1), (4.0, 1.1, 1.0)]
    found, nothing = np.empty((3, 7), np.uint8), np.zeros(7, np.int32)
    assert module.note_changes(old, np.zeros(7, np.uint8), nothing, 0.1, 0.1, found) == 4
    assert found[2].tolist() == [0, 1, 1, 0, 0, 1, 1], 'of a long side a tenth of it'
    assert not found[:2].any()


@BOTH
def test_another_state_or_label_is_a_change(module) -> None:
    old, found = np.zeros(4, OBJECT), np.empty((3, 4), np.uint8)
    old['state'], old['label'] = [1, 1, 0, 0], [2, 2, 2, 3]
    state, label = np.array([1, 0, 0, 0], np.uint8), np.full(4, 2, np.int32)
    assert module.note_changes(old, state, label, 0.1, 0.1, found) == 2
    assert found.tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]


@BOTH
def test_a_label_stays_until_it_is_beaten_by_the_margin(module) -> None:
    old = np.zeros(3, OBJECT)
    old['labels'] = [[1, 2, -1, -1]] * 3
    old['label'] = 1
    old['masses'][:, 0], old['masses'][:, 1] = 1.0, [1.2, 1.21, 0.5]
    module.choose_labels(old, 1.2)
    assert old['label'].tolist() == [1, 2, 1]
