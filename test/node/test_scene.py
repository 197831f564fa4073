# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/scene over the middleware: latched, at most once a second, only when something changed."""

from __future__ import annotations

import threading
import time

import pytest
from lifecycle_msgs.msg import Transition
from node_kit import DEADLINE_S, NS, detection, wait_for
from rclpy.qos import DurabilityPolicy, QoSProfile
from spatial_memory.msg import SceneGraph

from memory_node import Detection, SpatialMemory, View
from memory_node.ros import scene as scene_board

LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TABLE = detection('table', (2.0, 0.0, 0.375), size=(1.2, 0.8, 0.75))
CUP = detection('cup', (2.0, 0.1, 0.80), size=(0.08, 0.08, 0.1))


@pytest.fixture
def scenes(robot):
    """Every scene that came, with the time at which it did."""
    found = []
    robot.node.create_subscription(
        SceneGraph, '/spatial_memory/scene', lambda s: found.append((time.monotonic(), s)), LATCHED
    )
    return found


def see_twice(robot, *detections):
    now = robot.now_ns()
    stamps = [robot.see(*detections, stamp_ns=now - 2 * NS), robot.see(*detections, stamp_ns=now)]
    robot.wait_acknowledged(*stamps)
    return now


def labels(scene):
    return [o.label for o in scene.objects]


def stamp_of(scene):
    return scene.header.stamp.sec * NS + scene.header.stamp.nanosec


def test_the_scene_follows_what_changes_and_nothing_else(robot, run_node, scenes):
    began = time.monotonic()
    run_node()
    robot.wait_ready()
    wait_for(lambda: scenes, what='the scene of an empty memory')
    assert (labels(scenes[0][1]), scenes[0][1].total) == ([], 0)
    stamp_ns = see_twice(robot, TABLE, CUP, detection('ghost', (9, 9, 9)))
    robot.wait_acknowledged(robot.see(detection('once', (5, 5, 5)), stamp_ns=stamp_ns + 1))
    wait_for(lambda: stamp_of(scenes[-1][1]) > stamp_ns, what='the scene after the last view')
    scene = scenes[-1][1]
    assert scene.header.frame_id == 'map'
    assert scene.header.stamp.sec == stamp_ns // NS
    assert scene.store_id
    assert (len(scene.objects), scene.total, scene.truncated) == (3, 3, False)
    assert [o.id for o in scene.objects] == sorted(o.id for o in scene.objects)
    assert {o.state for o in scene.objects} == {'confirmed'}
    ids = {o.label: o.id for o in scene.objects}
    named = {(r.subject_label, r.relation, r.object_label) for r in scene.relations}
    assert {('cup', 'on', 'table'), ('table', 'under', 'cup')} <= named
    assert not any('ghost' in (s, o) for s, _, o in named)
    count = len(scenes)
    robot.wait_acknowledged(robot.see(detection('once', (5, 5, 5)), stamp_ns=stamp_ns + 2))
    assert robot.call('annotate', event='bell', object_id=ids['cup']).success
    time.sleep(1.5)
    assert len(scenes) == count, 'a sighting or an event changes no kind of thing'
    assert robot.call(
        'relate', subject_id=ids['ghost'], relation='haunts', object_id=ids['table'], state=True
    ).success
    wait_for(lambda: any(r.stated for r in scenes[-1][1].relations), what='the stated relation')
    assert robot.call('forget', object_id=ids['cup']).success
    wait_for(lambda: labels(scenes[-1][1]) == ['ghost', 'table'], what='the cup to go')
    # One may come late and the next one in time, but none comes before its second.
    assert all(at - began > second for second, (at, _) in enumerate(scenes)), 'once a second'


def test_who_comes_late_gets_the_last_scene_also_of_a_node_that_was_deactivated(
    robot, run_node, scenes
):
    run_node()
    robot.wait_ready()
    see_twice(robot, CUP)
    assert robot.change_state(Transition.TRANSITION_DEACTIVATE)
    late = []
    robot.node.create_subscription(SceneGraph, '/spatial_memory/scene', late.append, LATCHED)
    wait_for(lambda: late, what='the latched scene')
    assert labels(late[-1]) == ['cup'], 'what changed last was shown before the node rested'
    assert robot.change_state(Transition.TRANSITION_ACTIVATE)
    wait_for(lambda: len(late) > 1, what='the scene after the activation')


def test_a_scene_is_cut_at_its_limit_and_says_so(robot, run_node, scenes, tmp_path):
    things = [Detection(f'thing {k}', 0.9, (0.2 * k, 0.0, 0.0), (0.1, 0.1, 0.1)) for k in range(50)]
    with SpatialMemory.open(str(tmp_path / 'memory.db')) as memory:
        for stamp_ns in (NS, 3 * NS):
            memory.observe(View(stamp_ns, detections=things))
    run_node({'scene_max_objects': 20})
    robot.wait_ready()
    wait_for(lambda: scenes, what='the scene')
    scene = scenes[-1][1]
    assert [o.id for o in scene.objects] == list(range(1, 21))
    assert (scene.total, scene.truncated) == (50, True)
    here = {o.id for o in scene.objects}
    assert scene.relations
    assert all({r.subject_id, r.object_id} <= here for r in scene.relations)
    assert robot.set_parameter('scene_max_objects', 60).successful
    wait_for(lambda: len(scenes[-1][1].objects) == 50, what='all of them')
    assert not scenes[-1][1].truncated


def test_a_large_scene_does_not_hold_up_what_comes_in(
    robot, run_node, scenes, tmp_path, monkeypatch, cleanup
):
    with SpatialMemory.open(str(tmp_path / 'memory.db')) as memory:
        for stamp_ns in (NS, 3 * NS):
            for row in range(20):
                memory.observe(View(stamp_ns, str(row), detections=[
                    Detection('thing', 0.9, (0.4 * k, 0.4 * row, 0.0), (0.1, 0.1, 0.1))
                    for k in range(100)
                ]))  # fmt: skip
    hold, half_way, go_on = threading.Event(), threading.Event(), threading.Event()
    gently = scene_board.gently

    def with_a_pause(items, *more):
        for number, item in enumerate(gently(items, *more)):
            if number == 1000 and hold.is_set():
                half_way.set()
                go_on.wait(2 * DEADLINE_S)
            yield item

    monkeypatch.setattr(scene_board, 'gently', with_a_pause)
    run_node({'scene_max_objects': 2000, 'max_age_s': 0})
    cleanup.callback(go_on.set)
    robot.wait_ready()
    wait_for(lambda: scenes and len(scenes[-1][1].objects) == 2000, what='the scene')
    hold.set()
    robot.wait_acknowledged(robot.see(detection('new', (100.0, 0.0, 0.0))))
    assert half_way.wait(DEADLINE_S), 'no scene after a change'
    count = len(scenes)
    for place in range(101, 106):
        robot.wait_acknowledged(robot.see(detection('new', (float(place), 0.0, 0.0))))
    assert len(robot.query(text='new')) == 6
    assert len(scenes) == count, 'all that while the scene is half done'
    go_on.set()
    wait_for(lambda: len(scenes) > count, what='the scene')
