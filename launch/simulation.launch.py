# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A robot in a simulated home that remembers it: `ros2 launch spatial_memory simulation.launch.py`.

Needs pybullet and Open3D, no GPU. The robot tours a furnished home in which things are moved, taken
away, hidden and put into drawers, and people walk about; docs/simulators.md says what it publishes.
When the tours are over the memory goes on to answer; its clock stands still then. The camera keeps
the name head_camera: it is in config/simulated_home.yaml too.
"""

from __future__ import annotations

from pathlib import Path

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile
from launch_ros.substitutions import FindPackageShare

from launch import LaunchContext, LaunchDescription
from memory_node.ros.simulators import SIMULATED_HOME, topics
from memory_node.sim.settings import SimulationNodeConfig

SHARE = FindPackageShare('spatial_memory')
SENSOR = SimulationNodeConfig.sensor
NUMBERS = {
    'seed': 'What everything follows from.',
    'tours': 'Tours to make; 0: until it is stopped.',
    'first_tour': 'Where to begin, as if the tours before had been made.',
}

ARGUMENTS = [
    DeclareLaunchArgument(
        'simulation_file',
        default_value=PathJoinSubstitution([SHARE, 'config', 'simulation.yaml']),
        description='YAML file with parameters of simulation_node; it need only hold what differs '
        'from the default.',
    ),
    *(
        DeclareLaunchArgument(
            name, default_value='', description=f'{what} Empty: as in simulation_file.'
        )
        for name, what in NUMBERS.items()
    ),
    DeclareLaunchArgument(
        'lock_step',
        default_value='',
        choices=['', 'true', 'false'],
        description='Wait for the memory after each image. Empty: as in simulation_file.',
    ),
    DeclareLaunchArgument(
        'settings_file',
        default_value=PathJoinSubstitution([SHARE, 'config', 'simulated_home.yaml']),
        description='YAML file with the parameters of memory and lifting.',
    ),
    DeclareLaunchArgument('database', default_value='', description='File of the memory.'),
    DeclareLaunchArgument(
        'rviz',
        default_value='false',
        choices=['true', 'false'],
        description='Show the memory in RViz too; needs the package rviz2.',
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Return the simulated robot, the memory and the lifting node, on the robot's topics."""
    settings = LaunchConfiguration('settings_file')
    lifting = {
        'use_sim_time': 'true', 'lifting_file': settings, 'regions': 'masks',
        **topics(SIMULATED_HOME, SENSOR),
    }  # fmt: skip
    memory = {
        'use_sim_time': 'true', 'params_file': settings,
        'database': LaunchConfiguration('database'), 'rviz': LaunchConfiguration('rviz'),
    }  # fmt: skip
    return LaunchDescription(
        [
            *ARGUMENTS,
            _included('memory.launch.py', memory),
            _included('lifting.launch.py', lifting),
            OpaqueFunction(function=_robot),
        ]
    )


def _robot(context: LaunchContext) -> list[Node]:
    given = {a.name: LaunchConfiguration(a.name).perform(context) for a in ARGUMENTS}
    simulation_file = Path(given['simulation_file']).expanduser()
    if not simulation_file.is_file():
        raise RuntimeError(
            f'simulation_file: got {str(simulation_file)!r}, expected a file that exists'
        )
    changed: dict[str, bool | int] = {}
    for name in NUMBERS:
        if not given[name]:
            continue
        if not given[name].isdecimal():
            raise RuntimeError(
                f'{name}: got {given[name]!r}, expected a whole number of at least 0'
            )  # fmt: skip
        changed[name] = int(given[name])
    if given['lock_step']:
        changed['lock_step'] = given['lock_step'] == 'true'
    return [
        Node(
            package='spatial_memory',
            executable='simulation_node',
            name='simulation',
            parameters=[ParameterFile(str(simulation_file), allow_substs=True), changed],
            output='screen',
        )
    ]


def _included(name: str, arguments: dict) -> IncludeLaunchDescription:
    return IncludeLaunchDescription(
        PathJoinSubstitution([SHARE, 'launch', name]), launch_arguments=arguments.items()
    )
