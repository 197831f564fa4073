# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Frames that are not named, not there, or not there yet."""

from __future__ import annotations

import time

import pytest
from node_kit import NS, Load, detection, transform, wait_for

from memory_node.ros.transform_buffer import MissingFrameError, TransformBuffer
from memory_node.scene.transform import Transform

START_NS = 1000 * NS
LONG_S = 60.0


def center(hit):
    p = hit.object.pose.position
    return p.x, p.y, p.z


def dropped(node, reason):
    return node._intake.counts().dropped[reason]


def test_c06_a_view_without_a_frame_is_refused_alone(robot, run_node, log):
    node = run_node()
    robot.wait_ready()
    for _ in range(20):
        robot.see(detection(at=(1, 2, 3)), frame='')
    wait_for(lambda: dropped(node, 'no_frame') == 20, what='20 refusals')
    assert robot.query() == []
    stamp = robot.see(detection(at=(1, 2, 3)), frame='map')
    robot.wait_acknowledged(stamp)
    assert len(robot.query()) == 1
    assert len(log.wait('no_frame')) == 1  # one line in five seconds
    wait_for(lambda: robot.status_value('intake', 'dropped: no_frame') == '20', what='diagnostics')


def test_c07_a_missing_map_frame_is_named_and_waited_for(robot, run_node, request, log):
    seconds = 10.0 if request.config.getoption('--long') else 4.0
    run_node()
    robot.wait_ready()
    began = time.monotonic()

    def publish(_):
        now = time.time_ns()
        robot.tf(transform('world', 'base_link', now))
        return robot.see(frame='base_link', stamp_ns=now)

    load = Load(robot, 10, publish)
    log.wait('missing_frame')
    wait_for(lambda: robot.status_value('intake', 'missing frame: map'), what='diagnostics')
    wait_for(lambda: time.monotonic() - began > seconds, what='the time')
    wait_for(lambda: robot.status('intake').level == b'\x02', what='an error')
    assert 'map' in robot.status('intake').message
    assert robot.query() == []
    robot.tf(transform('map', 'world', 0), static=True)
    wait_for(lambda: robot.query(), what='an object')
    # From the first one on, every view gets through.
    first = len(load.stamps_ns)
    wait_for(lambda: len(load.stamps_ns) > first + 5, what='more views')
    load.stop()
    robot.wait_acknowledged(*load.stamps_ns[first:])
    # At most one line in five seconds, and it names the frame.
    lines = log.lines('missing_frame')
    assert len(lines) <= (time.monotonic() - began) / 5.0 + 1
    assert all("'map'" in line for line in lines)


@pytest.fixture
def sim(robot, run_node):
    """The node in simulated time, at 1000 s; it does not tire of waiting for transforms."""
    node = run_node({'use_sim_time': True, 'transform_wait_s': LONG_S})
    robot.clock(1000.0)
    robot.wait_ready()
    wait_for(lambda: node.get_clock().now().nanoseconds == START_NS, what='the clock')
    return node


def test_c08_a_late_transform_is_waited_for_and_used_at_the_stamp(sim, robot):
    robot.tf(transform('map', 'base_link', START_NS))
    robot.clock(1000.06)
    late = START_NS + 50_000_000
    robot.see(detection(at=(5, 0, 0.5)), frame='base_link', stamp_ns=late)
    # Meanwhile other frames are not held up, and requests are answered.
    other = robot.see(detection('mug', (0, 0, 0)), frame='map', stamp_ns=late + 1)
    robot.wait_acknowledged(other)
    assert [hit.object.label for hit in robot.query()] == ['mug']
    assert not robot.acknowledged(late)
    robot.clock(1000.11)
    robot.tf(transform('map', 'base_link', START_NS + 100_000_000, yaw=0.1))
    robot.wait_acknowledged(late)
    (hit,) = robot.query(text='cup')
    assert center(hit) == pytest.approx((4.994, 0.250, 0.5), abs=0.01)


def test_c08_a_transform_that_never_comes_is_given_up_and_counted(sim, robot, log):
    assert robot.set_parameter('transform_wait_s', 0.5).successful
    robot.tf(transform('map', 'base_link', START_NS))
    robot.clock(1000.2)
    sent = time.monotonic()
    for k in range(3):
        robot.see(frame='base_link', stamp_ns=START_NS + 50_000_000 + k)
    wait_for(lambda: dropped(sim, 'transform_too_early') == 3, what='the views to be given up')
    assert time.monotonic() - sent > 0.4
    assert robot.set_parameter('transform_wait_s', LONG_S).successful
    assert robot.query() == []
    log.wait("'base_link' was asked for at 1000.050 s")
    # The frame is not lost: the next view that has its transform is stored.
    robot.tf(transform('map', 'base_link', START_NS + 200_000_000))
    stamp = robot.see(frame='base_link', stamp_ns=START_NS + 200_000_000)
    robot.wait_acknowledged(stamp)


def test_c08_views_of_one_frame_stay_in_order(sim, robot):
    robot.clock(1001.0)
    robot.tf(transform('map', 'base_link', START_NS))
    stamps = [START_NS + k * 10_000_000 for k in range(1, 20)]
    for stamp in stamps:
        robot.see(frame='base_link', stamp_ns=stamp)
    robot.tf(transform('map', 'base_link', START_NS + NS))
    robot.wait_acknowledged(*stamps)
    order = [a.header.stamp.sec * NS + a.header.stamp.nanosec for a in robot.feed]
    assert order == stamps


def test_a_sensor_frame_that_is_missing_holds_up_no_other_sensor(robot, run_node):
    node = run_node({'transform_wait_s': 1.0})
    robot.wait_ready()
    robot.see(sensor='left', sensor_frame='left_optical')
    stamp = robot.see(sensor='right')
    robot.wait_acknowledged(stamp)
    wait_for(lambda: dropped(node, 'missing_frame') == 1, what='the other to be given up')


def test_a_point_in_another_frame_is_asked_for_at_the_newest_transform(robot, run_node):
    from geometry_msgs.msg import PointStamped

    run_node()
    robot.wait_ready()
    robot.wait_acknowledged(robot.see(detection(at=(3, 0, 0.5))))
    near = PointStamped()
    near.header.frame_id = 'base_link'
    assert robot.call('query', near=near, radius_m=1.5).error_code == 3  # NO_TRANSFORM

    def ask():
        # What a robot's driver sends is always a little older than now, and comes often.
        robot.tf(transform('map', 'base_link', time.time_ns() - 100_000_000, (2, 0, 0)))
        reply = robot.call('query', near=near, radius_m=1.5)
        return reply.success and reply.hits

    (hit,) = wait_for(ask, what='an answer')
    assert {t.name: round(t.value, 3) for t in hit.terms}['distance_m'] == pytest.approx(1.118)


def test_the_newest_time_of_a_chain_is_that_of_its_oldest_part():
    buffer = TransformBuffer()
    for parent, child, seconds in (('map', 'odom', 3), ('odom', 'base_link', 5)):
        for k in range(seconds):
            buffer.add(parent, child, (k + 1) * NS, Transform())
    buffer.add('base_link', 'camera', 0, Transform(), static=True)
    assert buffer.newest_ns('map', 'camera') == 3 * NS
    assert buffer.newest_ns('camera', 'odom') == 5 * NS
    assert buffer.newest_ns('base_link', 'camera') == 0
    assert buffer.newest_ns('camera', 'camera') == 0
    with pytest.raises(MissingFrameError):
        buffer.newest_ns('map', 'nowhere')
