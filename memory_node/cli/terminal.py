# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a verb shows: text and tables for people, or one JSON value for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

PIPE_WIDTH = 160
"""Columns of a table that does not go to a terminal."""
FIRST_DATE_NS = 946_684_800 * 10**9
"""Stamps from the year 2000 on are shown as dates, earlier ones (of a simulator) as seconds."""
NUMBER = 'right'


class Terminal:
    """Where a verb writes to.

    Attributes:
        as_json: whether one JSON value is written, and nothing else.
    """

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        width = None if sys.stdout.isatty() else PIPE_WIDTH
        plain: Any = {'highlight': False, 'markup': False, 'emoji': False}
        self._out = Console(width=width, **plain)
        self._aside = Console(stderr=True, **plain)

    def say(self, text: str) -> None:
        """Write a line for people."""
        if not self.as_json:
            self._out.print(printable(text), soft_wrap=True)

    def warn(self, text: str) -> None:
        """Write a line beside the output."""
        self._aside.print(f'memory: {printable(text)}', soft_wrap=True)

    def data(self, value: Any) -> None:
        """Write the one JSON value."""
        if self.as_json:
            sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + '\n')

    def facts(self, rows: Sequence[tuple[str, str]]) -> None:
        """Write names with their values."""
        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow='fold')
        for name, value in rows:
            table.add_row(name, printable(value))
        self._out.print(table)

    def table(
        self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], numbers: str = ''
    ) -> None:
        """Write a table.

        Args:
            title: above it. columns: their names. rows: of anything that can be written.
            numbers: names of the columns that are aligned to the right, with spaces between.
        """
        if self.as_json:
            return
        table = Table(title=title, title_justify='left', title_style='bold', box=box.SIMPLE_HEAD)
        right = numbers.split()
        for name in columns:
            table.add_column(name, justify='right' if name in right else 'left', overflow='fold')
        for row in rows:
            table.add_row(*(printable(str(cell)) for cell in row))
        self._out.print(table)

    @contextmanager
    def progress(self, total: int) -> Iterator[Callable[[str, int], None]]:
        """Show how far something is, on a terminal; yields what is to be told of it."""
        if self.as_json or not self._aside.is_terminal:
            yield _ignore
            return
        columns = (
            TextColumn('{task.description}'), BarColumn(), TaskProgressColumn(),
            TimeElapsedColumn(),
        )  # fmt: skip
        with Progress(*columns, console=self._aside, transient=True) as bar:
            task = bar.add_task('reading', total=total or None)
            shown = ('', 0)

            def tell(what: str, seq: int) -> None:
                nonlocal shown
                if what != shown[0] or seq - shown[1] >= max(1, total // 200):
                    bar.update(task, description=what, completed=seq)
                    shown = (what, seq)

            yield tell


def _ignore(what: str, seq: int) -> None:
    return None


def printable(text: str) -> str:
    """The text without anything that could drive the terminal."""
    return ''.join(c if c.isprintable() else c.encode('unicode_escape').decode() for c in text)


def moment(stamp_ns: int) -> str:
    """A stamp in words: a date in UTC, or the seconds of a simulator."""
    if stamp_ns < FIRST_DATE_NS:
        return f'{stamp_ns / 1e9:.3f} s'
    date = np.datetime_as_string(np.datetime64(stamp_ns, 'ns'), unit='ms')
    return f'{date}Z'.replace('T', ' ')


def size(count: int) -> str:
    """A number of bytes in words."""
    units = ('kB', 'MB', 'GB', 'TB')
    if count < 10_000:
        return f'{count} bytes'
    power = min(len(units), (len(str(count)) - 1) // 3)
    return f'{count / 1000**power:.1f} {units[power - 1]}'


def point(values: Sequence[float]) -> str:
    """Metres, to the millimetre."""
    return ', '.join(f'{value:.3f}' for value in values)
