# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Merges, splits and their undoing, in the file: each is two log lines and what follows from them.

The first line is of the object that ends or is divided, the second of the one that goes on or is
new. `change` makes the edits of a line from what it says, for a caller as for a replay.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import apsw
import numpy as np

from memory_node.config import Config
from memory_node.errors import InvalidValueError, ObjectEndedError, StoreError
from memory_node.fusion import carrying, identity, motion
from memory_node.fusion.engine import Plan
from memory_node.fusion.identity import Belief, Sighting, belief_of
from memory_node.fusion.motion import Reunion, may_reunite, reunited
from memory_node.fusion.pins import Pins, effective
from memory_node.fusion.world import STATE_CODE, Records
from memory_node.model import NO_PINS, Change, ChangeKind, State
from memory_node.store import beliefs, edits, objects, pins, stated
from memory_node.store.edits import Asked, Edit
from memory_node.store.packed import pack
from memory_node.store.redirects import OWNED, listed
from memory_node.store.session import Session
from memory_node.store.sightings import parts, sightings

UNDOES = 'undoes'
_PUT_CHANGE = 'INSERT INTO identity_change VALUES (?, ?, ?, ?, ?, ?, ?, NULL)'
_CHANGE = """
    SELECT seq, kind, object_id, other_id, record, feature, space, undone_seq FROM identity_change
"""
_SEEN = f"""
    SELECT min(v.stamp_ns), max(v.stamp_ns) FROM observation o JOIN view v ON v.seq = o.view_seq
    WHERE o.id IN ({OWNED})
"""


@dataclass(frozen=True)
class Past:
    """A merge or split of the past; see the table identity_change."""

    seq: int
    kind: ChangeKind
    object_id: int
    other_id: int
    before: Belief
    space: int
    undone_seq: int | None


def merge(
    session: Session, kept_id: int, other_id: int, asked: Asked,
    why: Mapping[str, Any] | None = None,
) -> list[Edit]:  # fmt: skip
    """Make two live objects one.

    Args:
        session: of the store. kept_id, other_id: of live objects.
        asked: who wants it, why and when.
        why: score and terms, where it was scored.
    """
    said = {'into': kept_id, 'space': session.space.id, **(why or {})}
    return _merge(session, kept_id, other_id, said, asked)


def reunite(session: Session, found: Reunion, asked: Asked) -> list[Edit]:
    """Make an object that was lost the one that was found elsewhere: it moved."""
    said = {'into': found.old_id, 'space': session.space.id, 'probability': found.probability}
    return _merge(session, found.old_id, found.new_id, said, asked, moved=True)


def reunite_all(
    connection: apsw.Connection, session: Session, plan: Plan, asked: Asked, c: Config
) -> list[Change]:
    """Bring together what was lost and what was found, once a view is applied to the working set.

    What waits to be written of them is written too: `Session.done` must be told of them.

    Args:
        connection: within the transaction of the view. plan: of it. asked: from which line on.
        c: settings.
    """
    made: list[Change] = []
    if not may_reunite(plan.updates, session.engine.world, c):
        return made
    for found in motion.reunions(session.engine.world, plan.updates, plan.look.stamp_ns, c):
        session.settle_some(connection, plan, [found.old_id, found.new_id])
        before = belief_of(session.engine.world, live_row(session, found.old_id)).record
        prepared = reunite(session, found, asked)
        edits.write_all(connection, prepared)
        made += edits.apply_all(prepared)
        asked = dataclasses.replace(asked, seq=asked.seq + len(prepared))
        prepared = _carried_along(session, found.old_id, before, asked)
        session.settle_some(connection, plan, [edit.change.object_id for edit in prepared])
        edits.write_all(connection, prepared)
        made += edits.apply_all(prepared)
        asked = dataclasses.replace(asked, seq=asked.seq + len(prepared))
    return made


def _carried_along(
    session: Session, container_id: int, before: Records, asked: Asked
) -> list[Edit]:
    """What lay in a container that moved goes along; before: (1,) record of it as it was."""
    engine = session.engine
    world = engine.world
    step = world.records['center'][live_row(session, container_id)] - before['center'][0]
    prepared = []
    reason = f'object {container_id}, in which it lay, was moved'
    for row in carrying.contents(world, engine.index, before, asked.stamp_ns).tolist():
        thing = belief_of(world, row)
        belief = carrying.carried(thing, step, asked.stamp_ns)
        after = {'center_m': belief.record['center'][0].tolist(), 'with': container_id}
        asked = dataclasses.replace(asked, reason=reason)
        change = asked.change(ChangeKind.MOVED, thing.id, beliefs.said_of(world, thing), after)
        change = dataclasses.replace(change, object=beliefs.shown(world, belief))
        prepared.append(beliefs.putting(session, row, belief, change))
        asked = _next(asked)
    return prepared


def split(session: Session, object_id: int, asked: Asked) -> list[Edit]:
    """Make a live object two, if its sightings form two groups (CH-27).

    Raises:
        InvalidValueError: they do not.
    """
    found = parts(session, object_id)
    if found is None:
        raise InvalidValueError(
            f'object {object_id}: its sightings do not form two groups of at least '
            f'{identity.LEAST} whose middles are more than {identity.APART_M:g} m apart'
        )
    said = {
        'object_id': session.engine.last_object_id + 1,
        'observations': [s.id for s in found[1]],
        'space': session.space.id,
    }
    return _split(session, object_id, said, asked)


def undo(session: Session, seq: int, asked: Asked) -> list[Edit]:
    """Take a merge or a split back.

    Raises:
        InvalidValueError: the line is no merge or split, or an undo, or was undone already.
        ObjectEndedError: what it made has ended since.
    """
    past = _past(session, seq)
    if past is None:
        raise InvalidValueError(f'seq: {_why_not(session, seq)}')
    if past.undone_seq is not None:
        raise InvalidValueError(f'seq: line {seq} was undone by line {past.undone_seq} already')
    said = {UNDOES: past.seq, 'space': session.space.id}
    if past.kind is ChangeKind.SPLIT:
        said['into'] = past.object_id
        return _merge(session, past.object_id, past.other_id, said, asked)
    return _take_apart(session, past, said, asked)


def replayed(
    session: Session, kind: ChangeKind, object_id: int, said: Any, asked: Asked
) -> list[Edit]:
    """The edits of a line of the log.

    Raises:
        SpatialMemoryError, KeyError: the line does not follow from those before it.
    """
    if kind is ChangeKind.MERGED:
        return _merge(session, said['into'], object_id, said, asked)
    if kind is ChangeKind.SPLIT:
        return _split(session, object_id, said, asked)
    past = _past(session, said[UNDOES])
    if past is None:
        raise StoreError(f'log line {asked.seq} undoes line {said[UNDOES]}, which is no merge')
    return _take_apart(session, past, said, asked)


def is_first(line: Change) -> bool:
    """Whether a log line is the first of the two of a merge, a split, or its undoing."""
    kind = line.kind
    undoes = kind is ChangeKind.RESTORED and UNDOES in line.after
    return undoes or kind in (ChangeKind.MERGED, ChangeKind.SPLIT)


def _merge(
    session: Session, kept_id: int, other_id: int, said: Mapping[str, Any], asked: Asked,
    moved: bool = False,
) -> list[Edit]:  # fmt: skip
    world = session.engine.world
    row, other_row = live_row(session, kept_id), live_row(session, other_id)
    kept, other = belief_of(world, row), belief_of(world, other_row)
    undone = _past(session, said[UNDOES]) if UNDOES in said else None
    together = reunited(kept, other, world) if moved else identity.merged(kept, other, world)
    if undone is not None and _is_untouched(session, undone):
        together = beliefs.again(undone.before)
    held = session.redirects.held
    said_of_both = pins.held(session.database, [*held(kept_id), *held(other_id)])
    their_word = effective(said_of_both, kept_id)
    together = beliefs.pinned(world, together, their_word)
    ended = Belief(other.record.copy(), other.more, other.feature)
    ended.record['state'] = STATE_CODE[State.MERGED]
    before = {'state': beliefs.state_of(world, other), **_clashes(session, kept_id, other_id)}
    first = asked.change(ChangeKind.MERGED, other_id, before, said)
    first = dataclasses.replace(first, object=beliefs.shown(world, ended))
    word, link = ChangeKind.UPDATED, _link(said, first)
    if moved:
        word = ChangeKind.MOVED
        link['center_m'] = together.record['center'][0].tolist()
    second = _next(asked).change(word, kept_id, beliefs.said_of(world, kept), link)
    second = dataclasses.replace(second, object=beliefs.shown(world, together, their_word))

    def write(connection: apsw.Connection) -> None:
        objects.write_record(connection, ended.record, ended.more, world, first)
        connection.execute('INSERT INTO redirect VALUES (?, ?, ?)', (other_id, kept_id, first.seq))
        if UNDOES in said:
            _mark_undone(connection, said[UNDOES], first.seq)
            connection.execute('DELETE FROM attribution WHERE seq = ?', (said[UNDOES],))
        else:
            _put_past(connection, session, first.seq, ChangeKind.MERGED, kept, other_id)

    def apply() -> None:
        world.end(other_row)
        session.engine.index.remove(other_row)
        session.redirects.put(other_id, kept_id)
        session.renew_pins(kept_id)

    return [Edit(first, write, apply), beliefs.putting(session, row, together, second)]


def _split(session: Session, object_id: int, said: Mapping[str, Any], asked: Asked) -> list[Edit]:
    engine = session.engine
    world = engine.world
    row = live_row(session, object_id)
    whole = belief_of(world, row)
    new_id, moved = int(said['object_id']), set(said['observations'])
    if new_id != engine.last_object_id + 1:
        raise StoreError(f'log line {asked.seq} makes object {new_id}, which is not the next')
    every = sightings(session, object_id)
    left = [s for s in every if s.id not in moved]
    gone = [s for s in every if s.id in moved]
    if len(gone) != len(moved) or not _counted(left) or not _counted(gone):
        raise StoreError(f'log line {asked.seq} splits sightings that object {object_id} has not')
    old = identity.part_of(whole, object_id, left, world)
    old = beliefs.pinned(world, old, world.pins.get(object_id, NO_PINS))
    new = identity.part_of(whole, new_id, gone, world)
    first = asked.change(ChangeKind.SPLIT, object_id, beliefs.said_of(world, whole), said)
    first = dataclasses.replace(first, object=beliefs.shown(world, old))
    second = _next(asked).change(ChangeKind.CREATED, new_id, {}, _link(said, first))
    second = dataclasses.replace(second, object=beliefs.shown(world, new))
    kept = beliefs.putting(session, row, old, first)

    def write(connection: apsw.Connection) -> None:
        kept.write(connection)
        beliefs.put_new(connection, session, new, second)
        _put_past(connection, session, first.seq, ChangeKind.SPLIT, whole, new_id)
        connection.executemany(
            'INSERT INTO attribution VALUES (?, ?, ?)',
            [(number, first.seq, new_id) for number in sorted(moved)],
        )

    def apply() -> None:
        kept.apply()
        beliefs.append(session, new)
        engine.last_object_id = new_id

    return [Edit(first, write, apply), Edit(second, _nothing, _nothing)]


def _take_apart(session: Session, past: Past, said: Mapping[str, Any], asked: Asked) -> list[Edit]:
    """Undo a merge: the other comes back as it was, and the one that was kept goes on without."""
    world = session.engine.world
    row = live_row(session, past.object_id)
    later = _later_split(session, past)
    if later:
        raise InvalidValueError(
            f'line {past.seq}: object {past.object_id} was split since; undo line {later} first'
        )
    now = belief_of(world, row)
    back = beliefs.read(session, past.other_id)
    ended_as = _state_before(session, past)
    back.record['state'] = STATE_CODE[State(ended_as)]
    if _is_untouched(session, past):
        left = beliefs.again(past.before)
    else:
        held = set(session.redirects.held(past.object_id))
        held -= set(session.redirects.held(past.other_id))
        seen = session.database.rows(_SEEN, (listed(sorted(held)),))[0]
        left = identity.without(now, back, past.before, (seen[0], seen[1]), world)
    left, word, their_word = _without_their_word(session, past, left)
    first = asked.change(ChangeKind.RESTORED, past.other_id, {'state': State.MERGED.value}, said)
    first = dataclasses.replace(first, object=beliefs.shown(world, back, their_word))
    second = _next(asked).change(
        ChangeKind.UPDATED, past.object_id, beliefs.said_of(world, now), _link(said, first)
    )
    second = dataclasses.replace(second, object=beliefs.shown(world, left, word))

    def write(connection: apsw.Connection) -> None:
        objects.write_record(connection, back.record, back.more, world, first)
        connection.execute('DELETE FROM redirect WHERE object_id = ?', (past.other_id,))
        _mark_undone(connection, past.seq, first.seq)

    def apply() -> None:
        beliefs.append(session, back)
        session.redirects.drop(past.other_id)
        session.renew_pins(past.object_id, past.other_id)

    return [Edit(first, write, apply), beliefs.putting(session, row, left, second)]


def _without_their_word(session: Session, past: Past, left: Belief) -> tuple[Belief, Pins, Pins]:
    """An object from which another is taken out, as what was said of it alone has it.

    Returns:
        The object, what was said of it, and what was said of the other.
    """
    world, redirects = session.engine.world, session.redirects
    theirs = set(redirects.held(past.other_id))
    now = world.pins.get(past.object_id, NO_PINS)
    said = pins.held(session.database, redirects.held(past.object_id))
    word = effective([pin for pin in said if pin.object_id not in theirs], past.object_id)
    their_word = effective([pin for pin in said if pin.object_id in theirs], past.other_id)
    lost = {aspect: past.before for aspect, pin in now.items() if pin.object_id in theirs}
    left = beliefs.pinned(world, beliefs.taken_from(world, left, lost), word)
    return left, word, their_word


# -- what is read ----------------------------------------------------------------------------------


def live_row(session: Session, object_id: int) -> int:
    """Row of a live object.

    Raises:
        ObjectEndedError: it has ended; says what it has become.
    """
    row = session.engine.world.row_of(object_id)
    if row is None:
        raise ObjectEndedError(ended(session, object_id))
    return row


def ended(session: Session, object_id: int) -> str:
    """What has become of an object that is not live, in words."""
    final = session.redirects.final(object_id)
    if final != object_id:
        return f'object {object_id} was merged into object {final}'
    if session.database.rows("SELECT 1 FROM object WHERE id = ? AND label = ''", (object_id,)):
        return f'object {object_id} was purged'
    return f'object {object_id} has been forgotten'


def _past(session: Session, seq: int) -> Past | None:
    """The merge or split of which a log line is the first or the second."""
    rows = session.database.rows(f'{_CHANGE} WHERE seq IN (?1, ?1 - 1) ORDER BY seq', (seq,))
    if not rows:
        return None
    number, kind, object_id, other_id, record, feature, space, undone = rows[0]
    map_id = session.database.rows('SELECT map_id FROM object WHERE id = ?', (object_id,))[0][0]
    unpacked, more = objects.unpacked([record], [map_id], session.engine.world)
    held = None if feature is None else np.frombuffer(feature, '<f4')
    before = Belief(unpacked, more.get(0, {}), held)
    return Past(number, ChangeKind(kind), object_id, other_id, before, space, undone)


def _why_not(session: Session, seq: int) -> str:
    """Why a line cannot be undone."""
    rows = session.database.rows(
        "SELECT kind, json_extract(after, '$.undoes'), json_extract(after, '$.act') FROM log "
        'WHERE seq = ?', (seq,),
    )  # fmt: skip
    if not rows:
        return f'got {seq}, expected a line of the log, which has {session.seq}'
    kind, undoes, act = rows[0]
    if undoes is not None:
        return f'line {seq} is an undo, which cannot be undone: merge or split anew'
    if act is not None:
        return (
            f'line {seq} is what the robot did ({act}), which cannot be undone: report or correct '
            'what is so now'
        )
    return (
        f'line {seq} is of kind {kind}, expected a correction, a stated object, a merge, a split '
        'or a forgetting'
    )


def _later_split(session: Session, past: Past) -> int | None:
    rows = session.database.rows(
        "SELECT max(seq) FROM identity_change WHERE kind = 'SPLIT' AND seq > ? AND object_id = ? "
        'AND undone_seq IS NULL', (past.seq, past.object_id),
    )  # fmt: skip
    found: int | None = rows[0][0]
    return found


def _is_untouched(session: Session, past: Past) -> bool:
    """Whether nothing has been learned of the objects since a merge or split."""
    merging = past.kind is ChangeKind.MERGED
    lines = {past.object_id: past.seq + 1 if merging else past.seq}
    if not merging:
        lines[past.other_id] = past.seq + 1
    rows = session.database.rows(
        'SELECT id, version_seq, observations FROM object WHERE id IN (?, ?)',
        (past.object_id, past.other_id),
    )
    counts = {row[0]: row[2] for row in rows}
    one, other = counts[past.object_id], counts[past.other_id]
    same = one == past.before.count + other if merging else one + other == past.before.count
    same &= past.space == session.space.id
    return same and all(row[1] == lines.get(row[0], row[1]) for row in rows)


def _state_before(session: Session, past: Past) -> str:
    rows = session.database.rows('SELECT before FROM log WHERE seq = ?', (past.seq,))
    return str(json.loads(rows[0][0])['state'])


def _clashes(session: Session, kept_id: int, other_id: int) -> dict[str, Any]:
    """Properties of the other that do not count while the two are one, for the log."""
    held = session.redirects.held
    mine = stated.properties_of(session.database, held(kept_id))
    theirs = stated.properties_of(session.database, held(other_id))
    lost = {k: v for k, v in theirs.items() if k in mine and mine[k] != v}
    return {'properties': lost} if lost else {}


# -- what is written -------------------------------------------------------------------------------


def _put_past(
    connection: apsw.Connection, session: Session, seq: int, kind: ChangeKind, before: Belief,
    other_id: int,
) -> None:  # fmt: skip
    more = {0: before.more} if before.more else {}
    connection.execute(_PUT_CHANGE, (
        seq, kind.value, before.id, other_id, pack(before.record, more)[0],
        session.space.id,
        None if before.feature is None else before.feature.astype('<f4').tobytes(),
    ))  # fmt: skip


def _mark_undone(connection: apsw.Connection, seq: int, by: int) -> None:
    connection.execute('UPDATE identity_change SET undone_seq = ? WHERE seq = ?', (by, seq))


def _next(asked: Asked) -> Asked:
    return dataclasses.replace(asked, seq=asked.seq + 1)


def _link(said: Mapping[str, Any], first: Any) -> dict[str, Any]:
    """What the second line says: where the first is, and the other object."""
    undone = {UNDOES: said[UNDOES]} if UNDOES in said else {}
    return {'of': first.seq, 'object_id': first.object_id, **undone}


def _nothing(*_: Any) -> None:
    return None


def _counted(found: list[Sighting]) -> bool:
    """Whether any of these is evidence of its own."""
    return any(not s.double for s in found)
