# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""How noisy are the positions of a sensor that does not say so? Learned from what it sees again.

A detection is compared with the nearest object of its label. The squares of these distances are
averaged over the last dozen or so detections, each bounded by what is believed so far: a thing that
was moved, or a neighbour taken for it, counts little.
"""

from __future__ import annotations

from memory_node.config import CHRONOTOPE, Config
from memory_node.fusion import scoring
from memory_node.fusion.arbiter import Pairs
from memory_node.fusion.intake import Evidence
from memory_node.fusion.world import World

MEMORY = 0.9
"""What one detection leaves of the old value."""
LARGEST_M = 0.25
BOUND_SIGMAS = 3.0
BOUND_M = 0.05
LEAST_FOR_MEAN = 3
STEP_M = 1e-3
"""Learned values are rounded to this, so that they are written as they are used."""


def believed(learned_m: float, c: Config) -> float:
    """Position noise of a detection without a covariance, of a sensor of which that is learned."""
    if c.profile == CHRONOTOPE or not c.learn_noise:
        return c.position_sigma_m
    return max(c.position_sigma_m, learned_m)


def learned(
    sigma_m: float, evidence: Evidence, pairs: Pairs, world: World, least_m: float
) -> float:
    """Return the position noise of a sensor after one more view.

    Args:
        sigma_m: as believed so far.
        evidence: the view, where it lies after a shared shift was taken away.
        pairs: its candidates.
        least_m: the noise is never believed to be less.
    """
    count, mean = scoring.spread(
        evidence.center, evidence.cov, pairs.row, pairs.nearest_of_kind(len(evidence)),
        world.records, (BOUND_SIGMAS * sigma_m) ** 2 + BOUND_M**2, LEAST_FOR_MEAN,
    )  # fmt: skip
    if not count:
        return sigma_m
    keep = MEMORY**count
    value = (keep * sigma_m**2 + (1.0 - keep) * mean) ** 0.5
    return round(min(max(value, least_m), max(LARGEST_M, least_m)) / STEP_M) * STEP_M
