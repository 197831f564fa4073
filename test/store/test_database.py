# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Opening, migrating and writing the file; what is not ours is refused and stays as it was."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest
from views import observe_all, seen, stream, view

from memory_node import SpatialMemory
from memory_node.errors import (
    DamagedStoreError,
    NewerSchemaError,
    ReadOnlyError,
    StoreBusyError,
    StoreError,
    StoreInUseError,
)
from memory_node.store import database as module
from memory_node.store.database import MEMORY, Database, migrations
from memory_node.store.opening import APPLICATION_ID


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with a few views in it, closed."""
    target = tmp_path / 'memory.db'
    with SpatialMemory.open(str(target)) as memory:
        observe_all(memory, stream(1, 10))
    return target


# -- a new file ------------------------------------------------------------------------------


def test_a_new_file_carries_our_mark_and_the_newest_schema(tmp_path: Path) -> None:
    database = Database(str(tmp_path / 'new.db'))
    assert database.connection.pragma('application_id') == APPLICATION_ID
    assert database.connection.pragma('user_version') == migrations()[-1][0]
    assert database.connection.pragma('journal_mode') == 'wal'
    assert database.connection.pragma('foreign_keys') == 1
    database.close()


def test_migrations_are_numbered_without_gaps() -> None:
    numbers = [number for number, _ in migrations()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_c31_g_a_tilde_is_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('HOME', str(tmp_path))
    with SpatialMemory.open('~/memory.db') as memory:
        memory.observe(view(1000, seen()))
    assert (tmp_path / 'memory.db').is_file()
    assert not Path('~').exists()


def test_closing_leaves_one_file_that_says_everything(path: Path) -> None:
    """CH-3: one file."""
    left = {p.name for p in path.parent.iterdir()} - {'memory.db.lock'}
    assert left == {'memory.db'}
    assert apsw.Connection(str(path)).execute('SELECT count(*) FROM view').get == 10


def test_memory_keeps_nothing_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with SpatialMemory.open(MEMORY) as memory:
        observe_all(memory, stream(1, 5))
        assert memory.durable_seq == memory.seq
    assert list(tmp_path.iterdir()) == []


# -- transactions ----------------------------------------------------------------------------


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    database = Database(str(tmp_path / 'new.db'))
    for error in (ValueError('ours'), KeyboardInterrupt(), apsw.FullError('disk full')):
        expected = StoreError if isinstance(error, apsw.Error) else type(error)
        with pytest.raises(expected), database.transaction() as connection:
            connection.execute("INSERT INTO meta VALUES ('a', 'b')")
            raise error
        assert database.rows('SELECT * FROM meta') == []
    with database.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES ('a', 'b')")
    assert database.rows('SELECT * FROM meta') == [('a', 'b')]
    database.close()


def test_a_constraint_that_fails_is_a_store_error_that_names_the_file(tmp_path: Path) -> None:
    database = Database(str(tmp_path / 'new.db'))
    with (
        pytest.raises(StoreError, match=r"cannot write to '.*new\.db'"),
        database.transaction() as connection,
    ):
        connection.execute("INSERT INTO meta VALUES ('a', 'b')")
        connection.execute("INSERT INTO object_feature VALUES (7, x'00')")  # no object 7
    assert database.rows('SELECT * FROM meta') == []
    with pytest.raises(StoreError, match=r"cannot read '.*new\.db'"):
        database.rows('SELECT * FROM nowhere')
    database.close()


def test_c30_a_lock_held_by_another_program_is_said(path: Path) -> None:
    database = Database(str(path))
    other = apsw.Connection(str(path))
    other.execute('BEGIN IMMEDIATE')
    with pytest.raises(StoreBusyError, match='locked'), database.transaction():
        pytest.fail('it was not locked')
    other.execute('ROLLBACK')
    with database.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES ('a', 'b')")
    other.close()
    database.close()


# -- migrations ------------------------------------------------------------------------------

SECOND_STEP = 'CREATE TABLE extra (x); INSERT INTO extra VALUES (7);'


def test_an_older_file_is_brought_forward_and_says_so(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = migrations()[-1][0]
    steps = [*migrations(), (newest + 1, SECOND_STEP)]
    monkeypatch.setattr(module, 'migrations', lambda: steps)
    for _ in range(2):  # and is applied once only
        database = Database(str(path))
        assert database.rows('SELECT x FROM extra') == [(7,)]
        assert database.connection.pragma('user_version') == newest + 1
        assert database.rows('SELECT count(*) FROM view') == [(10,)]
        database.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = migrations()[-1][0]
    steps = [*migrations(), (newest + 1, f'{SECOND_STEP} INSERT INTO nowhere VALUES (1);')]
    with monkeypatch.context() as patch:
        patch.setattr(module, 'migrations', lambda: steps)
        with pytest.raises(StoreError, match=r'memory\.db'):
            Database(str(path))
    with SpatialMemory.open(str(path)) as memory:
        assert memory._database.connection.pragma('user_version') == newest
        assert memory.check() == []
        assert memory._database.rows("SELECT 1 FROM sqlite_master WHERE name = 'extra'") == []


def test_a_migration_is_one_transaction(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No reader ever sees the tables of one schema with the number of another."""
    newest = migrations()[-1][0]
    seen_by_others = []

    def steps() -> list[tuple[int, str]]:
        return [*migrations_before(), (newest + 1, SECOND_STEP)]

    migrations_before = module.migrations
    monkeypatch.setattr(module, 'migrations', steps)
    real = apsw.Connection.execute

    class Watched(apsw.Connection):
        def execute(self, *args: Any, **more: Any) -> Any:
            other = apsw.Connection(str(path))
            tables = real(other, "SELECT count(*) FROM sqlite_master WHERE name = 'extra'").get
            seen_by_others.append((tables, other.pragma('user_version')))
            other.close()
            return super().execute(*args, **more)

    monkeypatch.setattr(apsw, 'Connection', Watched)
    monkeypatch.setattr(module.apsw, 'Connection', Watched)
    Database(str(path)).close()
    assert set(seen_by_others) == {(0, newest), (1, newest + 1)}


def test_two_migrations_are_applied_in_their_order(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = migrations()[-1][0]
    more = [(newest + 1, SECOND_STEP), (newest + 2, 'UPDATE extra SET x = x + 1;')]
    steps = [*migrations(), *more]
    monkeypatch.setattr(module, 'migrations', lambda: steps)
    database = Database(str(path))
    assert database.rows('SELECT x FROM extra') == [(8,)]
    assert database.connection.pragma('user_version') == newest + 2
    database.close()


def test_a_memory_goes_on_after_a_migration(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [
        *migrations(),
        (migrations()[-1][0] + 1, 'ALTER TABLE object ADD COLUMN extra INTEGER'),
    ]
    with SpatialMemory.open(str(path)) as memory:
        expected = memory.objects()
    monkeypatch.setattr(module, 'migrations', lambda: steps)
    with SpatialMemory.open(str(path)) as memory:
        assert memory.objects() == expected
        memory.observe(view(2000, seen()))
        assert memory.check() == []


# -- what cannot be opened -------------------------------------------------------------------


def refused(target: Path, error: type[StoreError], match: str) -> None:
    """Opening is refused, the path is named, and the file stays as it was, byte for byte."""
    before = target.read_bytes() if target.is_file() else None
    beside = {p.name for p in target.parent.iterdir()} if target.parent.is_dir() else set()
    with pytest.raises(error, match=match) as caught:
        SpatialMemory.open(str(target))
    assert str(target) in str(caught.value)
    if before is not None:
        assert target.read_bytes() == before
    if target.parent.is_dir():
        after = {p.name for p in target.parent.iterdir()}
        assert after - beside <= {f'{target.name}.lock'}


def test_c31_another_programs_file_is_refused(tmp_path: Path) -> None:
    target = tmp_path / 'theirs.db'
    connection = apsw.Connection(str(target))
    connection.execute('CREATE TABLE track (id); INSERT INTO track VALUES (1)').fetchall()
    connection.close()
    refused(target, StoreError, 'another program')


def test_c31_a_newer_schema_is_refused(path: Path) -> None:
    """CH-4: a newer schema is refused."""
    connection = apsw.Connection(str(path))
    connection.pragma('user_version', 999)
    connection.close()
    refused(path, NewerSchemaError, 'schema 999.*newer spatial_memory')


def test_c31_a_damaged_header_is_refused(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(b'\x00' * 16 + content[16:])
    refused(path, DamagedStoreError, 'damaged')


def test_c31_a_noise_after_a_correct_header_is_refused(path: Path, tmp_path: Path) -> None:
    noise = bytes((k * 97 + k // 7) % 256 for k in range(4096))
    path.write_bytes(path.read_bytes()[:100] + noise)
    refused(path, DamagedStoreError, 'damaged')


def test_c31_b_an_empty_file_is_no_first_run(tmp_path: Path) -> None:
    target = tmp_path / 'empty.db'
    target.touch()
    refused(target, DamagedStoreError, 'empty')


def test_c31_c_a_file_that_was_cut_is_refused(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    refused(path, DamagedStoreError, 'cut')


def test_c31_text_is_refused(tmp_path: Path) -> None:
    target = tmp_path / 'notes.txt'
    target.write_text('shopping list\n' * 100)
    refused(target, DamagedStoreError, 'SQLite')


def test_c31_h_a_folder_is_refused(tmp_path: Path) -> None:
    target = tmp_path / 'folder.db'
    target.mkdir()
    refused(target, StoreError, 'folder')


def test_c31_e_a_missing_folder_is_named(tmp_path: Path) -> None:
    refused(tmp_path / 'not' / 'there' / 'memory.db', StoreError, 'does not exist')


def test_c31_d_the_log_of_another_store_beside_it_is_refused(path: Path, tmp_path: Path) -> None:
    other = tmp_path / 'other.db'
    memory = SpatialMemory.open(str(other))
    observe_all(memory, stream(2, 30))
    foreign = Path(f'{other}-wal').read_bytes()
    memory.close()
    assert foreign
    log = Path(f'{path}-wal')
    log.write_bytes(foreign)
    before = path.read_bytes()
    with pytest.raises(DamagedStoreError, match=r'memory\.db'):
        SpatialMemory.open(str(path))
    assert path.read_bytes() == before
    assert log.read_bytes() == foreign
    log.unlink()
    with SpatialMemory.open(str(path)) as memory:
        assert memory.check() == []


@contextmanager
def locked_folder(*files: Path) -> Iterator[Path]:
    """A folder with copies of files that nobody may write to; root plays nobody meanwhile."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in files:
            shutil.copyfile(file, folder / file.name)
            (folder / file.name).chmod(0o444)
        folder.chmod(0o555)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)
        try:
            yield folder
        finally:
            if root:
                os.seteuid(0)
            folder.chmod(0o755)


def test_c31_f_a_folder_that_is_read_only_is_refused(path: Path) -> None:
    with locked_folder(path) as folder:
        refused(folder / path.name, StoreError, 'Permission denied')
        refused(folder / 'new.db', StoreError, 'Permission denied')
        assert not (folder / 'new.db').exists()


def test_c31_f_a_file_in_a_folder_that_is_read_only_can_be_read(path: Path) -> None:
    with SpatialMemory.open(str(path)) as memory:
        expected = memory.snapshot_hash()
    with locked_folder(path) as folder:
        with SpatialMemory.open(str(folder / path.name), readonly=True) as memory:
            assert memory.check() == []
            assert memory.snapshot_hash() == expected
        assert [p.name for p in folder.iterdir()] == [path.name]


def test_c31_a_log_whose_file_is_gone_is_refused(tmp_path: Path) -> None:
    (tmp_path / 'memory.db-wal').write_bytes(b'x' * 5000)
    with pytest.raises(DamagedStoreError, match='gone'):
        SpatialMemory.open(str(tmp_path / 'memory.db'))
    assert not (tmp_path / 'memory.db').exists()


def test_what_was_refused_can_be_opened_once_it_is_put_right(path: Path) -> None:
    """A refusal leaves no lock behind."""
    content = path.read_bytes()
    path.write_bytes(content[:5000])
    with pytest.raises(StoreError):
        SpatialMemory.open(str(path))
    path.write_bytes(content)
    with SpatialMemory.open(str(path)) as memory:
        assert memory.check() == []
        assert len(memory.objects()) > 0


# -- set aside, locks, reading, copies -------------------------------------------------------


def test_c31_recover_sets_a_damaged_file_aside_and_starts_empty(path: Path) -> None:
    for number in (1, 2):
        path.write_bytes(b'%d' % number * 600)
        database = Database(str(path), recover=True)
        assert database.set_aside == Path(f'{path}.damaged-{number}')
        assert database.rows('SELECT count(*) FROM view') == [(0,)]
        database.close()
    for number in (1, 2):
        assert Path(f'{path}.damaged-{number}').read_bytes() == b'%d' % number * 600


def test_recover_never_sets_a_sound_file_aside(path: Path) -> None:
    database = Database(str(path), recover=True)
    assert database.set_aside is None
    assert database.rows('SELECT count(*) FROM view') == [(10,)]
    database.close()


def test_recover_never_sets_another_programs_file_aside(tmp_path: Path) -> None:
    target = tmp_path / 'theirs.db'
    connection = apsw.Connection(str(target))
    connection.execute('CREATE TABLE track (id)').fetchall()
    connection.close()
    with pytest.raises(StoreError, match='another program'):
        Database(str(target), recover=True)
    assert {p.name for p in tmp_path.iterdir()} - {'theirs.db.lock'} == {'theirs.db'}


def test_a_second_writer_is_refused_and_told_who_holds_it(path: Path) -> None:
    first = Database(str(path))
    with pytest.raises(StoreInUseError, match=r'memory\.db.*process \d+'):
        Database(str(path))
    first.close()
    Database(str(path)).close()


def test_a_reader_beside_a_writer_sees_what_is_committed_and_writes_nothing(path: Path) -> None:
    writer = Database(str(path))
    reader = Database(str(path), readonly=True)
    with writer.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES ('a', 'b')")
    assert reader.rows("SELECT value FROM meta WHERE key = 'a'") == [('b',)]
    with pytest.raises(ReadOnlyError), reader.transaction():
        pytest.fail('it may not write')
    reader.close()
    writer.close()


def test_a_reader_never_makes_a_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match='does not exist'):
        Database(str(tmp_path / 'memory.db'), readonly=True)
    assert list(tmp_path.iterdir()) == []


def test_a_copy_is_complete_and_never_overwrites(path: Path, tmp_path: Path) -> None:
    database = Database(str(path))
    database.copy_to(str(tmp_path / 'copy.db'))
    with pytest.raises(StoreError, match='exists already'):
        database.copy_to(str(tmp_path / 'copy.db'))
    database.close()
    with (
        SpatialMemory.open(str(tmp_path / 'copy.db')) as copy,
        SpatialMemory.open(str(path)) as original,
    ):
        assert copy.snapshot_hash() == original.snapshot_hash()
        assert copy.store_id == original.store_id
        assert copy.check() == []


# -- durability ------------------------------------------------------------------------------


@pytest.mark.parametrize(('durability', 'level'), [('process', 1), ('power', 2)])
def test_how_much_a_commit_survives(tmp_path: Path, durability: str, level: int) -> None:
    database = Database(str(tmp_path / 'new.db'), durability)
    assert database.connection.pragma('synchronous') == level  # 1: NORMAL, 2: FULL
    # Under `power` a commit is durable at once; else only what was synced is.
    assert database.durable_seq(9) == (9 if durability == 'power' else 0)
    database.close()


def test_what_was_there_at_opening_is_durable(path: Path) -> None:
    with SpatialMemory.open(str(path)) as memory:
        assert memory.durable_seq == memory.seq > 0
