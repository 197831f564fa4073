# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The demo in the simulated home, from pixels to what moved, as its user starts it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('spatial_memory.msg')

DEADLINE_S = 280.0
LAST_LINE = re.compile(
    r'demo: (\d+) of (\d+) changes that could be known, (\d+) of (\d+) that were told are so; '
    r'(\d+) things still there called gone, (\d+) people remembered; '
    r'count off by (\d+), median error (\d+\.\d) cm'
)


@pytest.mark.parametrize(
    'seed', [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)]
)
def test_what_moved_and_what_is_gone_is_found(tmp_path: Path, seed: int) -> None:
    for module, extra in (('open3d', 'perception'), ('pybullet', 'sim')):
        pytest.importorskip(module, reason=f'needs {module}: scripts/env --with {extra}')
    command = [sys.executable, '-m', 'memory_node.demo.main', '--sim', '--seed', str(seed),
               '--keep', str(tmp_path / 'kept')]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    last = LAST_LINE.fullmatch(done.stdout.splitlines()[-1])
    assert last is not None, done.stdout
    found, known, right, told, still, people, off = (int(last[k]) for k in range(1, 8))
    assert known >= 7 and found >= 0.9 * known and right >= 0.9 * told
    assert (still, people) == (0, 0)
    assert off <= 1 and float(last[8]) <= 5.0
    assert 'median error of 30 things' in done.stdout
    assert '6 things are moved, 3 taken away, 2 put into drawers, one is hidden' in done.stdout


@pytest.mark.parametrize(
    ('before', 'seed', 'message'),
    [
        ("sys.modules['pybullet'] = None", 1, 'Install the extra [sim]: pip install pybullet'),
        ('', -1, 'seed: got -1, expected a whole number from 0 to 999999'),
    ],
)
def test_what_it_cannot_start_with_is_said_in_a_line(before: str, seed: int, message: str) -> None:
    program = (
        f'import sys; {before or "pass"}; from memory_node.demo.main import main; '
        f'sys.exit(main(["--sim", "--seed", "{seed}"]))'
    )
    done = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1 and 'Traceback' not in done.stderr, done.stderr
    assert message in done.stdout.splitlines()[-1]
