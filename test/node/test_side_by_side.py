# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Tests that run at the same time do not hear each other, and leave nothing running."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from node_kit import wait_for

HERE = Path(__file__).parent
MARK = 'SPATIAL_MEMORY_TEST_RUN'


def left_over(mark):
    """Processes that have the mark in their environment."""
    found = []
    for folder in Path('/proc').iterdir():
        if folder.name.isdigit():
            try:
                if mark.encode() in (folder / 'environ').read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


def told(runs):
    """What both have printed so far: either may be what the other one failed for."""
    return '\n'.join(
        f'---- {path.name}, code {run.poll()}:\n{path.read_text(errors="replace")}'
        for run, path in runs
    )


@pytest.mark.timeout(2000)
def test_c44_two_runs_at_the_same_time_do_not_hear_each_other(tmp_path, request):
    long = request.config.getoption('--long')
    what = [HERE / 'test_settings.py', HERE / 'test_two_robots.py', '-k', 'c39 or own_tf']
    if long:
        what = sorted(p for p in HERE.glob('test_*.py') if p != Path(__file__))
    mark = uuid.uuid4().hex
    # Their domains are their own, not that of an enclosing test.
    environment = {k: v for k, v in os.environ.items() if k != 'ROS_DOMAIN_ID'}
    runs = []
    for k in range(2):
        command = [
            sys.executable, '-m', 'pytest', '-q', '-x', '-p', 'no:cacheprovider',
            f'--basetemp={tmp_path / str(k)}', *map(str, what),
        ]  # fmt: skip
        path = tmp_path / f'{k}.txt'
        with path.open('w') as output:
            run = subprocess.Popen(
                command, cwd=HERE.parents[1], env={**environment, MARK: mark}, stdout=output,
                stderr=subprocess.STDOUT,
            )  # fmt: skip
        runs.append((run, path))
    try:
        deadline = time.monotonic() + (1500 if long else 400)
        while any(run.poll() is None for run, _ in runs):
            assert time.monotonic() < deadline, 'not at their end:\n' + told(runs)
            time.sleep(0.1)
        assert [run.returncode for run, _ in runs] == [0, 0], told(runs)
        wait_for(lambda: left_over(mark) == [], what='the end of all their processes')
    finally:
        # An orphan would answer in the next test that gets its domain.
        for number in left_over(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        for run, _ in runs:
            run.wait()
