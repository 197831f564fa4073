# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What holds what: of all that an object could lie on, in or hang on, the one that it does.

Each pair of an object and what could hold it has a penalty that follows from their boxes and the
roles of their classes alone; the least one decides. So what a box does beside others, its noise
included, changes the outcome only where two of them are nearly as good.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memory_node.fusion.classes import Classes
from memory_node.model import Floats
from memory_node.scene.boxes import Bools
from memory_node.scene.things import Things

DIGITS = 9
"""Distances and penalties are rounded to this many digits before they are compared."""
GAP_M = 0.05
"""Gap that counts one unit of penalty."""
BESIDE_TOP_M = 0.03
"""How far outside the footprint of what it lies on the centre of an object may be."""
SLACK_M = 0.05
"""How far outside the box of what it lies in."""
OUT_M = 0.1
"""Distance of the centre outside the footprint that counts one unit of penalty."""
HOOK_M = 0.15
"""How far beside a hook the centre of what hangs on it may be."""
SMALLEST = 0.15
"""Least footprint of what an object lies on, as a part of its own."""
SIZE = 0.3
"""Penalty for each power of ten of the volume: of two that fit, the smaller one holds."""
HANGS = -10.0
"""Penalty of a hook that fits: it goes before everything else."""
REACH_M = HOOK_M
"""Two boxes farther apart than this never hold each other."""


def penalties(
    things: Things, child: np.ndarray, parent: np.ndarray, gap_m: float, classes: Classes
) -> tuple[Floats, Bools]:
    """How badly each parent would hold each child.

    Args:
        things: the objects. child, parent: (P,) places of pairs.
        gap_m: largest gap between the top of one and the bottom of what lies on it.
        classes: knows how things hold others.

    Returns:
        (P,) penalty, inf: it could not; (P,) whether the child would be inside rather than on it.
    """
    role = {name: column[parent] for name, column in things.roles(classes).items()}
    center, half = things.center[child], things.half[child]
    base, reach = things.center[parent], things.half[parent]
    out = np.abs(center - base) - reach
    aside = np.maximum(out[:, :2].max(axis=1, initial=-np.inf), 0.0)
    bottom, top = center[:, 2] - half[:, 2], base[:, 2] + reach[:, 2]
    volume, held = reach.prod(axis=1), half.prod(axis=1)
    known = comparable(things, child, parent)
    size = SIZE * np.log10(np.maximum(volume * 8, 1e-6))

    rests = known & (np.abs(bottom - top).round(DIGITS) <= gap_m) & (center[:, 2] > base[:, 2])
    rests &= _over(out, center, half, base, reach, role) & ~np.isnan(role['top'])
    rests &= role['any_size'] | (volume > held)
    juts = np.where(role['stands'], 0.0, aside / OUT_M)
    on_top = role['top'] + np.abs(bottom - top) / GAP_M + juts + size

    within = known & (aside <= SLACK_M) & (volume > held) & ~np.isnan(role['within'])
    upper = np.where(role['encloses'], out[:, 2], bottom - top)
    lowest = base[:, 2] - reach[:, 2]
    floor = lowest + role['low'] * 2 * reach[:, 2] - SLACK_M
    ceiling = lowest + role['high'] * 2 * reach[:, 2]
    within &= (upper <= SLACK_M) & (bottom >= floor) & (bottom <= ceiling)
    inside = role['within'] + aside / OUT_M + size

    hangs = known & (aside <= HOOK_M) & (out[:, 2] - half[:, 2] <= SLACK_M)
    hangs &= things.knows(dict(classes.roles.hung), parent, child)
    both = np.stack([
        np.where(rests, on_top, np.inf), np.where(within, inside, np.inf),
        np.where(hangs, HANGS + aside / OUT_M, np.inf),
    ]).round(DIGITS)  # fmt: skip
    which = both.argmin(axis=0)
    return both.min(axis=0), (which == 1) & role['encloses']


def _over(
    out: Floats,
    center: Floats,
    half: Floats,
    base: Floats,
    reach: Floats,
    role: Mapping[str, np.ndarray],
) -> Bools:
    """(P,) whether the child is above the parent; a stand may also be below the child's middle."""
    area, own = reach[:, 0] * reach[:, 1], half[:, 0] * half[:, 1]
    inner = (out[:, :2].round(DIGITS) <= BESIDE_TOP_M).all(axis=1) & (area > SMALLEST * own)
    apart = np.abs(center - base)[:, :2] - np.maximum(half, reach)[:, :2]
    result: Bools = inner | ((apart <= BESIDE_TOP_M).all(axis=1) & role['stands'])
    return result


def comparable(things: Things, one: np.ndarray, other: np.ndarray) -> Bools:
    """(P,) whether the two are different objects of one map, and both at their places."""
    result: Bools = (one != other) & (things.map[one] == things.map[other])
    return result & things.present[one] & things.present[other]


def part_gaps(things: Things, part: np.ndarray, whole: np.ndarray, classes: Classes) -> Floats:
    """(P,) how far the centre of each part is outside of each whole [m]; inf: not part of it."""
    out = np.maximum(np.abs(things.center[part] - things.center[whole]) - things.half[whole], 0.0)
    gap = out.max(axis=1, initial=0.0).round(DIGITS)
    fits = (gap <= SLACK_M) & things.knows(dict(classes.roles.wholes), part, whole)
    fits &= things.half[part].prod(axis=1) < things.half[whole].prod(axis=1)
    fits &= comparable(things, part, whole)
    return np.where(fits, gap, np.inf)


def best(child: np.ndarray, parent: np.ndarray, penalty: Floats, ids: np.ndarray) -> np.ndarray:
    """(K,) places in the pairs: for each child that has one, the least penalty, then lowest id."""
    able = np.flatnonzero(np.isfinite(penalty))
    order = able[np.lexsort([ids[parent[able]], penalty[able], child[able]])]
    first = np.unique(child[order], return_index=True)[1]
    found: np.ndarray = order[first]
    return found
