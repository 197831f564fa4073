# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The verbs by which a person changes what is remembered: what they do, say and refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from children import OPEN_MEMORY, child
from views import observe_all, seen, view

from memory_node import Config, SpatialMemory
from memory_node.cli.main import CANNOT, OK, main
from memory_node.model import ChangeKind, State

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A closed file with a keepsake and a bowl."""
    target = str(tmp_path / 'memory.db')
    with SpatialMemory.open(target) as memory:
        things = [seen('keepsake', (0.0, 0.0, 1.0)), seen('bowl', (4.0, 0.0, 1.0))]
        memory.observe(view(1000, things[0]))
        observe_all(memory, [view(1002 + 2 * k, *things) for k in range(2)])
        assert [o.label for o in memory.objects()] == ['keepsake', 'bowl']
    return target


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command; returns its exit code, output and errors."""

    def call(*arguments: object) -> tuple[int, str, str]:
        try:
            code = main([str(a) for a in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
        return code, *capsys.readouterr()

    return call


def done(run: Run, *arguments: object) -> dict[str, Any]:
    """What a verb that must succeed says as JSON."""
    code, out, err = run(*arguments, '--json')
    assert (code, err) == (OK, ''), err
    found: dict[str, Any] = json.loads(out)
    return found


def test_each_correction_is_written_with_who_and_why(path: str, run: Run) -> None:
    why = ('--reason', 'it is hers', '--actor', 'Ada')
    line = done(run, 'correct', path, 'relabel', 1, "Ada's keepsake", *why)['seq']
    done(run, 'correct', path, 'move', 1, -0.5, 0, 1)
    done(run, 'correct', path, 'resize', 1, 0.2, 0.2, 0.3)
    done(run, 'correct', path, 'confirm', 1, '--confidence', 0.9)
    done(run, 'correct', path, 'unpin', 1, 'size')
    done(run, 'correct', path, 'pin', 1, 'size')
    new = done(run, 'correct', path, 'assert', 'tap', 9, 0, 1, '--size', 0.1, 0.1, 0.1)
    with SpatialMemory.open(path) as memory:
        keepsake = memory.object(1)
        assert (keepsake.label, keepsake.center_m, keepsake.size_m) == (
            "Ada's keepsake",
            (-0.5, 0, 1),
            (0.2, 0.2, 0.3),
        )
        assert (keepsake.confidence, set(keepsake.pins)) == (0.9, {'label', 'pose', 'size'})
        assert memory.object(new['changes'][0]['object_id']).stated
        (change,) = memory.changes(since_seq=line - 1, limit=1)
        assert (change.actor, change.reason) == ('Ada', 'it is hers')
        assert memory.changes(since_seq=line, limit=1)[0].actor == 'command line'
    code, out, _ = run('correct', path, 'undo', line)
    assert (code, out) == (OK, f'line {new["seq"] + 1}: CORRECTED object 1\n')
    with SpatialMemory.open(path) as memory:
        assert memory.object(1).label == 'keepsake'
        assert memory.check() == []


def test_forget_for_a_time_and_bring_back(path: str, run: Run) -> None:
    (change,) = done(run, 'forget', path, 1, '--for', 60)['changes']
    assert change['after'] == {'until_ns': (1004 + 60) * 10**9}
    done(run, 'forget', path, 1, '--undo')
    with SpatialMemory.open(path) as memory:
        assert memory.object(1).state is State.CONFIRMED


@pytest.mark.parametrize(
    'what',
    [('--id', 1), ('--label', 'Keepsake'), ('--region', -1, -1, 0, 1, 1, 2)],
    ids=['id', 'label', 'region'],
)
def test_purge(path: str, run: Run, what: tuple[object, ...]) -> None:
    said = done(run, 'purge', path, *what, '--reason', 'private', '--actor', 'Ada')
    assert (said['objects'], said['sightings'], said['erased']) == (1, 3, True)
    assert b'keepsake' not in Path(path).read_bytes()
    with SpatialMemory.open(path) as memory:
        assert [o.label for o in memory.objects()] == ['bowl']
        assert memory.changes()[-1].kind is ChangeKind.PURGED
        assert memory.check() == []
    code, out, _ = run('purge', path, '--person', 'nobody')
    assert (code, out) == (
        OK,
        '0 objects, 0 sightings and 0 log lines have no content any more\n',
    )


def test_merge_split_and_consolidate(path: str, run: Run) -> None:
    done(run, 'merge', path, 1, 2)
    (first, second) = done(run, 'split', path, 1)['changes']
    assert (first['kind'], second['kind']) == ('SPLIT', 'CREATED')
    with SpatialMemory.open(path, Config(merge_score=1.0)) as memory:
        memory.observe(view(1010, seen('keepsake', (0.04, 0.0, 1.0))))
    said = done(run, 'consolidate', path)
    assert [(m['kept'], m['merged']) for m in said['merges']] == [(1, 4)]
    code, out, _ = run('consolidate', path)
    assert (code, out.splitlines()[-1]) == (OK, '0 of 2 objects were merged into others')


def test_what_cannot_be_done_is_said(path: str, run: Run) -> None:
    for arguments, words in (
        (('correct', path, 'relabel', 9, 'urn'), 'no object has the id 9'),
        (('correct', path, 'relabel', 1, ''), 'label: got'),
        (('correct', path, 'unpin', 1, 'pose'), 'is not pinned'),
        (('correct', path, 'pin', 1, 'colour'), 'expected some of label'),
        (('correct', path, 'undo', 1), 'line 1 is of kind VIEW'),
        (('forget', path, 1, '--undo'), 'expected one that was forgotten'),
        (('split', path, 1), 'do not form two groups'),
        (('merge', path, 1, 1), 'expected two objects'),
        (('purge', path, '--label', 'keepsake', '--reason', 'a keepsake'), 'names the label'),
        (('forget', f'{path}.none', 1), 'does not exist'),
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (CANNOT, '')
        assert words in err, arguments
    assert not Path(f'{path}.none').exists()


@pytest.mark.parametrize(
    'arguments',
    [
        ('correct', 'F'), ('correct', 'F', 'paint', 1),
        ('correct', 'F', 'relabel', 'keepsake', 'urn'),
        ('correct', 'F', 'move', 1, 0, 0), ('correct', 'F', 'move', 1, 0, 0, 'nan'),
        ('forget', 'F'), ('forget', 'F', 1, '--for', 0), ('forget', 'F', 1, '--for', 'long'),
        ('purge', 'F'), ('purge', 'F', '--id', 1, '--label', 'keepsake'),
        ('purge', 'F', '--region', 1, 2, 3), ('split', 'F', 0), ('merge', 'F', 1),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_usage(run: Run, arguments: tuple[object, ...]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (CANNOT, '')
    assert 'usage: memory' in err


def test_a_file_in_use_is_left_alone(path: str, run: Run) -> None:
    with child(OPEN_MEMORY, path):
        code, _, err = run('forget', path, 1)
    assert code == CANNOT
    assert 'open' in err
    with SpatialMemory.open(path) as memory:
        assert memory.object(1).state is State.CONFIRMED


def test_help_names_every_operation(run: Run) -> None:
    code, out, _ = run('correct', '--help')
    assert code == OK
    for word in ('relabel', 'move', 'resize', 'confirm', 'assert', 'pin', 'unpin', 'undo'):
        assert f' {word} ' in out


def test_each_act_of_the_robot_is_reported(path: str, run: Run) -> None:
    why = ('--reason', 'tidying up', '--actor', 'butler')
    acts = {
        'picked': ((1,), 'HELD'), 'placed': ((1, 2.0, 0.5, 1.0), 'MOVED'),
        'put_inside': ((1, 2), 'MOVED'), 'opened': ((2,), 'EVENT'), 'closed': ((2,), 'EVENT'),
        'not_found': ((2,), 'EVENT'),
    }  # fmt: skip
    for act, (about, kind) in acts.items():
        found = done(run, 'report', path, act, *about, *why)
        assert [c['kind'] for c in found['changes']] == [kind], act
    done(run, 'correct', path, 'absent', 2, *why)
    with SpatialMemory.open(path, readonly=True) as memory:
        assert [e.type for e in memory.events()] == list(acts)
        assert memory.object(2).state is State.ABSENT
        lines = [c for c in memory.changes() if c.actor == 'butler']
        assert len(lines) == 7 and all('tidying up' in c.reason for c in lines)
        assert memory.check() == []
    code, _, error = run('report', path, 'picked', 99)
    assert code == CANNOT and 'no object has the id 99' in error
