# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What of an object is a person's word, in the file. A pin there is a row, as a list its values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from memory_node.fusion.pins import Pins, effective
from memory_node.fusion.world import World
from memory_node.model import NO_PINS, Aspect, Pin
from memory_node.store.database import Database
from memory_node.store.redirects import Redirects, listed

_PIN = 'SELECT object_id, aspect, value, seq, sightings, evidence, conflict FROM pin'
_PUT = 'INSERT OR REPLACE INTO pin VALUES (?, ?, ?, ?, ?, ?, ?)'


def load(database: Database, redirects: Redirects, world: World) -> dict[int, Pins]:
    """Read what is pinned of every live object."""
    of_object: dict[int, list[Pin]] = {}
    for row in database.rows(f'{_PIN} ORDER BY object_id, aspect'):
        pin = _pin(row)
        of_object.setdefault(redirects.final(pin.object_id), []).append(pin)
    return {
        number: effective(pins, number)
        for number, pins in of_object.items()
        if world.row_of(number) is not None
    }


def held(database: Database, object_ids: Iterable[int]) -> list[Pin]:
    """Read all that was pinned of an object and of what was merged into it."""
    rows = database.rows(
        f'{_PIN} WHERE object_id IN (SELECT value FROM json_each(?)) ORDER BY object_id, aspect',
        (listed(object_ids),),
    )
    return [_pin(row) for row in rows]


def of(database: Database, object_id: int) -> Pins:
    """Read what was pinned of one object, also of one that has ended."""
    return effective(held(database, [object_id]), object_id) or NO_PINS


def write(connection: apsw.Connection, pins: Mapping[int, Pins]) -> None:
    """Write the pins of some objects, with what has been seen beside them."""
    put(connection, [pin for of_one in pins.values() for pin in of_one.values()])


def put(connection: apsw.Connection, pins: Sequence[Pin]) -> None:
    """Write pins, each in the place of the one of its object and aspect."""
    if pins:
        connection.executemany(_PUT, [_row(pin) for pin in pins])


def remove(connection: apsw.Connection, pins: Iterable[Pin]) -> None:
    """Remove pins."""
    connection.executemany(
        'DELETE FROM pin WHERE object_id = ? AND aspect = ?',
        [(pin.object_id, pin.aspect.value) for pin in pins],
    )


def as_plain(pin: Pin) -> list[Any]:
    """A pin as a log line has it."""
    return [
        pin.object_id, pin.aspect.value, _plain(pin.value), pin.seq, pin.sightings,
        _plain(pin.evidence), pin.conflict,
    ]  # fmt: skip


def from_plain(given: Sequence[Any]) -> Pin:
    """A pin of a log line."""
    number, aspect, value, seq, sightings, evidence, conflict = given
    return Pin(
        number, Aspect(aspect), _value(value), seq, sightings,
        None if evidence is None else _value(evidence), bool(conflict),
    )  # fmt: skip


def _row(pin: Pin) -> tuple[Any, ...]:
    number, aspect, value, seq, sightings, evidence, conflict = as_plain(pin)
    return (
        number, aspect, _json(value), seq, sightings,
        None if evidence is None else _json(evidence), int(conflict),
    )  # fmt: skip


def _pin(row: Sequence[Any]) -> Pin:
    number, aspect, value, seq, sightings, evidence, conflict = row
    known = None if evidence is None else json.loads(evidence)
    return from_plain([number, aspect, json.loads(value), seq, sightings, known, conflict])


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _value(given: Any) -> Any:
    return tuple(given) if isinstance(given, list) else given


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
