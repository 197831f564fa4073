# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Everything that is asked of the memory; nothing is changed by it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from memory_node import checks
from memory_node.config import MAX_LIMIT
from memory_node.errors import InvalidValueError
from memory_node.fusion import motion
from memory_node.fusion.motion import Reunion
from memory_node.model import (
    Change,
    Event,
    Explanation,
    Hits,
    MemoryObject,
    ObjectVersion,
    Observation,
    Query,
    Relation,
    RelationKind,
    State,
    Track,
)
from memory_node.opened import OpenStore
from memory_node.recall import explain, page
from memory_node.recall import query as recall
from memory_node.recall.page import Page
from memory_node.scene.relations import relations_about, unstated
from memory_node.store import audit, log, objects, stated
from memory_node.store.rebuild import findings

MAX_UNANCHORED = 2000
"""Objects up to which relations may be asked for without naming one."""
MAX_SEQ = 2**63 - 1
RELATIONS = tuple(kind.value for kind in RelationKind)


class Asking(OpenStore):
    """The half of SpatialMemory that reads."""

    def query(self, query: Query) -> Hits:
        """Return what matches, best first.

        Raises:
            InvalidValueError: a value of the query is malformed.
        """
        with self._opened() as session:
            engine = session.engine
            return recall.answer(recall.checked(query, engine.world), engine.world, engine.index,
                                 session.database, session.newest_ns)  # fmt: skip

    def objects(self) -> list[MemoryObject]:
        """All objects that have not ended, by id."""
        with self._opened() as session:
            world = session.engine.world
            return sorted(world.views(world.live_rows()), key=_id)

    def page(
        self,
        after_id: int = 0,
        limit: int = MAX_LIMIT,
        states: Iterable[State] = (),
        ids: Iterable[int] | None = None,
        relations: bool = False,
    ) -> Page:
        """Live objects by id, as they all were at one log line. The memory is held but briefly.

        Args:
            after_id: only objects with a larger id.
            limit: at most so many, 0 or more.
            states: only objects in these states; empty: whatever their state.
            ids: only these objects, those of them that are live; None: all.
            relations: for `Page.relations`: also read what was stated.

        Raises:
            InvalidValueError: limit is negative.
        """
        if limit < 0:
            raise InvalidValueError(f'limit: got {limit}, expected 0 or more')
        with self._opened() as session:
            world = session.engine.world
            if ids is not None:
                ids = [session.redirects.final(int(i)) for i in ids]
            rows, total = page.rows_of(world, after_id, limit, list(states), ids)
            about = set(world.records['id'][rows].tolist()) if relations else set()
            told = stated.relations_of(self._database, about, session.redirects)
            return Page(world, rows, total, session.seq, session.newest_ns, told)

    def maybe_same(self) -> list[Reunion]:
        """Pairs of an object and a later one that may be the same thing elsewhere.

        None of them is settled: the place of the first was not seen empty since, or the second was
        seen but once. Together they are the likeliest, each object being in one pair at most.
        """
        with self._opened() as session:
            return motion.hypotheses(session.engine.world, session.newest_ns, self.config)

    def named(self, text: str) -> list[int]:
        """Ids of the live objects whose label a text names, ascending."""
        with self._opened() as session:
            return page.named(session.engine.world, checks.text('text', text))

    def tracks(self, at_ns: int | None = None) -> list[Track]:
        """Mobile things (people, animals, robots) that are in sight, where `track_mobile` is on.

        They are followed only while this memory is open, and are no objects: nothing of them is
        written.

        Args:
            at_ns: those seen within `track_s` before this time; None: the newest stamp.
        """
        with self._opened() as session:
            at = session.newest_ns if at_ns is None else at_ns
            return self._tracks.followed(at, self.config.track_s)

    @property
    def object_count(self) -> int:
        """Number of objects that have not ended; asking costs next to nothing, and never waits."""
        return self._session.engine.world.live_count

    def object(self, object_id: int) -> MemoryObject:
        """One object, also one that has ended; of an id that was merged, what it became.

        Its id is then another than the one that was asked for.

        Raises:
            UnknownObjectError: no object ever had this id.
        """
        with self._opened():
            return self._object(object_id)

    def history(self, object_id: int, limit: int = MAX_LIMIT) -> list[Observation]:
        """The newest sightings of an object, oldest first; also of one that has ended.

        Those of what was merged into it are among them, with the id that they were given then.

        Raises:
            UnknownObjectError: no object ever had this id.
            InvalidValueError: limit is not 1 to 1000.
        """
        with self._opened():
            return log.observations_of(self._database, self._held(object_id), checks.limit(limit))

    def versions(self, object_id: int) -> list[ObjectVersion]:
        """What was believed of an object over time, oldest first; also of one that has ended.

        Raises:
            UnknownObjectError: no object ever had this id.
        """
        with self._opened():
            self._object(object_id)
            return objects.versions_of(self._database, object_id)

    def changes(
        self, since_seq: int = 0, limit: int = MAX_LIMIT, object_id: int | None = None
    ) -> list[Change]:
        """The first changes after a log line, or the newest ones of one object; oldest first.

        Raises:
            InvalidValueError: limit is not 1 to 1000, or since_seq is negative.
        """
        with self._opened():
            if not isinstance(since_seq, (int, np.integer)) or since_seq < 0:
                raise InvalidValueError(f'since_seq: got {since_seq!r}, expected 0 or more')
            since_seq = min(since_seq, MAX_SEQ)
            if object_id is not None and since_seq == 0:
                return log.newest_changes_of(self._database, [object_id], checks.limit(limit))
            return log.changes_of(self._database, since_seq, checks.limit(limit), object_id)

    def relations(self, object_id: int) -> list[Relation]:
        """Relations in which an object is subject or object; none for one that has ended.

        Raises:
            UnknownObjectError: no object ever had this id.
        """
        with self._opened():
            return self._relations([object_id])

    def relate(
        self,
        subject_ids: Iterable[int] | None = None,
        kind: str | None = None,
        object_ids: Iterable[int] | None = None,
    ) -> list[Relation]:
        """Relations between objects; None leaves a side or the kind open.

        Raises:
            InvalidValueError: the kind is no relation, or both sides are open in a large map.
            UnknownObjectError: no object ever had one of the ids.
        """
        with self._opened():
            if kind is not None:
                checks.word('relation', kind)
            subjects = None if subject_ids is None else {self._object(i).id for i in subject_ids}
            others = None if object_ids is None else {self._object(i).id for i in object_ids}
            anchors = others if subjects is None else subjects
            if anchors is None:
                anchors = self._every_id()
            found = self._relations(sorted(anchors))
            if (
                kind is not None
                and kind not in RELATIONS
                and not any(r.kind == kind for r in found)
            ):
                stated_kinds = stated.kinds(self._database)
                if kind not in stated_kinds:
                    known = ', '.join([*RELATIONS, *stated_kinds])
                    raise InvalidValueError(f'relation: got {kind!r}, expected one of {known}')
            return [
                r for r in found
                if (kind is None or r.kind == kind)
                and (subjects is None or r.subject_id in subjects)
                and (others is None or r.object_id in others)
            ]  # fmt: skip

    def _every_id(self) -> set[int]:
        world = self._session.engine.world
        if world.live_count > MAX_UNANCHORED:
            raise InvalidValueError(
                f'relate: got neither subject nor object, expected one of them: the relations of '
                f'all {world.live_count} objects are too many'
            )
        return set(world.records['id'][world.live_rows()].tolist())

    def _relations(self, object_ids: list[int]) -> list[Relation]:
        engine = self._session.engine
        rows = [row for i in object_ids if (row := self._row_if_live(i)) is not None]
        found = relations_about(
            engine.world, engine.index, np.array(rows, dtype=np.int64), self.config
        )
        live = {int(engine.world.records['id'][row]) for row in rows}
        told = stated.relations_of(self._database, live, self._session.redirects)
        return unstated(found, told) + told

    def properties(self, object_id: int) -> dict[str, Any]:
        """Facts that were stated about an object; also of one that has ended.

        Raises:
            UnknownObjectError: no object ever had this id.
        """
        with self._opened():
            return stated.properties_of(self._database, self._held(object_id))

    def events(
        self,
        kind: str = '',
        object_id: int | None = None,
        since_ns: int = 0,
        limit: int = MAX_LIMIT,
    ) -> list[Event]:
        """The newest events that pass every filter, oldest first.

        Raises:
            InvalidValueError: limit is not 1 to 1000.
        """
        with self._opened():
            where = None if object_id is None else self._session.redirects.held(
                self._session.redirects.final(object_id)
            )  # fmt: skip
            return stated.events_of(self._database, kind, where, since_ns, checks.limit(limit))

    def explain(
        self, object_id: int | None = None, observation_id: int | None = None
    ) -> Explanation:
        """Why is this one object, or why was this sighting judged as it was? (CH-25)

        Raises:
            InvalidValueError: got both or neither.
            UnknownObjectError: there is none of this id.
        """
        with self._opened():
            if (object_id is None) == (observation_id is None):
                raise InvalidValueError(
                    f'explain: got object {object_id} and observation {observation_id}, '
                    'expected one of them'
                )
            if object_id is not None:
                return explain.of_object(self._session, self._object(object_id), object_id)
            return explain.of_observation(self._session, observation_id or 0)

    def snapshot_hash(self) -> str:
        """Hash of all that is remembered, equal for equal configuration and stream."""
        with self._opened():
            return audit.snapshot_hash(self._database)

    def check(self, deep: bool = True) -> list[str]:
        """Findings about the file; empty when everything is in order.

        Args:
            deep: also replay the log, and compare what follows from it with what is stored.
        """
        with self._opened():
            return findings(self._database, self.config) if deep else audit.check(self._database)

    def snapshot(self, path: str) -> int:
        """Copy the store, as of now, into a new file; returns its last log line.

        Raises:
            StoreError: the file exists already or cannot be written.
        """
        with self._opened():
            if self._database.reads_alone:
                return self._database.copy_to(path)
        return self._database.copy_to(path)  # on a connection of its own, as others write


def _id(obj: MemoryObject) -> int:
    return obj.id
