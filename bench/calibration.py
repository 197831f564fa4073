# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Does presence say how often things are still there?

    PYTHONPATH=. python bench/calibration.py [--things 4000]

Mugs are seen once and leave after times that follow their half-life (or one that is three times as
long or as short as the memory believes). They are looked at later, with a detector and a depth
camera that err as often as the settings say. Presence is asked before any look, after one and after
three; the table has the expected calibration error over ten bins, and the bins.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

import numpy as np

from memory_node import DepthImage, Detection, FieldOfView, Pose, SpatialMemory, View

HALF_LIFE_S = 48 * 3600.0
ROWS, COLUMNS = 4, 5
FOV = FieldOfView(1.6, 1.2, 0.1, 9.0)
WIDTH, HEIGHT = 80, 60
AWAY_M, SIDE_M, BACKGROUND_M = 4.0, 0.3, 8.0
DETECT, FALSE, THROUGH_IF_THERE, THROUGH_IF_GONE = 0.9, 0.01, 0.05, 0.9
LOOKS = (0, 1, 3)
FORWARD = (-0.5, 0.5, -0.5, 0.5)
APART_M = 40.0


@dataclass(frozen=True)
class Answer:
    """What was said and what was so, of each thing; (N,) each."""

    presence: np.ndarray
    there: np.ndarray

    def bins(self) -> list[tuple[float, float, int]]:
        """Mean presence, share that was there, and number, of each bin that is not empty."""
        place = np.minimum((self.presence * 10).astype(int), 9)
        return [
            (float(self.presence[here].mean()), float(self.there[here].mean()), int(here.sum()))
            for k in range(10) if (here := place == k).any()
        ]  # fmt: skip

    @property
    def error(self) -> float:
        """Expected calibration error."""
        total = len(self.presence)
        return sum(abs(said - true) * n for said, true, n in self.bins()) / total


def run(things: int, stretch: float = 1.0, seed: int = 0) -> dict[int, Answer]:
    """Number of looks → what was said then.

    Args:
        things: how many. stretch: true half-life / believed half-life. seed: of all draws.
    """
    r = np.random.default_rng(seed)
    said: dict[int, list[np.ndarray]] = {k: [] for k in LOOKS}
    true: dict[int, list[np.ndarray]] = {k: [] for k in LOOKS}
    with SpatialMemory.open(':memory:') as memory:
        stamp_s = 1e6
        for place in range(-(-things // (ROWS * COLUMNS))):
            stamp_s = _room(memory, place, stamp_s, stretch, r, said, true)
    return {k: Answer(np.concatenate(said[k]), np.concatenate(true[k])) for k in LOOKS}


def _room(
    memory: SpatialMemory, place: int, stamp_s: float, stretch: float, r: np.random.Generator,
    said: dict[int, list[np.ndarray]], true: dict[int, list[np.ndarray]],
) -> float:  # fmt: skip
    """Show the things of one room, then look at them later; returns the time."""
    count = ROWS * COLUMNS
    row, column = np.divmod(np.arange(count), COLUMNS)
    y = APART_M * place + 1.2 * (column - 2)
    centers = np.stack([np.full(count, AWAY_M), y, 1.2 * (row - 1.5)], axis=1)
    sensor = (0.0, APART_M * place, 0.0)
    leaves_s = stamp_s + r.exponential(stretch * HALF_LIFE_S / math.log(2.0), count)
    first = _view(stamp_s, sensor, centers, np.ones(count, bool), np.zeros(count, bool))
    ids = [verdict.object_id for verdict in memory.observe(first).verdicts]
    stamp_s += r.uniform(0.05, 2.0) * HALF_LIFE_S
    for look in range(max(LOOKS) + 1):
        there = leaves_s > stamp_s
        if look:
            draw = r.random(count)
            shown = draw < np.where(there, DETECT, FALSE)
            through = np.where(there, THROUGH_IF_THERE / (1 - DETECT), THROUGH_IF_GONE)
            memory.observe(_view(stamp_s, sensor, centers, shown, r.random(count) < through))
        if look in LOOKS:
            now_ns = round(stamp_s * 1e9)
            held = [memory.object(int(number or 0)).presence(now_ns) for number in ids]
            said[look].append(np.array(held))
            true[look].append(there)
        stamp_s += 5.0
    return stamp_s


def _view(
    stamp_s: float, sensor: tuple[float, float, float], centers: np.ndarray, shown: np.ndarray,
    through: np.ndarray,
) -> View:  # fmt: skip
    """Detections of what is shown; depth sees through what is not shown and not there to see."""
    fx = WIDTH / 2 / math.tan(FOV.horizontal_rad / 2)
    fy = HEIGHT / 2 / math.tan(FOV.vertical_rad / 2)
    cx, cy = (WIDTH - 1) / 2, (HEIGHT - 1) / 2
    image = np.full((HEIGHT, WIDTH), BACKGROUND_M, np.float32)
    near = AWAY_M - SIDE_M / 2
    for center in centers[shown | ~through]:
        u, v = cx - (center[1] - sensor[1]) / near * fx, cy - center[2] / near * fy
        half_u, half_v = SIDE_M / 2 / near * fx + 1, SIDE_M / 2 / near * fy + 1
        rows = slice(max(0, math.floor(v - half_v)), math.ceil(v + half_v) + 1)
        columns = slice(max(0, math.floor(u - half_u)), math.ceil(u + half_u) + 1)
        image[rows, columns] = near
    detections = [
        Detection('mug', 0.9, tuple(center.tolist()), (SIDE_M,) * 3) for center in centers[shown]
    ]
    return View(
        round(stamp_s * 1e9), 'camera', detections, Pose(sensor, FORWARD), FOV,
        DepthImage(image, fx, fy, cx, cy),
    )  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--things', type=int, default=4000)
    things = parser.parse_args().things
    print('| half-life, true / believed | looks | ECE | presence → share there (number) |')
    print('|---|---|---|---|')
    for stretch in (1.0, 3.0, 1 / 3):
        for looks, answer in run(things, stretch).items():
            bins = ', '.join(f'{s:.2f} → {t:.2f} ({n})' for s, t, n in answer.bins())
            print(f'| {stretch:.2f} | {looks} | {answer.error:.3f} | {bins} |')


if __name__ == '__main__':
    main()
