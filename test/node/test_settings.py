# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters from a file and at run time, in the real process."""

from __future__ import annotations

import math

from node_kit import detection, wait_for

YAML = """
/**:
  ros__parameters:
    database: {database}
    dilation_m: 1
    near_m: {near_m}
    ignored_labels: []
"""


def test_c39_whole_numbers_do_for_decimals_and_the_rest_is_refused_by_name(
    make_robot, start_process, tmp_path
):
    def write(name, near_m):
        path = tmp_path / f'{name}.yaml'
        path.write_text(YAML.format(database=tmp_path / f'{name}.db', near_m=near_m))
        return ['--ros-args', '-r', f'__ns:=/{name}', '--params-file', str(path)]

    good = start_process(arguments=write('good', 2))
    bad = start_process(arguments=write('bad', '"2"'))
    robot = make_robot('good')
    assert bad.wait() == 1
    assert len(bad.text.splitlines()) == 1
    assert "near_m: got '2'" in bad.text
    robot.wait_ready()
    assert robot.set_parameter('near_m', 3).successful
    assert robot.set_parameter('near_m', 2.5).successful
    for value in (-1.0, math.nan, 'a', True, 1e6):
        result = robot.set_parameter('near_m', value)
        assert not result.successful, value
        assert 'near_m' in result.reason
    result = robot.set_parameter('database', '/elsewhere')  # cannot take effect while it runs
    assert not result.successful
    # The old value holds, and is what the memory works with.
    robot.wait_acknowledged(robot.see(detection('cup'), detection('pen', (3.4, 0, 0.5))))
    assert robot.call('relate', relation='near', object='pen').total == 1
    assert robot.set_parameter('near_m', 2).successful
    assert robot.call('relate', relation='near', object='pen').total == 0
    assert good.alive
    assert good.stop() == 0


def test_ignored_labels_can_be_set_while_it_runs(robot, run_node):
    node = run_node()
    robot.wait_ready()
    assert robot.set_parameter('ignored_labels', ['wall']).successful
    robot.wait_acknowledged(robot.see(detection('wall'), detection('cup', (2, 0, 0))))
    assert [hit.object.label for hit in robot.query()] == ['cup']
    wait_for(lambda: node._memory.refusals['ignored'] == 1, what='the count')
