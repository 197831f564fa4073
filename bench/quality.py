# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""How well are things told apart? Both arbiter profiles on the same streams, one table.

    scripts/env pip install -r requirements/bench.txt
    scripts/env python bench/quality.py [--only b d] [--quick] [--rules] [--why] [--json FILE]

The streams are those of the modules in `bench/identity`; what the figures mean is said in
`bench/identity/score.py`. Everything follows from --seed. --rules shows the profile `default` with
each of its rules switched off alone; --why says which terms led to its errors.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from identity import drift, flicker, shelf, sizes, streets, tours, views
from identity.arbiters import arbiters, rules
from identity.run import run
from identity.stream import Case, Given
from identity.table import Row, table
from memory_node import Config

SECTIONS = {
    'a': ('RoomR tours', tours),
    'b': ('shelf of identical things', shelf),
    'c': ('wardrobe to screw', sizes),
    'd': ('drifting and shifted localisation', drift),
    'e': ('label flicker', flicker),
    'f': ('real detections outdoors', streets),
    'g': ('real views of a shelf', views),
}
SHARED = Path(__file__).resolve().parents[2] / 'shared'


def cases(only: Sequence[str], given: Given) -> Iterator[Case]:
    """All rows of the wanted sections."""
    for letter, (_, module) in SECTIONS.items():
        if not only or letter in only:
            yield from module.cases(given)


def missing(only: Sequence[str], given: Given) -> Iterator[str]:
    """What data are absent, and what follows."""
    for letter, (words, module) in SECTIONS.items():
        if hasattr(module, 'found') and (not only or letter in only):
            problem = module.found(given)
            if problem:
                yield f'{letter} ({words}): {problem}'


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    sections = ', '.join(f'{k}: {words}' for k, (words, _) in SECTIONS.items())
    parser.add_argument('--only', nargs='+', choices=SECTIONS, default=[], help=sections)
    parser.add_argument('--quick', action='store_true', help='few rows and streams, under a minute')
    parser.add_argument('--rules', action='store_true', help='`default` without each of its rules')
    parser.add_argument('--why', action='store_true', help='the terms that led to the errors')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--shared', type=Path, default=SHARED, help='folder of data/ and bench/')
    parser.add_argument('--json', type=Path, metavar='FILE', help='write the rows as JSON')
    return parser.parse_args(arguments)


def measure(wanted: Sequence[Case], configs: dict[str, Config]) -> list[Row]:
    """Show each case to each configuration: the same streams."""
    rows = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task('', total=len(wanted) * len(configs))
        for case in wanted:
            streams = case.make()
            for name, config in configs.items():
                progress.update(task, description=f'{case.section} {case.name}, {name}')
                rows.append(Row(case, name, run(streams, config)))
                progress.advance(task)
    return rows


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Run it."""
    a = parse(arguments)
    given = Given(a.quick, a.seed, a.shared)
    console = Console(width=None if Console().is_terminal else 200)
    for line in missing(a.only, given):
        console.print(line)
    if a.rules and not rules():
        console.print('the configuration has no rules that can be switched off')
    configs = arbiters(a.rules)
    rows = measure(list(cases(a.only, given)), configs)
    console.print(table(rows, len(configs)))
    if a.why:
        for row in rows:
            for line in row.outcome.why.lines():
                console.print(f'{row.case.section} {row.case.name}, {row.arbiter}: {line}')
    if a.json:
        a.json.write_text(json.dumps([row.as_json() for row in rows], indent=1) + '\n')
    return rows


if __name__ == '__main__':
    main()
