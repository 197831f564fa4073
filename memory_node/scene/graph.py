# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""All relations of many objects, kept from one time to the next: only what changed is found anew.

What follows from the boxes of two objects changes only if one of them does. So the relations of
those that changed, came or went are dropped and found again among their neighbours, and the rest
stay as they are. The result equals that of finding all anew (property test).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memory_node.config import Config
from memory_node.fusion.world import Records, Rows, World
from memory_node.model import Relation
from memory_node.scene.relations import Boxes, relations_about

AT_ONCE = 50
"""Objects whose relations are found at once."""
_DECIDE = ('center', 'half', 'hull_center', 'confidence', 'map')
"""What the relations of an object follow from."""

_Key = tuple[int, str, int]


class RelationGraph:
    """The relations between some objects as of the last `refresh`."""

    def __init__(self) -> None:
        self._limits: tuple[float, float] | None = None
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
        limits = (config.near_m, config.on_gap_m)
        if limits != self._limits:
            self._ids, self._known, self._of = np.zeros(0, np.int64), {}, {}
        ids: Rows = world.records['id'][rows].astype(np.int64)
        records = world.records[rows]
        changed = self._changed(ids, records)
        for number in [*np.setdiff1d(self._ids, ids).tolist(), *ids[changed].tolist()]:
            self._drop(number)
        self._limits, self._ids, self._known = None, ids, {}  # so that a refresh cut short counts
        among = set(ids.tolist())
        order = changed[np.argsort(records['hull_center'][changed, 0], kind='stable')]
        for first in range(0, len(order), AT_ONCE):
            some = rows[order[first : first + AT_ONCE]]
            for relation in relations_about(world, index, some, config):
                if relation.subject_id in among and relation.object_id in among:
                    self._put(relation)
            yield len(some)
        self._known = {name: records[name].copy() for name in _DECIDE}
        self._limits = limits

    def relations(self) -> list[Relation]:
        """All of them, by subject, kind and object."""
        found = {}
        for held in self._of.values():
            found.update(held)
        return [found[key] for key in sorted(found)]

    def _changed(self, ids: Rows, records: Records) -> Rows:
        """Places of the objects that are new, or not as they were."""
        if not len(self._ids):
            return np.arange(len(ids))
        at = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        same = self._ids[at] == ids
        for name, known in self._known.items():
            equal = known[at] == records[name]
            same &= equal if equal.ndim == 1 else equal.all(axis=1)
        return np.flatnonzero(~same)

    def _put(self, relation: Relation) -> None:
        key = (relation.subject_id, str(relation.kind), relation.object_id)
        self._of.setdefault(relation.subject_id, {})[key] = relation
        self._of.setdefault(relation.object_id, {})[key] = relation

    def _drop(self, number: int) -> None:
        for key in self._of.pop(number, {}):
            for end in (key[0], key[2]):
                if end in self._of:
                    self._of[end].pop(key, None)
