# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Where a robot can stand to face an object: around its footprint, clear of what is known there.

Poses lie on the ground, z = 0 of the map, at a few distances from the footprint of its hull, all
around it. Kept are those at which a disc of the robot's radius touches no box of the memory that
stands between ankle and head, and no occupied or unknown cell of a grid, and from which no such box
and nothing occupied with free space behind it hides the object.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from memory_node.errors import InvalidValueError
from memory_node.model import Floats, Pose, Triple
from memory_node.scene.boxes import Bools
from memory_node.scene.support import DIGITS
from memory_node.scene.things import Things

LOW_M, HIGH_M = 0.05, 1.8
"""A box whose top is lower, or whose bottom is higher, is in nobody's way."""
STEP_M = 0.15
"""Poses along a side of the footprint are so far apart, and so are looks along the line to it."""
CORNER = 4
"""Poses around each corner."""
RINGS = 3
"""Distances that are tried."""
COMFORT = 2.0
"""More room than so many radii is not better."""
MAX_CELLS = 64_000_000


@dataclass(frozen=True)
class Grid:
    """An occupancy grid that lies flat in the map.

    Attributes:
        occupied: (H, W) bool, also what is unknown; row 0 is at y = 0 of the grid.
        resolution_m: side of a cell.
        origin_m: of the outer corner of cell (0, 0) in the map. yaw_rad: of its x axis.
    """

    occupied: Bools
    resolution_m: float
    origin_m: tuple[float, float] = (0.0, 0.0)
    yaw_rad: float = 0.0

    def __post_init__(self) -> None:
        """Check what was given.

        Raises:
            InvalidValueError: it is no grid.
        """
        cells, resolution = self.occupied, self.resolution_m
        if cells.ndim != 2 or not 0 < cells.size <= MAX_CELLS:
            raise InvalidValueError(
                f'grid: got the shape {cells.shape}, expected height and width, and at most '
                f'{MAX_CELLS} cells'
            )
        if not math.isfinite(resolution) or not 0 < resolution <= 10:
            raise InvalidValueError(
                f'grid: got a resolution of {resolution!r}, expected more than 0 m, at most 10 m'
            )
        if not all(map(math.isfinite, (*self.origin_m, self.yaw_rad))):
            raise InvalidValueError(
                f'grid: got the origin {self.origin_m}, {self.yaw_rad!r}, expected finite numbers'
            )

    @classmethod
    def of_cells(
        cls, data: npt.ArrayLike, height: int, width: int, resolution_m: float,
        origin_m: tuple[float, float], yaw_rad: float, occupied_from: int = 65,
    ) -> Grid:  # fmt: skip
        """A grid from the row-major cells of nav_msgs/OccupancyGrid: -1 unknown, 0 to 100.

        Raises:
            InvalidValueError: there are not height × width cells, or one of another value.
        """
        cells = np.asarray(data, dtype=np.int8)
        if not 1 <= occupied_from <= 100:
            raise InvalidValueError(f'occupied_from: got {occupied_from}, expected 1 to 100')
        if cells.shape != (height * width,):
            raise InvalidValueError(
                f'grid: got {cells.size} cells, expected {height} × {width} = {height * width}'
            )
        if cells.size and not -1 <= cells.min() <= cells.max() <= 100:
            raise InvalidValueError(
                f'grid: got cells from {cells.min()} to {cells.max()}, expected -1 to 100'
            )
        blocked = (cells >= occupied_from) | (cells < 0)
        return cls(blocked.reshape(height, width), resolution_m, origin_m, yaw_rad)

    def clearances(self, points: Floats, reach_m: float) -> Floats:
        """(N,) distance of points (N, 2) to the nearest cell that is not free, up to reach_m."""
        if not len(points):
            return np.zeros(0)
        place = self._places(points)
        margin = math.ceil(reach_m / self.resolution_m) + 2
        low = np.floor(place.min(axis=0)).astype(int) - margin
        high = np.ceil(place.max(axis=0)).astype(int) + margin
        size = np.array(self.occupied.shape[::-1])
        if float(high[0] - low[0]) * float(high[1] - low[1]) > MAX_CELLS:
            raise InvalidValueError(
                f'grid: got cells of {self.resolution_m:g} m, expected larger ones: poses lie '
                f'{(high - low).max() * self.resolution_m:g} m apart'
            )
        window = np.ones((high - low)[::-1], bool)
        a, b = np.clip(low, 0, size), np.clip(high, 0, size)
        if (b > a).all():
            x, y = a - low
            w, h = b - a
            window[y : y + h, x : x + w] = self.occupied[a[1] : b[1], a[0] : b[0]]
        away = ndimage.distance_transform_edt(np.pad(~window, 1)) * self.resolution_m
        cell = np.floor(place).astype(int) - low + 1
        middle = away[cell[:, 1], cell[:, 0]] - self.resolution_m * math.sqrt(0.5)
        return np.clip(middle.round(DIGITS), 0.0, reach_m)

    def is_free(self, points: Floats) -> Bools:
        """(N,) whether points (N, 2) are in free cells."""
        cell = np.floor(self._places(points)).astype(int)
        size = np.array(self.occupied.shape[::-1])
        inside = ((cell >= 0) & (cell < size)).all(axis=1)
        x, y = np.clip(cell, 0, size - 1).T
        result: Bools = inside & ~self.occupied[y, x]
        return result

    def _places(self, points: Floats) -> Floats:
        """Points in cells from the corner of the grid."""
        away = points - np.array(self.origin_m)
        cos, sin = math.cos(self.yaw_rad), math.sin(self.yaw_rad)
        turned = np.stack(
            [cos * away[:, 0] + sin * away[:, 1], cos * away[:, 1] - sin * away[:, 0]], axis=1
        )
        result: Floats = (turned / self.resolution_m).round(DIGITS)
        return result


@dataclass(frozen=True)
class Stance:
    """How the robot stands: the distance of its middle to the footprint, and its radius."""

    near_m: float
    far_m: float
    radius_m: float


@dataclass(frozen=True)
class StandPose:
    """A pose of the robot's base, x forward to the object.

    Attributes:
        distance_m: to the nearest side of the object's footprint.
        clearance_m: to the nearest obstacle, at most COMFORT radii.
    """

    pose: Pose
    distance_m: float
    clearance_m: float


@dataclass(frozen=True)
class Approach:
    """Where to stand, best first; reason: why nowhere, or what speaks against it; else ''."""

    poses: tuple[StandPose, ...]
    reason: str = ''


def stances(
    things: Things, object_id: int, holders: Collection[int], stance: Stance, grid: Grid | None,
    start: Triple | None, limit: int,
) -> Approach:  # fmt: skip
    """Find where to stand.

    Args:
        things: the object and all around it. object_id: of the object.
        holders: ids of what holds it: they are in the way, but do not hide it.
        stance: how the robot stands. grid: obstacles; None: none but the boxes.
        start: where the robot is. limit: at most so many poses.
    """
    at = int(np.flatnonzero(things.ids == object_id)[0])
    center, half = things.center[at], things.half[at]
    points, apart = _around(center[:2], half[:2], stance)
    blocks = things.present & (things.center[:, 2] + things.half[:, 2] > LOW_M)
    blocks &= things.center[:, 2] - things.half[:, 2] < HIGH_M
    clear = _clearances(points, things.center[blocks], things.half[blocks], stance)
    hides = blocks & ~np.isin(things.ids, [object_id, *holders])
    hides &= np.abs(things.center[:, 2] - center[2]) <= things.half[:, 2]
    hides &= ~_inside(things, center)
    if grid is not None:
        clear = np.minimum(clear, grid.clearances(points, COMFORT * stance.radius_m))
    room = clear >= stance.radius_m - 0.1**DIGITS
    seen = ~_hidden(points, center[:2], things.center[hides], things.half[hides])
    if grid is not None:
        seen &= _reaches(points, center[:2], grid)
    good = np.flatnonzero(room & seen)
    if not len(good):
        why = 'no place around it has room' if not room.any() else 'something hides it everywhere'
        return Approach((), f'{why}: {int(room.sum())} of {len(points)} places have room, '
                            f'{int(seen.sum())} see it')  # fmt: skip
    way = np.zeros(len(points)) if start is None else _length(points - np.array(start[:2]))
    keys = [np.arange(len(good)), apart[good], way[good].round(DIGITS), -clear[good]]
    order = good[np.lexsort(keys)][:limit]
    return Approach(tuple(
        StandPose(_facing(points[k], center[:2]), float(apart[k]), float(clear[k])) for k in order
    ))  # fmt: skip


def _around(center: Floats, half: Floats, stance: Stance) -> tuple[Floats, Floats]:
    """(N, 2) points around a rectangle, and their distances to it."""
    edge, normal = [], []
    for axis, sign in ((0, 1), (1, 1), (0, -1), (1, -1)):
        count = max(1, math.ceil(2 * half[1 - axis] / STEP_M))
        for along in (np.arange(count) + 0.5) / count * 2 - 1:
            spot, out = np.zeros(2), np.zeros(2)
            spot[axis], spot[1 - axis], out[axis] = sign * half[axis], along * half[1 - axis], sign
            edge.append(spot)
            normal.append(out)
    for k in range(4):
        for step in range(CORNER):
            angle = (k + (step + 0.5) / CORNER) * math.pi / 2
            out = np.array([math.cos(angle), math.sin(angle)])
            edge.append(np.sign(out) * half)
            normal.append(out)
    distances = np.linspace(stance.near_m, stance.far_m, RINGS).round(DIGITS)
    points = [np.array(edge) + np.array(normal) * away for away in distances]
    return center + np.concatenate(points), np.repeat(distances, len(edge))


def _clearances(points: Floats, center: Floats, half: Floats, stance: Stance) -> Floats:
    """(N,) distance to the nearest footprint of a box, up to what is comfortable."""
    out = np.maximum(np.abs(points[:, None] - center[None, :, :2]) - half[None, :, :2], 0.0)
    apart = np.sqrt(out[:, :, 0] ** 2 + out[:, :, 1] ** 2)
    nearest: Floats = apart.min(axis=1, initial=COMFORT * stance.radius_m).round(DIGITS)
    return nearest


def _inside(things: Things, center: Floats) -> Bools:
    """(N,) of what boxes the point is inside: these do not hide it."""
    within: Bools = np.abs(things.center - center) <= things.half
    return within[:, 0] & within[:, 1] & within[:, 2]


def _hidden(points: Floats, target: Floats, center: Floats, half: Floats) -> Bools:
    """(N,) whether the line from each point to the target crosses the footprint of a box."""
    way = target - points
    with np.errstate(divide='ignore', invalid='ignore'):
        low = (center[None, :, :2] - half[None, :, :2] - points[:, None]) / way[:, None]
        high = (center[None, :, :2] + half[None, :, :2] - points[:, None]) / way[:, None]
    first, last = np.fmin(low, high), np.fmax(low, high)
    enter, leave = first.max(axis=2), last.min(axis=2)
    result: Bools = ((enter < leave) & (enter < 1.0) & (leave > 0.0)).any(axis=1)
    return result


def _reaches(points: Floats, target: Floats, grid: Grid) -> Bools:
    """(N,) whether nothing free lies behind something occupied on the way to the target."""
    longest = float(_length(points - target).max(initial=0.0))
    steps = max(2, math.ceil(longest / min(STEP_M, grid.resolution_m)))
    good = np.ones(len(points), bool)
    blocked = np.zeros(len(points), bool)
    for part in np.linspace(0.0, 1.0, min(steps, 1000)):
        free = grid.is_free(points + (target - points) * part)
        good &= ~(blocked & free)
        blocked |= ~free
    return good


def _length(ways: Floats) -> Floats:
    result: Floats = np.sqrt(ways[:, 0] ** 2 + ways[:, 1] ** 2)
    return result


def _facing(point: Floats, target: Floats) -> Pose:
    yaw = math.atan2(target[1] - point[1], target[0] - point[0])
    return Pose(
        (float(point[0]), float(point[1]), 0.0),
        (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)),
    )
