# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A seeded stream with everything in it: late and doubtful views, noise, edits by callers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from memory_node import Detection, Pose, SpatialMemory, View
from memory_node.model import State

LABELS = ('mug', 'cup', 'red mug', 'table', 'chair', 'box', 'door open', 'door')
START_NS = 10**18


def mixed_views(seed: int, count: int, features: bool = True, dim: int = 16) -> Iterator[View]:
    """Views of 25 things in two maps, out of order now and then."""
    r = np.random.default_rng(seed)
    things = [
        (LABELS[r.integers(8)], r.uniform(-2, 2, 3), r.uniform(0.05, 1, 3), r.normal(size=dim))
        for _ in range(25)
    ]
    now = START_NS
    for k in range(count):
        now += int(r.choice([3 * 10**8, 10**9, 2 * 10**9]))
        stamp_ns = now if r.random() > 0.1 else now - 5 * 10**9
        shown = r.permutation(25)[: r.integers(0, 15)]
        detections = [_detection(r, *things[i], features) for i in shown]
        pose = Pose(tuple(r.uniform(-1, 1, 3).tolist())) if r.random() < 0.7 else None
        map_id = 'upstairs' if r.random() < 0.25 else ''
        yield View(stamp_ns, f'camera_{k % 2}', detections, pose, map_id=map_id)


def _detection(
    r: np.random.Generator, label: str, center: np.ndarray, size: np.ndarray, feature: np.ndarray,
    features: bool,
) -> Detection:  # fmt: skip
    if r.random() < 0.1:
        label = LABELS[r.integers(8)]
    turn = ((0, 0, 0, 1), (0, 0, 0, 0), tuple(r.normal(size=4).tolist()))[r.integers(3)]
    with_feature = features or r.random() < 0.7
    return Detection(
        label=label,
        score=float(r.choice([0.05, 0.2, 0.5, 0.9])),
        center_m=(center + r.normal(0, 0.02, 3)).tolist(),
        size_m=(size * r.uniform(0.9, 1.1, 3)).tolist() if r.random() < 0.9 else (0, 0, 0),
        orientation_xyzw=turn,
        feature=feature + 0.3 * r.normal(size=len(feature)) if with_feature else None,
        alternatives={LABELS[r.integers(8)]: 0.3} if r.random() < 0.2 else {},
        track_id='7' if r.random() < 0.1 else '',
        position_cov=np.eye(3) * 0.01 if r.random() < 0.2 else None,
    )


def live_through(
    open_memory: Callable[[], SpatialMemory], seed: int, count: int, features: bool = True,
    reopen_every: int = 0,
) -> SpatialMemory:  # fmt: skip
    """Observe a mixed stream with forgetting, restoring and statements in between."""
    memory, r = open_memory(), np.random.default_rng(seed + 1)
    for k, view in enumerate(mixed_views(seed, count, features)):
        memory.observe(view)
        objects = memory.objects()
        if k % 17 == 5 and objects:
            memory.forget(objects[r.integers(len(objects))].id, reason='not wanted')
        if k % 23 == 7:
            first, second = memory.objects()[:2]
            memory.set_property(first.id, 'colour', {'rgb': [1, 2.5, 0]})
            memory.state_relation(first.id, 'part_of', second.id)
            memory.record_event('door_opened', {'by': 'robot'}, first.id)
        if k % 41 == 30:
            ids = range(1, max(o.id for o in objects) + 1)
            ended = [i for i in ids if memory.object(i).state is State.FORGOTTEN]
            if ended:
                memory.restore(ended[0], 'a mistake')
        if reopen_every and k % reopen_every == reopen_every - 1:
            memory.close()
            memory = open_memory()
    return memory
