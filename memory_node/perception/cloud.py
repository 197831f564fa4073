# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Clouds of points with Open3D: thinning, outliers, clusters, oriented boxes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import ConvexHull, QhullError, cKDTree
from scipy.spatial.transform import Rotation

from memory_node.errors import MissingExtraError
from memory_node.model import Quaternion, Triple

Points = npt.NDArray[np.float64]

EDGES_OF_BOX = (1.0, 99.0)
"""Percentiles of the points along each axis at which a box ends: a few strays do not stretch it."""
MIN_CLUSTER = 2
"""A cell with fewer neighbours within the gap, itself among them, is in no cluster."""
CELLS_PER_GAP = 2.0
"""Clusters are found among cells of this part of the gap, so that it takes no time."""
FEWEST = 4
"""Points that have an axis of least spread."""
SQUARE = 1.02
"""Of rectangles no more than this much larger than the smallest, the one turned least is taken."""


class Box(NamedTuple):
    """A box in the frame of the points: centre and side lengths in metres."""

    center_m: Triple
    orientation_xyzw: Quaternion
    size_m: Triple


class Clouds:
    """What Open3D does for us; the import waits until somebody needs it.

    Open3D: Q.-Y. Zhou, J. Park, V. Koltun, "Open3D: A Modern Library for 3D Data Processing", 2018.
    """

    def __init__(self) -> None:
        """Import Open3D.

        Raises:
            MissingExtraError: it, or a library that it needs, is not installed.
        """
        try:
            import open3d
        except (ImportError, OSError) as error:
            raise MissingExtraError(
                'perception',
                f'lifting needs Open3D ({error})',
                'open3d (on Debian and Ubuntu also: '
                'sudo apt-get install libusb-1.0-0 libgl1 libegl1 libgomp1)',
            ) from error
        open3d.utility.set_verbosity_level(open3d.utility.VerbosityLevel.Error)
        self._open3d = open3d

    def thinned(self, points: Points, cell_m: float) -> Points:
        """Return one point, the mean, for each cube of space of that side."""
        return _array(self._cloud(points).voxel_down_sample(cell_m).points)

    def without_outliers(self, points: Points, neighbors: int, deviations: float) -> Points:
        """Return the points that are not unusually far from their neighbours."""
        if len(points) <= neighbors:
            return points
        kept, _ = self._cloud(points).remove_statistical_outlier(neighbors, deviations)
        return _array(kept.points)

    def clusters(self, points: Points, gap_m: float) -> npt.NDArray[np.int64]:
        """Return (N,) the number of the cluster of each point, -1 for none (DBSCAN)."""
        cells = self.thinned(points, gap_m / CELLS_PER_GAP)
        labels = np.asarray(self._cloud(cells).cluster_dbscan(gap_m, MIN_CLUSTER), np.int64)
        _, nearest = cKDTree(cells).query(points)
        return labels[nearest]

    def box(self, points: Points, level: npt.NDArray[np.float64] | None = None) -> Box:
        """Return the box around points.

        Args:
            points: (N, 3), N at least 1.
            level: (3, 3) rotation into a frame whose z points up: the box then stands upright, and
                is turned about that axis to cover the least ground. None: the axis of least spread
                stands for that one, the normal of what is flat or seen from one side.
        """
        axes = _free_axes(points) if level is None else _upright_axes(points, level)
        low, high = np.percentile(points @ axes, EDGES_OF_BOX, axis=0)
        center = axes @ ((low + high) / 2)
        x, y, z, w = Rotation.from_matrix(axes).as_quat().tolist()
        return Box(_triple(center), (x, y, z, w), _triple(high - low))

    def _cloud(self, points: Points) -> Any:
        vectors = self._open3d.utility.Vector3dVector(np.ascontiguousarray(points, np.float64))
        return self._open3d.geometry.PointCloud(vectors)


def _free_axes(points: Points) -> npt.NDArray[np.float64]:
    """Columns: axes of a box about the axis of least spread, as near as can be to the frame's."""
    if len(points) < FEWEST:
        return np.eye(3)
    _, basis = np.linalg.eigh(np.cov(points, rowvar=False))
    return _nearest_axes(_upright_axes(points, basis[:, ::-1].T))


def _upright_axes(points: Points, level: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Columns: axes, in the frame of the points, of an upright box that covers the least ground."""
    ground = (points @ level.T)[:, :2]
    try:
        corners = ground[ConvexHull(ground).vertices]
    except (QhullError, ValueError):  # too few, or seen from above they lie on a line
        return level.T @ _turned(ground)
    sides = np.roll(corners, -1, axis=0) - corners
    turns = np.arctan2(sides[:, 1], sides[:, 0])
    turns = (turns + np.pi / 4) % (np.pi / 2) - np.pi / 4
    cos, sin = np.cos(turns), np.sin(turns)
    along = np.ptp(corners[:, :1] * cos + corners[:, 1:] * sin, axis=0)
    across = np.ptp(corners[:, 1:] * cos - corners[:, :1] * sin, axis=0)
    area = along * across
    fine = np.flatnonzero(area <= SQUARE * area.min())
    k = fine[np.argmin(np.abs(turns[fine]))]
    return level.T @ _turn(float(turns[k]))


def _turned(ground: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The turn about z that brings an axis along points of a line."""
    x, y = (ground[-1] - ground[0]).tolist()
    return _turn((float(np.arctan2(y, x)) + np.pi / 4) % (np.pi / 2) - np.pi / 4)


def _turn(angle: float) -> npt.NDArray[np.float64]:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def _nearest_axes(axes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The same three axes in the order and with the signs that turn them least."""
    ordered = np.zeros((3, 3))
    left = [0, 1, 2]
    for row in np.argsort(-np.abs(axes).max(axis=1)):
        column = max(left, key=lambda k, row=row: abs(axes[row, k]))  # type: ignore[misc]
        left.remove(column)
        ordered[:, row] = axes[:, column] * (1.0 if axes[row, column] >= 0 else -1.0)
    if np.linalg.det(ordered) < 0:
        ordered[:, np.argmin(np.abs(np.diagonal(ordered)))] *= -1.0
    return ordered


def _array(vectors: Any) -> Points:
    return np.asarray(vectors, np.float64)


def _triple(values: npt.NDArray[np.float64]) -> Triple:
    x, y, z = values.tolist()
    return x, y, z
