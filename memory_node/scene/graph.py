# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""All relations of many objects, kept from one time to the next: only what changed is found anew.

The relations of an object change only if it changes, or something that holds it or could. So those
of what changed, came or went are dropped and found again among its neighbours, and with them those
of what it held or could hold now; the rest stay as they are. The result equals that of finding all
anew (property test).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from memory_node.config import CHRONOTOPE, Config
from memory_node.fusion.world import Records, Rows, World
from memory_node.model import Relation
from memory_node.scene.relations import HOLDS, Boxes, dependants, relations_about
from memory_node.scene.things import DECIDE

AT_ONCE = 50
"""Objects whose relations are found at once."""
_BOX = ('state', *DECIDE)
"""What the relations of an object and of those that it holds follow from."""
_OF_CHRONOTOPE = ('state', 'center', 'half', 'hull_center', 'map')

_Key = tuple[int, str, int]


class RelationGraph:
    """The relations between some objects as of the last `refresh`."""

    def __init__(self) -> None:
        self._limits: tuple[object, ...] | None = None
        self._ids: Rows = np.zeros(0, np.int64)
        self._known: dict[str, np.ndarray] = {}
        self._of: dict[int, dict[_Key, Relation]] = {}

    def refresh(self, world: World, rows: Rows, index: Boxes, config: Config) -> Iterator[int]:
        """Bring the relations up to date; yields after each part how many objects it was about.

        Iterate it to its end, or call it again: until then what is here is of both times.

        Args:
            world: where the objects are.
            rows: of all objects that there are, by ascending id.
            index: finds these objects by their boxes.
            config: says what is near, and what lies on what.
        """
        limits = (
            config.near_m, config.on_gap_m, config.beside_m, config.against_m, config.profile,
        )  # fmt: skip
        if limits != self._limits:
            self._ids, self._known, self._of = np.zeros(0, np.int64), {}, {}
        ids: Rows = world.records['id'][rows].astype(np.int64)
        records = world.records[rows]
        boxes = _OF_CHRONOTOPE if config.profile == CHRONOTOPE else _BOX
        moved = self._changed(ids, records, boxes)
        gone = np.setdiff1d(self._ids, ids).tolist()
        loose = self._held_by([*gone, *ids[moved].tolist()])
        anew = np.isin(ids, [*loose, *ids[self._changed(ids, records, ('confidence',))].tolist()])
        anew[moved] = True
        if len(moved) < len(ids):
            for some in _parts(rows[moved], records[moved]):
                anew |= np.isin(rows, dependants(world, index, some, config))
        for number in [*gone, *ids[anew].tolist()]:
            self._drop(number)
        self._limits, self._ids, self._known = None, ids, {}  # so that a refresh cut short counts
        among = set(ids.tolist())
        for some in _parts(rows[anew], records[anew]):
            for relation in relations_about(world, index, some, config):
                if relation.subject_id in among and relation.object_id in among:
                    self._put(relation)
            yield len(some)
        self._known = {name: records[name].copy() for name in ('confidence', *boxes)}
        self._limits = limits

    def relations(self) -> list[Relation]:
        """All of them, by subject, kind and object."""
        found = {}
        for held in self._of.values():
            found.update(held)
        return [found[key] for key in sorted(found)]

    def _changed(self, ids: Rows, records: Records, names: Sequence[str]) -> Rows:
        """Places of the objects that are new, or not as they were in the named columns."""
        if not len(self._ids):
            return np.arange(len(ids))
        at = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        same = self._ids[at] == ids
        for name in names:
            equal = self._known[name][at] == records[name]
            same &= equal if equal.ndim == 1 else equal.all(axis=1)
        return np.flatnonzero(~same)

    def _held_by(self, numbers: Sequence[int]) -> set[int]:
        """The objects that one of these holds."""
        return {
            key[0] for number in numbers for key in self._of.get(number, ())
            if key[2] == number and key[1] in HOLDS
        }  # fmt: skip

    def _put(self, relation: Relation) -> None:
        key = (relation.subject_id, str(relation.kind), relation.object_id)
        self._of.setdefault(relation.subject_id, {})[key] = relation
        self._of.setdefault(relation.object_id, {})[key] = relation

    def _drop(self, number: int) -> None:
        for key in self._of.pop(number, {}):
            for end in (key[0], key[2]):
                if end in self._of:
                    self._of[end].pop(key, None)


def _parts(rows: Rows, records: Records) -> Iterator[Rows]:
    """Rows, few at once, those that lie together in x in the same part."""
    order = np.argsort(records['hull_center'][:, 0], kind='stable')
    for first in range(0, len(order), AT_ONCE):
        yield rows[order[first : first + AT_ONCE]]
