# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Durable memory of the things around a robot: the only door is `SpatialMemory`."""

from memory_node.config import Config
from memory_node.memory import SpatialMemory
from memory_node.model import (
    Change,
    Commit,
    DepthImage,
    Detection,
    Event,
    Explanation,
    FieldOfView,
    Hit,
    MemoryObject,
    ObjectVersion,
    Observation,
    Pose,
    Query,
    Relation,
    Verdict,
    View,
)

__all__ = [
    'Change',
    'Commit',
    'Config',
    'DepthImage',
    'Detection',
    'Event',
    'Explanation',
    'FieldOfView',
    'Hit',
    'MemoryObject',
    'ObjectVersion',
    'Observation',
    'Pose',
    'Query',
    'Relation',
    'SpatialMemory',
    'Verdict',
    'View',
]
