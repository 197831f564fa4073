# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""kill -9 in the middle of everything: what was acknowledged is there, and nothing is half."""

from __future__ import annotations

import random

import pytest
from node_kit import Load, detection, gapless, stored_stamps, wait_for

from memory_node import SpatialMemory


@pytest.mark.timeout(400)
def test_c31_killed_again_and_again_it_keeps_all_that_it_acknowledged(
    robot, start_process, tmp_path, request
):
    times = 20 if request.config.getoption('--long') else 3
    path = tmp_path / 'memory.db'
    chance = random.Random(5)
    acknowledged: set[int] = set()
    lines: dict[int, str] = {}
    last = 0
    for _ in range(times):
        process = start_process()
        robot.feed.clear()
        robot.wait_ready()

        def publish(k):
            if k % 10 == 9:
                robot.call_async('forget', object_id=chance.randint(1, 40))
            things = [detection(f't{chance.randint(0, 9)}', (chance.randint(0, 9), y, 0))
                      for y in range(10)]  # fmt: skip
            return robot.see(*things)

        load = Load(robot, 100, publish)
        count = chance.randint(20, 60)
        wait_for(lambda n=count: len(robot.feed) > n, what='the feed')
        process.kill()
        load.stop()
        feed = list(robot.feed)
        # Without gaps, and where the last run ended or later: what followed that was not sent.
        assert gapless(feed)
        assert feed[0].first_seq > last
        assert len({a.store_id for a in feed}) == 1
        last = feed[-1].last_seq
        acknowledged |= {
            a.header.stamp.sec * 10**9 + a.header.stamp.nanosec for a in feed if a.sensor
        }
        lines |= {c.seq: c.kind for a in feed for c in a.changes}
        with SpatialMemory.open(str(path)) as memory:
            assert memory.check() == []
            assert memory.seq >= last
            assert memory.store_id == feed[0].store_id
        assert acknowledged <= set(stored_stamps(path))
    with SpatialMemory.open(str(path)) as memory:
        stored, since = {}, 0
        while found := memory.changes(since_seq=since):
            stored |= {c.seq: c.kind.value for c in found}
            since = found[-1].seq
    assert 'CREATED' in lines.values()
    assert 'FORGOTTEN' in lines.values()
    assert lines.items() <= stored.items()
