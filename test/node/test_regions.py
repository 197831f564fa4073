# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Regions, composed queries and what changed, over real services."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from asking_kit import CUP, MUG, TABLE, Asking
from geometry_msgs.msg import Point, PointStamped, PoseStamped, Vector3
from node_kit import NS, detection, transform
from spatial_memory.msg import Property
from std_msgs.msg import Header

from memory_node.ros.conversions import stamp_from_ns


@pytest.fixture
def ask(robot, run_node):
    """A running node to ask: see Asking."""
    return Asking(robot, run_node())


def corners(*points):
    return [Point(x=float(x), y=float(y)) for x, y in points]


def kitchen(ask, **more):
    fields = {'name': 'Kitchen', 'kind': 'room', 'polygon': corners((0, -2), (4, 2)),
              'high_m': 3.0, **more}  # fmt: skip
    return ask('set_region', **fields)


def labels(reply):
    return sorted(hit.object.label for hit in reply.hits)


def box(size, at=(0.0, 0.0, 0.0), frame='', turn=None):
    pose = PoseStamped()
    pose.header.frame_id = frame
    pose.pose.position = Point(x=at[0], y=at[1], z=at[2])
    if turn is not None:
        pose.pose.orientation.z, pose.pose.orientation.w = math.sin(turn / 2), math.cos(turn / 2)
    return {'box': pose, 'box_size': Vector3(x=size[0], y=size[1], z=size[2])}


def test_a_region_is_set_shown_on_objects_and_removed(ask, robot):
    ask.look(CUP, TABLE, MUG)
    reply = kitchen(ask, actor='Ann', reason='drawn')
    [region] = reply.regions
    assert (region.name, region.kind, region.seq) == ('Kitchen', 'room', reply.seq)
    assert [(p.x, p.y) for p in region.polygon] == [(0, -2), (4, -2), (4, 2), (0, 2)]
    assert labels(ask('query', region='kitchen')) == ['cup', 'table']
    assert {h.object.label: h.object.region for h in ask('query').hits} == {
        'cup': 'Kitchen', 'table': 'Kitchen', 'coffee mug': '',
    }  # fmt: skip
    line = ask('get_changes').changes[-1]
    assert (line.kind, line.actor, line.reason, line.object.id) == ('REGION', 'Ann', 'drawn', 0)
    assert kitchen(ask).seq == 0, 'it is so already'
    assert len(ask('set_region').regions) == 1, 'only asked'
    assert len(ask('set_region', name='kitchen', remove=True).regions) == 0
    assert ask.refused('query', 'INVALID_REQUEST', region='kitchen').startswith('region: ')
    assert any(c.kind == 'REGION' for m in robot.feed for c in m.changes)


def test_a_region_in_the_frame_of_the_robot(ask, robot):
    ask.look(CUP, TABLE, MUG)
    robot.tf(transform('map', 'base', robot.now_ns(), (5.0, 0.0, 0.0), math.pi / 2), static=True)
    tilted = transform('map', 'tilted', robot.now_ns())
    tilted.transform.rotation.x, tilted.transform.rotation.w = math.sin(0.25), math.cos(0.25)
    robot.tf(tilted, static=True)
    kitchen(ask, polygon=corners((-0.5, -0.5), (0.5, 0.5)),
            header=Header(frame_id='base'))  # fmt: skip
    assert labels(ask('query', region='kitchen')) == ['coffee mug']
    for frame, code in (('tilted', 'INVALID_REQUEST'), ('nowhere', 'NO_TRANSFORM')):
        ask.refused('set_region', code, name='x', polygon=corners((0, 0), (1, 1)), high_m=2.0,
                    header=Header(frame_id=frame))  # fmt: skip


def test_a_place_in_any_frame(ask, robot):
    ask.look(CUP, TABLE, MUG)
    robot.tf(transform('map', 'base', robot.now_ns(), (5.0, 0.0, 0.5), math.pi / 2), static=True)
    near = PointStamped()
    near.header.frame_id = 'base'
    assert labels(ask('query', near=near, radius_m=0.5)) == ['coffee mug']
    # The table lies 3 m to the left of a robot that looks along +y: a long box across finds it.
    across = box((0.5, 2.0, 2.0), (0.0, 3.0, 0.0), 'base')
    assert labels(ask('query', **across)) == ['cup', 'table']
    assert labels(ask('query', **box((0.5, 2.0, 2.0), (3.0, 0.0, 0.0), 'base'))) == []
    turned = box((2.0, 0.5, 2.0), (0.0, 3.0, 0.0), 'base', math.pi / 2)
    assert labels(ask('query', **turned)) == ['cup', 'table']
    ask.refused('query', 'NO_TRANSFORM', **box((1.0, 1.0, 1.0), frame='nowhere'))


def test_filters_narrow_one_another_and_pages_go_on(ask):
    stamp = ask.look(CUP, TABLE, MUG)
    kitchen(ask)
    ask('annotate', object_id=ask.ids(text='cup')[0], key='owner', value='Bo')
    asked = {
        'relation': 'on', 'relation_to': 'table', 'region': 'kitchen', 'source': 'seen',
        'properties': [Property(key='owner', value='Bo')], 'sensor': 'camera',
        'seen_from': stamp_from_ns(stamp),
    }  # fmt: skip
    assert labels(ask('query', **asked)) == ['cup']
    for name, value in (
        ('relation_to', 'cup'), ('sensor', 'other'), ('source', 'stated'),
        ('properties', [Property(key='owner', value='Cy')]),
        ('seen_from', stamp_from_ns(stamp + NS)), ('scope', [Property(key='task', value='x')]),
    ):  # fmt: skip
        assert labels(ask('query', **{**asked, name: value})) == [], name
    ids = ask.ids()
    assert sorted(ids) == [1, 2, 3]
    assert [i for k in range(4) for i in ask.ids(limit=1, offset=k)] == ids
    assert ask.ids(ids=[2, 3], text='cup', order='recent') == ask.ids(text='cup')


def test_of_another_time(ask, robot):
    first = ask.look(CUP, TABLE, ago_s=60.0)
    seq = robot.feed[-1].last_seq
    ask.look(MUG)
    ask('forget', object_id=ask.ids(text='cup')[0])
    assert labels(ask('query')) == ['coffee mug', 'table']
    then = ask('query', as_of=stamp_from_ns(first))
    assert labels(then) == ['cup', 'table']
    assert then.header.stamp == stamp_from_ns(first)
    assert labels(ask('query', known_at=seq)) == ['cup', 'table']
    assert labels(ask('query', known_at=seq, text='table')) == ['table']
    assert labels(ask('query', as_of=stamp_from_ns(first - 30 * NS))) == []


def test_what_changed_since_then_and_since_the_last_visit(ask):
    ask.look(CUP, TABLE, ago_s=1000.0)
    kitchen(ask)
    lamp = detection('lamp', (1.0, 1.0, 1.0))
    stamp = ask.look(lamp, MUG)
    for fields in ({'last_visit': True}, {}, {'since': stamp_from_ns(stamp - 10 * NS)}):
        found = ask('what_changed', kinds=['CREATED'], **fields)
        assert {(g.region, g.kind, g.count, g.changes[0].object.label) for g in found.groups} == {
            ('Kitchen', 'CREATED', 1, 'lamp'), ('', 'CREATED', 1, 'coffee mug'),
        }  # fmt: skip
    [group] = ask('what_changed', region='KITCHEN', kinds=['CREATED'], since_seq=1, limit=2).groups
    assert (group.count, len(group.changes)) == (3, 2)
    assert group.changes[-1].object.pose.position.x == pytest.approx(1.0, abs=0.01)


REFUSES = [
    ('query', {'offset': -1}, 'offset'),
    ('query', {'ids': [2**63]}, 'ids'),
    ('query', {'limit': 10**9}, 'limit'),
    ('query', {'text': 'x' * 100_000}, 'text'),
    ('query', {'text': 'mug\x07'}, 'text'),
    ('query', {'region': 'cellar'}, 'region'),
    ('query', {'relation': 'on'}, 'relation_to'),
    ('query', {'relation_to': 'table'}, 'relation'),
    ('query', {'relation': 'on', 'relation_to': 'table', 'relation_to_id': 1}, 'relation_to'),
    ('query', {'relation': 'on', 'relation_to_id': 2**64 - 1}, 'relation'),
    ('query', {'source': 'rumour'}, 'source'),
    ('query', {'known_at': 10**9}, 'known_at'),
    ('query', {'properties': [Property(key='', value='x')]}, 'key'),
    ('query', {'near': PointStamped(point=Point(x=1.0))}, 'radius_m'),
    ('query', {'near': PointStamped(point=Point(x=math.nan)), 'radius_m': 1.0}, 'near_m'),
    ('query', box((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), 'box_size'),
    ('query', box((1.0, 1.0, -1.0)), 'box_size'),
    ('query', box((1.0, 1.0, math.nan)), 'box_m'),
    ('query', box((1.0, 1.0, 1.0), (math.nan, 0.0, 0.0)), 'box_pose'),
    ('set_region', {'name': 'a'}, 'polygon_m'),
    ('set_region', {'polygon': corners((0, 0), (1, 1))}, 'name'),
    ('set_region', {'remove': True}, 'name'),
    ('set_region', {'name': 'a', 'remove': True}, 'region'),
    ('set_region', {'name': 'a', 'polygon': corners((0, 0), (1, 1))}, 'high_m'),
    ('set_region', {'name': 'a', 'polygon': corners((0, 0), (1, math.nan)), 'high_m': 1.0},
     'polygon_m'),
    ('set_region', {'name': 'a', 'polygon': corners((0, 0), (1, 1)), 'high_m': 1.0, 'parent': 'b'},
     'parent'),
    ('what_changed', {'region': 'cellar'}, 'region'),
    ('what_changed', {'kinds': ['LOST']}, 'kinds'),
    ('what_changed', {'last_visit': True, 'since_seq': 1}, 'last_visit'),
    ('what_changed', {'limit': -1}, 'limit'),
]  # fmt: skip


def test_what_cannot_be_understood_is_refused_by_name(ask):
    ask.look(CUP, TABLE)
    for service, fields, name in REFUSES:
        code = 'UNKNOWN_OBJECT' if fields.get('relation_to_id') == -1 else 'INVALID_REQUEST'
        message = ask.refused(service, code, **fields)
        assert message.startswith(f'{name}: got'), (service, fields, message)
        assert len(message) < 500


def test_regions_of_a_file_are_there_at_the_start(robot, run_node, tmp_path: Path):
    path = tmp_path / 'house.yaml'
    path.write_text('regions: [{name: hall, kind: room, box_m: [[0, -2, 0], [4, 2, 3]]}]')
    ask = Asking(robot, run_node({'regions_file': str(path)}))
    ask.look(CUP, MUG)
    assert [r.name for r in ask('set_region').regions] == ['hall']
    assert labels(ask('query', region='hall')) == ['cup']


def test_a_file_of_regions_that_is_wrong_is_named(run_node, tmp_path: Path, log):
    with pytest.raises(AssertionError):
        run_node({'regions_file': str(tmp_path / 'none.yaml')})
    assert log.wait('regions_file: cannot read')
