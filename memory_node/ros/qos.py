# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Quality of service by name, with the reason of each.

Functions, not constants: rclpy writes QoS overrides into the profile it is given.
"""

from __future__ import annotations

from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    QoSPolicyKind,
    QoSProfile,
    ReliabilityPolicy,
)
from rclpy.qos_overriding_options import QoSOverridingOptions


def detections() -> QoSProfile:
    """Views in: each one counts, and a burst must find room."""
    return _profile(depth=50)


def detections_best_effort() -> QoSProfile:
    """Views in from a best-effort detector: a reliable request would never match it."""
    return _profile(depth=50, reliable=False)


def tf() -> QoSProfile:
    """Transforms in: what tf2 asks for, so that everything matches that matches tf2."""
    return _profile(depth=100)


def tf_static() -> QoSProfile:
    """Static transforms in: published once, so a late listener needs the last ones."""
    return _profile(depth=100, latched=True)


def changes() -> QoSProfile:
    """Changes out: a slow reader must miss none, and a new one asks for the past by service."""
    return _profile(depth=200)


def note_events() -> QoSProfile:
    """What was asked and written of notes: for whoever watches, nobody is held up."""
    return _profile(depth=100)


def state() -> QoSProfile:
    """State out: who comes late gets the last one; it must ask for transient local too."""
    return _profile(depth=1, latched=True)


def truth() -> QoSProfile:
    """Truth of a simulation out: who compares must miss nothing, nor what was before it came."""
    return _profile(depth=200, latched=True)


def markers() -> QoSProfile:
    """Markers out: as state, but deeper: most messages are differences, and none may be lost."""
    return _profile(depth=10, latched=True)


def sensor_data() -> QoSProfile:
    """Images and camera info in: best effort matches every camera, and only the newest matter."""
    return _profile(depth=5, reliable=False)


def images() -> QoSProfile:
    """Images in where the publisher is reliable: large ones lose a packet now and then."""
    return _profile(depth=5)


def overrides() -> QoSOverridingOptions:
    """Let depth and history be set by the parameters qos_overrides./topic.subscription.…

    Not the reliability: the node finds that out, and rclpy would turn a subscription that is made
    again as best effort back into what the parameter was declared with.
    """
    return QoSOverridingOptions((QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH))


def _profile(*, depth: int, reliable: bool = True, latched: bool = False) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )
