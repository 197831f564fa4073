# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What may wait to be written, and how far all rows are known to have come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_node.store import behind
from memory_node.store.behind import Behind


def test_the_mark_stays_before_whoever_waits_longest() -> None:
    waiting = Behind(0, longest=10)
    waiting.note([7, 8], 3)
    waiting.note([7, 9], 5)
    assert waiting.plan(6) == ([], 0), 'nothing is overdue, and the mark is not far behind'
    assert waiting.plan(12) == ([], 2)
    assert waiting.mark == 0, 'it was not written yet'
    assert waiting.plan(14) == ([7, 8], 4)
    waiting.done()
    assert waiting.mark == 4
    assert waiting.everything() == [9]
    assert 9 in waiting and 7 not in waiting


def test_too_many_are_not_kept_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(behind, 'MOST', 2)
    waiting = Behind(0, longest=100)
    waiting.note(range(5), 1)
    due, mark = waiting.plan(1)
    assert (due, mark) == ([0, 1, 2], 0)
    waiting.done()
    assert len(waiting) == 2


def test_the_mark_goes_on_where_none_waits() -> None:
    waiting = Behind(0, longest=10)
    assert waiting.plan(9) == ([], 0)
    assert waiting.plan(10) == ([], 10)
    waiting.settled(12)
    assert (waiting.mark, len(waiting)) == (12, 0)


def test_the_mark_is_not_written_for_each_row() -> None:
    waiting = Behind(0, longest=2 * behind.STEPS)
    waiting.note([7], 1)
    waiting.note([8], 2)
    waiting.note([9], 3)
    assert waiting.plan(3, due=[7]) == ([7], 0), 'one number further is too little'
    waiting.done()
    assert waiting.plan(3, due=[8]) == ([8], 2)
    waiting.done()
    assert (waiting.mark, waiting.everything()) == (2, [9])


@given(st.lists(st.tuples(st.sets(st.integers(1, 9), max_size=4), st.booleans()), max_size=60))
def test_every_change_after_the_mark_is_of_an_object_that_waits_or_was_written(
    steps: list[tuple[set[int], bool]],
) -> None:
    """Whoever reads again from the mark on finds all that the rows lack, and not far back."""
    waiting, longest = Behind(0, longest=5), 5
    lacking: dict[int, int] = {}
    for number, (changed, committed) in enumerate(steps, 1):
        due, _ = waiting.plan(number - 1)
        if not committed:
            continue
        waiting.done()
        for object_id in due:
            lacking.pop(object_id)
        waiting.note(changed, number)
        for object_id in changed:
            lacking.setdefault(object_id, number)
        assert set(lacking) == set(waiting.everything())
        assert all(since > waiting.mark for since in lacking.values())
        if all(done for _, done in steps[:number]):
            assert number - waiting.mark <= longest + 2
