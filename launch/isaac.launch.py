# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Remember what Isaac Sim's cameras see: `ros2 launch spatial_memory isaac.launch.py`.

In the simulator, ROS2 Camera Helpers of one camera publish `depth`, `camera_info` and
`bbox_2d_tight` (or `instance_segmentation`) below the namespace of the sensor, with
enableSemanticLabels; ROS2 Publish Clock and ROS2 Publish Transform Tree publish the rest.
docs/simulators.md has the settings. What differs from the defaults is in config/isaac.yaml.
"""

from __future__ import annotations

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription
from memory_node.ros.simulators import ISAAC

SHARE = FindPackageShare('spatial_memory')
SENSOR = LaunchConfiguration('sensor')


def generate_launch_description() -> LaunchDescription:
    """Return the memory and the lifting node, on the topics of the simulator."""
    settings = PathJoinSubstitution([SHARE, 'config', 'isaac.yaml'])
    lifting = {
        'use_sim_time': 'true', 'lifting_file': settings,
        'regions': LaunchConfiguration('regions'),
        **{topic: [SENSOR, '/', name] for topic, name in ISAAC.items()},
    }  # fmt: skip
    memory = {
        'use_sim_time': 'true', 'params_file': settings,
        'database': LaunchConfiguration('database'),
    }  # fmt: skip
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'sensor', default_value='head_camera',
                description='Node namespace of the camera helpers; also in config/isaac.yaml.',
            ),
            DeclareLaunchArgument(
                'regions', default_value='boxes', choices=['boxes', 'masks'],
                description='boxes: bbox_2d_tight; masks: instance_segmentation.',
            ),
            DeclareLaunchArgument('database', default_value='', description='File of the memory.'),
            _included('memory.launch.py', memory),
            _included('lifting.launch.py', lifting),
        ]
    )  # fmt: skip


def _included(name: str, arguments: dict) -> IncludeLaunchDescription:
    return IncludeLaunchDescription(
        PathJoinSubstitution([SHARE, 'launch', name]), launch_arguments=arguments.items()
    )
