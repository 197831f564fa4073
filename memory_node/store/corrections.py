# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a person says of an object, in the file: each correction is one log line, CORRECTED.

What the line says is all there is to it, so that a replay asks nothing else: `pins` (aspect →
value, set and pinned), `set` (set only), `unpin` (aspects whose pins go), `drop` (only those of the
object itself), `rows` (pins put back), `state`, `confidence` and `odds` (of its presence). A stated
object is a line CREATED of whoever stated it, with `stated`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import numpy as np

from memory_node.errors import InvalidValueError
from memory_node.fusion.identity import Belief, belief_of, finished
from memory_node.fusion.pins import Pins, effective, label_evidence, put
from memory_node.fusion.world import OBJECT, STATE_CODE, STATES
from memory_node.model import NO_PINS, Aspect, Change, ChangeKind, Pin, State
from memory_node.store import beliefs, edits, pins
from memory_node.store.edits import Asked, Edit
from memory_node.store.identity import UNDOES, live_row
from memory_node.store.log import CHANGE, change_from
from memory_node.store.session import Session

WORD = 'correction'
STATED = 'stated'
PURGED = 'purged'
"""Stands where a name was that had to go."""
_FIELDS = {Aspect.LABEL: 'label', Aspect.POSE: 'pose', Aspect.SIZE: 'size_m'}


def is_one(line: Change) -> bool:
    """Whether a log line is a correction or states an object."""
    return (
        line.kind is ChangeKind.CORRECTED
        and WORD in line.after
        or (line.kind is ChangeKind.CREATED and STATED in line.after)
    )


def replayed(session: Session, line: Change, asked: Asked) -> Edit:
    """The edit of a line of the log."""
    if line.kind is ChangeKind.CREATED:
        return state_object(session, line.after, asked)
    return correct(session, line.object_id or 0, line.after, asked)


def correct(session: Session, object_id: int, said: Mapping[str, Any], asked: Asked) -> Edit:
    """Change what a person's word is about, and pin it.

    Args:
        session: of the store. object_id: of a live object.
        said: see the module. asked: who wants it, why and when.
    """
    world = session.engine.world
    row = live_row(session, object_id)
    old = belief_of(world, row)
    new = finished(Belief(old.record.copy(), dict(old.more), old.feature))
    wanted = {Aspect(name): value for name, value in said.get('pins', {}).items()}
    given = wanted | {Aspect(name): value for name, value in said.get('set', {}).items()}
    for aspect, value in given.items():
        new = beliefs.having(world, new, aspect, value)
    if 'state' in said:
        new.record['state'] = STATE_CODE[State(said['state'])]
    if 'confidence' in said:
        new.record['confidence'] = said['confidence']
    if 'odds' in said:
        new.record['odds'], new.record['odds_ns'] = said['odds'], asked.stamp_ns
        new.record['misses'], new.record['doubt'] = 0, 1.0
    held = pins.held(session.database, session.redirects.held(object_id))
    gone = _replaced(held, object_id, said, wanted)
    made = [_pin(session, object_id, aspect, value, asked.seq, new)
            for aspect, value in wanted.items()]  # fmt: skip
    made += [pins.from_plain(given) for given in said.get('rows', ())]
    before = _before(session, old, {*given, *(pin.aspect for pin in gone)}, said)
    before |= {'pins': [pins.as_plain(pin) for pin in gone]} if gone else {}
    change = asked.change(ChangeKind.CORRECTED, object_id, before, said)
    left = effective([*(pin for pin in held if pin not in gone), *made], object_id)
    change = dataclasses.replace(change, object=beliefs.shown(world, new, left))
    putting = beliefs.putting(session, row, new, change)

    def write(connection: apsw.Connection) -> None:
        session.write_labels()
        putting.write(connection)
        pins.remove(connection, gone)
        pins.put(connection, made)

    def apply() -> None:
        putting.apply()
        session.renew_pins(object_id)

    return Edit(change, write, apply)


def state_object(session: Session, said: Mapping[str, Any], asked: Asked) -> Edit:
    """Make an object that nobody has seen.

    Args:
        session: of the store.
        said: `stated`: label, pose (7), size_m (3, zeros: unknown), confidence and map_id.
        asked: who says so, why and when.
    """
    engine = session.engine
    world, told = engine.world, said[STATED]
    number = engine.last_object_id + 1
    record = np.zeros(1, OBJECT)
    record['id'], record['labels'] = number, -1
    record['state'], record['confidence'] = STATE_CODE[State.CONFIRMED], told['confidence']
    record['look_position'] = record['look_axis'] = np.nan
    record['first_seen_ns'] = record['last_seen_ns'] = asked.stamp_ns
    record['map'] = world.map_number(told['map_id'])
    values = {Aspect(a): told[field] for a, field in _FIELDS.items() if any(told[field])}
    more: dict[int, float] = {}
    for aspect, value in values.items():
        more = put(record, more, aspect, value, world)
    belief = finished(Belief(record, more))
    made = [
        _pin(session, number, aspect, value, asked.seq, belief)
        for aspect, value in {**values, Aspect.PRESENCE: True}.items()
    ]
    change = asked.change(ChangeKind.CREATED, number, {}, said)
    change = dataclasses.replace(
        change, object=beliefs.shown(world, belief, effective(made, number))
    )

    def write(connection: apsw.Connection) -> None:
        session.write_labels()
        beliefs.put_new(connection, session, belief, change)
        pins.put(connection, made)

    def apply() -> None:
        beliefs.append(session, belief)
        engine.last_object_id = number
        session.renew_pins(number)

    return Edit(change, write, apply)


# -- what a request comes to -----------------------------------------------------------------------


def pinning(session: Session, object_id: int, aspects: tuple[Aspect, ...]) -> dict[str, Any]:
    """What a line says that pins some aspects as they are."""
    belief = belief_of(session.engine.world, live_row(session, object_id))
    held = {a.value: beliefs.value_of(session.engine.world, belief, a) for a in aspects}
    return {WORD: 'pin', 'pins': _plain(held)}


def unpinning(session: Session, object_id: int, aspects: tuple[Aspect, ...]) -> dict[str, Any]:
    """What a line says that unpins some aspects: from then on the evidence counts.

    Raises:
        InvalidValueError: one of them is not pinned.
    """
    row = live_row(session, object_id)
    held = _pins(session, object_id)
    missing = [str(aspect) for aspect in aspects if aspect not in held]
    if missing:
        raise InvalidValueError(
            f'aspects: {", ".join(missing)} of object {object_id} is not pinned, expected of '
            f'{", ".join(map(str, held)) or "none, as nothing of it is"}'
        )
    back = {a.value: value for a in aspects if (value := _seen(session, row, held[a])) is not None}
    return {WORD: 'unpin', 'unpin': [a.value for a in aspects], 'set': _plain(back)}


def undoing(session: Session, line: Change) -> dict[str, Any]:
    """What a line says that takes a correction back.

    Raises:
        InvalidValueError: it is an undo, was undone, or what it pinned was corrected again.
    """
    number, said = line.object_id or 0, _mapping(line.after)
    if UNDOES in said:
        raise InvalidValueError(f'line {line.seq} is an undo, which cannot be undone: correct anew')
    if said[WORD] == PURGED:
        raise InvalidValueError(f'line {line.seq} was purged: nobody knows what it was')
    _require_last(session, line)
    row = live_row(session, number)
    held = _pins(session, number)
    was = _mapping(line.before)
    back: dict[str, Any] = {}
    for name in {**said.get('pins', {}), **said.get('set', {})}:
        aspect = Aspect(name)
        known = _seen(session, row, held[aspect]) if aspect in held else None
        pinned_before = any(entry[1] == name for entry in was.get('pins', ()))
        if aspect is Aspect.LABEL or pinned_before or known is None:
            known = was.get(_FIELDS.get(aspect, ''))
        if known is not None:
            back[name] = known
    undone: dict[str, Any] = {
        WORD: 'undo', UNDOES: line.seq, 'drop': sorted(said.get('pins', {})), 'set': _plain(back),
        'rows': was.get('pins', []),
    }  # fmt: skip
    return undone | {k: was[k] for k in ('state', 'confidence', 'odds') if k in was}


def line_of(session: Session, seq: int) -> Change | None:
    """A line of the log; None: there is none of this number."""
    rows = session.database.rows(f'{CHANGE} WHERE seq = ?', (seq,))
    return change_from(rows[0]) if rows else None


def unsaid(session: Session, line: Change, asked: Asked) -> Edit:
    """Take back that an object was stated.

    What was seen since goes on without that word; what was not ends, and is kept out by nothing.

    Raises:
        ObjectEndedError: it has ended.
    """
    number = line.object_id or 0
    row = live_row(session, number)
    held = tuple(_pins(session, number))
    if session.engine.world.records['observations'][row]:
        if not held:
            raise InvalidValueError(f'line {line.seq} was undone already')
        said = unpinning(session, number, held) | {WORD: 'undo', UNDOES: line.seq}
        return correct(session, number, said, asked)
    said = {'until_ns': asked.stamp_ns, UNDOES: line.seq}
    return edits.forget(session, row, asked, said)


# -- parts -----------------------------------------------------------------------------------------


def _pins(session: Session, object_id: int) -> Pins:
    return session.engine.world.pins.get(object_id, NO_PINS)


def _pin(
    session: Session, object_id: int, aspect: Aspect, value: Any, seq: int, belief: Belief
) -> Pin:
    pin = Pin(object_id, aspect, tuple(value) if isinstance(value, list) else value, seq)
    if aspect is not Aspect.LABEL:
        return pin
    label = label_evidence(belief.record[0], belief.more, session.engine.world)
    return dataclasses.replace(pin, evidence=label, conflict=label not in (None, value))


def _replaced(
    held: Sequence[Pin], object_id: int, said: Mapping[str, Any], wanted: Mapping[Aspect, Any]
) -> list[Pin]:
    """The pins that a correction takes away: of what it unpins all, of what it pins its own."""
    unpinned = {Aspect(name) for name in said.get('unpin', ())}
    own = {Aspect(name) for name in said.get('drop', ())} | set(wanted)
    return [
        pin for pin in held
        if pin.aspect in unpinned or (pin.aspect in own and pin.object_id == object_id)
    ]  # fmt: skip


def _before(
    session: Session, old: Belief, aspects: set[Aspect], said: Mapping[str, Any]
) -> dict[str, Any]:
    """What a correction replaces, as plain values."""
    world, record = session.engine.world, old.record[0]
    before = {
        field: beliefs.value_of(world, old, aspect)
        for aspect, field in _FIELDS.items() if aspect in aspects
    }  # fmt: skip
    if 'state' in said:
        before['state'] = STATES[int(record['state'])].value
    if 'confidence' in said:
        before['confidence'] = float(record['confidence'])
    if 'odds' in said:
        before['odds'] = float(record['odds'])
    return _plain(before)


def _seen(session: Session, row: int, pin: Pin) -> Any:
    """What the evidence beside a pin says; None: nothing, or the same."""
    if pin.aspect is Aspect.LABEL:
        world = session.engine.world
        return label_evidence(world.records[row], world.more_labels.get(row, {}), world)
    return pin.evidence


def _require_last(session: Session, line: Change) -> None:
    """Refuse to undo what a later correction of the same object has changed again."""
    rows = session.database.rows(
        f"{CHANGE} WHERE object_id = ? AND seq > ? AND kind = 'CORRECTED' ORDER BY seq",
        (line.object_id, line.seq),
    )
    mine = _touched(_mapping(line.after))
    for later in map(change_from, rows):
        said = _mapping(later.after)
        if said.get(UNDOES) == line.seq:
            raise InvalidValueError(f'line {line.seq} was undone by line {later.seq} already')
        same = WORD in said and UNDOES not in said and mine & _touched(said)
        if same and not _is_undone(session, later):
            raise InvalidValueError(
                f'line {line.seq} was followed by line {later.seq} about the same: undo that first'
            )


def _is_undone(session: Session, line: Change) -> bool:
    rows = session.database.rows(
        "SELECT 1 FROM log WHERE object_id = ? AND seq > ? AND json_extract(after, '$.undoes') = ?",
        (line.object_id, line.seq, line.seq),
    )
    return bool(rows)


def _touched(said: Mapping[str, Any]) -> set[str]:
    """What a correction is about."""
    about = {*said.get('pins', {}), *said.get('set', {}), *said.get('unpin', ())}
    return about | ({'state'} & set(said)) | ({'confidence'} & set(said))


def _mapping(given: Mapping[str, Any]) -> dict[str, Any]:
    return dict(given)


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
