# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""`memory ask`: a question in words, or the scene in words, from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from views import seen, view

from memory_node import SpatialMemory
from memory_node.cli.main import CANNOT, OK, main


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / 'kitchen.db'
    with SpatialMemory.open(str(file)) as memory:
        for stamp in (1000, 1002, 1004):
            memory.observe(view(stamp, seen('mug', (2, 0.1, 0.85)), seen('lamp', (0, 3, 1))))
    return file


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    try:
        code = main([str(a) for a in arguments])
    except SystemExit as stop:
        code = int(stop.code or 0)
    return code, *capsys.readouterr()


def test_an_answer_and_how_it_was_read(path: Path, capsys) -> None:
    before = path.read_bytes()
    code, out, err = run(capsys, 'ask', path, 'where is the mug?')
    assert (code, err) == (OK, '')
    answer, read = out.splitlines()
    assert answer.startswith('The mug [#') and 'at (2.00, 0.10, 0.85) m' in answer
    assert read.startswith('(certain, 0.99; read as: where of ')
    assert path.read_bytes() == before


def test_an_answer_as_json(path: Path, capsys) -> None:
    code, out, _ = run(capsys, 'ask', path, 'what is on my left?', '--pose', 0, 0, 0, 0, '--json')
    said = json.loads(out)
    assert code == OK and said['certain'] and said['kind'] == 'list'
    assert [hit['label'] for hit in said['hits']] == ['lamp']
    assert said['citations'] == [said['hits'][0]['id']]
    turned = run(capsys, 'ask', path, 'what is on my left?', '--pose', 0, 0, 0, -90, '--json')[1]
    assert [hit['label'] for hit in json.loads(turned)['hits']] == ['mug']


def test_the_scene(path: Path, capsys) -> None:
    code, out, _ = run(capsys, 'ask', path, '', '--context', 200)
    assert code == OK and out.startswith('scene as of log line') and '"mug" confirmed' in out
    assert len(out.splitlines()) == 3
    assert json.loads(run(capsys, 'ask', path, 'mug', '--context', 200, '--json')[1])['ids']


@pytest.mark.parametrize(
    ('more', 'wrong'),
    [
        (['x' * 2000], 'text'), ([' '], 'text'), (['mug', '--limit', '0'], '--limit'),
        (['mug', '--pose', '0', '0', '0', 'north'], '--pose'),
        (['mug', '--context', '0'], '--context'),
        (['unicorn', '--context', '9'], 'root'),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(path: Path, capsys, more: list[str], wrong: str) -> None:
    code, out, err = run(capsys, 'ask', path, *more)
    assert (code, out) == (CANNOT, '')
    assert wrong in err
