# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A hash grid: the part of the index that changes, beside trees that cannot."""

from __future__ import annotations

import numpy as np

from memory_node.fusion.world import Rows
from memory_node.model import Floats

Cell = tuple[int, int, int]

_FAR = 2.0**40
"""Cells are numbered within these bounds; what lies beyond shares the outermost."""


class Grid:
    """Rows by the cell that their centre is in. An entry is put, moved and found in constant time.

    Attributes:
        cell_m: side of a cell.
    """

    def __init__(self, cell_m: float) -> None:
        self.cell_m = cell_m
        self._cells: dict[Cell, list[int]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, rows: Rows, center: Floats) -> None:
        """Add rows at their centres, (R, 3) metres."""
        for row, cell in zip(rows.tolist(), self._numbers(center)):
            self._cells.setdefault((cell[0], cell[1], cell[2]), []).append(row)
        self._count += len(rows)

    def take(self, rows: Rows, center: Floats) -> None:
        """Take rows away that were put at these centres."""
        for row, (x, y, z) in zip(rows.tolist(), self._numbers(center)):
            entries = self._cells[x, y, z]
            entries.remove(row)
            if not entries:
                del self._cells[x, y, z]
        self._count -= len(rows)

    def around(self, center: Floats, radius: Floats) -> tuple[list[int], list[int]]:
        """Pairs (place in `center`, row) in cells that a cube about each centre touches.

        Args:
            center: (n, 3) metres. radius: (n,) half side of the cube.
        """
        places: list[int] = []
        rows: list[int] = []
        if not self._count:
            return places, rows
        away = radius[:, None]
        cells = self._numbers(np.concatenate([center - away, center + away], axis=1))
        for place, (x0, y0, z0, x1, y1, z1) in enumerate(cells):
            if (x1 - x0 + 1) * (y1 - y0 + 1) * (z1 - z0 + 1) > len(self._cells):
                found = [
                    row
                    for (x, y, z), entries in self._cells.items()
                    if x0 <= x <= x1 and y0 <= y <= y1 and z0 <= z <= z1
                    for row in entries
                ]
            else:
                found = self._within(x0, x1, y0, y1, z0, z1)
            if found:
                rows += found
                places += [place] * len(found)
        return places, rows

    def _within(self, x0: int, x1: int, y0: int, y1: int, z0: int, z1: int) -> list[int]:
        found: list[int] = []
        get = self._cells.get
        for x in range(x0, x1 + 1):
            for y in range(y0, y1 + 1):
                for z in range(z0, z1 + 1):
                    entries = get((x, y, z))
                    if entries:
                        found += entries
        return found

    def _numbers(self, center: Floats) -> list[list[int]]:
        numbers = np.floor(center * (1.0 / self.cell_m))
        if len(numbers) and not np.abs(numbers).max() < _FAR:
            numbers = numbers.clip(-_FAR, _FAR)
        result: list[list[int]] = numbers.astype(np.int64).tolist()
        return result
