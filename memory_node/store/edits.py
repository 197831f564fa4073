# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Changes that come from a caller, not from a view: each is one log line and what follows from it.

An edit is prepared first, written in a transaction, and applied to the working set after the
commit, like a plan of the engine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw
import numpy as np

from memory_node.fusion.pins import effective, pinned
from memory_node.fusion.tombstones import Tombstone
from memory_node.fusion.world import STATE_CODE, Records, World
from memory_node.model import Change, ChangeKind, Floats, State
from memory_node.store import kept_out, log, objects, pins, stated
from memory_node.store.session import Session

CLEAR = kept_out.CLEAR_TOMBSTONE


@dataclass(frozen=True)
class Edit:
    """One log line, what it writes beside itself, and what it does to the working set."""

    change: Change
    write: Callable[[apsw.Connection], None]
    apply: Callable[[], None]


@dataclass(frozen=True)
class Asked:
    """Who wants an edit, why, and when; seq: log line it will have."""

    seq: int
    stamp_ns: int
    recorded_ns: int
    actor: str
    reason: str = ''

    def change(
        self,
        kind: ChangeKind,
        object_id: int | None,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> Change:
        """The log line."""
        return Change(
            self.seq, kind, object_id, int(self.stamp_ns), int(self.recorded_ns), self.actor,
            self.reason, before or {}, after or {},
        )  # fmt: skip


def write_all(connection: apsw.Connection, prepared: Sequence[Edit]) -> None:
    """Write some edits with their log lines, within a transaction."""
    log.write_lines(connection, [edit.change for edit in prepared])
    for edit in prepared:
        edit.write(connection)


def apply_all(prepared: Sequence[Edit]) -> list[Change]:
    """Make some edits so in the working set; returns their log lines."""
    for edit in prepared:
        edit.apply()
    return [edit.change for edit in prepared]


def forget(session: Session, row: int, asked: Asked, said: Mapping[str, Any]) -> Edit:
    """End a live object and leave a tombstone where it lay.

    Args:
        session: of the store. row: of the object. asked: who wants it, why and when.
        said: until_ns, where it is for a time; what else the log line says.
    """
    engine = session.engine
    world = engine.world
    record = world.records[row : row + 1].copy()
    more = world.more_labels.get(row, {})
    number = int(record['id'][0])
    held = bool(record['has_feature'][0])
    stone = Tombstone(
        number, int(record['label'][0]), record['center'][0].copy(), int(record['map'][0]),
        world.features.take(np.array([row]))[0] if held else None, until_ns=said.get('until_ns'),
    )  # fmt: skip
    before = {'state': world.view(row).state.value}
    record['state'] = STATE_CODE[State.FORGOTTEN]
    change = asked.change(ChangeKind.FORGOTTEN, number, before, said)
    change = dataclasses.replace(change, object=_as_object(world, record, more))

    def write(connection: apsw.Connection) -> None:
        objects.write_record(connection, record, more, world, change)
        kept_out.insert_tombstone(connection, stone, change.seq, world)

    def apply() -> None:
        world.end(row)
        engine.index.remove(row)
        engine.tombstones.put(stone)

    return Edit(change, write, apply)


def restore(session: Session, object_id: int, center: Floats | None, asked: Asked) -> Edit:
    """Bring a forgotten object back.

    Args:
        session: of the store. object_id: a forgotten object.
        center: (3,) where it has been seen since; None: where it lay.
        asked: who wants it, why and when.
    """
    engine = session.engine
    world = engine.world
    record, more, feature = objects.read_record(
        session.database, world, object_id, session.space.id
    )
    if center is not None:
        record['center'] = record['hull_center'] = center
    word = effective(pins.held(session.database, session.redirects.held(object_id)), object_id)
    more = pinned(record, more, word, world)
    record['state'] = STATE_CODE[State.CONFIRMED]
    record['version_center'], record['version_size'] = record['center'], record['size']
    after = {'center_m': record['center'][0].tolist()}
    change = asked.change(ChangeKind.RESTORED, object_id, {'state': 'forgotten'}, after)
    back = dataclasses.replace(_as_object(world, record, more), pins=word)
    change = dataclasses.replace(change, object=back)

    def write(connection: apsw.Connection) -> None:
        objects.write_record(connection, record, more, world, change)
        connection.execute(CLEAR, (change.seq, object_id))

    def apply() -> None:
        rows = world.append(record)
        if more:
            world.more_labels[int(rows[0])] = more
        if feature is not None:
            world.features.put(rows, feature[None])
        engine.index.add(rows)
        engine.tombstones.clear(object_id)
        session.renew_pins(object_id)

    return Edit(change, write, apply)


def set_property(session: Session, object_id: int, key: str, value: Any, asked: Asked) -> Edit:
    """State a fact about an object; the latest value of a key counts (CH-12)."""
    before = stated.properties_of(session.database, session.redirects.held(object_id))
    was = {'key': key, 'value': before[key]} if key in before else {}
    change = asked.change(ChangeKind.CORRECTED, object_id, was, {'key': key, 'value': value})
    return _stating(session, change)


def state_relation(
    session: Session, subject_id: int, relation: str, object_id: int, asked: Asked,
    holds: bool = True,
) -> Edit:  # fmt: skip
    """State that a relation holds, or that it no longer does (CH-11)."""
    after = {'relation': relation, 'object_id': object_id, 'holds': holds}
    change = asked.change(ChangeKind.RELATION, subject_id, {}, after)
    return _stating(session, change)


def _stating(session: Session, change: Change) -> Edit:
    """The edit of a line that states something, which may be what is inside of what."""
    return Edit(
        change, lambda connection: stated.apply_line(connection, change), session.renew_contents
    )


def record_event(
    session: Session, kind: str, object_id: int | None, payload: Mapping[str, Any], asked: Asked
) -> Edit:
    """Record something that happened (CH-13)."""
    after = {'type': kind, 'payload': dict(payload)}
    change = asked.change(ChangeKind.EVENT, object_id, {}, after)
    return Edit(change, lambda connection: stated.apply_line(connection, change), _nothing)


def restorations(session: Session, cleared: list[Tombstone], first: Asked) -> list[Edit]:
    """Bring back what the evidence of a view has cleared; `first` is for the first of them."""
    reason = 'seen again often enough'
    return [
        restore(
            session, stone.object_id, stone.seen_center,
            dataclasses.replace(first, seq=first.seq + k, reason=reason),
        )
        for k, stone in enumerate(cleared)
    ]  # fmt: skip


def _as_object(world: World, record: Records, more: dict[int, float]) -> Any:
    return world.as_objects(record, {0: more})[0]


def _nothing() -> None:
    return None
