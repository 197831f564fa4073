# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Promise 4: killed anywhere, the file opens, and holds an exact prefix with all that was told."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from crash_child import steps
from views import stream

from memory_node import SpatialMemory

CHILD = Path(__file__).parent / 'support' / 'crash_child.py'
ROOT = Path(__file__).parents[1]
KILLS, LONG_KILLS = 3, 200
VIEWS = 5000
LATEST_KILL = 150


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Three kills, or as many as the case asks for."""
    if 'kill' in metafunc.fixturenames:
        long = metafunc.config.getoption('--long')
        metafunc.parametrize('kill', range(LONG_KILLS if long else KILLS))


def run_and_kill(path: str, seed: int, after: int) -> int:
    """Let the child acknowledge so many steps, kill it, and return the last log line it told."""
    child = subprocess.Popen(
        [sys.executable, str(CHILD), path, str(seed), str(VIEWS)],
        cwd=ROOT,
        env={**os.environ, 'PYTHONPATH': f'{ROOT}{os.pathsep}{CHILD.parent}'},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    with child:
        told = [child.stdout.readline() for _ in range(after)]
        child.send_signal(signal.SIGKILL)
        told += child.stdout.readlines()
    assert child.returncode == -signal.SIGKILL, f'it ended by itself: {told[-1:]}'
    whole = [line for line in told if line.endswith('\n')]  # the last may have been cut
    return int(whole[-1])


def replay(seed: int, up_to_seq: int) -> SpatialMemory:
    """A memory that was never disturbed, after the same steps."""
    memory = SpatialMemory.open(':memory:')
    for seq in steps(memory, seed, VIEWS):
        if seq >= up_to_seq:
            return memory
    raise AssertionError(f'the steps never reach {up_to_seq}')


def test_c31_kill_9_loses_nothing_that_was_acknowledged(tmp_path: Path, kill: int) -> None:
    after = random.Random(kill).randint(1, LATEST_KILL)
    path = str(tmp_path / 'memory.db')
    told = run_and_kill(path, seed=kill, after=after)
    with SpatialMemory.open(path) as memory, replay(kill, memory.seq) as undisturbed:
        assert memory.check() == []
        assert memory.seq >= told, 'an acknowledged step is gone'
        assert memory.seq == undisturbed.seq, 'a step is there in part'
        assert memory.snapshot_hash() == undisturbed.snapshot_hash()
        assert memory.objects() == undisturbed.objects()
        # And both go on alike.
        [(done,)] = memory._database.rows('SELECT count(*) FROM view')
        for given in itertools.islice(stream(kill, done + 20), done, None):
            assert memory.observe(given) == undisturbed.observe(given)
        assert memory.snapshot_hash() == undisturbed.snapshot_hash()
        assert memory.check() == []
