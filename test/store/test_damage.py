# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""C31: a damaged file is refused with the repair command, never half opened, never overwritten."""

from __future__ import annotations

import random
from pathlib import Path

import apsw
import pytest
from damage import PAGE, damage
from views import observe_all, seen, stream, view

from memory_node import Config, SpatialMemory
from memory_node.cli.main import CANNOT, FINDINGS, OK, main
from memory_node.errors import DamagedStoreError, SpatialMemoryError, StoreError

ROUNDS, LONG_ROUNDS = 15, 400


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed file, with something forgotten and something rejected."""
    target = tmp_path / 'memory.db'
    with SpatialMemory.open(str(target)) as memory:
        observe_all(memory, stream(3, 60))
        memory.forget(3)
    return target


UNLOADABLE = {
    'a state that is none': "UPDATE object SET state = 'gone' WHERE id = 2",
    'half a record': 'UPDATE object SET record = substr(record, 1, 99) WHERE id = 2',
    'a record and a half': "UPDATE object SET record = record || x'0011' WHERE id = 2",
    'the record of another': (
        'UPDATE object SET record = (SELECT record FROM object WHERE id = 1) WHERE id = 2'
    ),
    'a record with a label that is none': (
        "UPDATE object SET record = record || x'63000000' || zeroblob(8) WHERE id = 2"
    ),
    'half a feature': "UPDATE object_feature SET feature = x'001122' WHERE object_id = 2",
    'another name of a label': "UPDATE label SET name = 'another' WHERE number = 2",
    'a label less': 'DELETE FROM label WHERE number = 2',
    'a label of another number': "INSERT INTO label VALUES (99, 'never seen')",
    'a label that is a blob': "UPDATE rejection SET label = x'00' WHERE id = 1",
    'no objects': 'DROP TABLE object',
    'no tombstones': 'DROP TABLE tombstone',
    'no labels': 'DROP TABLE label',
}


def tamper(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    assert connection.changes() or statement.startswith('DROP'), 'changed nothing'
    connection.close()


@pytest.mark.parametrize('readonly', [False, True])
@pytest.mark.parametrize('what', UNLOADABLE)
def test_c31_what_cannot_be_loaded_is_refused_as_damage(
    path: Path, what: str, readonly: bool
) -> None:
    tamper(path, UNLOADABLE[what])
    before = path.read_bytes()
    with pytest.raises(DamagedStoreError, match=f'memory repair {path}'):
        SpatialMemory.open(str(path), readonly=readonly)
    assert path.read_bytes() == before
    assert main(['repair', str(path)]) == OK  # and the command does what was promised
    with SpatialMemory.open(str(path)) as memory:
        assert memory.check() == []


def test_c31_recover_also_sets_aside_what_cannot_be_loaded(path: Path) -> None:
    tamper(path, UNLOADABLE['a state that is none'])
    before = path.read_bytes()
    with SpatialMemory.open(str(path), recover=True) as memory:
        assert any('damaged-1' in text for text in memory.notices)
        assert memory.objects() == []
        memory.observe(view(1000, seen()))
        assert memory.check() == []
        with pytest.raises(StoreError, match='process'):  # the lock was never given away
            SpatialMemory.open(str(path))
    assert Path(f'{path}.damaged-1').read_bytes() == before
    with SpatialMemory.open(str(path)) as memory:
        assert len(memory.objects()) == 1


def test_c31_nothing_is_written_before_it_could_be_loaded(path: Path) -> None:
    """Not even the settings of whoever tries."""
    tamper(path, UNLOADABLE['a state that is none'])
    before = path.read_bytes()
    with pytest.raises(DamagedStoreError):
        SpatialMemory.open(str(path), Config(blend=0.77))
    assert path.read_bytes() == before


def test_c31_a_fault_in_a_page_that_is_read_later_is_found(path: Path) -> None:
    connection = apsw.Connection(str(path))
    [*_, page, _] = connection.execute(
        "SELECT pageno FROM dbstat WHERE name = 'observation' ORDER BY 1"
    ).fetchall()
    connection.close()
    with path.open('r+b') as file:
        file.seek((page[0] - 1) * PAGE)
        file.write(b'\x99' * PAGE)
    with SpatialMemory.open(str(path), readonly=True) as memory:
        assert any('damaged' in text or 'malformed' in text for text in memory.check())


@pytest.mark.parametrize(
    ('statement', 'finding'),
    [
        ("UPDATE object SET labels = '{' WHERE id = 2", 'object is not what the log gives'),
        ("UPDATE object SET x = 'here' WHERE id = 2", 'object is not what the log gives'),
        (
            "UPDATE view SET sensor_pose = x'0011' WHERE seq = (SELECT max(look_seq) FROM object)",
            'the log cannot be replayed',
        ),
        ("INSERT INTO label SELECT count(*), 'never seen' FROM label", 'label is not what the log'),
    ],
)
def test_c31_what_opening_need_not_read_is_found_by_check(
    path: Path, statement: str, finding: str
) -> None:
    with SpatialMemory.open(str(path)) as memory:
        expected = memory.objects()
    tamper(path, statement)
    with SpatialMemory.open(str(path)) as memory:
        assert memory.objects() == expected
        assert any(finding in text for text in memory.check())
    assert main(['check', str(path)]) == FINDINGS


@pytest.mark.timeout(900)
def test_c31_any_damage_is_refused_or_found_in_words(
    path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    """No error but our own reaches the caller, and the command line ends with its own codes."""
    good = path.read_bytes()
    draw = random.Random('open')
    refused = 0
    for _ in range(LONG_ROUNDS if request.config.getoption('--long') else ROUNDS):
        damaged = damage(bytearray(good), draw)
        for end in ('-wal', '-shm'):
            Path(f'{path}{end}').unlink(missing_ok=True)
        path.write_bytes(damaged)
        assert main(['check', str(path)]) in (OK, FINDINGS)
        assert main(['inspect', str(path)]) in (OK, CANNOT)
        assert path.read_bytes() == damaged
        try:
            with SpatialMemory.open(str(path)) as memory:
                memory.check()
        except SpatialMemoryError as error:
            refused += 1
            assert 'memory repair' in str(error)
            assert path.read_bytes() == damaged
        path.write_bytes(damaged)
        assert main(['rebuild', str(path)]) in (OK, FINDINGS, CANNOT)
        assert 'Traceback' not in ''.join(capsys.readouterr())
    assert refused


def test_a_checkpoint_that_was_killed_half_way_is_no_damage(tmp_path: Path) -> None:
    """The file alone makes no sense then; with its write-ahead log it is whole."""
    path, killed = tmp_path / 'memory.db', tmp_path / 'killed.db'
    with SpatialMemory.open(str(path)) as memory:
        observe_all(memory, stream(1, 20))
    with SpatialMemory.open(str(path)) as memory:
        digest = memory.snapshot_hash()
        memory._database.connection.execute('VACUUM')  # all pages are in the log now
        for end in ('', '-wal'):
            Path(f'{killed}{end}').write_bytes(Path(f'{path}{end}').read_bytes())
    with killed.open('r+b') as file:
        size = killed.stat().st_size
        file.seek(4096)
        file.write(b'\xff' * (size - 4096))
    with SpatialMemory.open(str(killed)) as memory:
        assert memory.snapshot_hash() == digest
        assert memory.check() == []
