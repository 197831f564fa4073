# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What changed since a time or a log line, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memory_node.config import MAX_LIMIT
from memory_node.model import Change, ChangeKind, Hit
from memory_node.recall.finding import is_certain, named_by
from memory_node.recall.intent import Reading
from memory_node.recall.moments import DAY, LAST_VISIT
from memory_node.recall.wording import cited, harmless, point
from memory_node.recall.words import key
from memory_node.store.log import PERCEPTION

if TYPE_CHECKING:
    from memory_node.answering import Answering

MOST_LINES = 100_000
"""Log lines that are read for one answer."""
_VERBS = (
    (ChangeKind.MOVED, 'moved'), (ChangeKind.ABSENT, 'no longer there'),
    (ChangeKind.DOUBTFUL, 'perhaps no longer there'), (ChangeKind.RETURNED, 'back'),
    (ChangeKind.CONFIRMED, 'new'), (ChangeKind.HELD, 'taken by the robot'),
    (ChangeKind.RELABELLED, 'called something else'), (ChangeKind.CORRECTED, 'corrected'),
    (ChangeKind.FORGOTTEN, 'forgotten'),
)  # fmt: skip
"""What is told, in this order; the newest of these lines about an object counts."""


def news(
    memory: Answering, reading: Reading, now_ns: int, since_seq: int, limit: int
) -> tuple[str, float, bool, tuple[Hit, ...], str]:
    """Words, confidence, whether it is named for certain, hits, and why there is no answer."""
    visit = last_visit(memory, since_seq) if reading.span.words == LAST_VISIT else None
    if reading.span.words == LAST_VISIT and visit is None:
        why = 'it asks since your last visit: say the log line that you know (since_seq)'
        return f'I cannot answer that: {why}.', 0.0, False, (), why
    lines = changes_in(memory, reading, now_ns, visit)
    wanted = None
    if reading.thing:
        hits = [h for h in named_by(memory, reading.thing, now_ns) if is_certain(h)]
        if not hits:
            return f"I do not know: I know of no '{harmless(reading.thing)}'.", 0.0, False, (), ''
        wanted = {h.object.id for h in hits}
    newest: dict[int, Change] = {}
    told = {kind for kind, _ in _VERBS}
    for change in lines:
        number = change.object_id
        if number is not None and _kind(change) in told and (wanted is None or number in wanted):
            newest[number] = change
    objects = {
        o.id: o for o in memory.page(ids=_newest(newest, MAX_LIMIT), limit=MAX_LIMIT)
        if not reading.place or key(o.region) == key(reading.place)
    }  # fmt: skip
    parts = []
    for kind, verb in _VERBS:
        some = [n for n in newest if _kind(newest[n]) is kind and n in objects]
        if some:
            shown = ', '.join(_told(newest[n], cited(objects[n])) for n in some[:limit])
            more = f' and {len(some) - limit} more' if len(some) > limit else ''
            parts.append(f'{verb}: {shown}{more}')
    scope = f' ({harmless(reading.span.words)})' if reading.span.words else ' in the last day'
    where = f' in {harmless(reading.place)}' if reading.place else ''
    if not parts:
        return f'I know of no change{where}{scope}.', 0.0, False, (), ''
    hits_of = tuple(Hit(o, 1.0, {}, o.presence(now_ns)) for o in objects.values())
    return f'Changes{where}{scope}: {"; ".join(parts)}.', 1.0, True, hits_of, ''


def _kind(change: Change) -> ChangeKind:
    """What a line tells: what is stated is new at once, what is seen once it is confirmed."""
    if change.kind is ChangeKind.CREATED and change.actor != PERCEPTION:
        return ChangeKind.CONFIRMED
    return change.kind


def _newest(changes: Mapping[int, Change], most: int) -> list[int]:
    """The objects that changed last."""
    return sorted(changes, key=lambda number: -changes[number].seq)[:most]


def _told(change: Change, name: str) -> str:
    if change.from_m is not None and change.to_m is not None:
        return f'{name} from {point(change.from_m)} to {point(change.to_m)}'
    return name


def last_visit(memory: Answering, since_seq: int) -> int | None:
    """The log line up to which the asker knows; None: nobody can tell.

    Args:
        since_seq: as the asker says; 0: the memory may know when it was last visited.
    """
    if since_seq:
        return since_seq
    return memory.what_changed(limit=1).since_seq


def changes_in(memory: Answering, reading: Reading, now_ns: int, visit: int | None) -> list[Change]:
    """The changes after a line, or of a time, by default the last day; oldest first."""
    since_ns = reading.span.since_ns if reading.span.words else now_ns - DAY
    since_ns = 0 if since_ns is None else since_ns
    until_ns = now_ns if reading.span.until_ns is None else reading.span.until_ns
    seq = memory.line_at(since_ns) - 1 if visit is None else visit
    found: list[Change] = []
    for _ in range(MOST_LINES // MAX_LIMIT):
        lines = memory.changes(max(seq, 0), MAX_LIMIT)
        found += [c for c in lines if visit is not None or since_ns <= c.stamp_ns <= until_ns]
        if len(lines) < MAX_LIMIT:
            break
        seq = lines[-1].seq
    return found
