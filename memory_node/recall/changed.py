# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What has changed since some moment, grouped by region and kind (CH-40)."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import numpy as np

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.model import (
    Change,
    ChangeGroup,
    ChangeKind,
    ObjectVersion,
    WhatChanged,
)
from memory_node.recall.query import regions_named
from memory_node.scene.regions import RegionBook
from memory_node.store import log, objects
from memory_node.store.database import Database
from memory_node.store.session import Session

KINDS = tuple(kind for kind in ChangeKind if kind not in (ChangeKind.VIEW, ChangeKind.UPDATED))
"""Kinds that are told of unless some are named."""
_CHANGES = f"""
    {log.CHANGE} WHERE seq > ? AND seq <= ? AND stamp_ns >= ?
    AND kind IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ?
"""
AT_ONCE = 128


@dataclass
class Group:
    """Changes of one kind at one place: how many, and the newest of them, newest last."""

    count: int = 0
    newest: deque[tuple[Change, ObjectVersion | None]] = field(default_factory=deque)

    def take(self, change: Change, version: ObjectVersion | None, limit: int) -> None:
        """Add one; of more than the limit the oldest are only counted."""
        self.count += 1
        self.newest.append((change, version))
        if len(self.newest) > limit:
            self.newest.popleft()


class Grouping:
    """Groups the changes since a time or a log line, some at a time: others may write between."""

    def __init__(
        self,
        session: Session,
        since_ns: int | None,
        since_seq: int | None,
        region: str,
        kinds: Collection[ChangeKind],
        limit: int,
    ) -> None:
        """Begin.

        Args:
            session: of the store.
            since_ns, since_seq: see WhatChanged; one of them.
            region: only in a region of this name, or a part of it; empty: anywhere.
            kinds: only these. limit: so many of the newest changes are in a group.

        Raises:
            InvalidValueError: there is no region of this name.
        """
        self._session, self._limit = session, limit
        self._since_ns, self._since_seq = since_ns, since_seq
        self._book = session.engine.world.regions
        self._wanted = set(regions_named(self._book, region)) if region else None
        self._names = json.dumps([kind.value for kind in kinds])
        self._next, self._last = since_seq or 0, session.seq
        self._groups: dict[tuple[str, ChangeKind], Group] = {}

    def step(self) -> bool:
        """Take some more; returns whether there are more."""
        database = self._session.database
        rows = database.rows(
            _CHANGES, (self._next, self._last, self._since_ns or 0, self._names, AT_ONCE)
        )
        changes = [log.change_from(row) for row in rows]
        versions = [objects.version_of(database, change) for change in changes]
        places = _places(self._session, self._book, changes, versions)
        for change, version, place in zip(changes, versions, places):
            if self._wanted is None or place in self._wanted:
                self._take(change, version, place)
        if changes:
            self._next = changes[-1].seq
        return len(changes) == AT_ONCE

    def _take(self, change: Change, version: ObjectVersion | None, place: int) -> None:
        group = self._groups.setdefault((self._name(place), change.kind), Group())
        group.take(change, version, self._limit)

    def _name(self, place: int) -> str:
        """Name of the region at a place in the book; empty: none."""
        return self._book.regions[place].name if place >= 0 else ''

    def result(self) -> WhatChanged:
        """All groups, once the last step is done."""
        order = list(ChangeKind)
        found = sorted(
            self._groups.items(), key=lambda g: (g[0][0] == '', g[0][0], order.index(g[0][1]))
        )
        return WhatChanged(self._since_seq, self._since_ns, tuple(
            ChangeGroup(name, kind, group.count, tuple(c for c, _ in group.newest),
                        tuple(v for _, v in group.newest))
            for (name, kind), group in found
        ))  # fmt: skip


def last_visit(database: Database, gap_s: float) -> int:
    """Last log line of the last view before the newest gap between views; 0: there is no gap."""
    later: int | None = None
    for batch in database.batches(
        'SELECT stamp_ns, seq FROM view ORDER BY stamp_ns DESC, seq DESC'
    ):
        for stamp_ns, seq in batch:
            if later is not None and later - stamp_ns >= gap_s * 1e9:
                return _last_line_of(database, seq)
            later = stamp_ns
    return 0


def _last_line_of(database: Database, seq: int) -> int:
    """Last log line of what a view has changed."""
    rows = database.rows(
        "SELECT seq FROM log WHERE seq > ? AND (kind = 'VIEW' OR actor <> ?) ORDER BY seq LIMIT 1",
        (seq, log.PERCEPTION),
    )
    return int(rows[0][0]) - 1 if rows else seq


def kinds_of(given: Iterable[str]) -> tuple[ChangeKind, ...]:
    """Kinds by name; none: KINDS.

    Raises:
        InvalidValueError: one of them is no kind of change.
    """
    known = {kind.value: kind for kind in ChangeKind if kind is not ChangeKind.VIEW}
    found = []
    for name in given:
        if not isinstance(name, str) or name not in known:
            raise InvalidValueError(
                f'kinds: got {checks.short(name)}, expected any of {", ".join(known)}'
            )
        found.append(known[name])
    return tuple(found) or KINDS


def _places(
    session: Session, book: RegionBook, changes: list[Change],
    versions: list[ObjectVersion | None],
) -> list[int]:  # fmt: skip
    """Place in the book of the region of each change; -1: none."""
    world = session.engine.world
    found = [k for k, version in enumerate(versions) if version is not None]
    centers = np.array([v.center_m for v in versions if v is not None]).reshape(-1, 3)
    maps = np.array([world.map_number(v.map_id) for v in versions if v is not None], np.int64)
    places = dict(zip(found, book.smallest(centers, maps).tolist()))
    for k, change in enumerate(changes):
        if change.kind is ChangeKind.REGION:
            named = book.named(str(change.after.get('name', '')))
            same = [at for at in named if book.regions[at].map_id == change.after.get('map_id')]
            places[k] = same[0] if same else -1
    return [places.get(k, -1) for k in range(len(changes))]
