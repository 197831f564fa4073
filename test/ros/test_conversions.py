# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Messages to the words of the core and back, through the serialiser where it matters."""

from __future__ import annotations

import dataclasses
import math
from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip('rclpy')
pytest.importorskip('spatial_memory.msg')

from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message, serialize_message
from spatial_memory import msg, srv

from memory_node import model
from memory_node.ros import conversions, queries
from memory_node.scene.transform import Transform

STAMP_NS = 1_000_050_000_000
HERE = Transform()
QUARTER = Transform.of((10, 0, 1), (0, 0, 1, 1))
"""At (10, 0, 1), turned a quarter to the left: (1, 2, 3) comes to (8, 1, 4)."""

OBJECT = model.MemoryObject(
    id=2**63 - 1, label='mug', labels={'mug': 3.5, 'cup': 0.25}, state=model.State.CONFIRMED,
    center_m=(1.0, 2.0, 3.0), orientation_xyzw=(0.0, 0.0, 0.6, 0.8), size_m=(0.1, 0.2, 0.3),
    confidence=0.75, observations=7, first_seen_ns=STAMP_NS, last_seen_ns=STAMP_NS + 1,
    map_id='home',
    pins={
        model.Aspect.LABEL: model.Pin(5, model.Aspect.LABEL, 'mug', 4, 2, 'cup', True),
        model.Aspect.SIZE: model.Pin(7, model.Aspect.SIZE, (0.1, 0.2, 0.3), 6),
    },
    last_checked_ns=STAMP_NS + 2, last_check=model.Check.MISSED,
    standing=model.Standing(1.0, STAMP_NS + 2, conversions.FOREVER_S), in_motion=True,
)  # fmt: skip
STATED = dataclasses.replace(
    OBJECT, pins={model.Aspect.PRESENCE: model.Pin(7, model.Aspect.PRESENCE, True, 6)},
    standing=model.Standing(0.0, STAMP_NS + 2, conversions.FOREVER_S),
)  # fmt: skip
OBSERVATION = model.Observation(
    id=9, object_id=3, view_seq=12, stamp_ns=STAMP_NS, recorded_ns=STAMP_NS + 5,
    sensor='head', label='mug', score=0.5, center_m=(1.0, 2.0, 3.0),
    orientation_xyzw=model.IDENTITY, size_m=(0.0, 0.0, 0.0), verdict=model.VerdictKind.MERGED,
    reason='', terms={'total': 0.75, 'iou': 0.5},
)  # fmt: skip
CHANGE = model.Change(
    seq=13, kind=model.ChangeKind.CREATED, object_id=OBJECT.id, stamp_ns=STAMP_NS,
    recorded_ns=STAMP_NS + 5, actor='perception', reason='seen', object=OBJECT,
)  # fmt: skip


def over_the_wire(message: Any) -> Any:
    """The message as a subscriber gets it."""
    return deserialize_message(serialize_message(message), type(message))


def view_of(*detections: msg.Detection, to_map: Transform = HERE, **fields: Any) -> model.View:
    message = msg.DetectionArray(detections=list(detections), **fields)
    message.header.frame_id = 'camera'
    message.header.stamp = conversions.stamp_from_ns(STAMP_NS)
    return conversions.view_from_msg(over_the_wire(message), to_map, None, 'home', 'sim')


def detection(
    position: tuple = (1.0, 2.0, 3.0), turn: tuple = (0.0, 0.0, 0.0, 1.0), **fields: Any
) -> msg.Detection:
    return msg.Detection(
        label='mug', score=0.9, pose=conversions.pose_to_msg(position, turn), **fields
    )


# -- stamps ----------------------------------------------------------------------------------


@given(st.integers(-(2**31) * 10**9, 2**31 * 10**9 - 1))
def test_stamps_there_and_back(stamp_ns: int) -> None:
    assert conversions.stamp_to_ns(conversions.stamp_from_ns(stamp_ns)) == stamp_ns


def test_stamps_that_do_not_fit_are_the_nearest() -> None:
    assert conversions.stamp_from_ns(2**62) == Time(sec=2**31 - 1, nanosec=999_999_999)
    assert conversions.stamp_from_ns(-(2**62)) == Time(sec=-(2**31), nanosec=0)
    assert conversions.stamp_from_ns(np.int64(5)) == Time(sec=0, nanosec=5)


# -- views in --------------------------------------------------------------------------------


def test_a_view_comes_into_the_map_frame() -> None:
    covariance = np.diag((1.0, 4.0, 9.0)).reshape(9)
    view = view_of(
        detection(
            position_covariance=covariance,
            feature=array('f', (0.5, 1.5)),
            alternatives=[msg.LabelWeight(label='cup', weight=0.25)],
            track_id='t7',
        ),
        to_map=QUARTER,
        sensor='head',
        field_of_view=msg.FieldOfView(horizontal_rad=1.0, vertical_rad=0.5, max_range_m=5.0),
    )
    [d] = view.detections
    np.testing.assert_allclose(d.center_m, (8, 1, 4), atol=1e-12)
    np.testing.assert_allclose(d.orientation_xyzw, QUARTER.rotation_xyzw, atol=1e-12)
    np.testing.assert_allclose(d.position_cov, np.diag((4, 1, 9)), atol=1e-12)
    assert d.feature.dtype == np.float32
    assert d.feature.tolist() == [0.5, 1.5]
    assert (d.label, d.score, d.alternatives, d.track_id) == ('mug', 0.9, {'cup': 0.25}, 't7')
    assert view.field_of_view == model.FieldOfView(1.0, 0.5, 0.0, 5.0)
    assert (view.stamp_ns, view.sensor, view.map_id, view.clock) == (
        STAMP_NS, 'head', 'home', 'sim',
    )  # fmt: skip


def test_what_is_not_given_is_unknown() -> None:
    view = view_of(detection(turn=(0, 0, 0, 0)), to_map=QUARTER)
    [d] = view.detections
    assert view.sensor == 'camera'
    assert view.field_of_view is None
    assert view.sensor_pose is None
    assert d.position_cov is None
    assert d.feature is None
    assert d.size_m == (0, 0, 0)
    assert not any(d.orientation_xyzw)


def test_an_empty_view_is_a_view() -> None:
    view = view_of()
    assert view.detections == ()
    assert view.stamp_ns == STAMP_NS


def test_the_feature_is_not_copied() -> None:
    message = msg.DetectionArray(detections=[detection(feature=array('f', (1.0, 2.0)))])
    view = conversions.view_from_msg(message, HERE, None, '', 'wall')
    assert np.shares_memory(view.detections[0].feature, message.detections[0].feature)


def test_c14_each_bad_number_stays_where_it_is() -> None:
    bad_covariance = np.zeros(9)
    bad_covariance[0] = math.nan
    bad_size = detection()
    bad_size.size.z = math.nan
    good = detection((1.0, 0.0, 1.0), position_covariance=np.eye(3).reshape(9))
    view = view_of(
        detection((math.nan, 2.0, 3.0)),
        detection((1.0, math.inf, 3.0)),
        bad_size,
        detection(position_covariance=bad_covariance),
        good,
        to_map=QUARTER,
    )
    d = view.detections
    np.testing.assert_array_equal(d[0].center_m, (math.nan, 2, 3))
    np.testing.assert_array_equal(d[1].center_m, (1, math.inf, 3))
    assert math.isnan(d[2].size_m[2])
    assert np.isnan(d[3].position_cov[0, 0])
    np.testing.assert_allclose(d[3].center_m, (8, 1, 4), atol=1e-12)
    np.testing.assert_allclose(d[4].center_m, (10, 1, 2), atol=1e-12)
    np.testing.assert_allclose(d[4].position_cov, np.eye(3), atol=1e-12)


def test_c14_a_bad_feature_or_score_touches_no_other() -> None:
    bad = detection(feature=array('f', (math.nan, 1.0)))
    bad.score = math.inf
    view = view_of(bad, detection(feature=array('f', (3.0, 4.0))))
    assert np.isnan(view.detections[0].feature[0])
    assert view.detections[0].score == math.inf
    assert view.detections[1].feature.tolist() == [3.0, 4.0]


def test_c16_orientations_are_turned_and_not_normalised() -> None:
    turns = [
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 2.0),
        (0.0, 0.0, 0.7, 0.7),
        (math.nan, 0.0, 0.0, 1.0),
        (0.0, 0.0, 0.3827, 0.9239),
        (0.0, 0.0, -0.3827, -0.9239),
    ]
    view = view_of(*(detection(turn=turn) for turn in turns), to_map=QUARTER)
    found = np.array([d.orientation_xyzw for d in view.detections])
    h = math.sqrt(0.5)
    np.testing.assert_array_equal(found[0], 0)
    np.testing.assert_allclose(found[1], (0, 0, 2 * h, 2 * h), atol=1e-12)
    np.testing.assert_allclose(found[2], (0, 0, 1.4 * h, 0), atol=1e-12)
    np.testing.assert_array_equal(found[3], turns[3])
    np.testing.assert_allclose(found[4], -found[5], atol=1e-12)
    norms = np.linalg.norm(found, axis=1)
    np.testing.assert_allclose(norms, np.linalg.norm(turns, axis=1), atol=1e-9)


def test_a_view_of_the_core_there_and_back() -> None:
    given = model.Detection(
        'mug', 0.5, (1.0, 2.0, 3.0), (0.1, 0.2, 0.3), (0.0, 0.0, 0.6, 0.8),
        position_cov=np.diag((1.0, 2.0, 3.0)), feature=np.arange(4, dtype=np.float32),
        alternatives={'cup': 0.25}, track_id='t',
    )  # fmt: skip
    view = model.View(
        STAMP_NS, 'head', (given,), field_of_view=model.FieldOfView(1.0, 0.5, 0.25, 5.0),
        map_id='home',
    )  # fmt: skip
    message = over_the_wire(conversions.view_to_msg(view, 'map'))
    assert message.header.frame_id == 'map'
    back = conversions.view_from_msg(message, HERE, None, 'home', 'wall')
    [found] = back.detections
    np.testing.assert_array_equal(found.position_cov, given.position_cov)
    np.testing.assert_array_equal(found.feature, given.feature)
    plain = {'position_cov': None, 'feature': None}
    assert dataclasses.astuple(dataclasses.replace(found, **plain)) == dataclasses.astuple(
        dataclasses.replace(given, **plain)
    )
    for name in ('stamp_ns', 'sensor', 'field_of_view', 'map_id', 'clock'):
        assert getattr(back, name) == getattr(view, name)


# -- the memory out --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('there', 'back', 'given'),
    [
        (conversions.object_to_msg, conversions.object_from_msg, OBJECT),
        (conversions.object_to_msg, conversions.object_from_msg, STATED),
        (conversions.observation_to_msg, conversions.observation_from_msg, OBSERVATION),
        (
            conversions.observation_to_msg,
            conversions.observation_from_msg,
            dataclasses.replace(
                OBSERVATION, object_id=None, verdict=model.VerdictKind.REJECTED, reason='far'
            ),
        ),
        (conversions.change_to_msg, conversions.change_from_msg, CHANGE),
        (
            conversions.change_to_msg,
            conversions.change_from_msg,
            dataclasses.replace(CHANGE, object=None),
        ),
        (
            conversions.hit_to_msg,
            conversions.hit_from_msg,
            model.Hit(OBJECT, 0.5, {'label': 1.0, 'distance_m': 0.25}, 0.5),
        ),
    ],
)
def test_there_and_back(there: Any, back: Any, given: Any) -> None:
    assert back(over_the_wire(there(given))) == given


def test_presence_is_that_of_the_last_evidence_in_a_hit_that_of_the_time_asked_about() -> None:
    assert over_the_wire(conversions.object_to_msg(OBJECT)).presence == 0.5
    assert over_the_wire(conversions.object_to_msg(STATED)).presence == 1.0
    hit = over_the_wire(conversions.hit_to_msg(model.Hit(OBJECT, 1.0, presence=0.25)))
    assert (hit.presence, hit.object.presence) == (0.25, 0.5)


def test_what_was_never_checked_has_no_time_of_it() -> None:
    never = dataclasses.replace(OBJECT, last_checked_ns=0, last_check=model.Check.NEVER)
    message = over_the_wire(conversions.object_to_msg(never))
    assert (message.last_check, message.last_checked.sec) == ('', 0)


def test_labels_keep_their_order() -> None:
    message = over_the_wire(conversions.object_to_msg(OBJECT))
    assert [weight.label for weight in message.labels] == ['mug', 'cup']


def test_relations_carry_labels_as_far_as_known() -> None:
    relation = model.Relation(3, model.RelationKind.ON, 4, 0.5)
    message = over_the_wire(conversions.relation_to_msg(relation, {3: 'cup'}))
    assert (message.subject_label, message.relation, message.object_label) == ('cup', 'on', '')
    assert conversions.relation_from_msg(message) == relation


def test_numpy_numbers_are_sent_as_what_they_are() -> None:
    obj = dataclasses.replace(
        OBJECT, id=np.int64(7), center_m=np.array((1, 2, 3), np.float32),
        confidence=np.float32(0.5), observations=np.int64(2**40), labels={'mug': np.float64(1)},
    )  # fmt: skip
    message = over_the_wire(conversions.object_to_msg(obj))
    assert (message.id, message.confidence, message.observations) == (7, 0.5, 2**32 - 1)
    assert message.pose.position.z == 3.0


def test_a_commit_becomes_one_message() -> None:
    view_line = dataclasses.replace(
        CHANGE, seq=12, kind=model.ChangeKind.VIEW, object_id=None, object=None
    )
    commit = model.Commit((), (view_line, CHANGE), 12, 13)
    message = over_the_wire(
        conversions.commit_to_change_array(
            commit, stamp_ns=STAMP_NS, sensor='head', store_id='s', durable_seq=11, map_frame='map'
        )
    )
    assert (message.first_seq, message.last_seq, message.durable_seq) == (12, 13, 11)
    assert [change.seq for change in message.changes] == [13]
    assert (message.sensor, message.store_id, message.header.frame_id) == ('head', 's', 'map')
    assert conversions.stamp_to_ns(message.header.stamp) == STAMP_NS


def test_every_kind_of_change_and_state_has_its_constant() -> None:
    kinds = {kind.value for kind in model.ChangeKind} - {'VIEW'}
    assert {getattr(msg.Change, kind) for kind in kinds} == kinds
    for state in model.State:
        assert getattr(msg.MemoryObject, f'STATE_{state.name}') == state.value
    for check in set(model.Check) - {model.Check.NEVER}:
        assert getattr(msg.MemoryObject, f'CHECK_{check.name}') == check.value
    for verdict in model.VerdictKind:
        assert getattr(msg.ObservationRecord, f'VERDICT_{verdict.name}') == verdict.value
    for relation in model.RelationKind:
        assert getattr(msg.Relation, relation.name) == relation.value


@pytest.mark.parametrize(
    ('frame', 'sensor_frame', 'expected'),
    [
        ('camera_optical', '', 'camera_optical'),
        ('camera_optical', 'other_optical', 'other_optical'),
        ('map', 'camera_optical', 'camera_optical'),
        ('map', '', ''),
        ('/map', '', ''),
    ],
)
def test_c22_the_frame_of_the_sensor(frame: str, sensor_frame: str, expected: str) -> None:
    message = msg.DetectionArray(sensor_frame=sensor_frame)
    message.header.frame_id = frame
    assert conversions.sensor_frame_of(message, 'map') == expected


# -- requests --------------------------------------------------------------------------------


def test_the_empty_request_asks_for_everything() -> None:
    query = queries.query_from_request(over_the_wire(srv.Query.Request()))
    assert query == model.Query()


def test_a_full_request() -> None:
    request = srv.Query.Request(text='mug', radius_m=2.0, states=['forgotten'], limit=3)
    query = queries.query_from_request(over_the_wire(request), (1.0, 2.0, 3.0))
    assert query == model.Query(
        'mug', near_m=(1.0, 2.0, 3.0), radius_m=2.0, states=('forgotten',), limit=3
    )


def test_a_request_about_presence_at_a_time() -> None:
    request = srv.Query.Request(min_presence=0.5, include_absent=True)
    query = queries.query_from_request(over_the_wire(request), now_ns=STAMP_NS)
    assert (query.min_presence, query.at_ns) == (0.5, STAMP_NS)
    assert set(query.states) == {'tentative', 'confirmed', 'doubtful', 'absent', 'held'}
    request.at.sec = 7
    assert queries.query_from_request(request, now_ns=STAMP_NS).at_ns == 7_000_000_000
    request.states = ['held']
    assert queries.query_from_request(request).states == ('held',), 'named states count'


@pytest.mark.parametrize('radius_m', [math.nan, -1.0, math.inf])
def test_c25_bad_numbers_reach_the_core(radius_m: float) -> None:
    request = srv.Query.Request(radius_m=radius_m, limit=-1)
    query = queries.query_from_request(request, (math.nan, 0.0, 0.0))
    np.testing.assert_equal(query.radius_m, radius_m)
    assert query.limit == -1
    assert math.isnan(query.near_m[0])
