# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Events of observing (OM-3): where a person was, and what was first seen there.

They are read from the views of their scope when somebody reflects: `observe` does nothing for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from memory_node.notes.beliefs import Event
from memory_node.notes.items import scope_of
from memory_node.store.session import Session

OBSERVED = 'observed_seq'
"""Key of meta: the last view whose events were taken down."""
WINDOW = 20_000
"""Log lines that are looked through while the memory is held."""
FOUND = 100
"""First sightings that one pass tells of; the newest."""
_VIEWS = """
    SELECT seq, stamp_ns, map_id, sensor_pose, scope FROM view
    WHERE seq > ? AND seq <= ? AND scope <> '{}' AND sensor_pose IS NOT NULL ORDER BY seq
"""
_FIRST = """
    SELECT o.view_seq, o.label FROM observation o WHERE o.view_seq > ?1 AND o.view_seq <= ?2
    AND o.verdict = 'created' AND o.label <> ''
    AND o.view_seq IN (SELECT value FROM json_each(?3)) ORDER BY o.id
"""
Pair = tuple[str, Event]
"""Slug of a person, and an event of theirs."""


class Visits:
    """Reads the events of views that nobody has looked at, some at a time: others may write."""

    def __init__(self, session: Session, gap_s: float) -> None:
        """Begin where the last one ended.

        Args:
            session: of the store. gap_s: a longer time without a view there ends a visit.
        """
        self._session, self._gap_ns = session, round(gap_s * 1e9)
        rows = session.database.rows('SELECT value FROM meta WHERE key = ?', (OBSERVED,))
        self._next = int(rows[0][0]) if rows else 0
        self._end = session.seq
        self._last: dict[str, tuple[str, int]] = {}
        self._visits: list[Pair] = []
        self._first: list[Pair] = []

    def step(self) -> bool:
        """Take some more; returns whether there are more."""
        last = min(self._end, self._next + WINDOW)
        rows = self._session.database.rows(_VIEWS, (self._next, last))
        views = [(row, user) for row in rows if (user := _user(row[4]))]
        places = self._places([row for row, _ in views])
        there: dict[int, tuple[str, str, int]] = {}
        for (row, user), place in zip(views, places):
            seq, stamp_ns = int(row[0]), int(row[1])
            there[seq] = (user, place, stamp_ns)
            self._see(user, place, stamp_ns, seq)
        for seq, label in self._session.database.rows(
            _FIRST, (self._next, last, json.dumps(list(there)))
        ):
            user, place, stamp_ns = there[seq]
            text = f'first saw {label}'
            event = Event('discover', text, stamp_ns, f'log:{seq}', place=place)
            self._first.append((user, event))
        self._first = self._first[-FOUND:]
        self._next = last
        return last < self._end

    def result(self) -> tuple[list[Pair], int]:
        """The events by time, and the log line up to which they are, once the last step is done."""
        found = sorted([*self._visits, *self._first], key=lambda pair: (pair[1].at_ns, pair[1].ref))
        return found, self._end

    def _see(self, user: str, place: str, stamp_ns: int, seq: int) -> None:
        before, at_ns = self._last.get(user, ('', 0))
        self._last[user] = (place, stamp_ns)
        if place and (place != before or stamp_ns - at_ns > self._gap_ns):
            event = Event('visit', f'was in {place}', stamp_ns, f'log:{seq}', place=place)
            self._visits.append((user, event))

    def _places(self, rows: Iterable[Any]) -> list[str]:
        """Name of the region in which each view was taken; empty: none."""
        world = self._session.engine.world
        given = [(np.frombuffer(pose, '<f8')[:3], map_id) for _, _, map_id, pose, _ in rows]
        if not given:
            return []
        centers = np.array([center for center, _ in given])
        maps = np.array([world.map_number(map_id) for _, map_id in given])
        return world.regions.names_at(centers, maps)


def _user(scope: str) -> str:
    """Slug of the user of a scope; empty: nobody, or no name."""
    name = json.loads(scope).get('user', '')
    return scope_of({'user': name}).get('user', '') if isinstance(name, str) and name.strip(
        ' .:-_'
    ) else ''  # fmt: skip
