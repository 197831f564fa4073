# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The newer services: right answers, and each bad request with its error code."""

from __future__ import annotations

import json
import math

import pytest
from asking_kit import CUP, MUG, TABLE, Asking
from builtin_interfaces.msg import Time
from node_kit import NS, detection, transform, view
from spatial_memory.msg import DetectionArray, Property

from memory_node import SpatialMemory
from memory_node.ros.conversions import change_from_msg, stamp_from_ns


@pytest.fixture
def ask(robot, run_node):
    """A running node to ask: see Asking."""
    return Asking(robot, run_node())


# -- observe ---------------------------------------------------------------------------------


def test_observe_returns_a_verdict_for_each_detection(ask):
    now = ask.robot.now_ns()
    bad = detection('bad', (math.nan, 0, 0))
    reply = ask('observe', view=view(CUP, bad, detection('dim', (9, 9, 9), 0.1), stamp_ns=now))
    assert list(reply.verdicts) == ['created', 'rejected', 'rejected']
    assert reply.reasons[1] == 'not_finite'
    assert reply.reasons[2]
    assert list(reply.object_ids) == [1, 0, 0]
    assert reply.seq == 1
    reply = ask('observe', view=view(CUP, stamp_ns=now + 1))
    assert (list(reply.verdicts), list(reply.object_ids)) == (['merged'], [1])
    ask.robot.wait_acknowledged(now, now + 1)
    assert ask('observe', view=view(stamp_ns=now + 2)).seq > reply.seq, 'an empty view is one too'


def test_observe_uses_transforms_and_refuses_what_the_intake_would(ask):
    now = ask.robot.now_ns()
    ask.robot.tf(transform('map', 'camera', now, (0, 3, 0)), static=True)
    for _ in range(100):
        reply = ask.robot.call('observe', view=view(CUP, stamp_ns=now, frame='camera'))
        if reply.success:
            break
    ((hit,),) = (ask('query').hits,)
    assert hit.object.pose.position.y == pytest.approx(3.1)
    ask.refused('observe', 'NO_TRANSFORM', view=view(CUP, stamp_ns=now, frame='nowhere'))
    ask.refused('observe', 'INVALID_REQUEST', view=view(CUP, stamp_ns=now, frame=''))
    said = ask.refused('observe', 'INVALID_REQUEST', view=view(CUP, stamp_ns=0))
    assert 'bad_stamp' in said
    ask.refused('observe', 'INVALID_REQUEST', view=view(CUP, stamp_ns=now + 100 * NS))
    said = ask.refused('observe', 'INVALID_REQUEST', view=view(CUP, stamp_ns=now - 1000 * NS))
    assert 'too_old' in said
    ask.refused('observe', 'INVALID_REQUEST', view=DetectionArray())


# -- explain ---------------------------------------------------------------------------------


def test_explain_an_object_and_a_sighting(ask):
    ask.look(CUP)
    reply = ask('explain', object_id=1)
    assert 'Object 1 is confirmed; 2 sightings' in reply.text[0]
    assert [o.verdict for o in reply.observations] == ['created', 'merged']
    assert [c.kind for c in reply.changes] == ['CREATED', 'CONFIRMED']
    settings = {p.key: p.value for p in reply.settings}
    assert float(settings['merge_score']) == pytest.approx(0.62)
    merged = reply.observations[1]
    reply = ask('explain', observation_id=merged.id)
    assert [o.id for o in reply.observations] == [merged.id]
    assert 'Against object 1 it scored' in reply.text[1]
    terms = {t.name: t.value for t in reply.observations[0].terms}
    assert terms['total'] >= 0.62
    assert ask('forget', object_id=1).seq
    assert 'forgotten' in ask('explain', object_id=1).text[0]


EXPLAIN_REFUSES = [
    ({}, 'INVALID_REQUEST'),
    ({'object_id': 1, 'observation_id': 1}, 'INVALID_REQUEST'),
    ({'object_id': 7}, 'UNKNOWN_OBJECT'),
    ({'object_id': 2**64 - 1}, 'UNKNOWN_OBJECT'),
    ({'observation_id': 7}, 'UNKNOWN_OBJECT'),
    ({'observation_id': 2**64 - 1}, 'UNKNOWN_OBJECT'),
]  # fmt: skip


def test_explain_refuses(ask):
    for fields, code in EXPLAIN_REFUSES:
        ask.refused('explain', code, **fields)


# -- get_changes -----------------------------------------------------------------------------


def test_get_changes_in_pages_are_all_changes_in_order(ask, tmp_path):
    ask.look(CUP, TABLE, MUG)
    ask('annotate', object_id=1, key='owner', value='Ann')
    ask('annotate', event='bell')
    ask('forget', object_id=2)
    every = ask('get_changes')
    assert every.last_seq == every.log_seq
    pages, since = [], 0
    while True:
        reply = ask('get_changes', store_id=every.store_id, since_seq=since, limit=2)
        assert len(reply.changes) <= 2
        assert not reply.reset
        pages += reply.changes
        since = reply.last_seq
        if reply.last_seq >= reply.log_seq:
            break
    assert pages == list(every.changes)
    ask.node.close()
    with SpatialMemory.open(str(tmp_path / 'memory.db')) as memory:
        stored = memory.changes()
        assert every.log_seq == memory.seq
    assert [change_from_msg(c) for c in pages] == stored
    assert [c.kind for c in pages[-3:]] == ['CORRECTED', 'EVENT', 'FORGOTTEN']


def test_get_changes_of_another_store_begins_anew(ask):
    ask.look(CUP)
    reply = ask('get_changes', store_id='another', since_seq=10**6)
    assert reply.reset
    assert reply.store_id != 'another'
    assert [c.seq for c in reply.changes] == [c.seq for c in ask('get_changes').changes]
    ahead = ask('get_changes', store_id=reply.store_id, since_seq=10**6)
    assert (list(ahead.changes), ahead.last_seq) == ([], ahead.log_seq)
    assert not ahead.reset
    for since in (2**63 - 1, 2**63, 2**64 - 1):
        assert list(ask('get_changes', since_seq=since).changes) == []
    for limit in (-1, 1001, -(2**31)):
        assert 'limit' in ask.refused('get_changes', 'INVALID_REQUEST', limit=limit)


# -- get_scene -------------------------------------------------------------------------------


def test_get_scene_in_pages_with_relations(ask):
    ask.look(CUP, TABLE, MUG)
    whole = ask('get_scene', relations=True)
    scene = whole.scene
    assert ([o.id for o in scene.objects], whole.next_id) == ([1, 2, 3], 0)
    assert (scene.total, scene.truncated, scene.header.frame_id) == (3, False, 'map')
    assert scene.seq == ask('get_changes').log_seq
    on = [(r.subject_label, r.object_label) for r in scene.relations if r.relation == 'on']
    assert on == [('cup', 'table')]
    found, after = [], 0
    while True:
        page = ask('get_scene', after_id=after, limit=1, relations=True)
        found += page.scene.objects
        assert (page.scene.total, page.scene.truncated) == (3, True)
        for relation in page.scene.relations:  # neighbours on other pages are named too
            assert relation.subject_label and relation.object_label
        if page.next_id == 0:
            break
        after = page.next_id
    assert found == list(scene.objects)
    assert list(ask('get_scene').scene.relations) == []
    assert list(ask('get_scene', after_id=2**64 - 1).scene.objects) == []
    for limit in (-1, 1001):
        ask.refused('get_scene', 'INVALID_REQUEST', limit=limit)


# -- snapshot --------------------------------------------------------------------------------


def test_a_snapshot_is_the_store_as_it_is(ask, tmp_path):
    ask.look(CUP, TABLE)
    path = tmp_path / 'copy.db'
    reply = ask('snapshot', path=str(path))
    with SpatialMemory.open(str(path), readonly=True) as copy:
        assert copy.check() == []
        assert (copy.seq, copy.snapshot_hash()) == (reply.seq, reply.snapshot_hash)
        assert len(copy.objects()) == 2
    before = path.read_bytes()
    said = ask.refused('snapshot', 'STORE_ERROR', path=str(path))
    assert 'exists already' in said
    assert path.read_bytes() == before
    ask.refused('snapshot', 'STORE_ERROR', path=str(tmp_path / 'no' / 'folder' / 'copy.db'))
    ask.refused('snapshot', 'INVALID_REQUEST')
    ask.refused('snapshot', 'INVALID_REQUEST', path=' ')
    ask.refused('snapshot', 'INVALID_REQUEST', path='relative.db')
    ask.refused('snapshot', 'INVALID_REQUEST', path=':memory:')


def test_a_snapshot_below_the_home_folder(ask, tmp_path, monkeypatch):
    monkeypatch.setenv('HOME', str(tmp_path))
    ask.look(CUP)
    ask('snapshot', path='~/copy.db')
    assert (tmp_path / 'copy.db').exists()


# -- annotate --------------------------------------------------------------------------------


FACTS = (
    'Ann', '', 'true', '12.5', '"12.5"', '[1, 2]', '{"a": 1}', 'null', 'NaN', '[1, 2', '椅子',
    '9' * 300, '9' * 5000, '[' * 50 + ']' * 50, '[' * 900 + ']' * 900, '[' * 30000,
)  # fmt: skip


def test_a_property_is_stored_and_read_back_as_it_was_given(ask):
    ask.look(CUP)
    was = ''
    for given in FACTS:
        reply = ask('annotate', object_id=1, key='fact', value=given, actor='Ann', reason='told')
        history = ask('history', object_id=1)
        assert [(p.key, p.value) for p in history.object.properties] == [('fact', given)]
        last = history.changes[-1]
        assert (last.seq, last.kind, last.actor) == (reply.seq, 'CORRECTED', 'Ann')
        assert last.reason == 'told'
        before = {p.key: p.value for p in last.before}
        assert before == ({'key': 'fact', 'value': was} if given is not FACTS[0] else {})
        assert {p.key: p.value for p in last.after} == {'key': 'fact', 'value': given}
        was = given


def test_an_event_is_a_line_of_the_log(ask):
    ask.look(CUP)
    payload = [Property(key='door', value='front'), Property(key='times', value='2')]
    stamp_ns = ask.robot.now_ns() - 5 * NS
    reply = ask('annotate', event='bell', payload=payload, object_id=1,
                stamp=stamp_from_ns(stamp_ns), actor='Ann', reason='heard it')  # fmt: skip
    nowhere = ask('annotate', event='bell')
    first, second = ask('get_changes').changes[-2:]
    assert (first.seq, first.kind, first.object.id, first.actor) == (reply.seq, 'EVENT', 1, 'Ann')
    assert first.reason == 'heard it'
    assert first.stamp == stamp_from_ns(stamp_ns)
    after = {p.key: p.value for p in first.after}
    assert after['type'] == 'bell'
    assert json.loads(after['payload']) == {'door': 'front', 'times': 2}
    assert (second.seq, second.object.id) == (nowhere.seq, 0)
    assert abs(second.stamp.sec - ask.robot.now_ns() / NS) < 60, 'now'
    assert ask('forget', object_id=1)
    ask('annotate', event='bell', object_id=1)  # what is gone may still have been rung


ANNOTATE_REFUSES = [
    ({}, 'INVALID_REQUEST'),
    ({'object_id': 1, 'key': 'a', 'event': 'b'}, 'INVALID_REQUEST'),
    ({'object_id': 1, 'key': ' '}, 'INVALID_REQUEST'),
    ({'object_id': 1, 'key': 'x' * 200}, 'INVALID_REQUEST'),
    ({'object_id': 1, 'key': 'a\tb'}, 'INVALID_REQUEST'),
    ({'object_id': 1, 'key': 'a', 'value': 'x' * 100000}, 'INVALID_REQUEST'),
    ({'object_id': 1, 'key': 'a', 'value': '[' * 100000}, 'INVALID_REQUEST'),
    ({'object_id': 1, 'key': 'a', 'value': '1e999'}, 'INVALID_REQUEST'),
    ({'object_id': 1, 'key': 'a', 'actor': 'perception'}, 'INVALID_REQUEST'),
    ({'object_id': 1, 'key': 'a', 'reason': 'x' * 2000}, 'INVALID_REQUEST'),
    ({'key': 'a'}, 'UNKNOWN_OBJECT'),
    ({'object_id': 7, 'key': 'a'}, 'UNKNOWN_OBJECT'),
    ({'object_id': 2, 'key': 'a'}, 'OBJECT_ENDED'),
    ({'event': '\n'}, 'INVALID_REQUEST'),
    ({'event': 'bell', 'stamp': Time(sec=-1)}, 'INVALID_REQUEST'),
    ({'event': 'x' * 200}, 'INVALID_REQUEST'),
    ({'event': 'bell', 'object_id': 2**64 - 1}, 'UNKNOWN_OBJECT'),
    ({'event': 'bell', 'payload': [Property(key='', value='a')]}, 'INVALID_REQUEST'),
    ({'event': 'bell', 'payload': [Property(key='a')] * 2}, 'INVALID_REQUEST'),
]  # fmt: skip


def test_annotate_refuses(ask):
    ask.look(CUP, TABLE)
    ask('forget', object_id=2)
    seq = ask('get_changes').log_seq
    for fields, code in ANNOTATE_REFUSES:
        ask.refused('annotate', code, **fields)
    assert ask('get_changes').log_seq == seq, 'nothing was written'
