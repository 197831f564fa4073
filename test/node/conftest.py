# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The memory node over the real middleware: in this process, or in one of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

try:
    import rclpy
except ImportError:
    rclpy = None

PROFILE = Path(__file__).parents[1] / 'support' / 'fastdds_profile.xml'


class WithoutRos(pytest.Module):
    """A file of tests that is skipped, as what it imports is not there."""

    def collect(self) -> Any:
        """Skip."""
        pytest.skip('needs rclpy', allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Any:
    """Skip every file here where there is no ROS."""
    return None if rclpy else WithoutRos.from_parent(parent, path=module_path)


@pytest.fixture(scope='session', autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Clean up after killed processes, when those that they talked to have ended too."""
    yield
    from node_kit import remove_what_was_left_behind

    remove_what_was_left_behind()


@pytest.fixture
def ros(ros_domain: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """rclpy, initialised in the test's own domain; shut down afterwards."""
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    for name in ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE'):
        monkeypatch.setenv(name, str(PROFILE))  # Jazzy reads the one, Kilted the other
    rclpy.init()
    yield rclpy
    rclpy.try_shutdown()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Begin the log only now: before, pytest would take stderr away again."""
    if 'log' in pyfuncitem.funcargs:
        pyfuncitem.funcargs['log'].begin()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Any]:
    """What the node logs that is run in this process: see node_kit.LogFile."""
    from node_kit import LogFile

    log = LogFile(tmp_path / 'stderr.txt')
    yield log
    log.end()


@pytest.fixture
def cleanup(ros: Any) -> Iterator[contextlib.ExitStack]:
    """What is to be ended before ROS is."""
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def robot(make_robot: Callable[..., Any]) -> Any:
    """The rest of the robot, in the root namespace."""
    return make_robot()


@pytest.fixture
def make_robot(cleanup: contextlib.ExitStack) -> Callable[..., Any]:
    """Make robots: make_robot(namespace, …), see node_kit.Robot."""
    from node_kit import Robot

    def make(*args: Any, **more: Any) -> Any:
        robot = Robot(*args, **more)
        cleanup.callback(robot.close)
        return robot

    return make


@pytest.fixture
def run_node(
    cleanup: contextlib.ExitStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Run the node in this process: run_node(parameters, …), see node_kit.local_node."""
    from node_kit import local_node

    monkeypatch.setattr('memory_node.ros.diagnostics.PERIOD_S', 0.2)  # it is waited for often

    def run(parameters: Mapping[str, Any] | None = None, *args: Any, **more: Any) -> Any:
        given = {'database': str(tmp_path / 'memory.db'), **(parameters or {})}
        return cleanup.enter_context(local_node(given, *args, **more))

    return run


@pytest.fixture
def start_process(cleanup: contextlib.ExitStack, tmp_path: Path) -> Callable[..., Any]:
    """Start the node in a process: start_process(parameters, namespace, remaps, arguments=[…])."""
    from node_kit import NodeProcess, ros_arguments

    numbers = iter(range(1000))

    def start(
        parameters: Mapping[str, Any] | None = None,
        namespace: str = '',
        remaps: Mapping[str, str] | None = None,
        arguments: list[str] | None = None,
    ) -> Any:
        given = {'database': str(tmp_path / 'memory.db'), **(parameters or {})}
        log = tmp_path / f'node-{next(numbers)}.log'
        process = NodeProcess(log, arguments or ros_arguments(given, namespace, remaps))
        cleanup.callback(process.kill)
        return process

    return start
