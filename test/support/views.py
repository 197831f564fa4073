# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Views for the tests of the core: short to write, and seeded streams of a small world."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from memory_node import Detection, Pose, SpatialMemory, View

SECOND = 10**9
DIM = 8
"""Length of the features in a stream."""
FORWARD = (-0.5, 0.5, -0.5, 0.5)
"""Orientation of an optical frame that looks along +x of the map, upright."""


def seen(
    label: str = 'mug',
    center_m: Sequence[float] = (1.0, 0.0, 1.0),
    score: float = 0.8,
    size_m: Sequence[float] = (0.1, 0.1, 0.2),
    **more: Any,
) -> Detection:
    """A detection; the defaults are those of the base fixture in the case list."""
    return Detection(label, score, center_m, size_m, **more)


def view(stamp_s: float, *detections: Detection, **more: Any) -> View:
    """A view at a stamp in seconds."""
    more.setdefault('sensor', 'camera')
    return View(round(stamp_s * SECOND), detections=detections, **more)


def observe_all(memory: SpatialMemory, views: Iterable[View]) -> SpatialMemory:
    """Observe each view in turn and return the memory."""
    for one in views:
        memory.observe(one, recorded_ns=one.stamp_ns + 1)
    return memory


def stream(seed: int, views: int) -> Iterator[View]:
    """Views of a small world, with all that may vary: the same ones for the same seed.

    Some are empty, late or of a sensor whose pose is unknown; some detections bring no feature, a
    doubtful score, other labels, a covariance, no extent, or the first spelling of a label in
    capitals.
    """
    random = np.random.default_rng(seed)
    labels = np.array(['mug', 'Chair', 'CoffeeMachine', 'book', 'table', 'lamp', 'box'])
    count = 24
    place = random.uniform(0, 5, (count, 3)).round(3)
    size = random.choice([0.05, 0.1, 0.4, 1.2], (count, 1)) * random.uniform(0.8, 1.2, (count, 3))
    label = random.integers(len(labels), size=count)
    feature = random.normal(size=(count, DIM))
    stamp = 1000 * SECOND
    for number in range(views):
        stamp += int(random.integers(50, 900)) * 10**6
        late = 3 * SECOND if random.random() < 0.1 else 0
        pose = None
        if random.random() < 0.9:
            turn = random.normal(size=4)
            turn /= np.sqrt((turn * turn).sum())
            pose = Pose(tuple(random.uniform(0, 5, 3).tolist()), tuple(turn.tolist()))
        some = [] if random.random() < 0.1 else random.permutation(count)[: random.integers(1, 9)]
        detections = []
        for k in some:
            name = str(labels[label[k]])
            if random.random() < 0.1:
                name = str(random.choice(labels))
            more: dict[str, Any] = {}
            if random.random() < 0.8:
                noisy = feature[k] + 0.3 * random.normal(size=DIM)
                more['feature'] = noisy.astype(np.float32)
            if random.random() < 0.3:
                more['alternatives'] = {str(n): 0.1 for n in random.permutation(labels)[:3]}
            if random.random() < 0.2:
                more['position_cov'] = np.diag(random.uniform(1e-4, 1e-2, 3))
            if random.random() < 0.3:
                more['orientation_xyzw'] = tuple(random.normal(size=4).tolist())
            extent = (0.0, 0.0, 0.0) if random.random() < 0.1 else tuple(size[k].tolist())
            center = tuple((place[k] + random.normal(0, 0.03, 3)).tolist())
            spelling = name.upper() if random.random() < 0.2 else name
            score = float(random.choice([0.1, 0.2, 0.5, 0.9]))
            detections.append(seen(spelling, center, score, extent, **more))
        yield View(
            stamp - late, 'camera', tuple(detections), pose, map_id='A', scope={'n': str(number)}
        )
