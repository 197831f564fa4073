# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Two robots, two memories: neither writes into the other's."""

from __future__ import annotations

import json
import time

import apsw
import pytest
from node_kit import detection, transform, wait_for

PLACES = {'robot1': (0.0, 0.0, 0.0), 'robot2': (10.0, 0.0, 0.0)}


def told_by(robot):
    """Names of the nodes whose diagnostics have come."""
    return {status.split(':')[0] for status in list(robot.diagnostics)}


@pytest.mark.parametrize('shared', [False, True], ids=['own_tf', 'shared_tf'])
def test_c41_each_robot_has_its_own_frames_and_its_own_memory(
    shared, make_robot, start_process, tmp_path, monkeypatch
):
    monkeypatch.setenv('ROS_HOME', str(tmp_path))
    robots, processes, stamps = {}, {}, {}
    for name in PLACES:
        # As launch/memory.launch.py does it, with and without shared_tf.
        remaps = {} if shared else {'/tf': 'tf', '/tf_static': 'tf_static'}
        processes[name] = start_process({'database': "''"}, name, remaps)
        robots[name] = make_robot(name, tf_topic='/tf' if shared else f'/{name}/tf')
    heard_by = len(PLACES) if shared else 1
    for robot in robots.values():
        robot.wait_ready()
        wait_for(lambda r=robot: r.transform_subscribers == heard_by, what='all that hear its tf')
    for name, place in PLACES.items():
        frame = f'{name}/base_link' if shared else 'base_link'
        now = time.time_ns()
        robots[name].tf(transform('map', frame, now, place))
        cup = detection('cup', (1, 0, 0.5))
        stamps[name] = robots[name].see(cup, stamp_ns=now, frame=frame, sensor='')
    for name, (x, _, _) in PLACES.items():
        robots[name].wait_acknowledged(stamps[name])
        (hit,) = robots[name].query(text='cup')
        p = hit.object.pose.position
        assert (p.x, p.y, p.z) == pytest.approx((x + 1, 0, 0.5))
        assert robots[name].call('history', object_id=hit.object.id).total == 1
        wait_for(lambda n=name: robots[n].status('intake').message, what='diagnostics')
        assert len(robots[name].feed) == 1
    # /diagnostics is shared; what has come to one robot may come to the other a moment later.
    names = {f'{name}/spatial_memory' for name in PLACES}
    for robot in robots.values():
        wait_for(lambda r=robot: names <= told_by(r), what='diagnostics of both')
        assert told_by(robot) == names
    for name, process in processes.items():
        assert process.stop() == 0, process.text
        # Without a database given they do not meet in one file, and each view names its robot.
        connection = apsw.Connection(str(tmp_path / name / 'spatial_memory.db'))
        ((sensor, scope),) = connection.execute('SELECT sensor, scope FROM view').fetchall()
        connection.close()
        assert sensor == (f'{name}/base_link' if shared else 'base_link')
        assert json.loads(scope) == {'robot': name}
