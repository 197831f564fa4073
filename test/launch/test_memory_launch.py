# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The launch file over the real middleware: it remembers, answers, and ends quietly on SIGINT."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('launch_testing', reason='launch_testing is not installed')

import domain_coordinator
import launch_testing.actions
import launch_testing.asserts
import rclpy
from launch.actions import IncludeLaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from rclpy.executors import SingleThreadedExecutor
from spatial_memory.msg import Detection, DetectionArray
from spatial_memory.srv import Query

from launch import LaunchDescription
from memory_node import SpatialMemory

DEADLINE_S = 60.0
HELD = contextlib.ExitStack()
"""The ROS domain and the folder of this test, until its end."""


@pytest.mark.launch_test
def generate_test_description() -> tuple[LaunchDescription, dict[str, Any]]:
    """Start the launch file in a domain and with a file of its own."""
    domain = HELD.enter_context(domain_coordinator.domain_id())
    folder = Path(HELD.enter_context(tempfile.TemporaryDirectory(prefix='memory_launch_')))
    before = dict(os.environ)
    HELD.callback(lambda: (os.environ.clear(), os.environ.update(before)))
    os.environ['ROS_DOMAIN_ID'] = str(domain)
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    params_file = folder / 'mine.yaml'
    params_file.write_text('/**:\n  ros__parameters:\n    create_score: 0\n')
    database = folder / 'memory.db'
    path = PathJoinSubstitution([FindPackageShare('spatial_memory'), 'launch', 'memory.launch.py'])
    arguments = {'database': str(database), 'params_file': str(params_file)}
    started = IncludeLaunchDescription(path, launch_arguments=arguments.items())
    return (
        LaunchDescription([started, launch_testing.actions.ReadyToTest()]),
        {'database': database},
    )


class TestWhileItRuns(unittest.TestCase):
    """Uses the node as a robot would."""

    def setUp(self) -> None:
        """Make a node beside it."""
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=int(os.environ['ROS_DOMAIN_ID']))
        self.node = rclpy.create_node('launch_test', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def tearDown(self) -> None:
        """Take the node away."""
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)

    def test_it_remembers_and_answers(self) -> None:
        """A mug that is seen is found by `{text: mug}`."""
        client = self.node.create_client(Query, '/spatial_memory/query')
        publisher = self.node.create_publisher(DetectionArray, 'detections', 50)
        self.assertTrue(client.wait_for_service(timeout_sec=DEADLINE_S))
        self.assertTrue(self.spin_until(publisher.get_subscription_count))

        def found() -> bool:
            publisher.publish(self.a_mug())
            answer = client.call_async(Query.Request(text='mug'))
            self.assertTrue(self.spin_until(answer.done))
            reply = answer.result()
            self.assertTrue(reply.success, reply.message)
            self.assertEqual(reply.header.frame_id, 'map')
            return [hit.object.label for hit in reply.hits] == ['mug']

        self.assertTrue(self.spin_until(found))

    def a_mug(self) -> DetectionArray:
        """Return a view of a mug in the map frame; its score needs create_score from the file."""
        mug = Detection(label='mug', score=0.2, feature=[1.0, 0.0, 0.0])
        mug.pose.position.x, mug.pose.position.z = 1.0, 0.9
        mug.size.x = mug.size.y = mug.size.z = 0.1
        view = DetectionArray(sensor='head', detections=[mug])
        view.header.frame_id = 'map'
        view.header.stamp = self.node.get_clock().now().to_msg()
        return view

    def spin_until(self, condition: Callable[[], Any]) -> bool:
        """Spin until a condition holds, but not beyond the deadline."""
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            if time.monotonic() > deadline:
                return False
            self.executor.spin_once(timeout_sec=0.05)
        return True


@launch_testing.post_shutdown_test()
class TestAfterSigint(unittest.TestCase):
    """launch ends its processes with SIGINT when the tests above are through."""

    @classmethod
    def tearDownClass(cls) -> None:
        """Give back the domain and the folder."""
        HELD.close()

    def test_c27_it_ends_quietly(self, proc_info: Any, proc_output: Any) -> None:
        """Exit code 0, and no traceback."""
        launch_testing.asserts.assertExitCodes(proc_info)
        text = ''.join(event.text.decode() for event in proc_output)
        self.assertNotIn('Traceback', text)

    def test_what_it_learned_is_on_disk(self, database: Path) -> None:
        """The file opens, is sound, and holds the mug."""
        memory = SpatialMemory.open(str(database))
        self.addCleanup(memory.close)
        self.assertEqual([obj.label for obj in memory.objects()], ['mug'])
        self.assertEqual(list(memory.check()), [])
