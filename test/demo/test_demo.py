# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The demo as its user starts it: real processes, real topics, exit codes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import wait_for

pytest.importorskip('rclpy')
pytest.importorskip('spatial_memory.msg')

DEADLINE_S = 250.0
DEMO = [sys.executable, '-m', 'memory_node.demo.main']
LAST_LINE = re.compile(
    r'demo: (\d+) of (\d+) things found, (\d+) extra, median error (\d+\.\d) cm, (\d+) s'
)


def processes_of(folder: Path) -> list[int]:
    """Ids of the processes that were started with something in a folder as an argument."""
    found = []
    for entry in Path('/proc').iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                arguments = (entry / 'cmdline').read_bytes()
            except OSError:
                continue
            if str(folder).encode() in arguments:
                found.append(int(entry.name))
    return found


def test_one_room_from_start_to_end(tmp_path: Path) -> None:
    keep = tmp_path / 'kept'
    command = [*DEMO, '--rooms', 'bathroom', '--episode', '2', '--keep', str(keep)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert max(len(line) for line in lines) <= 100
    assert '\x1b' not in done.stdout
    last = LAST_LINE.fullmatch(lines[-1])
    assert last is not None, lines[-1]
    found, things = int(last[1]), int(last[2])
    assert 0.9 * things <= found <= things
    for question in (
        'What is in this room', 'Where is the', 'What is on the', 'What was seen of',
        'What has moved', 'What is gone?', 'What could it not look at?', 'what was rearranged',
    ):  # fmt: skip
        assert question in done.stdout
    assert 'after a restart on the same file: object' in done.stdout
    assert {p.name for p in keep.glob('*.log')} == {'spatial_memory.log', 'replay.log'}
    assert (keep / 'demo.db').stat().st_size > 0
    assert not processes_of(tmp_path)


def test_it_does_not_write_into_a_memory_that_is_there(tmp_path: Path) -> None:
    (tmp_path / 'demo.db').write_text('mine')
    command = [*DEMO, '--keep', str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 1
    assert 'exists: the demo starts with an empty memory' in ' '.join(done.stdout.split())
    assert (tmp_path / 'demo.db').read_text() == 'mine'


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_all_it_started(tmp_path: Path, number: signal.Signals) -> None:
    keep = tmp_path / 'kept'
    demo = subprocess.Popen(
        [*DEMO, '--keep', str(keep)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        wait_for(lambda: (keep / 'replay.log').exists(), DEADLINE_S)
        assert len(processes_of(keep)) > 1
        demo.send_signal(number)
        output, _ = demo.communicate(timeout=DEADLINE_S)
    finally:
        demo.kill()
    assert demo.returncode == 130
    assert output.splitlines()[-1] == 'demo: interrupted'
    wait_for(lambda: not processes_of(keep), DEADLINE_S)


def test_help_names_the_options() -> None:
    done = subprocess.run([*DEMO, '--help'], capture_output=True, text=True, check=True)
    for option in ('--rooms', '--episode', '--seed', '--keep', '--domain'):
        assert option in done.stdout


def test_a_room_that_is_not_there_is_named() -> None:
    command = [*DEMO, '--rooms', 'cellar']
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 1
    assert "demo: FAILED: room: got 'cellar'" in done.stdout
