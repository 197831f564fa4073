# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""FeedClient against the real node: both ends are killed, and nothing is missed or told twice."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from node_kit import DEADLINE_S, Load, Spinning, detection, wait_for
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node

from memory_node import SpatialMemory
from memory_node.ros.feed_client import FeedClient

FOLLOWER = """
import json, sys
import rclpy
from rclpy.node import Node
from memory_node.ros.feed_client import FeedClient

book = open(sys.argv[1], 'a+')
book.seek(0)
told = [json.loads(line) for line in book]
store_id, seq = told[-1][:2] if told else ('', 0)

def apply(changes):
    for change in changes:
        book.write(json.dumps([feed.store_id, change.seq, change.kind]) + '\\n')
    book.flush()

rclpy.init()
node = Node('follower')
feed = FeedClient(node, apply, lambda _: sys.exit('reset'), store_id=store_id, since_seq=seq)
rclpy.spin(node)
"""


class Follower:
    """A program that keeps a book of the changes, and goes on from it when it starts again."""

    def __init__(self, book: Path):
        self.book = book
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, '-c', FOLLOWER, str(self.book)],
            env={**os.environ, 'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4'},
        )

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait(DEADLINE_S)

    @property
    def told(self):
        """(seq, kind) of every change in the book."""
        if not self.book.exists():
            return []
        lines = self.book.read_text().splitlines()
        return [(seq, kind) for _, seq, kind in map(json.loads, lines)]


@pytest.mark.timeout(400)
def test_both_ends_are_killed_and_every_change_is_told_once(
    robot, start_process, cleanup, tmp_path, request
):
    rounds = 8 if request.config.getoption('--long') else 2
    rng = random.Random(7)
    follower = Follower(tmp_path / 'book')
    cleanup.callback(follower.kill)
    process = start_process()
    robot.wait_ready()
    follower.start()

    def publish(number):
        return robot.see(detection(f'thing {number % 7}', (number % 50, number // 50, 0.0)))

    load = Load(robot, 40.0, publish)
    cleanup.callback(load.stop)
    for number in range(rounds):
        before = len(follower.told)
        wait_for(lambda b=before: len(follower.told) > b, what='changes in the book')
        time.sleep(rng.random() * 0.3)
        if number % 2:
            follower.kill()
            follower.start()
        process.kill()
        process = start_process()
        if not number % 2:
            time.sleep(rng.random() * 0.3)
            follower.kill()
            follower.start()
        # Not any message: the old node's last ones may still be on their way.
        since = len(load.stamps_ns)
        wait_for(
            lambda n=since: any(robot.acknowledged(s) for s in load.stamps_ns[n:]),
            what='the node to be back',
        )
    load.stop()
    robot.wait_acknowledged(load.stamps_ns[-1])
    last = robot.call('get_changes', limit=1000).changes[-1].seq
    wait_for(lambda: follower.told and follower.told[-1][0] >= last, what='the last change')
    assert process.stop() == 0
    with SpatialMemory.open(str(tmp_path / 'memory.db')) as memory:
        stored, since = [], 0
        while page := memory.changes(since):
            stored += page
            since = page[-1].seq
        assert memory.check() == []
    assert len(stored) > 30
    assert follower.told == [(c.seq, str(c.kind)) for c in stored]


@pytest.mark.parametrize('threads', [1, 4])
def test_it_works_from_inside_callbacks_of_any_executor(robot, run_node, cleanup, threads):
    run_node()
    robot.wait_ready()
    node = Node('follower')
    told, overlaps = [], []
    busy = []

    def apply(changes):
        overlaps.append(bool(busy))
        busy.append(1)
        time.sleep(0.01)
        told.extend(changes)
        busy.pop()

    executor = SingleThreadedExecutor() if threads == 1 else MultiThreadedExecutor(threads)
    executor.add_node(node)
    feeds = []
    timer = node.create_timer(0.01, lambda: feeds or feeds.append(FeedClient(node, apply, print)))
    spinning = Spinning(executor, lambda e: e.spin_once(timeout_sec=0.05))
    cleanup.callback(node.destroy_node)
    cleanup.callback(spinning.stop)
    stamps = [robot.see(detection(f'thing {k}', (float(k), 0, 0))) for k in range(30)]
    robot.wait_acknowledged(*stamps)
    reply = robot.call('get_changes')
    wait_for(lambda: told and told[-1].seq == reply.changes[-1].seq, what='the last change')
    assert [c.seq for c in told] == [c.seq for c in reply.changes]
    assert not any(overlaps), 'one at a time'
    assert feeds[0].gaps == 0
    live = [c for c in told if c.object.label]
    assert all(c.object.label == f'thing {c.object.id - 1}' for c in live)
    assert timer is not None
