# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""How an opinion moves with evidence (WM-14): by small steps; a large one takes repetition."""

from __future__ import annotations

from memory_node import checks

STEP = 0.05
LEAP = 0.2
LEAP_AFTER = 3
"""So many contradictions by different evidence, more than what supports, make a large step if the
last of them is strong."""


def moved(
    confidence: float, supports: bool, supporting: int, contradicting: int, strong: bool = True
) -> float:
    """How sure an opinion is after one more piece of evidence (WM-14).

    Args:
        confidence: before, 0 to 1. supports: what the new evidence does.
        supporting, contradicting: pieces of evidence with the new one, by different sources.
        strong: the new evidence says so outright; what only hints never makes a large step.
    """
    checks.share('confidence', confidence)
    if supports:
        return round(confidence + STEP * (1.0 - confidence), 9)
    large = strong and contradicting >= LEAP_AFTER and contradicting > supporting
    return round(max(0.0, confidence - (LEAP if large else STEP)), 9)
