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

KEYS = 2**40
"""A pair (place, row) is one number, place · KEYS + row: sorted by place, then by row."""

_KEYS = cython.declare(cython.longlong, KEYS)
_FAR = cython.declare(cython.double, 2.0**40)
"""Cells are numbered within these bounds; what lies beyond shares the outermost."""
_VAST = cython.declare(cython.double, 1e300)
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
    x: cython.longlong,
    y: cython.longlong,
    z: cython.longlong,
    size_class: cython.longlong,
    buckets: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Where the list of a cell begins; cells may share one. The factors are those of Teschner et
    al., Optimized Spatial Hashing for Collision Detection of Deformable Objects (2003)."""
    a: cython.ulonglong = cython.cast(cython.ulonglong, x) * 73856093
    b: cython.ulonglong = cython.cast(cython.ulonglong, y) * 19349663
    c: cython.ulonglong = cython.cast(cython.ulonglong, z) * 83492791
    return (a ^ b ^ c ^ cython.cast(cython.ulonglong, size_class)) & (buckets - 1)


class Grid:
    """Rows by the cell that their centre is in. An entry is put, moved and found in constant time.

    Each size class has cells of its own size; the last class may have no limit, and one cell.

    Attributes:
        counts: (classes,) entries of each.
    """

    def __init__(self, reach_m: Any) -> None:
        """reach_m: (classes,) largest half extent in each."""
        self._reach_m = np.array(reach_m, dtype=np.float64)
        self._per_meter = 1.0 / (2.0 * self._reach_m + 1.0)
        self.counts = np.zeros(len(self._reach_m), np.int64)
        self._count = 0
        self._used = 0
        self._free = -1
        self._heads = np.full(256, -1, np.int64)
        self._next = np.empty(256, np.int64)
        self._rows = np.empty(256, np.int64)
        self._cells = np.empty((256, 4), np.int64)
        """Of each entry: along x, y and z, and its class."""

    def __len__(self) -> int:
        return self._count

    def put(
        self,
        rows: cython.longlong[::1],
        center: cython.double[:, ::1],
        class_of: cython.schar[::1],
    ) -> None:
        """Add rows where they are: center, class_of: (all rows, 3) metres and (all rows,)."""
        self._count += rows.shape[0]
        self._reserve(self._count)
        heads: cython.longlong[::1] = self._heads
        following: cython.longlong[::1] = self._next
        entries: cython.longlong[::1] = self._rows
        cells: cython.longlong[:, ::1] = self._cells
        per_meter: cython.double[::1] = self._per_meter
        counts: cython.longlong[::1] = self.counts
        free: cython.longlong = self._free
        used: cython.longlong = self._used
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        for i in range(rows.shape[0]):
            row: cython.longlong = rows[i]
            at: cython.longlong = free
            if at >= 0:
                free = following[at]
            else:
                at = used
                used += 1
            entries[at] = row
            cells[at, 3] = class_of[row]
            for j in range(3):
                cells[at, j] = _cell(center[row, j], per_meter[cells[at, 3]])
            _link(at, heads, following, cells)
            counts[cells[at, 3]] += 1
        self._free, self._used = free, used

    def take(
        self,
        rows: cython.longlong[::1],
        center: cython.double[:, ::1],
        class_of: cython.schar[::1],
    ) -> None:
        """Take rows away that were put with these centres and classes.

        Raises:
            KeyError: a row is not there.
        """
        heads: cython.longlong[::1] = self._heads
        following: cython.longlong[::1] = self._next
        entries: cython.longlong[::1] = self._rows
        per_meter: cython.double[::1] = self._per_meter
        counts: cython.longlong[::1] = self.counts
        i: cython.Py_ssize_t
        for i in range(rows.shape[0]):
            row: cython.longlong = rows[i]
            kind: cython.Py_ssize_t = class_of[row]
            bucket: cython.Py_ssize_t = _bucket(
                _cell(center[row, 0], per_meter[kind]),
                _cell(center[row, 1], per_meter[kind]),
                _cell(center[row, 2], per_meter[kind]),
                kind,
                heads.shape[0],
            )
            before: cython.longlong = -1
            at: cython.longlong = heads[bucket]
            while at >= 0 and entries[at] != row:
                before = at
                at = following[at]
            if at < 0:
                raise KeyError(f'row {row} is not in the grid')
            if before < 0:
                heads[bucket] = following[at]
            else:
                following[before] = following[at]
            entries[at] = _FREE
            following[at] = self._free
            self._free = at
            self._count -= 1
            counts[kind] -= 1

    def around(
        self, center: cython.double[:, ::1], radius: cython.double[::1], reaching: cython.bint
    ) -> list[Any]:
        """Pairs (place in `center`, row), as KEYS, in cells that a cube about each centre touches.

        Args:
            center: (n, 3) metres. radius: (n,) half side of the cube.
            reaching: whether the cube is grown by what an object of the class may reach.

        Returns:
            Numbers in no order.
        """
        found: list[Any] = []
        if not self._count:
            return found
        used: cython.Py_ssize_t = self._used
        heads: cython.longlong[::1] = self._heads
        following: cython.longlong[::1] = self._next
        entries: cython.longlong[::1] = self._rows
        cells: cython.longlong[:, ::1] = self._cells
        per_meter: cython.double[::1] = self._per_meter
        reach_m: cython.double[::1] = self._reach_m
        counts: cython.longlong[::1] = self.counts
        low: cython.longlong[::1] = np.empty(4, np.int64)
        high: cython.longlong[::1] = np.empty(3, np.int64)
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        kind: cython.Py_ssize_t
        for kind in range(counts.shape[0]):
            if counts[kind] == 0:
                continue
            low[3] = kind
            for i in range(center.shape[0]):
                half: cython.double = radius[i] + (reach_m[kind] if reaching else 0.0)
                half = min(half, _VAST)
                touched: cython.double = 1.0
                for j in range(3):
                    low[j] = _cell(center[i, j] - half, per_meter[kind])
                    high[j] = _cell(center[i, j] + half, per_meter[kind])
                    touched *= high[j] - low[j] + 1
                if touched > used:
                    _look_through(entries, cells, used, low, high, i * _KEYS, found)
                else:
                    _look_up(heads, following, entries, cells, low, high, i * _KEYS, found)
        return found

    def _reserve(self, count: int) -> None:
        """Make room for so many entries, and as many lists."""
        size = len(self._heads)
        if count <= size:
            return
        while size < count:
            size *= 2
        more = np.empty((size - len(self._heads), 4), np.int64)
        self._heads = np.full(size, -1, np.int64)
        self._next = np.concatenate([self._next, more[:, 0]])
        self._rows = np.concatenate([self._rows, more[:, 0]])
        self._cells = np.concatenate([self._cells, more])
        heads: cython.longlong[::1] = self._heads
        following: cython.longlong[::1] = self._next
        entries: cython.longlong[::1] = self._rows
        cells: cython.longlong[:, ::1] = self._cells
        used: cython.longlong = self._used
        at: cython.longlong
        for at in range(used):
            if entries[at] != _FREE:
                _link(at, heads, following, cells)


@cython.cfunc
@cython.exceptval(check=False)
def _link(
    at: cython.longlong,
    heads: cython.longlong[::1],
    following: cython.longlong[::1],
    cells: cython.longlong[:, ::1],
) -> cython.void:
    """Begin the list of its cell with an entry."""
    bucket: cython.Py_ssize_t = _bucket(
        cells[at, 0], cells[at, 1], cells[at, 2], cells[at, 3], heads.shape[0]
    )
    following[at] = heads[bucket]
    heads[bucket] = at


@cython.cfunc
def _look_up(
    heads: cython.longlong[::1],
    following: cython.longlong[::1],
    entries: cython.longlong[::1],
    cells: cython.longlong[:, ::1],
    low: cython.longlong[::1],
    high: cython.longlong[::1],
    first_key: cython.longlong,
    found: list[Any],
) -> cython.void:
    """Add what is in some cells of a class, low[3], one cell after the other."""
    x: cython.longlong
    y: cython.longlong
    z: cython.longlong
    for x in range(low[0], high[0] + 1):
        for y in range(low[1], high[1] + 1):
            for z in range(low[2], high[2] + 1):
                at: cython.longlong = heads[_bucket(x, y, z, low[3], heads.shape[0])]
                while at >= 0:
                    if (
                        cells[at, 0] == x
                        and cells[at, 1] == y
                        and cells[at, 2] == z
                        and cells[at, 3] == low[3]
                    ):
                        found.append(first_key + entries[at])
                    at = following[at]


@cython.cfunc
def _look_through(
    entries: cython.longlong[::1],
    cells: cython.longlong[:, ::1],
    used: cython.Py_ssize_t,
    low: cython.longlong[::1],
    high: cython.longlong[::1],
    first_key: cython.longlong,
    found: list[Any],
) -> cython.void:
    """Add what is in some cells of a class, low[3], which are more than there are entries."""
    at: cython.Py_ssize_t
    for at in range(used):
        if (
            entries[at] != _FREE
            and cells[at, 3] == low[3]
            and low[0] <= cells[at, 0] <= high[0]
            and low[1] <= cells[at, 1] <= high[1]
            and low[2] <= cells[at, 2] <= high[2]
        ):
            found.append(first_key + entries[at])
