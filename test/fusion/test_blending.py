# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The boxes of sightings and records, beside plain numpy and beside the interpreted loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted
from sightings import sightings

from memory_node.fusion import blending
from memory_node.scene import boxes

SOURCE = interpreted('fusion/blending')
BOTH = pytest.mark.parametrize('module', [blending, SOURCE], ids=['installed', 'interpreted'])
SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
def test_compiled_and_interpreted_agree_to_the_last_bit(seed: int) -> None:
    found = []
    for module in (blending, SOURCE):
        old, evidence, matched = sightings(seed)
        speaks = (evidence.score >= 0.3).astype(np.uint8)
        module.blend_boxes(old, matched, evidence, evidence.score, speaks)
        found.append(old.tobytes())
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
