# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Which stored objects could a detection be? An exact index over boxes that change all the time.

scipy's cKDTree cannot be changed once built. So the objects lie in *levels* by size class: trees
over the centres as they were when built, and hash grids of what was added or moved since. When a
grid has grown, a thread builds new trees from everything; meanwhile changes go into fresh grids,
so that the old ones can go as a whole when the trees are swapped in. A record says in which level
its object is valid; entries elsewhere are stale and skipped. What is found is checked against the
boxes as they are now, so the answer equals that of a brute-force search at every moment (property
test), whether or not a rebuild is under way.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial import cKDTree

from memory_node.fusion import scoring
from memory_node.fusion.grid import Grid
from memory_node.fusion.world import Rows, World
from memory_node.model import Floats
from memory_node.scene import boxes

SLACK_M = 0.05
"""How far a centre may go from where it was indexed before the object is indexed anew."""
CLASS_LIMITS_M = (0.25, 1.0, 4.0)
"""Largest half extent of the size classes; larger objects are searched by brute force."""
RECENT = 4096
"""Objects in grids from which on the trees are built anew, at least."""
DIAGONAL = 3**0.5 + 1e-9
"""Of a cube, in its sides."""
NEIGHBOURS = 6

NOTHING: Rows = np.zeros(0, np.int64)
_NOWHERE = -1
_HUGE = len(CLASS_LIMITS_M)
_REACH_M = np.array([*CLASS_LIMITS_M, np.inf])


@dataclass
class _Tree:
    """A tree over the rows that were in it when it was built."""

    number: int
    rows: Rows
    tree: cKDTree
    reach_m: float
    """Largest half extent that an object in it may have."""


@dataclass
class _Recent:
    """What was added or moved in some stretch of time: a grid for each size class, and the huge."""

    number: int
    grids: list[Grid] = field(
        default_factory=lambda: [Grid(2.0 * reach + 1.0) for reach in CLASS_LIMITS_M]
    )
    huge: Rows = field(default_factory=lambda: np.zeros(0, np.int64))

    def __len__(self) -> int:
        return sum(map(len, self.grids))


class CandidateIndex:
    """Finds the live objects whose box, grown by a margin, overlaps a given box."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._level_of = np.full(len(world.alive), _NOWHERE, np.int64)
        self._class_of = np.zeros(len(world.alive), np.int8)
        self._placed = np.zeros((len(world.alive), 3))
        self._trees: list[_Tree] = []
        self._recent = [_Recent(0)]
        self._next_level = 1
        self._builder: _Builder | None = None
        self._begin(world.live_rows())

    # -- changes -----------------------------------------------------------------------------

    def add(self, rows: Rows) -> None:
        """Index new or changed objects where they are now; each may be given once."""
        if not len(rows):
            return
        self._reserve()
        newest = self._recent[-1]
        there = self._level_of[rows] == newest.number
        if there.any():
            self._take_out(rows[there], newest)
        self._place(rows)
        self._level_of[rows] = newest.number
        classes = self._class_of[rows]
        for c in set(classes.tolist()):
            some = rows[classes == c]
            if c == _HUGE:
                newest.huge = np.concatenate([newest.huge, some])
            else:
                newest.grids[c].put(some, self._placed[some])

    def update(self, rows: Rows) -> None:
        """Index anew those objects that moved or grew beyond what their level allows for."""
        if not len(rows):
            return
        strayed = scoring.strayed(
            self._world.records, rows, self._placed, self._class_of, _REACH_M, SLACK_M
        )
        if strayed:
            self.add(np.array(strayed))

    def remove(self, row: int) -> None:
        """Take an object out."""
        if row < len(self._level_of):
            newest = self._recent[-1]
            if self._level_of[row] == newest.number:
                self._take_out(np.array([row]), newest)
            self._level_of[row] = _NOWHERE

    def maintain(self) -> None:
        """Build new trees once the grids have grown. Call after each view."""
        if self._builder is None:
            if len(self._recent[-1]) > max(RECENT, sum(len(t.rows) for t in self._trees) // 16):
                self._rebuild()
        elif self._builder.done:
            self._swap()

    # -- questions ---------------------------------------------------------------------------

    def overlapping(self, center: Floats, half: Floats, margin_m: float) -> tuple[np.ndarray, Rows]:
        """Find pairs of boxes that overlap once the stored ones are grown by a margin.

        Args:
            center, half: (n, 3) boxes, map frame, metres.
            margin_m: how much each stored box is grown on every side.

        Returns:
            (P,) places in `center` and (P,) rows, sorted by place, then by row.
        """
        if not len(center):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        radius = boxes.largest(half) + (margin_m + SLACK_M)
        records, found = self._world.records, []
        for number, places, rows in self._around(center, radius):
            kept = scoring.touching(
                center, half, margin_m, places, rows, self._level_of, number, records
            )
            found.append((places[:kept], rows[:kept]))
        places, rows = _joined(found)
        order = np.lexsort([rows, places])
        return places[order], rows[order]

    def within(self, point: Floats, radius_m: float) -> tuple[Rows, Floats]:
        """Find objects whose centre is within a radius: (R,) rows ascending, (R,) distances."""
        reach_m = radius_m + SLACK_M
        found = []
        for level in self._trees:
            off_m = level.reach_m + SLACK_M if self._world.off_center else SLACK_M
            near = level.tree.query_ball_point(point, radius_m + DIAGONAL * off_m)
            if near:
                rows = level.rows[near]
                found.append(rows[self._level_of[rows] == level.number])
        if any(len(recent) or len(recent.huge) for recent in self._recent):
            around = self._recently_around(
                point.reshape(1, 3), np.array([reach_m]), self._world.off_center
            )
            found += (rows[self._level_of[rows] == number] for number, _, rows in around)
        rows = found[0] if len(found) == 1 else np.concatenate([NOTHING, *found])
        rows.sort()
        x, y, z = (self._world.records['center'][rows] - point).T
        distance = np.sqrt(x * x + y * y + z * z)
        keep = distance <= radius_m
        return rows[keep], distance[keep]

    def _around(
        self, center: Floats, radius: Floats, reach: bool = True
    ) -> Iterator[tuple[int, Rows, Rows]]:
        """Pairs whose centres are within a cube of the radius (plus the reach of the level).

        Yields:
            Number of a level, and (P,) places and (P,) rows found there; a pair is valid where the
            row is in that level.
        """
        for level in self._trees:
            places, rows = _search(level, center, radius + (level.reach_m if reach else 0.0))
            yield level.number, places, rows
        yield from self._recently_around(center, radius, reach)

    def _recently_around(
        self, center: Floats, radius: Floats, reach: bool
    ) -> Iterator[tuple[int, Rows, Rows]]:
        """As `_around`, of what was added or moved since the trees were built."""
        for recent in self._recent:
            near_places: list[int] = []
            near_rows: list[int] = []
            for limit, grid in zip(CLASS_LIMITS_M, recent.grids):
                if len(grid):
                    some = grid.around(center, radius + (limit if reach else 0.0))
                    near_places += some[0]
                    near_rows += some[1]
            if near_rows or len(recent.huge):
                n, huge = len(center), recent.huge
                rows = np.concatenate([np.array(near_rows, np.int64), np.tile(huge, n)])
                places = np.array(near_places, np.int64)
                places = np.concatenate([places, np.repeat(np.arange(n), len(huge))])
                yield recent.number, places, rows

    # -- levels ------------------------------------------------------------------------------

    def _reserve(self) -> None:
        capacity = len(self._world.alive)
        if capacity > len(self._level_of):
            missing = capacity - len(self._level_of)
            self._level_of = np.concatenate([self._level_of, np.full(missing, _NOWHERE, np.int64)])
            self._class_of = np.concatenate([self._class_of, np.zeros(missing, np.int8)])
            self._placed = np.concatenate([self._placed, np.zeros((missing, 3))])

    def _place(self, rows: Rows) -> None:
        r = self._world.records
        self._placed[rows] = r['hull_center'][rows]
        self._class_of[rows] = np.searchsorted(CLASS_LIMITS_M, r['half'][rows].max(axis=1))

    def _take_out(self, rows: Rows, recent: _Recent) -> None:
        """Take rows out of the grids in which they are valid."""
        classes = self._class_of[rows]
        for c in set(classes.tolist()):
            some = rows[classes == c]
            if c == _HUGE:
                recent.huge = recent.huge[~np.isin(recent.huge, some)]
            else:
                recent.grids[c].take(some, self._placed[some])

    def _begin(self, rows: Rows) -> None:
        """Build trees of everything there is, at once."""
        if len(rows):
            self._place(rows)
            self._level_of[rows] = self._recent[-1].number
            self._recent[-1].huge = rows[self._class_of[rows] == _HUGE]
            self._rebuild(in_background=False)
            self._swap()

    def _rebuild(self, in_background: bool = True) -> None:
        """Build trees from everything; what changes from now on goes into fresh grids."""
        rows = np.flatnonzero(self._level_of >= 0)
        huge = self._class_of[rows] == _HUGE
        self._recent.append(_Recent(self._new_number(), huge=rows[huge]))
        self._level_of[rows[huge]] = self._recent[-1].number
        rows = rows[~huge]
        self._builder = _Builder(
            rows, self._level_of[rows], self._placed[rows], self._class_of[rows]
        )
        if in_background:
            self._builder.start()
        else:
            self._builder.build()

    def _swap(self) -> None:
        """Put the new trees in place; what was indexed anew meanwhile stays where it is."""
        builder = self._builder
        assert builder is not None
        self._builder = None
        self._trees = []
        for size_class, rows, levels, tree in builder.built:
            number = self._new_number()
            self._level_of[rows[self._level_of[rows] == levels]] = number
            self._trees.append(_Tree(number, rows, tree, CLASS_LIMITS_M[size_class]))
        self._recent = self._recent[-1:]

    def _new_number(self) -> int:
        self._next_level += 1
        return self._next_level - 1


class _Builder:
    """Builds one tree per size class, in a thread of its own where asked to."""

    def __init__(self, rows: Rows, levels: Rows, placed: Floats, classes: np.ndarray) -> None:
        self._input = rows, levels, placed, classes
        self._ready = threading.Event()
        self.built: list[tuple[int, Rows, Rows, cKDTree]] = []

    @property
    def done(self) -> bool:
        return self._ready.is_set()

    def start(self) -> None:
        threading.Thread(target=self.build, name='index-builder', daemon=True).start()

    def build(self) -> None:
        rows, levels, placed, classes = self._input
        for c in np.unique(classes).tolist():
            pick = classes == c
            self.built.append((int(c), rows[pick], levels[pick], cKDTree(placed[pick])))
        self._ready.set()


def _search(level: _Tree, center: Floats, radius: Floats) -> tuple[Rows, Rows]:
    """Pairs (place, row) within a cube of half side `radius` about each centre."""
    if len(center) == 1:  # a place: there may be many about it, so do not stop at the nearest
        found = level.tree.query_ball_point(center[0], radius[0], p=np.inf)
        return np.zeros(len(found), np.int64), level.rows[np.array(found, dtype=np.int64)]
    n, k = len(center), min(NEIGHBOURS, len(level.rows))
    bound = float(radius.max()) * (1 + 1e-9)
    found, entry = level.tree.query(center, k=k, p=np.inf, distance_upper_bound=bound)
    places, rows, full = np.empty(n * k, np.int64), np.empty(n * k, np.int64), np.empty(n, np.uint8)
    count = scoring.within_reach(
        found.reshape(n, k), entry.reshape(n, k), radius, level.rows, k < len(level.rows),
        places, rows, full,
    )  # fmt: skip
    parts = [(places[:count], rows[:count])]
    for place in np.flatnonzero(full).tolist() if full.any() else ():
        more = level.tree.query_ball_point(center[place], radius[place], p=np.inf)
        parts.append((np.full(len(more), place), level.rows[np.array(more, dtype=np.int64)]))
    return _joined(parts)


def _joined(parts: list[tuple[Rows, Rows]]) -> tuple[Rows, Rows]:
    """Pairs of several searches."""
    if len(parts) == 1:
        return parts[0]
    places, rows = zip(*parts) if parts else ((NOTHING,), (NOTHING,))
    return np.concatenate(places), np.concatenate(rows)
