# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""SpatialMemory as DESIGN §12 promises it, and the inputs of the cases that it must survive."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from views import FORWARD, SECOND, observe_all, seen, stream, view

import memory_node
from memory_node import (
    Config,
    DepthImage,
    Detection,
    FieldOfView,
    MemoryObject,
    Pose,
    Query,
    SpatialMemory,
    View,
)
from memory_node.errors import (
    ClosedError,
    DamagedStoreError,
    InvalidValueError,
    ObjectEndedError,
    StoreError,
    UnknownObjectError,
)
from memory_node.fusion.presence import BIRTH_ODDS
from memory_node.model import ChangeKind, Check, Standing, State, VerdictKind
from memory_node.store import checkpoint, kept_out, log, objects

NAN, INF = float('nan'), float('inf')
NOBODY = [0, -1, 99, 2**63, 2**64 - 1, 'zzz', None, 1.5]


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    with SpatialMemory.open(':memory:') as opened:
        yield opened


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / 'memory.db')


def lines(memory: SpatialMemory) -> list[tuple[int, str, int | None]]:
    rows = memory._database.rows('SELECT seq, kind, object_id FROM log ORDER BY seq')
    return [(int(seq), str(kind), number) for seq, kind, number in rows]


def columns_of(memory: SpatialMemory, table: str) -> list[dict[str, str]]:
    """The SQLite type of every value in a table, by column."""
    names = [r[1] for r in memory._database.rows(f'PRAGMA table_info({table})')]
    types = ', '.join(f'typeof({name})' for name in names)
    rows = memory._database.rows(f'SELECT {types} FROM {table}')
    return [dict(zip(names, row, strict=True)) for row in rows]


# -- the contract ----------------------------------------------------------------------------


def test_the_library_in_ten_lines(path: str) -> None:
    """CH-1: boxes go in, a scene that can be asked comes out."""
    memory = SpatialMemory.open(path)
    commit = memory.observe(
        View(
            stamp_ns=1000 * SECOND,
            sensor='head_camera',
            detections=[
                Detection(
                    label='mug', score=0.9, center_m=(1.2, 0.3, 0.9), size_m=(0.1, 0.1, 0.12),
                    feature=[1.0, 0.0],
                ),
                Detection(label='mug', score=0.9, center_m=(NAN, 0, 0)),
            ],
        )
    )  # fmt: skip
    mug, refused = commit.verdicts
    assert (mug.kind, mug.object_id, mug.reason) == ('created', 1, '')
    assert (refused.kind, refused.object_id, refused.reason) == ('rejected', None, 'not_finite')
    assert dict(mug.terms) == dict(refused.terms) == {}
    [change] = commit.changes
    assert (change.seq, change.kind, change.object_id) == (2, 'CREATED', 1)
    assert (change.stamp_ns, commit.seq) == (1000 * SECOND, 2)
    [hit] = memory.query(Query(text='mug', near_m=(1, 0, 1), radius_m=2.0, limit=10))
    assert hit.object == memory.objects()[0] == memory.object(1)
    assert hit.score == pytest.approx(1 - hit.terms['distance_m'] / 2)
    assert memory.history(1)[0].label == 'mug'
    assert memory.relations(1) == []
    assert [c.seq for c in memory.changes(since_seq=0)] == [2]
    memory.forget(1, reason='not a mug')
    assert len(memory.snapshot_hash()) == 64
    assert memory.check() == []
    memory.close()


def test_an_object_has_what_was_promised(memory: SpatialMemory) -> None:
    """CH-7: the fields of an object."""
    memory.observe(view(1000, seen('mug', (1, 2, 3), 0.8, (0.1, 0.2, 0.3)), map_id='A'))
    assert memory.objects() == [
        MemoryObject(
            id=1, label='mug', labels={'mug': 0.8}, state=State.TENTATIVE,
            center_m=(1.0, 2.0, 3.0), orientation_xyzw=(0.0, 0.0, 0.0, 1.0),
            size_m=(0.1, 0.2, 0.3), confidence=0.8, observations=1,
            first_seen_ns=1000 * SECOND, last_seen_ns=1000 * SECOND, map_id='A',
            last_checked_ns=1000 * SECOND, last_check=Check.SEEN,
            standing=Standing(BIRTH_ODDS, 1000 * SECOND, 48 * 3600.0),
        )
    ]  # fmt: skip
    assert memory.objects()[0].state == 'tentative'
    assert f'{memory.objects()[0].state}' == 'tentative'


def test_everything_of_the_contract_is_imported_from_the_package() -> None:
    names = {'SpatialMemory', 'View', 'Detection', 'Query', 'Pose', 'FieldOfView', 'DepthImage'}
    assert names <= set(memory_node.__all__)
    assert all(hasattr(memory_node, name) for name in memory_node.__all__)


def test_a_view_may_bring_all_that_a_sensor_knows(memory: SpatialMemory) -> None:
    depth = DepthImage(np.full((4, 6), 2.0, np.float32), 5.0, 5.0, 3.0, 2.0)
    given = view(
        1000, seen(track_id='7', alternatives={'cup': 0.1}, position_cov=np.eye(3) * 0.01),
        sensor_pose=Pose((0.0, 0.0, 1.0), FORWARD), depth=depth,
        field_of_view=FieldOfView(1.2, 0.9, 0.3, 5.0), localization_cov=np.eye(6),
        map_id='A', scope={'robot': 'tiago'}, clock='sim',
    )  # fmt: skip
    assert memory.observe(given).verdicts[0].kind == 'created'


def test_there_is_one_verdict_per_detection_in_their_order(memory: SpatialMemory) -> None:
    given = [
        seen('zebra', (0, 0, 0)), seen('', (1, 0, 0)), seen('apple', (5, 0, 0)),
        seen('fly', (9, 0, 0), 0.1), seen('mug', (3, 0, 0)),
    ]  # fmt: skip
    verdicts = memory.observe(view(1000, *given)).verdicts
    assert [v.kind.value for v in verdicts] == [
        'created', 'rejected', 'created', 'rejected', 'created',
    ]  # fmt: skip
    assert [v.reason for v in verdicts] == ['', 'no_label', '', 'low_score', '']
    labels = [v.object_id and memory.object(v.object_id).label for v in verdicts]
    assert labels == ['zebra', None, 'apple', None, 'mug']
    again = memory.observe(view(1000.1, *reversed(given))).verdicts
    assert [v.object_id for v in again] == [v.object_id for v in reversed(verdicts)]
    assert [v.kind for v in again].count(VerdictKind.MERGED) == 3
    assert all(v.terms['total'] >= 0.62 for v in again if v.kind is VerdictKind.MERGED)


def test_numbers_of_numpy_are_numbers_on_disk_too(path: str) -> None:
    """SQLite would take a numpy scalar for a blob."""
    stamp = np.int64(1000 * SECOND)
    with SpatialMemory.open(path) as memory:
        memory.observe(View(stamp, 'camera', [seen(score=np.float32(0.5))]), recorded_ns=stamp)
        one = np.int64(1)
        assert memory.object(one) == memory.objects()[0]
        assert [o.stamp_ns for o in memory.history(one)] == [1000 * SECOND]
        for changes in (
            memory.changes(object_id=one), memory.changes(one), memory.changes(one, object_id=one),
        ):  # fmt: skip
            assert [c.kind for c in changes] == [ChangeKind.CREATED]
        assert memory.relations(one) == memory.relate([one]) == []
        memory.forget(one, recorded_ns=stamp)
        for table in ('log', 'view', 'observation', 'object', 'object_version', 'tombstone'):
            for row in columns_of(memory, table):
                for name, kind in row.items():
                    assert kind != 'blob' or not name.endswith(('_ns', 'seq', 'id')), (table, name)
        assert memory.check() == []


# -- the cases -------------------------------------------------------------------------------


def test_c02_a_cup_on_a_table_stays_two_things(memory: SpatialMemory) -> None:
    table = seen('table', (2, 0, 0.375), size_m=(1.2, 0.8, 0.75))
    cup = seen('cup', (2.0, 0.1, 0.80), size_m=(0.08, 0.08, 0.10))
    for k in range(20):
        memory.observe(view(1000 + k / 10, table, cup))
    by_label = {o.label: o for o in memory.objects()}
    assert set(by_label) == {'table', 'cup'}
    for detection in (table, cup):
        shift = np.subtract(by_label[detection.label].center_m, detection.center_m)
        assert np.linalg.norm(shift) <= 0.02
    told = {(r.subject_id, r.kind.value, r.object_id) for r in memory.relations(1)}
    a, b = by_label['cup'].id, by_label['table'].id
    assert told == {(a, 'on', b), (b, 'under', a), (a, 'near', b), (b, 'near', a)}


def test_c02_two_chairs_stay_two_whatever_their_order(memory: SpatialMemory) -> None:
    shuffle = random.Random(7).shuffle
    chairs = [seen('chair', (x, 0, 0.45), size_m=(0.5, 0.5, 0.9)) for x in (1.00, 1.35)]
    for k in range(50):
        shuffle(chairs)
        memory.observe(view(1000 + k / 10, *chairs))
        assert len(memory.objects()) == 2
    assert sorted(o.center_m[0] for o in memory.objects()) == pytest.approx([1.00, 1.35])
    assert [o.observations for o in memory.objects()] == [50, 50]


def test_c12_a_bad_stamp_is_refused_and_never_becomes_the_newest_time(
    memory: SpatialMemory,
) -> None:
    clock = 812.0

    def at(stamp_s: float, now_s: float, *detections: Detection) -> str:
        return memory.observe(view(stamp_s, *detections), round(now_s * SECOND)).refused

    thing = seen('tag', (1, 2, 3), size_m=(0, 0, 0))
    assert at(clock - 1, clock - 1, seen('other', (5, 5, 5))) == ''
    assert at(0.0, clock, thing) == 'bad_stamp'
    assert at(1709320098.0, clock, thing) == 'bad_stamp'
    assert at(clock + 4300, clock, thing) == 'bad_stamp'
    assert memory.newest_stamp_ns == round((clock - 1) * SECOND)
    assert at(clock + 0.02, clock, thing) == ''
    assert at(clock + 0.1, clock + 0.1, thing) == ''
    assert memory.refusals == {'bad_stamp': 3}
    assert {o.label: o.observations for o in memory.objects()} == {'other': 1, 'tag': 2}
    stamps = [r[0] for r in memory._database.rows('SELECT stamp_ns FROM view')]
    assert min(stamps) == 811 * SECOND
    assert memory.check() == []


def test_c12_a_refused_view_leaves_no_line_and_its_detections_are_counted(
    memory: SpatialMemory,
) -> None:
    memory.observe(view(1000, seen()))
    before = memory.snapshot_hash()
    commit = memory.observe(view(1, seen(), seen('cup')))
    assert commit.refused == 'too_old'
    assert [v.reason for v in commit.verdicts] == ['too_old', 'too_old']
    assert (commit.changes, commit.first_seq, commit.seq) == ((), 3, 2)
    memory.observe(view(0))
    assert memory.refusals == {'too_old': 2, 'bad_stamp': 1}
    assert memory.snapshot_hash() == before


def test_c14_the_array_of_five(memory: SpatialMemory) -> None:
    covariance = np.eye(3) * 0.01
    covariance[0, 0] = NAN
    commit = memory.observe(
        view(
            1000,
            seen('mug', (NAN, 0, 1)),
            seen('mug', (1, INF, 1)),
            seen('mug', (1, 0, 1), size_m=(0.1, 0.1, NAN)),
            seen('cup', (3, 0, 1), position_cov=covariance),
            seen('mug', (1, 0, 1)),
        )
    )
    assert [v.reason for v in commit.verdicts] == ['not_finite'] * 3 + [''] * 2
    assert [o.label for o in memory.objects()] == ['cup', 'mug']
    assert memory.refusals == {'not_finite': 3}
    with pytest.raises(InvalidValueError, match='near_m'):
        memory.query(Query(near_m=(NAN, 0, 0), radius_m=1))
    assert memory.check() == []


BAD_ONES: list[tuple[str, Detection]] = [
    ('not_finite', seen(center_m=(NAN, 0, 0), feature=[1.0, 0.0])),
    ('bad_type', seen(center_m=(1, 2))),
    ('bad_score', seen(score=7)),
    ('bad_size', seen(size_m=(-1, 1, 1))),
    ('no_label', seen('')),
    ('ignored', seen('wall')),
    ('feature_dim', seen(feature=[1.0, 0.0])),
    ('bad_feature', seen(feature=[0.0, 0.0, 0.0])),
]


@pytest.mark.parametrize(('reason', 'bad'), BAD_ONES)
def test_c14_a_bad_detection_changes_nothing_for_the_good_ones(reason: str, bad: Detection) -> None:
    """The memory is what it would be without it, apart from the count."""
    good = [seen('mug', (0, 0, 0), feature=[1.0, 0.0, 0.0]), seen('cup', (5, 0, 0))]
    config = Config(ignored_labels=('Wall',))
    with (
        SpatialMemory.open(':memory:', config) as plain,
        SpatialMemory.open(':memory:', config) as disturbed,
    ):
        for memory in (plain, disturbed):
            memory.observe(view(999, *good))
        for stamp in (1000, 1002):
            plain.observe(view(stamp, *good))
            commit = disturbed.observe(view(stamp, good[0], bad, good[1]))
            assert [v.reason for v in commit.verdicts] == ['', reason, '']
        assert disturbed.refusals == {reason: 2}
        assert disturbed.snapshot_hash() == plain.snapshot_hash()
        assert disturbed.check() == []


def test_c14_a_view_of_bad_detections_only_is_a_stored_view(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen(center_m=(NAN, 0, 0)), seen(score=NAN)))
    assert lines(memory) == [(1, 'VIEW', None)]
    assert memory.refusals == {'not_finite': 2}


@pytest.mark.parametrize(
    'odd',
    [
        {'alternatives': ['cup']},
        {'alternatives': {'\ud800': 0.5}},
        {'track_id': '\ud800'},
        {'label': '\ud800mug'},
        {'label': 'x' * 10**6},
        {'position_cov': 'wide'},
        {'center_m': (1e300, 0, 0)},
        {'center_m': (1e300, -1e300, 1e300), 'size_m': (1e300, 1e300, 1e300)},
        {'size_m': (1e-320, 1e-320, 1e-320)},
    ],
)
@pytest.mark.filterwarnings('ignore::RuntimeWarning')  # products beyond float64
def test_c14_odd_values_leave_the_memory_in_order(path: str, odd: dict[str, Any]) -> None:
    with SpatialMemory.open(path) as memory:
        for stamp in (1000, 1002, 1004):
            commit = memory.observe(view(stamp, seen(**odd), seen('cup', (5, 0, 0))))
            assert commit.verdicts[1].object_id is not None
        assert memory.query(Query('cup'))[0].object.observations == 3
        memory.query(Query(near_m=(0, 0, 0), radius_m=10))
        held = memory.objects()
        for one in held:
            assert np.isfinite([*one.center_m, *one.size_m, *one.orientation_xyzw]).all()
            memory.relations(one.id)
    with SpatialMemory.open(path) as memory:
        assert memory.objects() == held
        assert memory.check() == []
        assert memory.observe(view(1006, seen('cup', (5, 0, 0)))).verdicts[0].kind == 'merged'


def test_c15_flat_things_and_things_of_unknown_extent(memory: SpatialMemory) -> None:
    poster = seen('poster', (2, 1, 1), size_m=(1.0, 0.0, 0.6))
    tag = seen('tag', (1, 2, 3), size_m=(0, 0, 0))
    for stamp in (1000, 1000.1):
        memory.observe(view(stamp, poster, tag))
    assert {o.label: (o.size_m, o.observations) for o in memory.objects()} == {
        'poster': ((1.0, 0.0, 0.6), 2),
        'tag': ((0.0, 0.0, 0.0), 2),
    }


def test_c17_nothing_without_a_label_and_only_what_is_ignored() -> None:
    with SpatialMemory.open(':memory:', Config(ignored_labels=('wall',))) as memory:
        for k, detections in enumerate(([], [seen('', (1, 1, 1))], [seen('Wall', (2, 2, 2))])):
            commit = memory.observe(view(1000 + k, *detections))
            assert commit.refused == ''
            assert commit.changes == ()
        assert lines(memory) == [(1, 'VIEW', None), (2, 'VIEW', None), (3, 'VIEW', None)]
        assert memory.objects() == []
        assert memory.refusals == {'no_label': 1, 'ignored': 1}
        assert memory.check() == []


def test_c17_an_empty_view_is_a_stored_view(path: str) -> None:
    with SpatialMemory.open(path) as memory:
        commit = memory.observe(view(1000), recorded_ns=1001 * SECOND)
        assert (commit.verdicts, commit.changes) == ((), ())
        assert (commit.first_seq, commit.seq, commit.refused) == (1, 1, '')
        assert memory.newest_stamp_ns == 1000 * SECOND
    assert apsw.Connection(path).execute('SELECT seq, stamp_ns, recorded_ns FROM view').get == (
        1, 1000 * SECOND, 1001 * SECOND,
    )  # fmt: skip


def test_c17_an_unlabelled_detection_with_a_feature_is_unknown(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen('', feature=[1.0, 0.0])))
    assert [o.label for o in memory.objects()] == ['unknown']


def test_c19_both_labels_find_it_while_both_hold_a_fifth(memory: SpatialMemory) -> None:
    names = ['chair'] * 8 + ['stool'] + ['chair'] * 3 + ['stool'] * 15
    for k, name in enumerate(names):
        memory.observe(view(1000 + k / 10, seen(name, (3, 0, 0.5), 0.6)))
    # chair 11·0.6 = 6.6 of 16.2: 41 %
    for text in ('chair', 'stool'):
        assert [hit.object.label for hit in memory.query(Query(text))] == ['stool']


@pytest.mark.parametrize('cut', [None, 30])
def test_a_thing_that_drifts_is_found_where_it_is(path: str, cut: int | None) -> None:
    """Its place in the index follows, a little at a time, for 3 m; also from an index read anew."""
    memory = SpatialMemory.open(path, Config(motion=False))
    for k in range(61):
        if k == cut:
            memory.close()
            memory = SpatialMemory.open(path, Config(motion=False))
        cart = seen('cart', (0.05 * k, 0, 0), size_m=(1, 1, 1), feature=[1.0, 0.0])
        [verdict] = memory.observe(view(1000 + k / 10, cart)).verdicts
        assert verdict.object_id == 1
    # It lags by 0.05·(1 − 0.2)/0.2 = 0.2 m.
    assert memory.object(1).center_m[0] == pytest.approx(2.8, abs=0.001)
    assert [h.object.id for h in memory.query(Query(near_m=(2.8, 0, 0), radius_m=0.1))] == [1]
    assert list(memory.query(Query(near_m=(0, 0, 0), radius_m=1.0))) == []
    memory.close()


def test_settings_of_ignored_labels_may_change_while_it_is_open(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen('wall', (0, 0, 0))))
    memory.configure(Config(ignored_labels=('wall',)))
    memory.observe(view(1001, seen('wall', (5, 0, 0))))
    assert [o.center_m for o in memory.objects()] == [(0.0, 0.0, 0.0)]


# -- forgetting ------------------------------------------------------------------------------


def test_forgetting_ends_an_object_and_says_who_and_why(memory: SpatialMemory) -> None:
    """CH-31: but for its id and its line, it is gone."""
    memory.observe(view(1000, seen(), seen('cup', (5, 0, 0))))
    before = memory.object(2)
    assert before.label == 'mug'
    commit = memory.forget(2, 'not a mug', actor='ann', recorded_ns=1003 * SECOND)
    [change] = commit.changes
    assert (change.kind, change.object_id, change.reason, change.actor) == (
        'FORGOTTEN', 2, 'not a mug', 'ann',
    )  # fmt: skip
    assert (change.stamp_ns, change.recorded_ns) == (1000 * SECOND, 1003 * SECOND)
    assert change.before == {'state': 'tentative'}
    ended = dataclasses.replace(before, state=State.FORGOTTEN)
    assert change.object == memory.object(2) == ended
    assert [o.id for o in memory.objects()] == [1]
    assert [o.label for o in memory.history(2)] == ['mug']
    assert memory.relations(2) == []
    with pytest.raises(ObjectEndedError, match='object 2'):
        memory.forget(2)
    assert memory.check() == []


def test_ch_w2_forgotten_stays_forgotten_at_the_next_sighting(path: str) -> None:
    with SpatialMemory.open(path) as memory:
        memory.observe(view(1000, seen('mug', (1, 0, 1)), seen('mug', (5, 0, 1))))
        memory.forget(1)
        for k, label in enumerate(('mug', 'MUG')):
            [verdict] = memory.observe(view(1001 + k, seen(label, (1.1, 0, 1)))).verdicts
            assert (verdict.kind, verdict.object_id, verdict.reason) == (
                'rejected', None, 'forgotten',
            )  # fmt: skip
    with SpatialMemory.open(path) as memory:  # across a restart
        [verdict] = memory.observe(view(1005, seen('mug', (1, 0, 1)))).verdicts
        assert (verdict.kind, verdict.reason) == ('rejected', 'forgotten')
        assert [o.id for o in memory.objects()] == [2]
        # The other mug, another label there, and a mug elsewhere are learned as ever.
        given = (seen('mug', (5, 0, 1)), seen('cup', (1, 0, 1)), seen('mug', (1, 0.26, 1)))
        verdicts = memory.observe(view(1006, *given)).verdicts
        assert [(v.kind.value, v.object_id) for v in verdicts] == [
            ('merged', 2),
            ('created', 3),
            ('created', 4),
        ]
        rows = memory._database.rows("SELECT count(*) FROM observation WHERE reason = 'forgotten'")
        assert rows == [(3,)], 'a barred detection is stored with its reason'
        assert memory.check() == []


def test_ch_w2_forgetting_holds_in_its_own_map_only(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen(), map_id='A'))
    memory.forget(1)
    assert memory.observe(view(1001, seen(), map_id='A')).verdicts[0].reason == 'forgotten'
    assert memory.observe(view(1002, seen(), map_id='B')).verdicts[0].kind == 'created'


def test_what_lies_beside_something_forgotten_goes_on(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen('mug', (0, 0, 0)), seen('cup', (0.05, 0, 0))))
    cup = next(o.id for o in memory.objects() if o.label == 'cup')
    mug = next(o.id for o in memory.objects() if o.label == 'mug')
    memory.forget(mug)
    verdicts = memory.observe(view(1001, seen('cup', (0.05, 0, 0)))).verdicts
    assert [v.object_id for v in verdicts] == [cup]


@pytest.mark.parametrize('nobody', NOBODY)
def test_ids_of_nobody_are_named(memory: SpatialMemory, nobody: Any) -> None:
    memory.observe(view(1000, seen()))
    before = memory.snapshot_hash()
    calls: list[Callable[[Any], object]] = [
        memory.object, memory.history, memory.relations, memory.forget,
        lambda i: memory.relate([i]), lambda i: memory.relate(None, None, [i]),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(UnknownObjectError, match='no object has the id'):
            call(nobody)
    assert memory.snapshot_hash() == before


def test_ids_are_never_used_again(path: str) -> None:
    with SpatialMemory.open(path) as memory:
        memory.observe(view(1000, seen('a', (0, 0, 0)), seen('b', (5, 0, 0))))
        memory.forget(2)
        memory.forget(1)
    with SpatialMemory.open(path) as memory:
        [verdict] = memory.observe(view(1001, seen('c', (0, 0, 0)))).verdicts
        assert verdict.object_id == 3
        assert [memory.object(i).label for i in (1, 2, 3)] == ['a', 'b', 'c']


# -- the log ---------------------------------------------------------------------------------


def test_log_numbers_have_no_gaps_across_everything(path: str) -> None:
    told: list[tuple[int, str, int | None]] = []
    number = 0
    for _ in range(3):
        with SpatialMemory.open(path) as memory:
            assert memory.seq == number
            for one in list(stream(3, 30))[:10]:
                commit = memory.observe(one)
                assert commit.first_seq == number + 1
                told.append((commit.first_seq, 'VIEW', None))
                told += [(c.seq, c.kind.value, c.object_id) for c in commit.changes]
                number = commit.seq
            memory.observe(view(0, seen()))  # refused: no number
            object_id = memory.objects()[0].id
            commit = memory.forget(object_id)
            assert (commit.first_seq, commit.seq) == (number + 1, number + 1)
            told.append((commit.seq, 'FORGOTTEN', object_id))
            number = commit.seq
            assert memory.seq == number
    assert [seq for seq, _, _ in told] == list(range(1, number + 1))
    with SpatialMemory.open(path) as memory:
        assert lines(memory) == told


def test_promise_3_the_same_stream_gives_the_same_snapshot(path: str) -> None:
    """CH-24."""
    views = list(stream(21, 80))
    with SpatialMemory.open(path) as one, SpatialMemory.open(':memory:') as other:
        observe_all(one, views)
        for given in views:
            other.observe(given)  # recorded at another time
        assert one.snapshot_hash() == other.snapshot_hash()
        assert one.objects() == other.objects()
        assert one.store_id != other.store_id
        before = one.snapshot_hash()
        one.query(Query(near_m=(1, 1, 1), radius_m=5.0))
        one.relations(one.objects()[0].id)
        one.check()
        assert one.snapshot_hash() == before, 'asking changed something'


def test_promise_9_the_present_time_is_the_newest_stamp(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen()))
    [change] = memory.forget(1).changes
    assert (change.stamp_ns, change.recorded_ns) == (1000 * SECOND, 1000 * SECOND)


def test_what_is_durable_is_told_after_the_next_checkpoint(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, 'EVERY_S', 3600.0)  # the rounds are called here
    with SpatialMemory.open(path) as memory:
        checkpointer = memory._database._checkpointer
        assert checkpointer is not None
        for work in (lambda: memory.observe(view(1000, seen())), lambda: memory.forget(1)):
            before = memory.durable_seq
            work()
            assert memory.durable_seq == before < memory.seq
            connection = apsw.Connection(path)
            checkpointer._once(connection)
            connection.close()
            assert memory.durable_seq == memory.seq


# -- when the disk refuses -------------------------------------------------------------------


def everything(memory: SpatialMemory) -> tuple[object, ...]:
    tables = ('log', 'view', 'observation', 'object', 'object_version', 'object_feature')
    counts = [memory._database.rows(f'SELECT count(*) FROM {t}') for t in (*tables, 'tombstone')]
    return (
        memory.objects(), memory.seq, memory.newest_stamp_ns, memory.snapshot_hash(), counts,
        Counter(memory.refusals), memory.check(),
    )  # fmt: skip


def failing(real: Callable[..., Any], error: BaseException, after: bool) -> Callable[..., Any]:
    """The function, raising before or after it did its work."""

    def call(*args: Any) -> None:
        if after:
            real(*args)
        raise error

    return call


WRITERS = [
    (log, 'write_view'),
    (log, 'write_lines'),
    (log, 'write_observations'),
    (objects, 'write_update'),
]


@pytest.mark.parametrize('after', [False, True])
@pytest.mark.parametrize(('module', 'name'), WRITERS)
@pytest.mark.parametrize(
    ('error', 'raised'),
    [(apsw.FullError('disk full'), StoreError), (KeyboardInterrupt(), KeyboardInterrupt)],
)
def test_a_commit_that_fails_half_way_changes_nothing(
    path: str, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, after: bool,
    error: BaseException, raised: type[BaseException],
) -> None:  # fmt: skip
    views = list(stream(31, 40))
    with SpatialMemory.open(path) as memory, SpatialMemory.open(':memory:') as plain:
        observe_all(memory, views[:20])
        before = everything(memory)
        bad = seen(center_m=(NAN, 0, 0))
        more = dataclasses.replace(views[25], detections=(*views[25].detections, bad))
        for given in (*views[20:24], more):
            with monkeypatch.context() as patch:
                patch.setattr(module, name, failing(getattr(module, name), error, after))
                with pytest.raises(raised):
                    memory.observe(given)
            assert everything(memory) == before
        # From here on it is as if nothing had been tried.
        observe_all(plain, views[:20])
        for given in views[20:]:
            assert memory.observe(given) == plain.observe(given)
        assert memory.snapshot_hash() == plain.snapshot_hash()
    with SpatialMemory.open(path) as memory:
        assert memory.check() == []


@pytest.mark.parametrize('after', [False, True])
@pytest.mark.parametrize(('module', 'name'), [(log, 'write_lines'), (kept_out, 'insert_tombstone')])
def test_a_forget_that_fails_half_way_changes_nothing(
    memory: SpatialMemory, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, after: bool
) -> None:
    observe_all(memory, stream(32, 10))
    memory._session.finish()  # what waits is written before, whatever becomes of the edit
    before = everything(memory)
    with monkeypatch.context() as patch:
        error = apsw.IOError('bad disk')
        patch.setattr(module, name, failing(getattr(module, name), error, after))
        with pytest.raises(StoreError, match='bad disk'):
            memory.forget(1, 'a test')
    assert everything(memory) == before
    assert memory.forget(1).changes[0].kind is ChangeKind.FORGOTTEN
    assert memory.check() == []


def test_a_file_that_says_no_is_a_store_error(path: str) -> None:
    """SQLite's own refusal, not a stand-in for it: the file may not grow any more."""
    with SpatialMemory.open(path) as memory:
        memory.observe(view(1000, seen()))
        before = everything(memory)
        connection = memory._database.connection
        pages = connection.pragma('page_count')
        connection.pragma('max_page_count', pages)
        large = [seen('x' * 100, (k, 0, 0), track_id='y' * 100) for k in range(400)]
        with pytest.raises(StoreError, match='full'):
            memory.observe(view(1001, *large))
        assert everything(memory) == before
        connection.pragma('max_page_count', 10**6)
        assert len(memory.observe(view(1001, *large)).changes) >= 400
        assert memory.check() == []


# -- closing ---------------------------------------------------------------------------------


def test_a_closed_memory_says_so(path: str) -> None:
    memory = SpatialMemory.open(path)
    memory.observe(view(1000, seen()))
    memory.close()
    memory.close()
    calls: list[Callable[[], object]] = [
        lambda: memory.observe(view(1001)),
        lambda: memory.forget(1),
        lambda: memory.query(Query()),
        memory.objects,
        lambda: memory.object(1),
        lambda: memory.history(1),
        memory.changes,
        lambda: memory.relations(1),
        lambda: memory.relate([1]),
        memory.snapshot_hash,
        memory.check,
        lambda: memory.configure(Config()),
    ]
    for call in calls:
        with pytest.raises(ClosedError, match='has been closed'):
            call()


def test_the_context_manager_closes_also_after_an_error(path: str) -> None:
    """CH-4: it is a context manager."""
    with pytest.raises(ZeroDivisionError), SpatialMemory.open(path) as memory:
        memory.observe(view(1000, seen()))
        raise ZeroDivisionError
    with pytest.raises(ClosedError):
        memory.objects()
    with SpatialMemory.open(path) as memory:
        assert len(memory.objects()) == 1


def test_an_error_while_opening_leaves_the_file_free(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(objects, 'load_world', failing(objects.load_world, ValueError('no'), True))
        with pytest.raises(DamagedStoreError, match='ValueError: no'):
            SpatialMemory.open(path)
    SpatialMemory.open(path).close()


# -- relations -------------------------------------------------------------------------------


@pytest.fixture
def room(memory: SpatialMemory) -> dict[str, int]:
    """Name → id: a cup and a plate on a table, a lamp far away."""
    memory.observe(
        view(
            1000,
            seen('table', (2, 0, 0.375), size_m=(1.2, 0.8, 0.75)),
            seen('cup', (1.5, 0.1, 0.80), size_m=(0.08, 0.08, 0.10)),
            seen('plate', (2.5, 0.1, 0.76), size_m=(0.2, 0.2, 0.02)),
            seen('lamp', (9, 0, 1), size_m=(0.3, 0.3, 0.3)),
        )
    )
    return {o.label: o.id for o in memory.objects()}


def related(memory: SpatialMemory, room: dict[str, int], *args: Any) -> set[tuple[str, str, str]]:
    names = {number: label for label, number in room.items()}
    return {(names[r.subject_id], r.kind.value, names[r.object_id]) for r in memory.relate(*args)}


def test_relate_filters_by_each_side_and_kind(memory: SpatialMemory, room: dict[str, int]) -> None:
    # cup–table sqrt(0.5² + 0.1² + 0.425²) = 0.664, plate–table 0.638: near is 0.6, so neither.
    cup, plate, table, lamp = (room[n] for n in ('cup', 'plate', 'table', 'lamp'))
    on_table = {('cup', 'on', 'table'), ('plate', 'on', 'table')}
    below = {('table', 'under', 'cup'), ('table', 'under', 'plate')}
    assert related(memory, room, None, None, [table]) == on_table
    assert related(memory, room, None, 'on', [table]) == on_table
    assert related(memory, room, None, 'under', [table]) == set()
    assert related(memory, room, [table]) == below
    assert related(memory, room, [cup], 'on') == {('cup', 'on', 'table')}
    assert related(memory, room, [cup, lamp], 'on', [table, lamp]) == {('cup', 'on', 'table')}
    assert related(memory, room, [cup], 'on', [plate]) == set()
    assert related(memory, room, [lamp]) == set()
    assert related(memory, room, [cup, plate, table]) == on_table | below
    assert related(memory, room, []) == related(memory, room, None, None, []) == set()


def test_relations_of_what_was_forgotten_are_gone(
    memory: SpatialMemory, room: dict[str, int]
) -> None:
    memory.forget(room['cup'])
    assert memory.relations(room['cup']) == []
    assert related(memory, room, None, 'on', [room['table']]) == {('plate', 'on', 'table')}
    assert related(memory, room, [room['cup']]) == set()


def test_relate_names_what_is_wrong(memory: SpatialMemory, room: dict[str, int]) -> None:
    for kind in ('above', 'ON'):
        with pytest.raises(InvalidValueError, match=r'relation: got .*on, under, near'):
            memory.relate([1], kind)
    for kind in ('', 7):
        with pytest.raises(InvalidValueError, match=r'relation: got .*expected'):
            memory.relate([1], kind)  # type: ignore[arg-type]


def test_relations_of_everything_in_a_small_map_only(
    memory: SpatialMemory, room: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    every = {(r.subject_id, r.object_id) for o in memory.objects() for r in memory.relations(o.id)}
    assert {(r.subject_id, r.object_id) for r in memory.relate()} == every
    monkeypatch.setattr('memory_node.asking.MAX_UNANCHORED', 1)
    with pytest.raises(InvalidValueError, match='neither subject nor object'):
        memory.relate(None, 'on', None)


# -- a view that is malformed as a whole -----------------------------------------------------


@pytest.mark.parametrize(
    ('field', 'value', 'reason'),
    [
        ('stamp_ns', 'now', 'bad_stamp'),
        ('sensor', 5, 'bad_view'),
        ('sensor', '\ud800', 'bad_view'),
        ('map_id', None, 'bad_view'),
        ('clock', 'lunar', 'bad_view'),
        ('scope', {'robot': {1}}, 'bad_view'),
        ('scope', 'robot', 'bad_view'),
        ('feature_space', 7, 'bad_view'),
        ('sensor_pose', (0, 0, 1), 'bad_pose'),
    ],
)
def test_a_malformed_view_is_refused_alone_and_counted(
    memory: SpatialMemory, field: str, value: Any, reason: str
) -> None:
    good = view(1000, seen())
    bad = dataclasses.replace(good, **{field: value})
    commit = memory.observe(bad)
    assert (commit.refused, memory.seq) == (reason, 0)
    assert [v.reason for v in commit.verdicts] == [reason]
    assert memory.refusals == {reason: 1}
    assert memory.observe(good).verdicts[0].object_id == 1
    assert memory.check() == []


@pytest.mark.parametrize(
    'more',
    [
        {'field_of_view': FieldOfView(float('nan'), 1, 0, 5)},
        {'field_of_view': FieldOfView(0, 1, 0, 5)},
        {'field_of_view': FieldOfView(7, 1, 0, 5)},
        {'field_of_view': FieldOfView(1, 1, 5, 5)},
        {'field_of_view': 'wide'},
        {'localization_cov': 'x'},
        {'localization_cov': [1, 2]},
        {'localization_cov': np.full((6, 6), np.nan)},
    ],
)
def test_what_a_view_cannot_say_counts_as_not_said(memory: SpatialMemory, more: Any) -> None:
    assert memory.observe(view(1000, seen(), **more)).refused == ''
    stored = memory._database.rows('SELECT field_of_view, localization_cov FROM view')
    assert stored == [(None, None)]
