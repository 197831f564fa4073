# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The feed alone: one message for each commit in the order of the log, whoever is first."""

from __future__ import annotations

import threading

import pytest

from memory_node.model import Commit
from memory_node.ros.complaints import Complaints
from memory_node.ros.feed import Feed


class Played:
    """Node, publisher and memory at once."""

    store_id, durable_seq, seq = 'store', 0, 0

    def __init__(self):
        self.sent, self.problems, self.refuse = [], [], False

    def create_lifecycle_publisher(self, *_):
        return self

    def publish(self, message):
        if self.refuse:
            raise RuntimeError('no')
        self.sent.append((message.first_seq, message.last_seq))


def commit(first, last):
    return Commit((), (), first, last)


@pytest.fixture
def played():
    return Played()


@pytest.fixture
def feed(played):
    feed = Feed(played, 'map', lambda reason, details: played.problems.append((reason, details)))
    feed.start(played)
    return feed


def test_commits_that_arrive_out_of_order_leave_in_order(feed, played):
    for first, last in ((3, 3), (6, 9), (4, 5), (1, 2)):
        feed.publish(played, commit(first, last), 5)
    assert played.sent == [(1, 2), (3, 3), (4, 5), (6, 9)]


def test_a_commit_that_wrote_nothing_is_not_sent(feed, played):
    feed.publish(played, commit(1, 0), 5)
    feed.publish(played, commit(1, 1), 5)
    assert played.sent == [(1, 1)]


def test_it_begins_after_the_last_line_of_the_file(feed, played):
    played.seq = 41
    feed.start(played)
    feed.publish(played, commit(42, 44), 5)
    assert played.sent == [(42, 44)]


def test_what_cannot_be_sent_holds_up_nothing(feed, played):
    played.refuse = True
    feed.publish(played, commit(1, 2), 5)
    played.refuse = False
    feed.publish(played, commit(3, 4), 5)
    assert played.sent == [(3, 4)]
    assert played.problems == [('not_published', 'RuntimeError: no')]


def test_what_cannot_be_converted_holds_up_nothing(feed, played):
    feed.publish(played, Commit((), (None,), 1, 2), 5)
    feed.publish(played, commit(3, 4), 5)
    assert played.sent == [(3, 4)]
    assert len(played.problems) == 1


def test_a_commit_that_never_comes_is_not_waited_for_for_ever(feed, played, monkeypatch):
    monkeypatch.setattr('memory_node.ros.feed.PATIENCE_S', -1.0)
    feed.publish(played, commit(4, 4), 5)
    feed.publish(played, commit(5, 5), 5)
    assert played.sent == [(4, 4), (5, 5)]
    assert played.problems == [('not_published', 'log lines 1 to 3')]


def test_many_threads_publish_without_a_gap(feed, played):
    chunks = [range(k, 2001, 4) for k in range(1, 5)]

    def publish(chunk):
        for n in chunk:
            feed.publish(played, commit(n, n), 5)

    threads = [threading.Thread(target=publish, args=(c,)) for c in chunks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert played.sent == [(n, n) for n in range(1, 2001)]


def test_complaints_are_one_line_in_five_seconds_for_each_reason():
    lines, now = [], [0.0]
    complain = Complaints(lines.append, lambda: now[0])
    for k in range(100):
        now[0] = k / 10
        complain('a', 'A')
        if k == 3:
            complain('b', 'B')
    assert lines == ['A', 'B', 'A (49 more like this in between)']
