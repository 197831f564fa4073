# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A file that another program has locked, and a disk that refuses."""

from __future__ import annotations

import time

from node_kit import DEADLINE_S, Load, detection, gapless, locked, wait_for

from memory_node.errors import StoreError

# Whoever waits for the lock of the file waits so long, far longer than a test does.
PATIENT = {'busy_wait_s': 600.0}


def ask_for(robot, seconds):
    """Ask again and again for so long; every answer comes while the file is still locked."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert robot.call('query').success
        assert robot.call('history', object_id=1).success
        time.sleep(0.05)


def test_c30_a_short_lock_loses_nothing_and_queries_go_on(robot, run_node, tmp_path, log):
    node = run_node(PATIENT)
    robot.wait_ready()
    robot.wait_acknowledged(robot.see())
    load = Load(robot, 10)
    with locked(tmp_path / 'memory.db'):
        count = node._intake.counts().committed
        ask_for(robot, 2.0)
        wait_for(lambda: node._intake.waiting > 5, what='views that wait')
        assert node._intake.counts().committed <= count + 1
        busy = 'another program holds the lock'
        wait_for(lambda: busy in robot.status('store').message, what='diagnostics')
        # A parameter that is set meanwhile is answered too, and holds afterwards.
        assert robot.set_parameter('create_score', 0.95).successful
    robot.wait_acknowledged(*load.stamps_ns[:-1])
    load.stop()
    robot.wait_acknowledged(*load.stamps_ns)
    assert node._intake.counts().dropped == {}
    assert node._memory.config.create_score == 0.95
    log.wait('store_busy')
    assert gapless(robot.feed)


def test_c30_a_long_lock_buffers_what_fits_and_counts_the_rest(
    robot, run_node, tmp_path, request, log
):
    seconds, size = (30.0, 200) if request.config.getoption('--long') else (3.0, 20)
    node = run_node({'queue_size': size, **PATIENT})
    robot.wait_ready()
    robot.wait_acknowledged(robot.see())
    with locked(tmp_path / 'memory.db'):
        load = Load(robot, 10)
        ask_for(robot, seconds)
        wait_for(lambda: len(load.stamps_ns) > size + 1, what='more views than fit')
        load.stop()
        wait_for(lambda: node._intake.counts().received == len(load.stamps_ns) + 1, what='views')
        assert size <= node._intake.waiting <= size + 1
    robot.wait_acknowledged(*load.stamps_ns[-size:])
    counts = node._intake.counts()
    assert counts.committed + counts.dropped['queue_full'] == counts.received
    log.wait('store_busy')


def test_c30_a_stop_does_not_wait_for_a_lock(robot, start_process, tmp_path):
    process = start_process(PATIENT)
    robot.wait_ready()
    robot.wait_acknowledged(robot.see())
    with locked(tmp_path / 'memory.db'):
        robot.see()
        wait_for(lambda: 'store_busy' in process.text, what='the warning')
        assert robot.set_parameter('create_score', 0.4).successful
        assert process.stop() == 0, process.text
    assert '1 views were waiting when the node was stopped' in process.text
    assert 'Traceback' not in process.text


def test_c25_a_store_that_refuses_costs_a_log_line_not_the_node(robot, run_node, monkeypatch, log):
    node = run_node()
    robot.wait_ready()
    robot.wait_acknowledged(robot.see())

    def full(*_, **__):
        raise StoreError('cannot write: disk full')

    with monkeypatch.context() as patch:
        patch.setattr(node._memory, 'observe', full)
        patch.setattr(node._memory, 'forget', full)
        robot.see()
        wait_for(lambda: node._intake.counts().dropped['store_error'] == 1, what='the count')
        reply = robot.call('forget', object_id=1)
        assert (reply.success, reply.error_code) == (False, reply.STORE_ERROR)
        assert 'disk full' in reply.message
        wait_for(lambda: robot.status('store').level == b'\x02', what='diagnostics')
        wait_for(lambda: robot.status('services').level == b'\x02', what='diagnostics')
    wait_for(lambda: len(log.lines('disk full')) == 2, what='two lines')
    robot.wait_acknowledged(robot.see(detection('mug')))
    assert robot.call('forget', object_id=1).success


def test_an_unforeseen_error_of_the_core_costs_one_view(robot, run_node, monkeypatch, log):
    node = run_node()
    robot.wait_ready()
    with monkeypatch.context() as patch:
        patch.setattr(node._memory, 'observe', lambda *_, **__: 1 / 0)
        robot.see()
        wait_for(lambda: node._intake.counts().dropped['internal_error'] == 1, what='the count')
    log.wait('ZeroDivisionError')
    robot.wait_acknowledged(robot.see(), timeout_s=DEADLINE_S)
