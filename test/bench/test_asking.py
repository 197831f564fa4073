# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What issue 6 asks of answers in words, on the rooms that come with the demo."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import asking
import pytest

from identity.tours import places

NOWHERE = Path('/nonexistent')


@pytest.fixture(scope='module')
def rooms() -> Sequence[asking.Place]:
    return places(NOWHERE, False)[::4]


def test_where_every_label_that_was_seen_is(rooms: Sequence[asking.Place]) -> None:
    asked, right, wrong = asking.where(rooms, seed=1)
    assert asked >= 100
    assert right / asked >= 0.98, wrong


def test_other_names_are_certain() -> None:
    with asking.of_every_type() as memory:
        asked, right, wrong = asking.names(memory)
    assert asked >= 60
    assert right / asked >= 0.95, wrong


def test_nothing_is_certain_of_what_is_not_there(rooms: Sequence[asking.Place]) -> None:
    asked, honest, wrong = asking.absent(rooms, seed=1)
    assert asked >= 10 * len(rooms)
    assert honest == asked, wrong


def test_every_question_is_answered_or_refused_with_a_reason() -> None:
    sets = list(asking.question_sets(asking.SHARED))
    if not sets:
        pytest.skip(f'no question sets below {asking.SHARED}')
    for _, questions in sets:
        counts, _ = asking.read_all(questions)
        assert sum(counts.values()) == len(questions)
        assert all(kind != 'unread' or reason for kind, reason in counts)
        answered = sum(n for (_, reason), n in counts.items() if not reason)
        assert answered / len(questions) > 0.4
    if len(sets) == 2:
        page = Path(__file__).resolve().parents[2] / 'docs' / 'questions.md'
        assert page.read_text(encoding='utf-8') == asking.table(sets), 'make it anew, see there'
