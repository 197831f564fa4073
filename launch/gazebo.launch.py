# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Remember what Gazebo's cameras see: `ros2 launch spatial_memory gazebo.launch.py`.

The world has a depth camera and, at the same place and with the same image, a bounding-box camera
or a segmentation camera; models carry the Label plugin. ros_gz_bridge takes over what
config/gazebo_bridge.yaml names. docs/simulators.md has the settings of the world, and what the
parameters in config/gazebo.yaml are for. Labels are numbers there: class_names_file names them.
"""

from __future__ import annotations

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription
from memory_node.ros.simulators import GAZEBO

SHARE = FindPackageShare('spatial_memory')
SENSOR = LaunchConfiguration('sensor')


def generate_launch_description() -> LaunchDescription:
    """Return the bridge, the memory and the lifting node, on the topics of the bridge."""
    settings = PathJoinSubstitution([SHARE, 'config', 'gazebo.yaml'])
    lifting = {
        'use_sim_time': 'true', 'lifting_file': settings,
        'regions': LaunchConfiguration('regions'),
        'class_names_file': LaunchConfiguration('class_names_file'),
        **{topic: [SENSOR, '/', name] for topic, name in GAZEBO.items()},
    }  # fmt: skip
    memory = {
        'use_sim_time': 'true', 'params_file': settings,
        'database': LaunchConfiguration('database'),
    }  # fmt: skip
    bridge = Node(
        package='ros_gz_bridge',
        executable='parameter_bridge',
        name='gazebo_bridge',
        parameters=[{'config_file': LaunchConfiguration('bridge_file'), 'use_sim_time': True}],
        condition=IfCondition(LaunchConfiguration('bridge')),
        output='screen',
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'sensor', default_value='head_camera',
                description='First part of the topics of the cameras; also in config/gazebo.yaml '
                'and config/gazebo_bridge.yaml.',
            ),
            DeclareLaunchArgument(
                'regions', default_value='boxes', choices=['boxes', 'masks'],
                description='boxes: a bounding-box camera; masks: a segmentation camera.',
            ),
            DeclareLaunchArgument(
                'class_names_file', default_value='',
                description='YAML file with the names of the labels, for example 10: mug.',
            ),
            DeclareLaunchArgument('database', default_value='', description='File of the memory.'),
            DeclareLaunchArgument(
                'bridge', default_value='true', choices=['true', 'false'],
                description='Start ros_gz_bridge too; needs the package ros_gz_bridge.',
            ),
            DeclareLaunchArgument(
                'bridge_file',
                default_value=PathJoinSubstitution([SHARE, 'config', 'gazebo_bridge.yaml']),
                description='What the bridge takes over.',
            ),
            bridge,
            _included('memory.launch.py', memory),
            _included('lifting.launch.py', lifting),
        ]
    )  # fmt: skip


def _included(name: str, arguments: dict) -> IncludeLaunchDescription:
    return IncludeLaunchDescription(
        PathJoinSubstitution([SHARE, 'launch', name]), launch_arguments=arguments.items()
    )
