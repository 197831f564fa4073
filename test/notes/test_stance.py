# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Whether one text speaks for another (WM-14): the tables, and where they leave it open."""

from __future__ import annotations

import pytest

from memory_node.notes.stance import attitude, stance, topics


@pytest.mark.parametrize('statement, said, sign', [
    ('Anna prefers green tea', 'Anna drank green tea', 1),
    ('Anna prefers green tea', 'Anna chose the green tea again', 1),
    ('Anna prefers green tea', 'Anna hates green tea', -1),
    ('Anna prefers green tea', 'Anna no longer likes green tea', -1),
    ('Anna prefers green tea', "Anna didn't want green tea", -1),
    ('Anna prefers green tea', 'Anna put the green tea away', 0),
    ('Anna avoids jazz', 'Anna listened to jazz', -1),
    ('Anna avoids jazz', 'Anna refused the jazz record', 1),
    ('Anna does not like jazz', 'Anna dislikes jazz', 1),
    ('The kitchen is tidy in the evening', 'The kitchen was tidy', 1),
    ('The kitchen is tidy in the evening', 'The kitchen was messy', -1),
    ('The kitchen is tidy in the evening', 'The kitchen was not tidy', -1),
    ('The printer is reliable', 'The printer was never unreliable', 1),
])  # fmt: skip
def test_wm_14_what_speaks_for_and_against(statement: str, said: str, sign: int) -> None:
    found = stance(statement, said, ['Anna'])
    assert found is not None and found.sign == sign


@pytest.mark.parametrize('said', [
    'Anna drank black tea', 'Anna hates coffee', 'Green is nice', '',
])  # fmt: skip
def test_wm_14_what_is_about_something_else_is_no_evidence(said: str) -> None:
    assert stance('Anna prefers green tea', said, ['Anna']) is None


def test_wm_14_strong_is_only_what_says_so_outright() -> None:
    for said, strong in (
        ('Anna hates green tea', True), ('Anna drank green tea', False),
        ('Anna put green tea away', False),
    ):  # fmt: skip
        found = stance('Anna prefers green tea', said, ['Anna'])
        assert found is not None and found.strong is strong, said


def test_wm_14_liking_what_is_loud_says_nothing_of_what_is_quiet() -> None:
    found = stance('Ben likes quiet music', 'Ben likes loud music', ['Ben'])
    assert found is not None and found.sign == 0


def test_wm_14_names_are_what_it_is_about_where_nothing_else_is_left() -> None:
    assert topics('Anna likes jazz', ['Anna']) == ('jaz',)  # without its ending
    assert topics('Anna likes jazz', ['Anna', 'jazz']) == ('anna', 'jaz')
    assert topics('It is so', []) == ()
    assert stance('It is so', 'It is so') is None


def test_attitude_leaves_open_what_says_both() -> None:
    assert attitude('likes tea, hates coffee') == 0 == attitude('tea')
    assert attitude('likes tea') == 1 and attitude('never liked tea') == -1
