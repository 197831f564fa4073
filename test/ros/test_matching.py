# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What belongs together by its stamp: the newest wins, the rest is counted, memory is bounded."""

from __future__ import annotations

from memory_node.ros.matching import JUMP_NS, Matcher

MS = 1_000_000


def matcher(kept: int = 4) -> Matcher:
    return Matcher(('masks', 'depth'), 20 * MS, kept)


def test_a_set_is_complete_when_every_topic_has_one_of_its_time() -> None:
    m = matcher()
    m.add('masks', 1000 * MS, 'mask')
    assert m.take() is None
    m.add('depth', 1030 * MS, 'too late')
    assert m.take() is None
    m.add('depth', 1015 * MS, 'depth')
    found = m.take()
    assert found is not None
    assert (found.stamp_ns, found.messages) == (1000 * MS, {'masks': 'mask', 'depth': 'depth'})
    assert m.take() is None, 'each is worked on once'


def test_the_newest_wins_and_what_it_leaves_behind_is_counted() -> None:
    m = matcher()
    for k in range(3):
        m.add('depth', k * 100 * MS, f'depth {k}')
        m.add('masks', k * 100 * MS, f'mask {k}')
    m.add('masks', 150 * MS, 'of no depth')
    found = m.take()
    assert found is not None and found.messages['masks'] == 'mask 2'
    assert m.counts() == ({'depth': 3, 'masks': 4}, {'superseded': 2, 'unmatched': 1})


def test_it_waits_for_depth_that_comes_late() -> None:
    m = matcher()
    m.add('depth', 100 * MS, 'old')
    m.add('masks', 100 * MS, 'first')
    m.add('masks', 200 * MS, 'second')
    found = m.take()
    assert found is not None and found.messages == {'masks': 'first', 'depth': 'old'}
    m.add('depth', 200 * MS, 'new')
    found = m.take()
    assert found is not None and found.messages == {'masks': 'second', 'depth': 'new'}


def test_it_keeps_no_more_than_it_may() -> None:
    m = matcher(kept=4)
    for k in range(1000):
        m.add('masks', k * 100 * MS, k)
    assert m.counts()[1] == {'unmatched': 996}
    for k in range(1000):
        m.add('depth', (k * 100 + 50) * MS, k)
    assert m.take() is None
    assert sum(len(queue) for queue in m._queues.values()) == 8


def test_time_that_begins_anew_forgets_what_waits() -> None:
    m = matcher()
    m.add('masks', 10 * JUMP_NS, 'before')
    m.add('depth', 2 * JUMP_NS, 'depth')
    m.add('masks', 2 * JUMP_NS, 'after')
    found = m.take()
    assert found is not None and found.messages['masks'] == 'after'
    assert m.counts()[1] == {'clock_jumped': 1}
