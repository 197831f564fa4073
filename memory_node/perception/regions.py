# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Where in an image a detector saw things: boxes and masks, on the pixels of the depth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from memory_node.errors import SpatialMemoryError

Mask = npt.NDArray[np.bool_]
Size = tuple[int, int]
"""Width and height in pixels."""

OFF_IMAGE = 'off_image'
MASK_SIZE = 'mask_size'
NOT_ALIGNED = 'not_aligned'
NO_NAME = 'id_without_name'
FEW_IDS = 65536
"""Ids below this are looked up directly, others are numbered first."""


class RegionError(SpatialMemoryError):
    """A part of an image cannot be used.

    Attributes:
        reason: the key to count it under.
    """

    def __init__(self, reason: str, details: str) -> None:
        super().__init__(details)
        self.reason = reason


@dataclass(frozen=True)
class Claimed:
    """What a detector says of one thing: the words of `Detection` that need no depth."""

    label: str
    score: float
    alternatives: Mapping[str, float] = field(default_factory=dict)
    track_id: str = ''


@dataclass(frozen=True)
class Region:
    """Pixels of one thing.

    Attributes:
        claim: what it is.
        top, left: first row and column.
        mask: (h, w) which pixels from there on are it.
        is_box: whether the mask is no more than a box that holds it, with much beside it.
    """

    claim: Claimed
    top: int
    left: int
    mask: Mask
    is_box: bool = False

    @property
    def rows(self) -> slice:
        """Rows of the image that the mask covers."""
        return slice(self.top, self.top + self.mask.shape[0])

    @property
    def columns(self) -> slice:
        """Columns of the image that the mask covers."""
        return slice(self.left, self.left + self.mask.shape[1])


def scale_between(image: Size, depth: Size, aligned: bool) -> float:
    """Return how many depth pixels lie along one pixel of the image that was looked at (C23).

    Args:
        image, depth: sizes of the two. aligned: whether both show the same, at another resolution.

    Raises:
        RegionError: the sizes differ and nobody said that they show the same, or cannot.
    """
    if image == depth:
        return 1.0
    sizes = f'{image[0]} x {image[1]} pixels beside depth of {depth[0]} x {depth[1]}'
    if not aligned:
        raise RegionError(
            NOT_ALIGNED,
            f'got {sizes}, expected one size, or aligned: true where both show the same',
        )
    if min(image) < 1 or image[0] * depth[1] != image[1] * depth[0]:
        raise RegionError(NOT_ALIGNED, f'got {sizes}, expected sizes of one shape')
    return depth[0] / image[0]


def region_of_box(
    claim: Claimed, center: tuple[float, float], size: tuple[float, float], depth: Size,
    scale: float = 1.0, turn_rad: float = 0.0,
) -> Region:  # fmt: skip
    """Return the part of a box that lies in the image.

    Args:
        claim: what it holds.
        center, size: (x, y) and (width, height) in pixels of the image that was looked at.
        depth: size of the depth image.
        scale: depth pixels along one of those, see `scale_between`.
        turn_rad: of the box about its centre; its upright hull is taken.

    Raises:
        RegionError: none of it lies in the image, or it is no box.
    """
    u, v = center
    cos, sin = abs(math.cos(turn_rad)), abs(math.sin(turn_rad))
    width, height = size[0] * cos + size[1] * sin, size[0] * sin + size[1] * cos
    if not all(map(math.isfinite, (u, v, width, height))) or min(size) <= 0:
        raise RegionError(
            OFF_IMAGE, f'box: got centre ({u:g}, {v:g}) and size {size}, expected numbers above 0'
        )
    left, right = (_clipped(scale * (u + k * width / 2), depth[0]) for k in (-1, 1))
    top, bottom = (_clipped(scale * (v + k * height / 2), depth[1]) for k in (-1, 1))
    if left >= right or top >= bottom:
        raise RegionError(
            OFF_IMAGE,
            f'box: got centre ({u:g}, {v:g}) and size {size}, expected a part of it in the image',
        )
    return Region(claim, top, left, np.ones((bottom - top, right - left), bool), is_box=True)


def fitted(ids: np.ndarray, depth: Size, aligned: bool) -> np.ndarray:
    """Return an image of ids on the pixels of the depth.

    Args:
        ids: (H, W). depth: size of the depth image. aligned: see `scale_between`.

    Raises:
        RegionError: it is of another size, and may or can not be scaled.
    """
    size = (ids.shape[1], ids.shape[0])
    try:
        if scale_between(size, depth, aligned) == 1.0:
            return ids
    except RegionError as error:
        raise RegionError(MASK_SIZE, f'masks: {error}') from error
    rows, columns = (
        np.minimum((np.arange(to) + 0.5) * (of / to), of - 1).astype(np.intp)
        for to, of in ((depth[1], size[1]), (depth[0], size[0]))
    )
    return ids[rows[:, None], columns]


def masks_of(ids: np.ndarray) -> Iterator[tuple[int, int, int, Mask]]:
    """Yield id, top, left and mask of everything in an image of ids, but for 0, in their order."""
    if not ids.size:
        return
    numbers: np.ndarray | None = None
    if int(ids.max()) >= FEW_IDS or int(ids.min()) < 0:
        numbers, ids = np.unique(ids, return_inverse=True)
        ids = ids.reshape(-1, ids.shape[-1]) + 1
    for k, found in enumerate(ndimage.find_objects(ids.astype(np.int32)), start=1):
        number = k if numbers is None else int(numbers[k - 1])
        if found is not None and number != 0:
            yield number, found[0].start, found[1].start, ids[found] == k


def _clipped(edge: float, size: int) -> int:
    return round(min(max(edge, 0.0), float(size)))
