# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""`memory ask`: a question in words, or the scene in words."""

from __future__ import annotations

import argparse
import dataclasses
import math

from memory_node import SpatialMemory
from memory_node.cli.main import OK
from memory_node.cli.terminal import Terminal
from memory_node.model import Pose


def ask(given: argparse.Namespace, terminal: Terminal) -> int:
    """Answer a question from a file; nothing is written."""
    with SpatialMemory.open(given.file, readonly=True) as memory:
        if given.context:
            scene = memory.context(root=given.text, max_tokens=given.context)
            terminal.data(dataclasses.asdict(scene))
            for line in scene.text.splitlines():
                terminal.say(line)
            return OK
        answer = memory.ask(
            given.text, _pose(given.pose), limit=given.limit, user=given.user,
            context=given.occasion,
        )  # fmt: skip
    terminal.data({
        **dataclasses.asdict(answer),
        'hits': [
            {'id': hit.object.id, 'label': hit.object.label, 'score': hit.score,
             'presence': hit.presence, 'terms': dict(hit.terms)}
            for hit in answer.hits
        ],
    })  # fmt: skip
    terminal.say(answer.text)
    if answer.radius_why:
        terminal.say(f'(near: {answer.radius_m:g} m, {answer.radius_why})')
    sure = 'certain' if answer.certain else 'not certain'
    terminal.say(f'({sure}, {answer.confidence:.2f}; read as: {answer.reading})')
    return OK


def _pose(given: list[float] | None) -> Pose | None:
    if given is None:
        return None
    x, y, z, heading_deg = given
    half = math.radians(heading_deg) / 2
    return Pose((x, y, z), (0.0, 0.0, math.sin(half), math.cos(half)))
