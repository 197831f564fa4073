# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Questions as frames (OM-12), and ranking by them (OM-13) through what is learned of a person."""

from __future__ import annotations

import pytest
from notes_kit import T0, notebook

from memory_node.notes.calibration import Option
from memory_node.notes.frames import affords, frame_of, search_words
from memory_node.notes.items import NoteQuery
from memory_node.notes.learning import Learning
from memory_node.notes.rerank import Candidate, Frame


@pytest.mark.parametrize('text, frame', [
    ('somewhere quiet to work', Frame(['work'], vibe=['quiet'])),
    ('a place to read with the kids, not too loud', Frame(
        ['read'], ['children'], vibe=['quiet'], constraints=['safe'])),
    ('where can we have dinner with friends nearby?', Frame(
        [], ['friends'], 'dinner', constraints=['near'])),
    ('somewhere cosy for a birthday party', Frame([], occasion='birthday', vibe=['cosy'])),
    ('a seat without stairs and with a socket', Frame(
        ['sit'], constraints=['accessible', 'power'])),
    ('no games, I want to sleep', Frame(['sleep'])),
    ('xyzzy', Frame()), ('', Frame()),
])  # fmt: skip
def test_om_12_a_text_becomes_a_frame(text: str, frame: Frame) -> None:
    found = frame_of(text)
    assert (
        list(found.goals), list(found.companions), found.occasion, list(found.vibe),
        list(found.constraints),
    ) == (
        list(frame.goals), list(frame.companions), frame.occasion, list(frame.vibe),
        list(frame.constraints),
    )  # fmt: skip


def test_om_12_things_afford_what_they_are_for() -> None:
    assert {'sofa', 'sit', 'relax', 'sleep', 'read'} <= {*affords('red sofa')}
    assert 'work' in affords('StandingDesk') and 'work' not in affords('deskew')
    assert affords('thing', ['Quiet']) == ('quiet', 'thing')


def test_om_12_the_frame_is_searched_not_the_words() -> None:
    found = search_words(frame_of('I am hungry'))
    assert 'table' in found and 'hungry' not in found
    assert search_words(Frame()) == ()


def test_om_12_ranked_by_affordances_taste_and_the_learned_radius() -> None:
    book = notebook()
    learning = Learning(book)
    near = [
        Candidate('desk', distance_m=6.0, text_rank=1),
        Candidate('sofa', distance_m=1.0, text_rank=1),
        Candidate('workbench', ['work'], distance_m=6.0, text_rank=1),
    ]  # fmt: skip
    assert [r.candidate.name for r in learning.suggest('anna', 'where to work?', near, T0)] == [
        'desk', 'workbench', 'sofa',
    ]  # fmt: skip
    lamp, sofa = Candidate('lamp', distance_m=3.0, text_rank=1), near[1]
    before = learning.suggest('anna', 'x', [lamp, sofa], T0)[1]
    learning.accept('anna', [Option('sofa', {'distance': 30.0})], 'sofa', T0)
    after = learning.suggest('anna', 'x', [lamp, sofa], T0)[1]
    assert after.candidate.name == 'lamp' and after.terms['near'] > before.terms['near']
    learning.state('anna', 'avoids', 'sofa', T0)
    assert learning.suggest('anna', 'x', [lamp, sofa], T0)[0].candidate.name == 'lamp'


def test_om_13_candidates_are_not_kept_until_one_is_chosen() -> None:
    book = notebook()
    Learning(book).suggest('anna', 'somewhere to sit', [Candidate('zyxchair', text_rank=1)], T0)
    assert book.query(NoteQuery(scope={'user': 'anna'})) == [] and book.journal.marks() == {}


def test_om_12_near_at_work_has_its_own_radius() -> None:
    learning = Learning(notebook())
    learning.accept('anna', [Option('a', {'distance': 50.0})], 'a', T0, context='work')
    far = [Candidate('far', distance_m=20.0, text_rank=1)]
    [at_work] = learning.suggest('anna', 'x', far, T0, context='work')
    [elsewhere] = learning.suggest('ben', 'x', far, T0, context='work')
    assert at_work.terms['near'] > 0.6 > 0.001 > elsewhere.terms['near']
