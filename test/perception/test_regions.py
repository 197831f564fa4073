# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Boxes and masks on the pixels of the depth (C23)."""

from __future__ import annotations

import numpy as np
import pytest

from memory_node.perception.regions import (
    Claimed,
    RegionError,
    fitted,
    masks_of,
    region_of_box,
    scale_between,
)

CUP = Claimed('cup', 0.9)


def box(center: tuple[float, float], depth: tuple[int, int], scale: float = 1.0, turn: float = 0.0):
    return region_of_box(CUP, center, (60.0, 60.0), depth, scale, turn)


def test_c23_aligned_depth_of_half_the_size_is_scaled() -> None:
    scale = scale_between((1280, 720), (640, 360), aligned=True)
    region = box((900.0, 500.0), (640, 360), scale)
    assert (region.columns, region.rows) == (slice(435, 465), slice(235, 265))
    assert region.is_box and region.mask.all()


@pytest.mark.parametrize(
    ('depth', 'aligned'), [((640, 480), True), ((230400, 1), True), ((640, 360), False)]
)
def test_c23_depth_that_does_not_go_with_the_image_is_refused(
    depth: tuple[int, int], aligned: bool
) -> None:
    with pytest.raises(RegionError, match='1280 x 720 pixels beside depth of') as refused:
        scale_between((1280, 720), depth, aligned)
    assert refused.value.reason == 'not_aligned'


def test_c23_a_box_is_clipped_to_the_image() -> None:
    region = box((-5.0, 10.0), (640, 480))
    assert (region.columns, region.rows) == (slice(0, 25), slice(0, 40))


@pytest.mark.parametrize('center', [(-40.0, 10.0), (700.0, 10.0), (10.0, 520.0), (np.nan, 10.0)])
def test_c23_a_box_outside_the_image_is_refused(center: tuple[float, float]) -> None:
    with pytest.raises(RegionError) as refused:
        box(center, (640, 480))
    assert refused.value.reason == 'off_image'


def test_a_turned_box_is_its_upright_hull() -> None:
    region = region_of_box(CUP, (100.0, 100.0), (60.0, 20.0), (640, 480), turn_rad=np.pi / 2)
    assert region.mask.shape == (60, 20)


def test_masks_by_id_in_their_order() -> None:
    ids = np.zeros((6, 8), np.uint16)
    ids[1:3, 2:5], ids[4, 6] = 7, 3
    (one, *where_one, mask_one), (seven, *where_seven, mask) = masks_of(ids)
    assert (one, where_one, mask_one.tolist()) == (3, [4, 6], [[True]])
    assert (seven, where_seven, mask.shape) == (7, [1, 2], (2, 3)) and mask.all()


def test_large_and_negative_ids_are_ids_too() -> None:
    ids = np.array([[0, 2_000_000_000], [-4, 2_000_000_000]], np.int32)
    assert [(number, int(mask.sum())) for number, _, _, mask in masks_of(ids)] == [
        (-4, 1), (2_000_000_000, 2),
    ]  # fmt: skip
    assert list(masks_of(np.zeros((0, 4), np.uint8))) == []


def test_masks_of_another_size_are_refused_or_scaled() -> None:
    ids = np.zeros((4, 8), np.uint8)
    ids[:2, :4] = 5
    with pytest.raises(RegionError) as refused:
        fitted(ids, (16, 8), aligned=False)
    assert refused.value.reason == 'mask_size'
    larger = fitted(ids, (16, 8), aligned=True)
    assert larger.shape == (8, 16)
    assert (larger[:4, :8] == 5).all() and larger.sum() == 5 * 32
