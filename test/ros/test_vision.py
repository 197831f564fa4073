# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""vision_msgs as views, and objects as vision_msgs."""

from __future__ import annotations

import pytest

pytest.importorskip('vision_msgs')

from node_kit import NS
from vision_kit import array, seen

from memory_node.model import IDENTITY, MemoryObject, State
from memory_node.perception.adapters import ClassNames
from memory_node.ros import conversions
from memory_node.ros.vision import arrays_of, object_to_vision

PLAIN = ClassNames()


def test_a_detection_comes_with_all_it_says():
    covariance = [0.0] * 36
    covariance[0], covariance[1], covariance[6], covariance[7], covariance[14] = 4, 1, 1, 9, 16
    message = array(
        seen({'41': 0.3, '56': 0.6}, (1, 2, 3), size=(0.4, 0, 0.6), covariance=covariance,
             number='track 7'), stamp_ns=5 * NS, frame='camera',
    )  # fmt: skip
    (view,) = arrays_of(message, ClassNames({'56': 'chair'}))
    assert (view.header.frame_id, view.header.stamp.sec, view.sensor) == ('camera', 5, '')
    (detection,) = view.detections
    assert (detection.label, detection.score, detection.track_id) == ('chair', 0.6, 'track 7')
    assert [(a.label, a.weight) for a in detection.alternatives] == [('41', 0.3)]
    assert conversions.triple_from_msg(detection.pose.position) == (1, 2, 3)
    assert conversions.triple_from_msg(detection.size) == (0.4, 0, 0.6)
    assert list(detection.position_covariance) == [4, 1, 0, 1, 9, 0, 0, 0, 16]


def test_c17_no_results_are_no_label_and_no_detections_an_empty_view():
    (view,) = arrays_of(array(seen({}), stamp_ns=NS), PLAIN)
    assert [d.label for d in view.detections] == ['']
    assert not any(view.detections[0].position_covariance)
    (view,) = arrays_of(array(stamp_ns=NS, frame='camera'), PLAIN)
    assert (list(view.detections), view.header.frame_id) == ([], 'camera')


def test_c06_an_empty_frame_falls_back_to_that_of_the_array():
    message = array(
        seen({'a': 0.5}), seen({'b': 0.5}, frame='camera'), seen({'c': 0.5}, frame='/camera'),
        stamp_ns=NS, frame='camera',
    )  # fmt: skip
    (view,) = arrays_of(message, PLAIN)
    assert [d.label for d in view.detections] == ['a', 'b', 'c']
    (view,) = arrays_of(array(seen({'a': 0.5}), stamp_ns=NS, frame=''), PLAIN)
    assert view.header.frame_id == '', 'for the intake to refuse'


def test_what_has_a_frame_or_a_stamp_of_its_own_is_a_view_of_its_own():
    message = array(
        seen({'a': 0.5}), seen({'b': 0.5}, frame='left'), seen({'c': 0.5}),
        seen({'d': 0.5}, stamp_ns=2 * NS), seen({'e': 0.5}, frame='left'),
        stamp_ns=NS, frame='right',
    )  # fmt: skip
    views = {
        (v.header.frame_id, v.header.stamp.sec): [d.label for d in v.detections]
        for v in arrays_of(message, PLAIN)
    }
    assert views == {('right', 1): ['a', 'c'], ('left', 1): ['b', 'e'], ('right', 2): ['d']}
    (view,) = arrays_of(array(seen({'a': 0.5}, stamp_ns=3 * NS), stamp_ns=0), PLAIN)
    assert view.header.stamp.sec == 3


def test_an_object_goes_out_with_the_shares_of_its_labels():
    obj = MemoryObject(
        2**40, 'cup', {'cup': 3.0, 'mug': 1.0}, State.CONFIRMED, (1.0, 2.0, 3.0), IDENTITY,
        (0.1, 0.2, 0.0), 0.9, 4, NS, 6 * NS,
    )  # fmt: skip
    message = object_to_vision(obj, 'map')
    assert (message.id, message.header.frame_id) == (str(2**40), 'map')
    assert message.header.stamp.sec == 6
    hypotheses = [(r.hypothesis.class_id, r.hypothesis.score) for r in message.results]
    assert hypotheses == [('cup', 0.75), ('mug', 0.25)]
    assert conversions.triple_from_msg(message.bbox.size) == (0.1, 0.2, 0.0)
    assert conversions.triple_from_msg(message.bbox.center.position) == (1.0, 2.0, 3.0)
    assert message.results[0].pose.pose == message.bbox.center


def test_what_goes_out_comes_in_again_as_the_same():
    obj = MemoryObject(
        7, 'cup', {'cup': 3.0, 'mug': 1.0}, State.CONFIRMED, (1.0, 2.0, 3.0), IDENTITY,
        (0.1, 0.2, 0.3), 0.9, 4, NS, 6 * NS,
    )  # fmt: skip
    (view,) = arrays_of(array(object_to_vision(obj, 'map'), stamp_ns=NS), PLAIN)
    (detection,) = view.detections
    assert (detection.label, detection.track_id, view.header.stamp.sec) == ('cup', '7', 6)
