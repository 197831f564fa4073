# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What is learned of a person and kept (OM-1, 3, 5, 9 … 11, 13, 14, 18)."""

from __future__ import annotations

import pytest
from notes_kit import DAY, T0, notebook

from memory_node.errors import InvalidValueError
from memory_node.notes.beliefs import Event, Reconciled
from memory_node.notes.calibration import Option
from memory_node.notes.items import Note, NoteKind, NotePose, TimeSpan
from memory_node.notes.learning import Learning
from memory_node.notes.notebook import Notebook


@pytest.fixture
def book() -> Notebook:
    return notebook()


def ask(book: Notebook, user: str, concept: str, at_ns: int) -> None:
    book.add_event(Event('ask', f'where is {concept}', at_ns, concepts=[concept]), user)


def test_om_3_events_are_lines_of_the_journal_and_no_answers(book: Notebook) -> None:
    ask(book, 'anna', 'tea', T0)
    [event] = book.events_of('anna')
    assert (event.kind, event.concepts) == ('ask', ['tea'])
    assert event.ref == 'users/anna/memory/2025-11-30.md:4'
    assert book.recall('where is tea', T0, {'user': 'anna'}).items == ()
    book.rebuild()
    assert book.events_of('anna') == [event] and book.problems() == []


def test_om_1_each_person_has_their_own(book: Notebook) -> None:
    ask(book, 'anna', 'tea', T0)
    assert book.events_of('ben') == [] and Learning(book).beliefs('ben') == []
    with pytest.raises(InvalidValueError, match='user'):
        Learning(book).consolidate('', T0)


def test_om_5_consolidating_adds_updates_and_leaves(book: Notebook) -> None:
    learning = Learning(book)
    for n in range(2):
        ask(book, 'anna', 'tea', T0 + n)
    assert [what for what, _ in learning.consolidate('Anna', T0 + 5)] == [Reconciled.ADD]
    assert [what for what, _ in learning.consolidate('Anna', T0 + 6)] == [Reconciled.NOOP]
    ask(book, 'anna', 'tea', T0 + 7)
    assert [what for what, _ in learning.consolidate('Anna', T0 + 8)] == [Reconciled.UPDATE]
    [belief] = learning.beliefs('anna')
    assert belief.confidence == pytest.approx(0.593, abs=1e-3) and len(belief.refs) == 3
    assert book.events_of('anna')[0].ref == belief.refs[0][1]


def test_om_5_what_is_stated_stays(book: Notebook) -> None:
    learning = Learning(book)
    learning.state('anna', 'avoids', 'tea', T0)
    for n in range(5):
        ask(book, 'anna', 'tea', T0 + n)
    learning.consolidate('anna', T0 + 9)
    assert [(b.predicate, b.source) for b in learning.persona('anna', T0 + 9)] == [
        ('avoids', 'stated')
    ]


def test_om_11_do_i_like_it(book: Notebook) -> None:
    learning = Learning(book)
    assert learning.likes('anna', 'tea', T0) is None
    for n in range(3):
        ask(book, 'anna', 'tea', T0 + n)
    found = learning.likes('anna', 'Tea', T0 + 5)
    assert found is not None and found.predicate == 'likes' and len(found.refs) == 3
    assert learning.beliefs('anna') == [found]  # it was written up


def test_om_9_om_14_words_are_learned_for_each_person_and_context(book: Notebook) -> None:
    learning = Learning(book)
    options = [Option('a', {'distance': 3.0, 'price': 8.0}), Option('b', {'distance': 9.0})]
    learning.accept('anna', options, 'a', T0, 'work')
    assert learning.word('anna', 'near', 'work').value == 3.0
    assert learning.word('anna', 'near', 'elsewhere').value == 3.0
    assert learning.word('ben', 'near').value == learning.word('', 'near').value == 2.0
    learning.accept('anna', [Option('c', {'distance': 5.0})], 'c', T0 + 1, 'home')
    assert learning.word('anna', 'near', 'work').value == 3.0
    near = learning.word('anna', 'near')
    assert (near.value, near.samples) == (5.0, 2)
    book.rebuild()
    assert learning.word('anna', 'near') == near


def test_om_13_what_was_not_chosen_is_not_kept(book: Notebook) -> None:
    Learning(book).accept('anna', [Option('a', {'distance': 3.0}), Option('zebra')], 'a', T0)
    assert all(b'zebra' not in book.journal.read(name) for name in book.journal.marks())


def test_om_10_om_18_near_me_starts_at_home_then_where_one_mostly_is(book: Notebook) -> None:
    learning = Learning(book)
    assert learning.here('anna', 'map') is None
    for n, x in enumerate((1.0, 1.5, 9.0)):
        note = Note('was here', NoteKind.EPISODIC, scope={'user': 'anna'},
                    pose=NotePose('map', (x, 1, 0)), event_time=TimeSpan(T0 + n * DAY))  # fmt: skip
        book.write([note], T0)
    assert learning.areas('anna', 'map') == [((1.0, 1.0), 2), ((9.0, 1.0), 1)]
    assert learning.here('anna', 'map') == (1.0, 1.0)
    learning.set_anchor('anna', 'Dock', NotePose('map', (4, 5, 0)), T0)
    assert learning.here('anna', 'map') == (4.0, 5.0)
    assert learning.here('anna', 'odom') is None
