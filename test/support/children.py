# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Other processes that have a file open, for the tests of the store."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]

WRITE_LOCK = """
import sys
import apsw

connection = apsw.Connection(sys.argv[1])
connection.set_busy_timeout(60_000)
connection.execute('BEGIN IMMEDIATE')
print('ready', flush=True)
sys.stdin.read()
connection.execute('ROLLBACK')
"""
"""Holds SQLite's write lock until its input ends."""

OPEN_MEMORY = """
import sys
from memory_node import SpatialMemory
from views import stream

memory = SpatialMemory.open(sys.argv[1])
for view in stream(1, 3):
    memory.observe(view)
print('ready', flush=True)
sys.stdin.read()
memory.close()
"""
"""Has a memory open for writing until its input ends."""


@contextmanager
def child(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a script that says when it is ready; it is let end, or killed, afterwards."""
    process = subprocess.Popen(
        [sys.executable, '-c', script, *arguments],
        cwd=ROOT,
        env={**os.environ, 'PYTHONPATH': f'{ROOT}{os.pathsep}{Path(__file__).parent}'},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == 'ready\n'
        yield process
        release(process)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def release(process: subprocess.Popen[str]) -> None:
    """Let a child go on, and wait until it has ended."""
    if process.stdin is not None and not process.stdin.closed:
        process.stdin.close()
    process.wait(60)
