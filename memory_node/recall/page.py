# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Many objects as they were at one log line, for whoever shows them: see `SpatialMemory.page`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from memory_node.config import Config
from memory_node.fusion.world import STATE_CODE, Records, Rows, World
from memory_node.model import Floats, MemoryObject, Relation, State
from memory_node.recall.names import Names
from memory_node.scene.graph import RelationGraph
from memory_node.scene.relations import unstated

_BLOCK = 4096
_AT_ONCE = 64


class Page:
    """Objects by id, all as they were at one log line.

    It holds a copy of their records, and makes objects of them only while it is iterated: so the
    memory need not be held meanwhile, and whoever iterates may take breaks.

    Attributes:
        seq: the log line. stamp_ns: newest stamp of a view up to there; 0: none.
        total: objects that pass, whatever the limit; truncated: not all of them are here.
        stated: the relations that somebody stated of these objects, if they were asked for.
    """

    def __init__(
        self, world: World, rows: Rows, total: int, seq: int, stamp_ns: int,
        stated: Sequence[Relation] = (),
    ) -> None:  # fmt: skip
        """Copy the records; call it with the memory held."""
        self.seq, self.stamp_ns, self.total, self.stated = seq, stamp_ns, total, stated
        self.truncated = total > len(rows)
        self._world, self._regions = world, world.regions
        self._records: Records = world.records[rows]
        spilled = world.more_labels
        self._more = {
            k: dict(spilled[row]) for k, row in enumerate(rows.tolist()) if row in spilled
        }

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[MemoryObject]:
        world = self._world  # its labels and maps are only ever added to
        for first in range(0, len(self), _AT_ONCE):
            records = self._records[first : first + _AT_ONCE]
            spilled = {
                k: self._more[first + k] for k in range(len(records)) if first + k in self._more
            }
            yield from world.as_objects(records, spilled, self._regions)

    @property
    def ids(self) -> list[int]:
        """Ids of the objects, ascending."""
        found: list[int] = self._records['id'].tolist()
        return found

    def refresh(self, graph: RelationGraph, config: Config) -> Iterator[int]:
        """Bring a graph up to date with these objects, and only where they changed.

        Iterate it to its end; breaks may be taken.

        Args:
            graph: of the page before. config: of the memory.
        """
        world = World()
        world.records, world.count = self._records, len(self)
        world.labels, world.columns = self._world.labels, self._world.columns
        yield from graph.refresh(world, np.arange(len(self)), _Sweep(world), config)

    def relations(self, config: Config, graph: RelationGraph | None = None) -> Iterator[Relation]:
        """Relations between these objects: those of their geometry first, then the stated ones.

        Args:
            config: of the memory; says what is near, and what lies on what.
            graph: brought up to date with these objects; None: all are found anew.
        """
        if graph is None:
            graph = RelationGraph()
            for _ in self.refresh(graph, config):
                pass
        yield from unstated(graph.relations(), self.stated)
        here = set(self.ids)
        yield from (r for r in self.stated if r.subject_id in here and r.object_id in here)


class _Sweep:
    """Finds boxes that overlap, fastest where those asked for lie together in x."""

    def __init__(self, world: World) -> None:
        self._records = world.records
        x = world.records['hull_center'][:, 0]
        self.order: Rows = np.argsort(x, kind='stable')
        self._x = x[self.order]
        self._reach_m = float(world.records['half'].max(initial=0.0))

    def overlapping(self, center: Floats, half: Floats, margin_m: float) -> tuple[np.ndarray, Rows]:
        """As CandidateIndex.overlapping."""
        reach = self._reach_m + float(half.max()) + margin_m
        low = np.searchsorted(self._x, center[:, 0].min() - reach, 'left')
        high = np.searchsorted(self._x, center[:, 0].max() + reach, 'right')
        rows = np.sort(self.order[low:high])
        r = self._records[rows]
        apart = np.abs(r['hull_center'] - center[:, None]) - r['half'] - half[:, None]
        places, found = np.nonzero((apart <= margin_m).all(axis=2))
        return places, rows[found]


def rows_of(
    world: World, after_id: int, limit: int, states: Iterable[State], ids: Iterable[int] | None
) -> tuple[Rows, int]:
    """Return the first rows by id of live objects that pass, and how many pass.

    Args:
        world: the live objects.
        after_id: only those with a larger id.
        limit: at most so many rows.
        states: only those in these states; empty: whatever their state.
        ids: only these; None: all.
    """
    if ids is None:
        rows = world.rows_after(after_id)
    else:
        numbers = sorted({int(i) for i in ids if i > after_id})
        rows = np.array([r for i in numbers if (r := world.row_of(i)) is not None], np.int64)
    codes = [STATE_CODE[state] for state in states]
    if not codes:
        return rows[:limit], len(rows)
    found, total = [], 0
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        block = block[np.isin(world.records['state'][block], codes)]
        if total < limit:
            found.append(block)
        total += len(block)
    return (np.concatenate(found)[:limit] if found else rows[:0]), total


def named(world: World, text: str, names: Names) -> list[int]:
    """Return the ids of the live objects whose label the text names, ascending.

    Those that it names for certain, or, where there are none, those that contain its words.
    """
    found = [names.naming(text, name) for name in world.labels.names]
    rows = world.live_rows()
    for sure in (True, False):
        wanted = [k for k, n in enumerate(found) if n.score > 0 and n.certain is sure]
        some = rows[np.isin(world.records['label'][rows], wanted)]
        if len(some):
            return sorted(world.records['id'][some].tolist())
    return []
