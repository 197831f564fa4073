# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Lines of Chronotope that stand for the file as a whole, each read back from disk."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from notes_kit import T0
from views import SECOND, seen, stream, view

from memory_node import SpatialMemory
from memory_node.notes.items import Note, NoteKind, NoteQuery, TimeSpan


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'memory.db'


def rows(path: Path, question: str) -> list[tuple[object, ...]]:
    """What any other SQLite client reads."""
    connection = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
    try:
        return connection.execute(question).fetchall()
    finally:
        connection.close()


def test_ch_3_a_copy_of_the_file_is_a_backup_and_any_client_reads_it(path: Path) -> None:
    with SpatialMemory.open(str(path)) as memory:
        for second in (1000, 1005):
            memory.observe(view(second, seen('mug')))
        before = memory.snapshot_hash()
    copy = path.with_name('copy.db')
    shutil.copyfile(path, copy)
    assert rows(copy, 'SELECT id, label, state FROM object') == [(1, 'mug', 'confirmed')]
    with SpatialMemory.open(str(copy)) as memory:
        assert memory.snapshot_hash() == before and memory.check() == []


def test_ch_5_the_file_has_a_write_ahead_log_and_keeps_its_references(path: Path) -> None:
    with SpatialMemory.open(str(path)) as memory:
        memory.observe(view(1000, seen('mug')))
        pragma = memory._database.connection.pragma
        assert (pragma('journal_mode'), pragma('foreign_keys')) == ('wal', 1)
        assert pragma('user_version') > 0
        with pytest.raises(Exception, match='FOREIGN KEY'):
            memory._database.rows(
                'INSERT INTO object_feature (object_id, space, feature, observation_id) '
                "VALUES (99, 1, x'00', 1)"
            )


def test_ch_8_an_object_names_every_sighting_that_made_it(path: Path) -> None:
    looks = [(1000, 0.5, (1.0, 0.0, 1.0)), (1005, 0.9, (1.01, 0.0, 1.0)),
             (1010, 0.8, (1.0, 0.01, 1.0))]  # fmt: skip
    with SpatialMemory.open(str(path)) as memory:
        for second, score, center in looks:
            memory.observe(view(second, seen('mug', center, score)))
            memory.observe(view(second + 1, seen('lamp', (5, 5, 1))))  # must stay out
        found = [(o.stamp_ns, o.label, o.score, o.center_m) for o in memory.history(1)]
    assert sorted(found) == [
        (second * SECOND, 'mug', score, center) for second, score, center in looks
    ]
    assert rows(path, 'SELECT count(*) FROM observation WHERE object_id = 1') == [(3,)]


def test_ch_9_an_episode_has_a_session_a_name_and_times_and_the_latest_of_a_name_goes_on() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for n, end in ((1, 5), (2, 9)):
            memory.remember(Note(
                f'Tidying the kitchen, round {n}', NoteKind.EPISODIC, key='tidying',
                scope={'episode_id': 'tidying', 'task_id': f'round {n}'},
                event_time=TimeSpan(T0 + n, T0 + end),
            ), T0 + n)  # fmt: skip
        memory.remember(Note('Charging', NoteKind.EPISODIC, key='charging'), T0)
        [latest] = memory.notes(NoteQuery(scope={'episode_id': 'tidying'}))
        assert latest.note.event_time == TimeSpan(T0 + 2, T0 + 9)
        assert [s.note.scope['task_id'] for s in memory.note_history(latest.note.id)] == [
            'round 1', 'round 2',
        ]  # fmt: skip


def test_ch_20_nothing_perceived_comes_about_but_by_a_judged_sighting(path: Path) -> None:
    with SpatialMemory.open(str(path)) as memory:
        for given in stream(3, 60):
            memory.observe(given)
        memory.set_region('kitchen', box_m=((0, 0, 0), (5, 5, 5)))
        memory.state_object('fridge', (9, 9, 1), (0.6, 0.6, 1.8), actor='anna')
    made = rows(
        path,
        """
        SELECT o.id, l.actor, (SELECT count(*) FROM observation s WHERE s.object_id = o.id
                               AND s.verdict = 'created')
        FROM object o JOIN log l ON l.object_id = o.id AND l.kind = 'CREATED' ORDER BY o.id
    """,
    )
    *seen_ones, stated = made
    assert len(seen_ones) > 10
    assert all(actor == 'perception' and count == 1 for _, actor, count in seen_ones)
    assert stated[1:] == ('anna', 0), 'what a person states says so, and counts no sighting'


def test_ch_22_ch_23_nothing_is_pending_when_observe_returns(path: Path) -> None:
    with SpatialMemory.open(str(path)) as memory:
        for n, given in enumerate(stream(1, 25), 1):
            commit = memory.observe(given)
            assert rows(path, 'SELECT count(*) FROM view') == [(n,)], 'another reader sees it'
            assert rows(path, 'SELECT max(seq) FROM log') == [(commit.seq,)]
            assert commit.seq == memory.seq
            for verdict in commit.verdicts:
                if verdict.object_id is not None:
                    assert memory.object(verdict.object_id).observations > 0
