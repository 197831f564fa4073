# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""~/scene: what is where and how things stand to each other, for whoever comes at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rclpy.lifecycle import LifecycleNode
from spatial_memory.msg import SceneGraph

from memory_node.memory import SpatialMemory
from memory_node.model import State
from memory_node.ros import qos
from memory_node.ros.board import SMALL_BATCH, Board, OnProblem, gently
from memory_node.ros.handlers import scene_message
from memory_node.scene.graph import RelationGraph

PERIOD_S = 1.0
SIGHTING_PERIOD_S = 10.0


class Scene(Board):
    """Publishes ~/scene: confirmed objects by id and the relations between them, latched.

    After a change within `PERIOD_S`. Sightings that change no more than counts, evidence and times
    show within `SIGHTING_PERIOD_S`.
    """

    def __init__(
        self,
        node: LifecycleNode,
        map_frame: str,
        max_objects: Callable[[], int],
        on_problem: OnProblem,
    ) -> None:
        """Create the publisher.

        Args:
            node: whose it is.
            map_frame: frame of all poses.
            max_objects: returns how many objects to show at most.
            on_problem: told of what could not be published.
        """
        self._map_frame, self._max_objects = map_frame, max_objects
        self._graph = RelationGraph()
        super().__init__(
            node, SceneGraph, '~/scene', qos.state(), on_problem,
            period_s=PERIOD_S, sighting_period_s=SIGHTING_PERIOD_S, lazy=False,
        )  # fmt: skip

    def _messages(self, memory: SpatialMemory, ids: set[int] | None) -> Iterator[Any]:
        page = memory.page(limit=self._max_objects(), states=[State.CONFIRMED], relations=True)
        for _ in gently(page.refresh(self._graph, memory.config), 1):
            pass
        relations = page.relations(memory.config, self._graph)
        yield scene_message(
            memory.store_id, self._map_frame, page, gently(page), gently(relations, SMALL_BATCH)
        )  # fmt: skip
