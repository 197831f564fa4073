# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What sightings do to an object: means, evidence and looks by hand, through the one door."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from views import FORWARD, SECOND, seen, view

from memory_node import Change, Config, Detection, MemoryObject, Pose, SpatialMemory, View
from memory_node.fusion.update import as_stored
from memory_node.model import ChangeKind, State, VerdictKind
from memory_node.store.features import all_rows

LAST_STAMP = 1000.0
LARGE = {'size_m': (1.0, 1.0, 1.0), 'feature': (1.0, 0.0)}
"""Something that is joined although it is seen elsewhere."""


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    with SpatialMemory.open(':memory:') as opened:
        yield opened


def sight(memory: SpatialMemory, detection: Detection, stamp_s: float, **more: Any) -> MemoryObject:
    """Observe one detection, which must go to object 1, and return that."""
    [verdict] = memory.observe(view(stamp_s, detection, **more)).verdicts
    assert verdict.object_id == 1, verdict
    return memory.object(1)


def feature_of(memory: SpatialMemory, object_id: int = 1) -> np.ndarray:
    [blob] = [blob for number, _, blob in all_rows(memory._database) if number == object_id]
    return np.frombuffer(blob, np.float32)


# -- position and box ------------------------------------------------------------------------


def test_c01_a_small_sign_stays_one_object_and_its_place_is_the_mean(
    memory: SpatialMemory,
) -> None:
    for k, x in enumerate((2.00, 2.08, 2.16, 2.08, 2.00)):
        sign = sight(memory, seen('sign', (x, 1, 1), size_m=(0.05, 0.05, 0.3)), 1000 + k / 10)
    # (2.00 + 2.08 + 2.16 + 2.08 + 2.00) / 5 = 2.064
    assert sign.center_m == pytest.approx((2.064, 1.0, 1.0), abs=1e-9)
    assert sign.observations == 5
    assert len(memory.objects()) == 1


def test_the_mean_becomes_a_running_one_when_the_sixth_counts_a_fifth(
    memory: SpatialMemory,
) -> None:
    for k, x in enumerate((0.0, 0.1, 0.0, 0.1, 0.1, 0.36, 0.088)):
        mug = sight(memory, seen('mug', (x, 0, 0), **LARGE), 1000 + k)
        if k == 4:
            assert mug.center_m[0] == pytest.approx(0.06)  # 0.3 / 5
        if k == 5:
            assert mug.center_m[0] == pytest.approx(0.12)  # 0.06 + 0.2 (0.36 - 0.06)
    assert mug.center_m[0] == pytest.approx(0.1136)  # 0.12 + 0.2 (0.088 - 0.12)


def test_c03_means_are_weighted_by_the_count_from_before() -> None:
    with SpatialMemory.open(':memory:', Config(merge_score=0.05, size_gate=False)) as memory:
        for k in range(3):
            sight(memory, seen('mug', (0, 0, 0), feature=[1.0, 0, 0]), 1000 + k)
        mug = sight(memory, seen('mug', (0.25, 0, 0), feature=[0, 1.0, 0]), 1004)
        # The faulty order weighs a fourth sighting with 1/5 (the cases' 0.9701, 0.2425).
        assert mug.center_m[0] == pytest.approx(0.25 / 4)
        assert feature_of(memory) == pytest.approx([0.9487, 0.3162, 0.0], abs=1e-4)
        assert mug.observations == 4


def test_the_box_runs_too_and_can_shrink(memory: SpatialMemory) -> None:
    for k, side in enumerate((0.4, 0.3, 0.2)):
        mug = sight(memory, seen(size_m=(side, 0.3, 0.3)), 1000 + k)
    assert mug.size_m == pytest.approx((0.3, 0.3, 0.3))


def test_an_unknown_extent_neither_changes_a_box_nor_stays(memory: SpatialMemory) -> None:
    assert sight(memory, seen(size_m=(0, 0, 0)), 1000).size_m == (0.0, 0.0, 0.0)
    assert sight(memory, seen(size_m=(0.4, 0.4, 0.4)), 1001).size_m == (0.4, 0.4, 0.4)
    assert sight(memory, seen(size_m=(0, 0, 0)), 1002).size_m == (0.4, 0.4, 0.4)
    # The fourth sighting counts a quarter: 0.4 + (0.2 - 0.4) / 4 = 0.35.
    assert sight(memory, seen(size_m=(0.2,) * 3), 1003).size_m == pytest.approx((0.35,) * 3)


def test_c16_q_and_minus_q_are_one_orientation(memory: SpatialMemory) -> None:
    q = np.array([0, 0, 0.3827, 0.9239])
    for k in range(6):
        mug = sight(memory, seen(orientation_xyzw=q * (-1) ** k), 1000 + k)
    x, y, z, w = mug.orientation_xyzw
    assert (x, y) == (0.0, 0.0)
    assert np.degrees(2 * np.arctan2(z, w)) == pytest.approx(45.0, abs=0.01)
    assert np.linalg.norm(mug.orientation_xyzw) == pytest.approx(1.0, abs=1e-6)


def test_an_unknown_orientation_neither_turns_a_box_nor_stays(memory: SpatialMemory) -> None:
    quarter = (0.0, 0.0, 0.6, 0.8)
    none = (0, 0, 0, 0)
    assert sight(memory, seen(orientation_xyzw=none), 1000).orientation_xyzw == (0, 0, 0, 1)
    assert sight(memory, seen(orientation_xyzw=quarter), 1001).orientation_xyzw == quarter
    assert sight(memory, seen(orientation_xyzw=none), 1002).orientation_xyzw == quarter


def test_the_box_is_found_where_it_has_turned_to() -> None:
    """The hull follows the orientation: candidates are found by it."""
    memory = SpatialMemory.open(':memory:', Config(size_gate=False))
    plank = {'center_m': (0, 0, 0), 'size_m': (2, 0.1, 0.1), 'feature': (1.0, 0.0)}
    sight(memory, seen('plank', **plank, orientation_xyzw=(0, 0, 0, 0)), 1)
    sight(memory, seen('plank', **plank, orientation_xyzw=(0, 0, 0.5**0.5, 0.5**0.5)), 2)
    [verdict] = memory.observe(view(3, seen('pin', (0, 1.2, 0), 0.1, (0, 0, 0)))).verdicts
    assert verdict.terms, 'the end of the turned plank is 0.2 m away, so it was a candidate'
    [verdict] = memory.observe(view(4, seen('pin', (1.2, 0, 0), 0.1, (0, 0, 0)))).verdicts
    assert not verdict.terms


# -- evidence --------------------------------------------------------------------------------


def test_confidence_and_label_mass_by_hand(memory: SpatialMemory) -> None:
    sight(memory, seen(score=0.5), 1000)
    mug = sight(memory, seen(score=0.8), 1001)
    assert mug.confidence == pytest.approx(0.7)  # 0.5 + (1 - 0.5)·0.8·0.5
    assert dict(mug.labels) == pytest.approx({'mug': 1.3})
    assert mug.observations == 2


def test_c19_the_label_changes_only_with_a_margin(memory: SpatialMemory) -> None:
    names = ['chair'] * 8 + ['stool'] + ['chair'] * 3 + ['stool'] * 15
    events: list[tuple[int, Change]] = []
    for frame, name in enumerate(names, 1):
        commit = memory.observe(view(1000 + frame / 10, seen(name, (3, 0, 0.5), 0.6)))
        assert [v.object_id for v in commit.verdicts] == [1]
        events += [(frame, c) for c in commit.changes if c.kind is ChangeKind.RELABELLED]
        if frame <= 12:
            assert memory.object(1).label == 'chair'
    # chair 11·0.6 = 6.6. stool passes 1.2·6.6 = 7.92 with its 14th, 8.4: frame 9, then 13 to 25.
    [(frame, change)] = events
    assert frame == 25
    assert change.before == {'label': 'chair'}
    assert memory.object(1).label == 'stool'
    assert dict(memory.object(1).labels) == pytest.approx({'stool': 9.6, 'chair': 6.6})


def test_alternatives_are_evidence_too(memory: SpatialMemory) -> None:
    sight(memory, seen('mug', score=0.5, alternatives={'cup': 0.3, 'mug': 0.1}), 1000)
    mug = sight(memory, seen('mug', score=0.5, alternatives={'CUP': 0.2}), 1001)
    assert dict(mug.labels) == pytest.approx({'mug': 1.1, 'cup': 0.5})


def test_a_new_object_has_the_label_of_the_detection_whatever_its_alternatives(
    memory: SpatialMemory,
) -> None:
    mug = sight(memory, seen('mug', score=0.4, alternatives={'cup': 0.9}), 1000)
    assert mug.label == 'mug'
    # 0.9 + 0.1 > 1.2·0.8 = 0.96
    assert sight(memory, seen('mug', score=0.4, alternatives={'cup': 0.1}), 1001).label == 'cup'


def test_evidence_for_more_labels_than_the_record_has_slots(memory: SpatialMemory) -> None:
    others = {'b': 0.2, 'c': 0.3, 'd': 0.4, 'e': 0.1, 'f': 0.1}
    sight(memory, seen('a', score=0.6, alternatives=others), 1000)
    for k in range(4):
        thing = sight(memory, seen('e', score=0.5, alternatives={'F': 0.25, 'd': 0.1}), 1001 + k)
    # e 0.1 + 4·0.5 = 2.1, f 0.1 + 4·0.25 = 1.1, d 0.4 + 4·0.1 = 0.8
    expected = {'e': 2.1, 'f': 1.1, 'd': 0.8, 'a': 0.6, 'c': 0.3, 'b': 0.2}
    assert dict(thing.labels) == pytest.approx(expected)
    assert list(thing.labels) == list(expected)
    assert thing.label == 'e'


def test_a_label_beyond_the_slots_is_the_objects_own(memory: SpatialMemory) -> None:
    """It gives the full label term, like any other label of the object (CH-17)."""
    others = {'b': 0.2, 'c': 0.2, 'd': 0.2}
    sight(memory, seen('a', score=0.3, alternatives=others), 1000)
    for k in range(3):
        [verdict] = memory.observe(view(1001 + k, seen('zz', score=0.9))).verdicts
    assert verdict.terms['label'] == 1.0  # its mass is 1.8
    assert memory.object(1).label == 'zz'


labels = st.sampled_from('abcdefgh')


@settings(max_examples=40)
@given(st.lists(st.tuples(labels, st.dictionaries(labels, st.just(0.25))), min_size=1))
def test_label_mass_is_the_sum_of_scores_in_any_order(sightings: list) -> None:
    expected: dict[str, float] = {}
    with SpatialMemory.open(':memory:') as memory:
        for k, (label, alternatives) in enumerate(sightings):
            detection = seen(label, score=0.5, alternatives=alternatives)
            thing = sight(memory, detection, 1000 + k)
            expected[label] = expected.get(label, 0.0) + 0.5
            for name, score in alternatives.items():
                expected[name] = expected.get(name, 0.0) + score
            assert thing.labels == expected  # halves and quarters: exact
            assert list(thing.labels.values()) == sorted(expected.values(), reverse=True)


# -- features --------------------------------------------------------------------------------


def kept(memory: SpatialMemory) -> list[bool]:
    rows = memory._database.rows('SELECT feature IS NOT NULL FROM observation ORDER BY id')
    return [bool(r[0]) for r in rows]


def unit(cosine: float) -> list[float]:
    """A feature with this cosine to (1, 0)."""
    return [cosine, (1 - cosine * cosine) ** 0.5]


def test_the_first_features_are_kept_then_only_those_that_move_it(memory: SpatialMemory) -> None:
    for k in range(6):
        sight(memory, seen(feature=[1.0, 0.0]), 1000 + k)
    assert kept(memory) == [True] * 5 + [False]
    # Weight 0.2, cosine k: moves by 1 - (0.8 + 0.2 k) / sqrt(0.68 + 0.32 k).
    # k = 0.5: 1 - 0.9 / sqrt(0.84) = 0.0180, not above 0.02.
    sight(memory, seen(feature=unit(0.5)), 1006)
    assert kept(memory)[-1] is False
    assert feature_of(memory).tolist() == [1.0, 0.0]
    # k = 0.3: 1 - 0.86 / sqrt(0.776) = 0.0237.
    sight(memory, seen(feature=unit(0.3)), 1007)
    assert kept(memory)[-1] is True
    seen_one = np.array(unit(0.3)).astype(np.float16).astype(float)
    blended = 0.8 * np.array([1.0, 0.0]) + 0.2 * seen_one
    assert feature_of(memory) == pytest.approx(blended / np.sqrt((blended**2).sum()), abs=1e-6)
    assert np.linalg.norm(feature_of(memory)) == pytest.approx(1.0, abs=1e-6)


def test_an_object_without_a_feature_gets_the_first_it_is_shown(memory: SpatialMemory) -> None:
    for k in range(7):
        sight(memory, seen(), 1000 + k)
    sight(memory, seen(feature=[0.0, 1.0]), 1008)
    assert kept(memory) == [False] * 7 + [True]
    assert feature_of(memory).tolist() == [0.0, 1.0]


def test_only_what_is_stored_enters_the_feature(memory: SpatialMemory) -> None:
    exact = np.array([0.123456789, 0.4, 0.9], np.float32)
    exact /= np.linalg.norm(exact)
    sight(memory, seen(feature=exact), 1000)
    rounded, [stored] = as_stored(exact[None], np.zeros(1, np.int64), 'default')
    assert (rounded[0] == stored).all()
    stored = stored.astype(float)
    assert feature_of(memory) == pytest.approx(stored / np.sqrt((stored**2).sum()), abs=1e-7)
    assert abs(feature_of(memory) - exact).max() > 1e-6  # float16 left its trace
    [(blob,)] = memory._database.rows('SELECT feature FROM observation')
    assert np.frombuffer(blob, np.float16).tolist() == stored.tolist()


# -- looks -----------------------------------------------------------------------------------


def turned(degrees: float) -> tuple[float, float, float, float]:
    """FORWARD, turned about the vertical axis."""
    half = np.radians(degrees) / 2
    a, b = np.array([0, 0, np.sin(half), np.cos(half)]), np.array(FORWARD)
    x, y, z = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return float(x), float(y), float(z), float(a[3] * b[3] - a[:3] @ b[:3])


@pytest.mark.parametrize(
    ('step_m', 'turn_deg', 'after_s', 'independent'),
    [
        (0.0, 0.0, 0.1, False),
        (0.299, 0.0, 0.1, False),
        (0.3, 0.0, 0.1, True),
        (0.0, 14.9, 0.1, False),
        (0.0, 15.0, 0.1, True),
        (0.0, 0.0, 1.0, False),  # within one second: once
        (0.0, 0.0, 1.001, True),
        (0.29, 14.0, 0.9, False),
    ],
)
def test_independent_looks_confirm(
    memory: SpatialMemory, step_m: float, turn_deg: float, after_s: float, independent: bool
) -> None:
    first = sight(memory, seen(), 1000, sensor_pose=Pose((0, 0, 0), FORWARD))
    assert first.state is State.TENTATIVE
    pose = Pose((0, step_m, 0), turned(turn_deg))
    commit = memory.observe(view(1000 + after_s, seen(), sensor_pose=pose))
    assert (memory.object(1).state is State.CONFIRMED) == independent
    assert [c.kind for c in commit.changes] == [ChangeKind.CONFIRMED] * independent


def test_looks_are_counted_from_the_last_independent_one(memory: SpatialMemory) -> None:
    """Twelve steps of 0.1 m are four looks apart, not one and not twelve."""
    for k in range(13):
        pose = Pose((0, 0.1 * k, 0), FORWARD)
        memory.observe(view(1000 + k * 0.01, seen(), sensor_pose=pose))
    assert memory._session.engine.world.records['looks'][0] == 5


def test_a_late_look_is_counted_but_is_not_the_last_one(memory: SpatialMemory) -> None:
    for stamp, looks in ((1000.0, 1), (990.0, 2), (1000.5, 2), (1001.1, 3)):
        sight(memory, seen(), stamp, sensor_pose=Pose((0, 0, 0), FORWARD))
        assert memory._session.engine.world.records['looks'][0] == looks, stamp


def test_looks_from_an_unknown_place_count_by_time_alone(memory: SpatialMemory) -> None:
    for stamp, pose, state in (
        (1000.0, None, State.TENTATIVE),
        (1000.5, Pose((0, 0, 0), FORWARD), State.TENTATIVE),
        (1000.9, None, State.TENTATIVE),
        (1001.1, None, State.CONFIRMED),
    ):
        assert sight(memory, seen(), stamp, sensor_pose=pose).state is state


def test_how_many_looks_confirm_is_a_setting() -> None:
    for looks in (1, 3):
        with SpatialMemory.open(':memory:', Config(confirm_looks=looks)) as memory:
            states = [sight(memory, seen(), 1000 + 2 * k).state for k in range(4)]
            expected = [State.TENTATIVE] * (looks - 1) + [State.CONFIRMED] * (5 - looks)
            assert states == expected


# -- what may not rewrite --------------------------------------------------------------------


def test_a_late_view_supports_but_never_rewrites(memory: SpatialMemory) -> None:
    pose = Pose((0, 0, 0), FORWARD)
    feature = [1.0, 0.0]
    sight(memory, seen(score=0.6, feature=feature), LAST_STAMP, sensor_pose=pose)
    before, held = memory.object(1), feature_of(memory).tolist()
    late = seen(
        'mug', (1.1, 0, 1), 0.8, (0.2, 0.2, 0.2), orientation_xyzw=(0, 0, 0.6, 0.8),
        feature=unit(0.9),
    )  # fmt: skip
    commit = memory.observe(view(LAST_STAMP - 10, late, sensor_pose=Pose((3, 0, 0), FORWARD)))
    after = memory.object(1)
    assert [v.kind for v in commit.verdicts] == [VerdictKind.MERGED]
    assert commit.changes == ()
    for name in ('center_m', 'size_m', 'orientation_xyzw', 'state', 'last_seen_ns', 'label'):
        assert getattr(after, name) == getattr(before, name), name
    assert feature_of(memory).tolist() == held
    assert after.observations == 2
    assert after.first_seen_ns == round((LAST_STAMP - 10) * SECOND)
    assert dict(after.labels) == pytest.approx({'mug': 1.4})
    assert after.confidence > before.confidence
    assert [o.stamp_ns for o in memory.history(1)] == [990 * SECOND, 1000 * SECOND]
    # What the late look proved is told by the next one that is not late.
    commit = memory.observe(view(LAST_STAMP + 0.1, seen(), sensor_pose=pose))
    assert [c.kind for c in commit.changes] == [ChangeKind.CONFIRMED]


def test_a_late_view_may_bring_something_new(memory: SpatialMemory) -> None:
    sight(memory, seen(), LAST_STAMP)
    commit = memory.observe(view(LAST_STAMP - 10, seen('cup', (5, 0, 0))))
    assert [c.kind for c in commit.changes] == [ChangeKind.CREATED]
    assert memory.object(2).last_seen_ns == 990 * SECOND
    assert memory.newest_stamp_ns == 1000 * SECOND


def test_a_view_as_new_as_the_newest_is_not_late(memory: SpatialMemory) -> None:
    sight(memory, seen('mug', (1, 0, 1), **LARGE), LAST_STAMP)
    mug = sight(memory, seen('mug', (1.1, 0, 1), **LARGE), LAST_STAMP)
    assert mug.center_m[0] == pytest.approx(1.05)


@pytest.mark.parametrize(('score', 'x'), [(0.299, 1.0), (0.3, 1.05)])
def test_a_low_score_supports_but_never_rewrites(
    memory: SpatialMemory, score: float, x: float
) -> None:
    sight(memory, seen(center_m=(1, 0, 1), feature=[1.0, 0.0]), 1000)
    doubtful = seen('mug', (1.1, 0, 1), score, (0.1, 0.1, 0.2), feature=unit(0.9))
    mug = sight(memory, doubtful, 1001)
    assert mug.center_m[0] == pytest.approx(x)
    assert mug.observations == 2
    assert mug.last_seen_ns == 1001 * SECOND
    assert mug.labels['mug'] == pytest.approx(0.8 + score)
    assert (feature_of(memory)[1] == 0.0) == (score < 0.3)


# -- what the log says -----------------------------------------------------------------------


def test_an_update_is_logged_when_the_belief_has_moved_by_the_version_distance(
    memory: SpatialMemory,
) -> None:
    said = []
    for k in range(12):
        mug = seen('mug', (1 + 0.02 * k, 0, 1), **LARGE)
        commit = memory.observe(view(1000 + k / 100, mug))
        said += [(k, c) for c in commit.changes if c.kind is ChangeKind.UPDATED]
    # Mean after k + 1 ≤ 5 sightings: 1 + 0.01 k. Then c += 0.2 (1 + 0.02 k - c):
    # k = 5: 1.052, first to be 0.05 from 1.00. k = 6: 1.0656, 7: 1.08048, 8: 1.096384,
    # k = 9: 1.1131072, the next that is 0.05 from 1.052. k = 11: 1.1451886.
    assert [k for k, _ in said] == [5, 9]
    assert said[0][1].before == {'center_m': [1.0, 0.0, 1.0], 'size_m': [1.0, 1.0, 1.0]}
    assert said[1][1].before['center_m'] == pytest.approx([1.052, 0.0, 1.0])
    assert said[1][1].object is not None
    assert said[1][1].object.center_m[0] == pytest.approx(1.1131072)


def test_a_box_that_changes_is_logged_too(memory: SpatialMemory) -> None:
    sight(memory, seen(size_m=(0.3, 0.3, 0.3)), 1000)
    assert memory.observe(view(1000.1, seen(size_m=(0.3, 0.3, 0.39)))).changes == ()  # mean 0.345
    commit = memory.observe(view(1000.2, seen(size_m=(0.3, 0.3, 0.39))))  # mean 0.36
    assert [c.kind for c in commit.changes] == [ChangeKind.UPDATED]


def test_changes_come_in_the_order_of_ids_with_one_number_each(memory: SpatialMemory) -> None:
    both = [seen('mug', (0, 0, 0), **LARGE), seen('cup', (5, 0, 0), **LARGE)]
    first = memory.observe(view(1000, *both))
    assert [(c.seq, c.kind, c.object_id) for c in first.changes] == [
        (2, ChangeKind.CREATED, 1),
        (3, ChangeKind.CREATED, 2),
    ]
    moved = [
        seen('mug', (0.1, 0, 0), **LARGE), seen('cup', (5.1, 0, 0), **LARGE), seen('pan', (9, 0, 0))
    ]  # fmt: skip
    second = memory.observe(view(1002, *moved))
    assert [(c.seq, c.kind.value, c.object_id) for c in second.changes] == [
        (5, 'CONFIRMED', 1), (6, 'UPDATED', 1),
        (7, 'CONFIRMED', 2), (8, 'UPDATED', 2),
        (9, 'CREATED', 3),
    ]  # fmt: skip
    assert (second.first_seq, second.seq) == (4, 9)


def test_changes_come_in_the_order_of_ids_not_of_labels(memory: SpatialMemory) -> None:
    zebra, apple = seen('zebra', (0, 0, 0)), seen('apple', (5, 0, 0))
    memory.observe(view(1000, zebra))
    memory.observe(view(1000, apple))
    commit = memory.observe(view(1002, apple, zebra))
    assert [(c.kind.value, c.object_id) for c in commit.changes] == [
        ('CONFIRMED', 1),
        ('CONFIRMED', 2),
    ]


def test_one_look_at_many_counts_for_each_of_them(tmp_path: Path) -> None:
    """The working set and the file say the same of every object of a view."""
    path = str(tmp_path / 'memory.db')
    with SpatialMemory.open(path) as memory:
        for stamp in (1000, 1002, 1002.5):
            memory.observe(View(round(stamp * SECOND), 'camera', [
                seen('mug', (x, 0, 0)) for x in range(10)
            ]))  # fmt: skip
        held = memory.objects()
    assert [o.state for o in held] == [State.CONFIRMED] * 10
    rows = apsw.Connection(path).execute('SELECT looks, observations, state FROM object').fetchall()
    assert rows == [(2, 3, 'confirmed')] * 10
