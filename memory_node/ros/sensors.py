# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The topics on which views come in: without a name, and those of each named sensor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from spatial_memory.msg import DetectionArray

from memory_node.config import NodeConfig
from memory_node.errors import InvalidValueError
from memory_node.perception.adapters import ClassNames
from memory_node.ros import qos, vision
from memory_node.ros.inputs import Input

OURS, VISION = 'detections', 'detections_vision'
_NAME = re.compile(r'/?[a-z_]\w*(/[a-z_]\w*)*', re.ASCII | re.IGNORECASE)


def make_inputs(node: Node, settings: NodeConfig) -> list[Input]:
    """Create an input for each topic; what they hand on are views with the sensor's name.

    Args:
        node: whose subscriptions they are.
        settings: names the sensors, and the file with the names of class ids.

    Raises:
        InvalidValueError: a sensor cannot be called so, or that file cannot be read.
    """
    log = node.get_logger()
    names = ClassNames.of_file(settings.class_names_file, log.warning)
    speaks_vision = vision.has_vision_msgs()
    if not speaks_vision:
        log.warning(
            f'vision_msgs is not installed: there is no {VISION}, and no ~/objects_vision'
        )  # fmt: skip
    group = MutuallyExclusiveCallbackGroup()  # none of them blocks, so one will do
    inputs = []
    for sensor in ('', *_checked(settings.sensors)):
        where = f'{sensor}/' if sensor else ''
        inputs.append(_input(node, DetectionArray, where + OURS, group, partial(_ours, sensor)))
        if speaks_vision:
            from vision_msgs.msg import Detection3DArray

            take = partial(_others, sensor, names)
            inputs.append(_input(node, Detection3DArray, where + VISION, group, take))
    return inputs


def _input(node: Node, kind: Any, topic: str, group: Any, views_of: Any) -> Input:
    return Input(
        node, kind, topic, qos.detections, qos.detections_best_effort, views_of, group
    )  # fmt: skip


def _checked(sensors: tuple[str, ...]) -> tuple[str, ...]:
    for sensor in sensors:
        if not _NAME.fullmatch(sensor) or sensors.count(sensor) > 1:
            raise InvalidValueError(
                f'sensors: got {sensor!r}, expected names that can stand in a topic, each once'
            )
    return sensors


def _ours(sensor: str, message: DetectionArray) -> Iterator[DetectionArray]:
    if sensor and not message.sensor:
        message.sensor = sensor
    yield message


def _others(sensor: str, names: ClassNames, message: Any) -> Iterator[DetectionArray]:
    for view in vision.arrays_of(message, names):
        view.sensor = sensor
        yield view
