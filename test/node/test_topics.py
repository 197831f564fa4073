# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The topics of a running node are those that the README lists, with their types and QoS."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest

pytest.importorskip('vision_msgs')

from node_kit import wait_for
from rclpy.qos import DurabilityPolicy

README = (Path(__file__).parents[2] / 'README.md').read_text(encoding='utf-8')
NOT_OURS = {'/rosout', '/parameter_events', '/spatial_memory/transition_event', '/clock'}
"""What every lifecycle node has."""


def listed():
    """(name, direction) → (type, QoS) of the README's table."""
    table = README.split('### Topics\n', 1)[1].split('\n### ', 1)[0]
    rows = re.findall(r'^\| (.+?) \((in|out)\) \| (\S+) \| (.+?) \|', table, flags=re.M)
    found = {}
    for names, direction, kind, profile in rows:
        package, _, name = kind.rpartition('/')
        full = f'{package or "spatial_memory"}/msg/{name}'
        for topic in re.findall(r'`(.+?)`', names):
            resolved = topic.replace('~/', '/spatial_memory/').replace('NAME', 'head')
            found[f'/{resolved.lstrip("/")}', direction] = (full, profile)
    return found


def test_the_topics_are_those_of_the_readme(robot, run_node):
    run_node({'sensors': '[head]'})
    robot.wait_ready()
    node, where = robot.node, ('spatial_memory', '/')
    expected = listed()

    def actual():
        ins = node.get_subscriber_names_and_types_by_node(*where)
        outs = node.get_publisher_names_and_types_by_node(*where)
        found = {(name, 'in'): kind for name, (kind,) in ins}
        found |= {(name, 'out'): kind for name, (kind,) in outs}
        return {key: kind for key, kind in found.items() if key[0] not in NOT_OURS}

    wanted = {key: kind for key, (kind, _) in expected.items()}
    with contextlib.suppress(AssertionError):  # what differs is said below
        wait_for(lambda: actual() == wanted)
    assert actual() == wanted
    for (topic, direction), (_, profile) in expected.items():
        if direction == 'out':
            info = wait_for(lambda t=topic: node.get_publishers_info_by_topic(t))[0]
            latched = info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
            assert latched == ('latched' in profile), topic
