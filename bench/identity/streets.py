# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""(f) Argoverse 2: real 3D detections outdoors, against true tracks. For measuring only.

Licence CC BY-NC-SA: nothing of it is copied. Things are the true tracks; counted are those that
stay put. A detection belongs to the nearest track within a metre of it, one to one in each frame;
without any it is a false alarm. The detector's classes are not in the data: all are `object`.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from identity.stream import FALSE_ALARM, Case, Given, Shown, Stream
from memory_node.model import Detection, Floats, Pose, View

PREDICTIONS, TRUTH = 'combined_predictions_dev.pkl', 'combined_gt_dev.pkl'
STAYS_M = 0.5
FRAMES = 10
"""A track seen in fewer frames may be standing for a moment only: it is not counted."""
NEAR_M = 1.0
MIN_SCORES = (0.3, 0.1)
SIGMA_M = 0.2
"""Median distance to the nearest annotation as its README measured it."""
NUMPY = {
    ('numpy', 'ndarray'), ('numpy', 'dtype'), ('numpy._core.multiarray', '_reconstruct'),
    ('numpy._core.multiarray', 'scalar'), ('numpy._core.numeric', '_frombuffer'),
}  # fmt: skip


class _NumpyOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in NUMPY:
            raise pickle.UnpicklingError(f'no such class expected in the data: {module}.{name}')
        return super().find_class(module, name)


def folder(given: Given) -> Path:
    """Where the data would be."""
    return given.shared / 'data' / 'av2_tracking_nc'


def found(given: Given) -> str:
    """What is missing of the data of this section; empty: nothing."""
    if not (folder(given) / PREDICTIONS).exists():
        return f'not measured, as {folder(given)} is absent'
    return (
        '' if int(np.__version__.split('.')[0]) >= 2 else 'not measured, as its files need numpy 2'
    )


def cases(given: Given) -> Iterator[Case]:
    """Rows of the table."""
    if not found(given):
        for score in MIN_SCORES[: 1 if given.quick else None]:
            name = f'two logs, detections with score ≥ {score:g}, no feature'
            yield Case('f', name, partial(_make, folder(given), score))


def _load(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Log → frames; the same for every prompt."""
    by_prompt = _NumpyOnly(io.BytesIO(path.read_bytes())).load()
    return {log: frames for (log, _), frames in sorted(by_prompt.items(), reverse=True)}


def _make(data: Path, min_score: float) -> list[Stream]:
    truth = _load(data / TRUTH)
    predicted = _load(data / PREDICTIONS)
    return [_stream(predicted[log], truth[log], min_score) for log in sorted(predicted)]


def _stream(
    predicted: list[dict[str, Any]], truth: list[dict[str, Any]], min_score: float
) -> Stream:
    by_stamp = {int(frame['timestamp_ns']): frame for frame in truth}
    ids = sorted({str(t) for frame in truth for t in frame['track_id']})
    number = {track: k for k, track in enumerate(ids)}
    places: list[list[Floats]] = [[] for _ in ids]
    sizes: list[list[Floats]] = [[] for _ in ids]
    for frame in truth:
        for track, place, size, yaw in zip(
            frame['track_id'], frame['translation_m'], frame['size'], frame['yaw']
        ):
            places[number[str(track)]].append(place)
            sizes[number[str(track)]].append(np.asarray(size, dtype=float))
            del yaw
    spread = [np.ptp(np.array(p), axis=0).max() for p in places]
    counted = np.array([s < STAYS_M and len(p) >= FRAMES for s, p in zip(spread, places)])
    shown = [_shown(f, by_stamp.get(int(f['timestamp_ns'])), number, min_score) for f in predicted]
    center = np.array([np.median(p, axis=0) for p in places])
    size = np.array([np.median(s, axis=0) for s in sizes])
    return Stream(shown, ['object'] * len(ids), center, size, counted)


def _shown(
    frame: dict[str, Any], truth: dict[str, Any] | None, number: dict[str, int], min_score: float
) -> Shown:
    keep = np.flatnonzero(np.asarray(frame['score']) >= min_score)
    center = np.asarray(frame['translation_m'], dtype=float)[keep]
    things = np.full(len(keep), FALSE_ALARM)
    if truth is not None and len(keep):
        distance = cdist(center, np.asarray(truth['translation_m'], dtype=float))
        row, column = linear_sum_assignment(np.minimum(distance, 10 * NEAR_M))
        near = distance[row, column] <= NEAR_M
        tracks = [number[str(truth['track_id'][k])] for k in column[near]]
        things[row[near]] = tracks
    detections = [
        Detection(
            'object', float(frame['score'][i]), tuple(center[k]),
            tuple(np.asarray(frame['size'][i], dtype=float)),
            orientation_xyzw=(0.0, 0.0, float(np.sin(frame['yaw'][i] / 2)),
                              float(np.cos(frame['yaw'][i] / 2))),
            position_cov=np.eye(3) * SIGMA_M**2,
        )
        for k, i in enumerate(keep.tolist())
    ]  # fmt: skip
    pose = Pose(tuple(np.asarray(frame['ego_translation_m'], dtype=float).tolist()))
    return Shown(View(int(frame['timestamp_ns']), 'lidar', detections, pose), things)
