# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""isaac.launch.py with the messages that Isaac Sim publishes (see docs/simulators.md)."""

from __future__ import annotations

import contextlib
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('launch_testing', reason='launch_testing is not installed')
pytest.importorskip('open3d', reason='needs Open3D: scripts/env --with perception')

import domain_coordinator
import launch_testing.actions
import launch_testing.asserts
from launch.actions import IncludeLaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from sensor_msgs.msg import Image
from simulated import FRAME, SENSOR, Simulator, check_places
from std_msgs.msg import String
from vision_msgs.msg import Detection2DArray

from launch import LaunchDescription

HELD = contextlib.ExitStack()
"""The ROS domain and the folder of this test, until its end."""


@pytest.mark.launch_test
@launch_testing.parametrize('regions', ['boxes', 'masks'])
def generate_test_description(regions: str) -> tuple[LaunchDescription, dict[str, Any]]:
    """Start the launch file in a domain and with a file of its own."""
    HELD.close()
    domain = HELD.enter_context(domain_coordinator.domain_id())
    folder = Path(HELD.enter_context(tempfile.TemporaryDirectory(prefix='simulator_launch_')))
    before = dict(os.environ)
    HELD.callback(lambda: (os.environ.clear(), os.environ.update(before)))
    os.environ['ROS_DOMAIN_ID'] = str(domain)
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    path = PathJoinSubstitution([FindPackageShare('spatial_memory'), 'launch', 'isaac.launch.py'])
    arguments = {'database': str(folder / 'memory.db'), 'regions': regions}
    started = IncludeLaunchDescription(path, launch_arguments=arguments.items())
    return LaunchDescription([started, launch_testing.actions.ReadyToTest()]), {}


class TestWhileItRuns(unittest.TestCase):
    """Is the simulator."""

    def setUp(self) -> None:
        """Begin."""
        self.simulator = Simulator()
        self.addCleanup(self.simulator.close)

    def test_what_it_sees_is_remembered(self, regions: str) -> None:
        """Boxes by semantic id, or instances by the path of the thing; names in a JSON string."""
        if regions == 'boxes':
            held = self.simulator.remembered(self.boxes, {'mug', 'box'})
            check_places(held, {'mug': 'mug', 'box': 'box'})
        else:
            held = self.simulator.remembered(self.masks, {'mug', 'Box_01'})
            check_places(held, {'mug': 'mug', 'Box_01': 'box'})

    def boxes(self) -> None:
        """bbox_2d_tight and its labels."""
        sim = self.simulator
        labels = '{"3": {"class": "mug"}, "7": {"class": "box"}, "time_stamp": {"sec": 6}}'
        sim.publish(String, f'/{SENSOR}/semantic_labels', String(data=labels))
        sim.publish(Detection2DArray, f'/{SENSOR}/bbox_2d_tight', sim.boxes(('3', '7')), FRAME)

    def masks(self) -> None:
        """instance_segmentation and its labels."""
        sim = self.simulator
        labels = '{"0": "BACKGROUND", "1": {"class": "mug"}, "2": "/World/Table/Box_01"}'
        sim.publish(String, f'/{SENSOR}/semantic_labels', String(data=labels))
        ids = sim.image(sim.ids.astype('<i4'), '32SC1')
        sim.publish(Image, f'/{SENSOR}/instance_segmentation', ids, FRAME)


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
