# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a purge is about: the objects, sightings and log lines whose content has to go."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from memory_node.model import Change, Triple
from memory_node.store import log
from memory_node.store.corrections import STATED
from memory_node.store.redirects import OWNED, listed
from memory_node.store.session import Session

IN = '(SELECT value FROM json_each(?1))'
"""The ids of a binding made by `listed`."""
OWNER = """coalesce((SELECT a.object_id FROM attribution a WHERE a.observation_id = o.id
    ORDER BY a.seq DESC LIMIT 1), o.object_id)"""
"""The object that an observation o is of by now, but for merges."""
INSIDE = 'x BETWEEN ?1 AND ?2 AND y BETWEEN ?3 AND ?4 AND z BETWEEN ?5 AND ?6'
_PLACES = ('center_m', 'from_m', 'to_m', 'pose')
"""Keys in a log line whose value begins with a position."""


@dataclass(frozen=True)
class Wanted:
    """What is to go; one of these is given.

    Attributes:
        by: object, label, region or person, for the log.
        object_id: of any object. label: whatever its case.
        low_m, high_m, map_id: corners of a box. person: as an actor, and as a value of a scope.
    """

    by: str
    object_id: int = 0
    label: str = ''
    low_m: Triple = (0.0, 0.0, 0.0)
    high_m: Triple = (0.0, 0.0, 0.0)
    map_id: str = ''
    person: str = ''

    @property
    def box(self) -> tuple[float, ...]:
        """Bindings of INSIDE."""
        pairs = zip(self.low_m, self.high_m)
        return tuple(value for pair in pairs for value in pair)


@dataclass
class Found:
    """Ids of objects and observations, and log lines."""

    objects: set[int] = field(default_factory=set)
    sightings: set[int] = field(default_factory=set)
    lines: set[int] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.objects or self.sightings or self.lines)


def find(session: Session, wanted: Wanted) -> Found:
    """What has to go. Of objects that were merged all go, or none; what is gone is left out."""
    rows = session.database.rows
    found = Found()
    roots = _FINDERS[wanted.by](session, wanted, found)
    for root in roots:
        found.objects.update(session.redirects.held(session.redirects.final(root)))
    ids = listed(found.objects)
    found.sightings |= _numbers(rows(OWNED, (ids,)))
    found.sightings |= _numbers(
        rows(f'SELECT id FROM observation WHERE barred_by IN {IN}', (ids,))
    )  # fmt: skip
    found.sightings -= _numbers(rows("SELECT id FROM observation WHERE label = ''"))
    found.objects -= _numbers(rows("SELECT id FROM object WHERE label = ''"))
    found.lines |= _numbers(rows(
        f"SELECT seq FROM log WHERE object_id IN {IN} OR (kind = 'RELATION' "
        f"AND json_extract(after, '$.object_id') IN {IN}) "
        f"OR json_extract(after, '$.container_id') IN {IN}", (listed(found.objects),),
    ))  # fmt: skip
    return found


def _of_object(session: Session, wanted: Wanted, found: Found) -> set[int]:
    return {wanted.object_id}


def _of_label(session: Session, wanted: Wanted, found: Found) -> set[int]:
    """Objects of a label; also sightings as that of whatever, and lines that name it."""
    rows, label = session.database.rows, wanted.label.casefold()
    spelt = [n for (n,) in rows('SELECT DISTINCT label FROM observation') if n.casefold() == label]
    found.sightings |= _numbers(
        rows(f'SELECT id FROM observation WHERE label IN {IN}', (json.dumps(spelt),))
    )
    found.lines |= _lines(session, lambda line: _names(line, label))
    every = rows("SELECT id, label FROM object WHERE state <> 'merged'")
    return {number for number, name in every if name.casefold() == label}


def _of_region(session: Session, wanted: Wanted, found: Found) -> set[int]:
    """Objects that lie in a box; also sightings in it of whatever, and lines that tell of it."""
    rows, box = session.database.rows, (*wanted.box, wanted.map_id)
    found.sightings |= _numbers(rows(
        f'SELECT o.id FROM observation o JOIN view v ON v.seq = o.view_seq WHERE {INSIDE} '
        'AND v.map_id = ?7', box,
    ))  # fmt: skip
    here = _numbers(rows('SELECT id FROM object WHERE map_id = ?', (wanted.map_id,)))
    found.lines |= _lines(
        session, lambda line: line.object_id in here
        and any(_lies_in(place, wanted) for place in _places([line.before, line.after])),
    )  # fmt: skip
    return _numbers(rows(
        f"SELECT id FROM object WHERE {INSIDE} AND map_id = ?7 AND state <> 'merged'", box
    ))  # fmt: skip


def _of_person(session: Session, wanted: Wanted, found: Found) -> set[int]:
    """Objects that nothing but the views of a person and what they stated tells of.

    Also all sightings of these views, and all lines of the person or that name them.
    """
    rows, final = session.database.rows, session.redirects.final
    own = _numbers(rows(
        'SELECT seq FROM view WHERE EXISTS (SELECT 1 FROM json_each(scope) WHERE value = ?)',
        (wanted.person,),
    ))  # fmt: skip
    whose: dict[int, set[bool]] = {}
    for number, view_seq, object_id in rows(f'SELECT o.id, o.view_seq, {OWNER} FROM observation o'):
        if view_seq in own:
            found.sightings.add(number)
        if object_id is not None:
            whose.setdefault(final(object_id), set()).add(view_seq in own)
    found.lines |= _lines(
        session, lambda line: line.actor == wanted.person or _names(line, wanted.person.casefold())
    )
    stated = rows(
        f"SELECT object_id FROM log WHERE actor = ? AND json_extract(after, '$.{STATED}') "
        'IS NOT NULL', (wanted.person,),
    )  # fmt: skip
    alone = {number for (number,) in stated if final(number) not in whose}
    return alone | {number for number, views in whose.items() if views == {True}}


_FINDERS: dict[str, Callable[[Session, Wanted, Found], set[int]]] = {
    'object': _of_object,
    'label': _of_label,
    'region': _of_region,
    'person': _of_person,
}


def _lines(session: Session, passes: Callable[[Change], bool]) -> set[int]:
    """Log lines that pass, but for those of views, which say nothing."""
    question = f"{log.CHANGE} WHERE kind <> 'VIEW'"
    batches = session.database.batches(question)
    return {
        line.seq for batch in batches for line in map(log.change_from, batch) if passes(line)
    }  # fmt: skip


def _names(line: Change, name: str) -> bool:
    """Whether a line names something, given with its case folded."""
    texts = _texts([dict(line.before), dict(line.after)])
    return name in line.reason.casefold() or any(text.casefold() == name for text in texts)


def _texts(value: Any) -> Iterable[str]:
    """Every text in a plain value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts([*value, *value.values()])
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _places(value: Any) -> Iterable[list[float]]:
    """Every position in a plain value."""
    if isinstance(value, dict):
        yield from (value[key][:3] for key in _PLACES if isinstance(value.get(key), list))
        yield from _places(list(value.values()))
    elif isinstance(value, list):
        for item in value:
            yield from _places(item)


def _lies_in(place: list[float], wanted: Wanted) -> bool:
    return all(low <= x <= high for low, x, high in zip(wanted.low_m, place, wanted.high_m))


def _numbers(rows: Iterable[tuple[Any, ...]]) -> set[int]:
    return {number for (number,) in rows}
