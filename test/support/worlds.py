# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Working sets for the tests below `SpatialMemory`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory_node import Detection
from memory_node.fusion.intake import Evidence, take_in
from memory_node.fusion.labels import Ints
from memory_node.fusion.world import OBJECT, STATE_CODE, World
from memory_node.model import State


def put(
    world: World,
    label: str = 'mug',
    center_m: Sequence[float] = (0.0, 0.0, 0.0),
    size_m: Sequence[float] = (1.0, 1.0, 1.0),
    *,
    mass: float = 0.9,
    confidence: float = 0.8,
    map_id: str = '',
    feature: Sequence[float] | None = None,
) -> int:
    """Add an object with the next id to a working set and return its row."""
    record = np.zeros(1, OBJECT)
    record['id'] = world.count + 1
    record['center'], record['size'] = center_m, size_m
    record['hull_center'] = record['version_center'] = center_m
    record['version_size'] = size_m
    record['half'] = np.array(size_m) / 2
    record['orientation'] = (0, 0, 0, 1)
    record['confidence'] = confidence
    record['observations'] = record['looks'] = 1
    record['labels'] = -1
    record['label'] = record['labels'][0, 0] = world.labels.intern(label)
    record['masses'][0, 0] = mass
    record['map'] = world.map_number(map_id)
    record['state'] = STATE_CODE[State.CONFIRMED]
    record['has_feature'] = feature is not None
    rows = world.append(record)
    if feature is not None:
        world.features.put(rows, np.array([feature], np.float32))
    return int(rows[0])


def evidence_of(
    world: World, *detections: Detection, sigma_m: float = 0.02
) -> tuple[Evidence, Ints]:
    """What intake makes of detections that are all accepted, and their label numbers."""
    intake = take_in(detections, world.features.dim, sigma_m)
    assert not intake.refused
    labels = [world.labels.intern(text) for text in intake.evidence.labels]
    return intake.evidence, np.array(labels, np.int32)
