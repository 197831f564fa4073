# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A hash grid: the part of the index that changes, beside trees that cannot.

Compiled where that is possible, like `scoring.py`, which says how.
"""

from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import floor

_FAR = cython.declare(cython.double, 2.0**40)
"""Cells are numbered within these bounds; what lies beyond shares the outermost."""
_FREE = cython.declare(cython.longlong, -1)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _cell(meters: cython.double, per_meter: cython.double) -> cython.longlong:
    """Number of the cell along one axis."""
    number: cython.double = floor(meters * per_meter)
    return cython.cast(cython.longlong, max(-_FAR, min(_FAR, number)))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _bucket(
    x: cython.longlong, y: cython.longlong, z: cython.longlong, buckets: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Where the list of a cell begins; cells may share one. The factors are those of Teschner et
    al., Optimized Spatial Hashing for Collision Detection of Deformable Objects (2003)."""
    a: cython.ulonglong = cython.cast(cython.ulonglong, x) * 73856093
    b: cython.ulonglong = cython.cast(cython.ulonglong, y) * 19349663
    c: cython.ulonglong = cython.cast(cython.ulonglong, z) * 83492791
    return (a ^ b ^ c) & (buckets - 1)


class Grid:
    """Rows by the cell that their centre is in. An entry is put, moved and found in constant time.

    Attributes:
        cell_m: side of a cell.
    """

    def __init__(self, cell_m: float) -> None:
        self.cell_m = cell_m
        self._count = 0
        self._used = 0
        self._free = -1
        self._heads = np.full(256, -1, np.int64)
        self._next = np.empty(256, np.int64)
        self._rows = np.empty(256, np.int64)
        self._cells = np.empty((256, 3), np.int64)

    def __len__(self) -> int:
        return self._count

    def put(self, rows: cython.longlong[::1], center: cython.double[:, ::1]) -> None:
        """Add rows at their centres, (R, 3) metres."""
        self._reserve(self._count + rows.shape[0])
        heads: cython.longlong[::1] = self._heads
        following: cython.longlong[::1] = self._next
        entries: cython.longlong[::1] = self._rows
        cells: cython.longlong[:, ::1] = self._cells
        free: cython.longlong = self._free
        used: cython.longlong = self._used
        per_meter: cython.double = 1.0 / self.cell_m
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        for i in range(rows.shape[0]):
            at: cython.longlong = free
            if at >= 0:
                free = following[at]
            else:
                at = used
                used += 1
            for j in range(3):
                cells[at, j] = _cell(center[i, j], per_meter)
            bucket: cython.Py_ssize_t = _bucket(
                cells[at, 0], cells[at, 1], cells[at, 2], heads.shape[0]
            )
            entries[at] = rows[i]
            following[at] = heads[bucket]
            heads[bucket] = at
        self._free, self._used = free, used
        self._count += rows.shape[0]

    def take(self, rows: cython.longlong[::1], center: cython.double[:, ::1]) -> None:
        """Take rows away that were put at these centres.

        Raises:
            KeyError: a row is not there.
        """
        heads: cython.longlong[::1] = self._heads
        following: cython.longlong[::1] = self._next
        entries: cython.longlong[::1] = self._rows
        per_meter: cython.double = 1.0 / self.cell_m
        i: cython.Py_ssize_t
        for i in range(rows.shape[0]):
            bucket: cython.Py_ssize_t = _bucket(
                _cell(center[i, 0], per_meter),
                _cell(center[i, 1], per_meter),
                _cell(center[i, 2], per_meter),
                heads.shape[0],
            )
            before: cython.longlong = -1
            at: cython.longlong = heads[bucket]
            while at >= 0 and entries[at] != rows[i]:
                before = at
                at = following[at]
            if at < 0:
                raise KeyError(f'row {rows[i]} is not in the grid')
            if before < 0:
                heads[bucket] = following[at]
            else:
                following[before] = following[at]
            entries[at] = _FREE
            following[at] = self._free
            self._free = at
            self._count -= 1

    def around(
        self, center: cython.double[:, ::1], radius: cython.double[::1]
    ) -> tuple[list[Any], list[Any]]:
        """Pairs (place in `center`, row) in cells that a cube about each centre touches.

        Args:
            center: (n, 3) metres. radius: (n,) half side of the cube.

        Returns:
            P places and P rows, in no order but that of the places.
        """
        places: list[Any] = []
        rows: list[Any] = []
        if not self._count:
            return places, rows
        per_meter: cython.double = 1.0 / self.cell_m
        low: cython.longlong[::1] = np.empty(3, np.int64)
        high: cython.longlong[::1] = np.empty(3, np.int64)
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        for i in range(center.shape[0]):
            touched: cython.double = 1.0
            for j in range(3):
                low[j] = _cell(center[i, j] - radius[i], per_meter)
                high[j] = _cell(center[i, j] + radius[i], per_meter)
                touched *= high[j] - low[j] + 1
            if touched > self._count:
                found = self._all_within(low, high)
            else:
                found = self._look_up(low, high)
            if found:
                rows += found
                places += [i] * len(found)
        return places, rows

    def _look_up(self, low: cython.longlong[::1], high: cython.longlong[::1]) -> list[Any]:
        """What is in some cells, one cell after the other."""
        heads: cython.longlong[::1] = self._heads
        following: cython.longlong[::1] = self._next
        entries: cython.longlong[::1] = self._rows
        cells: cython.longlong[:, ::1] = self._cells
        x: cython.longlong
        y: cython.longlong
        z: cython.longlong
        found: list[Any] = []
        for x in range(low[0], high[0] + 1):
            for y in range(low[1], high[1] + 1):
                for z in range(low[2], high[2] + 1):
                    at: cython.longlong = heads[_bucket(x, y, z, heads.shape[0])]
                    while at >= 0:
                        if cells[at, 0] == x and cells[at, 1] == y and cells[at, 2] == z:
                            found.append(entries[at])
                        at = following[at]
        return found

    def _all_within(self, low: cython.longlong[::1], high: cython.longlong[::1]) -> list[Any]:
        """What is in some cells, which are more than there are entries."""
        entries: cython.longlong[::1] = self._rows
        cells: cython.longlong[:, ::1] = self._cells
        at: cython.Py_ssize_t
        used: cython.Py_ssize_t = self._used
        found: list[Any] = []
        for at in range(used):
            if entries[at] == _FREE:
                continue
            if (
                low[0] <= cells[at, 0] <= high[0]
                and low[1] <= cells[at, 1] <= high[1]
                and low[2] <= cells[at, 2] <= high[2]
            ):
                found.append(entries[at])
        return found

    def _reserve(self, count: int) -> None:
        """Make room for so many entries, and as many lists."""
        if count <= len(self._heads):
            return
        size = len(self._heads)
        while size < count:
            size *= 2
        old_rows, old_cells = self._rows[: self._used], self._cells[: self._used]
        held = old_rows != _FREE
        self._count, self._used, self._free = 0, 0, -1
        self._heads = np.full(size, -1, np.int64)
        self._next = np.empty(size, np.int64)
        self._rows = np.empty(size, np.int64)
        self._cells = np.empty((size, 3), np.int64)
        self.put(old_rows[held], (old_cells[held] + 0.5) * self.cell_m)
