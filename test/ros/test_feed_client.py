# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""FeedClient against a memory node that loses, repeats and forgets as we like."""

from __future__ import annotations

import random

import pytest

pytest.importorskip('rclpy')

from spatial_memory.msg import Change, ChangeArray
from spatial_memory.srv import GetChanges

from memory_node.ros import feed_client, qos
from memory_node.ros.feed_client import FeedClient


class Memory:
    """A memory node that is played: a log of lines, of which some are views and no changes."""

    def __init__(self, node):
        self.store_id, self.seq, self.changes = 'first', 0, []
        self.asked, self.silent, self.active = 0, False, True
        self.publisher = node.create_publisher(ChangeArray, 'spatial_memory/changes', qos.changes())
        node.create_service(GetChanges, 'spatial_memory/get_changes', self.answer)

    def commit(self, lines, publish=True):
        """Write a view line and changes; return the message."""
        first, self.seq = self.seq + 1, self.seq + 1 + lines
        new = [Change(seq=s, kind='CREATED') for s in range(first + 1, self.seq + 1)]
        self.changes += new
        message = ChangeArray(
            store_id=self.store_id, first_seq=first, last_seq=self.seq, changes=new
        )
        if publish:
            self.publisher.publish(message)
        return message

    def start_over(self, store_id):
        """Be another memory, or the same one cut short."""
        self.store_id, self.seq, self.changes = store_id, 0, []

    def answer(self, request, response):
        self.asked += 1
        response.success = self.active
        response.store_id = self.store_id
        response.reset = request.store_id not in ('', self.store_id)
        since = 0 if response.reset else request.since_seq
        found = [c for c in self.changes if c.seq > since][: request.limit]
        response.changes = found
        response.last_seq = found[-1].seq if len(found) == request.limit else self.seq
        response.log_seq = self.seq
        return response


class Follower:
    """What a program makes of the changes."""

    def __init__(self, node, **more):
        self.seen, self.resets, self.raises = [], [], False
        self.feed = FeedClient(node, self.apply, self.reset, **more)

    def apply(self, changes):
        self.seen += [c.seq for c in changes]
        if self.raises:
            raise RuntimeError('in the callback')

    def reset(self, store_id):
        self.seen.clear()
        self.resets.append(store_id)

    def has_all_of(self, memory):
        feed = self.feed
        return feed.in_step and feed.last_seq == memory.seq and feed.store_id == memory.store_id


@pytest.fixture
def memory(make_node):
    return Memory(make_node('memory'))


@pytest.fixture
def follow(make_node, spin_until, memory):
    """Make a follower, in step with the memory."""

    def make(node_name='follower', in_step=True, **more):
        follower = Follower(make_node(node_name), **more)
        if in_step:
            assert spin_until(lambda: follower.has_all_of(memory))
            assert spin_until(memory.publisher.get_subscription_count)
        return follower

    return make


def expected(memory):
    return [c.seq for c in memory.changes]


def test_it_tells_what_was_before_and_what_comes(memory, follow, spin_until):
    for _ in range(5):
        memory.commit(3)
    follower = follow()
    for lines in (0, 2, 0, 1):
        memory.commit(lines)
    assert spin_until(lambda: follower.has_all_of(memory))
    assert follower.seen == expected(memory)
    assert follower.feed.gaps == 0
    assert follower.resets == []


def test_a_long_log_comes_in_pages(memory, follow, monkeypatch):
    monkeypatch.setattr(feed_client, 'MAX_LIMIT', 7)
    for _ in range(10):
        memory.commit(5)
    follower = follow()
    assert follower.seen == expected(memory)
    assert memory.asked >= 7


def test_a_lost_message_is_noticed_and_made_up_for(memory, follow, spin_until):
    follower = follow()
    memory.commit(2)
    memory.commit(2, publish=False)
    memory.commit(2)
    assert spin_until(lambda: follower.has_all_of(memory))
    assert follower.seen == expected(memory)
    assert follower.feed.gaps == 1


def test_messages_that_come_again_tell_nothing_new(memory, follow, spin_until):
    follower = follow()
    messages = [memory.commit(2), memory.commit(0), memory.commit(3)]
    for message in [*messages, *messages]:
        memory.publisher.publish(message)
    memory.commit(1)
    assert spin_until(lambda: follower.has_all_of(memory))
    assert follower.seen == expected(memory)
    assert follower.feed.gaps == 0


def test_another_store_is_told_from_the_start(memory, follow, spin_until):
    for _ in range(3):
        memory.commit(2)
    follower = follow()
    stale = memory.commit(1, publish=False)
    memory.start_over('second')
    memory.commit(4)
    assert spin_until(lambda: follower.has_all_of(memory))
    assert (follower.seen, follower.resets) == (expected(memory), ['second'])
    memory.publisher.publish(stale)  # one that was on its way for long
    memory.commit(1)
    assert spin_until(lambda: follower.has_all_of(memory) and len(follower.seen) == 5)
    assert (follower.seen, follower.resets) == (expected(memory), ['second'])


def test_a_store_that_was_cut_short_is_told_from_the_start(memory, follow, spin_until, make_node):
    memory.commit(9)
    follower = follow()
    memory.start_over('first')
    memory.commit(1)
    follower.feed._read_log()  # as when a node comes back
    assert spin_until(lambda: follower.resets and follower.has_all_of(memory))
    assert (follower.seen, follower.resets) == (expected(memory), ['first'])


def test_it_goes_on_where_another_one_stopped(memory, follow, spin_until):
    memory.commit(5)
    first = follow()
    memory.commit(5)
    assert spin_until(lambda: first.has_all_of(memory))
    first.feed.close()
    memory.commit(5)
    second = follow('second', store_id=first.feed.store_id, since_seq=first.feed.last_seq)
    assert first.seen + second.seen == expected(memory)
    third = follow('third', store_id='some other', since_seq=999)
    assert (third.seen, third.resets) == (expected(memory), ['first'])


def test_a_memory_that_is_not_active_or_there_is_asked_again(memory, follow, spin_until):
    memory.active = False
    follower = follow(in_step=False)
    assert spin_until(lambda: memory.asked >= 2)
    memory.commit(2)
    memory.active = True
    assert spin_until(lambda: follower.has_all_of(memory))
    assert follower.seen == expected(memory)
    lonely = follow('lonely', in_step=False, name='nobody')
    assert not spin_until(lambda: lonely.feed.in_step, timeout_s=0.6)


def test_a_request_without_a_reply_is_made_again(memory, follow, spin_until, monkeypatch):
    monkeypatch.setattr(feed_client, 'REPLY_S', 0.3)
    memory.commit(2)
    follower = follow(in_step=False)
    client, sent = follower.feed._client, []
    call = client.call_async

    def lost(request):
        sent.append(request)
        return call(request) if len(sent) > 1 else feed_client.Future()

    monkeypatch.setattr(client, 'call_async', lost)
    assert spin_until(lambda: follower.has_all_of(memory))
    assert len(sent) >= 2
    assert follower.seen == expected(memory)


def test_a_callback_that_raises_is_not_told_the_same_again(memory, follow, executor, spin_until):
    follower = follow()
    follower.raises = True
    memory.commit(2)
    with pytest.raises(RuntimeError, match='in the callback'):
        spin_until(lambda: False)
    follower.raises = False
    memory.commit(2)
    assert spin_until(lambda: follower.has_all_of(memory))
    assert follower.seen == expected(memory)


@pytest.mark.parametrize('seed', range(6))
def test_every_change_once_and_in_order_whatever_happens(memory, follow, spin_until, seed):
    rng = random.Random(seed)
    follower = follow()
    sent = []
    for _ in range(60):
        message = memory.commit(rng.randrange(4), publish=rng.random() < 0.6)
        sent.append(message)
        if rng.random() < 0.2:
            memory.publisher.publish(rng.choice(sent))
        if rng.random() < 0.03:
            memory.start_over(f'store {len(sent)}')
        if rng.random() < 0.3:
            spin_until(lambda: False, timeout_s=rng.random() * 0.02)
        if rng.random() < 0.05:
            memory.active = not memory.active
    memory.active = True
    memory.commit(1)
    assert spin_until(lambda: follower.has_all_of(memory))
    assert follower.seen == expected(memory)
