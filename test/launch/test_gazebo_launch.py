# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""gazebo.launch.py with the messages that ros_gz_bridge publishes (see docs/simulators.md)."""

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
import numpy as np
from launch.actions import IncludeLaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from sensor_msgs.msg import Image
from simulated import SENSOR, Simulator, check_places
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
    path = PathJoinSubstitution([FindPackageShare('spatial_memory'), 'launch', 'gazebo.launch.py'])
    arguments = {'database': str(folder / 'memory.db'), 'regions': regions}
    names = folder / 'labels.yaml'
    names.write_text('10: mug\n20: box\n')
    arguments |= {'bridge': 'false', 'class_names_file': str(names)}
    started = IncludeLaunchDescription(path, launch_arguments=arguments.items())
    return LaunchDescription([started, launch_testing.actions.ReadyToTest()]), {}


class TestWhileItRuns(unittest.TestCase):
    """Is the bridge."""

    def setUp(self) -> None:
        """Begin."""
        self.simulator = Simulator()
        self.addCleanup(self.simulator.close)

    def test_what_it_sees_is_remembered(self, regions: str) -> None:
        """Boxes by label, or a labels map with the number of each instance."""
        detector = self.boxes if regions == 'boxes' else self.masks
        held = self.simulator.remembered(detector, {'mug', 'box'})
        check_places(held, {'mug': 'mug', 'box': 'box'})

    def boxes(self) -> None:
        """Of a bounding-box camera, which names a frame of its own; each box has the header too."""
        sim = self.simulator
        message = sim.boxes(('10', '20'))
        for one in message.detections:
            one.header.frame_id, one.header.stamp = 'boxes_frame', sim.stamp()
        sim.publish(Detection2DArray, f'/{SENSOR}/boxes', message, 'boxes_frame')

    def masks(self) -> None:
        """Of a panoptic segmentation camera: bytes 0 and 1 count the instances, 2 is the label."""
        sim = self.simulator
        pixels = np.zeros((*sim.ids.shape, 3), np.uint8)
        pixels[sim.ids == 1] = (1, 0, 10)
        pixels[sim.ids == 2] = (1, 0, 20)
        message = sim.image(pixels, 'rgb8')
        sim.publish(Image, f'/{SENSOR}/segmentation/labels_map', message, 'segmentation_frame')


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
