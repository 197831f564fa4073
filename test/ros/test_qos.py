# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The quality of service of each kind of topic: who matches, and who gets what was before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip('rclpy')

from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    QoSCompatibility,
    QoSProfile,
    ReliabilityPolicy,
    qos_check_compatible,
)
from std_msgs.msg import Int32

from memory_node.ros import qos

RELIABLE, BEST_EFFORT = ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT
VOLATILE, LATCHED = DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL

TABLE = {
    qos.detections: (50, RELIABLE, VOLATILE),
    qos.detections_best_effort: (50, BEST_EFFORT, VOLATILE),
    qos.tf: (100, RELIABLE, VOLATILE),
    qos.tf_static: (100, RELIABLE, LATCHED),
    qos.changes: (200, RELIABLE, VOLATILE),
    qos.note_events: (100, RELIABLE, VOLATILE),
    qos.state: (1, RELIABLE, LATCHED),
    qos.markers: (10, RELIABLE, LATCHED),
    qos.truth: (200, RELIABLE, LATCHED),
    qos.images: (5, RELIABLE, VOLATILE),
    qos.sensor_data: (5, BEST_EFFORT, VOLATILE),
}


@pytest.mark.parametrize('make', TABLE, ids=lambda make: make.__name__)
def test_profiles(make: Callable[[], QoSProfile]) -> None:
    profile = make()
    assert profile.history == HistoryPolicy.KEEP_LAST
    assert (profile.depth, profile.reliability, profile.durability) == TABLE[make]
    assert make.__doc__
    assert make() is not profile  # rclpy writes overrides into it


def test_every_profile_is_in_the_table() -> None:
    made = {name for name in vars(qos) if not name.startswith('_') and name.islower()}
    assert {make.__name__ for make in TABLE} == made - {'annotations', 'overrides'}


@pytest.mark.parametrize(
    ('offered', 'asked', 'matches'),
    [
        (QoSProfile(depth=5, reliability=BEST_EFFORT), qos.detections, False),
        (QoSProfile(depth=5, reliability=BEST_EFFORT), qos.detections_best_effort, True),
        (QoSProfile(depth=10), qos.detections, True),
        (QoSProfile(depth=10), qos.detections_best_effort, True),
        (QoSProfile(depth=5, reliability=BEST_EFFORT), qos.sensor_data, True),
        (QoSProfile(depth=10), qos.sensor_data, True),
        (QoSProfile(depth=1), qos.tf_static, False),
    ],
)
def test_c13_what_matches(
    offered: QoSProfile, asked: Callable[[], QoSProfile], matches: bool
) -> None:
    compatibility, reason = qos_check_compatible(offered, asked())
    assert (compatibility != QoSCompatibility.ERROR) is matches, reason


def test_overrides_reach_the_subscription_and_no_other(make_node: Callable[..., Any]) -> None:
    node = make_node(parameters={'qos_overrides./detections.subscription.depth': 7})
    subscription = node.create_subscription(
        Int32, 'detections', print, qos.detections(), qos_overriding_options=qos.overrides()
    )
    assert subscription.qos_profile.depth == 7
    assert qos.detections().depth == 50


def test_c13_overrides_do_not_undo_the_change_to_best_effort(
    make_node: Callable[..., Any],
) -> None:
    node = make_node()
    for profile in (qos.detections(), qos.detections_best_effort()):
        subscription = node.create_subscription(
            Int32, 'detections', print, profile, qos_overriding_options=qos.overrides()
        )
    assert subscription.qos_profile.reliability == BEST_EFFORT


def test_a_late_subscriber_gets_the_state_but_no_old_changes(
    make_node: Callable[..., Any], spin_until: Callable[..., bool]
) -> None:
    node, late = make_node('publisher'), make_node('late')
    state = node.create_publisher(Int32, 'state', qos.state())
    changes = node.create_publisher(Int32, 'changes', qos.changes())
    for number in (1, 2):
        state.publish(Int32(data=number))
        changes.publish(Int32(data=number))
    got: list[tuple[str, int]] = []
    for topic, profile in (('state', qos.state()), ('changes', qos.changes())):
        late.create_subscription(
            Int32, topic, lambda m, topic=topic: got.append((topic, m.data)), profile
        )
    assert spin_until(lambda: changes.get_subscription_count() and got)
    changes.publish(Int32(data=3))
    assert spin_until(lambda: len(got) == 2)
    assert sorted(got) == [('changes', 3), ('state', 2)]
