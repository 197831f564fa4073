# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Records and detections of the same things, drawn at random."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from memory_node.fusion.world import OBJECT
from memory_node.scene import boxes


def quaternions(random: np.random.Generator, n: int) -> np.ndarray:
    return boxes.normalized(random.normal(size=(n, 4)))


def sightings(seed: int, n: int = 5):
    """Records, and detections of the same things in another order."""
    random = np.random.default_rng(seed)
    old = np.zeros(n, OBJECT)
    old['center'], old['size'] = random.normal(size=(n, 3)), random.uniform(0, 1, (n, 3))
    old['orientation'], old['oriented'] = quaternions(random, n), random.random(n) < 0.6
    old['size'][0] = 0.0
    old['observations'], old['last_seen_ns'] = random.integers(1, 9, n), random.integers(1, 9, n)
    old['labels'], old['label'] = random.integers(-1, 3, (n, 4)), random.integers(0, 3, n)
    old['masses'] = random.uniform(0, 3, (n, 4))
    size = random.uniform(0, 1, (n, 3))
    size[1] = 0.0
    evidence = SimpleNamespace(
        center=random.normal(size=(n, 3)), size=size, extent=(size > 0).any(axis=1),
        orientation=quaternions(random, n), oriented=random.random(n) < 0.7,
        score=random.random(n), half=size * 0.5, has_feature=random.random(n) < 0.7,
    )  # fmt: skip
    return old, evidence, random.permutation(n)
