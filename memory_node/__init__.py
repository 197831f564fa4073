# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Durable memory of the things around a robot: the only door is `SpatialMemory`.

The names below are imported when they are first used. Importing them takes half a second, and a
program that imports one module of this package, or the node before it has set its signal handlers,
need not wait for it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
        Region,
        Relation,
        Track,
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
    'Region',
    'Relation',
    'SpatialMemory',
    'Track',
    'Verdict',
    'View',
]

_HOMES = {'Config': 'config', 'SpatialMemory': 'memory'}
"""Module of each name that is not one of the model's."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = getattr(importlib.import_module(f'{__name__}.{_HOMES.get(name, "model")}'), name)
    globals()[name] = value
    return value
