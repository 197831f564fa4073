# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a planner asks: where to look next, and where to stand."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from memory_node import checks
from memory_node.asking import Asking
from memory_node.errors import InvalidValueError, ObjectEndedError
from memory_node.fusion.world import Rows
from memory_node.model import Relation, RelationSpan, State
from memory_node.recall.query import presence_of
from memory_node.recall.search_plan import MAX_SOUGHT, Search, SearchPlan, Sought, chances
from memory_node.scene import validity
from memory_node.scene.approach import Approach, Grid, Stance, stances
from memory_node.scene.relations import HOLDS
from memory_node.scene.things import Things
from memory_node.store import objects
from memory_node.store.session import Session


class Planning(Asking):
    """The part of SpatialMemory that plans; nothing is changed by it."""

    def plan_search(
        self,
        text: str = '',
        object_id: int | None = None,
        at_ns: int | None = None,
        from_m: Sequence[float] | None = None,
        limit: int = 10,
    ) -> SearchPlan:
        """Where to look next for an object, or for whatever a word names; likeliest first.

        Args:
            text: a label, also of something that was never seen. object_id: or an object.
            at_ns: as of when; None: the newest view.
            from_m: of equally likely places the one nearer to this point comes first.
            limit: at most so many places, 1 to 1000.

        Raises:
            InvalidValueError: a value is malformed, or both or neither of text and object_id came.
            UnknownObjectError: no object ever had this id.
            ObjectEndedError: the object was forgotten.
        """
        if (object_id is None) == (not text):
            raise InvalidValueError(
                f'plan_search: got object_id {object_id!r} and text {checks.short(text)}, expected '
                'one of them'
            )
        if text:
            checks.word('text', text)
        near = None if from_m is None else checks.point('from_m', from_m)
        checks.limit(limit)
        with self._opened() as session:
            if at_ns is None:
                at_ns = session.newest_ns
            elif not isinstance(at_ns, (int, np.integer)) or not 0 <= at_ns < 2**63:
                raise InvalidValueError(f'at_ns: got {at_ns!r}, expected nanoseconds from 0 on')
            rows, shares = self._sought(session, text, object_id)
            world = session.engine.world
            maps = world.records['map']
            where = int(maps[rows[0]]) if len(rows) else _newest_map(session)
            search = Search(world, session.engine.index, self.config, int(at_ns), where)
            there = presence_of(world, rows, int(at_ns)).tolist()
            for row, chance, presence in zip(rows.tolist(), shares, there):
                if maps[row] == where:
                    known = objects.versions_of(self._database, int(world.records['id'][row]))
                    search.look_for(Sought(row, chance, presence, known))
            if not len(rows):
                search.look_for_unknown(self._names().thing(text), 1.0)
            return search.plan(limit, near)

    def _sought(
        self, session: Session, text: str, object_id: int | None
    ) -> tuple[Rows, list[float]]:
        """Rows of what may be meant, and the chance of each."""
        world = session.engine.world
        if object_id is not None:
            return np.array([self._live(object_id)], np.int64), [1.0]
        names = self._names()
        fits = np.array([names.naming(text, name).score for name in world.labels.names])
        rows = np.sort(world.live_rows())
        if len(fits):
            rows = rows[fits[world.records['label'][rows]] > 0]
        if not len(rows):
            return rows[:0], []
        r = world.records
        score = fits[r['label'][rows]]
        best = np.lexsort([r['id'][rows], -r['last_seen_ns'][rows], -score])[:MAX_SOUGHT]
        return rows[best], chances(score[best].tolist())

    def relation_spans(self, subject_id: int, object_id: int) -> list[RelationSpan]:
        """The times in which relations held of a subject to an object, by their versions.

        Also of objects that have ended. Stated relations are not among them.

        Raises:
            UnknownObjectError: no object ever had one of the ids.
        """
        with self._opened() as session:
            pair = self._object(subject_id).id, self._object(object_id).id
            if pair[0] == pair[1]:
                raise InvalidValueError(f'got object {pair[0]} twice, expected two objects')
            return self._spans(session, [pair])[0]

    def dated(self, relations: Sequence[Relation]) -> list[Relation]:
        """The same relations with `since_ns`."""
        with self._opened() as session:
            pairs = list(dict.fromkeys(
                (r.subject_id, r.object_id) for r in relations if not r.stated
            ))  # fmt: skip
            since = {
                (*pair, span.kind): span.since_ns
                for pair, held in zip(pairs, self._spans(session, pairs)) for span in held
                if span.until_ns is None
            }  # fmt: skip
        return [
            r if r.stated else dataclasses.replace(
                r, since_ns=since.get((r.subject_id, r.object_id, str(r.kind)), 0)
            )
            for r in relations
        ]  # fmt: skip

    def _spans(
        self, session: Session, pairs: Sequence[tuple[int, int]]
    ) -> list[list[RelationSpan]]:
        ids = sorted({number for pair in pairs for number in pair})
        known = {number: objects.versions_of(self._database, number) for number in ids}
        return validity.spans(pairs, known, self.config, session.classes)

    def approach(
        self,
        object_id: int,
        distance_m: float = 0.8,
        min_distance_m: float | None = None,
        robot_radius_m: float = 0.25,
        grid: Grid | None = None,
        from_m: Sequence[float] | None = None,
        limit: int = 10,
    ) -> Approach:
        """Where to stand on the ground to face an object; best first.

        Args:
            object_id: of a live object.
            distance_m, min_distance_m: of the middle of the robot to the nearest side of its box;
                min_distance_m None: 0.3 m, or what robot_radius_m or distance_m ask for.
            robot_radius_m: free space that the robot needs around its middle.
            grid: obstacles; None: only those that the memory knows.
            from_m: of equally good poses the one nearer to this point comes first.
            limit: at most so many poses, 1 to 1000.

        Raises:
            InvalidValueError: a value is malformed.
            UnknownObjectError: no object ever had this id.
            ObjectEndedError: the object was forgotten.
        """
        radius = checks.finite('robot_radius_m', robot_radius_m)
        far = checks.finite('distance_m', distance_m)
        near = min(max(0.3, radius), far) if min_distance_m is None else checks.finite(
            'min_distance_m', min_distance_m
        )  # fmt: skip
        if not max(near, radius) <= far <= 10.0:
            raise InvalidValueError(
                f'distance_m: got {far:g}, expected {max(near, radius):g} (the least distance) to '
                '10 m'
            )
        start = None if from_m is None else checks.point('from_m', from_m)
        checks.limit(limit)
        stance = Stance(max(near, radius), far, radius)
        with self._opened() as session:
            world = session.engine.world
            row = self._live(object_id)
            reach = far + radius + 1.0
            r = world.records
            around = session.engine.index.overlapping(
                r['hull_center'][[row]], np.maximum(r['half'][[row]], [[0.0, 0.0, 10.0]]), reach
            )[1]
            around = np.sort(around[r['map'][around] == r['map'][row]])
            things = Things.of_records(world, r[around], self.config)
            number, state = int(r['id'][row]), world.view(row).state
            held = {
                n.object_id for n in self._relations([number])
                if n.subject_id == number and n.kind in HOLDS
            }  # fmt: skip
        if state is State.HELD:
            return Approach((), 'the robot holds it')
        found = stances(things, number, held, stance, grid, start, limit)
        if state is State.ABSENT and found.poses:
            return Approach(found.poses, 'it was looked for there since, and not found')
        return found

    def _live(self, object_id: int) -> int:
        """Row of an object; also by an id that was merged into it."""
        row = self._session.engine.world.row_of(self._object(object_id).id)
        if row is None:
            raise ObjectEndedError(f'object {object_id} has been forgotten')
        return row


def _newest_map(session: Session) -> int:
    """Number of the map of what was seen last; 0 where nothing was."""
    world = session.engine.world
    rows = world.live_rows()
    r = world.records
    return int(r['map'][rows[np.lexsort([rows, r['last_seen_ns'][rows]])[-1]]]) if len(rows) else 0
