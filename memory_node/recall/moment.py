# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The memory as of one moment: what a query is answered from. Most are asked of now."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memory_node.config import Config
from memory_node.errors import InvalidValueError
from memory_node.fusion import motion
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.classes import ClassColumns
from memory_node.fusion.world import World
from memory_node.model import Query, Relation, RelationKind
from memory_node.scene.relations import relations_about, unstated
from memory_node.store import past, stated
from memory_node.store.bound import LAST, NOW, Bound, line_at
from memory_node.store.session import Session

MOST_ALIKE = 500
"""Objects of a label among which `maybe_same` is looked for with their other relations."""


@dataclass(frozen=True)
class Moment:
    """What was believed as of a bound of the log.

    Attributes:
        session: of the store. world, index: the objects that were live then.
        newest_ns: newest stamp of a view then. bound: up to where the log counts.
    """

    session: Session
    world: World
    index: CandidateIndex
    newest_ns: int
    bound: Bound = NOW

    @cached_property
    def told(self) -> past.Stated:
        """What had been stated; only of a moment that has passed."""
        return past.Stated(self.session.database, self.bound)

    @property
    def is_now(self) -> bool:
        """Whether nothing came after it."""
        return self.bound == NOW

    def renew_classes(self) -> None:
        """Go by what is known of classes now."""
        if self.world.columns.classes is not self.session.classes:
            self.world.columns = ClassColumns(self.session.classes)

    def final(self, object_id: int) -> int:
        """What an id stood for."""
        if self.is_now:
            return self.session.redirects.final(object_id)
        return self.told.final(object_id)

    def relations(
        self, object_ids: list[int], config: Config, kind: str | None = None
    ) -> list[Relation]:
        """Relations in which one of some objects takes part, as they were.

        kind: only this is wanted; others may be left out. `maybe_same` is told of now only, and
        among very many of a label only where it is asked for.
        """
        world = self.world
        rows = [row for i in object_ids if (row := world.row_of(i)) is not None]
        found = relations_about(world, self.index, np.array(rows, dtype=np.int64), config)
        live = {int(world.records['id'][row]) for row in rows}
        if self.is_now:
            told = stated.relations_of(self.session.database, live, self.session.redirects)
            return unstated(found, told) + told + self._maybe_same(rows, config, kind)
        told = [
            r for r in self.told.relations()
            if live & {r.subject_id, r.object_id}
            and world.row_of(r.subject_id) is not None and world.row_of(r.object_id) is not None
        ]  # fmt: skip
        return unstated(found, told) + told

    def _maybe_same(self, rows: list[int], config: Config, asked: str | None) -> list[Relation]:
        """Which of these may be the same as another one, both ways."""
        kind = RelationKind.MAYBE_SAME
        if not rows or asked not in (None, kind):
            return []
        some, most = np.array(rows, dtype=np.int64), MOST_ALIKE if asked is None else None
        now_ns = self.session.newest_ns
        ids = set(self.world.records['id'][some].tolist())
        return [
            Relation(a, kind, b, pair.probability)
            for pair in motion.hypotheses(self.world, now_ns, config, some, most)
            if ids & {pair.old_id, pair.new_id}
            for a, b in ((pair.new_id, pair.old_id), (pair.old_id, pair.new_id))
        ]


def bound_of(query: Query, session: Session) -> Bound:
    """Up to where the log counts for a query; NOW where nothing came after it.

    Raises:
        InvalidValueError: it names a line that is not written yet.
    """
    seq = LAST
    if query.known_at is not None:
        if query.known_at > session.seq:
            raise InvalidValueError(
                f'known_at: got {query.known_at}, expected a log line up to the last, {session.seq}'
            )
        seq = int(query.known_at)
    elif query.known_at_ns is not None:
        seq = line_at(session.database, query.known_at_ns)
    stamp_ns = LAST if query.as_of_ns is None else int(query.as_of_ns)
    if stamp_ns >= session.newest_ns and stamp_ns >= last_stamp(session):
        stamp_ns = LAST
    if seq >= session.seq:
        if stamp_ns == LAST:
            return NOW
        seq = session.seq  # nothing that is written meanwhile counts
    return Bound(seq, stamp_ns)


def now(session: Session) -> Moment:
    """The memory as it is."""
    return Moment(session, session.engine.world, session.engine.index, session.newest_ns)


def read(session: Session, bound: Bound) -> past.Reading:
    """Begin to read the memory as it was; see `at`."""
    return past.Reading(session.database, session.classes, bound)


def at(session: Session, bound: Bound, reading: past.Reading, index: CandidateIndex) -> Moment:
    """The memory as it was, once all of it was read.

    Args:
        session: of the store. bound: up to where the log counts.
        reading: of which the last step is done. index: of its working set.
    """
    reading.finish(session.engine.world)
    [(newest_ns,)] = session.database.rows(
        'SELECT coalesce(max(stamp_ns), 0) FROM view WHERE seq <= ? AND stamp_ns <= ?',
        (bound.seq, bound.stamp_ns),
    )
    return Moment(session, reading.world, index, newest_ns, bound)


def last_stamp(session: Session) -> int:
    """Stamp of the last log line, which may be what somebody said after the last view."""
    rows = session.database.rows('SELECT stamp_ns FROM log WHERE seq = ?', (session.seq,))
    return int(rows[0][0]) if rows else 0
