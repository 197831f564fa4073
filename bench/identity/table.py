# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The table, and the same as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from identity.run import Outcome
from identity.stream import Case

COLUMNS = {
    'IDF1': ('idf1', '.3f'), 'ID sw.': ('switches', 'd'),
    'obj./thing': ('objects_per_thing', '.2f'), 'lost %': ('lost', '.1%'),
    'dup. %': ('duplicates', '.1%'), 'purity': ('purity', '.3f'), 'ghosts': ('ghosts', 'd'),
    'centre cm': ('center_median_m', 'cm'), 'p90': ('center_p90_m', 'cm'),
    'size %': ('size_error', '.1%'), 'label %': ('right_label', '.1%'),
    'exact %': ('exact', '.0%'),
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One case under one configuration."""

    case: Case
    arbiter: str
    outcome: Outcome

    def as_json(self) -> dict[str, Any]:
        """Plain values; NaN becomes None."""
        figures = self.outcome.tally.figures()
        plain = {k: None if math.isnan(v) else round(v, 6) for k, v in figures.items()}
        return {
            'section': self.case.section,
            'row': self.case.name,
            'arbiter': self.arbiter,
            **plain,
            'rejected': dict(self.outcome.reasons),
            'why': self.outcome.why.lines(),
        }


def table(rows: Sequence[Row], arbiters: int) -> Table:
    """The rows as one table; `arbiters` rows make a group."""
    shown = Table('', 'row', 'arbiter', pad_edge=False, box=None, header_style='bold')
    for name in COLUMNS:
        shown.add_column(name, justify='right')
    shown.add_column('')
    for k, row in enumerate(rows):
        first = k % arbiters == 0
        if first and k and rows[k - 1].case.section != row.case.section:
            shown.add_section()
        figures = row.outcome.tally.figures()
        shown.add_row(
            row.case.section if first else '', row.case.name if first else '', row.arbiter,
            *(_text(figures[key], form) for key, form in COLUMNS.values()),
            _remark(row.outcome),
        )  # fmt: skip
    return shown


def _text(value: float, form: str) -> str:
    if math.isnan(value):
        return '-'
    if form == 'cm':
        return f'{value * 100:.1f}'
    if form.endswith('%'):
        return format(value, form)[:-1]
    return format(int(value) if form == 'd' else value, form)


def _remark(outcome: Outcome) -> str:
    """Why detections of counted things were rejected."""
    if not outcome.tally.refused:
        return ''
    share = outcome.tally.refused / outcome.tally.detections
    return f'{share:.0%} rejected: {", ".join(sorted(outcome.reasons))}'
