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
from memory_node.demo.rearranged import Changed, Place, Verdict, is_right
from memory_node.demo.truth import MATCH_M, Score
from memory_node.model import Triple

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

    def places(self, places: Sequence[Place], changed: Sequence[Changed]) -> None:
        """Print what has moved or is gone, and whether it has."""
        table = _table('id', 'label', 'was at x y z [m]', 'is at x y z [m]', 'in truth')
        for place in places[:ROWS]:
            end = '' if place.end_m is None else _numbers(place.end_m)
            so = 'yes' if is_right(place, changed) else 'no'
            _add(table, str(place.object_id), place.label, _numbers(place.start_m), end, so)
        self._print(table, len(places))

    def unchecked(self, hits: Sequence[Hit]) -> None:
        """Print objects whose place could not be looked at."""
        table = _table('id', 'label', 'last check', 'at', 'presence', 'centre x y z [m]')
        for hit in hits[:ROWS]:
            thing = hit.object
            _add(table,
                str(thing.id), thing.label, thing.last_check, clock_time(thing.last_checked),
                f'{hit.presence:.2f}', _point(thing),
            )  # fmt: skip
        self._print(table, len(hits))

    def verdicts(self, verdicts: Mapping[str, Verdict]) -> None:
        """Print how right the memory is about what changed."""
        names = ('', 'could be known', 'noticed', 'said', 'right')
        table = _table(*names, right=names[1:])
        for name, one in verdicts.items():
            _add(table, name, *(str(n) for n in (one.true, one.found, one.said, one.right)))
        self.console.print(table)
        self.say(
            '  could be known: moved by 5 cm or more and reported there twice; taken away, and its '
            'place seen'
        )

    def table(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print rows below names."""
        table = _table(*names)
        for row in rows:
            _add(table, *row)
        self.console.print(table)

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
    return _numbers(center_of(thing))


def _numbers(place_m: Triple) -> str:
    x, y, z = place_m
    return f'{x:6.2f} {y:6.2f} {z:5.2f}'
