# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Looks and frames as messages: what comes back is what went in."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pytest.importorskip('rclpy')
messages = pytest.importorskip('memory_node.demo.messages')

from memory_node.demo.flat import Look, furnish, tour  # noqa: E402
from memory_node.demo.trajectory import FIXED, OPTICAL, Trajectory  # noqa: E402

STAMP_NS = 1_700_000_000 * 10**9 + 123_456_789


@pytest.fixture(scope='module')
def looks() -> list[Look]:
    return tour(furnish(['bedroom', 'bathroom']))


def test_detections_in_the_optical_frame_lead_back_to_the_map(looks: list[Look]) -> None:
    for look in looks:
        message = messages.look_message(look, STAMP_NS, 'head_camera')
        assert len(message.detections) == len(look.shown.view.detections)
        turn = Rotation.from_quat(look.stand.orientation_xyzw)
        for sent, claim in zip(message.detections, look.shown.view.detections, strict=True):
            p, q = sent.pose.position, sent.pose.orientation
            center = turn.apply([p.x, p.y, p.z]) + look.stand.position_m
            np.testing.assert_allclose(center, np.add(claim.center_m, look.room.offset_m))
            box = turn * Rotation.from_quat([q.x, q.y, q.z, q.w])
            assert box.magnitude() == pytest.approx(0.0, abs=1e-7)
            assert (sent.size.x, sent.size.y, sent.size.z) == claim.size_m
            assert (sent.label, sent.score) == (claim.label, claim.score)
            np.testing.assert_array_equal(np.array(sent.feature), claim.feature)
            np.testing.assert_allclose(
                np.array(sent.position_covariance).reshape(3, 3), np.eye(3) * 0.02**2
            )


def test_header_sensor_and_field_of_view(looks: list[Look]) -> None:
    message = messages.look_message(looks[0], STAMP_NS, 'head_camera')
    assert (message.header.frame_id, message.sensor) == (OPTICAL, 'head_camera')
    assert messages.nanoseconds(message.header.stamp) == STAMP_NS
    opening = message.field_of_view
    assert opening.horizontal_rad == pytest.approx(math.radians(90))
    assert opening.vertical_rad == pytest.approx(math.radians(70))
    assert (opening.min_range_m, opening.max_range_m) == (0.3, 5.0)


def test_detections_lie_in_front_of_the_sensor_inside_its_field_of_view(looks: list[Look]) -> None:
    for look in looks:
        for sent in messages.look_message(look, STAMP_NS, '').detections:
            p = sent.pose.position
            assert p.z > 0 and abs(p.x) < p.z + 0.2 and math.hypot(p.x, p.y, p.z) < 5.2


def test_an_empty_message_declares_nothing() -> None:
    message = messages.empty_message(STAMP_NS, 'head_camera')
    assert not message.detections and message.field_of_view.max_range_m == 0.0
    assert message.header.frame_id == OPTICAL


def test_frames(looks: list[Look]) -> None:
    trajectory = Trajectory([looks[0].stand], [STAMP_NS])
    message = messages.frames_message([*FIXED, *trajectory.transforms_at(STAMP_NS)], STAMP_NS)
    chain = {t.child_frame_id: t.header.frame_id for t in message.transforms}
    assert chain == {
        'odom': 'map', 'base_link': 'odom', 'head_link': 'base_link',
        'camera_link': 'head_link', 'camera_optical': 'camera_link',
    }  # fmt: skip
    assert {messages.nanoseconds(t.header.stamp) for t in message.transforms} == {STAMP_NS}
