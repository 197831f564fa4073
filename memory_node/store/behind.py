# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What of an object may be written later than the view it comes from, as that tells it too."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

import apsw

from memory_node.store.database import Database

MOST = 20_000
"""Objects that may wait to be written."""
AT_ONCE = 64
"""Objects that a view writes of those that waited too long."""
STEPS = 500
"""The mark goes through the longest wait in no more steps: writing it costs as much as a row."""


def mark_of(database: Database, key: str) -> int:
    """The number up to which all rows are said to have all that was told; 0: nothing is said."""
    found = database.rows('SELECT value FROM meta WHERE key = ?', (key,))
    return int(found[0][0]) if found else 0


def put_mark(connection: apsw.Connection, key: str, number: int) -> None:
    """Say so, within a transaction."""
    connection.execute('INSERT OR REPLACE INTO meta VALUES (?, ?)', (key, str(number)))


class Behind:
    """The objects whose row is older than what is in memory, longest waiting first.

    Attributes:
        mark: up to this number (of an observation, a log line) all rows have all that was told.
    """

    def __init__(self, mark: int, longest: int) -> None:
        """mark: as the file says. longest: numbers for which an object may wait."""
        self.mark, self._longest = mark, longest
        self._since: OrderedDict[int, int] = OrderedDict()  # a dict would look through those gone
        self._planned: tuple[list[int], int] = ([], mark)

    def __len__(self) -> int:
        return len(self._since)

    def __contains__(self, object_id: int) -> bool:
        return object_id in self._since

    def note(self, object_ids: Iterable[int], number: int) -> None:
        """They changed, by what came from this number on."""
        wait = self._since.setdefault
        for object_id in object_ids:
            wait(object_id, number)

    def everything(self) -> list[int]:
        """All of them."""
        return list(self._since)

    def plan(self, last: int, due: list[int] | None = None) -> tuple[list[int], int]:
        """What to write with what comes after a number: objects, and the mark to set.

        due: write these, whoever waits; None: those that waited too long.
        """
        due = self._overdue(last) if due is None else due
        mark = self.mark
        if due or last - mark >= self._longest:  # the mark goes on also where none waits
            left = set(due)
            waiting = (since for number, since in self._since.items() if number not in left)
            mark = next(waiting, last + 1) - 1
            if mark - self.mark < self._longest // STEPS:
                mark = self.mark
        self._planned = due, mark
        return self._planned

    def done(self) -> None:
        """What was planned is on disk."""
        due, self.mark = self._planned
        self.written(due)
        self._planned = [], self.mark

    def written(self, object_ids: Iterable[int | None]) -> None:
        """Their rows are as new as can be; None stands for nothing."""
        for number in object_ids:
            self._since.pop(number, None)  # type: ignore[arg-type]

    def settled(self, last: int) -> None:
        """Everything up to a number is on disk."""
        self._since.clear()
        self.mark, self._planned = last, ([], last)

    def _overdue(self, last: int) -> list[int]:
        surplus = len(self._since) - MOST
        found: list[int] = []
        for number, since in self._since.items():  # the later ones have not waited longer
            late = len(found) < surplus or since + self._longest < last
            if not late or len(found) == AT_ONCE:
                break
            found.append(number)
        return found
