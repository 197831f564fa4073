# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Regions of a depth image become boxes, or a reason why they do not."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest
from rgbd import CAMERA, SIZE, rendered

from memory_node.errors import MissingExtraError
from memory_node.perception.regions import Claimed, Region, masks_of, region_of_box
from memory_node.perception.settings import LiftingConfig
from memory_node.perception.surface import Surface

BOX = ((0.1, 0.05, 1.2), (0.2, 0.3, 0.1))


def test_without_open3d_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_node.perception.lifting import Lifting

    monkeypatch.setitem(sys.modules, 'open3d', None)
    with pytest.raises(MissingExtraError, match=r'\[perception\]: pip install open3d') as missing:
        Lifting()
    assert missing.value.extra == 'perception'


@pytest.fixture(scope='module')
def lifting() -> Any:
    pytest.importorskip('open3d', reason='needs Open3D: scripts/env --with perception')
    from memory_node.perception.lifting import Lifting

    return Lifting()


def made(config: LiftingConfig) -> Any:
    pytest.importorskip('open3d', reason='needs Open3D: scripts/env --with perception')
    from memory_node.perception.lifting import Lifting

    return Lifting(config)


def regions(ids: np.ndarray, label: str = 'thing') -> list[Region]:
    return [Region(Claimed(label, 0.9), top, left, mask) for _, top, left, mask in masks_of(ids)]


def one(lifting: Any, depth: np.ndarray, ids: np.ndarray, label: str = 'thing', **more: Any) -> Any:
    (lifted,), refused = lifting.lift(Surface(depth, CAMERA), regions(ids, label), **more)
    assert not refused
    return lifted


def why(lifting: Any, depth: np.ndarray, ids: np.ndarray, label: str = 'thing') -> dict[str, int]:
    lifted, refused = lifting.lift(Surface(depth, CAMERA), regions(ids, label))
    assert lifted == []
    return dict(refused)


def flat(depth_m: float) -> tuple[np.ndarray, np.ndarray]:
    """A part of the image at one depth."""
    ids = np.zeros(SIZE[::-1], np.int32)
    ids[220:260, 400:440] = 1
    return np.full(SIZE[::-1], depth_m, np.float32), ids


def test_c20_a_patch_is_where_its_depth_says(lifting: Any) -> None:
    depth, ids = flat(1.5)
    center = one(lifting, depth, ids).detection.center_m
    assert center == pytest.approx(((419.5 - 320) / 500 * 1.5, -0.5 / 500 * 1.5, 1.5), abs=3e-3)


@pytest.mark.parametrize('nothing', [0.0, math.nan, math.inf])
def test_c20_a_region_without_depth_is_no_object(lifting: Any, nothing: float) -> None:
    assert why(lifting, *flat(nothing)) == {'no_depth': 1}


def test_c22_what_is_at_the_camera_itself_is_no_object(lifting: Any) -> None:
    assert why(lifting, *flat(0.001)) == {'too_near': 1}
    assert one(lifting, *flat(0.6)).detection.center_m[2] == pytest.approx(0.6)
    assert why(lifting, *flat(7.0)) == {'too_far': 1}


def test_the_front_of_a_box_is_measured(lifting: Any) -> None:
    detection = one(lifting, *rendered([BOX])).detection
    assert detection.center_m[:2] == pytest.approx((0.1, 0.05), abs=0.01)
    assert detection.center_m[2] == pytest.approx(1.15, abs=0.02)
    size = sorted(detection.size_m, reverse=True)
    assert size[0] == pytest.approx(0.3, abs=0.02) and size[1] == pytest.approx(0.2, abs=0.02)


def test_noise_and_pixels_between_two_things_do_not_stretch_it(lifting: Any) -> None:
    depth, ids = rendered([BOX])
    rng = np.random.default_rng(3)
    noisy = depth + rng.normal(0.0, 0.002, depth.shape).astype(np.float32)
    rows, columns = np.nonzero(ids)
    rim = columns >= columns.max() - 2  # what a camera measures between a thing and the wall
    noisy[rows[rim], columns[rim]] = rng.uniform(1.2, 2.9, int(rim.sum()))
    detection = one(lifting, noisy, ids).detection
    assert detection.center_m[:2] == pytest.approx((0.1, 0.05), abs=0.01)
    assert max(detection.size_m) < 0.33


def test_a_mask_that_spills_onto_the_wall_keeps_the_larger_thing(lifting: Any) -> None:
    depth, ids = rendered([BOX])
    ids[20:90, 250:300] = 1
    detection = one(made(LiftingConfig(min_share=0.3)), depth, ids).detection
    assert detection.center_m[2] == pytest.approx(1.15, abs=0.02)


def test_a_mask_over_many_things_shows_none(lifting: Any) -> None:
    boxes = [((-0.4 + 0.2 * k, 0.0, 0.8 + 0.05 * k), (0.1, 0.1, 0.02)) for k in range(5)]
    depth, ids = rendered(boxes)
    assert why(lifting, depth, (ids > 0).astype(np.int32)) == {'scattered': 1}


def test_a_box_of_the_image_holds_the_nearer_thing_in_its_middle(lifting: Any) -> None:
    depth, ids = rendered([BOX])
    rows, columns = np.nonzero(ids)
    center = (float(columns.mean()), float(rows.mean()))
    size = (float(np.ptp(columns)) + 40, float(np.ptp(rows)) + 40)
    region = region_of_box(Claimed('thing', 0.9), center, size, SIZE)
    (lifted,), _ = lifting.lift(Surface(depth, CAMERA), [region])
    assert lifted.detection.center_m == pytest.approx((0.1, 0.05, 1.15), abs=0.02)
    assert max(lifted.detection.size_m) == pytest.approx(0.3, abs=0.02)


def test_an_upright_box_turns_about_the_vertical_alone(lifting: Any) -> None:
    # The optical frame in a map: z forward is x, x right is -y, y down is -z.
    level = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    detection = one(lifting, *rendered([BOX]), level=level).detection
    assert detection.size_m[2] == pytest.approx(0.3, abs=0.02)  # its height, along its own z
    assert detection.size_m[1] == pytest.approx(0.2, abs=0.02)
    assert detection.size_m[0] < 0.05  # only the front is seen


def test_what_the_image_cuts_off_is_partial(lifting: Any) -> None:
    depth, ids = rendered([((-0.75, 0.0, 1.2), (0.3, 0.3, 0.1)), BOX])
    (cut, whole), _ = lifting.lift(Surface(depth, CAMERA), regions(ids))
    assert cut.partial and not whole.partial
    doubt = [float(np.trace(np.asarray(k.detection.position_cov))) for k in (cut, whole)]
    assert doubt[0] > 2 * doubt[1]


def test_what_something_nearer_hides_is_partial(lifting: Any) -> None:
    hiding = ((0.1, 0.2, 0.8), (0.6, 0.2, 0.02))
    depth, ids = rendered([BOX, hiding])
    (hidden, before), _ = lifting.lift(Surface(depth, CAMERA), regions(ids))
    assert hidden.partial and not before.partial


def test_how_deep_it_is_behind_its_front_is_in_doubt(lifting: Any) -> None:
    cov = np.asarray(one(lifting, *rendered([BOX])).detection.position_cov)
    assert np.linalg.eigvalsh(cov).min() > 0
    assert math.sqrt(cov[2, 2]) > 0.025, 'although all that is seen of it lies in one plane'


def test_noise_grows_with_the_square_of_the_distance(lifting: Any) -> None:
    near, far = (
        np.asarray(one(lifting, *rendered([((0, 0, z), (0.3, 0.3, 0.3))], wall_m=9.0))
                   .detection.position_cov)
        for z in (1.0, 5.0)
    )  # fmt: skip
    assert far[2, 2] > 1.5 * near[2, 2]


def test_a_size_that_its_class_cannot_have_is_refused(lifting: Any) -> None:
    depth, ids = rendered([((0.0, 0.0, 2.0), (1.6, 1.2, 0.1))])
    assert why(lifting, depth, ids, 'mug') == {'too_large': 1}
    depth, ids = rendered([((0.0, 0.0, 1.0), (0.1, 0.1, 0.1))])
    assert why(lifting, depth, ids, 'wall') == {'too_small': 1}
    depth, ids = rendered([((-0.66, 0.0, 1.0), (0.1, 0.1, 0.1))])
    assert one(lifting, depth, ids, 'wall').partial  # of a wall that is cut off so much can be seen


def test_too_few_pixels_and_no_label(lifting: Any) -> None:
    depth, ids = flat(1.0)
    ids[ids > 0] = 0
    ids[240:244, 400:404] = 1
    assert why(lifting, depth, ids) == {'too_few_points': 1}
    depth, ids = flat(1.0)
    depth[:, 403:] = 0.0
    assert why(lifting, depth, ids) == {'too_few_points': 1}  # too small a share has depth
    assert why(lifting, *flat(1.0), '') == {'no_label': 1}


def test_one_bad_region_costs_no_other(lifting: Any) -> None:
    depth, ids = rendered([BOX, ((-0.2, 0.0, 1.0), (0.1, 0.1, 0.1))])
    depth[ids == 2] = np.nan
    lifted, refused = lifting.lift(Surface(depth, CAMERA), regions(ids))
    assert len(lifted) == 1 and refused == {'no_depth': 1}


def test_the_same_input_gives_the_same_boxes(lifting: Any) -> None:
    depth, ids = rendered([BOX])
    noisy = depth + np.random.default_rng(1).normal(0, 0.003, depth.shape).astype(np.float32)
    assert repr(one(lifting, noisy, ids)) == repr(one(lifting, noisy, ids))


def test_an_organised_cloud_gives_the_same_box(lifting: Any) -> None:
    depth, ids = rendered([BOX])
    v, u = np.mgrid[: SIZE[1], : SIZE[0]]
    xy = np.stack(
        [(u - CAMERA.cx) / CAMERA.fx * depth, (v - CAMERA.cy) / CAMERA.fy * depth], axis=2
    )
    (lifted,), _ = lifting.lift(Surface(depth, xy_m=xy), regions(ids))
    assert lifted.detection.center_m == pytest.approx(
        one(lifting, depth, ids).detection.center_m, abs=2e-3
    )
