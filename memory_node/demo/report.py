# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Answers of the memory as tables of bounded length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from builtin_interfaces.msg import Time
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from spatial_memory.msg import Hit, MemoryObject
from spatial_memory.srv import History, Relate

from memory_node.demo.client import MEMORY, center_of, change_words
from memory_node.demo.messages import nanoseconds
from memory_node.demo.truth import MATCH_M, Score

WIDTH = 100
ROWS = 8
"""Longest list."""


class Report:
    """Prints to a console: at most 100 columns, plain where the output is no terminal."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        if not self.console.is_terminal or self.console.width > WIDTH:
            self.console.width = WIDTH

    def say(self, text: str) -> None:
        """Print a line."""
        self.console.print(text, markup=False, soft_wrap=True)

    def question(self, text: str, service: str = '', request: str = '') -> None:
        """Print what is asked, in words and as the request that asks it."""
        self.console.print()
        self.console.print(text, style='bold', markup=False)
        if service:
            self.console.print(f'  /{MEMORY}/{service} {request}', style='dim', markup=False)

    def hits(self, hits: Sequence[Hit], total: int) -> None:
        """Print objects, the first few of them."""
        table = _table('id', 'label', 'state', 'confidence', 'seen', 'centre x y z [m]', 'score')
        for hit in hits[:ROWS]:
            thing = hit.object
            _add(table,
                str(thing.id), thing.label, thing.state, f'{thing.confidence:.2f}',
                f'{thing.observations}x', _point(thing), f'{hit.score:.2f}',
            )  # fmt: skip
        self._print(table, total)

    def relations(self, reply: Relate.Response, centers: Mapping[int, str]) -> None:
        """Print relations; centers: id of a subject → where it is."""
        table = _table('id', 'subject', 'relation', 'object', 'confidence', 'centre x y z [m]')
        for r in reply.relations[:ROWS]:
            _add(table,
                str(r.subject_id), r.subject_label, r.relation,
                f'{r.object_label} ({r.object_id})', f'{r.confidence:.2f}',
                centers.get(r.subject_id, ''),
            )  # fmt: skip
        self._print(table, int(reply.total))

    def history(self, reply: History.Response) -> None:
        """Print the sightings of one object, and its lines of the log."""
        table = _table('view', 'seen at', 'sensor', 'label', 'score', 'centre x y z [m]', 'verdict')
        for o in reply.observations[-ROWS:]:
            total = ''.join(f' {t.value:.2f}' for t in o.terms if t.name == 'total')
            _add(table,
                str(o.view_seq), clock_time(o.stamp), o.sensor, o.label, f'{o.score:.2f}',
                _point(o), f'{o.verdict}{total}',
            )  # fmt: skip
        self._print(table, int(reply.total), 'earlier')
        for change in reply.changes[-ROWS:]:
            self.say(f'  log line {change.seq}, {clock_time(change.stamp)}: {change_words(change)}')

    def scores(self, scores: Mapping[str, Score]) -> Score:
        """Print the table against the truth; return the sum of all rooms."""
        names = ('room', 'things', 'objects', 'found', 'missed', 'extra', 'median error')
        table = _table(*names, right=names[1:])
        total = Score(0, 0, ())
        for room, one in scores.items():
            total = total + one
            _add(table, room, *_cells(one))
        table.add_section()
        _add(table, 'all', *_cells(total))
        self.console.print(table)
        self.say(
            f'  things: reported at least twice; found: an object of that label within '
            f'{MATCH_M * 100:.0f} cm, one-to-one'
        )
        return total

    def _print(self, table: Table, total: int, more: str = 'more') -> None:
        self.console.print(table)
        if total > table.row_count:
            self.say(f'  … and {total - table.row_count} {more}')


def where(thing: MemoryObject) -> str:
    """Return the centre of an object as text."""
    return _point(thing)


def clock_time(stamp: Time) -> str:
    """Return the local time of day of a stamp, to a tenth of a second."""
    at = datetime.fromtimestamp(nanoseconds(stamp) / 1e9)
    return f'{at:%H:%M:%S}.{at.microsecond // 100_000}'


def _cells(one: Score) -> tuple[str, ...]:
    counts = (one.things, one.objects, one.found, one.missed, one.extra)
    return (*(str(n) for n in counts), f'{one.median_error_m * 100:.1f} cm' if one.found else '-')


def _table(
    *names: str, right: Sequence[str] = ('id', 'view', 'seen', 'score', 'confidence')
) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    for name in names:
        table.add_column(name, justify='right' if name in right else 'left', no_wrap=True)
    return table


def _add(table: Table, *cells: str) -> None:
    """Add a row; a label is text, whatever brackets it has."""
    table.add_row(*(Text(cell) for cell in cells))


def _point(thing: MemoryObject) -> str:
    x, y, z = center_of(thing)
    return f'{x:6.2f} {y:6.2f} {z:5.2f}'
