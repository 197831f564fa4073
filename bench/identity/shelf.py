# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""(b) A shelf of things that are the same in every way but their place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from identity.detector import FEATURE_DIM, Detector, Things, look, still, unit
from identity.stream import Case, Given, Stream

SPACINGS_M = (0.08, 0.10, 0.15, 0.20, 0.35)
SIGMAS_M = (0.01, 0.02, 0.03)
P_DETECT = (1.0, 0.9)
VIEWS = 50
COLUMNS, BOARDS = 6, 2
BOARD_GAP_M = 0.35
FILL = 0.7
"""Side of a box, in spacings."""
SEEDS = 5


def shelf(
    spacing_m: float, sigma_m: float, p_detect: float, features: bool, seed: int, views: int = VIEWS
) -> Stream:
    """Two boards of six things; the views go along the shelf in random order."""
    rng = np.random.default_rng([seed, round(spacing_m * 1000)])
    grid = np.array(list(product(range(COLUMNS), range(BOARDS))), dtype=float)
    center = np.column_stack(
        [np.full(len(grid), 1.0), grid[:, 0] * spacing_m, 0.5 + grid[:, 1] * BOARD_GAP_M]
    )
    size = np.full((len(grid), 3), FILL * spacing_m)
    kind = np.repeat(unit(rng.normal(size=(1, FEATURE_DIM))), len(grid), axis=0)
    things = Things(['box'] * len(grid), center, size, kind if features else None)
    places = np.column_stack([np.zeros(views), np.linspace(-1, 1 + spacing_m, views)])
    detector = Detector(sigma_m, 0.05, p_detect)
    everything = np.arange(len(grid))
    shown = [
        look(rng, things, everything, k, np.array([*places[place], 1.2]), detector)
        for k, place in enumerate(rng.permutation(views).tolist())
    ]
    return still(things, shown)


def cases(given: Given) -> Iterator[Case]:
    """Rows of the table."""
    grid = product(SPACINGS_M, SIGMAS_M, P_DETECT, (True, False))
    if given.quick:
        grid = product((0.08, 0.15, 0.35), (0.02,), (0.9,), (True, False))
    for spacing, sigma, p, features in grid:
        name = f'{spacing * 100:.0f} cm apart, σ {sigma * 100:.0f} cm, P {p:g}'
        make = partial(_make, spacing, sigma, p, features, given.seeds(SEEDS))
        yield Case('b', name + ('' if features else ', no feature'), make)


def _make(spacing: float, sigma: float, p: float, features: bool, seeds: list[int]) -> list[Stream]:
    return [shelf(spacing, sigma, p, features, seed) for seed in seeds]
