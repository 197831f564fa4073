# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Cut the shelf of the demo out of the data set apc_shelf_rgbd.

`python bench/cut_shelf_subset.py` writes `memory_node/demo/data/shelf/` anew from
`../shared/data/apc_shelf_rgbd`; it needs Pillow. The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import io
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

PROJECT = Path(__file__).resolve().parents[1]
SHARED = PROJECT.parent / 'shared'
LABELS = {
    'creativity_chenille_stems': 48,
    'i_am_a_bunny_book': 114,
    'kleenex_tissue_box': 132,
    'laugh_out_loud_joke_book': 144,
}
"""Object → its number in the clean masks."""
VIEWS = 15
EPOCH = (1980, 1, 1, 0, 0, 0)


def numbers_after(text: str, title: str) -> np.ndarray:
    """Return the matrix below a title of cam.info.txt."""
    rows = text.split(title, 1)[1].splitlines()[1:5]
    return np.array([[float(v) for v in row.split()] for row in rows if row.strip()])


def depth_of(path: Path) -> np.ndarray:
    """Return (480, 640) uint16, a tenth of a millimetre; 0: no depth."""
    raw = np.asarray(Image.open(path)).astype(np.uint16)
    return (raw << np.uint16(13)) | (raw >> np.uint16(3))


def masks_of(data: Path, view: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the network's masks of a view: (480, 640) ids from 1, 0 for nothing, and scores.

    A pixel is of an object where its probability reaches the threshold that the team used; where
    several do, of the likeliest. The score is the mean probability of these pixels, 0 without any.
    """
    best, ids = np.zeros((480, 640)), np.zeros((480, 640), np.uint8)
    for number, name in enumerate(LABELS, start=1):
        path = data / 'masks' / f'frame-{view:06d}.{name}.mask.png'
        if not path.exists():
            continue
        chance = np.asarray(Image.open(path)) / 65535
        threshold = float((data / 'masks' / f'{name}.thresh.txt').read_text())
        taken = (chance >= threshold) & (chance > best)
        ids[taken], best[taken] = number, chance[taken]
    count = np.bincount(ids.ravel(), minlength=len(LABELS) + 1)[1:]
    total = np.bincount(ids.ravel(), best.ravel(), minlength=len(LABELS) + 1)[1:]
    return ids, (total / np.maximum(count, 1)).astype(np.float32)


def centre_of(depth_m: np.ndarray, mask: np.ndarray, k: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Return (3,) the median place of what a clean mask shows, metres, robot base."""
    rows, columns = np.nonzero(mask & (depth_m > 0))
    z = depth_m[rows, columns]
    points = np.column_stack([(columns - k[0, 2]) / k[0, 0] * z, (rows - k[1, 2]) / k[1, 1] * z, z])
    return np.median(points @ pose[:3, :3].T + pose[:3, 3], axis=0)


def cut(data: Path) -> dict[str, Any]:
    """Return the arrays of shelf.npz."""
    text = (data / 'cam.info.txt').read_text()
    k = numbers_after(text, '# Color camera intrinsic matrix')[:3]
    poses = [
        numbers_after(text, f'(camera pose) for frame-{view:06d}') for view in range(VIEWS)
    ]  # fmt: skip
    depths = [depth_of(data / f'frame-{view:06d}.depth.png') for view in range(VIEWS)]
    ids, scores = zip(*(masks_of(data, view) for view in range(VIEWS)))
    truth = []
    for number in LABELS.values():
        places = []
        for view in range(VIEWS):
            segm = np.asarray(Image.open(data / 'segm' / f'frame-{view:06d}.segm.png'))
            places.append(centre_of(depths[view] / 1e4, segm == number, k, poses[view]))
        truth.append(np.median(places, axis=0))
    return {
        'labels': np.array([name.replace('_', ' ') for name in LABELS]),
        'depth_tenth_mm': np.array(depths), 'ids': np.array(ids), 'scores': np.array(scores),
        'k': k, 'poses': np.array(poses), 'truth_m': np.array(truth),
    }  # fmt: skip


def write(data: Path, target: Path) -> int:
    """Write the subset with its licence; return its size in bytes."""
    target.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target / 'shelf.npz', 'w') as archive:
        for name, array in cut(data).items():
            buffer = io.BytesIO()
            np.save(buffer, array)
            member = zipfile.ZipInfo(f'{name}.npy', EPOCH)
            archive.writestr(member, buffer.getvalue(), zipfile.ZIP_DEFLATED, 9)
    shutil.copyfile(data / 'LICENSE', target / 'LICENSE.apc-vision-toolbox')
    return sum(path.stat().st_size for path in target.iterdir())


def main() -> None:
    """Read the arguments and write the subset."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--data', type=Path, default=SHARED / 'data' / 'apc_shelf_rgbd')
    parser.add_argument(
        '--target', type=Path, default=PROJECT / 'memory_node' / 'demo' / 'data' / 'shelf'
    )
    arguments = parser.parse_args()
    print(f'{arguments.target}: {write(arguments.data, arguments.target) / 1000:.0f} kB')


if __name__ == '__main__':
    main()
