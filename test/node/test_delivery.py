# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Publishers of every quality of service, malformed fields, and more than can be judged."""

from __future__ import annotations

import math
import threading
import time

import pytest
from node_kit import DEADLINE_S, Load, detection, gapless, transform, view, wait_for
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

NAN = math.nan


def test_c13_best_effort_and_reliable_publishers_are_both_heard(make_robot, run_node, log):
    run_node()
    reliable = make_robot()
    reliable.wait_ready()
    reliable.wait_acknowledged(reliable.see(sensor='first'))
    sloppy = make_robot(reliable=False)
    # The subscription is made again, which matches both; it is one, not two.
    wait_for(lambda: sloppy.subscribers == 1, what='a match with the best-effort publisher')
    wait_for(lambda: reliable.subscribers == 1, what='a match with the reliable publisher')
    for _ in range(5):
        stamps = [sloppy.see(sensor='sloppy'), reliable.see(sensor='reliable')]
        reliable.wait_acknowledged(*stamps)
    (line,) = log.wait('offers an incompatible QoS')
    for words in ("'/detections'", 'RELIABILITY', 'best effort from now on'):
        assert words in line
    said = reliable.status_value
    wait_for(lambda: 'best effort' in said('intake', 'topic /detections'), what='diagnostics')


def test_c13_best_effort_is_remembered_over_a_deactivation(make_robot, run_node, log):
    node = run_node()
    sloppy = make_robot(reliable=False)
    wait_for(lambda: sloppy.subscribers == 1, what='a match')
    node.trigger_deactivate()
    wait_for(lambda: sloppy.subscribers == 0, what='the end of the subscription')
    node.trigger_activate()
    wait_for(lambda: sloppy.subscribers == 1, what='a match')
    sloppy.wait_acknowledged(sloppy.see())
    assert len(log.wait('offers an incompatible QoS')) == 1


def test_c13_static_transforms_that_are_only_volatile_are_named(robot, run_node, log):
    run_node()
    robot.wait_ready()
    publisher = robot.node.create_publisher(
        TFMessage, '/tf_static', QoSProfile(depth=1, durability=DurabilityPolicy.VOLATILE)
    )
    publisher.publish(TFMessage(transforms=[transform('map', 'base_link', 0)]))
    (line,) = log.wait('offering incompatible QoS')
    assert "'/tf_static'" in line
    assert 'DURABILITY' in line
    robot.wait_acknowledged(robot.see())  # alive


TURNS = {
    'unknown': (0, 0, 0, 0),
    'long': (0, 0, 0, 2),
    'short': (0, 0, 0.7, 0.7),
    'nan': (NAN, 0, 0, 1),
}


def test_c16_quaternions_are_normalised_or_refused_alone(robot, run_node):
    node = run_node()
    robot.wait_ready()
    things = [
        detection(label, (k, 0, 0), turn=turn) for k, (label, turn) in enumerate(TURNS.items())
    ]
    now = time.time_ns()
    robot.tf(transform('map', 'base_link', now, (0, 0, 1)))
    for frame in ('map', 'base_link'):
        stamp = robot.see(*things, stamp_ns=now, frame=frame)
        robot.wait_acknowledged(stamp)
        assert node._memory.refusals['not_finite'] == 1 + (frame != 'map')
        now += 1
        robot.tf(transform('map', 'base_link', now, (0, 0, 1)))
    found = {}
    for hit in robot.query(limit=100):
        q = hit.object.pose.orientation
        assert math.hypot(q.x, q.y, q.z, q.w) == pytest.approx(1.0, abs=1e-6)
        found.setdefault(hit.object.label, []).append((q.z, q.w))
    assert set(found) == {'unknown', 'long', 'short'}
    assert all(turn == pytest.approx((0, 1)) for turn in found['unknown'] + found['long'])
    half = math.sqrt(0.5)
    assert all(turn == pytest.approx((half, half)) for turn in found['short'])


def test_c16_a_quaternion_and_its_negative_are_one_turn(robot, run_node):
    run_node()
    robot.wait_ready()
    q = (0, 0, 0.3827, 0.9239)
    for sign in (1, -1):
        stamp = robot.see(detection(turn=[sign * v for v in q]))
        robot.wait_acknowledged(stamp)
    (hit,) = robot.query()
    assert hit.object.observations == 2
    turn = hit.object.pose.orientation
    yaw = math.degrees(2 * math.atan2(turn.z, turn.w)) % 360
    assert yaw == pytest.approx(45, abs=0.1)


def test_one_malformed_detection_costs_no_other(robot, run_node):
    node = run_node()
    robot.wait_ready()
    bad_cov = detection('plate', (3, 0, 1))
    bad_cov.position_covariance[0] = NAN
    stamp = robot.see(
        detection(at=(NAN, 0, 0)), detection(at=(0, math.inf, 0)),
        detection(size=(1, 1, NAN)), detection(score=2.0), detection(label=''), bad_cov,
        detection('mug', (1, 0, 1)),
    )  # fmt: skip
    robot.wait_acknowledged(stamp)
    assert {h.object.label for h in robot.query()} == {'mug', 'plate'}
    assert node._memory.refusals == {'not_finite': 3, 'bad_score': 1, 'no_label': 1}
    robot.wait_acknowledged(robot.see(stamp_ns=stamp + 1))
    empty = robot.now_ns()
    robot.publish(view(stamp_ns=empty))  # seen nothing: a stored view too
    robot.wait_acknowledged(empty)


def test_a_full_queue_drops_the_oldest_and_counts_them(robot, run_node, monkeypatch, log, cleanup):
    node = run_node({'queue_size': 5})
    robot.wait_ready()
    judge, busy, free = node._memory.observe, threading.Event(), threading.Event()
    cleanup.callback(free.set)

    def slow(*args, **more):
        busy.set()
        free.wait(2 * DEADLINE_S)
        return judge(*args, **more)

    monkeypatch.setattr(node._memory, 'observe', slow)
    stamps = [robot.see(stamp_ns=time.time_ns())]
    assert busy.wait(DEADLINE_S), 'the first view is not being judged'
    stamps += [robot.see(stamp_ns=time.time_ns()) for _ in range(19)]
    wait_for(lambda: node._intake.counts().dropped == {'queue_full': 14}, what='14 views too many')
    assert node._intake.counts().received == 20
    # Requests do not wait for the views.
    assert robot.call('query').success
    assert not free.is_set()
    free.set()
    robot.wait_acknowledged(stamps[0], *stamps[15:])
    assert len(robot.feed) == 6
    assert len(log.wait('queue_full')) == 1


def test_requests_do_not_wait_until_views_are_worked_off(robot, run_node):
    node = run_node()
    robot.wait_ready()
    many = [detection(f'thing{k}', (k % 10, k // 10, 0)) for k in range(50)]
    load = Load(robot, 30, lambda _: robot.see(*many))
    wait_for(lambda: len(robot.feed) > 3, what='views')
    meanwhile = []
    for _ in range(100):
        before = node._intake.counts().committed
        assert robot.call('query', text='thing7').success
        meanwhile.append(node._intake.counts().committed - before)
    load.stop()
    # One view at most is ahead of a request in the line; others come while it is on its way.
    assert sorted(meanwhile)[50] <= 10, meanwhile
    robot.wait_acknowledged(*load.stamps_ns)
    assert gapless(robot.feed)
