# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A running memory node as what tools ask: each question is a call of one of its services."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

import rclpy
from rclpy.context import Context
from spatial_memory import msg
from spatial_memory.srv import Query as QueryService

from memory_node.config import MAX_LIMIT
from memory_node.errors import InvalidValueError, ObjectEndedError, UnknownObjectError
from memory_node.knowing import Known
from memory_node.model import Change, Hits, MemoryObject, Observation, Query, Relation
from memory_node.notes.calibration import Option
from memory_node.notes.items import Note, NoteEvent, NoteOp
from memory_node.notes.reach import Meaning
from memory_node.notes.recall import Recalled, Recollection
from memory_node.notes.reflect import Reflection
from memory_node.noting import Kept, Rated
from memory_node.recall.answer import Answer
from memory_node.recall.moments import NO_SPAN
from memory_node.recall.search_plan import SearchPlace, SearchPlan
from memory_node.ros import conversions, note_messages
from memory_node.ros.client import MemoryClient, RequestError
from memory_node.scene.approach import Approach, StandPose

_ERRORS = {
    QueryService.Response.UNKNOWN_OBJECT: UnknownObjectError,
    QueryService.Response.OBJECT_ENDED: ObjectEndedError,
    QueryService.Response.INVALID_REQUEST: InvalidValueError,
}


class NodeSource:
    """See `agent.tools.Source`. Methods that have no docstring are as those of SpatialMemory."""

    def __init__(self, node: str, context: Context | None = None) -> None:
        """Ask a node; context: rclpy's; None: one of its own."""
        self._own = None
        if context is None:
            self._own = context = Context()
            rclpy.init(context=context)
        self._client = MemoryClient(node, context=context)

    def __enter__(self) -> NodeSource:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()
        if self._own is not None:
            rclpy.shutdown(context=self._own)

    @property
    def newest_stamp_ns(self) -> int:
        """The node's time, which presence is asked about."""
        return conversions.stamp_to_ns(self._call('query', limit=1).header.stamp)

    @property
    def seq(self) -> int:
        """Last log line."""
        return int(self._call('get_changes', limit=1).log_seq)

    def query(self, query: Query) -> Hits:
        fields: dict[str, Any] = {
            'text': query.text, 'limit': query.limit, 'states': [str(s) for s in query.states],
            'radius_m': float(query.radius_m), 'region': query.region,
        }  # fmt: skip
        request = QueryService.Request(**fields)
        if query.near_m is not None:
            request.near.point.x, request.near.point.y, request.near.point.z = (
                float(v) for v in query.near_m
            )
        reply = self._call('query', **fields, near=request.near)
        return Hits([conversions.hit_from_msg(hit) for hit in reply.hits], int(reply.total))

    def named(self, text: str) -> list[int]:
        return [int(i) for i in self._call('relate', object=text, limit=1).object_ids]

    def object(self, object_id: int) -> MemoryObject:
        return conversions.object_from_msg(
            self._call('history', object_id=object_id, limit=1).object
        )

    def objects(self) -> list[MemoryObject]:
        found: list[MemoryObject] = []
        after = 0
        while True:
            reply = self._call('get_scene', after_id=after, limit=MAX_LIMIT)
            found += [conversions.object_from_msg(o) for o in reply.scene.objects]
            after = reply.next_id
            if not after:
                return found

    def relate(
        self,
        subject_ids: Iterable[int] | None = None,
        kind: str | None = None,
        object_ids: Iterable[int] | None = None,
    ) -> list[Relation]:
        """As SpatialMemory.relate; a service call for each object, at most MAX_LIMIT each."""
        found: dict[Relation, None] = {}
        for name, ids in (('subject_id', subject_ids), ('object_id', object_ids)):
            for number in ids or ():
                reply = self._call('relate', **{name: number}, relation=kind or '', limit=MAX_LIMIT)
                found.update((conversions.relation_from_msg(r), None) for r in reply.relations)
        return list(found)

    def history(self, object_id: int, limit: int) -> list[Observation]:
        reply = self._call('history', object_id=object_id, limit=limit)
        return [conversions.observation_from_msg(o) for o in reply.observations]

    def changes(self, since_seq: int, limit: int) -> list[Change]:
        reply = self._call('get_changes', since_seq=since_seq, limit=limit)
        return [conversions.change_from_msg(c) for c in reply.changes]

    def ask(self, text: str, *, limit: int, user: str = '', robot_id: str = '') -> Answer:
        reply = self._call('ask', text=text, limit=limit, user=user, robot_id=robot_id)
        return Answer(
            reply.answer, reply.kind, reply.reading, reply.certain, reply.confidence,
            reply.refusal, tuple(conversions.hit_from_msg(hit) for hit in reply.hits),
            tuple(int(i) for i in reply.citations), reply.by_model, tuple(reply.sources),
            reply.radius_m, reply.radius_why,
        )  # fmt: skip

    def remember_each(self, given: Sequence[Note]) -> list[Kept]:
        found: list[list[NoteEvent]] = [[] for _ in given]
        notes = [_asked(note_messages.note_to_msg(note, '')) for note in given]
        try:
            reply = self._call('remember', notes=notes)
        except InvalidValueError as error:  # none was kept
            return [Kept(reason=str(error)) for _ in given]
        for one in reply.outcomes:
            if one.op != one.REFUSED:
                found[one.index].append(NoteEvent(NoteOp(one.op), one.id, one.key, one.other_id))
        return [Kept(tuple(events)) for events in found]

    def recall_of(self, text: str, user: str, robot_id: str, *, limit: int) -> Recollection:
        reply = self._call('recall', text=text, user=user, robot_id=robot_id, limit=limit)
        items = []
        for record in reply.notes:
            state, score, terms = note_messages.record_from_msg(record)
            assert state.note.network is not None
            start = conversions.stamp_to_ns(record.note.event_start) or state.valid_from_ns
            end = conversions.stamp_to_ns(record.note.event_end) or start
            items.append(Recalled(state, state.note.network, (start, end), score, terms))
        text = '\n'.join(reply.text.splitlines()[1:-1])
        return Recollection(tuple(items), text, int(reply.omitted), reply.kind, NO_SPAN)

    def reflect(self, *, scope: Mapping[str, str]) -> Reflection:
        reply = self._call('reflect', user=scope.get('user', ''))
        return Reflection(tuple(reply.pages), tuple(reply.proposed_ids), tuple(reply.skipped))

    def known_of(self, user: str) -> Known:
        """As SpatialMemory.known_of: what the reply of reflecting on nothing recent tells."""
        now = conversions.stamp_from_ns(self.newest_stamp_ns)
        reply = self._call('reflect', user=user, since=now)
        persona, conflicts = (
            [note_messages.belief_from_msg(b, 0) for b in beliefs]
            for beliefs in (reply.persona, reply.conflicts)
        )
        meanings = [note_messages.meaning_from_msg(word) for word in reply.learned_words]
        return Known(
            tuple(persona), tuple(zip(conflicts[::2], conflicts[1::2])),
            {found.term: found for found in meanings},
        )  # fmt: skip

    def judge_notes(
        self, note_ids: Sequence[str], verdict: str, evidence: str, user: str, robot_id: str
    ) -> list[Rated]:
        reply = self._call(
            'feedback', operation='rated', note_ids=list(note_ids), verdict=verdict,
            evidence=evidence, user=user, robot_id=robot_id,
        )  # fmt: skip
        states = [note_messages.record_from_msg(record)[0] for record in reply.notes]
        return [
            *(Rated(state.note.id, state) for state in states),
            *(Rated(*refused) for refused in zip(reply.refused_ids, (None,) * len(note_ids),
                                                 reply.reasons)),
        ]  # fmt: skip

    def learn_accepted(
        self, user: str, options: Sequence[Option], chosen: str, *, context: str = ''
    ) -> list[Meaning]:
        offered = [
            msg.Option(name=option.name, measures=[
                msg.Term(name=name, value=float(v)) for name, v in option.measures.items()
            ])
            for option in options
        ]  # fmt: skip
        reply = self._call(
            'feedback', operation='accepted', user=user, options=offered, accepted=chosen,
            context=context,
        )  # fmt: skip
        return [note_messages.meaning_from_msg(word) for word in reply.learned_words]

    def state_belief(self, user: str, predicate: str, name: str) -> None:
        self._call('feedback', operation='stated', user=user, predicate=predicate, object=name)

    def plan_search(self, text: str, object_id: int | None, *, limit: int) -> SearchPlan:
        reply = self._call('plan_search', text=text, object_id=object_id or 0, limit=limit)
        places = tuple(
            SearchPlace(
                (p.position.x, p.position.y, p.position.z), p.probability, p.source,
                p.receptacle_id, p.receptacle_label, p.object_id,
                conversions.stamp_to_ns(p.last_checked), p.reason,
            )
            for p in reply.places
        )  # fmt: skip
        at_ns = conversions.stamp_to_ns(reply.header.stamp)
        return SearchPlan(places, reply.elsewhere, int(reply.total), at_ns)

    def approach(
        self, object_id: int, distance_m: float, *, robot_radius_m: float, limit: int
    ) -> Approach:
        reply = self._call(
            'approach', object_id=object_id, distance_m=float(distance_m),
            robot_radius_m=float(robot_radius_m), limit=limit,
        )  # fmt: skip
        poses = zip(reply.poses, reply.distances_m, reply.clearances_m)
        return Approach(
            tuple(StandPose(conversions.pose_from_msg(p), d, c) for p, d, c in poses), reply.reason
        )

    def _call(self, service: str, **fields: Any) -> Any:
        try:
            return self._client.call(service, **fields)
        except RequestError as error:
            kind = _ERRORS.get(error.error_code)  # type: ignore[call-overload]
            if kind is None:
                raise
            raise kind(str(error)) from error


def _asked(note: msg.Note) -> msg.Note:
    """A note of a request: objects and regions stand in its entities already."""
    note.object_ids, note.regions = [], []
    return note
