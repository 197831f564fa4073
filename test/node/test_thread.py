# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The whole way once through: a view in a camera frame → changes → answers → restart."""

from __future__ import annotations

import signal
import time

from node_kit import detection, gapless, transform, wait_for

from memory_node import SpatialMemory


def test_from_a_camera_frame_to_answers_and_through_a_restart(robot, start_process, tmp_path):
    process = start_process()
    robot.wait_ready()
    robot.tf(transform('base_link', 'camera', 0, (0.0, 0.0, 1.0)), static=True)
    stamps = []
    for _ in range(15):
        now = time.time_ns()
        robot.tf(transform('map', 'base_link', now, (2.0, 0.0, 0.0)))
        cup = detection('cup', (1.0, 0.0, -0.1))
        table = detection('table', (1.0, 0.0, -0.6), size=(1.0, 1.0, 0.8))
        stamps.append(robot.see(cup, table, stamp_ns=now, frame='camera'))
        time.sleep(0.1)
    robot.wait_acknowledged(*stamps)
    feed = list(robot.feed)
    assert gapless(feed)
    kinds = [c.kind for a in feed for c in a.changes]
    assert kinds.count('CREATED') == 2
    assert kinds.count('CONFIRMED') == 2
    (hit,) = robot.query(text='cup')
    p = hit.object.pose.position
    assert (round(p.x, 6), round(p.y, 6), round(p.z, 6)) == (3.0, 0.0, 0.9)
    history = robot.call('history', object_id=hit.object.id, limit=100)
    assert history.success
    assert history.total == len(history.observations) == 15
    on = robot.call('relate', relation='on', object='table')
    assert [(r.subject_label, r.object_label) for r in on.relations] == [('cup', 'table')]
    assert robot.call('forget', object_id=hit.object.id, reason='gone').success
    wait_for(lambda: robot.feed[-1].changes and robot.feed[-1].changes[-1].kind == 'FORGOTTEN')
    assert robot.query(text='cup') == []
    assert process.stop(signal.SIGINT) == 0, process.text

    again = start_process()
    robot.wait_ready()
    now = time.time_ns()
    robot.tf(transform('map', 'base_link', now, (2.0, 0.0, 0.0)))
    robot.see(detection('cup', (1.0, 0.0, -0.1)), stamp_ns=now, frame='camera')
    robot.wait_acknowledged(now)
    assert robot.query(text='cup') == []
    assert robot.call('history', object_id=hit.object.id).object.state == 'forgotten'
    assert again.stop(signal.SIGTERM) == 0, again.text
    with SpatialMemory.open(str(tmp_path / 'memory.db')) as memory:
        assert memory.check() == []
