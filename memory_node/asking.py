# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Everything that is asked of the memory; nothing is changed by it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from memory_node import checks
from memory_node.config import MAX_LIMIT
from memory_node.errors import InvalidValueError, UnknownObjectError
from memory_node.fusion import motion
from memory_node.fusion.candidates import CandidateIndex
from memory_node.fusion.motion import Reunion
from memory_node.fusion.world import Rows
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
    WhatChanged,
)
from memory_node.naming import Naming
from memory_node.recall import changed, evidence, explain, page
from memory_node.recall import moment as recall
from memory_node.recall.asked import checked, is_past
from memory_node.recall.moment import Moment
from memory_node.recall.page import Page
from memory_node.recall.query import answer
from memory_node.store import audit, log, objects, stated
from memory_node.store.bound import NOW, Bound
from memory_node.store.rebuild import findings

MAX_UNANCHORED = 2000
"""Objects up to which relations may be asked for without naming one."""
MAX_SEQ = 2**63 - 1
RELATIONS = tuple(kind.value for kind in RelationKind)


class Asking(Naming):
    """The half of SpatialMemory that reads."""

    def query(self, query: Query) -> Hits:
        """Return what matches, best first.

        Raises:
            InvalidValueError: a value of the query is malformed, or names what nobody knows.
            UnknownObjectError: no object ever had one of the ids.
        """
        aids = self._aids(query.text)
        with self._opened() as session:
            asked = checked(query, session.engine.world.features.dim)
            bound = recall.bound_of(asked, session) if is_past(asked) else NOW
            if bound == NOW:
                moment = recall.now(session)
                return answer(asked, moment, aids, self._only(asked, moment))
        moment = self._read_past(bound)
        with self._opened():
            return answer(asked, moment, aids, self._only(asked, moment))

    def _read_past(self, bound: Bound) -> Moment:
        """The memory as it was. Reading it takes a while; others get their turns meanwhile."""
        while True:
            with self._opened() as session:
                known, now = self._past, session.engine.world
                if known is not None and known.bound == bound:
                    known.renew_classes()
                    return known
                reading = recall.read(session, bound)
            more = True
            while more:
                with self._opened():
                    more = reading.step()
            index = CandidateIndex(reading.world)
            with self._opened() as session:
                if session.engine.world is now:  # else a purge came between
                    self._past = recall.at(session, bound, reading, index)

    def _only(self, query: Query, moment: Moment) -> Rows | None:
        """Rows of the objects that pass what needs more than their records; None: all may."""
        passing = []
        if query.ids:
            passing.append({moment.final(self._asked_id(i)) for i in query.ids})
        if query.relation is not None:
            kind, other = query.relation
            passing.append(self._subjects(kind, other, moment))
        if query.properties:
            passing.append(evidence.having(query.properties, moment))
        seen = evidence.sighted(query, moment)
        if seen is not None:
            passing.append(seen)
        if not passing:
            return None
        ids = np.array(sorted(set.intersection(*passing)), dtype=np.int64)
        rows = moment.world.rows_of(ids)
        return np.sort(rows[rows >= 0])

    def _asked_id(self, object_id: int) -> int:
        """An id that some object has or had."""
        last = self._session.engine.last_object_id
        if not 0 < object_id <= last:
            raise UnknownObjectError(f'no object has the id {object_id}; ids go from 1 to {last}')
        return int(object_id)

    def _subjects(self, kind: str, other: int | str, moment: Moment) -> set[int]:
        """Ids of what stands in a relation to an object, or to any that a text names."""
        if isinstance(other, str):
            anchors = page.named(moment.world, other, self._names())
            if not anchors:
                raise InvalidValueError(
                    f'relation: got {other!r}, expected an id or the name of something known'
                )
        else:
            anchors = [moment.final(self._asked_id(checks.whole('relation', other, 1)))]
        found = moment.relations(anchors, self.config, kind)
        self._require_kind(kind, found)
        to = set(anchors)
        return {r.subject_id for r in found if r.kind == kind and r.object_id in to}

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
        """Ids of the live objects whose label a text names, ascending; for certain, if any is."""
        with self._opened() as session:
            return page.named(session.engine.world, checks.text('text', text), self._names())

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

    def what_changed(
        self,
        since_ns: int | None = None,
        since_seq: int | None = None,
        region: str = '',
        kinds: Iterable[str] = (),
        limit: int = Query.limit,
    ) -> WhatChanged:
        """What has changed, grouped by region and kind.

        Args:
            since_ns: from this time on (stamps); or since_seq: after this log line. Neither: since
                the last view before the newest gap of `visit_gap_s` between views.
            region: only in the region of this name, or a part of it; empty: anywhere.
            kinds: only these; empty: all but UPDATED, by which a place is known better.
            limit: so many of the newest changes are in a group.

        Raises:
            InvalidValueError: a value is malformed, both are given, or nobody knows the region.
        """
        if since_ns is not None and since_seq is not None:
            raise InvalidValueError('since_ns: got it and since_seq, expected one of them')
        for name, value in (('since_ns', since_ns), ('since_seq', since_seq)):
            if value is not None:
                checks.whole(name, value, 0)
        if region != '':
            checks.word('region', region)
        wanted, most = changed.kinds_of(kinds), checks.limit(limit)
        with self._opened() as session:
            if since_ns is None and since_seq is None:
                since_seq = changed.last_visit(session.database, self.config.visit_gap_s)
            grouping = changed.Grouping(session, since_ns, since_seq, region, wanted, most)
        more = True
        while more:  # others get their turns between
            with self._opened():
                more = grouping.step()
        return grouping.result()

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
            found = self._relations(sorted(anchors), kind)
            if kind is not None:
                self._require_kind(kind, found)
            return [
                r for r in found
                if (kind is None or r.kind == kind)
                and (subjects is None or r.subject_id in subjects)
                and (others is None or r.object_id in others)
            ]  # fmt: skip

    def _require_kind(self, kind: str, found: Iterable[Relation]) -> None:
        """Refuse a kind of relation that neither geometry gives nor anybody stated."""
        if kind in RELATIONS or any(r.kind == kind for r in found):
            return
        stated_kinds = stated.kinds(self._database)
        if kind not in stated_kinds:
            known = ', '.join([*RELATIONS, *stated_kinds])
            raise InvalidValueError(f'relation: got {kind!r}, expected one of {known}')

    def _every_id(self) -> set[int]:
        world = self._session.engine.world
        if world.live_count > MAX_UNANCHORED:
            raise InvalidValueError(
                f'relate: got neither subject nor object, expected one of them: the relations of '
                f'all {world.live_count} objects are too many'
            )
        return set(world.records['id'][world.live_rows()].tolist())

    def _relations(self, object_ids: list[int], kind: str | None = None) -> list[Relation]:
        finals = [self._object(number).id for number in object_ids]
        return recall.now(self._session).relations(finals, self.config, kind)

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
