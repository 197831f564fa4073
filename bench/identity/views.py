# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""(g) Fifteen real views of a shelf, boxes straight from the noisy masks of a real network.

A detection is a mask above the threshold that its makers used: label of the network, mean
probability as the score, and the box from the 5th to the 95th percentile of its depth points along
the map's axes. Its thing is the one that most of its pixels lie on in the clean masks; on
background: a false alarm. The feature is a histogram of the colours under the mask. True places are
those of the clean masks, lifted likewise, in the median of the views.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy.spatial.transform import Rotation

from identity.stream import FALSE_ALARM, SECOND_NS, START_NS, Case, Given, Shown, Stream
from memory_node.model import Detection, Floats, Pose, View

FRAMES = 15
LABELS = {
    'creativity_chenille_stems': 48,
    'i_am_a_bunny_book': 114,
    'kleenex_tissue_box': 132,
    'laugh_out_loud_joke_book': 144,
}
"""Name → value in the clean masks."""
MIN_POINTS = 50
BOX_PERCENTILES = (5, 95)
SIGMA_M = 0.02
COLOUR_LEVELS = 4
ORDERS = 5
"""Streams: the views in so many orders."""

Mask = npt.NDArray[np.bool_]


def folder(given: Given) -> Path:
    """Where the data would be."""
    return given.shared / 'data' / 'apc_shelf_rgbd'


def found(given: Given) -> str:
    """What is missing of the data of this section; empty: nothing."""
    return (
        ''
        if (folder(given) / 'cam.info.txt').exists()
        else f'not measured, as {folder(given)} is absent'
    )


def cases(given: Given) -> Iterator[Case]:
    """Rows of the table."""
    if not found(given):
        for features in (True, False):
            words = 'colour histogram' if features else 'no feature'
            make = partial(_make, folder(given), features, given.seeds(ORDERS))
            yield Case('g', f'{FRAMES} views, {words}', make)


def _make(data: Path, features: bool, seeds: list[int]) -> list[Stream]:
    return [_stream(data, features, seed) for seed in seeds]


def _stream(data: Path, features: bool, seed: int) -> Stream:
    frames, center, size = _everything(data)
    order = np.random.default_rng([seed, 7]).permutation(FRAMES)
    shown = []
    for k, frame in enumerate(order.tolist()):
        rows, pose = frames[frame]
        detections = [
            Detection(
                label, score, tuple(box[0]), tuple(box[1]), feature=colours if features else None,
                position_cov=np.eye(3) * SIGMA_M**2,
            )
            for label, score, box, colours, _ in rows
        ]  # fmt: skip
        view = View(START_NS + k * 2 * SECOND_NS, 'wrist', detections, pose)
        shown.append(Shown(view, np.array([row[4] for row in rows], dtype=np.int64)))
    return Stream(shown, list(LABELS), center, size, np.ones(len(LABELS), bool))


@functools.cache
def _everything(data: Path) -> tuple[list[tuple[list[tuple], Pose]], Floats, Floats]:
    """Detections and pose of each frame, and the true centres and sizes (4, 3)."""
    matrices = _matrices((data / 'cam.info.txt').read_text())
    thresholds = {n: float((data / 'masks' / f'{n}.thresh.txt').read_text()) for n in LABELS}
    frames, boxes = [], []
    for k in range(FRAMES):
        frame = data / f'frame-{k:06d}'
        pose = matrices[f'frame-{k:06d}']
        points = _points(f'{frame}.depth.png', matrices['Color camera intrinsic'], pose)
        colour = np.asarray(Image.open(f'{frame}.color.png').convert('RGB'))
        clean = np.asarray(Image.open(data / 'segm' / f'frame-{k:06d}.segm.png'))
        rows = []
        for label in LABELS:
            path = data / 'masks' / f'frame-{k:06d}.{label}.mask.png'
            probability = np.asarray(Image.open(path)) / 65535.0
            mask = probability > thresholds[label]
            box = _box(points, mask)
            if box is not None:
                score = float(probability[mask].mean())
                rows.append((label, score, box, _histogram(colour, mask), _thing(clean, mask)))
        turn = tuple(Rotation.from_matrix(pose[:3, :3]).as_quat().tolist())
        frames.append((rows, Pose(tuple(pose[:3, 3].tolist()), turn)))
        boxes.append([_box(points, clean == value) for value in LABELS.values()])
    true = [[row[t] for row in boxes if row[t] is not None] for t in range(len(LABELS))]
    medians = [np.median(np.array(rows), axis=0) for rows in true]
    return frames, np.array([m[0] for m in medians]), np.array([m[1] for m in medians])


def _matrices(text: str) -> dict[str, Floats]:
    """The matrices of cam.info.txt by the first words of their headings, or frame-NNNNNN."""
    found = {}
    for heading, rows in re.findall(r'^# (.*)\n((?:[ \t-][^#\n]+\n)+)', text + '\n', flags=re.M):
        name = re.search(r'frame-\d{6}', heading)
        key = name.group() if name else heading.split(' matrix')[0]
        found[key] = np.array([line.split() for line in rows.splitlines()], dtype=float)
    return found


def _points(path: str, camera: Floats, pose: Floats) -> Floats:
    """(H, W, 3) metres, map; NaN without depth."""
    raw = np.asarray(Image.open(path)).astype(np.uint16)
    z = ((raw << np.uint16(13)) | (raw >> np.uint16(3))).astype(np.float64) / 10000.0
    z[z == 0] = np.nan
    v, u = np.indices(z.shape)
    x, y = (u - camera[0, 2]) / camera[0, 0] * z, (v - camera[1, 2]) / camera[1, 1] * z
    points: Floats = np.stack([x, y, z], axis=-1) @ pose[:3, :3].T + pose[:3, 3]
    return points


def _box(points: Floats, mask: Mask) -> tuple[Floats, Floats] | None:
    """Centre and size; None where too few pixels have depth."""
    inside = points[mask]
    inside = inside[np.isfinite(inside[:, 0])]
    if len(inside) < MIN_POINTS:
        return None
    low, high = np.percentile(inside, BOX_PERCENTILES, axis=0)
    return (low + high) / 2, high - low


def _histogram(colour: npt.NDArray[np.uint8], mask: Mask) -> Floats:
    """(64,) unit norm: the roots of the shares of 4 x 4 x 4 colours."""
    levels = colour[mask].astype(np.int64) * COLOUR_LEVELS // 256
    index = (levels * np.array([COLOUR_LEVELS**2, COLOUR_LEVELS, 1])).sum(axis=1)
    share = np.bincount(index, minlength=COLOUR_LEVELS**3) / len(index)
    histogram: Floats = np.sqrt(share)
    return histogram


def _thing(clean: npt.NDArray[np.uint8], mask: Mask) -> int:
    """The thing that most of the mask lies on."""
    values = list(LABELS.values())
    counts = [int((clean[mask] == value).sum()) for value in values]
    most = int(np.argmax(counts))
    return most if counts[most] > int(mask.sum()) - sum(counts) else FALSE_ALARM
