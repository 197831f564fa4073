# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a view says of each object before its sensor."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rooms import FOV, camera_depth, look
from worlds import put

from memory_node import Config, DepthImage, FieldOfView, View
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.depth import depth_problem
from memory_node.fusion.visibility import in_view, likelihoods, sights_of
from memory_node.fusion.world import CHECKS, World
from memory_node.model import Check

CENTER, SIZE = (3.0, 0.0, 0.5), (0.3, 0.3, 0.3)
SEEN = np.zeros(0, np.int64)
NEW = np.zeros((0, 3)), np.zeros((0, 3))


def check(view: View, center: tuple[float, ...] = CENTER, size: tuple[float, ...] = SIZE,
          **settings: object) -> Check | None:  # fmt: skip
    """What a view says of a single box; None: nothing at all."""
    world = World()
    put(world, 'box', center, size)
    config = Config(**settings)  # type: ignore[arg-type]
    found = sights_of(view, np.zeros(3), SEEN, NEW, world, CandidateIndex(world), 0, config)
    return CHECKS[found.kind[0]] if len(found.kind) else None


def test_what_depth_says() -> None:
    assert check(look(1, boxes=[])) is Check.SEEN_THROUGH
    assert check(look(1, boxes=[(CENTER, SIZE)])) is Check.NO_EVIDENCE, 'the surface is there'
    assert check(look(1, boxes=[((1.5, 0, 0.5), (0.1, 1, 1))])) is Check.OCCLUDED
    assert check(look(1, boxes=[((3.5, 0, 0.5), (0.1, 9, 9))])) is Check.SEEN_THROUGH
    behind = [((3.22, 0, 0.5), (0.1, 9, 9))]
    assert check(look(1, boxes=behind)) is Check.MISSED, 'too near behind it to see through'
    assert check(look(1, boxes=None)) is Check.MISSED


def test_what_is_thinner_than_depth_can_tell_is_missed_by_the_detector_alone() -> None:
    table = [((3.0, 0.0, 0.2), (2.0, 2.0, 0.4))]
    paper = look(1, boxes=table, position_m=(0, 0, 2.0))
    assert check(paper, (3.0, 0.0, 0.405), (0.2, 0.2, 0.01)) is Check.MISSED


def test_what_is_smaller_than_a_pixel_is_not_seen_through() -> None:
    assert check(look(1, boxes=[]), (8.0, 0.0, 0.5), (0.05, 0.05, 0.05)) is Check.MISSED


def test_out_of_view_is_nothing_and_out_of_range_is_said() -> None:
    assert check(look(1), (-3.0, 0.0, 0.5)) is None
    assert check(look(1), (3.0, 6.0, 0.5)) is None
    assert check(look(1), (10.0, 0.0, 0.5)) is Check.OUT_OF_RANGE
    assert check(look(1), (30.0, 0.0, 0.5)) is None


def test_no_evidence() -> None:
    assert check(look(1, boxes=[]), (3.0, 4.5, 0.5), (1, 1, 1)) is Check.NO_EVIDENCE, 'cut'
    assert check(look(1), (0.0, 0.0, 0.5), (1, 1, 1)) is None, 'the sensor is within: it is behind'
    assert check(look(1), (0.2, 0.0, 0.5), (1, 1, 1)) is Check.NO_EVIDENCE, 'the sensor is within'
    blind = DepthImage(np.zeros((120, 160), np.float32), *dataclasses.astuple(camera_depth())[1:])
    assert check(look(1, depth=blind)) is Check.NO_EVIDENCE


def test_a_view_that_cannot_tell() -> None:
    assert check(look(1, field_of_view=None)) is None
    assert check(look(1, localization_cov=np.eye(6) * 0.09)) is None, 'badly localised'
    assert check(look(1, localization_cov=np.eye(6) * 0.01)) is Check.SEEN_THROUGH
    nowhere = dataclasses.replace(look(1), sensor_pose=None)
    assert check(nowhere) is None


def test_a_shift_of_the_robot_is_taken_away() -> None:
    world = World()
    put(world, 'box', CENTER, SIZE)
    view = look(1, boxes=[(CENTER, SIZE)], position_m=(0.0, 0.0, 0.5))
    away = dataclasses.replace(view, sensor_pose=look(1, position_m=(1.0, 0.0, 0.5)).sensor_pose)
    index = CandidateIndex(world)
    shift = np.array([1.0, 0.0, 0.0])
    told = [
        sights_of(away, s, SEEN, NEW, world, index, 0, Config()).kind for s in (shift, 0 * shift)
    ]
    assert [CHECKS[kind[0]] for kind in told] == [Check.NO_EVIDENCE, Check.SEEN_THROUGH]


def test_another_map_and_what_is_shown_are_left_out() -> None:
    world = World()
    rows = [put(world, 'box', (3.0, y, 0.5), SIZE) for y in (-1.0, 0.0)]
    put(world, 'box', (3.0, 1.0, 0.5), SIZE, map_id='upstairs')
    found = sights_of(
        look(1), np.zeros(3), np.array(rows[:1]), NEW, world, CandidateIndex(world), 0, Config()
    )
    assert found.rows.tolist() == rows[1:]


@given(st.integers(0, 10**6), st.floats(0.1, 6.28), st.floats(0.1, 3.1))
def test_in_view_is_what_the_angles_say(seed: int, wide: float, high: float) -> None:
    points = np.random.default_rng(seed).normal(size=(1, 40, 3))
    x, y, z = np.moveaxis(points, 2, 0)
    fov = FieldOfView(wide, high, 0.1, 5.0)
    across = np.abs(np.arctan2(x, z)) - wide / 2
    up = np.abs(np.arctan2(y, z if max(wide, high) < math.pi else np.hypot(x, z))) - high / 2
    clear = (np.abs(across) > 1e-6) & (np.abs(up) > 1e-6)
    expected = (across <= 0) & (up <= 0)
    assert (in_view(points, fov) == expected)[clear].all()


def test_a_panorama_sees_behind() -> None:
    fov = FieldOfView(2 * math.pi, math.pi, 0.1, 9.0)
    assert check(look(1, boxes=None, field_of_view=fov), (-3.0, 0.0, 0.5)) is Check.MISSED


def test_likelihoods_and_rates_of_a_sensor() -> None:
    kind = np.arange(len(CHECKS), dtype=np.uint8)
    config = Config(detector_rates=('arm 0.99 0.001',))
    plain, arm = (likelihoods(kind, True, name, config) for name in ('camera', 'arm'))
    assert plain[0] == pytest.approx(0.9 / 0.01) and arm[0] == pytest.approx(990)
    assert plain[1] == pytest.approx(0.05 / 0.9) and plain[2] == pytest.approx(0.1 / 0.99)
    assert (plain[3:] == 1.0).all()
    weak = likelihoods(kind, False, 'camera', config)[2]
    assert plain[2] < weak < 1.0, 'without depth a miss is weak'


def test_depth_that_cannot_be_right() -> None:
    good = camera_depth()

    def problem(**changed: object) -> str:
        return depth_problem(dataclasses.replace(good, **changed), FOV)  # type: ignore[arg-type]

    assert problem() == ''
    assert problem(depth_m=good.depth_m[::2, ::2]) == 'depth_size'
    assert problem(depth_m=good.depth_m[:30, :40]) == 'depth_size'
    assert problem(depth_m=np.zeros((120, 160), np.float32)) == 'no_depth'
    assert problem(depth_m=np.full((120, 160), np.nan)) == 'no_depth'
    assert problem(depth_m=np.zeros((120, 160, 3))) == 'bad_depth'
    assert problem(depth_m='no image') == 'bad_depth'
    assert problem(fx=0.0) == problem(fy=math.nan) == problem(cx=None) == 'bad_depth'
