# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""ROS in the test's own process: an initialised rclpy in its own domain, nodes, and spinning.

Nothing of ROS is imported at the top, so that the tests of the pure modules run without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest


@pytest.fixture
def ros(ros_domain: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module rclpy, initialised in the test's own domain; shut down afterwards."""
    rclpy = pytest.importorskip('rclpy')
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    rclpy.init()
    yield rclpy
    rclpy.try_shutdown()


@pytest.fixture
def executor(ros: Any) -> Iterator[Any]:
    """A single-threaded executor that holds the nodes of `make_node`."""
    from rclpy.executors import SingleThreadedExecutor

    executor = SingleThreadedExecutor()
    yield executor
    executor.shutdown()


@pytest.fixture
def make_node(ros: Any, executor: Any) -> Iterator[Callable[..., Any]]:
    """Make nodes that are destroyed afterwards: make_node(name, parameters, cls=…, **more)."""
    from rclpy.node import Node
    from rclpy.parameter import Parameter

    nodes: list[Any] = []

    def make(
        name: str = 'test',
        parameters: Mapping[str, Any] | None = None,
        cls: type = Node,
        **more: Any,
    ) -> Any:
        given = [Parameter(key, value=value) for key, value in (parameters or {}).items()]
        node = cls(name, parameter_overrides=given, **more)
        nodes.append(node)
        executor.add_node(node)
        return node

    yield make
    for node in nodes:
        node.destroy_node()


@pytest.fixture
def spin_until(executor: Any) -> Callable[..., bool]:
    """Spin until a condition holds: spin_until(condition, timeout_s) -> whether it came true."""

    def spin(condition: Callable[[], Any], timeout_s: float = 60.0) -> bool:
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                return False
            executor.spin_once(timeout_sec=0.02)
        return True

    return spin
