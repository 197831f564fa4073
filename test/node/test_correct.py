# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/correct and the purge of ~/forget over the middleware: what they do, refuse, and who sees."""

from __future__ import annotations

import pytest
from asking_kit import CUP, MUG, TABLE, Asking
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, PoseStamped, Vector3
from node_kit import NS, wait_for
from rclpy.qos import DurabilityPolicy, QoSProfile
from spatial_memory.msg import MemoryObject, Pin
from viewer import Viewer
from visualization_msgs.msg import MarkerArray

LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def ask(robot, run_node):
    """A running node to ask: see Asking."""
    return Asking(robot, run_node())


def pose_at(x, y, z, frame=''):
    pose = PoseStamped()
    pose.header.frame_id = frame
    pose.pose.position = Point(x=x, y=y, z=z)
    pose.pose.orientation.w = 0.0  # not said
    return pose


def aspects(obj):
    return {pin.aspect: (pin.value, pin.evidence, pin.conflict) for pin in obj.pins}


def test_ch_v5_a_relabel_holds_and_shows_on_feed_hits_and_markers(ask):
    viewer = Viewer()
    ask.robot.node.create_subscription(MarkerArray, '/spatial_memory/markers', viewer.take, LATCHED)
    ask.look(CUP)
    reply = ask(
        'correct', operation='relabel', object_id=1, label='urn', actor='Ada', reason='ashes'
    )
    assert (reply.object.id, reply.object.label) == (1, 'urn')
    assert aspects(reply.object) == {Pin.ASPECT_LABEL: ('"urn"', '"cup"', True)}
    wait_for(lambda: viewer.labels() == ['urn #1'], what='its new label')
    for _ in range(4):
        ask.look(CUP)
    (hit,) = ask('query', text='urn').hits
    assert (hit.object.label, hit.object.pins[0].sightings) == ('urn', 8)
    (line,) = [c for array in ask.robot.feed for c in array.changes if c.kind == 'CORRECTED']
    assert (line.seq, line.actor, line.reason) == (reply.seq, 'Ada', 'ashes')
    assert {p.key: p.value for p in line.before} == {'label': 'cup'}
    told = ask('explain', object_id=1).text
    assert any("label is pinned to 'urn' by Ada" in text for text in told)
    undone = ask('correct', operation='undo', seq=reply.seq)
    assert (undone.object.label, list(undone.object.pins)) == ('cup', [])
    wait_for(lambda: viewer.labels() == ['cup #1'], what='its old label')


def test_move_resize_confirm_pin_and_unpin(ask):
    ask.robot.wait_acknowledged(ask.robot.see(CUP))
    moved = ask('correct', operation='move', object_id=1, pose=pose_at(7.0, 1.0, 0.5)).object
    assert (moved.pose.position.x, moved.state) == (7.0, MemoryObject.STATE_TENTATIVE)
    sized = ask('correct', operation='resize', object_id=1, size=Vector3(x=0.3, y=0.2, z=0.1))
    assert (sized.object.size.x, sized.object.pose.position.x) == (0.3, 7.0)
    sure = ask('correct', operation='confirm', object_id=1, confidence=0.9).object
    assert (sure.state, sure.confidence) == (MemoryObject.STATE_CONFIRMED, 0.9)
    assert set(aspects(sure)) == {'pose', 'size'}
    left = ask('correct', operation='unpin', object_id=1, aspects=['pose', 'size']).object
    assert aspects(left) == {}
    held = ask('correct', operation='pin', object_id=1, aspects=['label']).object
    assert set(aspects(held)) == {'label'}


def test_ch_w5_what_nobody_has_seen_is_asserted(ask):
    reply = ask('correct', operation='assert', label='fire extinguisher', actor='Ada',
                pose=pose_at(3.0, 0.0, 1.0), size=Vector3(x=0.2, y=0.2, z=0.5))  # fmt: skip
    assert (reply.object.label, reply.object.observations) == ('fire extinguisher', 0)
    assert reply.object.state == MemoryObject.STATE_CONFIRMED
    assert Pin.ASPECT_PRESENCE in aspects(reply.object)
    assert ask.ids(text='fire extinguisher') == [reply.object.id]
    ask('correct', operation='undo', seq=reply.seq)
    assert ask.ids(text='fire extinguisher') == []


def test_merge_split_and_undo_are_reached_from_here_too(ask):
    ask.look(CUP, MUG)
    merged = ask('correct', operation='merge', object_id=1, other_id=2)
    assert merged.object.id == 1
    split = ask('correct', operation='split', object_id=1)
    assert split.object.id == 3
    assert ask('correct', operation='undo', seq=split.seq).success
    assert ask.ids() == [1]


def test_c04_forget_for_a_time(ask):
    ask.look(CUP, ago_s=20.0)
    ask('forget', object_id=1, duration=Duration(sec=3600))
    ask.look(CUP, ago_s=10.0)
    assert ask.ids() == []
    changes = ask('history', object_id=1).changes
    (line,) = [c for c in changes if c.kind == 'FORGOTTEN']
    (until_ns,) = [int(p.value) for p in line.after if p.key == 'until_ns']
    assert 3500 * NS < until_ns - ask.robot.now_ns() <= 3600 * NS


def test_a_purge_says_how_much_went(ask):
    viewer = Viewer()
    ask.robot.node.create_subscription(MarkerArray, '/spatial_memory/markers', viewer.take, LATCHED)
    ask.look(CUP, TABLE)
    wait_for(lambda: len(viewer.labels()) == 2, what='both')
    reply = ask('forget', purge=True, label='cup', reason='private', actor='Ada')
    assert (reply.objects, reply.sightings, reply.erased) == (1, 2, True)
    assert reply.lines >= 2
    wait_for(lambda: [name.split()[0] for name in viewer.labels()] == ['table'], what='it gone')
    assert ask.ids(text='cup') == []
    assert ask('history', object_id=1).object.label == ''
    region = {'region_min': Point(x=1.0, y=-1.0, z=0.0), 'region_max': Point(x=3.0, y=1.0, z=2.0)}
    assert ask('forget', purge=True, **region).objects == 1
    assert ask('forget', purge=True, person='nobody').objects == 0


def test_wrong_requests_are_refused_and_change_nothing(ask):
    ask.look(CUP)
    seq = ask('get_changes').log_seq
    refused = ask.refused
    assert 'expected one of relabel' in refused('correct', 'INVALID_REQUEST', operation='paint')
    assert 'label: got' in refused('correct', 'INVALID_REQUEST', operation='relabel', object_id=1)
    refused('correct', 'UNKNOWN_OBJECT', operation='relabel', object_id=9, label='urn')
    refused('correct', 'UNKNOWN_OBJECT', operation='relabel', label='urn')
    refused('correct', 'INVALID_REQUEST', operation='resize', object_id=1)
    refused('correct', 'INVALID_REQUEST', operation='move', object_id=1,
            pose=pose_at(float('nan'), 0.0, 0.0))  # fmt: skip
    refused('correct', 'NO_TRANSFORM', operation='move', object_id=1,
            pose=pose_at(0.0, 0.0, 0.0, frame='nowhere'))  # fmt: skip
    refused('correct', 'INVALID_REQUEST', operation='confirm', object_id=1, confidence=1.5)
    refused('correct', 'INVALID_REQUEST', operation='assert', pose=pose_at(0.0, 0.0, 0.0))
    refused('correct', 'INVALID_REQUEST', operation='pin', object_id=1, aspects=['colour'])
    refused('correct', 'INVALID_REQUEST', operation='unpin', object_id=1, aspects=['label'])
    refused('correct', 'INVALID_REQUEST', operation='undo')
    refused('correct', 'INVALID_REQUEST', operation='undo', seq=1)
    refused('correct', 'INVALID_REQUEST', operation='merge', object_id=1, other_id=1)
    refused('correct', 'INVALID_REQUEST', operation='relabel', object_id=1, label='urn',
            actor='perception')  # fmt: skip
    refused('forget', 'INVALID_REQUEST', purge=True)
    refused('forget', 'INVALID_REQUEST', purge=True, object_id=1, label='cup')
    refused('forget', 'INVALID_REQUEST', purge=True, object_id=1, undo=True)
    refused('forget', 'INVALID_REQUEST', object_id=1, label='cup')
    refused('forget', 'INVALID_REQUEST', object_id=1, duration=Duration(sec=-1))
    refused('forget', 'INVALID_REQUEST', object_id=1, undo=True, duration=Duration(sec=1))
    assert ask('get_changes').log_seq == seq
    ask('forget', object_id=1)
    refused('correct', 'OBJECT_ENDED', operation='relabel', object_id=1, label='urn')
