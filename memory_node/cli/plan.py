# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""`memory plan`: where to look next, and where to stand; nothing is written."""

from __future__ import annotations

import argparse
import dataclasses

from memory_node import SpatialMemory
from memory_node.cli.arguments import SEARCH
from memory_node.cli.inspect import point
from memory_node.cli.main import OK
from memory_node.cli.terminal import Terminal


def plan(given: argparse.Namespace, terminal: Terminal) -> int:
    """Say where to look or stand."""
    with SpatialMemory.open(given.file, readonly=True) as memory:
        return (_search if given.question == SEARCH else _approach)(memory, given, terminal)


def _search(memory: SpatialMemory, given: argparse.Namespace, terminal: Terminal) -> int:
    found = memory.plan_search(given.text, given.id, from_m=given.from_m, limit=given.limit)
    terminal.data(dataclasses.asdict(found))
    terminal.table(
        f'where to look ({found.total} places; elsewhere {found.elsewhere:.2f})',
        ('probability', 'place (m)', 'with', 'source', 'why'),
        [
            (f'{p.probability:.2f}', point(p.position_m),
             f'{p.receptacle_id} {p.receptacle_label}' if p.receptacle_id else '', p.source,
             p.reason)
            for p in found.places
        ],
        numbers='probability',
    )  # fmt: skip
    return OK


def _approach(memory: SpatialMemory, given: argparse.Namespace, terminal: Terminal) -> int:
    found = memory.approach(
        given.id, given.distance, robot_radius_m=given.radius, from_m=given.from_m,
        limit=given.limit,
    )  # fmt: skip
    terminal.data(dataclasses.asdict(found))
    if found.reason:
        terminal.say(found.reason)
    if found.poses:
        terminal.table(
            'where to stand', ('place (m)', 'orientation', 'distance (m)', 'clearance (m)'),
            [
                (point(s.pose.position_m), point(s.pose.orientation_xyzw), f'{s.distance_m:.2f}',
                 f'{s.clearance_m:.2f}')
                for s in found.poses
            ],
        )  # fmt: skip
    return OK
