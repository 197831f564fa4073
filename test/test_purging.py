# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A purge leaves no trace of what had to go, and a line that it went (X-5, promise 6)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from children import child
from damage import copied
from views import seen, stream, view

from memory_node import Config, Query, SpatialMemory
from memory_node.errors import InvalidValueError, ObjectEndedError, StoreError, UnknownObjectError
from memory_node.model import Aspect, ChangeKind, State
from memory_node.store import checkpoint, database
from memory_node.store import purge as stored
from memory_node.store.repair import repair

SECRET = 'diary of Anna Bell'
TEXT = 'hidden under the mattress'
FEATURE = np.linspace(-1.0, 1.0, 16).astype(np.float32)
OTHER = np.linspace(1.0, -0.5, 16).astype(np.float32)
PLACE = (1.234567, 2.345678, 0.987654)
ROOT = {'robot': 'tiago'}


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / 'memory.db')


@pytest.fixture
def memory(path: str) -> Iterator[SpatialMemory]:
    with SpatialMemory.open(path) as opened:
        yield opened
        assert opened.check() == []
        before = opened.snapshot_hash()
        opened.rebuild()
        assert opened.snapshot_hash() == before
        opened.observe(view(9000, seen('lamp', (8.0, 0.0, 0.0))))
        assert opened.check() == []


def live(memory: SpatialMemory, second: float, *found: Any, **more: Any) -> list[int]:
    verdicts = memory.observe(view(1000 + second, *found, **more)).verdicts
    return [int(v.object_id or 0) for v in verdicts]


def fill(memory: SpatialMemory) -> tuple[int, int]:
    """A diary with all that can be known of a thing, and a mug beside it; returns both."""
    diary = mug = 0
    for second in range(0, 12, 2):
        diary, mug = live(
            memory, second, seen(SECRET, PLACE, feature=FEATURE, track_id='secret track'),
            seen('mug', (4.0, 0.0, 1.0), feature=OTHER), scope=ROOT,
        )  # fmt: skip
    memory.set_property(diary, 'where', TEXT, 'Anna told me')
    memory.record_event('found', {'what': SECRET}, diary)
    memory.state_relation(mug, 'beside', diary)
    memory.correct_label(diary, f'the {SECRET}', 'so it says', 'Ada')
    memory.forget(diary, f'not the {SECRET}')
    live(memory, 20, seen(f'the {SECRET}', PLACE, feature=FEATURE))
    memory.restore(diary)
    return diary, mug


def raw(path: str) -> bytes:
    """All bytes of the file and of what lies beside it."""
    return b''.join(p.read_bytes() for p in Path(path).parent.iterdir() if 'lock' not in p.name)


def secrets() -> list[bytes]:
    unit = FEATURE / np.linalg.norm(FEATURE)
    return [
        SECRET.encode(), TEXT.encode(), b'secret track', b'Anna told me',
        unit.astype('<f4').tobytes()[:16], unit.astype('<f2').tobytes()[:12],
        np.array(PLACE[:2], '<f8').tobytes(), np.array(PLACE[:2], '>f8').tobytes()[:8],
        np.array([round(v, 6) for v in PLACE], '<f8').tobytes()[:8],
    ]  # fmt: skip


def traces(path: str) -> list[bytes]:
    content = raw(path)
    return [secret for secret in secrets() if secret in content]


def test_the_test_would_find_what_is_there(path: str, memory: SpatialMemory) -> None:
    fill(memory)
    assert len(traces(path)) >= 7


def test_purging_an_object_leaves_no_byte_of_it(
    path: str, memory: SpatialMemory, tmp_path: Path
) -> None:
    diary, mug = fill(memory)
    lines = [(c.seq, c.kind, c.object_id) for c in memory.changes()]
    found = memory.purge(object_id=diary, reason='she asked', actor='Ada')
    assert (found.objects, found.erased) == (1, True)
    assert found.sightings == 7  # six of it, and the one that its tombstone rejected
    assert traces(path) == []
    first, second = found.commit.changes
    assert (first.kind, first.object_id, first.actor, first.reason) == (
        ChangeKind.PURGED, None, 'Ada', 'she asked',
    )  # fmt: skip
    assert first.after == {'by': 'object', 'objects': 1, 'sightings': 7, 'lines': found.lines}
    assert (second.kind, second.object_id) == (ChangeKind.PURGED, diary)
    now = memory.changes()
    assert [(c.seq, c.kind, c.object_id) for c in now][: len(lines)] == lines
    of_it = [c for c in now[: len(lines)] if c.object_id == diary]
    assert len(of_it) >= 5
    assert all(not c.before and not c.reason for c in of_it)
    assert memory.objects()[0].id == mug
    gone = memory.object(diary)  # its id still resolves
    assert (gone.label, gone.state, gone.observations) == ('', State.FORGOTTEN, 0)
    assert memory.history(diary) == []
    assert memory.properties(diary) == {}
    assert len(memory.history(mug)) == 6
    copy = tmp_path / 'copies' / 'copy.db'
    copy.parent.mkdir()
    memory.snapshot(str(copy))
    assert traces(str(copy)) == []


def test_a_purge_holds_after_reopening_and_repair(path: str, tmp_path: Path) -> None:
    with SpatialMemory.open(path) as memory:
        diary, _ = fill(memory)
        memory.purge(object_id=diary)
        live(memory, 40, seen('bowl', (9.0, 0.0, 1.0)))
        memory.merge_objects(*(o.id for o in memory.objects()))
    with SpatialMemory.open(path) as memory:
        assert memory.check() == []
        (new,) = live(memory, 50, seen(SECRET, PLACE))  # a purge is no forgetting: it is learned
        assert new > diary
    folder = tmp_path / 'repaired'
    folder.mkdir()
    with SpatialMemory.open(path) as memory:
        memory.purge(label=SECRET)
    saved = repair(path, str(folder / 'saved.db'))
    assert saved.stopped == ''
    assert traces(str(folder / 'saved.db')) == []
    with SpatialMemory.open(str(folder / 'saved.db')) as memory:
        assert memory.check() == []


@pytest.mark.parametrize('before', [True, False])
def test_a_repair_of_a_purged_file_saves_what_can_be_replayed(
    path: str, tmp_path: Path, before: bool
) -> None:
    """Up to the first purged sighting where the seal is lost, else up to the damage."""
    with SpatialMemory.open(path) as memory:
        for second in range(0, 8, 2):
            live(memory, second, seen('mug', (4.0, 0.0, 1.0)))
        first_secret = memory.seq + 1
        diary, _ = fill(memory)
        sealed = memory.purge(object_id=diary).commit.seq
        for second in range(60, 70, 2):
            live(memory, second, seen('mug', (4.0, 0.0, 1.0)))
    lost = first_secret + 5 if before else sealed + 3
    connection = apsw.Connection(path)
    connection.execute('DELETE FROM log WHERE seq = ?', (lost,))
    connection.close()
    saved = repair(path, str(tmp_path / 'saved.db'))
    assert saved.seq == (first_secret if before else lost) - 1
    with SpatialMemory.open(str(tmp_path / 'saved.db')) as memory:
        assert memory.check() == []
        assert [o.label for o in memory.objects()] == ['mug']


def test_a_purged_id_is_refused_by_name(memory: SpatialMemory) -> None:
    diary, _ = fill(memory)
    seq = memory.forget(diary).seq
    memory.purge(object_id=diary)
    for call in (memory.forget, memory.confirm):
        with pytest.raises(ObjectEndedError, match=f'object {diary} was purged'):
            call(diary)
    with pytest.raises(InvalidValueError, match='was purged'):
        memory.restore(diary)
    with pytest.raises(InvalidValueError):
        memory.undo(seq)
    assert memory.purge(object_id=diary).commit.changes == ()  # there is nothing left


def test_purging_a_label_takes_it_out_of_everything(path: str, memory: SpatialMemory) -> None:
    """Also out of other things: a mug that was taken for it once, and what was said of it."""
    mug = 0
    for second in (0, 2, 4):
        (mug,) = live(memory, second, seen('mug', (0.0, 0.0, 1.0)))
    live(memory, 6, seen('mug', (0.0, 0.0, 1.0), alternatives={SECRET.upper(): 0.3, 'cup': 0.2}))
    (held,) = live(memory, 8, seen(SECRET, PLACE))
    (other,) = live(memory, 10, seen('book', (6.0, 0.0, 1.0), alternatives={SECRET: 0.2}))
    memory.set_property(mug, 'lies on', SECRET)
    memory.set_property(mug, 'colour', 'red', f'it is no {SECRET}')
    memory.set_property(mug, 'owner', 'Bob')
    found = memory.purge(label=SECRET.title(), reason='privacy', actor='Ada')
    assert (found.objects, found.erased) == (1, True)
    assert SECRET.encode().lower() not in raw(path).lower()
    assert memory.object(held).label == ''
    assert memory.properties(mug) == {'owner': 'Bob'}
    labels = memory.object(other).labels
    assert (labels['book'], sorted(labels.values())) == (0.8, [0.2, 0.8])  # under another name
    assert memory.query(Query(text=SECRET)) == ()
    assert memory.object(mug).observations == 4


def test_a_stray_sighting_that_goes_is_no_longer_counted(memory: SpatialMemory) -> None:
    (mug,) = live(memory, 0, seen('mug', (0.0, 0.0, 1.0), feature=OTHER))
    (same,) = live(memory, 2, seen('mug cup', (0.0, 0.0, 1.0), feature=OTHER))
    live(memory, 4, seen('mug', (0.0, 0.0, 1.0), feature=OTHER))
    assert mug == same
    found = memory.purge(label='mug cup')
    assert (found.objects, found.sightings) == (0, 1)
    assert memory.object(mug).observations == len(memory.history(mug)) == 2
    live(memory, 6, seen('mug', (0.0, 0.0, 1.0), feature=OTHER))
    assert memory.object(mug).observations == 3


def test_purging_a_region(path: str, memory: SpatialMemory) -> None:
    (mug,) = live(memory, 0, seen('mug', (0.0, 0.0, 1.0)))
    (cup,) = live(memory, 2, seen('cup', (5.125, 0.0, 1.0)))
    (moved,) = live(memory, 4, seen('box', (5.25, 0.5, 1.0)))
    memory.correct_pose(moved, (0.0, 3.0, 1.0))
    live(memory, 6, seen('pen', (5.5, 0.0, 1.0), score=0.05))  # rejected
    found = memory.purge(region_m=((6.0, -1.0, 0.0), (5.0, 1.0, 2.0)))
    assert (found.objects, found.sightings) == (1, 3)
    assert [o.id for o in memory.objects()] == [mug, moved]
    assert memory.object(cup).label == ''
    assert [v.center_m for v in memory.versions(moved)] == [(0.0, 3.0, 1.0)]
    content = raw(path)
    for x in (5.125, 5.25, 5.5):
        for kind in ('<f8', '>f8'):
            assert np.array([x], kind).tobytes() + b'' not in content or x == 5.5
    assert b'5.25' not in content


def test_a_region_of_another_map_is_left_alone(memory: SpatialMemory) -> None:
    live(memory, 0, seen('mug', (0.0, 0.0, 1.0)), map_id='upstairs')
    live(memory, 2, seen('cup', (0.0, 0.0, 1.0)), map_id='downstairs')
    memory.purge(region_m=((-1, -1, 0), (1, 1, 2)), map_id='upstairs')
    assert [o.label for o in memory.objects()] == ['cup']


def test_purging_a_person(path: str, memory: SpatialMemory) -> None:
    hers = {'user': 'Anna Bell'}
    (pill,) = live(memory, 0, seen('pill box', (0.0, 0.0, 1.0)), scope=hers)
    (mug,) = live(memory, 2, seen('mug', (3.0, 0.0, 1.0)), scope=hers)
    live(memory, 4, seen('mug', (3.0, 0.0, 1.0)))
    memory.set_property(mug, 'owner', 'me', actor='Anna Bell')
    memory.correct_label(mug, 'my mug', 'it is mine', actor='Anna Bell')
    memory.state_object('strongbox', (7.0, 0.0, 1.0), actor='Anna Bell')
    memory.confirm(mug, 0.9, 'as anna bell told me', 'Bob')
    memory.correct_size(mug, (0.2, 0.2, 0.2), 'Anna Bell measured it', 'Bob')
    memory.record_event('visit', {'of': 'Anna Bell'})
    found = memory.purge(person='Anna Bell', reason='she moved out', actor='Ada')
    assert found.objects == 2
    assert [(o.id, o.label, o.observations) for o in memory.objects()] == [(mug, 'mug', 1)]
    assert memory.object(pill).label == ''
    assert memory.properties(mug) == {}
    assert list(memory.object(mug).pins) == [Aspect.SIZE]
    assert memory.events() == []
    content = raw(path)
    for secret in (b'Anna Bell', b'anna bell', b'pill box', b'my mug', b'it is mine', b'strongbox'):
        assert secret not in content
    assert memory.object(mug).confidence == 0.9


def test_what_was_merged_or_split_goes_as_what_it_is(memory: SpatialMemory) -> None:
    one, other = live(memory, 0, seen('mug', (0.0, 0.0, 1.0)), seen('mug', (4.0, 0.0, 1.0)))
    live(memory, 2, seen('mug', (0.0, 0.0, 1.0)), seen('mug', (4.0, 0.0, 1.0)))
    merged = memory.merge_objects(one, other).first_seq
    new = memory.split(one).changes[1].object_id or 0
    found = memory.purge(object_id=new)
    assert (found.objects, found.sightings) == (1, 2)
    assert len(memory.history(one)) == memory.object(one).observations == 2
    with pytest.raises(InvalidValueError):
        memory.undo(merged)
    found = memory.purge(object_id=other)  # stands for the one it was merged into
    assert found.objects == 2
    assert memory.objects() == []


def test_a_reader_outside_only_delays_that_old_bytes_go(path: str) -> None:
    with SpatialMemory.open(path) as memory:
        diary, _ = fill(memory)
        reader = apsw.Connection(path)
        reader.execute('BEGIN')
        reader.execute('SELECT count(*) FROM log').fetchall()
        assert not memory.purge(object_id=diary).erased
        assert memory.object(diary).label == ''
        reader.close()
    with SpatialMemory.open(path) as memory:
        assert traces(path) == []
        assert memory.check() == []


def test_our_own_checkpoints_do_not_delay_it(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, 'EVERY_S', 0.0001)
    monkeypatch.setattr(checkpoint, 'TRUNCATE_FROM_BYTES', 0)
    monkeypatch.setattr(database, 'ERASE_TIMEOUT_MS', 0)
    with SpatialMemory.open(path) as memory:
        for second in range(20):
            (number,) = live(memory, second, seen(SECRET, (float(second), 0.0, 0.0)))
            assert memory.purge(object_id=number).erased


def test_a_stop_between_purge_and_erasing_is_made_up_for(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SpatialMemory.open(path) as memory:
        diary, _ = fill(memory)
        with monkeypatch.context() as patch:
            patch.setattr(stored, 'erase', lambda _: False)
            assert not memory.purge(object_id=diary).erased
    with SpatialMemory.open(path):
        assert traces(path) == []


PURGE_ON = """
import sys
from memory_node import SpatialMemory
from views import seen, view

memory = SpatialMemory.open(sys.argv[1])
print('ready', flush=True)
second = 1000 + memory.seq
while True:
    second += 1
    commit = memory.observe(view(second, seen('secret word', (second, 0, 0)), seen('mug')))
    if second % 2:
        memory.purge(label='secret word')
"""
"""Sees a thing and purges it, until it is killed."""


def test_what_was_killed_while_it_was_committed_leaves_no_bytes(path: str, tmp_path: Path) -> None:
    """Such a view was never part of the memory, so no purge finds it; its pages stand in the log.

    A frame has the salt of the log behind its page number and the number of pages of the file,
    which is 0 where it ends no transaction
    (https://sqlite.org/fileformat2.html#the_write_ahead_log).
    """
    killed = tmp_path / 'killed' / 'memory.db'
    killed.parent.mkdir()
    with SpatialMemory.open(path) as memory:
        live(memory, 1, seen('mug'))
        copied(memory, killed)
        expected = memory.snapshot_hash()
    log = Path(f'{killed}-wal')
    held = log.read_bytes()
    page = int.from_bytes(held[8:12], 'big')
    frame = (2).to_bytes(4, 'big') + bytes(4) + held[16:24] + bytes(8)
    log.write_bytes(held + frame + SECRET.encode().ljust(page, b'\0'))
    assert SECRET.encode() in raw(str(killed))
    with SpatialMemory.open(str(killed)) as memory:
        assert SECRET.encode() not in raw(str(killed))
        assert memory.snapshot_hash() == expected
        assert memory.check() == []


def test_killed_while_purging_it_is_purged_or_not(path: str) -> None:
    for delay_s in (0.02, 0.09, 0.2, 0.4):
        with child(PURGE_ON, path) as process:
            time.sleep(delay_s)
            process.kill()
        with SpatialMemory.open(path) as memory:
            assert memory.check() == []
            if not any(o.label == 'secret word' for o in memory.objects()):
                assert b'secret word' not in raw(path)
            memory.purge(label='secret word')
            assert b'secret word' not in raw(path)


def test_a_failed_purge_removes_nothing(
    memory: SpatialMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    diary, _ = fill(memory)
    before = memory.snapshot_hash()
    with monkeypatch.context() as patch:
        patch.setattr(stored, '_BLANK_OBJECTS', 'UPDATE nowhere SET x = ?1')
        with pytest.raises(StoreError):
            memory.purge(object_id=diary)
    assert memory.snapshot_hash() == before
    assert memory.object(diary).label == f'the {SECRET}'


def test_bad_values_are_refused(memory: SpatialMemory) -> None:
    live(memory, 0, seen())
    for given, words in (
        ({}, 'got nothing, expected one of object, label, region, person'),
        ({'label': 'mug', 'person': 'Anna'}, 'got label and person'),
        ({'label': 'mug', 'reason': 'the Mug has to go'}, 'reason: names the label'),
        ({'person': 'Anna', 'actor': 'Anna'}, 'actor: names the person'),
        ({'label': 'mug', 'actor': 'perception'}, 'actor: got perception'),
        ({'region_m': ((0, 0, 0), (1, 1))}, r'region_m\[1\]: got'),
        ({'region_m': ((0, 0, 0),)}, 'expected two'),
    ):
        with pytest.raises(InvalidValueError, match=words):
            memory.purge(**given)
    with pytest.raises(UnknownObjectError):
        memory.purge(object_id=99)


def test_a_purge_leaves_no_late_record() -> None:
    """Also not one whose object was written for a change since, so that nothing waits."""
    with SpatialMemory.open(':memory:') as memory:
        memory.observe(view(1000, seen('cup', (0.0, 0.0, 0.0)), seen('book', (3.0, 0.0, 0.0))))
        memory._session.finish()
        with memory._database.transaction() as connection:
            connection.execute('INSERT INTO late_record SELECT 1, record, NULL FROM object LIMIT 1')
        memory.purge(object_id=1)
        assert memory._database.rows('SELECT * FROM late_record') == []


def test_a_purge_knows_every_table() -> None:
    """Whoever adds a table has to say what of it goes; so it is listed here once more."""
    with SpatialMemory.open(':memory:') as memory:
        tables = memory._database.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
    own = ('sealed_', 'sqlite_', 'note_text_')
    assert {name for (name,) in tables if not name.startswith(own)} == {
        'meta', 'config', 'feature_space', 'seal', 'redirect', 'attribution',  # no content
        'log', 'view', 'label', 'object', 'object_feature', 'object_version', 'rejection',
        'observation', 'tombstone', 'property', 'stated_relation', 'event', 'identity_change',
        'pin', 'region', 'late_record',
        'journal_file', 'journal_problem', 'note', 'note_op', 'note_entity', 'note_text',
    }  # fmt: skip


@pytest.mark.parametrize('profile', ['default', 'chronotope'])
@pytest.mark.parametrize('seed', range(3))
def test_whatever_is_corrected_and_purged_the_log_gives_the_same(
    tmp_path: Path, seed: int, profile: str
) -> None:
    """A seeded stream of views, corrections, merges, undos, forgettings and purges."""
    random = np.random.default_rng(seed)
    path = str(tmp_path / 'memory.db')
    memory = SpatialMemory.open(path, Config(profile=profile))
    for count, one in enumerate(stream(seed, 60)):
        memory.observe(one)
        live_ids = [1, *(o.id for o in memory.objects())]
        if count == 30:
            memory.purge(object_id=live_ids[-1])
        for _ in range(2):
            with suppress(InvalidValueError, ObjectEndedError, UnknownObjectError):
                act(memory, random, live_ids)
    kinds = {c.kind for c in memory.changes()}
    assert kinds >= {ChangeKind.CORRECTED, ChangeKind.PURGED}
    assert memory.check() == []
    before = memory.snapshot_hash()
    objects = memory.objects()
    memory.rebuild()
    assert memory.snapshot_hash() == before
    memory.close()
    with SpatialMemory.open(path, Config(profile=profile)) as again:
        assert again.objects() == objects
        assert again.check() == []
    saved = repair(path, str(tmp_path / 'saved.db'))
    assert (saved.stopped, saved.seq) == ('', again.seq)
    with SpatialMemory.open(str(saved.path), Config(profile=profile), readonly=True) as copy:
        assert copy.snapshot_hash() == before


def act(memory: SpatialMemory, random: np.random.Generator, live_ids: list[int]) -> None:
    """Do one thing that a person may do, drawn by lot."""
    one, other = (int(i) for i in random.choice(live_ids, 2))
    point = random.uniform(0, 5, 3).round(3).tolist()
    choice = int(random.integers(14))
    if choice == 0:
        memory.correct_label(one, str(random.choice(['mug', 'urn', 'Lamp', 'vase'])))
    elif choice == 1:
        memory.correct_pose(one, point)
    elif choice == 2:
        memory.correct_size(one, random.uniform(0.1, 0.3, 3).round(3).tolist())
    elif choice == 3:
        memory.confirm(one, round(float(random.uniform()), 3))
    elif choice == 4:
        memory.state_object(str(random.choice(['sink', 'lamp'])), point, (0.2, 0.2, 0.2))
    elif choice == 5:
        memory.pin(one, [str(random.choice(['label', 'pose', 'size']))])
    elif choice == 6:
        memory.unpin(one, [str(random.choice(['label', 'pose', 'size', 'presence']))])
    elif choice == 7:
        memory.forget(one, until_ns=memory.newest_stamp_ns + int(random.integers(1, 10**10)))
    elif choice == 8:
        memory.merge_objects(one, other)
    elif choice == 9:
        memory.split(one)
    elif choice in (10, 11):
        memory.undo(int(random.integers(1, memory.seq + 1)))
    elif choice == 12:
        changes = memory.changes(since_seq=max(0, memory.seq - 12))
        memory.undo(int(random.choice([c.seq for c in changes])))
    elif random.uniform() < 0.3:
        purge_some(memory, random, one, point)


def purge_some(
    memory: SpatialMemory, random: np.random.Generator, one: int, point: list[float]
) -> None:
    what = int(random.integers(3))
    if what == 0:
        memory.purge(object_id=one)
    elif what == 1:
        memory.purge(region_m=(point, [x + 1.0 for x in point]), map_id=memory.object(one).map_id)
    else:
        memory.purge(label=str(random.choice(['urn', 'lamp', 'vase', 'coffeemachine'])))
