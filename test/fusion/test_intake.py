# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Each malformed detection is refused alone; what is kept does not hang on the sender's order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from views import SECOND, seen

from memory_node import Config, Detection, Pose, View
from memory_node.fusion.intake import (
    MAX_LABEL,
    REASONS,
    VIEW_REASONS,
    Evidence,
    Intake,
    take_in,
    view_problem,
)

NAN, INF = float('nan'), float('inf')
GOOD = seen('good', (1, 0, 1), feature=[0.0, 3.0, 4.0])
GOOD_PLAIN = seen('plain', (2, 0, 1))


def take(*detections: Detection, dim: int | None = None, ignored: set[str] | None = None) -> Intake:
    return take_in(detections, dim, 0.02, frozenset(ignored or ()))


BAD: list[tuple[str, Detection]] = [
    ('bad_type', seen(center_m=None)),
    ('bad_type', seen(center_m='abc')),
    ('bad_type', seen(center_m=(1, 'x', 0))),
    ('bad_type', seen(center_m=(1, 2))),
    ('bad_type', seen(center_m=(1, 2, 3, 4))),
    ('bad_type', seen(center_m=((1,), (2,), (3,)))),
    ('bad_type', seen(center_m=5.0)),
    ('bad_type', seen(size_m=(1, 1))),
    ('bad_type', seen(size_m=None)),
    ('bad_type', seen(orientation_xyzw=(0, 0, 1))),
    ('bad_type', seen(orientation_xyzw=(0, 0, 0, 0, 1))),
    ('bad_type', seen(center_m=(1, 0), size_m=(1, 1, 1, 1))),  # eleven numbers all the same
    ('bad_type', seen(size_m=(1, 1), orientation_xyzw=(1, 0, 0, 0, 1))),
    ('bad_type', seen(score=[0.5])),
    ('bad_type', seen(score=1j)),
    ('bad_type', seen(feature=['x', 'y', 'z'])),
    ('bad_type', seen(feature=[[1, 2], [3]])),
    ('not_finite', seen(center_m=(NAN, 0, 0))),
    ('not_finite', seen(center_m=(0, INF, 0))),
    ('not_finite', seen(size_m=(0.1, 0.1, NAN))),
    ('not_finite', seen(orientation_xyzw=(NAN, 0, 0, 1))),
    ('not_finite', seen(score=NAN)),
    ('bad_score', seen(score=-0.01)),
    ('bad_score', seen(score=1.01)),
    ('bad_size', seen(size_m=(0.1, -0.1, 0.1))),
    ('no_label', seen(label='')),
    ('no_label', seen(label=' \t\x00\n')),
    ('no_label', seen(label=None)),
    ('no_label', seen(label=56)),
    ('ignored', seen(label='Wall')),
    ('feature_dim', seen(feature=[1.0, 0.0])),
    ('feature_dim', seen(feature=[[1.0, 0.0, 0.0]])),
    ('feature_dim', seen(feature=1.0)),
    ('bad_feature', seen(feature=[0.0, 0.0, 0.0])),
    ('bad_feature', seen(feature=[NAN, 1.0, 0.0])),
    ('bad_feature', seen(feature=[INF, 1.0, 0.0])),
    ('bad_feature', seen(feature=[1e300, 1.0, 0.0])),
]


@pytest.mark.parametrize(('reason', 'bad'), BAD)
@pytest.mark.parametrize('place', [0, 1, 2])
@pytest.mark.filterwarnings('error')
def test_a_bad_detection_is_refused_alone(reason: str, bad: Detection, place: int) -> None:
    """CH-6: what a detection must have."""
    given_ones = [GOOD, GOOD_PLAIN]
    given_ones.insert(place, bad)
    intake = take(*given_ones, dim=3, ignored={'wall'})
    assert intake.refused == {place: reason}
    assert intake.evidence.labels == ['good', 'plain']
    assert intake.evidence.index.tolist() == [given_ones.index(GOOD), given_ones.index(GOOD_PLAIN)]
    assert intake.evidence.feature.tolist() == [pytest.approx([0.0, 0.6, 0.8]), [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(('reason', 'bad'), BAD)
def test_a_bad_detection_is_refused_though_nothing_good_is_beside_it(
    reason: str, bad: Detection
) -> None:
    intake = take(bad, dim=3, ignored={'wall'})
    assert intake.refused == {0: reason}
    assert len(intake.evidence) == 0


def test_every_reason_is_provoked_here() -> None:
    """But for those that hang on the profile or the view, which are tried elsewhere."""
    elsewhere = {'no_feature', 'feature_space'}
    assert {reason for reason, _ in BAD} == set(REASONS) - elsewhere


def test_all_bad_ones_at_once() -> None:
    intake = take(*(bad for _, bad in BAD), GOOD, dim=3, ignored={'wall'})
    assert intake.refused == {k: reason for k, (reason, _) in enumerate(BAD)}
    assert intake.evidence.labels == ['good']


def test_a_refused_detection_never_decides_the_length_of_features() -> None:
    bad = seen(center_m=(NAN, 0, 0), feature=[1.0, 0.0])
    ignored = seen('wall', feature=[1.0, 0.0])
    intake = take(bad, ignored, GOOD, ignored={'wall'})
    assert intake.refused == {0: 'not_finite', 1: 'ignored'}
    assert intake.evidence.feature.shape == (1, 3)


def test_a_refused_feature_beside_detections_without_any() -> None:
    intake = take(seen(center_m=(NAN, 0, 0), feature=[1.0, 0.0]), GOOD_PLAIN)
    assert intake.refused == {0: 'not_finite'}
    assert intake.evidence.labels == ['plain']
    assert not intake.evidence.has_feature.any()


def test_c14_the_array_of_five() -> None:
    covariance = np.eye(3) * 0.01
    covariance[0, 0] = NAN
    intake = take(
        seen(center_m=(NAN, 0, 1)),
        seen(center_m=(1, INF, 1)),
        seen(size_m=(0.1, 0.1, NAN)),
        seen('cup', (3, 0, 1), position_cov=covariance),
        seen('mug', (1, 0, 1)),
    )
    assert intake.refused == {0: 'not_finite', 1: 'not_finite', 2: 'not_finite'}
    # Ruling: a bad covariance alone is taken as unknown, and the detection stays.
    assert intake.evidence.labels == ['cup', 'mug']
    assert np.isnan(intake.evidence.cov).all()
    assert intake.evidence.sigma.tolist() == [0.02, 0.02]


# -- what is kept ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    'bad',
    [
        np.diag([0.01, 0.01, NAN]),
        np.diag([0.01, INF, 0.01]),
        np.diag([0.01, -0.01, 0.01]),
        [[1, 2, 0], [2, 1, 0], [0, 0, 1]],  # eigenvalues 3, 1, -1
        [[1, 0.5, 0], [-0.5, 1, 0], [0, 0, 1]],  # not symmetric
        [[0, 0.1, 0], [0.1, 1, 0], [0, 0, 1]],  # no variance, yet a covariance
        np.zeros((3, 3)),
        np.eye(2),
        np.eye(6),
        'round about here',
        [[1, 2, 3], [4, 5], [6]],
        -1.0,
    ],
)
def test_c14_a_covariance_that_is_none_is_unknown_and_the_detection_stays(bad: Any) -> None:
    intake = take(seen(position_cov=bad))
    assert not intake.refused
    assert np.isnan(intake.evidence.cov).all()
    assert intake.evidence.sigma.tolist() == [0.02]


def test_a_covariance_and_its_sigma() -> None:
    # A rank-one covariance along (1, 1, 0) is one too: eigenvalues 0.18, 0, 0.
    flat = [[0.09, 0.09, 0], [0.09, 0.09, 0], [0, 0, 0]]
    given_ones = [
        seen('a', position_cov=np.diag([0.01, 0.04, 0.09])),
        seen('b', position_cov=flat),
        seen('c', position_cov=np.diag([0.01, 0.04, 0.09]).ravel().tolist()),
        seen('d'),
    ]
    evidence = take(*given_ones).evidence
    assert evidence.sigma.tolist() == pytest.approx([0.3, 0.3, 0.3, 0.02])
    assert evidence.cov[1].reshape(3, 3).tolist() == flat
    assert evidence.cov[2].tolist() == evidence.cov[0].tolist()
    assert np.isnan(evidence.cov[3]).all()


@given(st.lists(st.floats(-1, 1), min_size=9, max_size=9))
def test_every_covariance_made_from_a_spread_is_accepted(values: list) -> None:
    a = np.array(values).reshape(3, 3)
    if not a.any(axis=1).any() or (a * a).sum() < 1e-12:
        return
    evidence = take(seen(position_cov=a @ a.T)).evidence
    np.testing.assert_array_equal(evidence.cov[0].reshape(3, 3), a @ a.T)


@pytest.mark.parametrize(
    ('given_one', 'expected', 'known'),
    [
        ((0, 0, 0, 0), (0, 0, 0, 1), False),
        ((0, 0, 0, 2), (0, 0, 0, 1), True),
        ((0, 0, 0.7, 0.7), (0, 0, 0.5**0.5, 0.5**0.5), True),
        ((0, 0, -3e-200, 4e-200), (0, 0, -0.6, 0.8), True),
        ((3e200, 0, 0, 4e200), (0.6, 0, 0, 0.8), True),
    ],
)
def test_c16_orientations(given_one: tuple, expected: tuple, known: bool) -> None:
    beside = seen('beside', (5, 5, 5))
    evidence = take(seen('a', orientation_xyzw=given_one), beside).evidence
    assert evidence.orientation[0].tolist() == pytest.approx(expected, abs=1e-12)
    assert abs((evidence.orientation**2).sum(axis=1) - 1).max() < 1e-6
    assert evidence.oriented.tolist() == [known, True]


def test_the_half_is_that_of_the_turned_box() -> None:
    quarter = Rotation.from_euler('z', 90, degrees=True).as_quat()
    evidence = take(seen(size_m=(1.0, 0.2, 0.4), orientation_xyzw=quarter)).evidence
    assert evidence.half[0].tolist() == pytest.approx([0.1, 0.5, 0.2])
    assert evidence.size[0].tolist() == [1.0, 0.2, 0.4]


def test_c15_flat_boxes_and_boxes_of_unknown_extent_are_legal() -> None:
    poster = seen('poster', (2, 1, 1), size_m=(1.0, 0.0, 0.6))
    tag = seen('tag', (1, 2, 3), size_m=(0, 0, 0))
    intake = take(poster, tag)
    assert not intake.refused
    assert intake.evidence.extent.tolist() == [True, False]


@pytest.mark.parametrize(
    ('given_one', 'kept'),
    [
        ('  mug \n', 'mug'),
        ('a\x00b\x1b[31mc', 'a b [31mc'),
        ('\ud800mug', 'mug'),
        ('\u202emug', 'mug'),
        ('Küche', 'Küche'),
        ('x' * 5000, 'x' * MAX_LABEL),
        (np.str_('mug'), 'mug'),
    ],
)
def test_labels_are_cleaned(given_one: str, kept: str) -> None:
    [label] = take(seen(given_one)).evidence.labels
    assert label == kept
    label.encode()  # may be stored


@pytest.mark.parametrize('label', ['', '  ', '\x00', None])
def test_c17_a_detection_without_a_label_is_unknown_if_it_has_a_feature(label: Any) -> None:
    intake = take(seen(label, feature=[1.0, 0.0]), seen(label))
    assert intake.evidence.labels == ['unknown']
    assert intake.refused == {1: 'no_label'}


@pytest.mark.parametrize('empty', [None, [], (), np.zeros(0)])
def test_an_empty_feature_is_none(empty: Any) -> None:
    evidence = take(seen(feature=empty), dim=3).evidence
    assert evidence.has_feature.tolist() == [False]


def test_features_have_norm_one_however_large_they_were() -> None:
    given_ones = [
        seen('a', feature=[3.0, 4.0]),
        seen('b', feature=[3e-30, 4e-30]),
        seen('c', feature=[3e30, 4e30]),  # a sum of squares beyond float32
        seen('d', feature=np.array([3, 4])),
    ]
    evidence = take(*given_ones).evidence
    assert evidence.feature.dtype == np.float32
    for row in evidence.feature.tolist():
        assert row == pytest.approx([0.6, 0.8], abs=1e-6)


def test_the_first_features_agree_on_a_length_whatever_their_order() -> None:
    two = [seen('a', feature=[1.0, 0.0]), seen('b', feature=[0.0, 1.0])]
    one = seen('c', feature=[1.0, 0.0, 0.0])
    assert take(*two, one).refused == {2: 'feature_dim'}
    assert take(one, *two).refused == {0: 'feature_dim'}


def test_alternatives_that_can_be_used_are_kept() -> None:
    alternatives = {
        'cup': 0.3, 'bowl': np.float32(0.25), 'one': 1, '': 0.5, 'zero': 0.0, 'many': 1.5,
        'less': -0.1, 'nan': NAN, 'text': '0.5', 'nothing': None, 'true': True, 7: 0.5,
        '\ud800 pot\n': 0.125, '\x00': 0.5, 'y' * 500: 0.5,
    }  # fmt: skip
    [kept] = take(seen(alternatives=alternatives)).evidence.alternatives
    assert kept == {'cup': 0.3, 'bowl': 0.25, 'one': 1.0, 'pot': 0.125, 'y' * MAX_LABEL: 0.5}
    assert all(type(score) is float for score in kept.values())


@pytest.mark.parametrize('bad', [None, {}, ['cup'], 'cup', 5, np.zeros(3)])
def test_alternatives_that_are_none_cost_nothing_else(bad: Any) -> None:
    intake = take(seen(alternatives=bad), GOOD)
    assert not intake.refused
    assert intake.evidence.alternatives == [None, None]


def test_track_ids_are_cleaned() -> None:
    given_ones = [seen(c, track_id=t) for c, t in (('a', 7), ('b', '\ud800x'), ('c', ''))]
    assert take(*given_ones).evidence.track_ids == ['7', 'x', '']


def test_numpy_scalars_lists_and_arrays_are_numbers_too() -> None:
    plain = seen('mug', (1.0, 2.0, 3.0), 0.5, (0.25, 0.5, 0.75))
    for other in (
        seen('mug', [1, 2, 3], np.float32(0.5), [0.25, 0.5, 0.75], orientation_xyzw=[0, 0, 0, 1]),
        seen('mug', np.array([1, 2, 3]), np.float64(0.5), np.array([0.25, 0.5, 0.75], np.float32)),
        seen('mug', (np.int32(1), np.float32(2), 3.0), 0.5, (0.25, 0.5, 0.75)),
    ):
        assert_same(take(plain, plain).evidence, take(other, plain).evidence)


def assert_same(a: Evidence, b: Evidence) -> None:
    """Equal but for the places in the view that was given."""
    for name in ('labels', 'alternatives', 'track_ids'):
        assert getattr(a, name) == getattr(b, name), name
    for name in (
        'score', 'center', 'size', 'half', 'orientation', 'oriented', 'extent', 'cov', 'sigma',
        'feature', 'has_feature',
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), name)


few = st.sampled_from([0.0, 0.5])
detections = st.builds(
    seen,
    st.sampled_from(['mug', 'Mug', 'cup', '']),
    st.tuples(st.sampled_from([0.0, NAN, 1.0]), few, few),
    st.sampled_from([0.5, 0.9, 2.0]),
    st.tuples(few, few, few),
    orientation_xyzw=st.sampled_from([(0, 0, 0, 1), (0, 0, 1, 0), (0, 0, 0, 0), (0, 0, 1)]),
    feature=st.sampled_from([None, [1.0, 0.0], [0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0]]),
    position_cov=st.sampled_from([None, np.eye(3)]),
    alternatives=st.sampled_from([{}, {'cup': 0.1}, {'cup': 0.2}]),
    track_id=st.sampled_from(['', '1']),
)


@given(st.lists(detections, max_size=6), st.randoms(use_true_random=False), st.booleans())
def test_the_senders_order_means_nothing(given_ones: list, random: Any, dim_known: bool) -> None:
    dim = 2 if dim_known else None
    order = list(range(len(given_ones)))
    random.shuffle(order)
    plain = take(*given_ones, dim=dim)
    shuffled = take(*[given_ones[k] for k in order], dim=dim)
    assert_same(plain.evidence, shuffled.evidence)
    assert {order[k]: reason for k, reason in shuffled.refused.items()} == plain.refused
    for k, place in enumerate(plain.evidence.index.tolist()):
        assert plain.evidence.labels[k] in (given_ones[place].label, 'unknown')


def test_nothing_is_evidence_too() -> None:
    intake = take()
    assert len(intake.evidence) == 0
    assert not intake.refused
    assert intake.evidence.center.shape == (0, 3)


# -- the view as a whole ---------------------------------------------------------------------

NOW = 1000 * SECOND
TURN = (0.0, 0.0, 0.0, 1.0)


def problem(stamp: Any, pose: Pose | None = None, recorded: int = NOW, newest: int = NOW) -> str:
    return view_problem(View(stamp, 'camera', sensor_pose=pose), recorded, newest, Config())


@pytest.mark.parametrize(
    ('stamp', 'expected'),
    [
        (NOW, ''),
        (np.int64(NOW), ''),
        (NOW + 5 * SECOND, ''),  # max_future_s is 5
        (NOW + 5 * SECOND + 1, 'bad_stamp'),
        (NOW - 600 * SECOND, ''),  # max_age_s is 600
        (NOW - 600 * SECOND - 1, 'too_old'),
        (0, 'bad_stamp'),
        (-1, 'bad_stamp'),
        (2**63, 'bad_stamp'),
        (1000.0, 'bad_stamp'),
        (True, 'bad_stamp'),
        (None, 'bad_stamp'),
        ('1000', 'bad_stamp'),
    ],
)
def test_c12_stamps(stamp: Any, expected: str) -> None:
    assert problem(stamp) == expected


def test_age_is_not_limited_by_zero() -> None:
    config = Config(max_age_s=0)
    assert view_problem(View(1, 'camera'), NOW, NOW, config) == ''


@pytest.mark.parametrize(
    ('position', 'turn', 'expected'),
    [
        ((1, 2, 3), TURN, ''),
        ((1, 2, 3), (0.5, -0.5, 0.5, -0.5), ''),
        (np.array([1, 2, 3]), np.array(TURN), ''),
        ((NAN, 2, 3), TURN, 'bad_pose'),
        ((1, INF, 3), TURN, 'bad_pose'),
        ((1, 2, 3), (0, 0, 0, 0), 'bad_pose'),
        ((1, 2, 3), (0, 0, 0, 2), 'bad_pose'),
        ((1, 2, 3), (0, 0, NAN, 1), 'bad_pose'),
        ((1, 2), TURN, 'bad_pose'),
        ((1, 2), (0, *TURN), 'bad_pose'),  # seven numbers all the same
        ('abc', TURN, 'bad_pose'),
        (None, TURN, 'bad_pose'),
    ],
)
def test_poses(position: Any, turn: Any, expected: str) -> None:
    assert problem(NOW, Pose(position, turn)) == expected


def test_every_reason_for_a_view_is_provoked_here() -> None:
    found = {problem(0), problem(1), problem(NOW, Pose((NAN, 0, 0)))}
    assert found | {'bad_view'} == set(VIEW_REASONS)  # that one in test_memory.py
