# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The ten objects that look most alike: by 8-bit codes and by all features, in one process.

    PYTHONPATH=. python bench/semantic.py [--objects 100000] [--dim 512]

Both ways are asked the same questions in turns, on a working set without a file. Features are drawn
at random, or about 50 centres (`classes`), which leaves more of them close to the best. CPU time.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np

from memory_node import Query
from memory_node.fusion.world import OBJECT, World
from memory_node.recall import nearest
from memory_node.recall.asked import checked
from memory_node.recall.moment import Moment
from memory_node.recall.query import answer

QUESTIONS = 40
CLASSES = 50


def world_of(objects: int, dim: int, spread: float, rng: np.random.Generator) -> World:
    """A working set of confirmed objects with features about their class."""
    world = World()
    for k in range(CLASSES):
        world.labels.intern(f'class {k}')
    world.map_number('')
    records = np.zeros(objects, OBJECT)
    records['id'], records['labels'] = np.arange(1, objects + 1), -1
    records['label'] = rng.integers(0, CLASSES, objects)
    records['labels'][:, 0], records['masses'][:, 0] = records['label'], 1.0
    records['state'], records['odds'], records['has_feature'] = 1, 100.0, True
    rows = world.append(records)
    centers = spread * rng.standard_normal((CLASSES, dim)).astype(np.float32)
    for some in np.array_split(rows, max(1, objects // 10_000)):
        units = rng.standard_normal((len(some), dim)).astype(np.float32)
        units += centers[records['label'][some]]
        world.features.put(some, units / np.linalg.norm(units, axis=1)[:, None])
    return world


def ask(world: World, aids: Any, feature: np.ndarray) -> tuple[float, list[tuple[int, float]]]:
    """Milliseconds of CPU, and ids with scores."""
    start = time.process_time()
    query = checked(Query(feature=feature), world.features.dim)
    hits = answer(query, Moment(None, world, None, 0), aids)  # type: ignore[arg-type]
    return (time.process_time() - start) * 1e3, [(h.object.id, h.score) for h in hits]


def compare(objects: int, dim: int, spread: float) -> dict[str, float]:
    """Medians of both ways, and how many answers are the same."""
    rng = np.random.default_rng(1)
    world = world_of(objects, dim, spread, rng)
    some = rng.integers(0, objects, QUESTIONS)
    noise = rng.standard_normal((QUESTIONS, dim)).astype(np.float32)
    asked = world.features.take(some) + 0.02 * noise
    times: dict[str, list[float]] = {'features': [], 'codes': []}
    same, library = 0, nearest.numkong
    for _ in range(1 + objects // (nearest.CODED_AT_ONCE * 4096)):  # all is coded once
        ask(world, None, asked[0])
    for feature in asked:
        answers: list[list[tuple[int, float]]] = []
        for name, used in (('features', None), ('codes', library)):
            nearest.numkong = used
            spent, found = ask(world, None, feature)
            times[name].append(spent)
            answers.append(found)
        same += answers[0] == answers[1]
    nearest.numkong = library
    return {
        'features p50 ms': float(np.median(times['features'])),
        'codes p50 ms': float(np.median(times['codes'])),
        'codes p99 ms': float(np.percentile(times['codes'], 99)),
        'same answers': same / QUESTIONS,
    }


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--objects', type=int, default=100_000)
    parser.add_argument('--dim', type=int, default=512)
    given = parser.parse_args()
    if nearest.numkong is None:
        print('numkong is not installed: both ways are the same')
    for name, spread in (('random', 0.0), ('classes', 1.5)):
        figures = compare(given.objects, given.dim, spread)
        ratio = figures['codes p50 ms'] / figures['features p50 ms']
        print(name, *(f'{key} {value:.2f}' for key, value in figures.items()), f'ratio {ratio:.2f}',
              sep=', ')  # fmt: skip
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f'peak resident memory {peak:.0f} MB')


if __name__ == '__main__':
    main()
