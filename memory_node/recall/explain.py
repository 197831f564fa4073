# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Why the memory holds what it holds: verdicts with their terms, in words (CH-25)."""

from __future__ import annotations

import json
from typing import Any

from memory_node.errors import UnknownObjectError
from memory_node.model import (
    Aspect,
    Change,
    ChangeKind,
    Explanation,
    MemoryObject,
    Observation,
    Pin,
    VerdictKind,
)
from memory_node.store import corrections, log
from memory_node.store.audit import CLASSES
from memory_node.store.database import Database
from memory_node.store.session import Session

SHOWN = 50
"""Sightings and changes that an explanation shows; it counts all."""


def of_object(session: Session, obj: MemoryObject, asked_id: int) -> Explanation:
    """Why an object is one object, and what it is called and where it lies for.

    Args:
        session: of the store. obj: the object. asked_id: an id that stands for it.
    """
    database, held = session.database, session.redirects.held(obj.id)
    observations = log.observations_of(database, held, SHOWN)
    changes = log.newest_changes_of(database, held, SHOWN)
    labels = ', '.join(f'{name} {mass:.2f}' for name, mass in obj.labels.items())
    lines = [] if asked_id == obj.id else [f'Object {asked_id} was merged into object {obj.id}.']
    lines += [
        f'Object {obj.id} is {obj.state}; {obj.observations} sightings went to it.',
        f'{_called(obj)}: {labels}.' if labels else f'{_called(obj)}.',
    ]
    lines += [_pin(session, pin) for pin in obj.pins.values()]
    joined = [o for o in observations if o.verdict is VerdictKind.MERGED]
    if joined:
        least = min(joined, key=lambda o: o.terms.get('total', 0.0))
        lines.append(
            f'The weakest of its {len(joined)} newest joins was observation {least.id} with '
            f'{_terms(least)}.'
        )
    lines += [_line(change) for change in changes]
    settings = _settings(database, observations[-1].view_seq) if observations else {}
    return Explanation(tuple(lines), tuple(observations), tuple(changes), settings)


def _called(obj: MemoryObject) -> str:
    if Aspect.LABEL in obj.pins:
        return f'It is called {obj.label!r} by a person; the evidence'
    return f'It is called {obj.label!r} by the evidence'


def _pin(session: Session, pin: Pin) -> str:
    """A person's word, by whom and why, and what has been seen beside it."""
    line = corrections.line_of(session, pin.seq)
    who = f'by {line.actor} in line {pin.seq}' if line else f'in line {pin.seq}'
    why = f' ({line.reason})' if line and line.reason else ''
    if pin.aspect is Aspect.PRESENCE:
        return f'That it is there was stated {who}{why}; {pin.sightings} sightings since.'
    told = f'Its {pin.aspect} is pinned to {_value(pin.value)} {who}{why}'
    if pin.evidence is None:
        return f'{told}.'
    so = 'in conflict, ' if pin.conflict else ''
    return f'{told}; {so}the evidence says {_value(pin.evidence)}.'


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return f'({", ".join(f"{number:.3f}" for number in value)})'
    return repr(value)


def of_observation(session: Session, observation_id: int) -> Explanation:
    """Why a sighting was judged as it was.

    Raises:
        UnknownObjectError: there is no observation of this id.
    """
    database = session.database
    valid = 0 < observation_id < 2**63
    found = log.read_observation(database, observation_id) if valid else None
    if found is None:
        raise UnknownObjectError(f'no observation has the id {observation_id}')
    settings = _settings(database, found.view_seq)
    lines = [
        f'Observation {found.id}: {found.label!r} with score {found.score:.2f}, '
        f'{found.verdict}{f" ({found.reason})" if found.reason else ""}.',
        _judged(found, settings),
    ]
    now = owner_of(session, found)
    if now is not None and now != found.object_id:
        lines.append(f'Object {found.object_id} was merged or split since: it is of object {now}.')
    changes = (
        []
        if found.object_id is None
        else log.changes_of(database, found.view_seq, SHOWN, found.object_id)
    )
    changes = [c for c in changes if c.stamp_ns == found.stamp_ns]
    return Explanation((*lines, *map(_line, changes)), (found,), tuple(changes), settings)


def owner_of(session: Session, observation: Observation) -> int | None:
    """The object that a sighting is of by now; None: it was rejected."""
    if observation.object_id is None:
        return None
    rows = session.database.rows(
        'SELECT object_id FROM attribution WHERE observation_id = ? ORDER BY seq DESC LIMIT 1',
        (observation.id,),
    )
    return session.redirects.final(rows[0][0] if rows else observation.object_id)


def _judged(o: Observation, settings: dict[str, Any]) -> str:
    merge, create = settings.get('merge_score', 0.0), settings.get('create_score', 0.0)
    if o.candidate_id is None:
        best = 'No stored object overlapped it'
    else:
        best = f'Against object {o.candidate_id} it scored {_terms(o)}'
    if o.verdict is VerdictKind.MERGED:
        return f'{best}: at least {merge:g}, so it joined it.'
    if o.verdict is VerdictKind.RELOCATED:
        return f'{best}. What it showed had been lost elsewhere: it moved here.'
    why = f'{best}.' if o.candidate_id is None else f'{best}, under {merge:g} or taken by another.'
    if o.verdict is VerdictKind.CREATED:
        return f'{why} Its score is at least {create:g}, so it made object {o.object_id}.'
    if o.reason == 'forgotten':
        return f'{why} Something of this label was forgotten there.'
    return f'{why} Its score is under {create:g}, so it was rejected.'


def _terms(o: Observation) -> str:
    parts = ', '.join(f'{k} {v:.2f}' for k, v in o.terms.items() if k != 'total')
    return f'{o.terms.get("total", 0.0):.2f} ({parts})'


def _line(change: Change) -> str:
    if change.kind in (ChangeKind.MERGED, ChangeKind.SPLIT):
        return _identity_line(change)
    why = f': {change.reason}' if change.reason else ''
    was = f', before {log.to_json(dict(change.before))}' if change.before else ''
    return f'Line {change.seq}: {change.kind} by {change.actor}{why}{was}.'


def _identity_line(change: Change) -> str:
    said: Any = change.after
    why = f': {change.reason}' if change.reason else ''
    by = f'Line {change.seq}: {change.kind} by {change.actor}{why}'
    if change.kind is ChangeKind.SPLIT:
        moved = len(said['observations'])
        return f'{by}; {moved} sightings went to the new object {said["object_id"]}.'
    scored = ''
    if 'score' in said:
        parts = ', '.join(f'{name} {value:.2f}' for name, value in said['terms'].items())
        scored = f'; scored {said["score"]:.2f} ({parts})'
    return f'{by}; object {change.object_id} went into object {said["into"]}{scored}.'


def _settings(database: Database, view_seq: int) -> dict[str, Any]:
    """Settings under which a view was judged."""
    rows = database.rows(
        'SELECT c.settings FROM view v JOIN config c ON c.hash = v.config WHERE v.seq = ?',
        (view_seq,),
    )
    found: dict[str, Any] = json.loads(rows[0][0]) if rows else {}
    found.pop(CLASSES, None)
    return found
