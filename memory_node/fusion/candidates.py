# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Which stored objects could a detection be? An exact index over boxes that change all the time.

scipy's cKDTree cannot be changed once built. So the objects lie in *levels*, each a tree over the
centres as they were when it was built: large ones by size class, rebuilt by a thread and swapped in
when ready; one of recent objects; and a short buffer that is searched by brute force. A record
says in which level its object is valid; entries elsewhere are stale and skipped. What is found is
checked against the boxes as they are now, so the answer equals that of a brute-force search at
every moment (property test), whether or not a rebuild is under way.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from memory_node.fusion.world import Rows, World
from memory_node.model import Floats

SLACK_M = 0.05
"""How far a centre may go from where it was indexed before the object is indexed anew."""
CLASS_LIMITS_M = (0.25, 1.0, 4.0)
"""Largest half extent of the size classes; larger objects are searched by brute force."""
BUFFER = 192
RECENT = 4096
NEIGHBOURS = 6

_NOWHERE = -1


@dataclass
class _Level:
    """A tree over the rows that were in it when it was built."""

    number: int
    size_class: int
    rows: Rows
    tree: cKDTree
    reach_m: float
    """Largest half extent that an object in it may have."""


class CandidateIndex:
    """Finds the live objects whose box, grown by a margin, overlaps a given box."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._level_of = np.full(len(world.alive), _NOWHERE, np.int64)
        self._class_of = np.zeros(len(world.alive), np.int8)
        self._placed = np.zeros((len(world.alive), 3))
        self._buffer = np.zeros(0, np.int64)
        self._large: dict[int, _Level] = {}
        self._recent: list[_Level] = []
        self._next_level = 1
        self._builder: _Builder | None = None
        self.add(world.live_rows())
        self._rebuild(in_background=False)

    # -- changes -----------------------------------------------------------------------------

    def add(self, rows: Rows) -> None:
        """Index new or changed objects where they are now."""
        if not len(rows):
            return
        self._reserve()
        r = self._world.records
        self._placed[rows] = r['hull_center'][rows]
        self._class_of[rows] = np.searchsorted(CLASS_LIMITS_M, r['half'][rows].max(axis=1))
        self._level_of[rows] = 0
        self._buffer = np.concatenate([self._buffer, rows])

    def update(self, rows: Rows) -> None:
        """Index anew those objects that moved or grew beyond what their level allows for."""
        if not len(rows):
            return
        r = self._world.records
        records = r[rows]
        moved = (np.abs(records['hull_center'] - self._placed[rows]) > SLACK_M).any(axis=1)
        grown = np.searchsorted(CLASS_LIMITS_M, records['half'].max(axis=1)) > self._class_of[rows]
        changed = rows[moved | grown]
        if len(changed):
            buffered = self._level_of[changed] == 0
            self._placed[changed[buffered]] = r['hull_center'][changed[buffered]]
            self._class_of[changed[buffered]] = np.searchsorted(
                CLASS_LIMITS_M, r['half'][changed[buffered]].max(axis=1)
            )
            self.add(changed[~buffered])

    def remove(self, row: int) -> None:
        """Take an object out."""
        if row < len(self._level_of):
            self._level_of[row] = _NOWHERE

    def maintain(self) -> None:
        """Keep the buffer short and the recent tree small. Call after each view."""
        if self._builder is not None and self._builder.done:
            self._swap()
        if len(self._buffer) > BUFFER:
            self._drain()

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
        radius = half.max(axis=1) + (margin_m + SLACK_M)
        places, rows = self._around(center, radius)
        r = self._world.records
        gap = np.abs(r['hull_center'][rows] - center[places]) - r['half'][rows] - half[places]
        keep = (gap <= margin_m).all(axis=1)
        return _sorted(places[keep], rows[keep])

    def within(self, point: Floats, radius_m: float) -> tuple[Rows, Floats]:
        """Find objects whose centre is within a radius: (R,) rows ascending, (R,) distances."""
        center = point.reshape(1, 3)
        _, rows = self._around(center, np.array([radius_m + SLACK_M]), reach=self._world.off_center)
        d = self._world.records['center'][rows] - center
        distance = np.sqrt(d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2])
        keep = distance <= radius_m
        rows, distance = rows[keep], distance[keep]
        order = np.argsort(rows, kind='stable')
        return rows[order], distance[order]

    def _around(
        self, center: Floats, radius: Floats, reach: bool = True
    ) -> tuple[np.ndarray, Rows]:
        """Pairs whose centres are within a cube of the radius (plus the reach of the level)."""
        found_places, found_rows = [], []
        for level in [*self._large.values(), *self._recent]:
            places, entries = _search(level, center, radius + (level.reach_m if reach else 0.0))
            rows = level.rows[entries]
            valid = self._level_of[rows] == level.number
            found_places.append(places[valid])
            found_rows.append(rows[valid])
        buffer = self._buffer
        if len(buffer):
            live = buffer[self._level_of[buffer] == 0]
            limit = radius[:, None]
            if reach:
                limit = limit + self._world.records['half'][live].max(axis=1)
            at = self._placed[live]
            near = np.abs(center[:, 0, None] - at[:, 0]) <= limit
            near &= np.abs(center[:, 1, None] - at[:, 1]) <= limit
            near &= np.abs(center[:, 2, None] - at[:, 2]) <= limit
            places, entries = np.nonzero(near)
            found_places.append(places)
            found_rows.append(live[entries])
        if not found_rows:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return np.concatenate(found_places), np.concatenate(found_rows)

    # -- levels ------------------------------------------------------------------------------

    def _reserve(self) -> None:
        capacity = len(self._world.alive)
        if capacity > len(self._level_of):
            missing = capacity - len(self._level_of)
            self._level_of = np.concatenate([self._level_of, np.full(missing, _NOWHERE, np.int64)])
            self._class_of = np.concatenate([self._class_of, np.zeros(missing, np.int8)])
            self._placed = np.concatenate([self._placed, np.zeros((missing, 3))])

    def _drain(self) -> None:
        """Move the buffer into the recent trees; start a rebuild when those grow large."""
        rows = np.unique(self._buffer[self._level_of[self._buffer] == 0])
        huge = self._class_of[rows] == len(CLASS_LIMITS_M)
        self._buffer = rows[huge]
        rows = rows[~huge]
        old = [level.rows[self._level_of[level.rows] == level.number] for level in self._recent]
        rows = np.unique(np.concatenate([rows, *old]))
        self._recent = [
            self._new_level(c, rows[self._class_of[rows] == c])
            for c in np.unique(self._class_of[rows]).tolist()
        ]
        large = sum(len(level.rows) for level in self._large.values())
        if len(rows) > max(RECENT, large // 16) and self._builder is None:
            self._rebuild(in_background=True)

    def _new_level(self, size_class: int, rows: Rows) -> _Level:
        level = _Level(
            self._next_level, size_class, rows, cKDTree(self._placed[rows]),
            CLASS_LIMITS_M[size_class],
        )  # fmt: skip
        self._level_of[rows] = level.number
        self._next_level += 1
        return level

    def _rebuild(self, in_background: bool) -> None:
        """Build the large levels anew from everything that is in a level or the buffer."""
        rows = np.flatnonzero(self._level_of >= 0)
        rows = rows[self._class_of[rows] < len(CLASS_LIMITS_M)]
        self._builder = _Builder(rows, self._level_of[rows], self._placed[rows],
                                 self._class_of[rows])  # fmt: skip
        if in_background:
            self._builder.start()
        else:
            self._builder.build()
            self._swap()

    def _swap(self) -> None:
        """Put the new large levels in place; objects re-indexed meanwhile stay where they are."""
        builder = self._builder
        assert builder is not None
        self._builder = None
        self._large = {}
        for size_class, rows, levels, tree in builder.built:
            same = self._level_of[rows] == levels
            same &= (self._placed[rows] == tree.data).all(axis=1)
            same &= self._class_of[rows] == size_class
            level = _Level(self._next_level, size_class, rows, tree, CLASS_LIMITS_M[size_class])
            self._next_level += 1
            self._level_of[rows[same]] = level.number
            self._large[size_class] = level
        self._buffer = self._buffer[self._level_of[self._buffer] == 0]
        stale = [~(self._level_of[v.rows] == v.number).any() for v in self._recent]
        self._recent = [v for v, gone in zip(self._recent, stale) if not gone]


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


def _search(level: _Level, center: Floats, radius: Floats) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (place, entry) within a cube of half side `radius` about each centre."""
    if len(center) == 1:  # a place: there may be many about it, so do not stop at the nearest
        found = level.tree.query_ball_point(center[0], radius[0], p=np.inf)
        return np.zeros(len(found), np.int64), np.array(found, dtype=np.int64)
    bound = float(radius.max())
    k = min(NEIGHBOURS, len(level.rows))
    found, entry = level.tree.query(center, k=k, p=np.inf, distance_upper_bound=bound * (1 + 1e-9))
    found, entry = found.reshape(-1, k), entry.reshape(-1, k)
    hit = found <= radius[:, None]
    full = hit[:, -1].copy() if k < len(level.rows) else np.zeros(len(center), bool)
    hit[full] = False
    places, columns = np.nonzero(hit)
    entries = entry[places, columns]
    for place in np.flatnonzero(full).tolist():
        more = level.tree.query_ball_point(center[place], radius[place], p=np.inf)
        places = np.concatenate([places, np.full(len(more), place)])
        entries = np.concatenate([entries, np.array(more, dtype=np.int64)])
    return places, entries


def _sorted(places: np.ndarray, rows: Rows) -> tuple[np.ndarray, Rows]:
    order = np.lexsort([rows, places])
    return places[order], rows[order]
