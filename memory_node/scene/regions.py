# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Which region is a point in? Regions are upright prisms that may nest and overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.model import Floats, Region, Triple
from memory_node.scene.boxes import Bools

MAX_CORNERS = 256
MAX_REGIONS = 4096
_SQUARE_M = 1e-9
"""An outline of less than so many square metres has no inside."""

Corners = tuple[tuple[float, float], ...]


def key_of(name: str) -> str:
    """By what a name is known: whatever its case."""
    return name.strip().casefold()


def area(polygon_m: Sequence[Sequence[float]]) -> float:
    """Area of an outline, square metres, whichever way round it goes."""
    turned = [*polygon_m[1:], polygon_m[0]]
    x0, y0 = polygon_m[0]
    return abs(sum(
        (x - x0) * (v - y0) - (u - x0) * (y - y0) for (x, y), (u, v) in zip(polygon_m, turned)
    )) / 2  # fmt: skip


def volume(region: Region) -> float:
    """Cubic metres."""
    return area(region.polygon_m) * (region.high_m - region.low_m)


def box_outline(box_m: Any) -> tuple[Corners, float, float]:
    """Outline and range of z of the box between two opposite corners.

    Raises:
        InvalidValueError: they are no two corners, or nothing lies between them.
    """
    (x0, y0, z0), (x1, y1, z1) = checks.box('box_m', box_m)
    if not (x0 < x1 and y0 < y1 and z0 < z1):
        raise InvalidValueError(
            f'box_m: got {checks.short(box_m)}, expected two corners with a volume between them'
        )
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1)), z0, z1


def outline(polygon_m: Any, low_m: object, high_m: object) -> tuple[Corners, float, float]:
    """Outline and range of z as given, if something can lie in it.

    Raises:
        InvalidValueError: it has too few corners, crosses itself, or has no inside.
    """
    try:
        corners = np.asarray(polygon_m, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        corners = np.zeros(0)
    fits = corners.ndim == 2 and corners.shape[1] == 2 and 3 <= len(corners) <= MAX_CORNERS
    if not fits or not (np.abs(corners) < checks.FAR_M).all():
        raise InvalidValueError(
            f'polygon_m: got {checks.short(polygon_m)}, expected 3 to {MAX_CORNERS} corners (x, y) '
            f'within {checks.FAR_M:g} m'
        )
    low = checks.finite('low_m', low_m, -checks.FAR_M)  # type: ignore[arg-type]
    high = checks.finite('high_m', high_m, -checks.FAR_M)  # type: ignore[arg-type]
    if not low < high <= checks.FAR_M:
        raise InvalidValueError(f'high_m: got {high:g}, expected more than low_m {low:g} [m]')
    plain: Corners = tuple((x, y) for x, y in corners.tolist())
    if area(plain) < _SQUARE_M:
        raise InvalidValueError('polygon_m: got an outline without an area, expected one with')
    if _crosses_itself(corners):
        raise InvalidValueError('polygon_m: got an outline that crosses itself, expected a simple')
    return plain, low, high


class RegionBook:
    """All regions of a moment, smallest first.

    Attributes:
        regions: by volume, ties by name.
    """

    def __init__(self, regions: Iterable[Region], map_number: Callable[[str], int]) -> None:
        self.regions = tuple(sorted(regions, key=lambda r: (volume(r), key_of(r.name), r.map_id)))
        self._corners = [np.array(r.polygon_m) for r in self.regions]
        low = [(*c.min(axis=0), r.low_m) for c, r in zip(self._corners, self.regions)]
        high = [(*c.max(axis=0), r.high_m) for c, r in zip(self._corners, self.regions)]
        self._low, self._high = np.array(low).reshape(-1, 3), np.array(high).reshape(-1, 3)
        self._map = np.array([map_number(r.map_id) for r in self.regions], dtype=np.int64)
        self._box = [_is_box(r.polygon_m) for r in self.regions]

    def __len__(self) -> int:
        return len(self.regions)

    def named(self, name: str) -> list[int]:
        """Places of the regions of a name, whatever its case."""
        key = key_of(name)
        return [k for k, r in enumerate(self.regions) if key_of(r.name) == key]

    def parts_of(self, place: int) -> list[int]:
        """Place of a region, and then of all that are said to be part of it."""
        found = [place]
        for at in found:
            whole = self.regions[at]
            found += [
                k for k, r in enumerate(self.regions)
                if r.parent and key_of(r.parent) == key_of(whole.name)
                and r.map_id == whole.map_id and k not in found
            ]  # fmt: skip
        return found

    def inside(self, places: Iterable[int], center: Floats, maps: Any) -> Bools:
        """Whether each point lies in any of some regions.

        Args:
            places: of the regions. center: (N, 3) map frame, metres. maps: (N,) numbers of maps.
        """
        found = np.zeros(len(center), bool)
        for k in places:
            left = np.flatnonzero(~found & (maps == self._map[k]))
            within = (center[left] >= self._low[k]) & (center[left] <= self._high[k])
            left = left[within.all(axis=1)]
            found[left] = True if self._box[k] else _surrounds(self._corners[k], center[left, :2])
        return found

    def smallest(self, center: Floats, maps: Any) -> Any:
        """Place of the smallest region that holds each point, (N,); -1: none does.

        Args:
            center: (N, 3) map frame, metres. maps: (N,) numbers of maps.
        """
        found = np.full(len(center), -1, np.int64)
        if not self.regions:
            return found
        hit = maps[:, None] == self._map
        for axis in range(3):
            column = center[:, axis, None]
            hit &= (column >= self._low[:, axis]) & (column <= self._high[:, axis])
        for k in np.flatnonzero(hit.any(axis=0)).tolist():
            left = np.flatnonzero(hit[:, k] & (found < 0))
            if not self._box[k]:
                left = left[_surrounds(self._corners[k], center[left, :2])]
            found[left] = k
        return found

    def names_at(self, center: Floats, maps: Any) -> list[str]:
        """Name of the smallest region that holds each point; empty: none does."""
        if not self.regions:
            return [''] * len(center)
        return [self.regions[k].name if k >= 0 else '' for k in self.smallest(center, maps)]

    def at(self, point: Triple, map_number: int) -> Region | None:
        """The smallest region that holds a point; None: none does."""
        k = int(self.smallest(np.array([point]), np.array([map_number]))[0])
        return self.regions[k] if k >= 0 else None


def _surrounds(corners: Floats, points: Floats) -> Bools:
    """Whether an outline surrounds each point, (N, 2): a ray to +x crosses it an odd number of
    times. Of outlines that share an edge, exactly one surrounds a point on it.
    """
    x, y = points[:, 0, None], points[:, 1, None]
    a, b = corners, np.roll(corners, -1, axis=0)
    straddles = (a[:, 1] > y) != (b[:, 1] > y)
    rise = np.where(a[:, 1] == b[:, 1], 1.0, b[:, 1] - a[:, 1])
    crosses = straddles & (x < a[:, 0] + (y - a[:, 1]) / rise * (b[:, 0] - a[:, 0]))
    odd: Bools = np.count_nonzero(crosses, axis=1) % 2 == 1
    return odd


def _is_box(polygon_m: Corners) -> bool:
    """Whether the outline is a rectangle along the axes: then all within its limits is in it."""
    xs, ys = ({corner[k] for corner in polygon_m} for k in (0, 1))
    whole = len(polygon_m) == len(set(polygon_m)) == 4 and len(xs) == len(ys) == 2
    return whole and area(polygon_m) > 0


def _crosses_itself(corners: Floats) -> bool:
    """Whether two edges that are no neighbours touch, or an edge has no length."""
    a, b = corners, np.roll(corners, -1, axis=0)
    if (a == b).all(axis=1).any():
        return True
    n = len(a)
    first, second = np.triu_indices(n, 2)
    apart = ~((first == 0) & (second == n - 1))  # these are neighbours too
    first, second = first[apart], second[apart]
    p, q, r, s = a[first], b[first], a[second], b[second]
    sides = [_side(p, q, r), _side(p, q, s), _side(r, s, p), _side(r, s, q)]
    meet = (sides[0] * sides[1] <= 0) & (sides[2] * sides[3] <= 0)
    reach = np.maximum(np.minimum(p, q), np.minimum(r, s)) <= np.minimum(
        np.maximum(p, q), np.maximum(r, s)
    )
    return bool((meet & reach.all(axis=1)).any())


def _side(p: Floats, q: Floats, r: Floats) -> Floats:
    """On which side of the line from p to q a point r lies: -1, 0 or 1."""
    cross = (q[:, 0] - p[:, 0]) * (r[:, 1] - p[:, 1]) - (q[:, 1] - p[:, 1]) * (r[:, 0] - p[:, 0])
    result: Floats = np.sign(cross)
    return result
