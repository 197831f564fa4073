# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""`memory query`: every filter as an argument."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from views import seen, view

from memory_node import SpatialMemory
from memory_node.cli.main import CANNOT, OK, main
from memory_node.cli.query import time_of

DAY_S = 1_785_585_600  # 2026-08-01T12:00:00Z


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = str(tmp_path / 'kitchen.db')
    table = seen('table', (1, 1, 0.35), 0.9, (1.2, 0.8, 0.7))
    mug = seen('mug', (1, 1, 0.76), 0.9, (0.1, 0.1, 0.12))
    with SpatialMemory.open(path) as memory:
        memory.observe(view(DAY_S, mug, sensor='left', scope={'task': 'tidy'}))
        memory.observe(view(DAY_S + 1, table, sensor='right'))
        memory.observe(view(DAY_S + 60, seen('lamp', (8, 1, 1)), sensor='right'))
        memory.set_region('Kitchen', 'room', ((0, 0, 0), (5, 5, 3)))
        memory.set_property(1, 'owner', 'Bo')
    return path


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(['query', *arguments, '--json']) == OK
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ('arguments', 'labels'),
    [
        ('mug', ['mug']),
        ('--label mug --label LAMP', ['mug', 'lamp']),
        ('--near 1 1 0.7 0.1', ['mug']),
        ('--box 0 0 0 2 2 0.5', ['table']),
        ('--region kitchen', ['mug', 'table']),
        ('--relation on table', ['mug']),
        ('--relation on 2', ['mug']),
        ('--id 2 --id 3', ['table', 'lamp']),
        ('--property owner=Bo', ['mug']),
        ('--property owner=5', []),
        ('--scope task=tidy', ['mug']),
        ('--sensor right', ['table', 'lamp']),
        ('--source stated', []),
        ('--state absent', []),
        ('--seen-from 2026-08-01T12:00:30', ['lamp']),
        ('--seen-until 1785585600', ['mug']),
        ('--as-of 2026-08-01T12:00:02Z', ['mug', 'table']),
        ('--known-at 2', ['mug']),
        ('--known-at 0', []),
        ('--order recent --limit 1', ['lamp']),
        ('--order recent --limit 1 --offset 2', ['mug']),
        ('--min-presence 1.0', []),
    ],
)
def test_each_filter(
    file: str, capsys: pytest.CaptureFixture[str], arguments: str, labels: list[str]
) -> None:
    found = ask(capsys, file, *arguments.split())
    assert [hit['label'] for hit in found['hits']] == labels
    assert found['total'] >= len(labels)


def test_for_people(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(['query', file, 'mug', '--near', '1', '1', '1', '1']) == OK
    shown = capsys.readouterr().out
    assert '1 to 1 of 1' in shown and 'Kitchen' in shown and 'distance_m 0.24' in shown
    assert main(['query', file, 'unicorn']) == OK
    assert capsys.readouterr().out == 'nothing matches\n'


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        (['--region', 'cellar'], "region: got 'cellar', expected one of Kitchen"),
        (['--relation', 'on', 'desk'], "relation: got 'desk'"),
        (['--known-at', '99'], 'known_at: got 99'),
        (['--id', '77'], 'no object has the id 77'),
        (['x' * 5000], 'text: got'),
        (['--as-of', 'soon'], "--as-of: got 'soon', expected a date"),
        (['--as-of', '2026-08-01T14:00+02:00'], '--as-of: got'),
        (['--as-of', '2026-02-30'], '--as-of: got'),
        (['--seen-from', '-5'], '--seen-from: got'),
    ],
)
def test_what_cannot_be_answered_is_said(
    file: str, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(['query', file, *arguments]) == CANNOT
    assert words in ' '.join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    'arguments',
    [['--limit', '0'], ['--limit', '1001'], ['--near', '1', '1', 'nan', '1'],
     ['--property', 'owner'], ['--source', 'rumour'], ['--id', '9223372036854775808']],
)  # fmt: skip
def test_wrong_usage_is_refused(file: str, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(['query', file, *arguments])
    assert refused.value.code == CANNOT


def test_times_are_exact() -> None:
    for text, time_ns in (
        ('1785585600.000000001', DAY_S * 10**9 + 1),
        ('2026-08-01T12:00:00.5', DAY_S * 10**9 + 5 * 10**8),
        ('2026-08-01T12:00Z', DAY_S * 10**9),
        ('2026-08-01 12:00', DAY_S * 10**9),
        ('0', 0),
    ):
        assert time_of('--as-of', text) == time_ns
    assert time_of('--as-of', None) is None
