# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Notes as messages and back: pure functions. What is malformed is for the core to refuse."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from geometry_msgs.msg import Point
from spatial_memory import msg

from memory_node.errors import InvalidValueError
from memory_node.notes import skills
from memory_node.notes.beliefs import Belief
from memory_node.notes.calibration import Option
from memory_node.notes.items import SCOPES, Note, NoteKind, NotePose, NoteState, TimeSpan
from memory_node.notes.reach import Meaning
from memory_node.ros import conversions, facts
from memory_node.ros.conversions import stamp_from_ns, stamp_to_ns

OBJECT, REGION = 'object:', 'region:'
CLOCKS = ('wall', 'sim')


def note_from_msg(message: msg.Note, clock: str, now_ns: int) -> Note:
    """A note as somebody hands it in.

    Args:
        message: of a request. clock: of the node, for one that names none. now_ns: when; what
            happens in simulated time happens then, so that it is never taken for wall time.

    Raises:
        InvalidValueError: it is none.
    """
    if message.id:
        raise InvalidValueError(f'id: got {message.id!r}, expected none: the memory gives it')
    about = [
        *map(str, message.entities),
        *(f'{OBJECT}{number}' for number in message.object_ids),
        *(f'{REGION}{name}' for name in message.regions),
    ]
    scope = {name: str(getattr(message, name)) for name in SCOPES}
    extent = conversions.triple_from_msg(message.extent)
    fields: dict[str, Any] = {'kind': str(message.kind)} if message.kind else {}
    return Note(
        str(message.content), network=message.network or None, key=str(message.key),  # type: ignore[arg-type]
        payload=facts.given(message.payload), entities=about, scope=scope,
        pose=pose_from_msg(message.pose), extent_m=extent if any(extent) else None,
        event_time=_time_of(message, clock, now_ns),
        valid_from_ns=stamp_to_ns(message.valid_from) or None,
        confidence=float(message.confidence), source=str(message.source),
        evidence=[str(one) for one in message.evidence],
        links=[(str(one.key), str(one.value)) for one in message.links],
        embeddings=_embeddings(message.embeddings), **fields,
    )  # fmt: skip


def note_to_msg(note: Note, clock: str) -> msg.Note:
    """A note with its id, without vectors; clock: that of its times."""
    message = msg.Note(
        id=note.id, content=note.content, kind=note.kind.value,
        network=note.network.value if note.network else '', key=note.key,
        entities=list(note.entities), source=note.source, confidence=float(note.confidence),
        evidence=list(note.evidence), clock=clock, **{
            name: note.scope.get(name, '') for name in SCOPES
        },
    )  # fmt: skip
    message.object_ids = [
        int(name[len(OBJECT) :]) for name in note.entities
        if name.startswith(OBJECT) and name[len(OBJECT) :].isascii()
        and name[len(OBJECT) :].isdigit() and len(name) < 26
    ]  # fmt: skip
    message.regions = [n[len(REGION) :] for n in note.entities if n.startswith(REGION)]
    message.payload = facts.to_msg(note.payload)
    message.links = [msg.Property(key=name, value=target) for name, target in note.links]
    if note.pose is not None:
        message.pose.header.frame_id = note.pose.frame_id
        turn = note.pose.orientation_xyzw or (0.0, 0.0, 0.0, 0.0)
        message.pose.pose = conversions.pose_to_msg(note.pose.position_m, turn)
    if note.extent_m is not None:
        message.extent.x, message.extent.y, message.extent.z = map(float, note.extent_m)
    if note.event_time is not None:
        message.event_start = stamp_from_ns(note.event_time.start_ns)
        message.event_end = stamp_from_ns(note.event_time.end_ns or 0)
    message.valid_from = stamp_from_ns(note.valid_from_ns or 0)
    return message


def record_to_msg(
    state: NoteState, score: float = 0.0, terms: Mapping[str, float] | None = None
) -> msg.NoteRecord:
    """A note as it is by now, and as an answer."""
    record = msg.NoteRecord(
        note=note_to_msg(state.note, state.clock), citation=state.citation, score=float(score),
        status=skills.status(state) if state.note.kind is NoteKind.SKILL else '',
    )  # fmt: skip
    record.valid_from = stamp_from_ns(state.valid_from_ns)
    record.valid_to = stamp_from_ns(state.valid_to_ns or 0)
    record.forgotten = stamp_from_ns(state.forgotten_ns or 0)
    record.verdicts = _terms({word: float(n) for word, n in state.verdicts.items()})
    record.terms = _terms(terms or {})
    return record


def record_from_msg(record: msg.NoteRecord) -> tuple[NoteState, float, dict[str, float]]:
    """A note, its score, and what that is made of."""
    message = record.note
    note = Note(
        message.content, NoteKind(message.kind), message.network or None, message.key,
        facts.from_msg(message.payload), list(message.entities),
        {name: getattr(message, name) for name in SCOPES},
        confidence=message.confidence, source=message.source, evidence=list(message.evidence),
        id=message.id,
    )  # fmt: skip
    file, _, line = record.citation.rpartition(':')
    state = NoteState(
        note, file, int(line or 0), stamp_to_ns(record.valid_from),
        stamp_to_ns(record.valid_to) or None, message.clock, stamp_to_ns(record.forgotten) or None,
        {term.name: int(term.value) for term in record.verdicts},
    )  # fmt: skip
    return state, record.score, {term.name: term.value for term in record.terms}


def pose_from_msg(stamped: Any) -> NotePose | None:
    """A place in its own frame; None: there is none.

    Raises:
        InvalidValueError: a place without a frame, or one that is no place.
    """
    pose = conversions.pose_from_msg(stamped.pose)
    turned = any(pose.orientation_xyzw[:3])  # the w of an empty message is 1
    if not stamped.header.frame_id:
        if any(pose.position_m) or turned:
            raise InvalidValueError(
                f'pose.header.frame_id: got nothing with {pose.position_m}, expected a frame'
            )
        return None
    known = turned or pose.orientation_xyzw[3] not in (0.0, 1.0)
    return NotePose(
        str(stamped.header.frame_id), pose.position_m, pose.orientation_xyzw if known else None
    )


def clock_of(given: str, clock: str) -> str:
    """The clock of a request; clock: of the node.

    Raises:
        InvalidValueError: it is none.
    """
    if given not in ('', *CLOCKS):
        raise InvalidValueError(f'clock: got {given!r}, expected wall or sim')
    return given or clock


def options_from_msg(messages: Sequence[msg.Option]) -> list[Option]:
    """Options that were offered.

    Raises:
        InvalidValueError: one is none; it says which.
    """
    found = []
    for number, message in enumerate(messages):
        names = [term.name for term in message.measures]
        try:
            if len(set(names)) < len(names):
                raise InvalidValueError(f'measures: got {names}, expected each name once')
            found.append(Option(message.name, {t.name: t.value for t in message.measures}))
        except InvalidValueError as error:
            raise InvalidValueError(f'options[{number}]: {error}') from error
    return found


def meaning_to_msg(found: Meaning) -> msg.LearnedWord:
    """What a word means to somebody."""
    return msg.LearnedWord(
        term=found.term, known=found.value is not None, value=float(found.value or 0.0),
        unit=found.unit, samples=int(found.samples), context=found.context, why=found.why,
    )  # fmt: skip


def meaning_from_msg(message: msg.LearnedWord) -> Meaning:
    """The opposite."""
    return Meaning(
        message.term, message.value if message.known else None, message.unit, message.why,
        int(message.samples), message.context,
    )  # fmt: skip


def belief_to_msg(belief: Belief, now_ns: int) -> msg.Belief:
    """What is believed of somebody, as sure as it is by now."""
    return msg.Belief(
        subject=belief.subject, predicate=belief.predicate, object=belief.object,
        confidence=float(belief.at(now_ns)), source=belief.source,
        evidence=[where for _, where in belief.refs],
    )  # fmt: skip


def belief_from_msg(message: msg.Belief, now_ns: int) -> Belief:
    """The opposite; its confidence is that of then."""
    return Belief(
        message.subject, message.predicate, message.object, message.confidence, message.source,
        now_ns, refs=tuple(('said', where) for where in message.evidence),
    )  # fmt: skip


def activity_to_msg(event: Mapping[str, Any]) -> msg.NoteActivity:
    """One retrieval or write, as `Notebook.events` has it."""
    message = msg.NoteActivity(
        op=str(event['op']), query=str(event.get('query', '')), key=str(event.get('key', '')),
        n_hits=int(event.get('n_hits', 0)),
    )  # fmt: skip
    for number, position, score in event.get('hits', ()):
        message.hit_ids.append(number)
        message.hit_scores.append(float(score))
        x, y, z = map(float, position or (math.nan,) * 3)
        message.hit_positions.append(Point(x=x, y=y, z=z))
    for op, number in event.get('events', ()):
        message.ops.append(op)
        message.ids.append(number)
    return message


def _terms(numbers: Mapping[str, float]) -> list[msg.Term]:
    return [msg.Term(name=name, value=float(value)) for name, value in numbers.items()]


def _time_of(message: msg.Note, clock: str, now_ns: int) -> TimeSpan | None:
    clock = clock_of(message.clock, clock)
    start, end = stamp_to_ns(message.event_start), stamp_to_ns(message.event_end)
    if not start:
        if end:
            raise InvalidValueError('event_start: got nothing with event_end, expected both')
        return TimeSpan(now_ns, None, clock) if clock == 'sim' else None
    return TimeSpan(start, end or None, clock)


def _embeddings(messages: Sequence[msg.Embedding]) -> dict[str, list[float]]:
    found = {str(one.space): [float(v) for v in one.vector] for one in messages}
    if len(found) < len(messages):
        raise InvalidValueError('embeddings: got a space twice, expected each once')
    return found
