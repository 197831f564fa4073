# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The shelf that comes with the demo, and what the memory makes of it through the lifting node."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('spatial_memory.msg')

from memory_node.demo.shelf import DATA, NEAR_M, load_shelf

PROJECT = Path(__file__).resolve().parents[2]
SOURCE = PROJECT.parent / 'shared' / 'data' / 'apc_shelf_rgbd'
DEADLINE_S = 250.0


def test_it_is_complete_small_and_attributed() -> None:
    shelf = load_shelf()
    assert shelf.depth_mm.shape == shelf.ids.shape == (15, 480, 640)
    assert set(shelf.truth) == set(shelf.labels) and len(shelf.labels) == 4
    assert DATA.stat().st_size < 3_000_000
    licence = (DATA.parent / 'LICENSE.apc-vision-toolbox').read_text()
    assert licence.startswith('Copyright (c) 2016') and 'Redistribution' in licence
    joke_book = shelf.labels.index('laugh out loud joke book')
    assert 0 < (shelf.ids[7] == joke_book + 1).sum() < 400, 'the bad mask of view 7'


def test_it_is_what_the_script_cuts(tmp_path: Path) -> None:
    pytest.importorskip('PIL', reason='needs Pillow')
    if not SOURCE.is_dir():
        pytest.skip(f'the data set is not there: {SOURCE}')
    path = PROJECT / 'bench' / 'cut_shelf_subset.py'
    spec = importlib.util.spec_from_file_location('cut_shelf_subset', path)
    assert spec is not None and spec.loader is not None
    cutter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cutter)
    cutter.write(SOURCE, tmp_path)
    with np.load(tmp_path / 'shelf.npz') as new, np.load(DATA) as old:
        assert set(new) == set(old)
        for name in new:
            assert (new[name] == old[name]).all(), name


def test_exactly_four_objects_where_the_clean_masks_have_them(tmp_path: Path) -> None:
    pytest.importorskip('open3d', reason='needs Open3D: scripts/env --with perception')
    command = [sys.executable, '-m', 'memory_node.demo.main', '--shelf', '--keep', str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    found = re.fullmatch(r'(\d+) objects: (.+); all within (\d+\.\d) cm', last)
    assert found is not None, last
    assert found[1] == '4' and sorted(found[2].split(', ')) == sorted(load_shelf().truth)
    assert float(found[3]) <= NEAR_M * 100


def test_without_open3d_it_says_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / 'open3d.py').write_text('raise ImportError("No module named open3d")')
    code = (
        f'import os, sys; os.environ["PYTHONPATH"] = {str(tmp_path)!r} + os.pathsep + '
        'os.environ.get("PYTHONPATH", "")\n'
        'from memory_node.demo.main import main; sys.exit(main(sys.argv[1:]))'
    )
    command = [sys.executable, '-c', code, '--shelf', '--keep', str(tmp_path / 'kept')]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 1
    assert 'demo: FAILED: lifting ended with code 1' in done.stdout
    assert 'Install the extra [perception]: pip install' in ' '.join(done.stdout.split())
