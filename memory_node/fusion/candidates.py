# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Which stored objects could a detection be? An exact index over boxes that change all the time.

scipy's cKDTree cannot be changed once built. So the objects lie in *levels* by size class: trees
over the centres as they were when built, and hash grids of what was added or moved since. When a
grid has grown, a thread builds new trees from everything; meanwhile changes go into fresh grids,
so that the old ones can go as a whole when the trees are swapped in. `_level_of` says in which
level each object is certain to be found; older entries of it elsewhere are stale. What is found is
checked against the boxes as they are now, so the answer equals that of a brute-force search at
every moment (property test), whether or not a rebuild is under way.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial import cKDTree

from memory_node.fusion import indexing
from memory_node.fusion.grid import KEYS, Grid
from memory_node.fusion.world import Rows, World
from memory_node.model import Floats

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
    """What was added or moved in some stretch of time, and the huge."""

    number: int
    grid: Grid = field(default_factory=lambda: Grid(_REACH_M))

    def __len__(self) -> int:
        """How many could lie in trees as well."""
        return len(self.grid) - int(self.grid.counts[_HUGE])


class CandidateIndex:
    """Finds the live objects whose box, grown by a margin, overlaps a given box."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._level_of = np.full(len(world.alive), _NOWHERE, np.int64)
        self._class_of = np.zeros(len(world.alive), np.int8)
        self._placed = np.zeros((len(world.alive), 3))
        self._trees: list[_Tree] = []
        self._in_trees = 0
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
        if any(there.tolist()):
            newest.grid.take(rows[there], self._placed, self._class_of)
        self._place(rows)
        self._put(rows, newest)

    def update(self, rows: Rows) -> None:
        """Index anew those objects that moved or grew beyond what their level allows for."""
        if not len(rows):
            return
        strayed = indexing.strayed(
            self._world.records, rows, self._placed, self._class_of, _REACH_M, SLACK_M
        )
        if strayed:
            self.add(np.array(strayed))

    def remove(self, row: int) -> None:
        """Take an object out."""
        if row < len(self._level_of):
            newest = self._recent[-1]
            if self._level_of[row] == newest.number:
                newest.grid.take(np.array([row]), self._placed, self._class_of)
            self._level_of[row] = _NOWHERE

    def maintain(self) -> None:
        """Build new trees once the grids have grown. Call after each view."""
        if self._builder is None:
            if len(self._recent[-1]) > max(RECENT, self._in_trees // 16):
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
            return NOTHING, NOTHING
        radius = np.empty(len(center))
        most = indexing.radii(half, margin_m + SLACK_M, radius)
        found = [self._recently_around(center, radius, reaching=True)]
        for level in self._trees:
            found += _search(level, center, radius, most)
        pairs = _sorted(found)
        places, rows = np.empty(len(pairs), np.int64), np.empty(len(pairs), np.int64)
        kept = indexing.touching(
            center, half, margin_m, pairs, self._level_of, self._world.records, places, rows
        )
        return places[:kept], rows[:kept]

    def within(self, point: Floats, radius_m: float) -> tuple[Rows, Floats]:
        """Find objects whose centre is within a radius: (R,) rows ascending, (R,) distances."""
        off_center = self._world.off_center
        point = np.array(point, dtype=np.float64)  # in one piece and writable, as loops want it
        reach_m = np.array([radius_m + SLACK_M])
        found = [self._recently_around(point.reshape(1, 3), reach_m, off_center)]
        for level in self._trees:
            off_m = level.reach_m + SLACK_M if off_center else SLACK_M
            near = level.tree.query_ball_point(point, radius_m + DIAGONAL * off_m)
            if near:
                found.append(level.rows[near])
        rows = _sorted(found)
        distance = np.empty(len(rows))
        kept = indexing.close_by(
            point, radius_m, rows, self._level_of, self._world.records, distance
        )
        return rows[:kept], distance[:kept]

    def _recently_around(self, center: Floats, radius: Floats, reaching: bool) -> Rows:
        """Pairs, as KEYS, of what was added or moved since the trees were built.

        Their centres are within a cube of the radius, grown by what they may reach where asked to.
        """
        found = []
        for recent in self._recent:
            found += recent.grid.around(center, radius, reaching)
        return np.array(found, np.int64) if found else NOTHING

    # -- levels ------------------------------------------------------------------------------

    def _reserve(self) -> None:
        capacity = len(self._world.alive)
        if capacity > len(self._level_of):
            missing = capacity - len(self._level_of)
            self._level_of = np.concatenate([self._level_of, np.full(missing, _NOWHERE, np.int64)])
            self._class_of = np.concatenate([self._class_of, np.zeros(missing, np.int8)])
            self._placed = np.concatenate([self._placed, np.zeros((missing, 3))])

    def _place(self, rows: Rows) -> None:
        indexing.place(self._world.records, rows, _REACH_M, self._placed, self._class_of)

    def _put(self, rows: Rows, recent: _Recent) -> None:
        recent.grid.put(rows, self._placed, self._class_of)
        self._level_of[rows] = recent.number

    def _begin(self, rows: Rows) -> None:
        """Build trees of everything there is, at once."""
        if len(rows):
            self._place(rows)
            self._level_of[rows] = self._recent[-1].number
            self._rebuild(in_background=False)
            self._swap()

    def _rebuild(self, in_background: bool = True) -> None:
        """Build trees from everything; what changes from now on goes into fresh grids."""
        self._recent.append(_Recent(self._new_number()))
        self._put(self._of_class(_HUGE), self._recent[-1])
        self._builder = _Builder([self._stand(k) for k in range(_HUGE)])
        if in_background:
            self._builder.start()
        else:
            self._builder.build()

    def _of_class(self, size_class: int) -> Rows:
        """Return the rows of all that is indexed of a size class, ascending."""
        return np.flatnonzero((self._level_of >= 0) & (self._class_of == size_class))

    def _stand(self, size_class: int) -> _Stand:
        rows = self._of_class(size_class)
        return _Stand(size_class, rows, self._level_of[rows], self._placed[rows])

    def _swap(self) -> None:
        """Put the new trees in place; what was indexed anew meanwhile stays where it is."""
        builder = self._builder
        assert builder is not None
        self._builder = None
        self._trees = []
        for stand, tree in builder.built:
            number, rows = self._new_number(), stand.rows
            self._level_of[rows[self._level_of[rows] == stand.levels]] = number
            self._trees.append(_Tree(number, rows, tree, CLASS_LIMITS_M[stand.size_class]))
        self._in_trees = sum(len(level.rows) for level in self._trees)
        self._recent = self._recent[-1:]

    def _new_number(self) -> int:
        self._next_level += 1
        return self._next_level - 1


@dataclass
class _Stand:
    """Where the objects of a size class are when trees are begun: their rows, levels and centres.

    Nothing of it is copied again: at a million objects each array takes as much as 24 MB.
    """

    size_class: int
    rows: Rows
    levels: Rows
    placed: Floats


class _Builder:
    """Builds one tree per size class, in a thread of its own where asked to."""

    def __init__(self, stands: list[_Stand]) -> None:
        self._stands = [stand for stand in stands if len(stand.rows)]
        self._ready = threading.Event()
        self.built: list[tuple[_Stand, cKDTree]] = []

    @property
    def done(self) -> bool:
        return self._ready.is_set()

    def start(self) -> None:
        threading.Thread(target=self.build, name='index-builder', daemon=True).start()

    def build(self) -> None:
        for stand in self._stands:
            self.built.append((stand, cKDTree(stand.placed)))
        self._ready.set()


def _search(level: _Tree, center: Floats, radius: Floats, most: float) -> list[Rows]:
    """Arrays of pairs, as KEYS, of what may reach into a cube about each centre.

    radius: (n,) half sides of the cubes. most: the largest of them.
    """
    n, k = len(center), min(NEIGHBOURS, len(level.rows))
    if n == 1:  # a place: there may be many about it, so do not stop at the nearest
        return [_all_about(0, level, center, radius)]
    bound = (most + level.reach_m) * (1 + 1e-9)
    found, entry = level.tree.query(center, k=k, p=np.inf, distance_upper_bound=bound)
    pairs = np.empty(n * k, np.int64)
    count, full = indexing.reached(
        found.reshape(n, k), entry.reshape(n, k), radius, level.reach_m, level.rows,
        k < len(level.rows), pairs,
    )  # fmt: skip
    return [pairs[:count], *(_all_about(place, level, center, radius) for place in full)]


def _all_about(place: int, level: _Tree, center: Floats, radius: Floats) -> Rows:
    """As `_search`, of one place."""
    reach_m = radius[place] + level.reach_m
    found = level.tree.query_ball_point(center[place], reach_m, p=np.inf)
    return place * KEYS + level.rows[np.array(found, dtype=np.int64)]


def _sorted(found: list[Rows]) -> Rows:
    """What was found in all levels, ascending; that an object is found in two does not matter."""
    pairs = np.concatenate(found)
    pairs.sort()
    return pairs
