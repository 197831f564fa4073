# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Stamps that cannot be right, and simulated time."""

from __future__ import annotations

import pytest
from node_kit import NS, detection, stored_stamps, transform, wait_for

NOW_S = 812.0
NOW_NS = 812 * NS
BAD_NS = (0, 1709320098 * NS, NOW_NS + 4300 * NS)


def dropped(node, reason):
    return node._intake.counts().dropped[reason]


def start(robot, run_node, **parameters):
    node = run_node({'use_sim_time': True, **parameters})
    robot.clock(NOW_S)
    robot.wait_ready()
    wait_for(lambda: node.get_clock().now().nanoseconds == NOW_NS, what='the clock')
    robot.tf(transform('map', 'base_link', NOW_NS - NS), transform('map', 'base_link', NOW_NS + NS))
    return node


@pytest.mark.parametrize('frame', ['map', 'base_link'])
def test_c12_bad_stamps_are_refused_and_make_nothing_old(frame, robot, run_node, tmp_path):
    node = start(robot, run_node)
    other = robot.see(detection('chair', (5, 5, 0)), stamp_ns=NOW_NS - NS)
    robot.wait_acknowledged(other)
    thing = detection(at=(1, 2, 3), size=(0, 0, 0))
    for stamp in BAD_NS:
        robot.see(thing, stamp_ns=stamp, frame=frame)
    ahead = robot.see(thing, stamp_ns=NOW_NS + 20_000_000, frame=frame)
    good = robot.see(thing, stamp_ns=NOW_NS - 20_000_000, frame=frame)
    robot.wait_acknowledged(ahead, good)
    assert dropped(node, 'bad_stamp') == 3
    assert {h.object.label for h in robot.query()} == {'chair', 'cup'}
    assert node._memory.newest_stamp_ns == ahead
    wait_for(lambda: robot.status_value('intake', 'dropped: bad_stamp') == '3', what='diagnostics')
    node.close()
    assert sorted(stored_stamps(tmp_path / 'memory.db')) == [other, good, ahead]


def test_c12_bad_stamps_become_the_time_of_receipt_on_request(robot, run_node, tmp_path):
    node = start(robot, run_node, stamp_policy='receive_time')
    for k, stamp in enumerate(BAD_NS):
        robot.see(detection(at=(k, 2, 3)), stamp_ns=stamp, frame='base_link')
        wait_for(lambda k=k: len(robot.feed) == k + 1, what='the view')
    good = robot.see(detection(at=(7, 0, 0)), stamp_ns=NOW_NS - 1)
    robot.wait_acknowledged(good)
    assert node._intake.counts().restamped == 3
    assert node._intake.counts().dropped == {}
    key = 'given the time of receipt'
    wait_for(lambda: robot.status_value('intake', key) == '3', what='diagnostics')
    node.close()
    assert stored_stamps(tmp_path / 'memory.db') == [NOW_NS] * 3 + [good]


def test_stamp_policy_can_be_changed_while_it_runs(robot, run_node):
    node = start(robot, run_node)
    robot.see(stamp_ns=0)
    wait_for(lambda: dropped(node, 'bad_stamp') == 1, what='the refusal')
    assert robot.set_parameter('stamp_policy', 'receive_time').successful
    robot.see(stamp_ns=0)
    robot.wait_acknowledged(NOW_NS)
    assert not robot.set_parameter('stamp_policy', 'guess').successful


def test_before_the_first_clock_views_wait_and_are_given_up(robot, run_node, log):
    node = run_node({'use_sim_time': True, 'transform_wait_s': 1.0})
    robot.wait_ready()
    assert node.get_clock().now().nanoseconds == 0
    # A stamp of the wall clock must not become the newest time.
    robot.see(stamp_ns=1709320098 * NS)
    wait_for(lambda: dropped(node, 'no_clock') == 1, what='the view to be given up')
    wait_for(lambda: 'no time yet' in robot.status('intake').message, what='diagnostics')
    assert robot.set_parameter('transform_wait_s', 60.0).successful
    # The first views of a replay come a moment before the first clock: they are kept.
    robot.see(stamp_ns=NOW_NS)
    wait_for(lambda: node._intake.waiting == 1, what='the view')
    robot.clock(NOW_S)
    robot.wait_acknowledged(NOW_NS)
    assert len(robot.query()) == 1
    log.wait('no_clock')


def test_simulated_time_is_stored_as_such(robot, run_node, tmp_path):
    import apsw

    node = start(robot, run_node)
    robot.wait_acknowledged(robot.see(stamp_ns=NOW_NS))
    node.close()
    connection = apsw.Connection(str(tmp_path / 'memory.db'))
    rows = connection.execute('SELECT clock, recorded_ns FROM view').fetchall()
    connection.close()
    assert rows == [('sim', NOW_NS)]
