# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The process ends as it should: after signals, and when it cannot start."""

from __future__ import annotations

import signal
import time

import pytest
from node_kit import Load, detection, stored_stamps, transform, wait_for

from memory_node import SpatialMemory

ONCE_INT, ONCE_TERM = (signal.SIGINT,), (signal.SIGTERM,)
TWICE = (signal.SIGINT, signal.SIGINT)


def stamp_of(message):
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


@pytest.mark.parametrize('hz', [0, 10], ids=['idle', 'load'])
def test_c27_signals_end_it_quietly_with_all_on_disk(hz, make_robot, start_process, tmp_path):
    cases = {'once_int': ONCE_INT, 'once_term': ONCE_TERM, 'twice': TWICE}
    robots, processes, loads = {}, {}, []
    for name in cases:
        robots[name] = make_robot(name, tf_topic=f'/{name}/tf')
        processes[name] = start_process(
            {'database': str(tmp_path / f'{name}.db')}, name,
            {'/tf': f'/{name}/tf', '/tf_static': f'/{name}/tf_static'},
        )  # fmt: skip
    for robot in robots.values():
        robot.wait_ready()
    if hz:
        for robot in robots.values():
            # Every other view waits for its transform, as on a robot.
            def publish(k, robot=robot):
                now = time.time_ns()
                frame = ('map', 'base_link')[k % 2]
                stamp = robot.see(detection(at=(k % 7, 0, 0)), stamp_ns=now, frame=frame)
                robot.tf(transform('map', 'base_link', now))
                return stamp

            loads.append(Load(robot, hz, publish))
        for robot in robots.values():
            wait_for(lambda robot=robot: len(robot.feed) > 5, what='views on the feed')
    else:
        for robot in robots.values():
            robot.wait_acknowledged(robot.see())
    acknowledged = {}
    for name, signals in cases.items():
        acknowledged[name] = [stamp_of(a) for a in list(robots[name].feed)]
        for number in signals:
            processes[name].send(number)
            if number is not signals[-1]:
                time.sleep(0.1)
        assert (name, processes[name].wait()) == (name, 0), processes[name].text
        assert 'Traceback' not in processes[name].text
    for load in loads:
        load.stop()
    for name in cases:
        stored = stored_stamps(tmp_path / f'{name}.db')
        assert set(acknowledged[name]) <= set(stored)
        assert acknowledged[name]
        with SpatialMemory.open(str(tmp_path / f'{name}.db')) as memory:
            assert memory.check() == []


def test_c27_a_signal_during_start_up_ends_it_quietly(ros, start_process, tmp_path, request):
    tries = 64 if request.config.getoption('--long') else 8
    for first in range(0, tries, 8):
        started = []
        for k in range(first, first + 8):
            process = start_process({'database': str(tmp_path / f'{k}.db')}, f'n{k}')
            started.append((process, (k % 8) * 0.15))
        begin = time.monotonic()
        for k, (process, delay_s) in enumerate(started):
            # Python itself has no handler yet in its first instants.
            wait_for(lambda p=process: p.handles(signal.SIGTERM) or not p.alive, what='handlers')
            time.sleep(max(0.0, begin + delay_s - time.monotonic()))
            process.send((signal.SIGTERM, signal.SIGINT)[k % 2])
        for process, delay_s in started:
            assert (delay_s, process.wait()) == (delay_s, 0), process.text
            assert 'Traceback' not in process.text


def test_a_stop_does_not_wait_for_a_transform(robot, start_process, tmp_path):
    process = start_process({'transform_wait_s': 60})
    robot.wait_ready()
    robot.wait_acknowledged(robot.see())
    for _ in range(5):
        robot.see(frame='nowhere')
    stamp = robot.see()
    robot.wait_acknowledged(stamp)
    assert process.stop() == 0, process.text
    # Given up they would have been counted otherwise.
    assert '5 views were waiting when the node was stopped' in process.text
    assert stored_stamps(tmp_path / 'memory.db')[-1] == stamp


FAILING = {
    'wrong type': ({'dilation_m': '"1"'}, ['dilation_m', "'1'", 'a number']),
    'choice': ({'stamp_policy': 'guess'}, ['stamp_policy', 'guess', 'refuse, receive_time']),
    'no folder': ({'database': '/nowhere/memory.db'}, ['/nowhere', 'does not exist']),
}


def test_a_start_that_fails_says_why_in_one_line(ros, start_process):
    processes = {name: start_process(parameters) for name, (parameters, _) in FAILING.items()}
    broken = start_process(arguments=['--ros-args', '-p', 'no assignment'])
    for name, (_, said) in FAILING.items():
        assert (name, processes[name].wait()) == (name, 1)
        text = processes[name].text
        assert len(text.splitlines()) == 1, text
        assert all(words in text for words in said), text
    assert broken.wait() == 1
    (line,) = [line for line in broken.text.splitlines() if '[rcl]' not in line]
    assert 'no assignment' in line


def test_a_second_node_on_one_file_refuses_to_start(robot, start_process):
    start_process()
    robot.wait_answer()
    second = start_process(namespace='other')
    assert second.wait() == 1
    assert len(second.text.splitlines()) == 1, second.text
    assert 'is open for writing already' in second.text
