# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Skills (HY-12, 13): nothing gets through the gate by saying so."""

from __future__ import annotations

from typing import Any

import pytest
from notes_kit import T0, notebook

from memory_node.errors import InvalidValueError
from memory_node.notes import skills
from memory_node.notes.items import Note, NoteKind, NoteQuery, NoteState
from memory_node.notes.notebook import Notebook


def wipe(**more: Any) -> Note:
    payload = {
        'code': 'raise SystemExit', 'api_surface': 'tools@v1', 'trigger': 'wipe table',
        'preconditions': ['gripper empty'], 'status': 'verified', 'verdicts': {'useful': 9}, **more,
    }  # fmt: skip
    return Note('Wipe from left to right', NoteKind.SKILL, key='wipe', payload=payload)


def known(book: Notebook) -> NoteState:
    return book.query(NoteQuery(kinds=[NoteKind.SKILL]))[0].state


def test_hy_12_a_skill_is_proposed_whatever_its_writer_says() -> None:
    book = notebook()
    book.write([wipe()], T0)
    state = known(book)
    assert skills.status(state) == skills.PROPOSED
    assert 'status' not in state.note.payload and len(state.note.payload['content_hash']) == 64
    assert not skills.fits(state, 'wipe the table', ['gripper empty'])


def test_hy_13_verdicts_open_the_gate_and_close_it() -> None:
    book = notebook()
    book.write([wipe()], T0)
    for n in range(3):
        assert skills.status(known(book)) == skills.PROPOSED
        book.rate(known(book).note.id, 'useful', T0 + n, evidence=f'episode:{n}')
    assert skills.status(known(book)) == skills.VERIFIED
    assert skills.fits(known(book), 'please wipe the tables', {'gripper empty', 'light on'})
    assert not skills.fits(known(book), 'please wipe the tables', {'light on'})
    assert not skills.fits(known(book), 'wipe the floor', {'gripper empty'})
    book.rate(known(book).note.id, 'wrong', T0 + 4)
    assert skills.status(known(book)) == skills.PROPOSED
    book.rate(known(book).note.id, 'wrong', T0 + 5)
    assert skills.status(known(book)) == skills.REFUTED


def test_hy_13_a_new_version_starts_from_the_gate_and_the_old_one_is_deprecated() -> None:
    book = notebook()
    book.write([wipe()], T0)
    old = known(book).note.id
    for n in range(3):
        book.rate(old, 'useful', T0 + n)
    new = Note('Wipe twice', NoteKind.SKILL, key='wipe', payload=wipe(code='twice').payload)
    book.write([new], T0 + 9)
    assert skills.status(book.get(old)) == skills.DEPRECATED
    assert skills.status(known(book)) == skills.PROPOSED


@pytest.mark.parametrize('bad', [
    {'api_surface': 'tools'}, {'preconditions': 'gripper'}, {'preconditions': [1]},
    {'trigger': 'x' * 100_000},
])  # fmt: skip
def test_hy_13_a_malformed_skill_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidValueError, match='payload'):
        notebook().write([wipe(**bad)], T0)


def test_hy_13_a_skill_needs_a_name_and_a_body() -> None:
    for more in ({'payload': {'code': ''}}, {'key': 'k'}):
        with pytest.raises(InvalidValueError):
            notebook().write([Note('x', NoteKind.SKILL, **more)], T0)  # type: ignore[arg-type]


def test_hy_13_only_listed_verdicts_count() -> None:
    book = notebook()
    book.write([wipe()], T0)
    with pytest.raises(InvalidValueError, match='verdict'):
        book.rate(known(book).note.id, 'great', T0)
