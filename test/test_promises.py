# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The promises of the design (§2), each read back from the file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import apsw
import pytest
from streams import START_NS, live_through

from memory_node import Config, Detection, Pose, Query, SpatialMemory, View
from memory_node.errors import InvalidValueError, ObjectEndedError
from memory_node.model import ChangeKind

EAGER = {'restore_looks': 2, 'restore_score': 0.3}
SECOND = 10**9


def rows(path: Path, question: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found = connection.execute(question).fetchall()
    connection.close()
    return found


def tamper(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()


def mug(score: float = 0.9, x: float = 1.0, label: str = 'mug') -> Detection:
    return Detection(label, score, (x, 0.0, 1.0), (0.1, 0.1, 0.1))


def look(memory: SpatialMemory, second: int, *detections: Detection, x: float = 0.0) -> object:
    return memory.observe(View(START_NS + second * SECOND, 'camera', detections, Pose((x, 0, 1))))


# -- 1: fuse before persist ------------------------------------------------------------------


def test_ch_w1_the_same_rejection_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / 'a.db'
    with SpatialMemory.open(str(path)) as memory:
        counts = [look(memory, k, mug(0.1)).verdicts[0].repeats for k in range(1, 4)]  # type: ignore[attr-defined]
        elsewhere = look(memory, 5, mug(0.1, x=3.0)).verdicts[0].repeats  # type: ignore[attr-defined]
    assert (counts, elsewhere) == ([1, 2, 3], 1)
    assert rows(path, 'SELECT label, reason, count FROM rejection ORDER BY id') == [
        ('mug', 'low_score', 3),
        ('mug', 'low_score', 1),
    ]
    assert rows(path, 'SELECT count(*) FROM observation WHERE rejection_id IS NULL') == [(0,)]


def test_ch_w1_a_rejection_is_recognised_after_a_restart(tmp_path: Path) -> None:
    path = str(tmp_path / 'a.db')
    with SpatialMemory.open(path) as memory:
        look(memory, 1, mug(0.1))
    with SpatialMemory.open(path) as memory:
        assert look(memory, 2, mug(0.1)).verdicts[0].repeats == 2  # type: ignore[attr-defined]


def test_every_observation_is_accounted_for(tmp_path: Path) -> None:
    """CH-21: the file never holds an observation that nothing accounts for."""
    path = tmp_path / 'a.db'
    live_through(lambda: SpatialMemory.open(str(path), Config(**EAGER)), 3, 80).close()
    without = rows(
        path,
        'SELECT count(*) FROM observation WHERE (object_id IS NOT NULL) '
        '+ (rejection_id IS NOT NULL) + (barred_by IS NOT NULL) <> 1',
    )
    assert without == [(0,)]


# -- 2: the log is the truth -----------------------------------------------------------------


@pytest.mark.parametrize('profile', ['default', 'chronotope'])
@pytest.mark.parametrize('features', [True, False])
@pytest.mark.parametrize('seed', [0, 1])
def test_everything_derived_follows_from_the_log(
    tmp_path: Path, profile: str, features: bool, seed: int
) -> None:
    path = str(tmp_path / 'a.db')
    config = Config(profile=profile, **EAGER)
    with live_through(lambda: SpatialMemory.open(path, config), seed, 120, features) as memory:
        kinds = Counter(change.kind for change in memory.changes())
        assert kinds[ChangeKind.FORGOTTEN] and kinds[ChangeKind.RESTORED]
        assert kinds[ChangeKind.RELATION] and kinds[ChangeKind.EVENT]
        assert memory.check() == []
        before = memory.snapshot_hash()
        memory.rebuild()
        assert memory.snapshot_hash() == before
        assert memory.check() == []


@pytest.mark.parametrize('profile', ['default', 'chronotope'])
def test_a_stream_goes_on_after_every_reopening_as_without(tmp_path: Path, profile: str) -> None:
    config = Config(profile=profile, **EAGER)
    hashes = []
    for name, reopen in (('a.db', 0), ('b.db', 13)):
        path = str(tmp_path / name)
        with live_through(
            lambda p=path: SpatialMemory.open(p, config), 5, 120, reopen_every=reopen
        ) as memory:
            hashes.append(memory.snapshot_hash())
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize(
    'statement',
    [
        'UPDATE object SET x = x + 1 WHERE id = 2',
        'UPDATE object SET labels = \'{"mug":9.0}\' WHERE id = 2',
        'DELETE FROM property',
        'UPDATE rejection SET count = count + 1 WHERE id = 1',
        'UPDATE tombstone SET looks = looks + 1',
        "UPDATE stated_relation SET relation = 'on'",
        'DELETE FROM event',
        'UPDATE object_version SET x = x + 1 WHERE object_id = 2',
        'UPDATE object_feature SET feature = zeroblob(64) WHERE object_id = 2',
    ],
)
def test_what_was_tampered_with_is_found_and_rebuilt(tmp_path: Path, statement: str) -> None:
    path = tmp_path / 'a.db'
    config = Config(**EAGER)
    with live_through(lambda: SpatialMemory.open(str(path), config), 4, 60) as memory:
        before = memory.snapshot_hash()
    tamper(path, statement)
    with SpatialMemory.open(str(path), config) as memory:
        (finding,) = memory.check()
        assert 'is not what the log gives' in finding
        memory.rebuild()
        assert memory.check() == []
        assert memory.snapshot_hash() == before


def test_a_log_that_contradicts_itself_is_found_and_not_rebuilt(tmp_path: Path) -> None:
    path = tmp_path / 'a.db'
    with SpatialMemory.open(str(path)) as memory:
        look(memory, 1, mug())
        look(memory, 3, mug())
    tamper(path, "UPDATE log SET kind = 'UPDATED' WHERE kind = 'CONFIRMED'")
    with SpatialMemory.open(str(path)) as memory:
        (finding,) = memory.check()
        assert 'cannot be replayed' in finding and 'CONFIRMED' in finding


def test_settings_may_change_in_between(tmp_path: Path) -> None:
    path = str(tmp_path / 'a.db')
    for blend in (0.2, 0.7):
        with SpatialMemory.open(path, Config(blend=blend)) as memory:
            for k in range(10):
                look(memory, int(blend * 100) + 2 * k, mug(x=1 + 0.01 * k))
            memory.configure(Config(blend=0.5, confirm_looks=3))
            look(memory, int(blend * 100) + 30, mug(), mug(x=5.0))
            assert memory.check() == []


def test_ch_w7_each_line_says_who_why_and_what_was_before(tmp_path: Path) -> None:
    path = tmp_path / 'a.db'
    with SpatialMemory.open(str(path)) as memory:
        look(memory, 1, mug())
        memory.set_property(1, 'owner', 'Ada', 'she said so', 'ada')
        memory.set_property(1, 'owner', 'Bob', 'he said so', 'bob')
        memory.forget(1, 'broken', 'bob')
    lines = rows(path, "SELECT kind, actor, reason, before FROM log WHERE actor <> 'perception'")
    assert lines == [
        ('CORRECTED', 'ada', 'she said so', '{}'),
        ('CORRECTED', 'bob', 'he said so', '{"key":"owner","value":"Ada"}'),
        ('FORGOTTEN', 'bob', 'broken', '{"state":"tentative"}'),
    ]


# -- 5: ids live for ever --------------------------------------------------------------------


def test_ids_are_never_used_again(tmp_path: Path) -> None:
    path = str(tmp_path / 'a.db')
    with SpatialMemory.open(path) as memory:
        look(memory, 1, mug(), mug(x=3.0))
        memory.forget(2)
    with SpatialMemory.open(path) as memory:
        look(memory, 3, mug(x=6.0))
        assert [o.id for o in memory.objects()] == [1, 3]
        assert memory.object(2).state == 'forgotten'
        assert len(memory.history(2)) == 1


# -- 6: forgetting holds ---------------------------------------------------------------------


def test_ch_w2_forgotten_stays_forgotten_until_enough_looks(tmp_path: Path) -> None:
    path = str(tmp_path / 'a.db')
    with SpatialMemory.open(path) as memory:
        look(memory, 1, mug())
        look(memory, 3, mug())
        memory.forget(1)
        reasons = [look(memory, 10 + 2 * k, mug()).verdicts[0].reason for k in range(4)]  # type: ignore[attr-defined]
        assert reasons == ['forgotten'] * 4
        assert memory.objects() == []
    with SpatialMemory.open(path) as memory:  # the count goes on after a restart
        commit = look(memory, 20, mug(x=1.05))
        (restored,) = commit.changes  # type: ignore[attr-defined]
        assert (restored.kind, restored.object_id) == ('RESTORED', 1)
        (obj,) = memory.objects()
        assert obj.id == 1 and obj.state == 'confirmed'
        assert obj.center_m[0] == pytest.approx((4 * 1.0 + 1.05) / 5)
        assert look(memory, 30, mug()).verdicts[0].object_id == 1  # type: ignore[attr-defined]
        assert memory.check() == []


def test_looks_from_one_place_at_once_count_once() -> None:
    with SpatialMemory.open(':memory:') as memory:
        look(memory, 1, mug())
        memory.forget(1)
        for k in range(20):
            memory.observe(
                View(START_NS + 5 * SECOND + k * 10**7, 'camera', [mug()], Pose((0, 0, 1)))
            )
        assert memory.objects() == []


def test_a_low_mean_score_brings_nothing_back() -> None:
    with SpatialMemory.open(':memory:') as memory:
        look(memory, 1, mug())
        memory.forget(1)
        for k in range(20):
            look(memory, 10 + 2 * k, mug(0.6))
        assert memory.objects() == []


def test_another_label_at_the_same_place_is_learned() -> None:
    with SpatialMemory.open(':memory:') as memory:
        look(memory, 1, mug())
        memory.forget(1)
        look(memory, 10, mug(label='bowl'))
        assert [(o.id, o.label) for o in memory.objects()] == [(2, 'bowl')]


def test_a_person_brings_it_back(tmp_path: Path) -> None:
    path = tmp_path / 'a.db'
    with SpatialMemory.open(str(path)) as memory:
        look(memory, 1, mug())
        with pytest.raises(InvalidValueError, match='tentative'):
            memory.restore(1)
        memory.forget(1)
        with pytest.raises(ObjectEndedError):
            memory.forget(1)
        memory.restore(1, 'found it', 'ada')
        assert [o.id for o in memory.objects()] == [1]
        assert look(memory, 10, mug()).verdicts[0].object_id == 1  # type: ignore[attr-defined]
        memory.forget(1)
        assert look(memory, 20, mug()).verdicts[0].reason == 'forgotten'  # type: ignore[attr-defined]
        assert memory.check() == []
    assert rows(path, "SELECT actor, reason FROM log WHERE kind = 'RESTORED'") == [
        ('ada', 'found it')
    ]


# -- two time axes (§7) ----------------------------------------------------------------------


def test_versions_say_since_when_and_when_it_was_learned() -> None:
    with SpatialMemory.open(':memory:') as memory:
        for k, x in enumerate((1.0, 1.0, 1.16, 1.16), 1):
            stamp, crate = START_NS + 2 * k * SECOND, Detection('crate', 0.9, (x, 0, 1), (0.4,) * 3)
            memory.observe(View(stamp, 'camera', [crate]), recorded_ns=stamp + SECOND)
        versions = memory.versions(1)
        assert [v.state for v in versions] == ['tentative', 'confirmed', 'confirmed']
        assert [v.recorded_ns - v.stamp_ns for v in versions] == [SECOND] * 3
        # 1; 1; (1 + 1 + 1.16) / 3; the fourth moves the mean by less than version_distance_m
        assert [v.center_m[0] for v in versions] == pytest.approx([1, 1, 3.16 / 3])
        assert memory.object(1).center_m[0] == pytest.approx(4.32 / 4)


# -- 9: asking changes nothing ---------------------------------------------------------------


def test_asking_changes_nothing() -> None:
    with SpatialMemory.open(':memory:') as memory:
        look(memory, 1, mug())
        before, seq = memory.snapshot_hash(), memory.seq
        for at_ns in (None, START_NS + 10**9 * 86400 * 365):
            memory.query(Query(text='mug', at_ns=at_ns))
        memory.relations(1), memory.history(1), memory.explain(object_id=1)
        assert (memory.snapshot_hash(), memory.seq) == (before, seq)
