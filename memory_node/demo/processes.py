# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Child processes that are always ended, and a ROS domain of their own."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from memory_node.errors import SpatialMemoryError

END_S = 10.0
"""A child that was asked to end is killed after this long."""
LAST_LINES = 8
DOMAINS = 100
PORT_BASE = 32768
"""A domain is reserved by holding this port plus its number, as ROS's domain_coordinator does."""


class ChildError(SpatialMemoryError):
    """A child process did not do what it should."""


class Child:
    """A Python module that runs in a process of its own.

    It has a session of its own too: a Ctrl-C in the terminal reaches only the parent, which ends
    its children in order.
    """

    def __init__(
        self, name: str, module: str, arguments: Sequence[str], log: Path, domain: int
    ) -> None:
        """Start it.

        Args:
            name: for messages.
            module: to run, as in `python -m`.
            arguments: of the module.
            log: file to which its output is appended.
            domain: its ROS_DOMAIN_ID.
        """
        self.name, self.log = name, log
        environment = {**os.environ, 'ROS_DOMAIN_ID': str(domain), 'PYTHONUNBUFFERED': '1'}
        with log.open('ab') as output:
            self._process = subprocess.Popen(
                [sys.executable, '-m', module, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    @property
    def ended(self) -> bool:
        """Whether the process is no more."""
        return self._process.poll() is not None

    @property
    def code(self) -> int | None:
        """Exit code, None while it runs."""
        return self._process.poll()

    def check(self) -> None:
        """Raise ChildError if it has ended."""
        if self.ended:
            raise ChildError(self._complaint(f'ended with code {self.code}'))

    def wait(self, deadline_s: float) -> None:
        """Wait until it has done its work.

        Raises:
            ChildError: it failed, or was not done by the deadline.
        """
        try:
            code = self._process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            raise ChildError(self._complaint(f'not done after {deadline_s:g} s')) from None
        if code != 0:
            raise ChildError(self._complaint(f'ended with code {code}'))

    def stop(self) -> int:
        """Ask it to end (SIGINT), kill it if it does not; return its exit code."""
        if not self.ended:
            self._process.send_signal(signal.SIGINT)
        try:
            return self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def last_words(self) -> str:
        """Return the end of its output."""
        lines = self.log.read_text(errors='replace').splitlines()[-LAST_LINES:]
        return '\n  '.join([f'the end of {self.log.name}:', *lines])

    def _complaint(self, what: str) -> str:
        return f'{self.name} {what}'


@contextlib.contextmanager
def reserved_domain(domain: int | None = None) -> Iterator[int]:
    """Yield a ROS domain that no other demo or test on this machine uses meanwhile.

    Args:
        domain: use this one, whoever else does.

    Raises:
        ChildError: all are taken.
    """
    if domain is not None:
        yield domain
        return
    start = os.getpid() + time.monotonic_ns() // 1000
    for k in range(DOMAINS):
        number = 1 + (start + k) % DOMAINS
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as holder:
            try:
                holder.bind(('', PORT_BASE + number))
            except OSError:
                continue
            yield number
            return
    raise ChildError(f'all ROS domains from 1 to {DOMAINS} are in use on this machine')
