# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Tests that run at the same time do not hear each other, and leave nothing running."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
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


@pytest.mark.timeout(1000)
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
        output = (tmp_path / f'{k}.txt').open('w+')
        run = subprocess.Popen(
            command, cwd=HERE.parents[1], env={**environment, MARK: mark}, stdout=output,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        runs.append((run, output))
    try:
        for run, output in runs:
            code = run.wait(900 if long else 400)
            output.seek(0)
            assert code == 0, output.read()
        wait_for(lambda: left_over(mark) == [], what='the end of all their processes')
    finally:
        # An orphan would answer in the next test that gets its domain.
        for number in left_over(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        for run, output in runs:
            run.wait()
            output.close()
