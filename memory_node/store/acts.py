# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the robot did, in the file: each act is one log line and what follows from it.

What the line says is all there is to it, so that a replay asks nothing else: `act`, and of the
object `state`, `pose`, `map_id`, `odds` and the like, as they are from then on. An opened or closed
thing is a line EVENT (see `stated`); every act is an event too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import apsw
import numpy as np

from memory_node import decay
from memory_node.config import Config
from memory_node.errors import InvalidValueError
from memory_node.fusion import carrying
from memory_node.fusion.identity import Belief, belief_of
from memory_node.fusion.looks import look_of
from memory_node.fusion.pins import effective
from memory_node.fusion.presence import HELD, LEAST_ODDS, MOST_ODDS, missing
from memory_node.fusion.visibility import MISSED, SEEN, THROUGH, Sights
from memory_node.fusion.world import LOST, STATE_CODE, STATE_WORDS
from memory_node.model import Aspect, Change, ChangeKind, Pin, State
from memory_node.scene.transform import Transform
from memory_node.store import beliefs, pins, stated
from memory_node.store.edits import Asked, Edit
from memory_node.store.identity import live_row
from memory_node.store.session import Session

ACT = 'act'
PICKED, PLACED, PUT_INSIDE = 'picked', 'placed', 'put_inside'
OPENED, CLOSED, NOT_FOUND = 'opened', 'closed', 'not_found'
CARRIED = 'carried'
"""What lay in a container goes along with it; no act of its own."""
_FIELDS = ('odds', 'doubt', 'misses')


def changes_object(line: Change) -> bool:
    """Whether a log line is an act that changes its object."""
    return ACT in line.after and line.kind is not ChangeKind.EVENT


def picked(session: Session, object_id: int, asked: Asked) -> Edit:
    """The robot holds an object: it is not at its place, and is not missed."""
    said = {ACT: PICKED, 'state': State.HELD.value, 'odds': LEAST_ODDS}
    return act(session, ChangeKind.HELD, object_id, said, asked)


def placed(
    session: Session, object_id: int, pose: list[float], map_id: str, asked: Asked
) -> list[Edit]:
    """An object lies at a pose, where the robot put it. An orientation of zeros: as it was."""
    row = live_row(session, object_id)
    if not any(pose[3:]):
        pose = [*pose[:3], *session.engine.world.records['orientation'][row].tolist()]
    return _put_down(session, object_id, {ACT: PLACED, 'pose': pose, 'map_id': map_id}, asked)


def put_inside(session: Session, object_id: int, container_id: int, asked: Asked) -> list[Edit]:
    """An object is inside another, in its middle for all that is known."""
    world = session.engine.world
    row, holder = live_row(session, object_id), live_row(session, container_id)
    if stated.would_close(session.database, object_id, container_id, session.redirects):
        raise InvalidValueError(
            f'container_id: got object {container_id}, which is inside object {object_id}'
        )
    records = world.records
    pose = [*records['center'][holder].tolist(), *records['orientation'][row].tolist()]
    map_id = world.maps[int(records['map'][holder])]
    said = {ACT: PUT_INSIDE, 'pose': pose, 'map_id': map_id, 'container_id': container_id}
    return _put_down(session, object_id, said, asked)


def _put_down(session: Session, object_id: int, said: dict[str, Any], asked: Asked) -> list[Edit]:
    """An object lies somewhere else, and what lay in it goes along."""
    said |= {'state': State.CONFIRMED.value, 'odds': MOST_ODDS}
    edits = [act(session, ChangeKind.MOVED, object_id, said, asked)]
    world = session.engine.world
    records = world.records
    old = world.take(np.array([live_row(session, object_id)]))
    along = set(carrying.contents(world, session.engine.index, old, asked.stamp_ns + 1).tolist())
    inside = stated.held_inside(session.database, object_id, session.redirects)
    along |= {row for n in inside if (row := world.row_of(n)) is not None}
    along -= {row for row in along if records['state'][row] in (HELD, *LOST)}
    was = Transform.of(old['center'][0].tolist(), old['orientation'][0].tolist())
    step = Transform.of(said['pose'][:3], said['pose'][3:]).compose(was.inverse())
    why = f'object {object_id}, in which it lay, was moved'
    for row in sorted(along, key=lambda row: int(records['id'][row])):
        asked = dataclasses.replace(asked, seq=asked.seq + 1)
        center = step.apply(records['center'][row][None])[0].tolist()
        turn = step.rotate(records['orientation'][row][None])[0].tolist()
        carried = {
            ACT: CARRIED, 'pose': [*center, *turn],
            'map_id': said['map_id'], 'state': STATE_WORDS[records['state'][row]],
            'with': object_id,
        }  # fmt: skip
        number = int(records['id'][row])
        edits.append(act(session, ChangeKind.MOVED, number, carried, _because(asked, why)))
    return edits


def not_found(session: Session, object_id: int, asked: Asked, c: Config) -> Edit:
    """The robot did not find an object at its place: a miss, by the rules of every other one."""
    world = session.engine.world
    row = live_row(session, object_id)
    if world.records['state'][row] == HELD:
        raise InvalidValueError(f'object {object_id} is held, expected one that lies somewhere')
    likelihood = np.array([c.not_found_if_there / c.through_if_gone])
    sights = Sights(np.array([row]), np.array([THROUGH], np.uint8), likelihood)
    look = look_of(asked.seq, asked.stamp_ns, None, int(world.records['map'][row]))
    update = missing(sights, look, world, c).update
    if update is None:
        event = {ACT: NOT_FOUND, 'type': NOT_FOUND, 'payload': {}}
        asked = _because(asked, 'no more than the last look at it said')
        change = asked.change(ChangeKind.EVENT, object_id, {}, event)
        return Edit(change, lambda connection: stated.apply_line(connection, change), _nothing)
    after, drafts = update.after[0], update.changes
    said: dict[str, Any] = {ACT: NOT_FOUND, **{n: after[n].item() for n in _FIELDS}}
    said['state'] = STATE_WORDS[after['state']]
    if object_id in update.pins:
        said['conflict'] = update.pins[object_id][Aspect.PRESENCE].conflict
    presence = round(float(decay.probability(after['odds'])), 2)
    why = f'independent looks that missed it: {after["misses"]}, presence {presence:.2f}'
    kind = drafts[0].kind if drafts else ChangeKind.UPDATED
    return act(session, kind, object_id, said, _because(asked, why))


def replayed(session: Session, line: Change, asked: Asked) -> Edit:
    """The edit of a line of the log."""
    return act(session, line.kind, line.object_id or 0, line.after, asked)


def act(
    session: Session, kind: ChangeKind, object_id: int, said: Mapping[str, Any], asked: Asked
) -> Edit:
    """Change an object as an act says.

    Args:
        session: of the store. kind: of the line. object_id: of a live object.
        said: see the module. asked: who did it, why and when.
    """
    world = session.engine.world
    row = live_row(session, object_id)
    old = belief_of(world, row)
    new = _after(session, old, said, asked)
    found = said[ACT] != NOT_FOUND
    held = pins.held(session.database, session.redirects.held(object_id))
    outdated = (Aspect.POSE, Aspect.PRESENCE) if found else ()
    gone = [pin for pin in held if pin.aspect in outdated]
    kept = [_contradicted(pin, said) for pin in held if pin not in gone]
    word = effective(kept, object_id)
    before = {
        'state': beliefs.state_of(world, old), 'center_m': old.record['center'][0].tolist(),
        **({'pins': [pins.as_plain(pin) for pin in gone]} if gone else {}),
    }  # fmt: skip
    after = dict(said)
    if 'pose' in said:
        after['center_m'] = list(said['pose'][:3])
    change = asked.change(kind, object_id, before, after)
    change = dataclasses.replace(change, object=beliefs.shown(world, new, word))
    putting = beliefs.putting(session, row, new, change)

    def write(connection: apsw.Connection) -> None:
        putting.write(connection)
        pins.remove(connection, gone)
        pins.put(connection, kept)
        if said[ACT] != CARRIED:
            ended = session.redirects.held(object_id) if found else ()
            stated.note_act(connection, change, ended)

    def apply() -> None:
        putting.apply()
        session.renew_pins(object_id)

    return Edit(change, write, apply)


def _after(session: Session, old: Belief, said: Mapping[str, Any], asked: Asked) -> Belief:
    """An object as an act leaves it."""
    world = session.engine.world
    new = Belief(old.record.copy(), dict(old.more), old.feature)
    if 'pose' in said:
        new = beliefs.having(world, new, Aspect.POSE, said['pose'])
    record = new.record
    record['version_center'], record['version_size'] = record['center'], record['size']
    if said[ACT] == CARRIED:
        record['map'], record['rest_count'] = world.map_number(said['map_id']), 1
        return new
    record['state'] = STATE_CODE[State(said['state'])]
    record['odds_ns'] = np.maximum(record['odds_ns'], asked.stamp_ns)
    record['misses'], record['doubt'] = 0, 1.0
    for name in _FIELDS:
        if name in said:
            record[name] = said[name]
    if 'pose' in said:
        record['map'] = world.map_number(said['map_id'])
        record['rest_count'] = 1
        record['last_seen_ns'] = np.maximum(record['last_seen_ns'], asked.stamp_ns)
    if said[ACT] != PICKED:
        record['checked_ns'] = np.maximum(record['checked_ns'], asked.stamp_ns)
        record['check'] = MISSED if said[ACT] == NOT_FOUND else SEEN
    if said[ACT] == NOT_FOUND:
        record['look_ns'] = np.maximum(record['look_ns'], asked.stamp_ns)
        record['look_position'] = record['look_axis'] = np.nan
    return new


def _contradicted(pin: Pin, said: Mapping[str, Any]) -> Pin:
    """What a person said of its presence, beside what the robot did not find."""
    if pin.aspect is Aspect.PRESENCE and 'conflict' in said:
        return dataclasses.replace(pin, conflict=bool(said['conflict']))
    return pin


def opened(session: Session, object_id: int, is_open: bool, asked: Asked) -> Edit:
    """A door or a container is open or not, from now on: an event, and a property of it."""
    live_row(session, object_id)
    word = OPENED if is_open else CLOSED
    said = {ACT: word, 'type': word, 'payload': {}, 'key': stated.OPEN, 'value': is_open}
    known = stated.properties_of(session.database, session.redirects.held(object_id))
    was = {'key': stated.OPEN, 'value': known[stated.OPEN]} if stated.OPEN in known else {}
    change = asked.change(ChangeKind.EVENT, object_id, was, said)
    return Edit(
        change, lambda connection: stated.apply_line(connection, change), session.renew_contents
    )


def _because(asked: Asked, why: str) -> Asked:
    return dataclasses.replace(asked, reason=f'{asked.reason}; {why}' if asked.reason else why)


def _nothing() -> None:
    return None
