# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Writes docs/seeds.md: which tests name which line of the seeds (python test/support/seeds.py).

An id is named by a test that has it in its name (test_hy_8_…), or in its own text (CH-14).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / 'docs' / 'seeds.md'
LAST = {'CH': 48, 'HY': 17, 'OM': 18, 'WM': 21}
STATE_NOTHING = {'CH-48', 'OM-17', 'WM-18', 'WM-21'}
"""Lines that state no behaviour: module lists, open questions, sources."""
SHOWN = 3
_ID = re.compile(r'\b(CH|HY|OM|WM)-(\d{1,2})\b')
_NAMED = re.compile(r'(?:^|_)(ch|hy|om|wm)_(\d{1,2})(?=_|$)')


def named() -> dict[str, list[str]]:
    """Id → the tests that name it, as `FILE::TEST`, in order."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / 'test').rglob('test_*.py')):
        for test, text in _tests(path):
            ids = {f'{seed.upper()}-{int(n)}' for seed, n in _NAMED.findall(test)}
            ids |= {f'{seed}-{int(n)}' for seed, n in _ID.findall(text)}
            for name in ids:
                where = f'{path.relative_to(ROOT / "test")}::{test}'
                found.setdefault(name, []).append(where)
    return found


def page() -> str:
    """The text of docs/seeds.md."""
    tests = named()
    lines = [
        '# Which test names which line of the seeds',
        '',
        'Made by `python test/support/seeds.py` from the tests; do not edit. '
        'CH: Chronotope, HY: hylo-memory, OM: openmap, WM: Workspace Memory.',
        '',
        '| id | tests | some of them |',
        '|---|---|---|',
    ]
    for seed, last in LAST.items():
        for n in range(1, last + 1):
            name = f'{seed}-{n}'
            found = tests.get(name, [])
            shown = ', '.join(f'`{test}`' for test in found[:SHOWN])
            if not found:
                shown = 'states no behaviour' if name in STATE_NOTHING else 'named by none'
            lines.append(f'| {name} | {len(found)} | {shown} |')
    return '\n'.join(lines) + '\n'


def _tests(path: Path) -> Iterator[tuple[str, str]]:
    """Name and source of each test of a file."""
    source = path.read_text(encoding='utf-8')
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith('test_'):
            yield node.name, ast.get_source_segment(source, node) or ''


if __name__ == '__main__':
    PAGE.write_text(page(), encoding='utf-8')
