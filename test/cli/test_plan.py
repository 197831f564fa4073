# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""`memory plan`: what it says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from views import seen, view

from memory_node import SpatialMemory
from memory_node.cli.main import CANNOT, OK, main


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A closed file with a mug on a table."""
    target = str(tmp_path / 'memory.db')
    with SpatialMemory.open(target) as memory:
        for k in range(3):
            memory.observe(view(1 + 2 * k, seen('table', (2, 0, 0.4), size_m=(1, 1, 0.8)),
                                seen('mug', (2, 0.1, 0.85), size_m=(0.1, 0.1, 0.1))))  # fmt: skip
    return target


def test_search(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(['plan', path, 'search', 'mug']) == OK
    shown = capsys.readouterr().out
    assert 'last' in shown and 'table' in shown
    assert main(['plan', path, 'search', 'mug', '--json']) == OK
    found = json.loads(capsys.readouterr().out)
    assert found['places'][0]['receptacle_label'] == 'table' and found['total'] >= 1


def test_approach(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ['plan', path, 'approach', '1', '--from', '0', '0', '0', '--limit', '2']
    assert main([*arguments, '--json']) == OK
    assert len(json.loads(capsys.readouterr().out)['poses']) == 2
    assert main(arguments) == OK
    assert 'where to stand' in capsys.readouterr().out


def test_what_cannot_be_answered(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(['plan', path, 'search', '--id', '99']) == CANNOT
    assert main(['plan', path, 'approach', '1', '--distance', '99']) == CANNOT
    assert 'distance_m' in capsys.readouterr().err
    for bad in (
        ['search'],
        ['search', 'mug', '--id', '1'],
        ['approach', '0'],
        ['approach', 'x'],
        ['search', 'mug', '--limit', '0'],
        ['search', 'mug', '--from', 'nan', '0', '0'],
        [],
    ):
        with pytest.raises(SystemExit):
            main(['plan', path, *bad])
