# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/maintain over the middleware: each operation, what it replies and refuses, and who shows it."""

from __future__ import annotations

import pytest
from asking_kit import CUP, MUG, TABLE, Asking
from node_kit import NS, detection, wait_for
from rclpy.qos import DurabilityPolicy, QoSProfile
from spatial_memory.msg import MemoryObject, SceneGraph
from viewer import Viewer
from visualization_msgs.msg import MarkerArray

from memory_node import Detection, SpatialMemory, View

LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TWIN = detection('cup', (3.2, 0.1, 0.85))


@pytest.fixture
def ask(robot, run_node):
    """A running node to ask: see Asking."""
    return Asking(robot, run_node())


def test_merge_and_undo_show_on_feed_scene_and_markers(ask):
    viewer, scenes = Viewer(), []
    node = ask.robot.node
    node.create_subscription(MarkerArray, '/spatial_memory/markers', viewer.take, LATCHED)
    node.create_subscription(SceneGraph, '/spatial_memory/scene', scenes.append, LATCHED)
    ask.look(CUP)
    ask.look(TWIN)
    wait_for(lambda: viewer.labels() == ['cup #1', 'cup #2'], what='two cups')
    reply = ask('maintain', operation='merge_objects', object_id=1, other_id=2, reason='one cup',
                actor='Ada')  # fmt: skip
    assert (list(reply.kept_ids), list(reply.merged_ids)) == ([1], [2])
    assert reply.written == 2 and reply.last_seq == reply.merge_seqs[0] + 1
    assert reply.summary == 'object 2 was merged into object 1'
    wait_for(lambda: viewer.labels() == ['cup #1'], what='one cup')
    wait_for(lambda: [o.id for o in scenes[-1].objects] == [1], what='a scene of one cup')
    changes = {c.kind: c for array in ask.robot.feed for c in array.changes}
    line = changes['MERGED']
    assert (line.seq, line.object.id, line.actor) == (reply.merge_seqs[0], 2, 'Ada')
    assert line.object.state == MemoryObject.STATE_MERGED
    assert {p.key: p.value for p in line.after}['into'] == '1'
    assert changes['UPDATED'].object.observations == 4
    told = ask('history', object_id=2)
    assert (told.object.id, told.merged_into, len(told.observations)) == (1, 1, 4)
    assert ask('history', object_id=1).merged_into == 0
    assert ask('explain', object_id=2).text[0] == 'Object 2 was merged into object 1.'
    ask.refused('forget', 'OBJECT_ENDED', object_id=2)
    undone = ask('maintain', operation='undo', seq=reply.merge_seqs[0])
    assert undone.written == 2
    wait_for(lambda: viewer.labels() == ['cup #1', 'cup #2'], what='two cups again')
    wait_for(lambda: [o.id for o in scenes[-1].objects] == [1, 2], what='a scene of two cups')


def test_split_consolidate_and_all(ask):
    ask.look(CUP, TABLE)
    ask.look(TWIN)
    ask('maintain', operation='merge_objects', object_id=1, other_id=3)
    reply = ask('maintain', operation='split', object_id=1)
    assert (list(reply.split_ids), list(reply.new_ids)) == ([1], [4])
    assert reply.last_seq == reply.split_seqs[0] + 1
    reply = ask('maintain', operation='consolidate')
    assert reply.written == 0 and 'objects had changed; 0 merges' in reply.summary
    reply = ask('maintain', operation='maintain_all')
    assert reply.written == 0 and list(reply.split_ids) == []
    assert ask.robot.call('get_changes').last_seq == reply.last_seq


def test_another_store_is_taken_over_once(ask, tmp_path):
    path = str(tmp_path / 'other.db')
    with SpatialMemory.open(path) as other:
        for second in (100, 105):
            other.observe(
                View(second * NS, 'lidar', [Detection('vase', 0.9, (7, 0, 1), (0.2,) * 3)])
            )
    ask.look(MUG)
    reply = ask('maintain', operation='merge_store', path=path)
    assert list(reply.their_ids) == [1] and list(reply.our_ids) == [2]
    assert reply.written == 2 and reply.store_id
    assert ask.ids(text='vase') == [2]
    again = ask('maintain', operation='merge_store', path=path)
    assert again.written == 0 and list(again.our_ids) == [2]
    seqs = sorted(c.seq for array in ask.robot.feed for c in array.changes)
    wait_for(lambda: ask.robot.feed[-1].last_seq == reply.last_seq, what='the feed')
    assert len(seqs) == len(set(seqs))


def test_maintain_refuses_with_the_right_code(ask, tmp_path):
    ask.look(CUP, TABLE)
    own = str(tmp_path / 'memory.db')
    for code, fields in (
        ('INVALID_REQUEST', {}),
        ('INVALID_REQUEST', {'operation': 'tidy'}),
        ('INVALID_REQUEST', {'operation': 'split', 'object_id': 1}),
        ('UNKNOWN_OBJECT', {'operation': 'split'}),
        ('UNKNOWN_OBJECT', {'operation': 'split', 'object_id': 2**63 + 1}),
        ('INVALID_REQUEST', {'operation': 'merge_objects', 'object_id': 1, 'other_id': 1}),
        ('UNKNOWN_OBJECT', {'operation': 'merge_objects', 'object_id': 1, 'other_id': 99}),
        ('INVALID_REQUEST', {'operation': 'undo'}),
        ('INVALID_REQUEST', {'operation': 'undo', 'seq': 1}),
        ('INVALID_REQUEST', {'operation': 'undo', 'seq': 2**64 - 1}),
        ('INVALID_REQUEST', {'operation': 'merge_store', 'path': own}),
        ('INVALID_REQUEST', {'operation': 'merge_store', 'path': 'relative.db'}),
        ('STORE_ERROR', {'operation': 'merge_store', 'path': str(tmp_path / 'none.db')}),
    ):
        ask.refused('maintain', code, **fields)
    seq = ask('get_changes').log_seq
    ask('forget', object_id=1)
    ask.refused('maintain', 'OBJECT_ENDED', operation='split', object_id=1)
    assert ask('get_changes').log_seq == seq + 1
