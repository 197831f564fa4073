# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""simulation.launch.py: a short tour of the simulated home is remembered, people are not."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('launch_testing', reason='launch_testing is not installed')
pytest.importorskip('open3d', reason='needs Open3D: scripts/env --with perception')
pytest.importorskip('pybullet', reason='needs pybullet: scripts/env --with sim')

import domain_coordinator
import launch_testing.actions
import launch_testing.asserts
import rclpy
from launch.actions import IncludeLaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from rclpy.executors import SingleThreadedExecutor
from spatial_memory.msg import ChangeArray
from spatial_memory.srv import Query
from vision_msgs.msg import Detection3DArray

from launch import LaunchDescription

DEADLINE_S = 120.0
IMAGES = 6
SETTINGS = """
/**:
  ros__parameters:
    things: 12
    period_s: 10.0
    people: 3
"""
HELD = contextlib.ExitStack()
"""The ROS domain and the folder of this test, until its end."""


@pytest.mark.launch_test
def generate_test_description() -> tuple[LaunchDescription, dict[str, Any]]:
    """Start the launch file in a domain and with files of its own."""
    HELD.close()
    domain = HELD.enter_context(domain_coordinator.domain_id())
    folder = Path(HELD.enter_context(tempfile.TemporaryDirectory(prefix='simulation_launch_')))
    before = dict(os.environ)
    HELD.callback(lambda: (os.environ.clear(), os.environ.update(before)))
    os.environ['ROS_DOMAIN_ID'] = str(domain)
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    settings = folder / 'simulation.yaml'
    settings.write_text(SETTINGS)
    path = PathJoinSubstitution(
        [FindPackageShare('spatial_memory'), 'launch', 'simulation.launch.py']
    )
    arguments = {
        'database': str(folder / 'memory.db'), 'simulation_file': str(settings), 'seed': '3',
        'tours': '1',
    }  # fmt: skip
    started = IncludeLaunchDescription(path, launch_arguments=arguments.items())
    return LaunchDescription([started, launch_testing.actions.ReadyToTest()]), {}


class TestWhileItRuns(unittest.TestCase):
    """Listens to the truth and the feed, and asks the memory."""

    def setUp(self) -> None:
        """Begin."""
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=int(os.environ['ROS_DOMAIN_ID']))
        self.node = rclpy.create_node('asker', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.views: list[ChangeArray] = []
        self.truth: list[Detection3DArray] = []
        self.node.create_subscription(
            ChangeArray, '/spatial_memory/changes', self.views.append, 200
        )
        self.node.create_subscription(
            Detection3DArray, '/simulation/truth', self.truth.append, 50
        )  # fmt: skip
        self.client = self.node.create_client(Query, '/spatial_memory/query')
        self.addCleanup(self.close)

    def close(self) -> None:
        """End."""
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)

    def test_what_the_robot_sees_is_remembered(self) -> None:
        """All images are acknowledged; what is confirmed is there, and nobody is remembered."""
        until = time.monotonic() + DEADLINE_S
        while len({self.stamp(view) for view in self.views if view.sensor}) < IMAGES:
            self.assertLess(time.monotonic(), until, f'{len(self.views)} views were acknowledged')
            self.executor.spin_once(timeout_sec=0.1)
        future = self.client.call_async(Query.Request(limit=100))
        self.executor.spin_until_future_complete(future, timeout_sec=10.0)
        held = {hit.object.label for hit in future.result().hits}
        real = {one.results[0].hypothesis.class_id for one in self.truth[-1].detections}
        self.assertGreaterEqual(len(held), 5)
        self.assertLessEqual(held, real - {'person'})
        self.assertIn('person', real)

    @staticmethod
    def stamp(view: ChangeArray) -> tuple[int, int]:
        """When the view was."""
        return view.header.stamp.sec, view.header.stamp.nanosec


@launch_testing.post_shutdown_test()
class TestAfterSigint(unittest.TestCase):
    """launch ends its processes with SIGINT when the tests above are through."""

    @classmethod
    def tearDownClass(cls) -> None:
        """Give back the domain and the folder."""
        HELD.close()

    def test_it_ends_quietly(self, proc_info: Any, proc_output: Any) -> None:
        """Exit code 0, and no traceback."""
        launch_testing.asserts.assertExitCodes(proc_info)
        text = ''.join(event.text.decode() for event in proc_output)
        self.assertNotIn('Traceback', text)
