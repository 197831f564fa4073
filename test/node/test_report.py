# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/report over the middleware: what the robot did, what that changes, what is refused."""

from __future__ import annotations

import pytest
from asking_kit import CUP, TABLE, Asking
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, PointStamped, PoseStamped
from node_kit import NS, transform, wait_for
from spatial_memory.msg import MemoryObject


@pytest.fixture
def ask(robot, run_node):
    """A running node that has seen a cup (1) and a table (2)."""
    ask = Asking(robot, run_node())
    ask.look(CUP, TABLE, ago_s=60.0)
    return ask


def pose_at(x, y, z, frame=''):
    pose = PoseStamped()
    pose.header.frame_id = frame
    pose.pose.position = Point(x=x, y=y, z=z)
    pose.pose.orientation.w = 0.0  # not said
    return pose


def near_the_table():
    point = PointStamped(point=Point(x=2.0, y=0.0, z=0.8))
    return {'near': point, 'radius_m': 1.0}


def lines(ask, kind):
    return [c for array in ask.robot.feed for c in array.changes if c.kind == kind]


def test_picked_and_placed(ask):
    assert ask.ids(**near_the_table(), text='cup') == [1]
    held = ask('report', act='picked', object_id=1, reason='to wash it')
    assert held.object.state == MemoryObject.STATE_HELD and held.object.presence < 0.01
    assert ask.ids(**near_the_table(), text='cup') == []
    assert ask.ids(text='cup') == [1], 'asked for by name it is with the robot'
    assert ask('relate', subject_id=1, relation='on').relations == []
    wait_for(lambda: lines(ask, 'HELD'), what='the line')
    (line,) = lines(ask, 'HELD')
    assert (line.seq, line.actor, line.reason) == (held.seq, 'robot', 'to wash it')
    ask.robot.tf(transform('map', 'base_link', ask.robot.now_ns(), (10.0, 0.0, 0.0)))
    wait_for(
        lambda: ask.robot.call(
            'report', act='placed', object_id=1, pose=pose_at(1.0, 0.5, 0.9, 'base_link')
        ).success,
        what='the transform',
    )  # fmt: skip
    (hit,) = ask('query', text='cup').hits
    it = hit.object
    assert (it.id, it.state, it.pose.position.x) == (1, MemoryObject.STATE_CONFIRMED, 11.0)
    assert it.presence > 0.98 and it.pose.orientation.w == 1.0
    wait_for(lambda: lines(ask, 'MOVED'), what='the line')
    (line,) = lines(ask, 'MOVED')
    assert {p.key for p in line.after} >= {'act', 'center_m'}


def test_put_inside_opened_and_closed(ask):
    it = ask('report', act='put_inside', object_id=1, container_id=2).object
    assert it.pose.position.z == pytest.approx(TABLE.pose.position.z)
    (found,) = ask('relate', subject_id=1, relation='inside').relations
    assert (found.object_id, found.stated) == (2, True)
    ask('report', act='opened', object_id=2)
    assert [p.value for p in ask('history', object_id=2).object.properties] == ['true']
    ask('report', act='closed', object_id=2)
    assert [p.value for p in ask('history', object_id=2).object.properties] == ['false']


def test_not_found_twice_is_absent_and_can_be_asked_for(ask):
    first_ns = ask.robot.now_ns() - 30 * NS
    states = []
    for k in range(2):
        sec, nanosec = divmod(first_ns + 10 * k * NS, NS)
        reply = ask('report', act='not_found', object_id=1, stamp=Time(sec=sec, nanosec=nanosec))
        states.append(reply.object.state)
    assert states == [MemoryObject.STATE_DOUBTFUL, MemoryObject.STATE_ABSENT]
    assert reply.object.last_check == MemoryObject.CHECK_MISSED
    assert reply.object.last_checked.sec == sec
    assert ask.ids(text='cup') == [] and ask.ids(text='cup', include_absent=True) == [1]
    assert 'missed it: 2' in lines(ask, 'ABSENT')[0].reason


def test_declared_absent_and_undone(ask):
    gone = ask('correct', operation='absent', object_id=1, actor='Ada')
    assert gone.object.state == MemoryObject.STATE_ABSENT and gone.object.presence < 0.01
    assert ask.ids(text='cup') == []
    back = ask('correct', operation='undo', seq=gone.seq)
    assert back.object.state == MemoryObject.STATE_CONFIRMED
    assert ask.ids(text='cup') == [1]


def test_what_cannot_be_is_refused_with_a_code_and_loses_nothing(ask):
    refused = ask.refused
    assert 'expected one of picked' in refused('report', 'INVALID_REQUEST', act='thrown')
    for number in (0, 99):
        assert str(number) in refused('report', 'UNKNOWN_OBJECT', act='picked', object_id=number)
    fields = {'act': 'put_inside', 'object_id': 1}
    refused('report', 'UNKNOWN_OBJECT', **fields, container_id=77)
    refused('report', 'INVALID_REQUEST', **fields, container_id=1)
    refused('report', 'INVALID_REQUEST', act='picked', object_id=1, container_id=2)
    refused('report', 'INVALID_REQUEST', act='picked', object_id=1, stamp=Time(sec=-1))
    refused(
        'report', 'NO_TRANSFORM', act='placed', object_id=1, pose=pose_at(0.0, 0.0, 0.0, 'nowhere')
    )
    nan = pose_at(float('nan'), 0.0, 0.0)
    assert 'center_m' in refused('report', 'INVALID_REQUEST', act='placed', object_id=1, pose=nan)
    ask('forget', object_id=1)
    assert 'forgotten' in refused('report', 'OBJECT_ENDED', act='picked', object_id=1)
    ask('correct', operation='assert', label='table', pose=pose_at(2.0, 0.1, 0.4))
    ask('correct', operation='merge', object_id=2, other_id=3)
    assert 'object 2' in refused('report', 'OBJECT_ENDED', act='not_found', object_id=3)
    assert ask.ids(text='table') == [2]
