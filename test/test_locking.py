# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""First come, first served; one at a time; given back whatever happens."""

from __future__ import annotations

import threading

import pytest
from waiting import DEADLINE_S, wait_until_queued

from memory_node.locking import FairLock


class Worker(threading.Thread):
    """Takes the lock, appends its name, and goes on when it is let."""

    def __init__(self, lock: FairLock, name: str, order: list[str]) -> None:
        super().__init__(daemon=True)
        self.has_it, self.may_go = threading.Event(), threading.Event()
        self._lock, self._order, self._name = lock, order, name
        self.start()

    def run(self) -> None:
        with self._lock:
            self._order.append(self._name)
            self.has_it.set()
            self.may_go.wait(DEADLINE_S)


def test_it_is_given_in_the_order_in_which_it_was_asked_for() -> None:
    lock = FairLock()
    order: list[str] = []
    workers = [Worker(lock, '0', order)]
    assert workers[0].has_it.wait(DEADLINE_S)
    for k in range(1, 9):
        workers.append(Worker(lock, str(k), order))
        wait_until_queued(lock, k)
    for worker in workers:
        assert worker.has_it.wait(DEADLINE_S)
        worker.may_go.set()
        worker.join(DEADLINE_S)
    assert order == [str(k) for k in range(9)]


def test_a_busy_thread_cannot_take_it_again_before_one_that_waits() -> None:
    lock = FairLock()
    order: list[str] = []
    with lock:
        other = Worker(lock, 'other', order)
        wait_until_queued(lock, 1)
        other.may_go.set()
    with lock:  # asked for after the other
        order.append('busy')
    other.join(DEADLINE_S)
    assert order == ['other', 'busy']


def test_only_one_of_eight_threads_has_it() -> None:
    lock = FairLock()
    inside = worst = total = 0
    start = threading.Barrier(8)

    def work() -> None:
        nonlocal inside, worst, total
        start.wait(DEADLINE_S)
        for _ in range(500):
            with lock:
                inside += 1
                worst = max(worst, inside)
                was = total
                for _ in range(20):
                    pass
                total = was + 1
                inside -= 1

    threads = [threading.Thread(target=work, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_S)
    assert not any(thread.is_alive() for thread in threads)
    assert worst == 1
    assert total == 8 * 500


def test_an_error_gives_it_back() -> None:
    lock = FairLock()
    order: list[str] = []
    with pytest.raises(ZeroDivisionError), lock:
        waiting = Worker(lock, 'waiting', order)
        wait_until_queued(lock, 1)
        waiting.may_go.set()
        raise ZeroDivisionError
    waiting.join(DEADLINE_S)
    assert order == ['waiting']
    with lock:
        pass


def test_who_holds_it() -> None:
    lock = FairLock()
    order: list[str] = []
    assert not lock.held
    with lock:
        assert lock.held
        waiting = Worker(lock, 'waiting', order)
        wait_until_queued(lock, 1)
    assert waiting.has_it.wait(DEADLINE_S)
    assert not lock.held, 'it is held, but by the other thread'
    waiting.may_go.set()
    waiting.join(DEADLINE_S)
    assert not lock.held
