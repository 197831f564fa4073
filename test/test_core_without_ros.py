# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The core is plain Python: no ROS, no clock, no print."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / 'memory_node'
WITHOUT_ROS = sorted(
    path
    for path in PACKAGE.rglob('*.py')
    if path.relative_to(PACKAGE).parts[0] not in ('ros', 'demo')
)
SIMULATED = PACKAGE / 'sim'
"""Needs no ROS and reads no clock either, but draws lots, by a seed. The core is without it."""
CORE = [path for path in WITHOUT_ROS if SIMULATED not in path.parents]
CLOCKS = {'time', 'datetime', 'sched'}
TIMERS_ALLOWED = {'store/checkpoint.py', 'fusion/candidates.py', 'locking.py', 'opened.py'}
"""The checkpointer, the builder of the index, the lock and the wait for a busy file."""

BLOCKED = """
import sys


class Blocker:
    def find_spec(self, name, path=None, target=None):
        top = name.partition('.')[0]
        if top.startswith(('rclpy', 'rosidl', 'rpyutils', 'ament', 'tf2', 'launch', 'rosbags')) or (
            top == 'spatial_memory' or top.endswith(('_msgs', '_interfaces'))
        ):
            raise ImportError(f'{name} is blocked')
        return None


sys.meta_path.insert(0, Blocker())
try:
    import rclpy
except ImportError:
    pass
else:
    sys.exit('the blocker does not block')
"""

USE = """
import importlib
from memory_node import Detection, Query, SpatialMemory, View

for module in sys.argv[2:]:
    importlib.import_module(module)
with SpatialMemory.open(sys.argv[1]) as memory:
    memory.observe(View(10**9, detections=[Detection('mug', 0.9, (1, 0, 1))]))
    assert memory.query(Query('mug'))[0].object.id == memory.history(1)[0].object_id == 1
    memory.relations(1)
    memory.forget(1)
    assert memory.check() == [], memory.check()
    memory.snapshot_hash()
wrong = [n for n in sys.modules if n.startswith(('rclpy', 'memory_node.ros', 'memory_node.demo'))]
sys.exit(f'imported: {wrong}' if wrong else 0)
"""


def test_the_core_works_with_ros_blocked(tmp_path: Path) -> None:
    """CH-2: nothing runs beside it, and no key is needed."""
    modules = [f'memory_node.{relative(path)[:-3].replace("/", ".")}' for path in WITHOUT_ROS]
    done = subprocess.run(
        [sys.executable, '-c', BLOCKED + USE, str(tmp_path / 'memory.db'), *modules],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def imports(path: Path) -> set[str]:
    """Full names of everything that a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'), str(path))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f'{path}: a relative import'
            found |= {f'{node.module}.{alias.name}' for alias in node.names}
    return found


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def test_there_is_a_core_to_look_at() -> None:
    assert {'memory.py', 'fusion/arbiter.py', 'store/database.py'} <= {relative(p) for p in CORE}


@pytest.mark.parametrize('path', WITHOUT_ROS, ids=relative)
def test_no_file_of_the_core_imports_ros(path: Path) -> None:
    for name in imports(path):
        top = name.partition('.')[0]
        assert top not in ('rclpy', 'spatial_memory', 'launch', 'launch_ros', 'tf2_ros'), name
        assert not top.endswith(('_msgs', '_interfaces', '_srvs')), name
        assert not name.startswith(('memory_node.ros', 'memory_node.demo')), name
        made_up = name.startswith('memory_node.sim') and path.name != 'parameter_docs.py'
        assert not made_up or path not in CORE, name


@pytest.mark.parametrize('path', WITHOUT_ROS, ids=relative)
def test_promise_9_no_file_of_the_core_reads_a_clock(path: Path) -> None:
    tops = {name.partition('.')[0] for name in imports(path)}
    assert not tops & CLOCKS, tops & CLOCKS
    if relative(path) not in TIMERS_ALLOWED:
        assert 'threading' not in tops


@pytest.mark.parametrize('path', CORE, ids=relative)
def test_no_file_of_the_core_prints_or_draws_lots(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding='utf-8'), str(path))
    calls = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not calls & {'print', 'input', 'breakpoint', 'eval', 'exec'}
    assert 'random' not in {name.partition('.')[0] for name in imports(path)}
    assert not any(
        '.random' in ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Attribute)
    )


@pytest.mark.parametrize('path', CORE, ids=relative)
def test_no_sql_is_asked_for_the_time(path: Path) -> None:
    text = path.read_text(encoding='utf-8').lower()
    for word in ('current_timestamp', 'datetime(', 'julianday', 'strftime', 'unixepoch'):
        assert word not in text


def test_no_schema_asks_for_the_time() -> None:
    for path in PACKAGE.rglob('*.sql'):
        text = path.read_text(encoding='utf-8').lower()
        assert 'current_' not in text and 'datetime' not in text and 'autoincrement' not in text
