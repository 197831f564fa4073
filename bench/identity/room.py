# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A made-up room that a sensor walks through: for drift (d) and label flicker (e)."""

from __future__ import annotations

import math

import numpy as np

from identity.detector import Rng, Things, class_features
from identity.stream import Ints
from memory_node.model import Floats

COUNT = 40
EXTENT_M = (6.0, 5.0, 1.6)
CLEAR_M = 0.3
"""No two centres are closer."""
RANGE_M = 3.5
HALF_ANGLE_RAD = math.radians(50.0)
SENSOR_HEIGHT_M = 1.3
KINDS = {
    'mug': 0.10, 'cup': 0.10, 'bottle': 0.2, 'jar': 0.15, 'book': 0.2, 'box': 0.3, 'bowl': 0.18,
    'plate': 0.22, 'lamp': 0.4, 'chair': 0.7, 'stool': 0.5, 'plant': 0.5,
}  # fmt: skip
"""Label → typical side in metres."""


def furnish(rng: Rng, features: bool) -> Things:
    """Forty things of twelve kinds, none closer than 0.3 m to another."""
    names = list(KINDS)
    labels = [names[k % len(names)] for k in range(COUNT)]
    center = np.zeros((0, 3))
    while len(center) < COUNT:
        place = rng.uniform(0.0, 1.0, 3) * np.array(EXTENT_M)
        if not len(center) or np.linalg.norm(center - place, axis=1).min() >= CLEAR_M:
            center = np.vstack([center, place])
    side = np.array([KINDS[label] for label in labels])
    size = side[:, None] * rng.uniform(0.7, 1.3, (COUNT, 3))
    return Things(labels, center, size, class_features(rng, labels) if features else None)


def walk(rng: Rng, steps: int) -> tuple[Floats, Floats]:
    """(steps, 3) positions on a loop through the room, and (steps,) headings in radians."""
    angle = np.linspace(0.0, 2.0 * np.pi, steps, endpoint=False) + rng.uniform(0.0, 2.0 * np.pi)
    middle = np.array(EXTENT_M) / 2
    position = np.stack(
        [
            middle[0] + 0.5 * middle[0] * np.cos(angle),
            middle[1] + 0.5 * middle[1] * np.sin(angle),
            np.full(steps, SENSOR_HEIGHT_M),
        ],
        axis=1,
    )
    return position, angle + rng.uniform(-np.pi, np.pi, steps)


def in_sight(things: Things, position: Floats, heading: float) -> Ints:
    """Things within range and the opening angle; nothing hides another."""
    ray = (things.center - position)[:, :2]
    turn = np.arctan2(ray[:, 1], ray[:, 0]) - heading
    turn = np.abs((turn + np.pi) % (2 * np.pi) - np.pi)
    near = np.linalg.norm(ray, axis=1) <= RANGE_M
    return np.flatnonzero(near & (turn <= HALF_ANGLE_RAD))
