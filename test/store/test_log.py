# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Views, observations and log lines read back as they were written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from views import FORWARD, SECOND, observe_all, seen, stream, view

from memory_node import Config, FieldOfView, Pose, SpatialMemory, Verdict
from memory_node.errors import InvalidValueError
from memory_node.model import ChangeKind, VerdictKind
from memory_node.store.log import to_json

LARGE = {'size_m': (1.0, 1.0, 1.0)}


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    with SpatialMemory.open(':memory:') as opened:
        yield opened


def columns(memory: SpatialMemory, table: str) -> list[dict[str, Any]]:
    cursor = memory._database.connection.execute(f'SELECT * FROM {table} ORDER BY 1')
    names = [d[0] for d in cursor.get_description()] if table else []
    return [dict(zip(names, row, strict=True)) for row in cursor]


def test_a_view_is_stored_with_all_it_says(memory: SpatialMemory) -> None:
    covariance = np.arange(36.0).reshape(6, 6)
    memory.observe(
        view(
            1000.5, seen(), sensor='head', sensor_pose=Pose((1.0, 2.0, 3.0), FORWARD),
            field_of_view=FieldOfView(1.2, 0.9, 0.3, 5.0), localization_cov=covariance,
            map_id='A', scope={'robot': 'tiago', 'a': 'ü'}, clock='sim',
        ),
        recorded_ns=1001 * SECOND,
    )  # fmt: skip
    [row] = columns(memory, 'view')
    assert (row['seq'], row['sensor'], row['stamp_ns'], row['recorded_ns']) == (
        1, 'head', 1000_500_000_000, 1001 * SECOND,
    )  # fmt: skip
    assert (row['clock'], row['map_id']) == ('sim', 'A')
    assert np.frombuffer(row['sensor_pose'], '<f8').tolist() == [1.0, 2.0, 3.0, *FORWARD]
    assert np.frombuffer(row['field_of_view'], '<f8').tolist() == [1.2, 0.9, 0.3, 5.0]
    assert np.frombuffer(row['localization_cov'], '<f8').tolist() == covariance.ravel().tolist()
    assert json.loads(row['scope']) == {'robot': 'tiago', 'a': 'ü'}
    [settings] = columns(memory, 'config')
    assert settings['hash'] == row['config']
    assert json.loads(settings['settings'])['blend'] == Config().blend


def test_what_a_view_does_not_say_is_null(memory: SpatialMemory) -> None:
    memory.observe(view(1000))
    [row] = columns(memory, 'view')
    assert row['sensor_pose'] is row['field_of_view'] is row['localization_cov'] is None
    assert (row['clock'], row['map_id'], row['scope']) == ('wall', '', '{}')


def test_an_observation_is_stored_with_all_it_says(memory: SpatialMemory) -> None:
    covariance = np.diag([0.01, 0.02, 0.03])
    memory.observe(
        view(
            1000,
            seen(
                'mug', (1, 2, 3), 0.75, (0.1, 0.2, 0.3), orientation_xyzw=(0, 0, 0.6, 0.8),
                position_cov=covariance, feature=[3.0, 4.0], alternatives={'cup': 0.25},
                track_id='t7',
            ),
            seen('zebra', (9, 9, 9), orientation_xyzw=(0, 0, 0, 0)),
        )
    )  # fmt: skip
    row, plain = columns(memory, 'observation')
    assert (row['id'], row['view_seq'], row['object_id']) == (1, 1, 1)
    assert (row['verdict'], row['reason'], row['label'], row['score']) == (
        'created', '', 'mug', 0.75,
    )  # fmt: skip
    assert [row[c] for c in ('x', 'y', 'z')] == [1.0, 2.0, 3.0]
    assert [row[c] for c in ('size_x', 'size_y', 'size_z')] == [0.1, 0.2, 0.3]
    assert [row[c] for c in ('qx', 'qy', 'qz', 'qw')] == pytest.approx([0.0, 0.0, 0.6, 0.8])
    assert np.frombuffer(row['position_cov'], '<f8').tolist() == covariance.ravel().tolist()
    assert json.loads(row['alternatives']) == {'cup': 0.25}
    assert row['track_id'] == 't7'
    assert np.frombuffer(row['feature'], '<f2') == pytest.approx([0.6, 0.8], abs=1e-3)
    for name in ('geometry_term', 'iou_term', 'feature_term', 'label_term', 'total'):
        assert row[name] is None  # there was nothing to compare it with
    for name in ('qx', 'qw', 'position_cov', 'alternatives', 'track_id', 'feature'):
        assert plain[name] is None


def test_every_verdict_is_read_back_with_its_terms(tmp_path: Path) -> None:
    """What observe() returned is what history tells after a reopen."""
    path = str(tmp_path / 'memory.db')
    told: dict[int, list[Verdict]] = {}
    with SpatialMemory.open(path) as memory:
        for one in stream(5, 40):
            for verdict in memory.observe(one).verdicts:
                if verdict.object_id is not None:
                    told.setdefault(verdict.object_id, []).append(verdict)
    with SpatialMemory.open(path) as memory:
        for object_id, verdicts in told.items():
            history = sorted(memory.history(object_id), key=lambda o: o.id)
            read = [
                Verdict(o.verdict, o.object_id, o.reason, o.terms, o.candidate_id) for o in history
            ]
            assert read == verdicts
            assert all(isinstance(o.verdict, VerdictKind) for o in history)


def test_a_rejected_detection_is_stored_with_its_reason_and_terms(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen('mug', (0, 0, 0), **LARGE)))
    memory.observe(view(1001, seen('fly', (0.1, 0, 0), 0.1, (0.05, 0.05, 0.05))))
    row = columns(memory, 'observation')[1]
    assert (row['object_id'], row['verdict'], row['reason']) == (None, 'rejected', 'low_score')
    # geometry 1 − 0.1/0.5 = 0.8; the box is under three sigma; label 0: (0.2·0.8 + 0) / 0.3.
    assert row['geometry_term'] == pytest.approx(0.8)
    assert row['iou_term'] is row['feature_term'] is None
    assert row['label_term'] == 0.0
    assert row['total'] == pytest.approx(0.16 / 0.3)


def test_a_malformed_detection_leaves_no_row(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen(center_m=(float('nan'), 0, 0)), seen('cup')))
    assert [row['label'] for row in columns(memory, 'observation')] == ['cup']


def test_history_is_in_the_order_of_time_and_cut_to_the_newest(memory: SpatialMemory) -> None:
    for stamp in (1000, 1003, 1001, 1002):
        memory.observe(view(stamp, seen('mug', **LARGE)), recorded_ns=stamp * SECOND + 7)
    history = memory.history(1)
    assert [o.stamp_ns // SECOND for o in history] == [1000, 1001, 1002, 1003]
    assert [o.id for o in history] == [1, 3, 4, 2]
    assert [o.recorded_ns - o.stamp_ns for o in history] == [7] * 4
    assert [o.stamp_ns // SECOND for o in memory.history(1, limit=2)] == [1002, 1003]


def test_history_is_of_one_object_only(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen('mug', (0, 0, 0)), seen('cup', (5, 0, 0))))
    memory.observe(view(1001, seen('cup', (5, 0, 0))))
    labels = [[o.label for o in memory.history(i)] for i in (1, 2)]
    assert sorted(labels) == [['cup', 'cup'], ['mug']]


def test_changes_are_read_back_as_they_were_told(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    told = []
    with SpatialMemory.open(path) as memory:
        for one in stream(6, 40):
            told += memory.observe(one, recorded_ns=one.stamp_ns + 3).changes
        told += memory.forget(2, 'not a "mug" – \u2713', actor='ann', recorded_ns=5).changes
    with SpatialMemory.open(path) as memory:
        read = memory.changes(limit=1000)
    for a, b in zip(told, read, strict=True):
        for name in (
            'seq', 'kind', 'object_id', 'stamp_ns', 'recorded_ns', 'actor', 'reason', 'before',
        ):  # fmt: skip
            assert getattr(a, name) == getattr(b, name), name
        assert b.object is None
        assert a.object is not None and a.object.id == a.object_id


def test_changes_in_pages_and_of_one_object(memory: SpatialMemory) -> None:
    observe_all(memory, stream(7, 20))
    everything = memory.changes(limit=1000)
    assert all(c.kind is not ChangeKind.VIEW for c in everything)
    paged, since = [], 0
    while page := memory.changes(since, limit=7):
        assert len(page) <= 7
        paged += page
        since = page[-1].seq
    assert paged == everything
    of_two = [c for c in everything if c.object_id == 2]
    assert memory.changes(object_id=2) == of_two
    assert memory.changes(object_id=2, limit=1) == of_two[-1:]
    assert memory.changes(of_two[0].seq, object_id=2) == of_two[1:]
    assert memory.changes(memory.seq) == []


def test_bad_limits_are_named(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen()))
    for limit in (0, -1, 1001, 2.5, True, None):
        with pytest.raises(InvalidValueError, match='limit: got'):
            memory.history(1, limit)  # type: ignore[arg-type]
        with pytest.raises(InvalidValueError, match='limit: got'):
            memory.changes(limit=limit)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match='since_seq: got -1'):
        memory.changes(-1)


def test_json_has_one_spelling() -> None:
    assert to_json({'b': [1, 0.1], 'a': 'ü'}) == '{"a":"ü","b":[1,0.1]}'


def test_texts_from_the_world_are_data_not_sql(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    hostile = 'mug\'); DROP TABLE object; --"{}'
    with SpatialMemory.open(path) as memory:
        memory.observe(view(1000, seen(hostile, track_id=hostile, alternatives={hostile: 0.5})))
        memory.observe(view(1001, seen('cup', (5, 0, 0)), sensor=hostile, map_id=hostile))
        memory.forget(1, reason=hostile, actor=hostile)
    with SpatialMemory.open(path) as memory:
        assert memory.object(1).label == hostile
        assert memory.changes()[-1].reason == hostile
        assert memory.check() == []
    assert apsw.Connection(path).execute('SELECT count(*) FROM object').get == 2
