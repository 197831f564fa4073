# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""How many views a second are lifted on one core: 640 x 480, 15 masks.

`scripts/env --with perception python bench/lifting.py`. Prints processor time, and beside it that
of sorting a million numbers in the same run: a busy machine slows both.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault('OMP_NUM_THREADS', '1')
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'test' / 'support'))

import numpy as np
from rgbd import CAMERA, rendered

from memory_node.perception.lifting import Lifting
from memory_node.perception.regions import Claimed, Region, masks_of
from memory_node.perception.surface import Surface

ROUNDS = 20
SIDES = {'a fifth of the image': (0.12, 0.13), 'three fifths of the image': (0.2, 0.24)}
"""How much of the image the masks cover together → width and height of the 15 things [m]."""


def scene(width: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    """Return noisy depth and ids of 15 boxes before a wall."""
    boxes = [
        ((-0.56 + 0.28 * (k % 5), -0.34 + 0.34 * (k // 5), 1.2), (width, height, 0.2))
        for k in range(15)
    ]
    depth, ids = rendered(boxes)
    noise = np.random.default_rng(0).normal(0.0, 0.002, depth.shape)
    return depth + noise.astype(np.float32), ids


def best_ms(work: Callable[[], object]) -> float:
    """Return the least processor time of some rounds, milliseconds."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times) * 1000


def main() -> None:
    """Measure, and print a table."""
    lifting = Lifting()
    numbers = np.random.default_rng(0).random(1_000_000)
    print(f'{"sorting a million numbers":<45} {best_ms(lambda: np.sort(numbers)):6.1f} ms')
    for covered, (width, height) in SIDES.items():
        depth, ids = scene(width, height)
        for name, level in (('upright', np.eye(3)), ('as they fit best', None)):

            def lift(depth: np.ndarray = depth, ids: np.ndarray = ids, level=level) -> object:
                regions = [
                    Region(Claimed('thing', 0.9), top, left, mask)
                    for _, top, left, mask in masks_of(ids)
                ]
                return lifting.lift(Surface(depth, CAMERA), regions, level)

            took = best_ms(lift)
            print(
                f'{f"15 masks, {covered}, boxes {name}":<45} {took:6.1f} ms {1000 / took:6.1f} Hz'
            )


if __name__ == '__main__':
    main()
