# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The intake alone, with a memory that is played: no middleware is needed."""

from __future__ import annotations

import threading
import time
from collections import Counter

import pytest
from node_kit import NS, detection, view, wait_for

from memory_node.config import Config, NodeConfig
from memory_node.errors import StoreBusyError, StoreError
from memory_node.model import Commit
from memory_node.ros.intake import Intake, Settings
from memory_node.ros.transform_buffer import TransformBuffer
from memory_node.scene.transform import Transform

NOW_NS = 1000 * NS


class Played:
    """An intake, and what became of what it was given."""

    def __init__(self, **settings):
        self.transforms = TransformBuffer()
        self.config = NodeConfig(**{'transform_wait_s': 60.0, **settings})
        self.now_ns = NOW_NS
        self.observed, self.committed, self.problems = [], [], []
        self.fail = lambda _: None
        self.intake = Intake(
            self.observe, lambda v, _: self.committed.append(v), self.problem, self.transforms,
            settings=lambda: Settings(Config(), self.config), now_ns=lambda: self.now_ns,
            clock=lambda: 'wall', scope={'robot': 'r'},
        )  # fmt: skip

    def observe(self, seen):
        self.fail(seen)
        self.observed.append(seen)
        return Commit((), (), len(self.observed), len(self.observed))

    def problem(self, reason, details):
        self.problems.append((reason, details))

    def offer(self, frame='map', stamp_ns=NOW_NS, **more):
        self.intake.offer(view(detection(), stamp_ns=stamp_ns, frame=frame, **more))

    def place(self, frame, *seconds, static=False):
        for s in seconds:
            self.transforms.add('map', frame, round(s * NS), Transform(), static)
        self.intake.transforms_changed()

    def stamps(self):
        return [v.stamp_ns for v in self.observed]

    def reasons(self):
        return Counter(reason for reason, _ in self.problems)


@pytest.fixture
def played():
    made = []

    def make(*, start=True, **settings):
        it = Played(**settings)
        made.append(it)
        if start:
            it.intake.start()
        return it

    yield make
    for it in made:
        it.intake.stop()


def test_views_are_judged_in_order_of_arrival(played):
    it = played(start=False)
    for k in range(50):
        it.offer(stamp_ns=NOW_NS - k)
    it.intake.start()
    wait_for(lambda: len(it.observed) == 50)
    assert it.stamps() == [NOW_NS - k for k in range(50)]
    assert it.observed[0].scope == {'robot': 'r'}
    assert it.intake.counts().committed == 50
    assert it.intake.waiting == 0


def test_a_frame_that_waits_holds_up_only_itself(played):
    it = played()
    it.place('a', 999)
    for k in range(5):
        it.offer('a', NOW_NS + k)
        it.offer('map', NOW_NS + k)
    wait_for(lambda: len(it.observed) == 5)
    assert it.intake.waiting == 5
    it.place('a', 1001)
    wait_for(lambda: len(it.observed) == 10)
    assert it.stamps() == [NOW_NS + k for k in range(5)] * 2


def test_the_oldest_of_all_is_dropped_whatever_it_waits_for(played):
    it = played(queue_size=4)
    for k, frame in enumerate(['a', 'b', 'a', 'b', 'a', 'b']):
        it.offer(frame, NOW_NS - k)
        wait_for(lambda n=k: it.intake.waiting == min(n + 1, 4))
    assert it.intake.counts().dropped == {'queue_full': 2}
    it.place('a', 999, 1001)
    it.place('b', 999, 1001)
    wait_for(lambda: len(it.observed) == 4)
    assert sorted(it.stamps()) == sorted(NOW_NS - k for k in range(2, 6))


def test_what_waits_too_long_is_given_up_and_its_frame_named(played):
    it = played(transform_wait_s=0.05)
    it.place('other', 999)
    it.offer('a')
    it.offer('a')
    wait_for(lambda: it.intake.counts().dropped == {'missing_frame': 2})
    assert it.intake.counts().missing_frames == {'a': 2}
    assert all("'a' is missing" in details for _, details in it.problems)


def test_a_long_wait_is_reported_before_it_ends(played, monkeypatch):
    monkeypatch.setattr('memory_node.ros.intake.REPORT_WAIT_S', 0.05)
    it = played()
    it.offer('a')
    wait_for(lambda: it.problems)
    (reason, details), *more = it.problems
    assert reason == 'missing_frame'
    assert 'views are waiting' in details
    assert more == []
    assert it.intake.waiting == 1
    time.sleep(0.1)
    assert len(it.problems) == 1


def test_a_stamp_that_is_too_old_is_not_waited_for(played):
    it = played()
    it.place('a', 999, 1001)
    it.offer('a', NOW_NS - 50 * NS)
    wait_for(lambda: it.intake.counts().dropped == {'transform_too_old': 1}, 30.0)


def test_a_bad_stamp_does_not_hold_up_its_frame(played):
    it = played()
    it.place('a', 999, 1001)
    for stamp in (0, NOW_NS + 3600 * NS, -5 * NS, NOW_NS):
        it.offer('a', stamp)
    wait_for(lambda: it.stamps() == [NOW_NS], 30.0)
    assert it.intake.counts().dropped == {'bad_stamp': 3}


def test_a_bad_stamp_becomes_the_time_of_receipt(played):
    it = played(stamp_policy='receive_time', start=False)
    it.offer(stamp_ns=0)
    it.now_ns += 7
    it.offer(stamp_ns=NOW_NS + 3600 * NS)
    it.now_ns += 7
    it.intake.start()
    wait_for(lambda: len(it.observed) == 2)
    assert it.stamps() == [NOW_NS, NOW_NS + 7]
    assert it.intake.counts().restamped == 2


def test_without_a_clock_views_wait(played):
    it = played()
    it.now_ns = 0
    it.offer(stamp_ns=5)
    time.sleep(0.1)
    assert it.observed == []
    it.now_ns = NOW_NS
    wait_for(lambda: it.stamps() == [5])


def test_a_busy_file_keeps_everything_waiting_in_order(played):
    it = played()
    busy = threading.Event()
    busy.set()

    def fail(_):
        if busy.is_set():
            raise StoreBusyError('locked')

    it.fail = fail
    for k in range(10):
        it.offer(stamp_ns=NOW_NS + k)
    wait_for(lambda: it.reasons()['store_busy'] >= 3)
    assert it.observed == []
    assert it.intake.counts().dropped == {}
    busy.clear()
    wait_for(lambda: len(it.observed) == 10)
    assert it.stamps() == [NOW_NS + k for k in range(10)]


def test_while_the_file_is_busy_views_do_not_lose_their_transforms(played):
    it = played()
    busy = threading.Event()
    busy.set()

    def fail(_):
        if busy.is_set():
            raise StoreBusyError('locked')

    it.fail = fail
    it.place('a', 999)
    it.offer()
    for k in range(5):
        it.offer('a', NOW_NS + k)
    wait_for(lambda: it.reasons()['store_busy'] >= 1)
    it.place('a', 1001)
    tries = it.reasons()['store_busy']
    wait_for(lambda: it.reasons()['store_busy'] >= tries + 2)
    it.place('a', 2000, 2001)  # the buffer holds ten seconds
    busy.clear()
    wait_for(lambda: it.stamps() == [NOW_NS, *(NOW_NS + k for k in range(5))])
    assert it.intake.counts().dropped == {}


def test_errors_cost_one_view_each(played):
    it = played()
    errors = iter([StoreError('full'), KeyError('?'), None])

    def fail(_):
        error = next(errors)
        if error:
            raise error

    it.fail = fail
    for k in range(3):
        it.offer(stamp_ns=NOW_NS + k)
    wait_for(lambda: it.stamps() == [NOW_NS + 2])
    assert it.intake.counts().dropped == {'store_error': 1, 'internal_error': 1}
    assert 'Traceback' in dict(it.problems)['internal_error']


def test_a_listener_that_fails_does_not_undo_the_commit(played):
    it = played()
    it.intake._on_commit = lambda *_: 1 / 0
    it.offer()
    wait_for(lambda: it.problems)
    assert it.intake.counts().committed == 1
    assert it.intake.counts().dropped == {}


def test_stop_judges_what_need_not_wait_and_counts_the_rest(played):
    it = played(start=False)
    for k in range(20):
        it.offer('map', NOW_NS + k)
        it.offer('nowhere', NOW_NS + k)
    it.intake.start()
    it.intake.stop()
    assert len(it.observed) == 20
    assert it.intake.counts().dropped == {'stopped': 20}
    assert it.reasons()['stopped'] == 1


def test_stop_has_an_end_although_the_file_is_busy_or_slow(played, monkeypatch):
    monkeypatch.setattr('memory_node.ros.intake.STOP_S', 0.3)

    def busy(_):
        raise StoreBusyError('locked')

    def slow(_):
        time.sleep(0.1)

    for fail in (busy, slow):
        it = played()
        it.fail = fail
        for k in range(100):
            it.offer(stamp_ns=NOW_NS + k)
        it.intake.stop()
        counts = it.intake.counts()
        assert counts.dropped['stopped'] > 0, 'it took its time'
        assert counts.committed + counts.dropped['stopped'] == 100


def test_offers_from_many_threads_are_all_accounted_for(played):
    it = played(queue_size=50)
    threads = [threading.Thread(target=lambda: [it.offer() for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_for(lambda: it.intake.waiting == 0)
    it.intake.stop()
    counts = it.intake.counts()
    assert counts.received == 800
    assert counts.committed + counts.dropped['queue_full'] == 800
