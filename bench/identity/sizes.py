# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""(c) From a wardrobe to a screw, in one map."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from identity.detector import Detector, Things, class_features, look, still
from identity.stream import Case, Given, Stream

VIEWS = 40
SEEDS = 5
SIGMAS_M = (0.005, 0.01, 0.02, 0.05)
THINGS = (
    ('wardrobe', (0.0, 0.0, 1.0), (1.2, 0.6, 2.0)),
    ('coat', (-0.3, 0.0, 1.2), (0.4, 0.3, 1.1)),
    ('coat', (0.1, 0.0, 1.2), (0.4, 0.3, 1.1)),
    ('shelf board', (0.0, 0.0, 0.3), (1.15, 0.55, 0.03)),
    ('table', (2.0, 0.0, 0.37), (1.6, 0.8, 0.74)),
    ('chair', (2.0, 0.7, 0.45), (0.5, 0.5, 0.9)),
    ('chair', (2.6, 0.7, 0.45), (0.5, 0.5, 0.9)),
    ('toolbox', (1.6, 0.0, 0.84), (0.4, 0.2, 0.2)),
    ('mug', (2.3, 0.1, 0.79), (0.09, 0.09, 0.1)),
    ('pen', (2.2, -0.1, 0.745), (0.14, 0.01, 0.01)),
    ('coin', (2.35, -0.15, 0.742), (0.02, 0.02, 0.003)),
    ('screw', (2.0, -0.2, 0.745), (0.01, 0.01, 0.01)),
    ('screw', (2.1, -0.2, 0.745), (0.01, 0.01, 0.01)),
    ('screw', (2.2, -0.25, 0.745), (0.01, 0.01, 0.01)),
    ('nut', (2.03, -0.17, 0.745), (0.01, 0.01, 0.006)),
)
"""Label, centre and size in metres, map."""


def workshop(sigma_m: float, features: bool, seed: int, views: int = VIEWS) -> Stream:
    """All of it from everywhere around."""
    rng = np.random.default_rng([seed, 3])
    labels = [label for label, _, _ in THINGS]
    center, size = (np.array([row[k] for row in THINGS]) for k in (1, 2))
    things = Things(labels, center, size, class_features(rng, labels) if features else None)
    angle = rng.permutation(np.linspace(0.0, 2.0 * np.pi, views, endpoint=False))
    detector = Detector(sigma_m, 0.05, 0.9)
    shown = [
        look(
            rng, things, np.arange(len(labels)), k,
            np.array([1.3 + 2.5 * np.cos(a), 2.5 * np.sin(a), 1.5]), detector,
        )
        for k, a in enumerate(angle)
    ]  # fmt: skip
    return still(things, shown)


def cases(given: Given) -> Iterator[Case]:
    """Rows of the table."""
    for sigma in (0.02,) if given.quick else SIGMAS_M:
        for features in (True, False):
            name = f'σ {sigma * 100:g} cm{"" if features else ", no feature"}'
            yield Case('c', name, partial(_make, sigma, features, given.seeds(SEEDS)))


def _make(sigma: float, features: bool, seeds: list[int]) -> list[Stream]:
    return [workshop(sigma, features, seed) for seed in seeds]
