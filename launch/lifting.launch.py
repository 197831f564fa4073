# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Start the lifting node: `ros2 launch spatial_memory lifting.launch.py`.

Defaults are in config/lifting.yaml alone. An argument that is left empty is not passed on.
"""

from __future__ import annotations

from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile
from launch_ros.substitutions import FindPackageShare

from launch import LaunchContext, LaunchDescription

TOPICS = {
    'detections_2d': 'vision_msgs/Detection2DArray of the detector',
    'masks': 'sensor_msgs/Image whose pixels are ids',
    'depth': 'sensor_msgs/Image; compressed depth is below it in depth/compressedDepth',
    'color': 'sensor_msgs/Image for the encoder',
    'points': 'organised sensor_msgs/PointCloud2',
    'camera_info': 'sensor_msgs/CameraInfo of the image that the detector looks at',
    'semantic_labels': 'std_msgs/String with the names of ids, as Isaac Sim publishes them',
    'detections': 'what goes out: spatial_memory/DetectionArray',
}

ARGUMENTS = [
    DeclareLaunchArgument('namespace', default_value='', description='Namespace of the node.'),
    DeclareLaunchArgument(
        'use_sim_time',
        default_value='',
        choices=['', 'true', 'false'],
        description='Take the time from /clock. Empty: as in lifting_file, else false.',
    ),
    DeclareLaunchArgument(
        'lifting_file',
        default_value=PathJoinSubstitution(
            [FindPackageShare('spatial_memory'), 'config', 'lifting.yaml']
        ),
        description='YAML file with parameters; it need only hold what differs from the default.',
    ),
    DeclareLaunchArgument(
        'class_names_file', default_value='', description='Names of ids. Empty: as in lifting_file.'
    ),
    DeclareLaunchArgument(
        'regions', default_value='', choices=['', 'boxes', 'masks', 'labelled_masks'],
        description='What says where things are. Empty: as in lifting_file.',
    ),
    DeclareLaunchArgument(
        'lifting_log_level', default_value='info',
        choices=['debug', 'info', 'warn', 'error', 'fatal'], description='What it logs.',
    ),
    *(
        DeclareLaunchArgument(name, default_value=name, description=f'Topic of {what}.')
        for name, what in TOPICS.items()
    ),
]  # fmt: skip


def generate_launch_description() -> LaunchDescription:
    """Return the arguments, and the node that is made of them."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=_nodes)])


def _nodes(context: LaunchContext) -> list[Node]:
    given = {a.name: LaunchConfiguration(a.name).perform(context) for a in ARGUMENTS}
    lifting_file = Path(given['lifting_file']).expanduser()
    if not lifting_file.is_file():
        raise RuntimeError(f'lifting_file: got {str(lifting_file)!r}, expected a file that exists')
    changed: dict[str, bool | str] = {
        name: given[name] for name in ('class_names_file', 'regions') if given[name]
    }
    if given['use_sim_time']:
        changed['use_sim_time'] = given['use_sim_time'] == 'true'
    compressed = f'{given["depth"]}/compressedDepth'
    return [
        Node(
            package='spatial_memory',
            executable='lifting_node',
            name='lifting',
            namespace=given['namespace'],
            parameters=[ParameterFile(str(lifting_file), allow_substs=True), changed],
            remappings=[
                ('/tf', 'tf'),
                ('/tf_static', 'tf_static'),
                ('depth/compressedDepth', compressed),
                *((topic, given[topic]) for topic in TOPICS),
            ],
            ros_arguments=['--log-level', given['lifting_log_level']],
            output='screen',
        )
    ]
