# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Answers are printed in a bounded number of lines of a bounded length."""

from __future__ import annotations

import io

import pytest

pytest.importorskip('rclpy')
report = pytest.importorskip('memory_node.demo.report')

from rich.console import Console  # noqa: E402
from spatial_memory.msg import Hit, MemoryObject, ObservationRecord, Relation, Term  # noqa: E402
from spatial_memory.srv import History, Relate  # noqa: E402

from memory_node.demo.truth import Score  # noqa: E402


@pytest.fixture
def page() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def printer(page: io.StringIO) -> object:
    return report.Report(Console(file=page, width=300, highlight=False))


def lines(page: io.StringIO) -> list[str]:
    text = page.getvalue()
    assert '\x1b' not in text
    found = text.splitlines()
    assert max(len(line) for line in found) <= report.WIDTH
    return found


def thing(number: int) -> MemoryObject:
    return MemoryObject(id=number, label='A[bold]Label', state='confirmed', observations=3)


def test_many_hits_are_cut_and_counted(printer: object, page: io.StringIO) -> None:
    hits = [Hit(object=thing(k), score=0.5) for k in range(1, 30)]
    printer.hits(hits, 400)  # type: ignore[attr-defined]
    found = lines(page)
    assert len(found) == 2 + report.ROWS + 1
    assert found[-1].strip() == f'… and {400 - report.ROWS} more'
    assert 'A[bold]Label' in found[2]


def test_relations_and_history(printer: object, page: io.StringIO) -> None:
    row = Relation(subject_id=1, subject_label='Mug', relation='on', object_id=2, object_label='X')
    printer.relations(Relate.Response(relations=[row], total=1), {1: 'here'})  # type: ignore[attr-defined]
    seen = ObservationRecord(label='Mug', verdict='merged', terms=[Term(name='total', value=0.8)])
    printer.history(History.Response(observations=[seen], total=5))  # type: ignore[attr-defined]
    text = '\n'.join(lines(page))
    for part in ('X (2)', 'here', 'merged 0.80', '… and 4 earlier'):
        assert part in text


def test_scores_add_up_and_an_empty_room_has_no_error(printer: object, page: io.StringIO) -> None:
    total = printer.scores({'a': Score(3, 2, (0.01, 0.03)), 'b': Score(1, 0, ())})  # type: ignore[attr-defined]
    assert (total.things, total.found, total.extra) == (4, 2, 0)
    text = '\n'.join(lines(page))
    assert '2.0 cm' in text and 'nan' not in text
