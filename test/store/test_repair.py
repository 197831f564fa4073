# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a damaged file still says is saved, no more is claimed, and it is itself left alone."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from damage import PAGE, damage
from views import observe_all, seen, stream, view

from memory_node import Config, SpatialMemory
from memory_node.errors import NewerSchemaError, StoreError, StoreInUseError
from memory_node.fusion.classes import load_classes
from memory_node.store import audit, opening
from memory_node.store import repair as module
from memory_node.store.repair import Saved, repair
from memory_node.store.salvage import Attempt

ROUNDS, LONG_ROUNDS = 12, 300


def fill(memory: SpatialMemory, views: int = 120) -> None:
    """Views, and every kind of line that a caller can cause."""
    half = views // 2
    observe_all(memory, list(stream(3, views))[:half])
    memory.forget(3, 'not a mug')
    memory.set_property(5, 'colour', 'red')
    memory.state_relation(5, 'part_of', 6)
    memory.record_event('door_opened', {'angle_deg': 40}, 5)
    observe_all(memory, list(stream(3, views))[half:])
    memory.restore(3)


@pytest.fixture(scope='module')
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound file; it is never touched."""
    path = tmp_path_factory.mktemp('good') / 'memory.db'
    with SpatialMemory.open(str(path)) as memory:
        fill(memory)
        assert memory.check() == []
    return path


@pytest.fixture
def path(tmp_path: Path, good: Path) -> Path:
    """A copy of the sound file, to be damaged."""
    target = tmp_path / 'memory.db'
    shutil.copyfile(good, target)
    return target


def log_of(path: Path, seq: int = 2**62) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(path))
    rows = connection.execute('SELECT * FROM log WHERE seq <= ? ORDER BY seq', (seq,)).fetchall()
    connection.close()
    return rows


def store_id(path: Path) -> str:
    connection = apsw.Connection(str(path))
    found = connection.execute("SELECT value FROM meta WHERE key = 'store_id'").get
    connection.close()
    return str(found)


def run_sql(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for sql in statements:
        connection.execute(sql)
    connection.close()


def pages_of(path: Path, *tables: str) -> list[int]:
    """Numbers of the pages of these tables, after their first."""
    connection = apsw.Connection(str(path))
    rows = connection.execute(
        'SELECT pageno FROM dbstat WHERE name IN (SELECT value FROM json_each(?)) ORDER BY 1',
        (json.dumps(tables),),
    ).fetchall()
    connection.close()
    return [int(row[0]) for row in rows]


def overwrite(path: Path, page: int, content: bytes) -> None:
    with path.open('r+b') as file:
        file.seek((page - 1) * PAGE)
        file.write(content)


def beside(path: Path) -> set[str]:
    return {p.name for p in path.parent.iterdir()} - {f'{path.name}.lock'}


def repaired(path: Path, good: Path) -> Saved:
    """Repair in place; what is saved is an exact prefix, and the damaged file is as it was."""
    before = path.read_bytes()
    saved = repair(str(path))
    assert saved.path == path
    assert saved.set_aside == Path(f'{path}.damaged-1')
    assert saved.set_aside.read_bytes() == before
    assert beside(path) == {'memory.db', 'memory.db.damaged-1'}
    assert log_of(path) == log_of(good, saved.seq)
    with SpatialMemory.open(str(path)) as memory:
        assert memory.check() == []
        assert memory.seq == saved.seq
        counts = [memory._database.rows(f'SELECT count(*) FROM {t}')[0][0] for t in TABLES]
        assert [saved.views, saved.observations, saved.objects] == counts
        memory.observe(view(5000, seen()))  # and it goes on
        assert memory.check() == []
    return saved


TABLES = ('view', 'observation', 'object')


def nothing_saved(path: Path) -> Saved:
    """Nothing can be saved, and everything is as it was."""
    before = path.read_bytes()
    names = beside(path)
    saved = repair(str(path))
    assert (saved.path, saved.set_aside, saved.seq) == (None, None, 0)
    assert saved.stopped
    assert path.read_bytes() == before
    assert beside(path) == names
    return saved


def everything_saved(path: Path, good: Path) -> Saved:
    whole = hash_of(good)
    saved = repaired_untouched(path, good)
    assert (saved.seq, saved.stopped) == (len(log_of(good)), '')
    assert hash_of(path) == whole
    return saved


def repaired_untouched(path: Path, good: Path) -> Saved:
    """Like `repaired`, without going on."""
    before = path.read_bytes()
    saved = repair(str(path))
    assert saved.set_aside is not None
    assert saved.set_aside.read_bytes() == before
    assert log_of(path) == log_of(good, saved.seq)
    return saved


def hash_of(path: Path) -> str:
    with SpatialMemory.open(str(path), readonly=True) as memory:
        assert memory.check() == []
        return memory.snapshot_hash()


# -- the damage of C31 -----------------------------------------------------------------------


def test_c31_a_of_noise_nothing_can_be_saved(path: Path) -> None:
    noise = random.Random(1).randbytes(4096)
    path.write_bytes(path.read_bytes()[:100] + noise)
    nothing_saved(path)


def test_c31_b_of_nothing_nothing_can_be_saved(path: Path) -> None:
    path.write_bytes(b'')
    assert 'empty' in nothing_saved(path).stopped


@pytest.mark.parametrize('share', [0.3, 0.5, 0.9])
def test_c31_c_what_lies_before_a_cut_is_saved(tmp_path: Path, share: float) -> None:
    """In a file of some size; in a small one the first log lines may lie behind the cut."""
    good, path = tmp_path / 'good.db', tmp_path / 'cut' / 'memory.db'
    path.parent.mkdir()
    with SpatialMemory.open(str(good)) as memory:
        observe_all(memory, stream(8, 700))
    content = good.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    saved = repaired(path, good)
    assert 0 < saved.seq < len(log_of(good))
    assert saved.stopped
    assert saved.last_seq >= saved.seq


def test_c31_d_the_log_of_another_store_is_left_out(path: Path, good: Path, tmp_path: Path) -> None:
    other = tmp_path / 'elsewhere' / 'other.db'
    other.parent.mkdir()
    memory = SpatialMemory.open(str(other))
    observe_all(memory, stream(2, 300))
    foreign = Path(f'{other}-wal').read_bytes()
    memory.close()
    Path(f'{path}-wal').write_bytes(foreign)
    before = path.read_bytes()
    saved = repair(str(path))
    assert saved.set_aside is not None
    assert saved.set_aside.read_bytes() == before
    assert Path(f'{saved.set_aside}-wal').read_bytes() == foreign
    assert not Path(f'{path}-wal').exists()
    assert log_of(path) == log_of(good)
    assert 'write-ahead log' in saved.stopped
    hash_of(path)


# -- what a hard stop leaves ------------------------------------------------------------------


def copied_while_open(memory: SpatialMemory, target: Path) -> None:
    """What a power cut would leave: the file and its write-ahead log."""
    for end in ('', '-wal'):
        shutil.copyfile(f'{memory.path}{end}', f'{target}{end}')


def test_its_own_write_ahead_log_is_read(tmp_path: Path) -> None:
    memory = SpatialMemory.open(str(tmp_path / 'whole.db'))
    fill(memory, 40)
    memory._database.connection.execute('PRAGMA wal_checkpoint(PASSIVE)').fetchall()
    in_file = memory.seq
    fill(memory, 60)
    last = memory.seq
    path = tmp_path / 'memory.db'
    copied_while_open(memory, path)
    run = [path.read_bytes(), Path(f'{path}-wal').read_bytes()]
    whole = memory.snapshot_hash()
    memory.close()
    saved = repair(str(path), str(tmp_path / 'new.db'))
    assert (saved.seq, saved.stopped, saved.set_aside) == (last, '', None)
    assert hash_of(tmp_path / 'new.db') == whole
    assert [path.read_bytes(), Path(f'{path}-wal').read_bytes()] == run
    assert store_id(tmp_path / 'new.db') == store_id(tmp_path / 'whole.db')
    # Without the log the file alone is saved, up to where it goes.
    Path(f'{path}-wal').unlink()
    saved = repair(str(path), str(tmp_path / 'less.db'))
    assert saved.seq == in_file
    assert log_of(tmp_path / 'less.db') == log_of(tmp_path / 'whole.db', in_file)


def test_a_damaged_end_of_its_own_log_costs_only_that(tmp_path: Path) -> None:
    memory = SpatialMemory.open(str(tmp_path / 'whole.db'))
    fill(memory)
    path = tmp_path / 'memory.db'
    copied_while_open(memory, path)
    memory.close()
    log = Path(f'{path}-wal')
    content = bytearray(log.read_bytes())
    content[len(content) // 2 :] = random.Random(4).randbytes(len(content) - len(content) // 2)
    log.write_bytes(content)
    saved = repair(str(path))
    assert 0 < saved.seq < len(log_of(tmp_path / 'whole.db'))
    assert log_of(path) == log_of(tmp_path / 'whole.db', saved.seq)
    hash_of(path)


def test_a_file_that_is_gone_is_made_of_its_log(tmp_path: Path) -> None:
    memory = SpatialMemory.open(str(tmp_path / 'whole.db'))
    observe_all(memory, stream(5, 30))
    path = tmp_path / 'memory.db'
    shutil.copyfile(f'{memory.path}-wal', f'{path}-wal')
    whole = memory.snapshot_hash()
    memory.close()
    saved = repair(str(path))
    assert saved.seq == len(log_of(tmp_path / 'whole.db'))
    assert hash_of(path) == whole


# -- what does not matter ---------------------------------------------------------------------


@pytest.mark.parametrize('damaged', [1, 2, 3])
@pytest.mark.parametrize('content', [b'\0' * PAGE, b'\x99' * PAGE])
def test_the_pages_that_name_the_tables_are_alike_in_all_stores(
    path: Path, good: Path, damaged: int, content: bytes
) -> None:
    for page in range(1, damaged + 1):
        overwrite(path, page, content)
    everything_saved(path, good)


def test_the_first_bytes_of_the_file_do_not_matter(path: Path, good: Path) -> None:
    overwrite(path, 1, b'\0' * 16)
    saved = everything_saved(path, good)
    assert store_id(path) == store_id(good)
    assert saved.notes == ()


DERIVED = ('object', 'object_feature', 'object_version', 'rejection', 'tombstone', 'property',
           'stated_relation', 'event', 'label')  # fmt: skip


@pytest.mark.parametrize('table', DERIVED)
def test_a_derived_table_that_is_missing_costs_nothing(path: Path, good: Path, table: str) -> None:
    run_sql(path, f'DROP TABLE {table}')
    everything_saved(path, good)


@pytest.mark.parametrize('table', DERIVED)
def test_a_derived_table_that_is_noise_costs_nothing(path: Path, good: Path, table: str) -> None:
    noise = random.Random(table)
    for page in pages_of(path, table):
        overwrite(path, page, noise.randbytes(PAGE))
    everything_saved(path, good)


def test_indexes_that_are_noise_cost_nothing(path: Path, good: Path) -> None:
    connection = apsw.Connection(str(path))
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index'").fetchall()
    connection.close()
    names = [str(name) for (name,) in found]
    pages = pages_of(path, *names)
    assert len(pages) >= len(names)
    for page in pages:
        overwrite(path, page, b'\x99' * PAGE)
    everything_saved(path, good)


@pytest.mark.parametrize('table', ['meta', 'config', 'feature_space'])
def test_what_is_known_otherwise_costs_nothing(path: Path, good: Path, table: str) -> None:
    """Default settings are known by their hash; a name and an identity can be given anew."""
    run_sql(path, f'DROP TABLE {table}')
    saved = everything_saved(path, good)
    assert (store_id(path) == store_id(good)) == (table != 'meta')
    assert bool(saved.notes) == (table != 'config')


def test_settings_that_are_lost_cost_the_views_judged_by_them(tmp_path: Path) -> None:
    path = tmp_path / 'memory.db'
    with SpatialMemory.open(str(path)) as memory:
        observe_all(memory, list(stream(6, 20))[:10])
        kept = memory.seq
        memory.configure(Config(blend=0.4))
        observe_all(memory, list(stream(6, 20))[10:])
    run_sql(path, "UPDATE config SET settings = replace(settings, '0.4', '0.5')")
    assert repair(str(path)).seq == kept
    hash_of(path)


# -- what matters -----------------------------------------------------------------------------


@pytest.mark.parametrize('table', ['log', 'view', 'observation'])
def test_without_one_of_the_three_nothing_can_be_saved(path: Path, table: str) -> None:
    run_sql(path, f'DROP TABLE {table}')
    assert table in nothing_saved(path).stopped


@pytest.mark.parametrize('table', ['log', 'view', 'observation'])
@pytest.mark.parametrize('content', [b'\0' * PAGE, b'\x99' * PAGE])
def test_a_lost_page_costs_what_comes_after_it(
    path: Path, good: Path, table: str, content: bytes
) -> None:
    pages = pages_of(path, table)
    overwrite(path, pages[len(pages) // 2], content)
    saved = repaired(path, good)
    assert 0 < saved.seq < len(log_of(good))
    assert table in saved.stopped or 'observations of the view' in saved.stopped


TAMPERED = {
    'a log line that is missing': ('DELETE FROM log WHERE seq = 50', 49),
    'a log line of an unknown kind': ("UPDATE log SET kind = 'NOTE' WHERE seq = 50", 49),
    'JSON that is none': ("UPDATE log SET before = '{' WHERE seq = 50", 49),
    'a number that is a text': ("UPDATE log SET stamp_ns = 'noon' WHERE seq = 50", 49),
    'a text that is a blob': ("UPDATE log SET actor = x'00' WHERE seq = 50", 49),
    'a change that no view makes': ("UPDATE log SET object_id = 9999 WHERE kind = 'CREATED' AND "
                                    'object_id = 9', None),
    'a view that is missing': ('DELETE FROM view WHERE seq = (SELECT seq FROM view WHERE seq >= 50 '
                               'LIMIT 1)', None),
    'a view of unknown settings': ("UPDATE view SET config = 'x' WHERE seq >= 50", None),
    'half a pose': ("UPDATE view SET sensor_pose = x'0011' WHERE seq >= 50 AND sensor_pose IS NOT "
                    'NULL', None),
    'half a list of looks': ("UPDATE view SET looks = x'0011' WHERE seq >= 50", None),
    'an observation that is missing': ('DELETE FROM observation WHERE id = 100', None),
    'the last observation of a view': ('DELETE FROM observation WHERE id = (SELECT max(id) FROM '
                                       'observation WHERE object_id IS NOT NULL)', None),
    'a verdict that is none': ("UPDATE observation SET verdict = 'maybe' WHERE id = 100", None),
    'an observation of another object': ('UPDATE observation SET object_id = 9999 WHERE id = 100',
                                         None),
    'an observation of the object next to it': (
        "UPDATE observation SET object_id = object_id + 1 WHERE id = (SELECT min(id) FROM "
        "observation WHERE verdict = 'created' AND id >= 20)", None),
    'a rejection that is another': ('UPDATE observation SET rejection_id = rejection_id + 1 WHERE '
                                    'rejection_id IS NOT NULL AND id > 100', None),
    'a position that is infinite': ('UPDATE observation SET x = 9e999 WHERE id = 100', None),
    'a feature of another length': ("UPDATE observation SET feature = x'0011' WHERE id = (SELECT "
                                    'min(id) FROM observation WHERE feature IS NOT NULL AND id > '
                                    '100)', None),
    'a space that is none': ('UPDATE feature_space SET dimension = 0', None),
}  # fmt: skip


@pytest.mark.parametrize('what', TAMPERED)
def test_what_contradicts_itself_is_not_saved(path: Path, good: Path, what: str) -> None:
    statement, last = TAMPERED[what]
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    assert connection.changes() > 0
    connection.close()
    saved = repaired(path, good)
    if last is not None:
        assert saved.seq == last
    if what == 'a space that is none':
        assert saved.seq == len(log_of(good))
    else:
        assert 0 < saved.seq < len(log_of(good))
        assert saved.stopped


def test_a_view_is_saved_with_all_its_changes_or_not_at_all(path: Path, good: Path) -> None:
    """The line before the lost one belongs to the same view: both go."""
    rows = log_of(good)
    [view_seq, *_] = [
        row[0] for row in rows
        if row[1] == 'VIEW' and row[0] > 20
        and [r[1] for r in rows[row[0] : row[0] + 2]] == ['CREATED', 'CREATED']
    ]  # fmt: skip
    run_sql(path, f'DELETE FROM log WHERE seq = {view_seq + 2}')
    assert repaired(path, good).seq == view_seq - 1


@pytest.mark.timeout(900)
@pytest.mark.parametrize('profile', ['default', 'chronotope'])
def test_any_damage_leaves_a_clean_file_or_none(
    tmp_path: Path, request: pytest.FixtureRequest, profile: str
) -> None:
    """Bits turned, bytes and pages overwritten, zeroed, exchanged, cut off: seeded, anywhere."""
    path = tmp_path / 'memory.db'
    with SpatialMemory.open(str(path), Config(profile=profile)) as memory:
        fill(memory, 60)
    good = path.read_bytes()
    last = len(log_of(path))
    long = request.config.getoption('--long')
    draw = random.Random(f'damages {profile}')
    kinds = set()
    for number in range(LONG_ROUNDS if long else ROUNDS):
        damaged = damage(bytearray(good), draw)
        path.write_bytes(damaged)
        new = tmp_path / f'{number}.db'
        saved = repair(str(path), str(new))
        assert path.read_bytes() == damaged
        assert (saved.path is None) == (saved.seq == 0)
        assert new.exists() == (saved.seq > 0)
        kinds.add('none' if not saved.seq else 'all' if saved.seq == last else 'some')
        if saved.seq:
            with SpatialMemory.open(str(new)) as memory:
                assert memory.check() == []
                assert memory.seq == saved.seq
    assert {p.name for p in tmp_path.iterdir() if 'repair' in p.name} == set()
    assert kinds == {'none', 'some', 'all'}, 'the damage is not of all sorts'


# -- identity, and what surrounds it ----------------------------------------------------------


def test_where_something_was_lost_it_is_another_store(path: Path, good: Path) -> None:
    """Its next log lines and objects have numbers that others may know of the lost ones."""
    run_sql(path, 'DELETE FROM log WHERE seq = 50')
    saved = repaired(path, good)
    assert store_id(path) != store_id(good)
    assert any('store id' in note for note in saved.notes)
    connection = apsw.Connection(str(path))
    told = json.loads(connection.execute("SELECT value FROM meta WHERE key = 'repaired'").get)
    connection.close()
    assert told == {'saved': 49, 'of': len(log_of(good)), 'from': store_id(good)}


def test_what_is_set_aside_never_overwrites(path: Path, good: Path) -> None:
    for number in (1, 2, 3):
        shutil.copyfile(good, path)
        overwrite(path, 1, b'\0' * 16)
        assert repair(str(path)).set_aside == Path(f'{path}.damaged-{number}')


def test_a_name_is_at_no_moment_without_a_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash between any two steps must not make the next start begin an empty memory."""
    there = []
    overwrite(path, 1, b'\0' * 16)
    for name in ('replace', 'link'):
        real: Callable[..., None] = getattr(opening.os, name)

        def step(*args: Any, real: Callable[..., None] = real) -> None:
            there.append(path.exists())
            real(*args)
            there.append(path.exists())

        monkeypatch.setattr(opening.os, name, step)
    repair(str(path))
    assert len(there) >= 4
    assert all(there)


def test_a_disk_without_links_is_served_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise OSError('no links here')

    before = path.read_bytes()
    monkeypatch.setattr(opening.os, 'link', refuse)
    saved = repair(str(path))
    assert saved.set_aside is not None
    assert saved.set_aside.read_bytes() == before
    hash_of(path)


def test_a_file_in_use_is_left_alone(path: Path) -> None:
    with SpatialMemory.open(str(path)), pytest.raises(StoreInUseError, match=r'process \d+'):
        repair(str(path))
    assert beside(path) == {'memory.db'}


def test_a_new_file_that_is_there_already_is_left_alone(path: Path, tmp_path: Path) -> None:
    new = tmp_path / 'new.db'
    new.write_text('mine')
    with pytest.raises(StoreError, match='exists already'):
        repair(str(path), str(new))
    assert new.read_text() == 'mine'


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match='does not exist'):
        repair(str(tmp_path / 'memory.db'))
    assert [p for p in tmp_path.iterdir() if p.suffix != '.lock'] == []


def test_a_newer_schema_is_not_repaired_but_said(path: Path) -> None:
    run_sql(path, 'PRAGMA user_version = 99')
    with pytest.raises(NewerSchemaError, match='schema 99'):
        repair(str(path))
    assert beside(path) == {'memory.db'}


def test_another_programs_file_is_not_repaired_but_said(tmp_path: Path) -> None:
    path = tmp_path / 'memory.db'
    run_sql(path, 'CREATE TABLE track (id)')
    with pytest.raises(StoreError, match='another program'):
        repair(str(path))
    assert beside(path) == {'memory.db'}


def test_what_does_not_pass_its_check_is_not_handed_out(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()
    monkeypatch.setattr(module, 'findings', lambda *args: ['made up'])
    with pytest.raises(StoreError, match='made up'):
        repair(str(path))
    assert path.read_bytes() == before
    assert beside(path) == {'memory.db'}


def test_a_full_disk_leaves_everything_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise OSError(28, 'No space left on device')

    overwrite(path, 1, b'\0' * PAGE)
    before = path.read_bytes()
    monkeypatch.setattr(module.shutil, 'copyfile', full)
    with pytest.raises(StoreError, match='No space left'):
        repair(str(path))
    assert path.read_bytes() == before
    assert beside(path) == {'memory.db'}


def test_progress_is_told(path: Path) -> None:
    told: dict[str, list[int]] = {}
    saved = repair(str(path), progress=lambda what, seq: told.setdefault(what, []).append(seq))
    assert set(told) == {
        'reading log lines', 'reading views', 'reading observations', 'replaying the log',
    }  # fmt: skip
    for numbers in told.values():
        assert numbers == sorted(numbers)
    assert told['replaying the log'][-1] == saved.seq


def test_an_attempt_only_ever_stops_earlier() -> None:
    attempt = Attempt(Path('x'), seq=10)
    attempt.stop(12, 'later')
    assert (attempt.seq, attempt.stopped) == (10, '')
    attempt.stop(4, 'here')
    attempt.stop(7, 'there')
    assert (attempt.seq, attempt.stopped) == (4, 'here')
    attempt.stop(-1, 'nothing')
    assert (attempt.seq, attempt.stopped) == (0, 'nothing')


def test_the_audit_agrees_with_the_hash_of_settings(path: Path) -> None:
    """Repair knows the default settings by the hash that the audit gives them."""
    with SpatialMemory.open(str(path)) as memory:
        assert memory._database.rows('SELECT hash FROM config') == [
            (audit.write_config(memory._database, Config(), load_classes()),)
        ]
