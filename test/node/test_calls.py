# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Requests of every kind: from callbacks, malformed, and from clients that do not wait."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time

import pytest
from geometry_msgs.msg import PointStamped
from node_kit import DEADLINE_S, NS, Spinning, detection, left_behind, wait_for
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Empty

from memory_node import Detection, SpatialMemory, View
from memory_node.ros.client import MemoryClient, RequestError


class Asker(Node):
    """Asks the memory from inside its subscription callback."""

    def __init__(self, name):
        super().__init__(name)
        self.asked = 0
        self.errors: list[Exception] = []
        self.client = MemoryClient(deadline_s=DEADLINE_S)
        self.create_subscription(Empty, '/ask', self.ask, 100)

    def ask(self, _):
        try:
            assert self.client.call('query', text='cup').total == 1
        except Exception as error:
            self.errors.append(error)
        self.asked += 1


def test_c24_requests_from_inside_a_callback_are_answered(robot, start_process, cleanup, request):
    seconds = 60.0 if request.config.getoption('--long') else 6.0
    process = start_process()
    robot.wait_ready()
    robot.wait_acknowledged(robot.see(detection('cup'), detection('table', (0, 0, 0))))
    askers = []
    for name, executor in (
        ('single', SingleThreadedExecutor()),
        ('multi', MultiThreadedExecutor(2)),
    ):
        asker = Asker(name)
        executor.add_node(asker)
        spinning = Spinning(executor, lambda e: e.spin_once(timeout_sec=0.05))
        cleanup.callback(asker.destroy_node)
        cleanup.callback(asker.client.close)
        cleanup.callback(spinning.stop)
        askers.append(asker)
    bell = robot.node.create_publisher(Empty, '/ask', 100)
    wait_for(lambda: bell.get_subscription_count() == 2, what='the askers')
    rung, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        bell.publish(Empty())
        rung += 1
        started = time.monotonic()
        assert robot.call('relate', object='table').success
        time.sleep(max(0.0, started + 0.2 - time.monotonic()))
    for asker in askers:
        wait_for(lambda a=asker: a.asked == rung, what='all replies')
        assert asker.errors == []
    assert process.alive


def test_the_client_says_what_is_wrong(robot, run_node, cleanup):
    client = cleanup.enter_context(MemoryClient(deadline_s=0.3))
    with pytest.raises(RequestError, match='no such service'):
        client.call('query')
    run_node()
    robot.wait_ready()
    client = cleanup.enter_context(MemoryClient(deadline_s=DEADLINE_S))
    with pytest.raises(RequestError, match='no object has the id 7') as caught:
        client.call('forget', object_id=7)
    assert caught.value.error_code == 2  # UNKNOWN_OBJECT
    with pytest.raises(AttributeError):
        client.call('no_such_service')


def near(x, frame=''):
    point = PointStamped()
    point.header.frame_id = frame
    point.point.x = float(x)
    return point


MALFORMED = {
    'negative limit': ('query', {'limit': -1}, 'INVALID_REQUEST'),
    'limit too large': ('query', {'limit': 100000}, 'INVALID_REQUEST'),
    'radius nan': ('query', {'radius_m': math.nan, 'near': near(0)}, 'INVALID_REQUEST'),
    'radius negative': ('query', {'radius_m': -1.0, 'near': near(0)}, 'INVALID_REQUEST'),
    'place nan': ('query', {'radius_m': 1.0, 'near': near(math.nan)}, 'INVALID_REQUEST'),
    'frame': ('query', {'radius_m': 1.0, 'near': near(0, 'nowhere')}, 'NO_TRANSFORM'),
    'state': ('query', {'states': ['lost']}, 'INVALID_REQUEST'),
    'long text': ('query', {'text': 'x' * 5000}, 'INVALID_REQUEST'),
    'relation': ('relate', {'relation': 'beyond', 'object': 'cup'}, 'INVALID_REQUEST'),
    'relate limit': ('relate', {'object': 'cup', 'limit': -1}, 'INVALID_REQUEST'),
    'id and text': ('relate', {'object_id': 1, 'object': 'cup'}, 'INVALID_REQUEST'),
    'relation of nothing': ('relate', {'object_id': 999}, 'UNKNOWN_OBJECT'),
    'forget 0': ('forget', {'object_id': 0}, 'UNKNOWN_OBJECT'),
    'forget unknown': ('forget', {'object_id': 999}, 'UNKNOWN_OBJECT'),
    'forget huge': ('forget', {'object_id': 2**64 - 1}, 'UNKNOWN_OBJECT'),
    'forget again': ('forget', {'object_id': 1}, 'OBJECT_ENDED'),
    'history unknown': ('history', {'object_id': 2**63}, 'UNKNOWN_OBJECT'),
    'history limit': ('history', {'object_id': 1, 'limit': -5}, 'INVALID_REQUEST'),
}


@pytest.mark.parametrize('single_threaded', [False, True], ids=['multi', 'single'])
def test_c25_every_request_is_answered_with_what_is_wrong(single_threaded, robot, run_node):
    run_node(single_threaded=single_threaded)
    robot.wait_ready()
    robot.wait_acknowledged(robot.see())
    assert robot.call('forget', object_id=1).success
    for name, (service, fields, code) in MALFORMED.items():
        reply = robot.call(service, **fields)
        assert not reply.success, name
        assert reply.error_code == getattr(reply, code), (name, reply.message)
        assert reply.message, name
    # Promise 5: an id that was forgotten still resolves.
    reply = robot.call('history', object_id=1)
    assert reply.success
    assert reply.object.state == 'forgotten'
    assert robot.query() == []
    refused = sum(service == 'forget' for service, _, _ in MALFORMED.values())
    said = f'{refused + 1} requests, {refused} refused, 0 failed'
    wait_for(lambda: said in robot.status_value('services', '~/forget'), what='diagnostics')


def test_an_unforeseen_error_is_a_reply_too(robot, run_node, monkeypatch, log):
    node = run_node()
    robot.wait_ready()
    monkeypatch.setattr(node._memory, 'query', lambda *_: 1 / 0)
    reply = robot.call('query')
    assert (reply.success, reply.error_code) == (False, reply.INTERNAL_ERROR)
    assert 'ZeroDivisionError' in reply.message
    log.wait('ZeroDivisionError')
    robot.wait_acknowledged(robot.see())


def test_an_exception_in_a_callback_is_logged_and_counted(robot, run_node, log):
    node = run_node()
    robot.wait_ready()
    node.create_subscription(Empty, '/fault', lambda _: 1 / 0, 10)
    fault = robot.node.create_publisher(Empty, '/fault', 10)
    wait_for(lambda: fault.get_subscription_count() == 1, what='the subscription')
    for _ in range(3):
        fault.publish(Empty())
    key = 'exceptions in callbacks'
    wait_for(lambda: robot.status_value('intake', key) == '3', what='diagnostics')
    assert len(log.wait('a callback failed')) == 1
    assert len(log.wait('ZeroDivisionError')) == 1
    robot.wait_acknowledged(robot.see())


LEAVERS = """
import os, signal, sys, time
import rclpy
from node_kit import shared_memory_of
from rclpy.node import Node
from spatial_memory.srv import Query

def leave():
    rclpy.init()
    node = Node('leaver')
    client = node.create_client(Query, '/spatial_memory/query')
    if not client.wait_for_service(100.0):
        os._exit(1)
    client.call_async(Query.Request(limit=100))
    os.write(ready, b'x')
    time.sleep(300)

count, left = int(sys.argv[1]), 0
while left < count:
    group = []
    for _ in range(min(5, count - left)):
        reader, ready = os.pipe()
        pid = os.fork()
        if not pid:
            leave()
        os.close(ready)
        group.append((pid, reader))
    for pid, reader in group:
        sent = os.read(reader, 1)
        time.sleep(0.001)
        print(*shared_memory_of(pid))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reader)
        if not sent:
            sys.exit('a client could not send')
    left += len(group)
print('left', left)
"""


def test_c26_clients_that_left_do_not_hurt(robot, start_process, tmp_path, request):
    count = 50 if request.config.getoption('--long') else 10
    with SpatialMemory.open(str(tmp_path / 'memory.db')) as memory:
        for k in range(40):
            memory.observe(View(stamp_ns=(k + 1) * NS, detections=[
                Detection('thing', 0.8, (float(k), float(y), 0.0), (0.1, 0.1, 0.1))
                for y in range(50)
            ]))  # fmt: skip
    process = start_process()
    robot.wait_ready()
    leavers = subprocess.run(
        [sys.executable, '-c', LEAVERS, str(count)], capture_output=True, text=True, timeout=250,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
    )  # fmt: skip
    left_behind.update(leavers.stdout.split())
    assert f'left {count}' in leavers.stdout, leavers.stderr
    started = time.monotonic()
    reply = robot.call('query', text='thing')
    assert time.monotonic() - started < 10.0, 'half of what a dead client is believed alive for'
    assert (len(reply.hits), reply.total) == (10, 2000)
    robot.wait_acknowledged(robot.see(), timeout_s=DEADLINE_S)
    assert process.alive
    assert process.stop() == 0
