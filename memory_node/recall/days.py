# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The feed told as narrative, day by day: new, moved, gone, reported, corrected, by region.

Each line is bounded and cites the log lines that it tells of.
"""

from __future__ import annotations

from collections.abc import Iterable

from memory_node.model import Change, ChangeKind, ObjectVersion
from memory_node.notes.lines import DAY_NS, day_name
from memory_node.recall.changed import Group, Grouping
from memory_node.recall.wording import harmless, point
from memory_node.store.log import PERCEPTION
from memory_node.store.session import Session

ITEMS = 8
"""Things that one line names; of more the newest, and how many there are."""
LINES = 40
"""Lines of one day."""
WINDOW = 20_000
"""Log lines that are looked through while the memory is held."""
_VERBS = {
    ChangeKind.CONFIRMED: 'new', ChangeKind.MOVED: 'moved', ChangeKind.ABSENT: 'gone',
    ChangeKind.DOUBTFUL: 'perhaps gone', ChangeKind.RETURNED: 'back',
    ChangeKind.HELD: 'taken by the robot', ChangeKind.EVENT: 'reported',
    ChangeKind.RELABELLED: 'called something else', ChangeKind.CORRECTED: 'corrected',
    ChangeKind.MERGED: 'turned out to be another', ChangeKind.SPLIT: 'turned out to be two',
    ChangeKind.FORGOTTEN: 'forgotten', ChangeKind.RESTORED: 'restored',
    ChangeKind.REGION: 'regions set', ChangeKind.PURGED: 'purged',
}  # fmt: skip
"""What is told, in this order within a region."""
_ORDER = [*_VERBS]
_READ = (*_VERBS, ChangeKind.CREATED)


class Days(Grouping):
    """The changes of a time, by day, region and kind; some at a time, as others may write."""

    def __init__(self, session: Session, since_ns: int, until_ns: int) -> None:
        """Begin.

        Args:
            session: of the store. since_ns, until_ns: stamps, both included. Days are of UTC, and
                told whole.
        """
        since_ns = since_ns // DAY_NS * DAY_NS
        super().__init__(session, since_ns, None, '', _READ, ITEMS)
        self._until_ns = until_ns // DAY_NS * DAY_NS + DAY_NS - 1
        self._end = self._last
        self._days: dict[str, dict[tuple[str, ChangeKind], Group]] = {}
        first = session.database.rows('SELECT min(seq) FROM view WHERE stamp_ns >= ?', (since_ns,))[
            0
        ][0]
        begin = first if since_ns and first is not None else 1
        self._next = begin - 1

    def step(self) -> bool:
        """Take some more; returns whether there are more."""
        self._last = min(self._end, self._next + WINDOW)
        if not super().step():
            self._next = self._last
        return self._next < self._end

    def _take(self, change: Change, version: ObjectVersion | None, place: int) -> None:
        kind = change.kind
        if change.stamp_ns > self._until_ns or (
            kind is ChangeKind.CREATED and change.actor == PERCEPTION
        ):
            return
        if change.object_id is not None and version is None:
            return  # of what was purged
        if kind is ChangeKind.CREATED:
            kind = ChangeKind.CONFIRMED  # what is stated is new at once
        groups = self._days.setdefault(day_name(change.stamp_ns), {})
        group = groups.setdefault((self._name(place), kind), Group())
        group.take(change, version, ITEMS)

    def told(self) -> dict[str, list[str]]:
        """Lines of each day, once the last step is done."""
        return {day: _lines(groups) for day, groups in sorted(self._days.items())}


def _lines(groups: dict[tuple[str, ChangeKind], Group]) -> list[str]:
    found = sorted(groups.items(), key=lambda g: (g[0][0] == '', g[0][0], _ORDER.index(g[0][1])))
    lines = [_line(region, kind, group) for (region, kind), group in found]
    if len(lines) > LINES:
        count = sum(group.count for _, group in found[LINES - 1 :])
        lines[LINES - 1 :] = [f'- and {count} changes more']
    return lines


def _line(region: str, kind: ChangeKind, group: Group) -> str:
    where = f'In {harmless(region)}' if region else 'Elsewhere'
    things = [_thing(change, version) for change, version in group.newest]
    more = group.count - len(things)
    rest = f' and {more} more' if more else ''
    return f'- {where}, {_VERBS[kind]}: {_joined(things)}{rest}.'


def _thing(change: Change, version: ObjectVersion | None) -> str:
    name = harmless(version.label) if version is not None else ''
    if change.kind is ChangeKind.REGION:
        name = harmless(str(change.after.get('name', '')))
    elif change.kind is ChangeKind.PURGED:
        name = f'a {harmless(str(change.after.get("by", "")))}'
    number = '' if change.object_id is None else f' #{change.object_id}'
    way = ''
    if change.kind is ChangeKind.EVENT:
        way = ': ' + harmless(str(change.after.get('type', ''))).replace('_', ' ')
    elif change.from_m is not None and change.to_m is not None:
        way = f' from {point(change.from_m)} to {point(change.to_m)}'
    return f'{name or "something"}{number}{way} (log {change.seq})'


def _joined(things: Iterable[str]) -> str:
    return ', '.join(things)
