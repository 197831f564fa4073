# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A real shelf: depth and a network's masks through the lifting node into the memory.

A robot's wrist camera looks at four things in a shelf from fifteen places (Amazon Picking Challenge
2016, see data/README.md). The masks are those of a network, with all its mistakes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from spatial_memory.msg import MemoryObject

from memory_node.demo.camera import DemoCamera, Shown, lifting_arguments, memory_arguments
from memory_node.demo.client import EVERY_STATE, center_of
from memory_node.demo.messages import NS_PER_S
from memory_node.demo.report import Report
from memory_node.model import Triple

if TYPE_CHECKING:
    from memory_node.demo.main import Stage

DATA = Path(__file__).parent / 'data' / 'shelf' / 'shelf.npz'
SENSOR = 'wrist_camera'
RANGE_M = 2.0
CREATE_SCORE = 0.55
"""A mask whose pixels the network is hardly surer of than not makes no new object: it may be a
rest of something, or show nothing. It still supports what is there."""
NEAR_M = 0.03
"""The centre of an object is right when it is no farther from that of the clean masks."""
STEP_NS = 2 * NS_PER_S
"""From one view to the next, by their stamps."""

MEMORY_ARGUMENTS = [*memory_arguments(SENSOR, RANGE_M), '-p', f'create_score:={CREATE_SCORE}']
LIFTING_ARGUMENTS = lifting_arguments(SENSOR, RANGE_M)


class Shelf(NamedTuple):
    """The views.

    Attributes:
        labels: of the things. depth_mm: (V, H, W). ids: (V, H, W) place in labels + 1; 0: nothing.
        scores: (V, L). k: (3, 3). poses: (V, 4, 4) of the optical frame in the map.
        truth: label → centre by clean masks, metres, map.
    """

    labels: tuple[str, ...]
    depth_mm: np.ndarray
    ids: np.ndarray
    scores: np.ndarray
    k: np.ndarray
    poses: np.ndarray
    truth: dict[str, Triple]

    def shown(self, view: int) -> Shown:
        """Return one view as a camera shows it."""
        detected = {
            number: (label, score)
            for number, (label, score) in enumerate(
                zip(self.labels, self.scores[view].tolist()), start=1
            )
            if score > 0
        }
        ids = self.ids[view].astype(np.uint16)
        return Shown(self.poses[view], self.k, self.depth_mm[view], ids, detected)


def load_shelf() -> Shelf:
    """Read the views that come with the package."""
    with np.load(DATA, allow_pickle=False) as data:
        labels = tuple(str(label) for label in data['labels'])
        truth = {label: (x, y, z) for label, (x, y, z) in zip(labels, data['truth_m'].tolist())}
        depth_mm = np.round(data['depth_tenth_mm'] / 10.0).astype(np.uint16)
        return Shelf(
            labels, depth_mm, data['ids'], data['scores'], data['k'], data['poses'], truth
        )  # fmt: skip


def show(stage: Stage) -> bool:
    """Look at the shelf, and tell what the memory holds; return whether that is right."""
    views = load_shelf()
    count = len(views.poses)
    stage.report.say(f'a shelf, seen from {count} places by a wrist camera')
    stage.start_memory(MEMORY_ARGUMENTS)
    lifting = stage.start('lifting', LIFTING_ARGUMENTS)
    camera = DemoCamera(stage.client.context, SENSOR, lifting.check)
    first_ns = time.time_ns() - count * STEP_NS
    try:
        camera.wait_ready(views.shown(0), first_ns)
        for view in range(count):
            camera.show(views.shown(view), first_ns + view * STEP_NS)
    finally:
        camera.close()
    masks = int((views.scores > 0).sum())
    stage.report.say(f'{masks} masks of a network, each view lifted and acknowledged')
    stage.report.question('What is in the shelf?', 'query', '{include_absent: true}')
    hits, _ = stage.client.query(states=EVERY_STATE)
    return told(stage.report, [hit.object for hit in hits], views.truth)


def told(report: Report, objects: Sequence[MemoryObject], truth: dict[str, Triple]) -> bool:
    """Print the objects beside the truth; return whether they are those, and where they should be.

    Args:
        report: where to. objects: whatever their state. truth: label → centre.
    """
    lines = []
    worst_m = 0.0
    for one in objects:
        center = center_of(one)
        away_m = math.dist(center, truth[one.label]) if one.label in truth else math.inf
        worst_m = max(worst_m, away_m)
        lines.append((one.label, str(one.state), f'{int(one.observations)}x', _words(center),
                      f'{away_m * 100:.1f} cm'))  # fmt: skip
    report.table(('label', 'state', 'seen', 'centre x y z', 'from that of the clean masks'), lines)
    right = sorted(one.label for one in objects) == sorted(truth) and worst_m <= NEAR_M
    names = ', '.join(sorted(one.label for one in objects))
    report.say('')
    if not right:
        report.say(f'demo: FAILED: expected one each of {", ".join(sorted(truth))}, within 3 cm')
    report.say(f'{len(objects)} objects: {names}; all within {worst_m * 100:.1f} cm')
    return right


def _words(center: Triple) -> str:
    return ' '.join(f'{value:6.2f}' for value in center)
