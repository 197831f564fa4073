# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/remember, ~/recall, ~/reflect, ~/feedback, and the notes of ~/forget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from spatial_memory import msg

from memory_node import checks
from memory_node.errors import InvalidValueError, SpatialMemoryError
from memory_node.memory import SpatialMemory
from memory_node.notes.beliefs import EVENT_KINDS, Event
from memory_node.notes.items import SCOPES, Note, NoteKind, NotePose, NoteQuery, TimeSpan, owner_of
from memory_node.notes.judging import ModelJudge
from memory_node.noting import Kept, Rated, verdicts_useful
from memory_node.recall.noted import delimited, record_lines
from memory_node.ros import conversions, note_messages
from memory_node.ros.asking import model_for
from memory_node.ros.conversions import stamp_from_ns, stamp_to_ns
from memory_node.ros.note_messages import record_to_msg

if TYPE_CHECKING:
    from memory_node.ros.handlers import Desk

TOKENS = 2000
DID = tuple(kind for kind in EVENT_KINDS if kind in ('search', 'discover', 'visit'))
_FILTERS = (
    'kinds', 'networks', 'key', 'entities', 'object_ids', 'region', 'relation', 'relation_to',
    'task_id', 'episode_id', 'near_me', 'radius_m', 'include_invalidated',
)  # fmt: skip


def remember(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/remember."""
    at_ns = _at(desk, memory, request.stamp, 'stamp')
    given = [_note_of(message, desk.clock(), at_ns) for message in request.notes]
    kept = memory.remember_each(given, at_ns)
    for index, one in enumerate(kept):
        response.ids.append(one.events[-1].id if one.events else '')
        response.outcomes += _outcomes(index, one)
    refused = [one.reason for one in kept if not one.events]
    if len(refused) == len(kept):
        raise InvalidValueError(f'no note was kept: {"; ".join(refused[:3])}')
    if refused:
        response.message = f'{len(refused)} of {len(kept)} notes were refused: {refused[0]}'
    desk.on_notes()


def recall(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/recall: a question in words, a query, one note, its history, or working memory."""
    limit = conversions.limit_from_request(request.limit)
    tokens = int(request.max_tokens) or TOKENS
    checks.limit(limit)
    checks.whole('max_tokens', tokens, 1, 100_000)
    by = (owner_of(str(request.user)), str(request.robot_id))
    if request.note_id:
        found = memory.note_history if request.history else memory.note
        states = found(request.note_id, *by)
        states = states if isinstance(states, list) else [states]
        response.kind = 'history' if request.history else 'note'
        response.notes = [record_to_msg(state) for state in states[-limit:]]
    elif request.history:
        raise InvalidValueError('note_id: got nothing with history, expected the id of a note')
    elif NoteKind.WORKING.value in request.kinds:
        _at_hand(memory, request, response)
    elif _is_query(request):
        _query(desk, memory, request, response, limit)
    else:
        _question(desk, memory, request, response, limit, tokens)
    if response.kind in ('note', 'history', 'query'):
        lines = [(r.citation, r.note.network, r.note.confidence, r.note.content)
                 for r in response.notes]  # fmt: skip
        response.text, response.omitted = record_lines(lines, tokens)
    desk.on_notes()


def reflect(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/reflect."""
    now_ns = _at(desk, memory, request.at, 'at')
    since_ns = _time('since', request.since) or 0
    user = str(request.user)
    scope = {'user': user, 'robot_id': str(request.robot_id)}
    model = model_for(desk, request)
    if request.budget < 0:
        raise InvalidValueError(f'budget: got {request.budget}, expected 0 (off) or more')
    if request.budget:
        done = memory.consolidate_notes(scope, int(request.budget), now_ns)
        response.merged, response.forgotten = done.merged, done.forgotten
        response.left = done.left
    judge = None if model is None else ModelJudge(model)
    found = memory.reflect(since_ns, now_ns, {'user': user}, judge)
    response.pages, response.skipped = list(found.pages), list(found.skipped)
    response.proposed_ids, response.revised_ids = list(found.proposed), list(found.revised)
    response.problems = memory.problems_for(user)
    if user:
        known = memory.known_of(user, now_ns, str(request.context))
        response.persona = [note_messages.belief_to_msg(b, now_ns) for b in known.persona]
        response.conflicts = [
            note_messages.belief_to_msg(b, now_ns) for pair in known.conflicts for b in pair
        ]
        response.learned_words = [
            note_messages.meaning_to_msg(word) for word in known.meanings.values()
        ]
    desk.on_notes()


def feedback(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """~/feedback."""
    act = _FEEDBACK.get(request.operation)
    if act is None:
        raise InvalidValueError(
            f'operation: got {request.operation!r}, expected one of {", ".join(_FEEDBACK)}'
        )
    act(desk, memory, request, response, _at(desk, memory, request.stamp, 'stamp'))
    desk.on_notes()


def forget(desk: Desk, memory: SpatialMemory, request: Any, response: Any) -> None:
    """The notes of ~/forget: all of them, or none."""
    others = [name for name in ('object_id', 'undo', 'purge', 'label', 'person', 'map_id')
              if getattr(request, name)]  # fmt: skip
    if others or request.duration.sec or request.duration.nanosec:
        raise InvalidValueError(
            f'note_ids: got {", ".join(others) or "duration"} too, expected only a reason'
        )
    by = (owner_of(str(request.user)), str(request.robot_id))
    at_ns = desk.now_ns() or memory.newest_stamp_ns
    for number in request.note_ids:
        memory.note(number, *by)
    for number in request.note_ids:
        memory.forget_note(number, str(request.reason), at_ns, *by)
    response.seq = memory.seq
    desk.on_notes()


# -- recall ------------------------------------------------------------------------------------


def _question(
    desk: Desk, memory: SpatialMemory, request: Any, response: Any, limit: int, tokens: int
) -> None:
    if not request.text.strip():
        raise InvalidValueError('text: got nothing and no filter, expected a question or a filter')
    found = memory.recall_of(
        str(request.text), str(request.user), str(request.robot_id),
        _at(desk, memory, request.at, 'at'), limit=limit, since_ns=_time('since', request.since),
        max_tokens=tokens, utc_offset_s=3600.0 * memory.config.utc_offset_h,
    )  # fmt: skip
    response.kind, response.omitted = found.kind, found.omitted
    response.span_from = stamp_from_ns(found.span.since_ns or 0)
    response.span_until = stamp_from_ns(found.span.until_ns or 0)
    response.notes = [record_to_msg(item.state, item.score, item.details) for item in found.items]
    response.text = delimited(found.text)


def _is_query(request: Any) -> bool:
    """Whether more is asked than a question in words."""
    times = (request.time_from, request.time_until, request.as_of)
    return bool(
        any(getattr(request, name) for name in _FILTERS)
        or request.near.header.frame_id
        or any(map(stamp_to_ns, times))
    )


def _query(desk: Desk, memory: SpatialMemory, request: Any, response: Any, limit: int) -> None:
    if stamp_to_ns(request.since):
        raise InvalidValueError('since: got it with a filter, expected time_from there')
    if bool(request.relation) != bool(request.relation_to):
        raise InvalidValueError(
            f'relation: got {request.relation!r} and relation_to {request.relation_to!r}, expected '
            'both or none'
        )
    clock = note_messages.clock_of(request.clock, desk.clock())
    entities = [*map(str, request.entities), *([f'region:{request.region}'] * bool(request.region))]
    asked = NoteQuery(
        str(request.text), [str(k) for k in request.kinds], [str(n) for n in request.networks],  # type: ignore[misc]
        str(request.key), entities, memory.ids_of(int(n) for n in request.object_ids),
        (request.relation, request.relation_to) if request.relation else None,
        {name: str(getattr(request, name)) for name in SCOPES},
        _span(request, clock), _time('as_of', request.as_of), clock,
        _near(desk, memory, request, response), bool(request.include_invalidated), limit,
    )  # fmt: skip
    response.kind = 'query'
    response.notes = [record_to_msg(h.state, h.score, h.details) for h in memory.notes(asked)]


def _near(
    desk: Desk, memory: SpatialMemory, request: Any, response: Any
) -> tuple[NotePose, float] | None:  # fmt: skip
    frame, point = request.near.header.frame_id, conversions.triple_from_msg(request.near.point)
    if request.near_me:
        speaker = memory.speaker(str(request.user), str(request.context), desk.map_frame)
        found = radius_of(speaker.meanings['near'], request.radius_m, response)
        if frame:
            return NotePose(frame, point), found
        if speaker.place_m is None:
            raise InvalidValueError('near: got no point with near_me, and no place of the user is '
                                    'known: expected a point')  # fmt: skip
        return NotePose(desk.map_frame, speaker.place_m), found
    if not frame:
        if request.radius_m != 0 or any(point):
            raise InvalidValueError('near.header.frame_id: got nothing, expected a frame')
        return None
    response.radius_m = float(checks.finite('radius_m', request.radius_m))
    if not response.radius_m:
        raise InvalidValueError('radius_m: got 0 together with near, expected above 0 [m]')
    response.radius_why = 'as asked'
    return NotePose(frame, point), response.radius_m


def radius_of(near: Any, given: float, response: Any) -> float:
    """What «near» means to the user; the reply says so, and why.

    Raises:
        InvalidValueError: a radius is given too.
    """
    if given != 0:
        raise InvalidValueError(f'radius_m: got {given:g} and near_me, expected one of them')
    response.radius_m, response.radius_why = float(near.value), near.why
    return float(near.value)


def _at_hand(memory: SpatialMemory, request: Any, response: Any) -> None:
    """One note of working memory, by its key."""
    if list(request.kinds) != [NoteKind.WORKING.value] or not request.key:
        raise InvalidValueError('key: got nothing or other kinds, expected kind working and a key')
    note = memory.working_note(
        str(request.key),
        owner_of(str(request.user)),
        str(request.robot_id),
    )
    response.kind = 'working'
    if note is not None:
        response.notes = [msg.NoteRecord(note=note_messages.note_to_msg(note, 'wall'))]


def _span(request: Any, clock: str) -> TimeSpan | None:
    start, end = _time('time_from', request.time_from), _time('time_until', request.time_until)
    if start is None and end is None:
        return None
    return TimeSpan(start or 0, end, clock)


# -- feedback ----------------------------------------------------------------------------------


def _accepted(desk: Desk, memory: SpatialMemory, request: Any, response: Any, at_ns: int) -> None:
    options = note_messages.options_from_msg(request.options)
    learned = memory.learn_accepted(
        str(request.user), options, str(request.accepted), at_ns, str(request.context)
    )
    response.learned_words = [note_messages.meaning_to_msg(found) for found in learned]


def _declined(desk: Desk, memory: SpatialMemory, request: Any, response: Any, at_ns: int) -> None:
    options = note_messages.options_from_msg(request.options)
    memory.note_declined(
        str(request.user), options, str(request.reason), at_ns, str(request.context)
    )


def _rated(desk: Desk, memory: SpatialMemory, request: Any, response: Any, at_ns: int) -> None:
    _judge(memory, request, response, str(request.verdict), str(request.evidence), at_ns)


def _episode(desk: Desk, memory: SpatialMemory, request: Any, response: Any, at_ns: int) -> None:
    verdict = 'useful' if request.succeeded else 'misleading'
    rated = _judge(memory, request, response, verdict, str(request.episode_id), at_ns)
    response.helpfulness = verdicts_useful(rated)


def _judge(
    memory: SpatialMemory, request: Any, response: Any, verdict: str, evidence: str, at_ns: int
) -> Sequence[Rated]:
    rated = memory.judge_notes(
        [str(n) for n in request.note_ids], verdict, evidence, str(request.user),
        str(request.robot_id), at_ns,
    )  # fmt: skip
    refused = [one for one in rated if one.state is None]
    if len(refused) == len(rated):
        raise InvalidValueError(f'no note was judged: {refused[0].reason}')
    response.notes = [record_to_msg(one.state) for one in rated if one.state is not None]
    response.refused_ids = [one.note_id for one in refused]
    response.reasons = [one.reason for one in refused]
    if refused:
        response.message = f'{len(refused)} of {len(rated)} notes were refused'
    return rated


def _stated(desk: Desk, memory: SpatialMemory, request: Any, response: Any, at_ns: int) -> None:
    memory.state_belief(str(request.user), str(request.predicate), str(request.object), at_ns)


def _did(desk: Desk, memory: SpatialMemory, request: Any, response: Any, at_ns: int) -> None:
    if request.event not in DID:
        raise InvalidValueError(f'event: got {request.event!r}, expected {", ".join(DID)}')
    event = Event(
        str(request.event), str(request.text), at_ns, place=str(request.place),
        concepts=[str(one) for one in request.concepts],
        intents=[str(one) for one in request.intents],
    )  # fmt: skip
    memory.told_event(str(request.user), event)


def _place(desk: Desk, memory: SpatialMemory, request: Any, response: Any, at_ns: int) -> None:
    pose = desk.pose_to_map(request.pose)
    memory.set_place(
        str(request.user), str(request.name), NotePose(desk.map_frame, pose.position_m), at_ns
    )


_FEEDBACK: dict[str, Callable[[Any, SpatialMemory, Any, Any, int], None]] = {
    'accepted': _accepted,
    'declined': _declined,
    'rated': _rated,
    'episode': _episode,
    'stated': _stated,
    'did': _did,
    'place': _place,
}


# -- the rest ----------------------------------------------------------------------------------


def _note_of(message: msg.Note, clock: str, now_ns: int) -> Note | SpatialMemoryError:
    """A note, or what is wrong with it: it is refused alone."""
    try:
        return note_messages.note_from_msg(message, clock, now_ns)
    except SpatialMemoryError as error:
        return error


def _outcomes(index: int, kept: Kept) -> list[msg.NoteOutcome]:
    if not kept.events:
        return [msg.NoteOutcome(op='REFUSED', index=index, reason=kept.reason)]
    return [
        msg.NoteOutcome(op=event.op.value, index=index, id=event.id, key=event.key,
                        other_id=event.other_id, reason=event.reason)
        for event in kept.events
    ]  # fmt: skip


def _time(name: str, stamp: Any) -> int | None:
    """A time of a request; None: it is zero."""
    found = stamp_to_ns(stamp)
    if found < 0:
        raise InvalidValueError(f'{name}: got {found} ns, expected 0 (not given) or more')
    return found or None


def _at(desk: Desk, memory: SpatialMemory, stamp: Any, name: str) -> int:
    """When a request is about; zero: now."""
    return _time(name, stamp) or desk.now_ns() or memory.newest_stamp_ns
