# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A simulated detector over things that are given: what all made-up streams share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identity.stream import SECOND_NS, START_NS, Ints, Shown, Stream
from memory_node.model import Detection, Floats, Pose, View

FEATURE_DIM = 64
SAME_CLASS_COSINE = 0.8
DETECTION_COSINE = 0.95

Rng = np.random.Generator


@dataclass(frozen=True, eq=False)
class Things:
    """Rows are things.

    Attributes:
        center, size: (N, 3) metres, map.
        feature: (N, D) of unit norm; None: the detector brings none.
    """

    labels: Sequence[str]
    center: Floats
    size: Floats
    feature: Floats | None


def still(things: Things, shown: Sequence[Shown]) -> Stream:
    """A stream in which nothing moves, so that every thing is counted."""
    counted = np.ones(len(things.labels), bool)
    return Stream(shown, things.labels, things.center, things.size, counted)


@dataclass(frozen=True)
class Detector:
    """How it errs: sigma_m along each axis (which it knows), sides by a factor of size_noise."""

    sigma_m: float = 0.02
    size_noise: float = 0.05
    p_detect: float = 0.9


def unit(rows: Floats) -> Floats:
    """The rows, each divided by its norm."""
    scaled: Floats = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return scaled


def near_to(rng: Rng, rows: Floats, cosine: float) -> Floats:
    """Unit vectors that have this cosine to the given ones."""
    noise = rng.normal(size=rows.shape)
    noise = unit(noise - (noise * rows).sum(axis=-1, keepdims=True) * rows)
    return cosine * rows + math.sqrt(1 - cosine * cosine) * noise


def class_features(rng: Rng, labels: Sequence[str]) -> Floats:
    """(N, D): cosine 0.8 between things of one label, about 0 between others."""
    classes = sorted(set(labels))
    centers = unit(rng.normal(size=(len(classes), FEATURE_DIM)))
    rows = centers[[classes.index(label) for label in labels]]
    return near_to(rng, rows, math.sqrt(SAME_CLASS_COSINE))


def look(
    rng: Rng,
    things: Things,
    visible: Ints,
    number: int,
    position: Floats,
    detector: Detector,
    offset: Floats | None = None,
    said: Sequence[str] | None = None,
) -> Shown:
    """One view, two seconds after the one before it; its detections in random order.

    Args:
        visible: things that can be seen.
        position: of the sensor, metres, map, true.
        offset: (3,) metres by which the localisation is off.
        said: label that the detector gives each thing (default: its own).
    """
    offset = np.zeros(3) if offset is None else offset
    found = rng.permutation(visible[rng.random(len(visible)) < detector.p_detect])
    noise = rng.normal(size=(len(found), 3)) * detector.sigma_m
    center = things.center[found] + noise + offset
    size = things.size[found] * np.exp(rng.normal(size=(len(found), 3)) * detector.size_noise)
    feature: Sequence[Floats | None] = [None] * len(found)
    if things.feature is not None:
        feature = list(near_to(rng, things.feature[found], DETECTION_COSINE).astype(np.float32))
    score = rng.uniform(0.5, 1.0, len(found))
    labels = things.labels if said is None else said
    covariance = np.eye(3) * detector.sigma_m**2
    detections = [
        Detection(
            labels[t], float(score[k]), tuple(center[k]), tuple(size[k]),
            position_cov=covariance, feature=feature[k],
        )
        for k, t in enumerate(found.tolist())
    ]  # fmt: skip
    pose = Pose(tuple((position + offset).tolist()))
    return Shown(View(START_NS + number * 2 * SECOND_NS, 'camera', detections, pose), found)
