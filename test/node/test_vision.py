# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""vision_msgs and named sensors over the middleware."""

from __future__ import annotations

import math

import pytest

pytest.importorskip('vision_msgs')

from node_kit import NS, DetectionArray, detection, ros_arguments, transform, view, wait_for
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from vision_kit import array, seen
from vision_msgs.msg import Detection3DArray

from memory_node.errors import InvalidValueError

HASH = 'RIHS01_793f5eab9595ac1c0da07873cc859db42eae51f0ee76056db8562515d830e018'
"""Of vision_msgs/msg/Detection3DArray 4.1.1, made from the definitions of that release."""


class Detector:
    """Publishes Detection3DArrays."""

    def __init__(self, robot, topic='detections_vision', reliable=True):
        reliability = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
        profile = QoSProfile(depth=5, reliability=reliability)
        self.robot = robot
        self.publisher = robot.node.create_publisher(Detection3DArray, topic, profile)

    def see(self, *detections, frame='map', stamp_ns=None):
        stamp_ns = self.robot.now_ns() if stamp_ns is None else stamp_ns
        wait_for(self.publisher.get_subscription_count, what='a subscription')
        self.publisher.publish(array(*detections, stamp_ns=stamp_ns, frame=frame))
        return stamp_ns


@pytest.fixture
def detector(robot, run_node):
    def make(parameters=None, **more):
        run_node(parameters)
        robot.wait_ready()
        return Detector(robot, **more)

    return make


def names_file(tmp_path, text):
    path = tmp_path / 'names.yaml'
    path.write_text(text)
    return {'class_names_file': str(path)}


def test_the_type_is_that_of_vision_msgs_4(robot, detector):
    detector()
    (info,) = robot.node.get_subscriptions_info_by_topic('/detections_vision')
    assert str(info.topic_type_hash) == HASH


@pytest.mark.parametrize('reliable', [False, True], ids=['best effort', 'reliable'])
def test_c13_a_detector_of_either_reliability_is_heard(robot, detector, reliable):
    sees = detector(reliable=reliable)
    wait_for(lambda: sees.publisher.get_subscription_count() == 1, what='a match')
    stamps = []

    def stored():
        stamps.append(sees.see(seen({'cup': 0.8})))
        return robot.query(text='cup')

    wait_for(stored, what='the cup')


def test_c17_what_saw_nothing_or_says_nothing_is_a_healthy_view(robot, run_node):
    # A list of strings cannot be given on a command line as other parameters here.
    node = run_node({'ignored_labels': '[wall]'})
    robot.wait_ready()
    sees = Detector(robot)
    stamps = [sees.see(), sees.see(seen({}, (1, 1, 1))), sees.see(seen({'wall': 0.9}))]
    robot.wait_acknowledged(*stamps)
    assert robot.query() == []
    assert dict(node._memory.refusals) == {'no_label': 1, 'ignored': 1}
    robot.wait_acknowledged(sees.see(seen({}), seen({'cup': 0.8}), seen({'wall': 0.9})))
    assert [h.object.label for h in robot.query()] == ['cup']


def test_c18_class_ids_get_names_and_unknown_ones_one_warning(robot, detector, tmp_path, capfd):
    sees = detector(names_file(tmp_path, '56: chair'))
    robot.wait_acknowledged(sees.see(seen({'56': 0.8, '41': 0.1}, (2, 0, 0.5))))
    assert [h.object.label for h in robot.query(text='chair')] == ['chair']
    stamps = [
        sees.see(seen({'999': 0.8}, (5, 0, 0.5)), stamp_ns=robot.now_ns() + k) for k in range(5)
    ]
    robot.wait_acknowledged(*stamps)
    assert [h.object.label for h in robot.query(text='999')] == ['999']
    said = capfd.readouterr().err
    assert said.count("class id '999' has no name") == 1
    assert said.count("class id '41' has no name") == 1
    assert "class id '56'" not in said


def test_c18_a_table_that_comes_later_renames_and_splits_nothing(
    robot, start_process, tmp_path, cleanup
):
    first = start_process()
    robot.wait_ready()
    sees = Detector(robot)
    for _ in range(3):
        robot.wait_acknowledged(sees.see(seen({'56': 0.8}, (2, 0, 0.5))))
    (hit,) = robot.query(text='56')
    assert first.stop() == 0
    robot.feed.clear()
    start_process(names_file(tmp_path, '56: chair'))
    robot.wait_ready()
    wait_for(lambda: sees.publisher.get_subscription_count() == 1, what='the new node')
    for _ in range(5):
        robot.wait_acknowledged(sees.see(seen({'56': 0.8}, (2, 0, 0.5))))
    (after,) = robot.query()
    assert (after.object.id, after.object.label) == (hit.object.id, 'chair')


def test_a_table_that_cannot_be_read_is_named_at_start(ros, tmp_path):
    from memory_node.ros.node import SpatialMemoryNode

    arguments = ros_arguments({'class_names_file': str(tmp_path / 'none.yaml')})
    with pytest.raises(InvalidValueError, match='class_names_file'):
        SpatialMemoryNode(cli_args=arguments)


def test_c06_frames_of_detections_and_of_arrays(robot, detector):
    sees = detector()
    now = robot.now_ns()
    robot.tf(transform('map', 'left', now, (0, 10, 0)), static=True)
    robot.tf(transform('map', 'right', now, (0, -10, 0), yaw=math.pi / 2), static=True)
    for k in range(20):  # nothing names a frame
        sees.see(seen({'lost': 0.8}, (1, 2, 3)), frame='', stamp_ns=now + k)
    wait_for(lambda: robot.status_value('intake', 'dropped: no_frame') == '20', what='diagnostics')
    assert robot.query() == []
    robot.wait_acknowledged(sees.see(seen({'cup': 0.8}, (1, 2, 3))))
    stamp_ns = sees.see(
        seen({'own': 0.8}, (1, 0, 0), frame='left'), seen({'array': 0.8}, (1, 0, 0)),
        seen({'nowhere': 0.8}, frame='no such frame'), frame='right',
    )  # fmt: skip
    wait_for(lambda: len(robot.query()) == 3, what='those of known frames')
    places = {h.object.label: h.object.pose.position for h in robot.query()}
    assert [(round(p.x, 6), round(p.y, 6)) for p in (places['own'], places['array'])] == [
        (1, 10), (0, -9),
    ]  # fmt: skip
    assert robot.acknowledged(stamp_ns)


def test_covariance_track_and_alternatives_reach_the_memory(robot, run_node):
    node = run_node()
    robot.wait_ready()
    sees = Detector(robot)
    covariance = [0.0] * 36
    covariance[0] = covariance[7] = covariance[14] = 0.04
    given = []
    observe = node._memory.observe
    node._memory.observe = lambda v, *a, **k: given.append(v) or observe(v, *a, **k)
    robot.wait_acknowledged(
        sees.see(seen({'cup': 0.6, 'mug': 0.3}, covariance=covariance, number='t1'))
    )
    (detection_,) = given[-1].detections
    assert detection_.alternatives == {'mug': 0.3}
    assert detection_.track_id == 't1'
    assert detection_.position_cov[1][1] == pytest.approx(0.04)
    assert given[-1].sensor == 'map', 'a nameless sensor is called as its frame'


def test_named_sensors_have_topics_of_their_own(robot, run_node):
    run_node({'sensors': '[head, wrist]'})
    robot.wait_ready()
    ours = robot.node.create_publisher(DetectionArray, 'head/detections', 10)
    wait_for(ours.get_subscription_count, what='a subscription')
    wrist = Detector(robot, 'wrist/detections_vision')
    now = robot.now_ns()
    ours.publish(view(detection('cup'), stamp_ns=now, sensor=''))
    ours.publish(view(detection('cup'), stamp_ns=now + 1, sensor='its own'))
    wrist.see(seen({'cup': 0.8}), stamp_ns=now + 2)
    robot.wait_acknowledged(now, now + 1, now + 2)
    reply = robot.call('history', object_id=1)
    assert [o.sensor for o in reply.observations] == ['head', 'its own', 'wrist']
    robot.wait_acknowledged(robot.see(), Detector(robot).see(seen({'cup': 0.8})))
    status = robot.status_value
    wait_for(lambda: 'vision_msgs' in status('intake', 'topic /wrist/detections_vision'),
             what='diagnostics')  # fmt: skip


@pytest.mark.parametrize('sensors', ['[head camera]', '[""]', '[a, a]', '["1st"]', '[/]'])
def test_sensors_that_cannot_have_topics_are_refused_at_start(ros, sensors, tmp_path):
    from memory_node.ros.node import SpatialMemoryNode

    arguments = ros_arguments({'sensors': sensors, 'database': str(tmp_path / 'm.db')})
    with pytest.raises(InvalidValueError, match='sensors: got'):
        SpatialMemoryNode(cli_args=arguments)


def test_objects_go_out_as_vision_msgs_to_whom_it_concerns(robot, detector):
    sees = detector()
    now = robot.now_ns()
    for k in (2, 1, 0):
        robot.wait_acknowledged(
            sees.see(seen({'cup': 0.6, 'mug': 0.2}), stamp_ns=now - k * NS),
        )
    robot.wait_acknowledged(sees.see(seen({'once': 0.8}, (5, 5, 5))))
    came = []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    robot.node.create_subscription(
        Detection3DArray, '/spatial_memory/objects_vision', came.append, latched
    )
    wait_for(lambda: came, what='the objects')
    (obj,) = came[-1].detections
    assert (obj.id, came[-1].header.frame_id) == ('1', 'map')
    shares = {r.hypothesis.class_id: r.hypothesis.score for r in obj.results}
    assert max(shares, key=shares.get) == 'cup'
    assert sum(shares.values()) == pytest.approx(1.0)
    assert robot.call('forget', object_id=1).success
    wait_for(lambda: not came[-1].detections, what='the cup to go')


def test_who_is_in_sight_goes_out_as_vision_msgs_where_that_is_asked_for(robot, run_node):
    run_node()
    robot.wait_ready()
    came = []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    topic = '/spatial_memory/tracks_vision'
    robot.node.create_subscription(Detection3DArray, topic, came.append, latched)
    wait_for(lambda: robot.node.count_publishers(topic), what='the topic')
    walker, cup = detection('person', (1.0, 0.0, 0.9)), detection('cup', (2.0, 0.0, 0.5))
    robot.wait_acknowledged(robot.see(walker, cup))
    assert robot.set_parameter('track_mobile', True).successful

    def followed():
        robot.wait_acknowledged(robot.see(walker, cup))
        return came and came[-1].detections

    (shown,) = wait_for(followed, what='the person')
    assert (shown.id, shown.results[0].hypothesis.class_id) == ('1', 'person')
    assert came[-1].header.frame_id == 'map'
    assert [h.object.label for h in robot.query()] == ['cup']
    assert robot.set_parameter('track_s', 0.1).successful

    def gone():
        robot.wait_acknowledged(robot.see(cup))
        return not came[-1].detections

    wait_for(gone, what='the person to be gone')


def test_without_vision_msgs_the_node_says_so_once_and_works(robot, run_node, monkeypatch, capfd):
    from memory_node.ros import boards, vision

    monkeypatch.setattr(vision, 'has_vision_msgs', lambda: False)
    monkeypatch.setattr(boards, 'has_vision_msgs', lambda: False)
    run_node({'sensors': '[head]'})
    robot.wait_ready()
    robot.wait_acknowledged(robot.see())
    topics = {name for name, _ in robot.node.get_topic_names_and_types()}
    assert not {t for t in topics if 'vision' in t}
    assert capfd.readouterr().err.count('vision_msgs is not installed') == 1
