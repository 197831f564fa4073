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
    found, known, right, told = (int(last[k]) for k in range(1, 5))
    assert known >= 7 and found >= 0.9 * known and right >= 0.9 * told
    assert int(last[5]) <= 1 and float(last[6]) <= 5.0
