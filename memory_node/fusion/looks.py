# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""One look at the world, and when a second one tells something new."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_node.config import Config
from memory_node.fusion import counting
from memory_node.model import Floats, Pose
from memory_node.scene import boxes
from memory_node.scene.boxes import Bools

Rows = npt.NDArray[np.int64]
DIGITS = 9
"""Distances and cosines are rounded to this many digits before they are compared."""


@dataclass(frozen=True)
class Look:
    """A view as far as stored things are concerned.

    Attributes:
        seq: log line of the view. stamp_ns: when the world showed it.
        position: (3,) of the sensor, map, metres; NaN: unknown. axis: (3,) where it looked.
        map_number: of the map in which the poses hold.
    """

    seq: int
    stamp_ns: int
    position: Floats
    axis: Floats
    map_number: int


def variance_of(localization_cov: Any) -> float:
    """Largest variance of the robot's position in a (6, 6) covariance, square metres."""
    matrix = np.asarray(localization_cov, dtype=np.float64).reshape(6, 6)
    return float(matrix.diagonal()[:3].max())


def look_of(seq: int, stamp_ns: int, pose: Pose | None, map_number: int) -> Look:
    """Return the look of a view."""
    if pose is None:
        nothing = np.full(3, np.nan)
        return Look(seq, stamp_ns, nothing, nothing, map_number)
    position = np.array(pose.position_m, dtype=np.float64)
    axis = np.array(boxes.optical_axis_of(*map(float, pose.orientation_xyzw)))
    return Look(seq, stamp_ns, position, axis, map_number)


def independent(look_ns: Rows, position: Floats, axis: Floats, look: Look, config: Config) -> Bools:
    """Whether a look tells something that the last counted one did not (DESIGN §6).

    It does if the sensor moved or turned far enough since, or after a while.

    Args:
        look_ns: (N,) when the last counted looks were. position, axis: (N, 3) of these.
        look: the new one.
        config: the limits.
    """
    result = np.empty(len(look_ns), bool)
    counting.independent(look_ns, position, axis, look, limits_of(config), result.view(np.uint8))
    return result


def limits_of(config: Config) -> tuple[float, float, float]:
    """Nanoseconds, metres and cosine from which a look is independent of another."""
    return config.look_gap_s * 1e9, config.look_distance_m, _cosine(config.look_angle_deg)


@functools.cache
def _cosine(angle_deg: float) -> float:
    return round(math.cos(math.radians(angle_deg)), DIGITS)


def is_independent(last: Look, look: Look, config: Config) -> bool:
    """`independent` for one look."""
    stamp = np.array([last.stamp_ns], dtype=np.int64)
    return bool(independent(stamp, last.position[None], last.axis[None], look, config)[0])
