# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What changed since a time or a log line, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_node.config import MAX_LIMIT
from memory_node.model import Change, ChangeKind, Hit
from memory_node.recall.finding import is_certain, named_by
from memory_node.recall.intent import Reading
from memory_node.recall.moments import DAY, LAST_VISIT
from memory_node.recall.wording import cited, harmless, point, region_of
from memory_node.recall.words import key

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
    if reading.span.words == LAST_VISIT and not since_seq:
        why = 'it asks since your last visit: say the log line that you know (since_seq)'
        return f'I cannot answer that: {why}.', 0.0, False, (), why
    lines = changes_in(memory, reading, now_ns, since_seq)
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
        if number is not None and change.kind in told and (wanted is None or number in wanted):
            newest[number] = change
    objects = {
        o.id: o for o in memory.page(ids=newest, limit=len(newest))
        if not reading.place or key(region_of(o)) == key(reading.place)
    }  # fmt: skip
    parts = []
    for kind, verb in _VERBS:
        some = [n for n, c in newest.items() if c.kind is kind and n in objects]
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


def _told(change: Change, name: str) -> str:
    if change.from_m is not None and change.to_m is not None:
        return f'{name} from {point(change.from_m)} to {point(change.to_m)}'
    return name


def changes_in(memory: Answering, reading: Reading, now_ns: int, since_seq: int) -> list[Change]:
    """The changes of a stretch of time: by default the last day; oldest first."""
    by_line = reading.span.words == LAST_VISIT
    since_ns = reading.span.since_ns if reading.span.words and not by_line else now_ns - DAY
    until_ns = reading.span.until_ns if reading.span.until_ns is not None else now_ns
    seq = since_seq if by_line else memory.line_at(since_ns or 0) - 1
    found: list[Change] = []
    for _ in range(MOST_LINES // MAX_LIMIT):
        lines = memory.changes(max(seq, 0), MAX_LIMIT)
        found += [c for c in lines if by_line or (since_ns or 0) <= c.stamp_ns <= until_ns]
        if len(lines) < MAX_LIMIT:
            break
        seq = lines[-1].seq
    return found
