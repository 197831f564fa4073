# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What Isaac Sim and Gazebo publish is remembered (docs/simulators.md says where that was read).

Both nodes run in processes of their own with the parameters and the topics of the launch files.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from sensor_msgs.msg import Image
from simulated import FRAME, SENSOR, Simulator, check_places
from std_msgs.msg import String
from vision_msgs.msg import Detection2DArray

from memory_node.perception.settings import LiftingConfig, LiftingNodeConfig
from memory_node.ros.simulators import GAZEBO, ISAAC, topics

CONFIG = Path(__file__).parents[2] / 'config'
pytest.importorskip('open3d', reason='needs Open3D: scripts/env --with perception')


@pytest.fixture
def start(ros_domain, tmp_path, monkeypatch):
    """Start memory and lifting as the launch file of a simulator does: start(name, topics, …)."""
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    started = []

    def run(name, mapping, **parameters):
        files = ['--params-file', str(CONFIG / f'{name}.yaml'), '-p', 'use_sim_time:=true']
        memory = ['-p', f'database:={tmp_path / "memory.db"}']
        lifting = ['-r', '__node:=lifting']
        for ours, theirs in topics(mapping, SENSOR).items():
            lifting += ['-r', f'{ours}:={theirs}']
        for key, value in parameters.items():
            lifting += ['-p', f'{key}:={value}']
        for module, arguments in (('memory_node', memory), ('lifting_node', lifting)):
            with (tmp_path / f'{module}.log').open('wb') as log:
                started.append(subprocess.Popen(
                    [sys.executable, '-m', f'memory_node.ros.{module}', '--ros-args', *files,
                     *arguments],
                    stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                    env={**os.environ, 'ROS_LOG_DIR': str(tmp_path), 'PYTHONUNBUFFERED': '1'},
                ))  # fmt: skip

    yield run
    for process in started:
        process.terminate()
    codes = [process.wait(60) for process in started]
    for log in tmp_path.glob('*.log'):
        text = log.read_text(errors='replace')
        assert 'Traceback' not in text, text
    assert codes == [0] * len(codes)


@pytest.fixture
def simulator(ros_domain):
    simulator = Simulator()
    yield simulator
    simulator.close()


def test_isaacs_boxes_by_semantic_id(start, simulator):
    start('isaac', ISAAC, regions='boxes')

    def detect():
        labels = '{"3": {"class": "mug"}, "7": {"class": "box"}, "time_stamp": {"sec": 6}}'
        simulator.publish(String, f'/{SENSOR}/semantic_labels', String(data=labels))
        boxes = simulator.boxes(('3', '7'))
        simulator.publish(Detection2DArray, f'/{SENSOR}/bbox_2d_tight', boxes, FRAME)

    held = simulator.remembered(detect, {'mug', 'box'})
    check_places(held, {'mug': 'mug', 'box': 'box'})


def test_isaacs_instances_by_the_path_of_the_thing(start, simulator):
    start('isaac', ISAAC, regions='masks')

    def detect():
        labels = '{"0": "BACKGROUND", "1": {"class": "mug"}, "2": "/World/Table/Box_01"}'
        simulator.publish(String, f'/{SENSOR}/semantic_labels', String(data=labels))
        ids = simulator.image(simulator.ids.astype('<i4'), '32SC1')
        simulator.publish(Image, f'/{SENSOR}/instance_segmentation', ids, FRAME)

    held = simulator.remembered(detect, {'mug', 'Box_01'})
    check_places(held, {'mug': 'mug', 'Box_01': 'box'})


@pytest.fixture
def names(tmp_path):
    path = tmp_path / 'labels.yaml'
    path.write_text('10: mug\n20: box\n')
    return path


def test_gazebos_boxes_by_label_in_a_frame_of_their_own(start, simulator, names):
    start('gazebo', GAZEBO, regions='boxes', class_names_file=names)

    def detect():
        message = simulator.boxes(('10', '20'))
        for one in message.detections:
            one.header.frame_id, one.header.stamp = 'boxes_frame', simulator.stamp()
        simulator.publish(Detection2DArray, f'/{SENSOR}/boxes', message, 'boxes_frame')

    held = simulator.remembered(detect, {'mug', 'box'})
    check_places(held, {'mug': 'mug', 'box': 'box'})


def test_gazebos_labels_map_of_a_panoptic_camera(start, simulator, names):
    start('gazebo', GAZEBO, regions='masks', class_names_file=names)
    pixels = np.zeros((*simulator.ids.shape, 3), np.uint8)
    pixels[simulator.ids == 1] = (1, 0, 10)
    pixels[simulator.ids == 2] = (1, 0, 20)

    def detect():
        message = simulator.image(pixels, 'rgb8')
        topic = f'/{SENSOR}/segmentation/labels_map'
        simulator.publish(Image, topic, message, 'segmentation_frame')

    held = simulator.remembered(detect, {'mug', 'box'})
    check_places(held, {'mug': 'mug', 'box': 'box'})


@pytest.mark.parametrize('name', ['isaac', 'gazebo'])
def test_the_settings_are_parameters_that_exist(name):
    parameters = pytest.importorskip('memory_node.ros.parameters')
    content = yaml.safe_load((CONFIG / f'{name}.yaml').read_text())
    for key, value in content['/**/spatial_memory']['ros__parameters'].items():
        parameters.ROWS[key].checked(value)
    mine = content['/**/lifting']['ros__parameters']
    fields = LiftingConfig.__dataclass_fields__
    LiftingConfig(**{k: v for k, v in mine.items() if k in fields})
    LiftingNodeConfig(**{k: v for k, v in mine.items() if k not in fields})


def test_the_bridge_takes_over_what_the_lifting_node_listens_to():
    content = yaml.safe_load((CONFIG / 'gazebo_bridge.yaml').read_text())
    taken = {entry['ros_topic_name'] for entry in content}
    assert taken == {'/clock', *topics(GAZEBO, SENSOR).values()}
    assert all(entry['direction'] == 'GZ_TO_ROS' for entry in content)
