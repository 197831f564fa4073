# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated detector: what it can see, and how it errs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memory_node.demo.roomr.keyed import Draws, Keys, object_keys
from memory_node.demo.roomr.world import Boxes
from memory_node.model import FieldOfView, Floats, Quaternion, Triple

FEATURE_DIM = 64
SAME_CLASS_COSINE = 0.8
DETECTION_COSINE = 0.95
SURFACE_MARGIN_M = 0.02
"""A target this close to a box counts as inside it, so that the box does not hide it."""
BODY_TO_OPTICAL: Quaternion = (-0.5, 0.5, -0.5, 0.5)
"""Optical axes (right, down, forward) in a body (forward, left, up)."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SensorModel:
    """Noise settings. Angles are full opening angles; offset_m shifts the whole of visit 2."""

    horizontal_rad: float = math.radians(90.0)
    vertical_rad: float = math.radians(70.0)
    min_range_m: float = 0.3
    max_range_m: float = 5.0
    sigma_m: float = 0.02
    size_noise: float = 0.05
    p_detect: float = 0.9
    false_alarms: float = 0.05
    wrong_label: float = 0.0
    offset_m: float = 0.0
    features: bool = False

    @property
    def field_of_view(self) -> FieldOfView:
        """What the sensor could see."""
        return FieldOfView(
            self.horizontal_rad, self.vertical_rad, self.min_range_m, self.max_range_m
        )


@dataclass(frozen=True)
class Stand:
    """Sensor pose in the map. Yaw about +z from +x, pitch upward positive, no roll."""

    position_m: Triple
    yaw_rad: float
    pitch_rad: float

    @property
    def rotation(self) -> Floats:
        """(3, 3): columns are the optical axes right, down, forward in the map."""
        cy, sy = math.cos(self.yaw_rad), math.sin(self.yaw_rad)
        cp, sp = math.cos(self.pitch_rad), math.sin(self.pitch_rad)
        return np.array([[sy, cy * sp, cy * cp], [-cy, sy * sp, sy * cp], [0.0, -cp, sp]])

    @property
    def orientation_xyzw(self) -> Quaternion:
        """Quaternion of the optical frame in the map: Rz(yaw) Ry(-pitch) (body to optical)."""
        return _multiply(_yaw_pitch(self.yaw_rad, -self.pitch_rad), BODY_TO_OPTICAL)

    def to_optical(self, points: Floats) -> Floats:
        """Return (..., 3) map points in the optical frame, metres."""
        return (points - np.array(self.position_m)) @ self.rotation


def _yaw_pitch(yaw: float, pitch: float) -> Quaternion:
    cy, sy = math.cos(yaw / 2), math.sin(yaw / 2)
    cp, sp = math.cos(pitch / 2), math.sin(pitch / 2)
    return (-sy * sp, cy * sp, sy * cp, cy * cp)


def _multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def in_view(model: SensorModel, stand: Stand, points: Floats) -> Mask:
    """Return (N,) bool: map points inside the pinhole field of view and range."""
    x, y, z = stand.to_optical(points).T
    distance = np.sqrt(x * x + y * y + z * z)
    inside: Mask = (z > 0.05) & (np.abs(x) <= math.tan(model.horizontal_rad / 2) * z)
    inside &= np.abs(y) <= math.tan(model.vertical_rad / 2) * z
    return inside & (distance >= model.min_range_m) & (distance <= model.max_range_m)


def occluded(camera: Floats, targets: Floats, boxes: Boxes) -> Mask:
    """Return (N,) bool: a box crosses the line of sight; boxes around target or camera do not."""
    if not len(boxes) or not len(targets):
        return np.zeros(len(targets), dtype=bool)
    ray = targets - camera
    ray = np.where(np.abs(ray) < 1e-9, 1e-9, ray)[:, None]
    t1, t2 = (boxes.lo - camera) / ray, (boxes.hi - camera) / ray
    enter, leave = np.minimum(t1, t2).max(axis=2), np.maximum(t1, t2).min(axis=2)
    hit = (enter < leave) & (leave > 0) & (enter < 1)
    ignored = boxes.contain(targets, SURFACE_MARGIN_M) | boxes.contain(camera[None])
    crossed: Mask = np.any(hit & ~ignored, axis=1)
    return crossed


def visible(model: SensorModel, stand: Stand, points: Floats, occluders: Boxes) -> Mask:
    """Return (N,) bool: in view and not occluded."""
    seen = in_view(model, stand, points)
    index = np.flatnonzero(seen)
    seen[index] = ~occluded(np.array(stand.position_m), points[index], occluders)
    return seen


def hidden_in_container(points: Floats, closed: Boxes) -> Mask:
    """Return (N,) bool: inside the box of a closed container."""
    hidden: Mask = np.any(closed.contain(points), axis=1)
    return hidden


def class_features(labels: Sequence[str]) -> Floats:
    """Return (N, 64), the unit direction of each label, the same in every episode."""
    return unit(Draws('class').normal('feature', object_keys(labels), FEATURE_DIM))


def thing_features(draws: Draws, labels: Sequence[str], keys: Keys) -> Floats:
    """Return (N, 64) unit feature of each thing: cosine 0.8 within a class, on average."""
    centers = class_features(labels)
    own = _orthogonal(draws.normal('thing', keys, FEATURE_DIM), centers)
    return math.sqrt(SAME_CLASS_COSINE) * centers + math.sqrt(1 - SAME_CLASS_COSINE) * own


def detection_features(draws: Draws, things: Floats, keys: Keys) -> npt.NDArray[np.float32]:
    """Return (N, 64) float32 unit feature of each detection: cosine 0.95 to its thing."""
    own = _orthogonal(draws.normal('feature', keys, FEATURE_DIM), things)
    mixed = DETECTION_COSINE * things + math.sqrt(1 - DETECTION_COSINE**2) * own
    return unit(mixed).astype(np.float32)


def unit(rows: Floats) -> Floats:
    """Return the rows, each divided by its norm."""
    scaled: Floats = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return scaled


def _orthogonal(noise: Floats, base: Floats) -> Floats:
    return unit(noise - (noise * base).sum(axis=-1, keepdims=True) * base)
