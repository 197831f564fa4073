# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Start the memory node: `ros2 launch spatial_memory memory.launch.py`.

Defaults are in config/memory.yaml alone. An argument that is left empty is not passed on, so that
what the parameters file (or an enclosing launch file) says holds.
"""

from __future__ import annotations

from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile
from launch_ros.substitutions import FindPackageShare

from launch import LaunchContext, LaunchDescription

SHARE = FindPackageShare('spatial_memory')
YES_NO = ['true', 'false']
AS_IN_FILE = ['', *YES_NO]

ARGUMENTS = [
    DeclareLaunchArgument('namespace', default_value='', description='Namespace of the node.'),
    DeclareLaunchArgument(
        'use_sim_time',
        default_value='',
        choices=AS_IN_FILE,
        description='Take the time from /clock. Empty: as in params_file, else false.',
    ),
    DeclareLaunchArgument(
        'params_file',
        default_value=PathJoinSubstitution([SHARE, 'config', 'memory.yaml']),
        description='YAML file with parameters; it need only hold what differs from the default.',
    ),
    DeclareLaunchArgument(
        'database',
        default_value='',
        description='File of the memory. Empty: as in params_file.',
    ),
    DeclareLaunchArgument(
        'autostart',
        default_value='',
        choices=AS_IN_FILE,
        description='Configure and activate at start; false under a lifecycle manager. '
        'Empty: as in params_file.',
    ),
    DeclareLaunchArgument(
        'detections',
        default_value='detections',
        description='Topic of the detections; relative names are below the namespace.',
    ),
    DeclareLaunchArgument(
        'detections_vision',
        default_value='detections_vision',
        description='Topic of the vision_msgs/Detection3DArray messages of other detectors; '
        'relative names are below the namespace.',
    ),
    DeclareLaunchArgument(
        'shared_tf',
        default_value='false',
        choices=YES_NO,
        description='Listen to /tf although in a namespace: robots that share one tree of frames '
        'with prefixed names. false: <namespace>/tf.',
    ),
    DeclareLaunchArgument(
        'log_level',
        default_value='info',
        choices=['debug', 'info', 'warn', 'error', 'fatal'],
        description='What is logged.',
    ),
    DeclareLaunchArgument(
        'respawn',
        default_value='false',
        choices=YES_NO,
        description='Start the node again, after 2 s, when it has ended.',
    ),
    DeclareLaunchArgument(
        'rviz',
        default_value='false',
        choices=YES_NO,
        description='Show the memory in RViz too; needs the package rviz2.',
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments, and the nodes that are made of them."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=_nodes)])


def _nodes(context: LaunchContext) -> list[Node]:
    given = {a.name: LaunchConfiguration(a.name).perform(context) for a in ARGUMENTS}
    params_file = Path(given['params_file']).expanduser()
    if not params_file.is_file():
        raise RuntimeError(f'params_file: got {str(params_file)!r}, expected a file that exists')
    sim_time = {'use_sim_time': given['use_sim_time'] == 'true'} if given['use_sim_time'] else {}
    changed: dict[str, bool | str] = dict(sim_time)
    if given['database']:
        changed['database'] = given['database']
    if given['autostart']:
        changed['autostart'] = given['autostart'] == 'true'

    # tf2 listens to the absolute names, which no namespace reaches: as in nav2 they are made
    # relative. Without a namespace that is the same topic.
    tf = [] if given['shared_tf'] == 'true' else [('/tf', 'tf'), ('/tf_static', 'tf_static')]
    memory = Node(
        package='spatial_memory',
        executable='memory_node',
        name='spatial_memory',
        namespace=given['namespace'],
        parameters=[ParameterFile(str(params_file), allow_substs=True), changed],
        remappings=[
            *tf,
            *((topic, given[topic]) for topic in ('detections', 'detections_vision')),
        ],
        ros_arguments=['--log-level', given['log_level']],
        respawn=given['respawn'] == 'true',
        respawn_delay=2.0,
        output='screen',
    )
    if given['rviz'] != 'true':
        return [memory]
    config = PathJoinSubstitution([SHARE, 'config', 'rviz', 'memory.rviz'])
    rviz = Node(
        package='rviz2',
        executable='rviz2',
        namespace=given['namespace'],
        parameters=[sim_time],
        remappings=tf,
        arguments=['-d', config],
        output='screen',
    )
    return [rviz, memory]  # where rviz2 is missing, launch ends here, with nothing left running
