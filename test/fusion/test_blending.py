# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The numbers of sightings and records, beside plain numpy and beside the interpreted loops."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted

from memory_node.fusion import blending
from memory_node.fusion.world import OBJECT
from memory_node.scene import boxes

SOURCE = interpreted('fusion/blending')
LOOK = SimpleNamespace(
    seq=3, stamp_ns=5, position=np.ones(3), axis=np.array([0, 0, 1.0]), map_number=2
)
BOTH = pytest.mark.parametrize('module', [blending, SOURCE], ids=['installed', 'interpreted'])
SEEDS = st.integers(0, 2**32 - 1)


def quaternions(random: np.random.Generator, n: int) -> np.ndarray:
    return boxes.normalized(random.normal(size=(n, 4)))


def sightings(seed: int, n: int = 5):
    """Records, and detections of the same things in another order."""
    random = np.random.default_rng(seed)
    old = np.zeros(n, OBJECT)
    old['center'], old['size'] = random.normal(size=(n, 3)), random.uniform(0, 1, (n, 3))
    old['orientation'], old['oriented'] = quaternions(random, n), random.random(n) < 0.6
    old['size'][0] = 0.0
    old['observations'], old['last_seen_ns'] = random.integers(1, 9, n), random.integers(1, 9, n)
    old['labels'], old['label'] = random.integers(-1, 3, (n, 4)), random.integers(0, 3, n)
    old['masses'] = random.uniform(0, 3, (n, 4))
    size = random.uniform(0, 1, (n, 3))
    size[1] = 0.0
    evidence = SimpleNamespace(
        center=random.normal(size=(n, 3)), size=size, extent=(size > 0).any(axis=1),
        orientation=quaternions(random, n), oriented=random.random(n) < 0.7,
        score=random.random(n), half=size * 0.5, has_feature=random.random(n) < 0.7,
    )  # fmt: skip
    return old, evidence, random.permutation(n)


@given(SEEDS)
def test_compiled_and_interpreted_agree_to_the_last_bit(seed: int) -> None:
    found = []
    for module in (blending, SOURCE):
        old, evidence, matched = sightings(seed)
        weight, speaks = np.empty(len(old)), np.empty(len(old), np.uint8)
        kept, unknown = np.empty(len(old), np.uint8), np.empty(len(old), np.uint8)
        state, label = old['state'].copy(), old['label'].copy()
        limits = (0.2, 0.3, 5, 0.02)
        module.weigh(old, matched, evidence, evidence.score, 5, limits, weight, speaks, kept)
        module.blend_boxes(old, matched, evidence, weight, speaks)
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


@given(SEEDS)
def test_a_box_moves_by_the_share_of_the_sighting(seed: int) -> None:
    old, evidence, matched = sightings(seed)
    before = old.copy()
    weight, speaks = np.linspace(0.2, 1, len(old)), np.ones(len(old), np.uint8)
    speaks[0] = 0
    blending.blend_boxes(old, matched, evidence, weight, speaks)
    w = np.where(speaks, weight, 0.0)[:, None]
    expected = before['center'] + w * (evidence.center[matched] - before['center'])
    assert old['center'] == pytest.approx(expected)
    assert (old['hull_center'] == old['center']).all()
    assert (old['half'] == boxes.hull_half(old['size'], old['orientation'])).all()
    assert np.linalg.norm(old['orientation'], axis=1) == pytest.approx(1.0)
    assert (old[0]['size'] == before[0]['size']).all()
    for r, i in enumerate(matched.tolist()):
        seen = evidence.size[i]
        if not evidence.extent[i] or not speaks[r]:
            assert (old['size'][r] == before['size'][r]).all()
        elif not before['size'][r].any():
            assert old['size'][r] == pytest.approx(seen)  # whatever its share
        if evidence.oriented[i] and speaks[r] and not before['oriented'][r]:
            turn = abs(float(old['orientation'][r] @ evidence.orientation[i]))
            assert turn == pytest.approx(1.0)


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
@pytest.mark.parametrize(('place', 'value'), [
    (0, -0.1), (0, 1.1), (0, math.nan), (3, math.inf), (5, -1e-9), (8, math.nan), (10, -math.inf),
])  # fmt: skip
def test_a_number_that_cannot_be_is_noticed(module, place: int, value: float) -> None:
    numbers = np.tile([0.5, -1, 2, 3, 1, 0, 1, 0, 0, 0, -1.0], (3, 1))
    assert module.are_sound(numbers)
    assert module.are_sound(numbers[:0])
    numbers[1, place] = value
    assert not module.are_sound(numbers)


@BOTH
def test_orientations_get_unit_norm_and_zeros_are_none(module) -> None:
    numbers = np.zeros((4, 11))
    numbers[:, 7:] = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 3e200, 4e200], [0, 0, 1e-200, 0]]
    numbers[:, 4:7] = 2, 4, 6
    center, size, half = np.empty((3, 4, 3))
    orientation, oriented = np.empty((4, 4)), np.empty(4, np.uint8)
    order = np.array([3, 0, 1, 2])
    module.spread_out(numbers, order, center, size, half, orientation, oriented)
    assert oriented.tolist() == [1, 0, 1, 1]
    assert orientation == pytest.approx(
        np.array([[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0.6, 0.8]])
    )
    assert half[1].tolist() == [1, 2, 3]
    assert half == pytest.approx(boxes.hull_half(size, orientation))


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
