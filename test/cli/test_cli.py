# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The command `memory`: what it says, its exit codes, and that looking changes nothing."""

from __future__ import annotations

import configparser
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from children import OPEN_MEMORY, child
from views import observe_all, seen, stream, view

from memory_node import Config, SpatialMemory
from memory_node.cli import verbs
from memory_node.cli.main import CANNOT, FINDINGS, INTERRUPTED, OK, VERBS, main
from memory_node.cli.terminal import moment, printable, size

ROOT = Path(__file__).parents[2]
SCALED = 2_000_000_000  # seconds: a date


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed file with views, and every kind of line that a caller can cause."""
    target = tmp_path / 'memory.db'
    with SpatialMemory.open(str(target), Config(feature_space='clip@8')) as memory:
        observe_all(memory, stream(3, 60))
        memory.forget(3, 'not a mug', actor='anna')
        memory.set_property(5, 'colour', 'red')
        memory.state_relation(5, 'part_of', 6)
        memory.record_event('door_opened', {'angle_deg': 40.0}, 5)
        assert memory.check() == []
    return target


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command; returns its exit code, output and errors."""

    def call(*arguments: object) -> tuple[int, str, str]:
        try:
            code = main([str(a) for a in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return call


def as_json(run: Run, *arguments: object) -> tuple[int, Any]:
    code, out, err = run(*arguments, '--json')
    assert err == '' or code == CANNOT
    return code, json.loads(out)


def tamper(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for sql in statements:
        connection.execute(sql)
    connection.close()


def needed(verb: str, folder: Path) -> list[str]:
    """What a verb needs beside the file."""
    return {
        'snapshot': [str(folder / 'new.db')], 'correct': ['undo', '1'], 'report': ['picked', '1'],
        'forget': ['1'], 'ask': ['where is it?'], 'plan': ['search', 'mug'],
        'remember': ['x'], 'recall': ['x'], 'feedback': ['rated', 'useful', 'n0'],
        'purge': ['--id', '1'], 'split': ['1'], 'merge': ['1', '2'],
    }.get(verb, [])  # fmt: skip


def beside(path: Path) -> dict[str, bytes]:
    return {
        p.name: p.read_bytes() for p in path.parent.iterdir()
        if p.suffix != '.lock' and not p.name.endswith(('-wal', '-shm'))
    }  # fmt: skip


# -- usage ------------------------------------------------------------------------------------


def test_the_command_is_installed_under_its_name() -> None:
    metadata = configparser.ConfigParser()
    metadata.read(ROOT / 'setup.cfg')
    scripts = metadata['options.entry_points']['console_scripts'].split('\n')
    assert 'memory = memory_node.cli.main:main' in [line.strip() for line in scripts]


def test_every_verb_does_something() -> None:
    assert set(verbs.VERBS) == set(VERBS)


@pytest.mark.parametrize('verb', ['', *VERBS])
def test_help_tells_what_it_does_and_its_exit_codes(run: Run, verb: str) -> None:
    code, out, err = run(*verb.split(), '--help')
    assert (code, err) == (OK, '')
    assert 'exit code: 0' in out
    assert 'usage: memory' in out
    for other in VERBS:
        assert verb or other in out


@pytest.mark.parametrize(
    ('arguments', 'wrong'),
    [
        ((), 'VERB'),
        (('mend', 'x.db'), 'mend'),
        (('inspect',), 'FILE'),
        (('inspect', 'x.db', '--objects', '-1'), "--objects: got '-1', expected a whole number"),
        (('inspect', 'x.db', '--log', 'many'), "--log: got 'many', expected a whole number"),
        (('inspect', 'x.db', '--id', 'zzz'), "--id: got 'zzz', expected a whole number from 1"),
        (('inspect', 'x.db', '--id', '0'), "--id: got '0'"),
        (('inspect', 'x.db', '--id', str(2**64 - 1)), '--id: got'),
        (('snapshot', 'x.db'), 'NEW'),
        (('check', 'x.db', '--deep'), '--deep'),
    ],
)
def test_wrong_usage_names_what_is_wrong(run: Run, arguments: Any, wrong: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (CANNOT, '')
    assert wrong in err


@pytest.mark.parametrize('verb', VERBS)
def test_what_cannot_be_opened_is_said_in_one_line(run: Run, tmp_path: Path, verb: str) -> None:
    path = tmp_path / 'nowhere' / 'memory.db' if verb == 'rebuild' else tmp_path / 'memory.db'
    more = needed(verb, tmp_path)
    code, out, err = run(verb, path, *more)
    assert (code, out) == (CANNOT, '')
    assert err.startswith('memory: ') and err.count('\n') == 1
    assert str(path) in err or str(path.parent) in err
    assert [p.name for p in tmp_path.iterdir() if p.suffix != '.lock'] == []
    code, said = as_json(run, verb, path, *more)
    assert code == CANNOT
    assert err == f'memory: {said["error"]}\n'


def test_another_programs_file_cannot_be_opened_by_any_verb(run: Run, tmp_path: Path) -> None:
    path = tmp_path / 'theirs.db'
    tamper(path, 'CREATE TABLE track (id)')
    before = path.read_bytes()
    for verb in VERBS:
        code, _, err = run(verb, path, *needed(verb, tmp_path))
        assert code == CANNOT
        assert 'another program' in err
    assert path.read_bytes() == before


def test_an_interrupt_is_quiet(run: Run, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(verbs.VERBS, 'check', interrupt)
    assert run('check', path) == (INTERRUPTED, '', '')


# -- inspect ----------------------------------------------------------------------------------


def test_inspect_says_what_is_in_it(run: Run, path: Path) -> None:
    before = beside(path)
    code, out, err = run('inspect', path, '--objects', 4, '--log', 6)
    assert (code, err) == (OK, '')
    with SpatialMemory.open(str(path), readonly=True) as memory:
        newest = sorted(memory.objects(), key=lambda o: (-o.last_seen_ns, o.id))
        assert memory.store_id in out
        assert f'objects, last seen first (4 of {len(newest)})' in out
        for one in newest[:4]:
            assert f'{one.center_m[0]:.3f}, {one.center_m[1]:.3f}' in out
        for change in memory.changes()[-6:]:
            assert change.kind.value in out
    for text in ('60 by camera, in map A', 'clip@8 (8, of', 'not a mug', 'anna', '1 forgotten',
                 '1 tombstones bar', '1 properties, 1 relations, 1 events', 'EVENT'):  # fmt: skip
        assert text in out, text
    assert beside(path) == before


def test_inspect_beside_a_writer_shows_sightings_whose_rows_are_not_written_yet(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / 'memory.db'
    with SpatialMemory.open(str(path), Config(confirm_looks=9)) as memory:
        memory.observe(view(1000, seen('cup', (1.0, 0.0, 0.0)), seen('book', (3.0, 0.0, 0.0))))
        memory.observe(view(1001, seen('cup', (1.02, 0.0, 0.0))))
        code, found = as_json(run, 'inspect', path, '--objects', 1)
        assert code == OK
        assert [(o['label'], o['observations']) for o in found['objects']] == [('cup', 2)]


def test_inspect_counts_what_is_there(run: Run, path: Path) -> None:
    code, found = as_json(run, 'inspect', path, '--objects', 1000, '--log', 1000)
    assert code == OK
    with SpatialMemory.open(str(path), readonly=True) as memory:
        assert found['store_id'] == memory.store_id
        assert found['counts']['log_lines'] == found['last_line']['seq'] == memory.seq
        assert {o['id'] for o in found['objects']} == {o.id for o in memory.objects()}
        states = {o.state.value for o in memory.objects()} | {'forgotten'}
        assert set(found['counts']['objects']) == states
        assert sum(found['counts']['objects'].values()) == len(memory.objects()) + 1
        assert [line['seq'] for line in found['log']] == [c.seq for c in memory.changes()]
        [rejected] = memory._database.rows('SELECT count(*), sum(count) FROM rejection')
        assert found['counts']['rejections'] == rejected[0]
        assert found['last_stamp_ns'] == memory.newest_stamp_ns
    assert found['counts']['views'] == 60
    assert found['counts']['tombstones'] == 1
    assert found['feature_spaces'][0] | {'objects': 0} == {
        'name': 'clip@8', 'dimension': 8, 'objects': 0,
    }  # fmt: skip
    assert found['bytes'] == path.stat().st_size
    assert (found['in_use_by'], found['repaired']) == ('', None)
    assert found['schema'] >= 1


def test_inspect_is_bounded_unless_more_is_asked_for(run: Run, path: Path) -> None:
    _, found = as_json(run, 'inspect', path)
    assert (len(found['objects']), len(found['log'])) == (20, 10)
    _, found = as_json(run, 'inspect', path, '--objects', 0, '--log', 0)
    assert (found['objects'], found['log']) == ([], [])


def test_inspect_shows_all_that_is_known_of_one_object(run: Run, path: Path) -> None:
    code, found = as_json(run, 'inspect', path, '--id', 5, '--log', 3)
    assert code == OK
    with SpatialMemory.open(str(path), readonly=True) as memory:
        one = memory.object(5)
        assert found['labels'] == dict(one.labels)
        assert found['state'] == one.state.value
        assert found['center_m'] == list(one.center_m)
        assert len(found['versions']) == len(memory.versions(5))
        assert [s['id'] for s in found['sightings']] == [o.id for o in memory.history(5)[-3:]]
        assert len(found['relations']) == len(memory.relations(5))
    assert found['properties'] == {'colour': 'red'}
    assert [c['kind'] for c in found['changes']] == ['CORRECTED', 'RELATION', 'EVENT']
    code, out, err = run('inspect', path, '--id', 5, '--log', 3)
    assert (code, err) == (OK, '')
    for text in ('part_of', 'stated', 'colour', 'red', 'what was believed', 'last sightings (3 of',
                 'geometry', 'door_opened'):  # fmt: skip
        assert text in out, text


def test_inspect_shows_an_object_that_has_ended(run: Run, path: Path) -> None:
    code, out, _ = run('inspect', path, '--id', 3)
    assert code == OK
    assert 'forgotten' in out and 'not a mug' in out
    code, out, _ = run('inspect', path, '--id', 3, '--log', 0)
    assert code == OK
    assert 'not a mug' not in out


def test_inspect_names_an_id_that_never_was(run: Run, path: Path) -> None:
    code, out, err = run('inspect', path, '--id', 9999)
    assert (code, out) == (CANNOT, '')
    assert '9999' in err and 'ids go from 1 to' in err


def test_inspect_of_an_empty_memory(run: Run, tmp_path: Path) -> None:
    path = tmp_path / 'memory.db'
    SpatialMemory.open(str(path)).close()
    code, out, err = run('inspect', path)
    assert (code, err) == (OK, '')
    assert 'no view yet' in out and 'empty' in out
    code, found = as_json(run, 'inspect', path)
    assert (found['first_stamp_ns'], found['last_line'], found['objects']) == (None, None, [])


def test_text_from_outside_cannot_drive_the_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / 'memory.db'
    with SpatialMemory.open(str(path)) as memory:
        memory.observe(view(1000, seen('[red]mug[/red] :smiley:', track_id='x')))
        memory.set_property(1, 'note', 'a\x1b[31mb\nc')
        memory.record_event('x', {}, 1)
        memory.observe(view(1001, seen('[red]mug[/red] :smiley:', (5, 5, 5))))
        memory.forget(1, 'gone\x1b[2J\r\x07 [bold]', actor='\x9b31m')
    for more in ((), ('--id', '1')):
        code, out, _ = run('inspect', path, *more)
        assert code == OK
        assert not {c for c in out if not c.isprintable()} - {'\n'}
        assert '[red]mug[/red] :smiley:' in out
        assert 'gone\\x1b[2J' in out


# -- check ------------------------------------------------------------------------------------


def test_check_of_a_sound_file_says_clean(run: Run, path: Path) -> None:
    before = beside(path)
    assert run('check', path) == (OK, 'clean\n', '')
    assert as_json(run, 'check', path)[1] == {
        'path': str(path), 'clean': True, 'findings': [], 'unread': [],
    }  # fmt: skip
    assert beside(path) == before


def test_check_lists_every_finding(run: Run, path: Path) -> None:
    tamper(path, 'UPDATE object SET observations = 99 WHERE id IN (2, 4)', 'DELETE FROM tombstone')
    before = beside(path)
    code, out, err = run('check', path)
    assert (code, err) == (FINDINGS, '')
    lines = out.splitlines()
    assert any('sightings are not the observations' in line and '2, 4' in line for line in lines)
    assert any('tombstone' in line for line in lines)
    assert len(lines) == 2
    code, found = as_json(run, 'check', path)
    assert (code, found['clean'], found['findings']) == (FINDINGS, False, lines)
    assert beside(path) == before


def test_check_replays_the_log(run: Run, path: Path) -> None:
    """What only the replay can tell."""
    tamper(path, 'UPDATE object SET confidence = confidence + 0.001 WHERE id = 2')
    code, out, _ = run('check', path)
    assert code == FINDINGS
    assert 'object is not what the log gives' in out


def test_check_of_a_damaged_file_is_a_finding(run: Run, path: Path) -> None:
    for content in (b'', b'noise' * 1000, path.read_bytes()[: path.stat().st_size // 2]):
        path.write_bytes(content)
        code, out, err = run('check', path)
        assert (code, err) == (FINDINGS, '')
        assert out.strip()
        assert path.read_bytes() == content


def test_check_and_inspect_while_another_process_writes(run: Run, tmp_path: Path) -> None:
    path = tmp_path / 'memory.db'
    with child(OPEN_MEMORY, str(path)) as other:
        code, found = as_json(run, 'inspect', path)
        assert code == OK
        assert f'process {other.pid} ' in found['in_use_by']
        assert found['counts']['views'] == 3
        assert found['log_bytes'] > 0
        assert run('check', path) == (OK, 'clean\n', '')
        assert as_json(run, 'inspect', path, '--id', 1)[0] == OK


def test_check_while_this_process_writes(run: Run, path: Path) -> None:
    """What the file says is of one moment, whatever is written meanwhile."""
    with SpatialMemory.open(str(path)) as memory:
        seq = memory.seq
        real = verbs.findings

        def meanwhile(*args: Any) -> list[str]:
            for k, given in enumerate(stream(77, 40)):
                memory.observe(given)
                if k == 20:
                    found = real(*args)
            return found

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(verbs, 'findings', meanwhile)
            assert run('check', path) == (OK, 'clean\n', '')
        assert memory.seq > seq
        assert memory.check() == []


# -- rebuild ----------------------------------------------------------------------------------


def test_rebuild_says_what_was_different(run: Run, path: Path) -> None:
    with SpatialMemory.open(str(path), readonly=True) as memory:
        expected = memory.snapshot_hash()
    code, out, err = run('rebuild', path)
    assert (code, err) == (OK, '')
    assert 'nothing was different' in out
    tamper(path, 'UPDATE object SET confidence = 0.5 WHERE id = 2', 'DELETE FROM property')
    code, found = as_json(run, 'rebuild', path)
    assert (code, found['findings']) == (OK, [])
    assert [text.split()[0] for text in found['different']] == ['object', 'property']
    assert run('check', path)[0] == OK
    with SpatialMemory.open(str(path), readonly=True) as memory:
        assert memory.snapshot_hash() == expected


def test_rebuild_of_what_contradicts_itself_changes_nothing(run: Run, path: Path) -> None:
    tamper(path, "UPDATE log SET object_id = 77 WHERE kind = 'CREATED' AND object_id = 5")
    before = path.read_bytes()
    code, out, _ = run('rebuild', path)
    assert code == FINDINGS
    assert 'memory repair' in out
    assert path.read_bytes() == before


def test_rebuild_of_a_file_in_use_is_refused(run: Run, path: Path) -> None:
    with SpatialMemory.open(str(path)):
        code, _, err = run('rebuild', path)
    assert code == CANNOT
    assert f'process {os.getpid()}' in err


# -- repair -----------------------------------------------------------------------------------


def test_repair_of_a_sound_file_does_nothing(run: Run, path: Path) -> None:
    before = beside(path)
    code, out, err = run('repair', path)
    assert (code, err) == (OK, '')
    assert 'nothing to repair' in out
    assert as_json(run, 'repair', path) == (OK, {'path': str(path), 'clean': True})
    assert beside(path) == before


def test_repair_saves_sets_aside_and_says_so(run: Run, path: Path) -> None:
    with SpatialMemory.open(str(path), readonly=True) as memory:
        last = memory.seq
        [(lost,)] = memory._database.rows('SELECT min(seq) FROM view WHERE seq >= 30')
    tamper(path, f'DELETE FROM log WHERE seq = {lost}')
    damaged = path.read_bytes()
    code, out, err = run('repair', path)
    assert (code, err) == (OK, '')
    assert f'saved log lines 1 to {lost - 1} of {last}: ' in out
    assert f'nothing after log line {lost - 1} could be saved: log line {lost} ' in out
    assert f'{path}.damaged-1' in out
    assert Path(f'{path}.damaged-1').read_bytes() == damaged
    assert run('check', path) == (OK, 'clean\n', '')
    _, found = as_json(run, 'inspect', path)
    assert (found['repaired']['saved'], found['repaired']['of']) == (lost - 1, last)
    assert f'log lines 1 to {lost - 1} of {last}' in run('inspect', path)[1]


def test_repair_into_another_file(run: Run, path: Path, tmp_path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(b'\0' * 16 + content[16:])
    damaged = path.read_bytes()
    new = tmp_path / 'new.db'
    code, said = as_json(run, 'repair', path, '--out', new)
    assert code == OK
    assert said['path'] == str(new)
    assert said['set_aside'] is None
    assert (said['stopped'], said['notes']) == ('', [])
    assert path.read_bytes() == damaged
    assert run('check', new)[0] == OK
    code, _, err = run('repair', path, '--out', new)
    assert code == CANNOT
    assert 'exists already' in err


@pytest.mark.parametrize('content', [b'', b'shopping list\n' * 500])
def test_repair_of_what_holds_nothing_says_so(run: Run, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    before = beside(path)
    code, out, err = run('repair', path)
    assert (code, err) == (FINDINGS, '')
    assert 'nothing could be saved' in out
    assert as_json(run, 'repair', path)[1]['path'] is None
    assert beside(path) == before


def test_repair_of_a_file_in_use_is_refused(run: Run, path: Path) -> None:
    with SpatialMemory.open(str(path)):
        code, out, err = run('repair', path)
    assert (code, out) == (CANNOT, '')
    assert f'process {os.getpid()}' in err
    assert run('check', path)[0] == OK


def test_repair_of_a_file_beside_the_log_of_another_store(
    run: Run, path: Path, tmp_path: Path
) -> None:
    """C31 d, from refusal to a memory that opens again."""
    other = tmp_path / 'elsewhere' / 'other.db'
    other.parent.mkdir()
    memory = SpatialMemory.open(str(other))
    observe_all(memory, stream(9, 80))
    shutil.copyfile(f'{other}-wal', f'{path}-wal')
    memory.close()
    code, out, _ = run('check', path)
    assert code == FINDINGS
    assert 'another store' in out
    code, out, _ = run('repair', path)
    assert code == OK
    assert 'write-ahead log' in out
    assert run('check', path)[0] == OK
    with SpatialMemory.open(str(path)) as mended:
        assert len(mended._database.rows('SELECT seq FROM view')) == 60


# -- snapshot ---------------------------------------------------------------------------------


def test_snapshot_copies_also_what_is_in_use(run: Run, tmp_path: Path) -> None:
    path, new = tmp_path / 'memory.db', tmp_path / 'new.db'
    with child(OPEN_MEMORY, str(path)):
        code, said = as_json(run, 'snapshot', path, new)
        assert code == OK
        assert said['path'] == str(new)
        assert said['bytes'] == new.stat().st_size
        assert run('check', new) == (OK, 'clean\n', '')
        with SpatialMemory.open(str(new), readonly=True) as copy:
            assert copy.seq == said['seq'] > 0
        code, _, err = run('snapshot', path, new)
        assert code == CANNOT
        assert 'exists already' in err


# -- as a process -----------------------------------------------------------------------------


def process(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, '-m', 'memory_node.cli.main', *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=250,
        env={**os.environ, 'PYTHONPATH': str(ROOT)}, **more,
    )  # fmt: skip


def test_it_runs_without_ros_and_returns_its_exit_code(path: Path) -> None:
    done = process('check', str(path))
    assert (done.returncode, done.stdout, done.stderr) == (OK, 'clean\n', '')
    assert process('check', str(path.with_name('nowhere.db'))).returncode == CANNOT
    tamper(path, 'DELETE FROM property')
    assert process('check', str(path)).returncode == FINDINGS


def test_a_reader_that_stops_reading_is_no_error(path: Path) -> None:
    command = f'{sys.executable} -m memory_node.cli.main inspect {path} --objects 1000 | true'
    done = subprocess.run(
        command, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=250,
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (OK, '')


# -- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('stamp_ns', 'text'),
    [
        (0, '0.000 s'),
        (1_000_050_000_000, '1000.050 s'),
        (1_709_320_098_250_000_000, '2024-03-01 19:08:18.250Z'),
        (SCALED * 10**9, '2033-05-18 03:33:20.000Z'),
        (2**63 - 1, '2262-04-11 23:47:16.854Z'),
    ],
)
def test_moments(stamp_ns: int, text: str) -> None:
    assert moment(stamp_ns) == text


@pytest.mark.parametrize(
    ('count', 'text'),
    [
        (0, '0 bytes'),
        (9999, '9999 bytes'),
        (10_000, '10.0 kB'),
        (237_568, '237.6 kB'),
        (5_400_000_000, '5.4 GB'),
        (10**16, '10000.0 TB'),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


def test_printable() -> None:
    assert printable('Tür 扉 🚪 [x]') == 'Tür 扉 🚪 [x]'
    assert printable('a\x1b[31m\u202eb\n') == 'a\\x1b[31m\\u202eb\\n'
