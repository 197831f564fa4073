# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""When a board works, and when it rests."""

from __future__ import annotations

import threading
import time

import pytest

pytest.importorskip('rclpy')

from memory_node.model import Change, ChangeKind, Commit, Verdict, VerdictKind
from memory_node.ros.board import Board, gently

PERIOD_S, SIGHTING_S = 0.2, 0.6
SOON_S = 60.0
NEVER_S = 3600.0


class Publisher:
    """Node and publisher at once."""

    topic_name = '/board'

    def __init__(self, readers):
        self.readers, self.sent, self.refuse = readers, [], False

    def create_lifecycle_publisher(self, *_, event_callbacks):
        self.matched = event_callbacks.matched
        return self

    def get_subscription_count(self):
        return self.readers

    def publish(self, message):
        if self.refuse:
            raise RuntimeError('refused')
        self.sent.append((time.monotonic(), message))

    def come(self):
        """One more reader."""
        self.readers += 1
        self.matched(type('Info', (), {'current_count_change': 1})())


class Shown(Board):
    """Publishes the ids that it is asked for; None: all."""

    def _messages(self, memory, ids):
        yield ids


def made(change=None, object_id=None, kind=ChangeKind.CREATED, after=None):
    verdicts = (Verdict(VerdictKind.MERGED, object_id),) if object_id else ()
    changes = ()
    if change is not None:
        changes = (Change(1, kind, change, 1, 1, after=after or {}),)
    return Commit(verdicts, changes, 1, 1)


@pytest.fixture
def board():
    boards = []

    def make(lazy=False, readers=0, period_s=PERIOD_S, sighting_period_s=SIGHTING_S):
        publisher, problems = Publisher(readers), []
        board = Shown(
            publisher, object, '~/board', None, lambda *words: problems.append(words),
            period_s=period_s, sighting_period_s=sighting_period_s, lazy=lazy,
        )  # fmt: skip
        board.problems = problems
        boards.append(board)
        return board, publisher

    yield make
    for one in boards:
        one.stop()
    # Only theirs: a thread that another test has left is not a matter of these.
    owners = [getattr(getattr(t, '_target', None), '__self__', None) for t in threading.enumerate()]
    assert not any(one in owners for one in boards)


def wait(condition, timeout_s=SOON_S):
    until = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


def ids(publisher):
    return [message for _, message in publisher.sent]


def test_it_shows_everything_first_then_what_changed_at_its_pace(board):
    shown, publisher = board()
    started = time.monotonic()
    shown.start(None)
    wait(lambda: publisher.sent)
    for number in range(1, 6):
        shown.changed(made(number))
    wait(lambda: len(publisher.sent) == 2)
    assert ids(publisher) == [None, {1, 2, 3, 4, 5}]
    assert publisher.sent[1][0] - started >= PERIOD_S
    shown.changed(made(7, kind=ChangeKind.RELATION, after={'object_id': 9, 'holds': True}))
    wait(lambda: len(publisher.sent) == 3)
    assert ids(publisher)[2] == {7, 9}


def test_nothing_is_computed_when_nothing_changes(board):
    shown, publisher = board(sighting_period_s=None)
    shown.start(None)
    wait(lambda: publisher.sent)
    shown.changed(made())
    shown.changed(made(3, kind=ChangeKind.EVENT))
    shown.changed(made(object_id=3))
    time.sleep(3 * PERIOD_S)
    assert ids(publisher) == [None]


def test_mere_sightings_show_later(board):
    shown, publisher = board()
    started = time.monotonic()
    shown.start(None)
    wait(lambda: publisher.sent)
    shown.changed(made(object_id=3))
    wait(lambda: len(publisher.sent) == 2)
    assert publisher.sent[1][0] - started >= SIGHTING_S


def test_a_change_does_not_wait_for_the_pace_of_sightings(board):
    shown, publisher = board(sighting_period_s=NEVER_S)
    shown.start(None)
    wait(lambda: publisher.sent)
    shown.changed(made(object_id=3))
    shown.changed(made(4))
    wait(lambda: len(publisher.sent) == 2)
    assert ids(publisher) == [None, {4}]


def test_a_lazy_one_does_nothing_without_a_reader_and_shows_all_to_a_new_one(board):
    shown, publisher = board(lazy=True)
    shown.start(None)
    for number in range(100):
        shown.changed(made(number + 1))
    time.sleep(2 * PERIOD_S)
    assert publisher.sent == []
    publisher.come()
    wait(lambda: publisher.sent)
    assert ids(publisher) == [None]
    shown.changed(made(5))
    wait(lambda: len(publisher.sent) == 2)
    publisher.come()
    wait(lambda: len(publisher.sent) == 3)
    assert ids(publisher) == [None, {5}, None]
    publisher.readers = 0
    shown.changed(made(6))
    time.sleep(2 * PERIOD_S)
    assert len(publisher.sent) == 3


def test_a_new_reader_of_a_lazy_one_does_not_wait_for_its_pace(board):
    shown, publisher = board(lazy=True, period_s=NEVER_S)
    shown.start(None)
    for number in (1, 2):
        shown.changed(made(number))
        publisher.come()
        wait(lambda n=number: len(publisher.sent) == n)
    assert ids(publisher) == [None, None]


def test_what_could_not_be_published_is_reported_and_shown_whole_later(board):
    shown, publisher = board()
    shown.start(None)
    wait(lambda: publisher.sent)
    publisher.refuse = True
    shown.changed(made(1))
    wait(lambda: shown.problems)
    assert shown.problems == [('not_published', '/board: RuntimeError: refused')]
    publisher.refuse = False
    shown.changed(made(2))
    wait(lambda: len(publisher.sent) == 2)
    assert ids(publisher) == [None, None]


def test_a_stop_shows_what_is_left_and_a_start_shows_all_again(board):
    shown, publisher = board()
    shown.start(None)
    wait(lambda: publisher.sent)
    shown.changed(made(1))
    shown.stop()
    assert ids(publisher) == [None, {1}]
    shown.stop()
    shown.changed(made(2))
    shown.start(None)
    wait(lambda: len(publisher.sent) == 3)
    assert ids(publisher)[2] is None


def test_gently_yields_everything_and_rests():
    started = time.monotonic()
    assert list(gently(range(100))) == list(range(100))
    assert time.monotonic() - started >= 0.004
