# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Query, relate and forget with all that they take, and each bad value with its error code."""

from __future__ import annotations

import math

import pytest
from asking_kit import CUP, MUG, TABLE, Asking
from geometry_msgs.msg import PointStamped
from node_kit import NS, detection

from memory_node.ros.conversions import stamp_from_ns


@pytest.fixture
def ask(robot, run_node):
    """A running node to ask: see Asking."""
    return Asking(robot, run_node())


# -- relate ----------------------------------------------------------------------------------


def test_relations_are_stated_once_and_taken_back(ask):
    ask.look(CUP, TABLE, MUG)
    for _ in range(2):
        reply = ask('relate', subject='cup', relation='belongs_to', object='mug', state=True,
                    actor='Ann', reason='same set')  # fmt: skip
        (relation,) = reply.relations
        assert (relation.subject_id, relation.object_id, relation.stated) == (2, 1, True)
        assert (relation.subject_label, relation.object_label) == ('cup', 'coffee mug')
        assert relation.confidence == 1.0
        assert (list(reply.subject_ids), list(reply.object_ids)) == ([2], [1])
    assert ask('relate', relation='belongs_to').total == 1
    line = ask('get_changes').changes[-1]
    assert (line.kind, line.object.id, line.actor, line.reason) == (
        'RELATION', 2, 'Ann', 'same set',
    )  # fmt: skip
    assert {p.key: p.value for p in line.after} == {
        'relation': 'belongs_to', 'object_id': '1', 'holds': 'true',
    }  # fmt: skip
    reply = ask('relate', subject_id=2, relation='belongs_to', object_id=1, retract=True)
    assert reply.total == 0, 'also when it was the last of its kind'
    ask.refused('relate', 'INVALID_REQUEST', relation='belongs_to', subject='cup')


def test_relations_are_asked_for_from_either_side_and_within_limits(ask):
    ask.look(CUP, TABLE, *(detection('book', (2.0 + 0.1 * k, -0.3, 0.76), size=(0.05, 0.2, 0.02))
                           for k in range(5)))  # fmt: skip
    on = ask('relate', relation='on', object='table')
    assert on.total == 6
    assert len(list(on.subject_ids)) == 0
    assert len(list(on.object_ids)) == 1
    table = on.object_ids[0]
    assert {(r.relation, r.object_id, r.object_label) for r in on.relations} == {
        ('on', table, 'table')
    }
    few = ask('relate', relation='on', object_id=table, limit=2)
    assert (len(few.relations), few.total) == (2, 6)
    assert ask('relate', subject_id=table, relation='under').total == 6
    assert ask('relate', subject='book', relation='near', object='book').total == 20
    assert ask('relate', relation='on', object='lamp').total == 0
    everything = ask('relate', limit=1000)
    assert everything.total == len(everything.relations) > 12


RELATE_REFUSES = [
    ({'limit': -1}, 'INVALID_REQUEST'),
    ({'limit': 1001}, 'INVALID_REQUEST'),
    ({'relation': 'beyond'}, 'INVALID_REQUEST'),
    ({'relation': 'x' * 200}, 'INVALID_REQUEST'),
    ({'subject_id': 1, 'subject': 'cup'}, 'INVALID_REQUEST'),
    ({'object': 'x' * 5000}, 'INVALID_REQUEST'),
    ({'subject_id': 999}, 'UNKNOWN_OBJECT'),
    ({'object_id': 2**64 - 1}, 'UNKNOWN_OBJECT'),
    ({'subject_id': 1, 'object_id': 2, 'relation': 'a', 'state': True, 'retract': True},
     'INVALID_REQUEST'),
    ({'subject_id': 1, 'object_id': 2, 'state': True}, 'INVALID_REQUEST'),
    ({'subject_id': 1, 'object_id': 1, 'relation': 'a', 'state': True}, 'INVALID_REQUEST'),
    ({'subject_id': 1, 'relation': 'a', 'state': True}, 'INVALID_REQUEST'),
    ({'subject': 'book', 'object_id': 1, 'relation': 'a', 'state': True}, 'INVALID_REQUEST'),
    ({'subject': 'lamp', 'object_id': 1, 'relation': 'a', 'state': True}, 'INVALID_REQUEST'),
    ({'subject_id': 1, 'object_id': 4, 'relation': 'a', 'state': True}, 'OBJECT_ENDED'),
    ({'subject_id': 1, 'object_id': 99, 'relation': 'a', 'state': True}, 'UNKNOWN_OBJECT'),
]  # fmt: skip


def test_relate_refuses(ask):
    books = [detection('book', (8.0, k, 0.0)) for k in (0, 2)]
    ask.look(CUP, *books, TABLE)
    ask('forget', object_id=4)
    for fields, code in RELATE_REFUSES:
        ask.refused('relate', code, **fields)


# -- forget and undo -------------------------------------------------------------------------


def test_forgetting_is_undone_with_the_same_id(ask):
    ask.look(CUP)
    ask('forget', object_id=1, actor='Ann', reason='not a cup')
    assert ask.ids() == []
    ask.refused('forget', 'OBJECT_ENDED', object_id=1)
    reply = ask('forget', object_id=1, undo=True, actor='Ann', reason='it is')
    assert ask.ids() == [1]
    last = ask('history', object_id=1).changes[-1]
    assert (last.seq, last.kind, last.reason) == (reply.seq, 'RESTORED', 'it is')
    ask.refused('forget', 'INVALID_REQUEST', object_id=1, undo=True)
    ask.refused('forget', 'UNKNOWN_OBJECT', object_id=9, undo=True)
    ask.refused('forget', 'INVALID_REQUEST', object_id=1, actor='perception')


# -- query -----------------------------------------------------------------------------------


def test_query_by_label_feature_and_score(ask):
    ask.look(CUP, TABLE, MUG, detection('plate', (7, 0, 0), feature=(0.6, 0.8, 0.0)))
    hits = ask('query', labels=['CUP', 'table', 'lamp']).hits
    assert {h.object.label for h in hits} == {'cup', 'table'}
    reply = ask('query', feature=[2.0, 0.0, 0.0])
    assert [(h.object.label, pytest.approx(h.score, abs=1e-3)) for h in reply.hits] == [
        ('coffee mug', 1.0), ('plate', 0.6),
    ]  # fmt: skip
    assert {t.name for t in reply.hits[0].terms} == {'feature'}
    (best,) = ask('query', feature=[1.0, 0.0, 0.0], min_score=0.9).hits
    assert best.object.label == 'coffee mug'
    assert ask('query', text='mug', labels=['coffee mug']).total == 1
    for fields in (
        {'feature': [1.0, 0.0]}, {'feature': [0.0, 0.0, 0.0]},
        {'feature': [math.nan, 0.0, 1.0]}, {'min_score': -1.0}, {'min_score': math.nan},
        {'moved_m': math.inf}, {'order': 'random'}, {'labels': ['x' * 5000]},
        {'states': ['forgotten']},
    ):  # fmt: skip
        ask.refused('query', 'INVALID_REQUEST', **fields)


def test_query_by_time(ask):
    old = ask.look(CUP, ago_s=100)
    new = ask.look(TABLE)
    between = stamp_from_ns((old + new) // 2)
    by_label = {h.object.label: h.object.id for h in ask('query').hits}
    assert ask.ids(seen_since=between) == [by_label['table']]
    assert ask.ids(seen_since=stamp_from_ns(new)) == [by_label['table']]
    assert ask.ids(unseen_since=between) == [by_label['cup']]
    assert ask.ids(unseen_since=stamp_from_ns(old)) == []
    assert ask.ids(new_since=between) == [by_label['table']]
    assert ask.ids(new_since=stamp_from_ns(old - 2 * NS)) == sorted(by_label.values())
    ask.refused('query', 'INVALID_REQUEST', seen_since=between, unseen_since=between)


def test_query_by_movement_and_order(ask):
    ask.look(CUP, TABLE, ago_s=50)
    now = ask.robot.now_ns()
    for k in range(1, 31):
        x, y, z = CUP.pose.position.x, CUP.pose.position.y, CUP.pose.position.z
        moved = detection('cup', (x + 0.01 * k, y, z))
        ask.robot.wait_acknowledged(ask.robot.see(moved, stamp_ns=now - (30 - k) * NS))
    hits = ask('query').hits
    by_label = {h.object.label: h.object.id for h in hits}
    assert len(hits) == 2, 'it moved slowly enough to stay itself'
    reply = ask('query', moved_m=0.2)
    assert [h.object.id for h in reply.hits] == [by_label['cup']]
    assert {t.name: t.value for t in reply.hits[0].terms}['moved_m'] > 0.2
    assert ask.ids(moved_m=5.0) == []
    assert ask.ids(order='recent') == [by_label['cup'], by_label['table']]
    assert ask.ids(order='salient') == [by_label['cup'], by_label['table']]
    assert ask.ids(order='relevance') == sorted(by_label.values())
    near = PointStamped()
    near.point.x, near.point.z = 2.0, 0.375
    assert ask.ids(near=near, radius_m=0.1) == [by_label['table']]
