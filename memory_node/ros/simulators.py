# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Which topics of a simulator are which of the lifting node; docs/simulators.md says why."""

from __future__ import annotations

from collections.abc import Mapping

ISAAC = {
    'depth': 'depth',
    'camera_info': 'camera_info',
    'detections_2d': 'bbox_2d_tight',
    'masks': 'instance_segmentation',
    'semantic_labels': 'semantic_labels',
}
GAZEBO = {
    'depth': 'depth',
    'camera_info': 'camera_info',
    'detections_2d': 'boxes',
    'masks': 'segmentation/labels_map',
}
SIMULATED_HOME = {
    'depth': 'depth',
    'camera_info': 'camera_info',
    'color': 'color',
    'masks': 'masks',
    'semantic_labels': 'semantic_labels',
}
"""Topic of the lifting node → topic of the simulator below the name of the sensor."""


def topics(simulator: Mapping[str, str], sensor: str) -> dict[str, str]:
    """Return topic of the lifting node → topic of the simulator."""
    return {ours: f'{sensor}/{theirs}' for ours, theirs in simulator.items()}
