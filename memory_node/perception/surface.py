# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a depth camera measured: a point for each pixel, and where the surface breaks off."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memory_node.errors import InvalidValueError

Floats = npt.NDArray[np.floating]
Bools = npt.NDArray[np.bool_]


class Pinhole(NamedTuple):
    """Focal lengths and principal point, in pixels of the depth image."""

    fx: float
    fy: float
    cx: float
    cy: float

    def scaled(self, scale: float) -> Pinhole:
        """The same camera with so many pixels where there was one; pixel centres are whole."""
        return Pinhole(
            self.fx * scale, self.fy * scale,
            (self.cx + 0.5) * scale - 0.5, (self.cy + 0.5) * scale - 0.5,
        )  # fmt: skip


class Surface:
    """An organised range image in the optical frame (x right, y down, z forward), metres.

    Attributes:
        depth_m: (H, W) float32, z of each pixel; 0 where nothing was measured (C20).
        pixel_rad: about the angle between two neighbouring pixels.
    """

    def __init__(
        self, depth_m: npt.ArrayLike, camera: Pinhole | None = None, xy_m: Floats | None = None
    ) -> None:
        """Take over what was measured.

        Args:
            depth_m: (H, W); zero, negative, NaN and infinite values mean nothing.
            camera: that took it, or
            xy_m: (H, W, 2) x and y of each pixel, of an organised cloud.

        Raises:
            InvalidValueError: it is no image, or neither or both of the others are given.
        """
        given = np.asarray(depth_m, np.float32)
        if given.ndim != 2 or 0 in given.shape:
            raise InvalidValueError(f'depth: got an array of {given.shape}, expected (H, W)')
        if (camera is None) == (xy_m is None):
            raise InvalidValueError('surface: expected either a camera or x and y of each pixel')
        with np.errstate(invalid='ignore'):
            fine = (given > 0) & (given < np.float32(np.inf))
        if xy_m is not None:
            if xy_m.shape != (*given.shape, 2):
                raise InvalidValueError(
                    f'cloud: got x and y of {xy_m.shape}, expected {(*given.shape, 2)}'
                )
            fine &= np.isfinite(xy_m).all(axis=2)
        self.depth_m: npt.NDArray[np.float32] = np.where(fine, given, np.float32(0))
        self._camera, self._xy = camera, xy_m
        self.pixel_rad = 1.0 / camera.fx if camera is not None else self._pixel_of_cloud()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.depth_m.shape[1], self.depth_m.shape[0]

    def points(self, rows: np.ndarray, columns: np.ndarray) -> npt.NDArray[np.float64]:
        """Return (N, 3) metres of pixels that were measured."""
        z = self.depth_m[rows, columns].astype(np.float64)
        if self._camera is None:
            assert self._xy is not None
            return np.column_stack([self._xy[rows, columns].astype(np.float64), z])
        fx, fy, cx, cy = self._camera
        return np.column_stack([(columns - cx) / fx * z, (rows - cy) / fy * z, z])

    def edges(self, rows: slice, columns: slice, jump_m: float, jump_share: float) -> Bools:
        """Return (h, w) where within a part of the image the depth jumps to a neighbour.

        Both sides of a jump are marked: what a camera measures between a thing and what is behind
        it belongs to neither. A pixel beside one without depth is not marked for that.

        Args:
            rows, columns: the part. jump_m, jump_share: a jump is longer than the first and this
                share of the depth together.
        """
        z = self.depth_m[rows, columns]
        found = np.zeros(z.shape, bool)
        for axis in (0, 1):
            one = z[:-1] if axis == 0 else z[:, :-1]
            two = z[1:] if axis == 0 else z[:, 1:]
            limit = np.float32(jump_m) + np.float32(jump_share) * np.minimum(one, two)
            jump = (np.abs(one - two) > limit) & (one > 0) & (two > 0)
            (found[:-1] if axis == 0 else found[:, :-1])[jump] = True
            (found[1:] if axis == 0 else found[:, 1:])[jump] = True
        return found

    def _pixel_of_cloud(self) -> float:
        """The median angle between points of one row."""
        assert self._xy is not None
        one, two = self.depth_m[::8, :-1], self.depth_m[::8, 1:]
        both = (one > 0) & (two > 0)
        if not both.any():
            return 1.0 / max(self.depth_m.shape)
        x = self._xy[::8, :, 0]
        angle = np.abs((x[:, 1:][both] / two[both]) - (x[:, :-1][both] / one[both]))
        return float(max(np.median(angle), 1e-5))
