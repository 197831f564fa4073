# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""CameraInfo and depth images as the core's words: pure functions, nothing else."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memory_node.errors import SpatialMemoryError
from memory_node.model import DepthImage, FieldOfView

_ENCODINGS = {'32FC1': (np.dtype(np.float32), 1.0), '16UC1': (np.dtype(np.uint16), 1e-3)}
"""Encoding → type of a pixel, and how many metres its one is (REP 118)."""

NO_INTRINSICS = 'camera_info_empty'
ENCODING = 'depth_encoding'
SIZE = 'depth_size'
DATA = 'depth_data'


class CameraError(SpatialMemoryError):
    """What a camera sends cannot be used.

    Attributes:
        reason: the key to count it under.
    """

    def __init__(self, reason: str, details: str) -> None:
        super().__init__(details)
        self.reason = reason


class Intrinsics(NamedTuple):
    """A pinhole camera: size of its images, focal lengths and principal point in pixels."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float


def intrinsics_of(info: Any) -> Intrinsics:
    """Return the intrinsics of a sensor_msgs/CameraInfo: those of K, where that is zero of P.

    Raises:
        CameraError: both are zero (an uncalibrated camera), or the numbers make no camera.
    """
    k, p = info.k, info.p
    found = (k[0], k[4], k[2], k[5]) if any(k) else (p[0], p[5], p[2], p[6])
    fx, fy, cx, cy = map(float, found)
    width, height = int(info.width), int(info.height)
    sane = all(map(math.isfinite, (fx, fy, cx, cy))) and min(fx, fy, width, height) > 0
    if not sane or not (0 <= cx < width and 0 <= cy < height):
        raise CameraError(NO_INTRINSICS, (
            f'camera_info: got {width} x {height} pixels, fx {fx:g}, fy {fy:g}, cx {cx:g}, '
            f'cy {cy:g}, expected sizes and focal lengths above 0 in K or P, and a principal '
            'point in the image'
        ))  # fmt: skip
    return Intrinsics(width, height, fx, fy, cx, cy)


def field_of_view_of(camera: Intrinsics, min_range_m: float, max_range_m: float) -> FieldOfView:
    """Return what a camera sees about its optical axis."""
    across = 2 * math.atan(camera.width / (2 * camera.fx))
    down = 2 * math.atan(camera.height / (2 * camera.fy))
    return FieldOfView(across, down, min_range_m, max_range_m)


def depth_of(image: Any, camera: Intrinsics) -> DepthImage:
    """Return a sensor_msgs/Image of 32FC1 (metres) or 16UC1 (millimetres) as depth.

    Raises:
        CameraError: it is of another encoding, of another size than the camera says, or its data
            do not have the size that it names.
    """
    _known_encoding(image)
    height, width = int(image.height), int(image.width)
    if (width, height) != (camera.width, camera.height):
        raise CameraError(SIZE, (
            f'depth: got {width} x {height} pixels, expected {camera.width} x {camera.height} as '
            'camera_info says'
        ))  # fmt: skip
    return DepthImage(metres_of(image), camera.fx, camera.fy, camera.cx, camera.cy)


def metres_of(image: Any) -> npt.NDArray[np.float32]:
    """Return (H, W) metres of a sensor_msgs/Image of 32FC1 (metres) or 16UC1 (millimetres).

    Raises:
        CameraError: it is of another encoding, or its data do not have the size that it names.
    """
    kind, metres = _known_encoding(image)
    depth = pixels_of(image, kind, 'depth').astype(np.float32)
    if metres != 1.0:
        depth *= np.float32(metres)
    return depth


def pixels_of(image: Any, kind: np.dtype[Any], what: str) -> npt.NDArray[Any]:
    """Return (H, W) pixels of a sensor_msgs/Image with one number each.

    Args:
        image: what was sent. kind: type of its numbers. what: it is, for the complaint.

    Raises:
        CameraError: its data do not have the size that it names.
    """
    height, width, step = int(image.height), int(image.width), int(image.step)
    data = np.frombuffer(image.data, np.uint8)
    if step < width * kind.itemsize or len(data) != height * step:
        raise CameraError(DATA, (
            f'{what}: got {len(data)} bytes with step {step}, expected height times step, and a '
            f'step of at least {width * kind.itemsize}'
        ))  # fmt: skip
    rows = np.ascontiguousarray(data.reshape(height, step)[:, : width * kind.itemsize])
    return rows.view(kind.newbyteorder('>' if image.is_bigendian else '<'))


def _known_encoding(image: Any) -> tuple[np.dtype[Any], float]:
    """The type of a pixel, and how many metres its one is."""
    if image.encoding not in _ENCODINGS:
        raise CameraError(
            ENCODING, f'depth: got encoding {image.encoding!r}, expected 32FC1 (m) or 16UC1 (mm)'
        )
    return _ENCODINGS[image.encoding]
