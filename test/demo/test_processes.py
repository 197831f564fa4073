# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Children end with their parent, and a domain is used by one demo at a time."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_node.demo import processes
from memory_node.demo.processes import DOMAINS, PORT_BASE, Child, ChildError, reserved_domain

DEAF = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print('deaf', flush=True)
while True: time.sleep(1)
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Child]]:
    """Starts a module made of the given text; ends whatever is left of it."""
    monkeypatch.setenv('PYTHONPATH', str(tmp_path), prepend=':')
    children = []

    def start(text: str) -> Child:
        (tmp_path / 'program.py').write_text(text)
        children.append(Child('program', 'program', ['a'], tmp_path / 'program.log', 77))
        return children[-1]

    yield start
    for child in children:
        child.stop()


def test_a_child_has_its_arguments_and_its_domain(
    run: Callable[[str], Child], tmp_path: Path
) -> None:
    child = run('import os, sys; print(sys.argv[1:], os.environ["ROS_DOMAIN_ID"])')
    child.wait(60)
    assert child.ended and child.code == 0
    assert (tmp_path / 'program.log').read_text() == "['a'] 77\n"
    with pytest.raises(ChildError, match='ended with code 0'):
        child.check()


def test_a_child_that_fails_says_how(run: Callable[[str], Child]) -> None:
    child = run('raise SystemExit("the disk is full")')
    with pytest.raises(ChildError, match='program ended with code 1'):
        child.wait(60)
    assert child.last_words() == 'the end of program.log:\n  the disk is full'
    with pytest.raises(ChildError, match='ended with code 1'):
        child.check()


def test_a_child_that_takes_too_long_is_named(run: Callable[[str], Child]) -> None:
    child = run('import time; time.sleep(300)')
    with pytest.raises(ChildError, match=r'not done after 0\.1 s'):
        child.wait(0.1)


def test_a_child_that_does_not_end_is_killed(
    run: Callable[[str], Child], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, 'END_S', 0.2)
    child = run(DEAF)
    until = time.monotonic() + 60
    while 'deaf' not in (tmp_path / 'program.log').read_text():
        assert time.monotonic() < until
        with pytest.raises(ChildError, match='not done'):
            child.wait(0.02)
    assert child.stop() == -signal.SIGKILL


def test_domains_that_are_held_are_passed_over() -> None:
    with reserved_domain() as first, reserved_domain() as second:
        assert first != second
        assert {first, second} <= set(range(1, DOMAINS + 1))
        with socket.socket() as holder, pytest.raises(OSError):
            holder.bind(('', PORT_BASE + first))


def test_a_domain_that_is_asked_for_is_taken() -> None:
    with reserved_domain(42) as domain:
        assert domain == 42
