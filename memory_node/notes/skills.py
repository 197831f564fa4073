# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Skills (HY-12, 13): what may be tried again. They are kept and matched here, never executed.

A skill comes in as `proposed`, whatever its writer says. It is `verified` by enough verdicts that
it was useful and none that it was wrong, `refuted` by enough of the other kind, and no longer used
as `deprecated`. Its status follows from the verdicts alone.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Collection, Mapping

from memory_node import checks
from memory_node.errors import InvalidValueError
from memory_node.notes.items import Note, NoteKind, NoteState
from memory_node.recall.words import words

PROPOSED, VERIFIED, REFUTED, DEPRECATED = 'proposed', 'verified', 'refuted', 'deprecated'
USEFUL_NEEDED = 3
"""So many useful verdicts, more than misleading ones by as many, open the gate."""
WRONG_NEEDED = 2
"""So many wrong verdicts close it for good."""
_LISTS = ('preconditions', 'postconditions')


def proposed(note: Note) -> Note:
    """A skill as it is written: checked, with the hash of its content; other notes as they are.

    Raises:
        InvalidValueError: no key, no code or params, or a list that is none.
    """
    if note.kind is not NoteKind.SKILL:
        return note
    payload = dict(note.payload)
    if not note.key:
        raise InvalidValueError('key: got nothing, expected the name of the skill')
    if 'code' not in payload and 'params' not in payload:
        raise InvalidValueError('payload: a skill needs code or params')
    checks.said('payload.api_surface', payload.get('api_surface', ''))
    if '@' not in payload.get('api_surface', ''):
        raise InvalidValueError('payload.api_surface: expected NAME@VERSION')
    checks.said('payload.trigger', payload.get('trigger', ''))
    for name in _LISTS:
        given = payload.setdefault(name, [])
        if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
            raise InvalidValueError(
                f'payload.{name}: got {checks.short(given)}, expected a list of texts'
            )
    for name in ('status', 'verdicts', 'content_hash'):
        payload.pop(name, None)
    text = json.dumps(payload, sort_keys=True)
    payload['content_hash'] = hashlib.sha256(text.encode()).hexdigest()
    return dataclasses.replace(note, payload=payload)


def status_of(verdicts: Mapping[str, int], superseded: bool = False) -> str:
    """What the verdicts make of a skill."""
    if verdicts.get('wrong', 0) >= WRONG_NEEDED:
        return REFUTED
    if superseded:
        return DEPRECATED
    margin = verdicts.get('useful', 0) - verdicts.get('misleading', 0)
    if margin >= USEFUL_NEEDED and not verdicts.get('wrong', 0):
        return VERIFIED
    return PROPOSED


def status(state: NoteState) -> str:
    """The status of a skill."""
    return status_of(state.verdicts, state.valid_to_ns is not None or bool(state.forgotten_ns))


def fits(state: NoteState, situation: str, facts: Collection[str]) -> bool:
    """Whether a skill may be tried: its trigger is named, all its preconditions hold, it passed.

    Args:
        state: of a skill. situation: in words. facts: what holds.
    """
    payload = state.note.payload
    trigger = set(words(payload.get('trigger', '')))
    return (
        status(state) == VERIFIED
        and bool(trigger)
        and trigger <= set(words(situation))
        and set(payload['preconditions']) <= {*facts}
    )
