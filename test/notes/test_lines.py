# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Lines of the journal (WM-8, 9): what a person writes is read, what is wrong is told."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from notes_kit import DAY, T0, TODAY

from memory_node.errors import InvalidValueError
from memory_node.notes.items import Network, Note, NoteKind
from memory_node.notes.lines import BEGIN, END, Page, day_name, day_of, read_page, write_note


def day(*lines: str) -> Page:
    return read_page(TODAY, ('# day\n\n## Retain\n' + '\n'.join(lines) + '\n').encode())


def test_wm_8_wm_9_types_names_and_confidence_are_read() -> None:
    page = day(
        '- W @living_room: The lamp is broken.',
        '- B @charger @dock: Docked after three tries,',
        '  the second with a bump.',
        '* O(c=0.8) @Anna: Prefers green tea.',
        '- S A quiet day, said @Ben.',
    )
    assert page.problems == []
    notes = [found.note for found in page.notes]
    assert [note.network for note in notes] == [*Network][0:4]
    assert [note.entities for note in notes] == [
        ('living room',), ('charger', 'dock'), ('Anna',), ('Ben',),
    ]  # fmt: skip
    assert notes[1].content == 'Docked after three tries,\nthe second with a bump.'
    assert notes[1].kind is NoteKind.EPISODIC and notes[2].confidence == 0.8
    assert [found.line for found in page.notes] == [4, 5, 7, 8]


@pytest.mark.parametrize(('line', 'why'), [
    ('- O(c=1.5) @a: x', '1.5'), ('- O(c=) @a: x', 'confidence'), ('- X: what', 'expected - W'),
    ('- W @a:', 'content'), ('- W: x <!-- memory {"kind":"dream"} -->', 'kind'),
    ('- W: x <!-- memory {no} -->', 'JSON'), ('- S: x <!-- memory {"op":"FORGET"} -->', 'of'),
    ('- W: x <!-- memory {"scope":{"user":"anna"}} -->', 'own folder'),
    ('- W: x <!-- memory {"surprise":1} -->', 'surprise'),
])  # fmt: skip
def test_wm_9_a_malformed_line_is_reported_and_costs_no_other(line: str, why: str) -> None:
    page = day('- W: good', line, '- W: also good')
    assert [found.note.content for found in page.notes] == ['good', 'also good']
    assert [(found.line, why in found.text) for found in page.problems] == [(5, True)]


def test_wm_6_the_narrative_of_a_day_is_not_taken_for_facts() -> None:
    text = '- W: a list, not a fact\n\n## Retain\n- W: a fact\n\n## Later\n- B: told only\n'
    assert [found.note.content for found in read_page(TODAY, text.encode()).notes] == ['a fact']


def test_wm_5_the_core_file_needs_no_types_and_bank_pages_do() -> None:
    core = read_page('memory.md', b'- The dock is in the hall\n- O(c=0.5): Tea is fine\n')
    assert [found.note.content for found in core.notes] == [
        'The dock is in the hall',
        'Tea is fine',
    ]
    bank = read_page('bank/world.md', b'- a plain list\n- W: a fact\n')
    assert [found.note.content for found in bank.notes] == ['a fact']
    assert bank.problems == [] and core.notes[0].note.event_time is None


def test_what_is_generated_is_read_by_people_only() -> None:
    text = f'- W: mine\n{BEGIN}\n- W: generated\n{END}\n- W: mine too\n'
    page = read_page('bank/entities/tea.md', text.encode())
    assert [found.note.content for found in page.notes] == ['mine', 'mine too']


def test_wm_11_the_time_is_that_of_the_day_or_what_the_text_names() -> None:
    page = day('- W: x', '- W: away 2025-12-24..2025-12-26', '- W: since 2025-13-01')
    spans = [found.note.event_time for found in page.notes]
    assert [(s.start_ns - T0, s.end_ns - T0) for s in spans if s and s.end_ns] == [
        (0, DAY - 1), (24 * DAY, 27 * DAY - 1), (0, DAY - 1),
    ]  # fmt: skip


def test_ids_of_hand_written_lines_stay_when_they_move() -> None:
    first = {f.note.content: f.note.id for f in day('- W: a', '- W: b', '- W: a').notes}
    page = day('- W: new', '- W: b', '- W: a')
    assert {f.note.content: f.note.id for f in page.notes}['b'] == first['b']
    ids = [f.note.id for f in day('- W: a', '- W: a').notes]
    assert len({*ids}) == 2


def test_bytes_that_are_no_utf_8_are_reported_and_the_rest_is_read() -> None:
    page = read_page(TODAY, b'## Retain\n- W: gr\xfcn\n- W: green\n')
    assert [(p.line, p.text) for p in page.problems] == [(2, 'byte 8 is no UTF-8')]
    assert page.notes[1].note.content == 'green'


def test_windows_line_ends_and_a_missing_last_one() -> None:
    page = read_page(TODAY, b'## Retain\r\n- W: a\r\n  b\r\n- W: c')
    assert [found.note.content for found in page.notes] == ['a\nb', 'c']


_TEXT = st.text(st.characters(blacklist_categories=('Cs', 'Cc')) | st.sampled_from('\n<!->&;@:'))


@example(':', ['1@'], 0.0)
@given(_TEXT, st.lists(st.text('ab@: é-12', max_size=6), max_size=3), st.floats(0, 1))
def test_whatever_is_written_is_read_back(text: str, names: list[str], sure: float) -> None:
    try:
        note = Note(text, entities=names, confidence=sure, id='n1')
    except InvalidValueError:
        return
    page = read_page(TODAY, f'## Retain\n{write_note(note, 5)}- W: next\n'.encode())
    assert page.problems == []
    assert [found.note.content for found in page.notes] == [note.content, 'next']
    found = page.notes[0].note
    assert found.confidence == sure and found.id == 'n1' and len(found.entities) <= len(names)


@given(st.integers(0, 80_000))
def test_days_by_name(days: int) -> None:
    date = datetime.date(1970, 1, 1) + datetime.timedelta(days)
    assert day_name(days * DAY + 5) == date.isoformat()
    assert day_of(f'memory/{date.isoformat()}.md') == days * DAY


def test_no_such_day() -> None:
    assert day_of('memory/2025-02-30.md') is None and day_of('memory.md') is None
