# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""`memory remember`, `recall`, `reflect`, `feedback` (WM-15): notes from the command line."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from notes_kit import T0
from views import seen, view

from memory_node import SpatialMemory
from memory_node.cli.main import CANNOT, FINDINGS, OK, main
from memory_node.cli.terminal import Terminal
from memory_node.notes.items import Note

AT = ('--at', '2025-11-30T10:00')


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / 'kitchen.db'
    SpatialMemory.open(str(file)).close()
    return file


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    try:
        code = main([str(a) for a in arguments])
    except SystemExit as stop:
        code = int(stop.code or 0)
    return code, *capsys.readouterr()


def test_wm_15_what_is_remembered_is_recalled_with_its_line(path: Path, capsys: Any) -> None:
    code, out, err = run(
        capsys, 'remember', path, 'Prefers green tea', '--about', 'Anna', '--opinion', 0.8, *AT
    )
    assert (code, err) == (OK, '') and out.endswith('[memory/2025-11-30.md:4]\n')
    code, out, _ = run(capsys, 'recall', path, 'what does Anna prefer', *AT)
    assert (code, out) == (OK, '[memory/2025-11-30.md:4] (opinion 0.80) Prefers green tea\n')
    code, out, _ = run(capsys, 'recall', path, 'what does Ben prefer', *AT)
    assert (code, out) == (OK, 'nothing of that was written down\n')


def test_wm_15_since_and_k(path: Path, capsys: Any) -> None:
    for day in (1, 20, 29):
        run(capsys, 'remember', path, f'Lamp {day} is on', '--at', f'2025-11-{day:02}')
    _, out, _ = run(capsys, 'recall', path, 'lamps', '--since', '15d', '--json', *AT)
    said = json.loads(out)
    assert {item['content'] for item in said['items']} == {'Lamp 20 is on', 'Lamp 29 is on'}
    _, out, _ = run(capsys, 'recall', path, 'lamps', '--k', 1, '--json', *AT)
    assert len(json.loads(out)['items']) == 1 and json.loads(out)['omitted'] == 2


def test_wm_15_reflect_writes_pages_and_tells_what_cannot_be_read(path: Path, capsys: Any) -> None:
    run(capsys, 'remember', path, 'It is cracked', '--about', 'red mug', *AT)
    day = Path(f'{path}.journal') / 'memory' / '2025-11-30.md'
    day.write_text(day.read_text() + '- O(c=9): no\n')
    code, out, _ = run(capsys, 'reflect', path, '--since', '7d', *AT)
    assert code == OK
    assert out.splitlines() == [
        'wrote bank/world.md',
        'wrote bank/entities/red-mug.md',
        "cannot be read: memory/2025-11-30.md:5: confidence: got '9', expected 0 to 1",
    ]


def test_one_users_notes_are_told_to_them_only(path: Path, capsys: Any) -> None:
    run(capsys, 'remember', path, 'The code is 4711', '--user', 'Anna', *AT)
    assert 'nothing' in run(capsys, 'recall', path, 'the code', *AT)[1]
    assert '4711' in run(capsys, 'recall', path, 'the code', '--user', 'anna', *AT)[1]


def test_a_copy_takes_the_journal_along(path: Path, tmp_path: Path, capsys: Any) -> None:
    run(capsys, 'remember', path, 'Tea is out', *AT)
    assert run(capsys, 'snapshot', path, tmp_path / 'copy.db')[0] == OK
    assert 'Tea' in run(capsys, 'recall', tmp_path / 'copy.db', 'tea', *AT)[1]
    copied = tmp_path / 'copy.db.journal' / 'memory' / '2025-11-30.md'
    assert copied.read_bytes() == (Path(f'{path}.journal') / 'memory/2025-11-30.md').read_bytes()


def test_the_first_index_shows_how_far_it_is(
    path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = Path(f'{path}.journal') / 'bank'
    bank.mkdir(parents=True)
    for n in range(450):
        (bank / f'{n}.md').write_text(f'- W @t{n}: fact {n}\n')
    told: list[tuple[str, int]] = []
    totals: list[int] = []

    @contextmanager
    def progress(self: Terminal, total: int) -> Iterator[Any]:
        totals.append(total)
        yield lambda what, done: told.append((what, done))

    monkeypatch.setattr(Terminal, 'progress', progress)
    assert run(capsys, 'remember', path, 'Tea is out', *AT)[0] == OK
    assert totals == [450]
    assert told == [('reading the journal', n) for n in range(50, 451, 50)]


def test_check_and_rebuild_cover_the_index_of_notes(path: Path, capsys: Any) -> None:
    run(capsys, 'remember', path, 'Tea is out', *AT)
    day = Path(f'{path}.journal') / 'memory' / '2025-11-30.md'
    day.write_text(day.read_text() + '- O(c=9): no\n')
    run(capsys, 'reflect', path, *AT)
    code, out, _ = run(capsys, 'check', path)
    assert code == OK and out.splitlines() == [
        'clean', 'cannot be read, and was left as it is: memory/2025-11-30.md:5: '
        "confidence: got '9', expected 0 to 1",
    ]  # fmt: skip
    connection = sqlite3.connect(path)
    connection.execute('DELETE FROM note_entity')
    connection.execute("UPDATE note SET key = 'other'")
    connection.commit()
    connection.close()
    code, out, _ = run(capsys, 'check', path)
    assert code == FINDINGS
    assert out.startswith('journal: memory/2025-11-30.md:4: the index says something else')
    assert run(capsys, 'rebuild', path)[0] == OK
    assert run(capsys, 'check', path)[0] == OK


@pytest.mark.parametrize('arguments', [
    ('remember', ' '), ('remember', 'x', '--opinion', '7'), ('recall', 'x', '--since', 'soon'),
    ('recall', 'x', '--k', '0'), ('reflect', '--at', 'never'), ('remember', 'x', '--kind', 'dream'),
])  # fmt: skip
def test_bad_values_are_refused(path: Path, capsys: Any, arguments: tuple[str, ...]) -> None:
    verb, *more = arguments
    assert run(capsys, verb, path, *more)[0] == CANNOT


def test_feedback_teaches_words_rates_notes_and_states(tmp_path: Path, capsys) -> None:
    path = str(tmp_path / 'a.db')
    with SpatialMemory.open(path) as memory:
        memory.observe(view(T0 / 1e9, seen('mug')))
        [event] = memory.remember(Note('The drawer jams'), T0)

    def told(*arguments: str, code: int = 0) -> dict:
        assert main(['feedback', path, *arguments, '--json']) == code
        return json.loads(capsys.readouterr().out)

    words = told('accepted', 'cafe', 'distance=3', 'price=4.5', '--user', 'anna')['words']
    assert {(w['term'], w['value']) for w in words} == {('near', 3.0), ('budget', 4.5)}
    assert told('declined', 'bar', 'distance=9', '--user', 'anna', '--reason', 'too far')['events']
    rated = told('rated', 'useful', event.id, 'n0')
    assert rated['notes'][0]['verdicts'] == {'useful': 1} and rated['refused'][0]['id'] == 'n0'
    assert told('episode', 'failed', event.id, '--episode', 'e4')['helpfulness'] == 0.5
    assert told('stated', 'likes', 'tea', '--user', 'anna')['object'] == 'tea'
    assert 'expected the id of a note' in told('rated', 'wrong', 'n0', code=2)['error']
    assert 'user' in told('accepted', 'cafe', 'distance=3', code=2)['error']
    assert 'predicate' in told('stated', 'adores', 'tea', '--user', 'a', code=2)['error']
    with pytest.raises(SystemExit):
        main(['feedback', path, 'accepted', 'cafe', 'distance'])
    assert main(['ask', path, 'how far is near for me?', '--user', 'anna']) == 0
    said = capsys.readouterr().out
    assert said.startswith('Up to 3 m') and '(near: 3 m, learned from 1 accepted option' in said
    assert main(['ask', path, 'how far is near for me?', '--user', 'ben']) == 0
    assert 'Up to 2 m' in capsys.readouterr().out


def test_the_command_line_shows_one_users_notes_to_no_other(tmp_path: Path, capsys) -> None:
    path = str(tmp_path / 'a.db')
    with SpatialMemory.open(path) as memory:
        memory.remember(Note('Keeps the zyxkey', scope={'user': 'anna'}, entities=['zyxkey']), T0)
    for verb in ('recall', 'ask'):
        for user, there in (('anna', True), ('ben', False), ('', False)):
            assert main([verb, path, 'who keeps the zyxkey?', '--user', user, '--json']) == 0
            said = json.loads(capsys.readouterr().out)
            shown = said['items'] if verb == 'recall' else said['sources']
            assert bool(shown) == there, (verb, user)
    assert main(['remember', path, 'About nothing', '--about', 'object:99']) == 2
    assert 'no object has the id 99' in capsys.readouterr().err
