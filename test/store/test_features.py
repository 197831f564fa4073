# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""C33: another model is noticed. C34: row and vector agree. C43: no extension is needed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from damage import copied
from views import observe_all, seen, stream, view

from memory_node import Config, Query, SpatialMemory
from memory_node.errors import DamagedStoreError
from memory_node.model import MemoryObject, VerdictKind
from memory_node.store import behind, features
from memory_node.store.features import all_rows

ROOT = Path(__file__).parents[2]
A, B, C = 'model-a@512', 'model-b@768', 'model-c@512'
PLACES = [(float(k), 0.0, 1.0) for k in range(5)]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / 'memory.db')


def vector(model: str, number: int) -> np.ndarray:
    """What a model makes of a thing: the same for the same thing, another for another model."""
    dimension = int(model.partition('@')[2])
    return np.random.default_rng([number, *model.encode()]).normal(size=dimension)


def things(model: str, stamp_s: float, **more: Any) -> Any:
    """One view of all things, with their features by a model."""
    return view(
        stamp_s,
        *(seen('mug', place, feature=vector(model, k)) for k, place in enumerate(PLACES)),
        **more,
    )


def vectors_of(memory: SpatialMemory) -> dict[tuple[int, str], bytes]:
    names = dict(memory._database.rows('SELECT id, name FROM feature_space'))
    return {(number, names[space]): blob for number, space, blob in all_rows(memory._database)}


def found_by(memory: SpatialMemory, model: str, number: int) -> MemoryObject:
    return memory.query(Query(feature=vector(model, number).astype(np.float32)))[0].object


# -- C33 --------------------------------------------------------------------------------------


@pytest.fixture
def made_with_a(path: str) -> str:
    with SpatialMemory.open(path, Config(feature_space=A)) as memory:
        memory.observe(things(A, 1000, feature_space=A))
        memory.observe(things(A, 1010, feature_space=A))
        assert [found_by(memory, A, k).center_m for k in range(5)] == PLACES
        assert memory.notices == []
    return path


@pytest.mark.parametrize('model', [B, C])
def test_c33_another_model_is_noticed_and_the_rest_goes_on(made_with_a: str, model: str) -> None:
    """Also one whose vectors are of the same length."""
    with SpatialMemory.open(made_with_a, Config(feature_space=model)) as memory:
        [notice] = memory.notices
        assert f"'{A}' (512)" in notice
        assert repr(model) in notice
        old = vectors_of(memory)
        assert set(old) == {(k, A) for k in range(1, 6)}
        # Labels and places are found as before, and no old vector is compared with a new one.
        assert len(memory.query(Query('mug'))) == 5
        assert memory.query(Query(near_m=PLACES[2], radius_m=0.1))[0].object.id == 3
        assert list(memory.query(Query(feature=vector(model, 0).astype(np.float32)))) == []
        # Views bring features of the new model: they join the same objects, beside the old.
        commit = memory.observe(things(model, 1020, feature_space=model))
        assert [v.object_id for v in commit.verdicts] == [1, 2, 3, 4, 5]
        assert 'feature' not in commit.verdicts[0].terms
        assert found_by(memory, model, 3).center_m == PLACES[3]
        now = vectors_of(memory)
        assert {key: now[key] for key in old} == old
        assert set(now) == {(k, m) for k in range(1, 6) for m in (A, model)}
        assert memory.check() == []
    # Whoever comes back to the first model finds what it made.
    with SpatialMemory.open(made_with_a, Config(feature_space=A)) as memory:
        assert memory.notices == []
        assert [found_by(memory, A, k).center_m for k in range(5)] == PLACES
        commit = memory.observe(things(A, 1030, feature_space=A))
        assert commit.verdicts[0].terms['feature'] > 0.99
        assert memory.check() == []


def test_c33_a_vector_of_another_length_costs_that_detection_alone(made_with_a: str) -> None:
    with SpatialMemory.open(made_with_a, Config(feature_space=A)) as memory:
        good = seen('mug', PLACES[0], feature=vector(A, 0))
        bad = seen('mug', PLACES[1], feature=vector(B, 1))
        none = seen('mug', PLACES[2])
        verdicts = memory.observe(view(1020, good, bad, none)).verdicts
        assert [v.reason for v in verdicts] == ['', 'feature_dim', '']
        assert [v.object_id for v in verdicts] == [1, None, 3]
        assert memory.refusals == {'feature_dim': 1}
        assert memory.check() == []


def test_c33_features_of_another_name_are_refused_and_the_rest_is_not(made_with_a: str) -> None:
    with SpatialMemory.open(made_with_a, Config(feature_space=A)) as memory:
        named = seen('mug', PLACES[0], feature=vector(C, 0))
        none = seen('mug', PLACES[1])
        verdicts = memory.observe(view(1020, named, none, feature_space=C)).verdicts
        assert [v.reason for v in verdicts] == ['feature_space', '']
        assert verdicts[1].object_id == 2
        assert memory.refusals == {'feature_space': 1}
        assert memory.check() == []


def test_c33_models_in_turn_are_replayed_as_they_came(path: str) -> None:
    """Also where a view named the model first, and the settings only later."""
    for k, name in enumerate(['', A, B, '', C, A, B]):
        model = name or (A, B)[k > 0]
        with SpatialMemory.open(path, Config(feature_space=name)) as memory:
            memory.observe(things(model, 1000 + 10 * k, feature_space=model))
            if k == 4:
                memory.forget(2)
            if k == 5:
                memory.restore(2)
            assert memory.check() == []
            before = memory.snapshot_hash()
            memory.rebuild()
            assert memory.snapshot_hash() == before
            assert len(memory.objects()) == 5 - (k == 4)
    with SpatialMemory.open(path) as memory:
        assert [row[0] for row in memory._database.rows('SELECT name FROM feature_space')] == [
            A, B, C,
        ]  # fmt: skip


def test_c33_without_a_name_the_first_features_decide(path: str) -> None:
    with SpatialMemory.open(path) as memory:
        memory.observe(things(A, 1000))
        verdicts = memory.observe(things(B, 1010)).verdicts
        assert {v.reason for v in verdicts} == {'feature_dim'}
    with SpatialMemory.open(path) as memory:
        assert {v.reason for v in memory.observe(things(B, 1020)).verdicts} == {'feature_dim'}
        assert {v.kind for v in memory.observe(things(A, 1030)).verdicts} == {VerdictKind.MERGED}
        assert memory.check() == []


# -- C34 --------------------------------------------------------------------------------------

KILLS, LONG_KILLS = 5, 50

BY_PLACE = {'geometry_weight': 0.5, 'iou_weight': 0.4, 'feature_weight': 0.0, 'label_weight': 0.1}
"""Whatever the vector, the thing at a place is the same one."""

KILLED = """
import os, signal, sys
import apsw
from memory_node import Config, SpatialMemory
from views import seen, view

path, after, profile = sys.argv[1], int(sys.argv[2]), sys.argv[3]
by_place = dict(geometry_weight=0.5, iou_weight=0.4, feature_weight=0.0, label_weight=0.1)
memory = SpatialMemory.open(path, Config(profile=profile, blend=1.0, **by_place))


def count(cursor, sql, bindings):
    global after
    after -= 1
    if after == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return True


memory._database.connection.exec_trace = count
for turn in range(10000):
    one = [0.0] * 4
    one[turn % 4] = 1.0
    things = [seen('thing', (float(k), 0, 0), feature=one) for k in range(3 + turn // 8)]
    print(memory.observe(view(1000 + turn, *things)).seq, flush=True)
"""
"""Saves the same objects with another vector in each view, and is killed before a statement."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """As many kills as the case asks for, or a tenth."""
    if 'kill' in metafunc.fixturenames:
        long = metafunc.config.getoption('--long')
        metafunc.parametrize('kill', range(LONG_KILLS if long else KILLS))


def test_c34_saving_again_replaces_the_vector(path: str) -> None:
    with SpatialMemory.open(path, Config(blend=1.0, **BY_PLACE)) as memory:
        memory.observe(view(1000, seen(feature=[1.0, 0, 0, 0])))
        for number in range(6):
            memory.observe(view(1001 + number, seen(feature=[0, 1.0, 0, 0])))
    with SpatialMemory.open(path) as memory:
        [(_, _, blob)] = all_rows(memory._database)
        assert np.frombuffer(blob, '<f4').tolist() == [0, 1, 0, 0]
        assert memory.check() == []


@pytest.mark.parametrize('profile', ['default', 'chronotope'])
def test_c34_row_and_vector_agree_wherever_it_is_killed(path: str, kill: int, profile: str) -> None:
    after = random.Random(f'{kill} {profile}').randint(1, 250)
    done = subprocess.run(
        [sys.executable, '-c', KILLED, path, str(after), profile],
        cwd=ROOT,
        env={**os.environ, 'PYTHONPATH': f'{ROOT}{os.pathsep}{ROOT / "test" / "support"}'},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    told = [int(line) for line in done.stdout.split()]
    with SpatialMemory.open(path, Config(profile=profile, blend=1.0, **BY_PLACE)) as memory:
        assert memory.check() == []
        assert memory.seq >= (told[-1] if told else 0)
        rows = {number: blob for number, _, blob in all_rows(memory._database)}
        assert set(rows) == {one.id for one in memory.objects()}
        kept = memory._database.rows(
            'SELECT object_id, max(view_seq) FROM observation WHERE feature IS NOT NULL '
            'GROUP BY object_id'
        )
        assert {number for number, _ in kept} == set(rows)
        # And saving goes on.
        for turn in range(4):
            one = np.eye(4)[turn]
            commit = memory.observe(view(20000 + turn, seen('thing', (0, 0, 0), feature=one)))
            assert commit.verdicts[0].object_id is not None
        assert memory.check() == []


# -- C43 --------------------------------------------------------------------------------------


def run_all(path: str, profile: str) -> list[Any]:
    """Everything that has to do with vectors; what came of it."""
    config = Config(profile=profile)
    with SpatialMemory.open(path, config) as memory:
        observe_all(memory, stream(91, 40))
        memory.forget(1)
    with SpatialMemory.open(path, config) as memory:
        observe_all(memory, list(stream(91, 60))[40:])
        memory.rebuild()
        query = Query(feature=np.arange(8, dtype=np.float32), limit=20)
        hits = [(hit.object.id, hit.score, dict(hit.terms)) for hit in memory.query(query)]
        assert memory.check() == []
        return [memory.snapshot_hash(), hits, memory.objects()]


@pytest.mark.parametrize('profile', ['default', 'chronotope'])
def test_c43_a_sqlite_that_loads_no_extensions_gives_the_same_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    expected = run_all(str(tmp_path / 'with.db'), profile)

    class Bare(apsw.Connection):
        """Like a connection of a Python that was built without extension loading."""

        def __getattribute__(self, name: str) -> Any:
            if 'load' in name:
                raise AttributeError(f"'Connection' object has no attribute {name!r}")
            return super().__getattribute__(name)

    with pytest.raises(AttributeError):
        Bare(':memory:').enable_load_extension(True)
    monkeypatch.setattr(apsw, 'Connection', Bare)
    monkeypatch.setitem(sys.modules, 'sqlite_vec', None)  # importing it fails
    assert run_all(str(tmp_path / 'without.db'), profile) == expected


# -- written behind --------------------------------------------------------------------------


def marks(memory: SpatialMemory) -> list[tuple[int, int]]:
    """Object and last observation of each row as it is in the file."""
    return memory._database.rows('SELECT object_id, observation_id FROM object_feature ORDER BY 1')


@pytest.mark.parametrize('seed', range(3))
def test_what_was_not_written_yet_is_blended_again_from_the_observations(
    path: str, tmp_path: Path, seed: int
) -> None:
    with SpatialMemory.open(path) as memory:
        for number, given in enumerate(stream(seed, 60)):
            memory.observe(given)
            if number in (20, 40):  # an edit writes all that waits
                memory.forget(memory.objects()[number % 3].id)
                assert len(memory._session._behind) == 0
        assert len(memory._session._behind) > 0
        expected, digest = vectors_of(memory), memory.snapshot_hash()
        killed = copied(memory, tmp_path / 'killed.db')
        with SpatialMemory.open(killed, readonly=True) as read:
            assert vectors_of(read) == expected
            world, held = read._session.engine.world, memory._session.engine.world
            rows = np.flatnonzero(held.records['has_feature'] & held.alive)
            again = world.rows_of(held.records['id'][rows])
            assert world.records['has_feature'][again].all()
            assert world.features.take(again).tobytes() == held.features.take(rows).tobytes()
            assert read.snapshot_hash() == digest
            assert read.check() == []
        with SpatialMemory.open(killed) as written:
            assert list(features.recovered(written._database)) == []
            assert vectors_of(written) == expected
            assert written.check() == []
    with SpatialMemory.open(path) as memory:
        assert list(features.recovered(memory._database)) == []
        assert vectors_of(memory) == expected


def test_other_settings_begin_after_what_waits_was_written(path: str, tmp_path: Path) -> None:
    with SpatialMemory.open(path, Config(blend=0.2)) as memory:
        for given in stream(1, 20):
            memory.observe(given)
        memory.configure(Config(blend=0.9))
        assert len(memory._session._behind) == 0
        for given in stream(2, 20):
            memory.observe(given)
        expected = vectors_of(memory)
        with SpatialMemory.open(copied(memory, tmp_path / 'killed.db')) as killed:
            assert vectors_of(killed) == expected


@pytest.mark.parametrize(('most', 'longest'), [(2, 50_000), (20_000, 3)])
def test_a_view_writes_what_waited_too_long(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, longest: int
) -> None:
    monkeypatch.setattr(behind, 'MOST', most)
    monkeypatch.setattr(features, 'LONGEST', longest)
    with SpatialMemory.open(path) as memory:
        for stamp in range(1, 5):
            memory.observe(things(A, 1000 + stamp))
        written = [last for _, last in marks(memory)]
        assert len(written) == 5
        assert set(written) <= {5, 10, 15}, 'a row has what was known before the view'
        expected = vectors_of(memory)
        with SpatialMemory.open(copied(memory, tmp_path / 'killed.db')) as killed:
            assert vectors_of(killed) == expected
            assert killed.check() == []


@pytest.mark.parametrize('profile', ['default', 'chronotope'])
def test_what_is_read_again_stays_bounded_where_nothing_waits(
    path: str, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    """Detections without features, and a world that is known, move no feature for hours."""
    monkeypatch.setattr(features, 'LONGEST', 4)
    plain = [view(1000 + k, seen('mug', (0.0, 0.0, 1.0), feature=[1.0, 0.0])) for k in range(12)]
    with SpatialMemory.open(path, Config(profile=profile, feature_keep_first=1)) as memory:
        for number, given in enumerate(plain, 1):
            memory.observe(given)
            assert number - features.mark_of(memory._database) <= 4 + 2  # and the views about it
    with SpatialMemory.open(path, readonly=True) as memory:
        assert features.mark_of(memory._database) == 12
        assert memory.check() == []


def test_a_stored_feature_of_another_length_is_damage(path: str, tmp_path: Path) -> None:
    with SpatialMemory.open(path) as memory:
        memory.observe(things(A, 1000))
        memory.forget(5)  # the rows are written
        memory.observe(things(A, 1001))
        killed = copied(memory, tmp_path / 'killed.db')
    with apsw.Connection(killed) as connection:
        connection.execute("UPDATE object_feature SET feature = x'00000000' WHERE object_id = 1")
    connection.close()
    with pytest.raises(DamagedStoreError, match='not as long as those of its space'):
        SpatialMemory.open(killed)
