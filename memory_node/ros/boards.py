# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""All topics that show what the memory holds."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.lifecycle import LifecycleNode

from memory_node.config import NodeConfig
from memory_node.ros.board import Board, OnProblem
from memory_node.ros.markers import Markers
from memory_node.ros.scene import Scene
from memory_node.ros.vision import TracksBoard, VisionBoard, has_vision_msgs


def make_boards(
    node: LifecycleNode, settings: Callable[[], NodeConfig], on_problem: OnProblem
) -> list[Board]:
    """Create the publishers of ~/scene, ~/markers and, with vision_msgs, ~/objects_vision and
    ~/tracks_vision.

    Args:
        node: whose they are.
        settings: returns what the parameters say.
        on_problem: told of what could not be published.
    """
    map_frame = settings().map_frame
    boards: list[Board] = [
        Scene(node, map_frame, lambda: settings().scene_max_objects, on_problem),
        Markers(node, settings, on_problem),
    ]
    if has_vision_msgs():
        limit = lambda: settings().scene_max_objects  # noqa: E731
        boards.append(VisionBoard(node, map_frame, limit, on_problem))
        boards.append(TracksBoard(node, map_frame, on_problem))
    return boards
