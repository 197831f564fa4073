# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What an old id has become, and whose a sighting is by now (promise 5)."""

from __future__ import annotations

import json
from collections.abc import Iterable

from memory_node.store.database import Database

OWNED = """
    SELECT id FROM observation WHERE object_id IN (SELECT value FROM json_each(?1))
        AND NOT EXISTS (SELECT 1 FROM attribution WHERE observation_id = observation.id)
    UNION ALL
    SELECT observation_id FROM attribution a
        WHERE object_id IN (SELECT value FROM json_each(?1)) AND NOT EXISTS
        (SELECT 1 FROM attribution WHERE observation_id = a.observation_id AND seq > a.seq)
"""
"""Ids of the observations that are of some objects by now; ?1: see `listed`."""
LAST = '(SELECT observation_id, object_id, max(seq) FROM attribution GROUP BY observation_id)'
"""Whose the observations are that a split gave to another object."""


class Redirects:
    """Which ids were merged into which; an id that was not stands for itself."""

    def __init__(self, pairs: Iterable[tuple[int, int]] = ()) -> None:
        self._into: dict[int, int] = {}
        self._from: dict[int, set[int]] = {}
        for old, new in pairs:
            self.put(old, new)

    def put(self, old: int, new: int) -> None:
        """`old` was merged into `new`."""
        self._into[old] = new
        self._from.setdefault(new, set()).add(old)

    def drop(self, old: int) -> None:
        """`old` is an object of its own again."""
        self._from[self._into.pop(old)].discard(old)

    def final(self, object_id: int) -> int:
        """What an id stands for now."""
        while object_id in self._into:
            object_id = self._into[object_id]
        return object_id

    def held(self, object_id: int) -> list[int]:
        """The id, and then all that were merged into it."""
        found = [object_id]
        for number in found:
            found += sorted(self._from.get(number, ()))
        return found

    def __len__(self) -> int:
        return len(self._into)


def load_redirects(database: Database) -> Redirects:
    """Read all redirects."""
    return Redirects(database.rows('SELECT object_id, into_id FROM redirect ORDER BY object_id'))


def listed(object_ids: Iterable[int]) -> str:
    """Ids as a binding for json_each."""
    return json.dumps([int(i) for i in object_ids])
