# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/plan_search and ~/approach of a running node, over real services."""

from __future__ import annotations

import math
import os
import sys

import pytest
from asking_kit import CUP, TABLE, Asking
from geometry_msgs.msg import PointStamped
from nav_msgs.msg import OccupancyGrid
from node_kit import transform

from memory_node.agent.arguments import ToolError
from memory_node.agent.tools import Toolbox
from memory_node.ros.conversions import stamp_from_ns
from memory_node.ros.tool_source import NodeSource


@pytest.fixture
def ask(robot, run_node):
    """A running node to ask: see Asking."""
    return Asking(robot, run_node())


def grid(resolution=0.05, side=200, corner=-5.0, frame='map', wall=True):
    """A free square with a wall at y = -0.9 of the map."""
    message = OccupancyGrid()
    message.header.frame_id = frame
    message.info.resolution, message.info.width, message.info.height = resolution, side, side
    message.info.origin.position.x = message.info.origin.position.y = corner
    cells = bytearray(side * side)
    if wall:
        row = round((-0.9 - corner) / resolution)
        cells[row * side : (row + 2) * side] = bytes([100]) * (2 * side)
    message.data = [int(cell) for cell in cells]
    return message


def test_where_to_look_for_a_cup(ask):
    ask.look(CUP, TABLE)
    at = stamp_from_ns(ask.robot.now_ns())
    reply = ask('plan_search', text='cup', at=at)
    first = reply.places[0]
    assert (first.source, first.receptacle_label) == ('last', 'table')
    assert first.position.y == pytest.approx(0.1)
    assert reply.header.frame_id == 'map' and reply.total == len(reply.places)
    total = sum(place.probability for place in reply.places) + reply.elsewhere
    assert total == pytest.approx(1, abs=1e-6)
    assert ask('plan_search', object_id=first.object_id, at=at).places[0] == first
    ask.refused('plan_search', 'INVALID_REQUEST')
    ask.refused('plan_search', 'INVALID_REQUEST', text='cup', object_id=1)
    ask.refused('plan_search', 'INVALID_REQUEST', text='x' * 100_000)
    ask.refused('plan_search', 'INVALID_REQUEST', text='cup', limit=-1)
    ask.refused('plan_search', 'UNKNOWN_OBJECT', object_id=2**64 - 1)
    nowhere = PointStamped()
    nowhere.header.frame_id = 'nowhere'
    ask.refused('plan_search', 'NO_TRANSFORM', text='cup', from_point=nowhere)
    ask('forget', object_id=first.object_id)
    ask.refused('plan_search', 'OBJECT_ENDED', object_id=first.object_id)


def test_where_to_stand_before_a_table(ask):
    ask.look(TABLE)
    free = ask('approach', object_id=1, limit=1000)
    assert len(free.poses) == len(free.distances_m) == len(free.clearances_m) > 20
    for pose in free.poses:
        yaw = 2 * math.atan2(pose.orientation.z, pose.orientation.w)
        assert yaw == pytest.approx(math.atan2(-pose.position.y, 2 - pose.position.x), abs=1e-6)
    assert min(pose.position.y for pose in free.poses) < -0.9
    walled = ask('approach', object_id=1, limit=1000, grid=grid())
    assert walled.poses and min(pose.position.y for pose in walled.poses) > -0.9
    ask.robot.tf(transform('map', 'odom', ask.robot.now_ns(), (0, 5, 0)), static=True)
    far = grid(frame='odom', side=400, corner=-10.0)
    for _ in range(100):
        moved = ask.robot.call('approach', object_id=1, limit=1000, grid=far)
        if moved.success:
            break
    assert moved.success, moved.message
    assert min(pose.position.y for pose in moved.poses) < -0.9, 'there that wall is 5 m away'


def test_a_grid_that_is_wrong_is_refused(ask):
    ask.look(TABLE)
    short = grid()
    short.data = short.data[:-1]
    assert '39999 cells' in ask.refused('approach', 'INVALID_REQUEST', object_id=1, grid=short)
    ask.refused('approach', 'INVALID_REQUEST', object_id=1, grid=grid(math.nan, wall=False))
    ask.refused('approach', 'NO_TRANSFORM', object_id=1, grid=grid(frame='nowhere'))
    tilted = grid()
    turn = tilted.info.origin.orientation
    turn.x = turn.w = math.sqrt(0.5)
    assert 'flat' in ask.refused('approach', 'INVALID_REQUEST', object_id=1, grid=tilted)
    for bad in ({'distance_m': math.nan}, {'robot_radius_m': -1.0}, {'limit': 5000},
                {'distance_m': 0.1}, {'occupied_from': -3, 'grid': grid()}):  # fmt: skip
        ask.refused('approach', 'INVALID_REQUEST', object_id=1, **bad)
    ask.refused('approach', 'UNKNOWN_OBJECT', object_id=99)


def test_a_running_node_answers_tools(ask):
    """The tools of `agent` over the services, as over the memory itself."""
    ask.look(CUP, TABLE)
    with NodeSource('/spatial_memory') as source:
        box = Toolbox(source)
        assert [o['label'] for o in box.call('semantic_search', {'text': 'cup'})['objects']] == [
            'cup'
        ]
        on = box.call('whats_on', {'anchor': 'table'})
        assert [r['subject'] for r in on['relations']] == ['cup']
        near = box.call('spatial_query', {'point_m': [2, 0, 1], 'radius_m': 2})
        assert near['total'] == 2
        assert box.call('where_to_look', {'text': 'cup'})['places'][0]['receptacle'] == 'table'
        [table] = source.named('table')
        assert box.call('where_to_stand', {'object_id': table, 'k': 3})['poses']
        assert box.call('object_details', {'object_id': table})['label'] == 'table'
        assert len(box.call('object_history', {'object_id': table})['sightings']) == 2
        assert box.call('recent_changes', {'k': 2})['changes'][-1]['kind'] == 'CONFIRMED'
        assert box.call('serialize_scene', {})['objects'] == 2
        assert box.call('related', {'object_id': table})['relations']
        with pytest.raises(ToolError, match='no object has this id'):
            box.call('object_details', {'object_id': 99})


def test_a_running_node_answers_an_mcp_client_over_stdio(ask):
    anyio = pytest.importorskip('anyio')
    session_of = pytest.importorskip('mcp.client.session').ClientSession
    stdio = pytest.importorskip('mcp.client.stdio')
    ask.look(CUP, TABLE)
    server = stdio.StdioServerParameters(
        command=sys.executable, env=dict(os.environ),
        args=['-m', 'memory_node.agent.mcp_server', '--node', '/spatial_memory'],
    )  # fmt: skip

    async def talk():
        with anyio.fail_after(60):
            async with stdio.stdio_client(server) as streams, session_of(*streams) as session:
                await session.initialize()
                on = await session.call_tool('whats_on', {'anchor': 'table'})
                gone = await session.call_tool('object_details', {'object_id': 99})
                return on, gone

    on, gone = anyio.run(talk)
    assert [r['subject'] for r in on.structured_content['relations']] == ['cup']
    assert gone.is_error and 'no object has this id' in gone.content[0].text
