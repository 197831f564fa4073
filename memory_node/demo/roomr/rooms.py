# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The rooms that come with the demo: read from `memory_node/demo/data`."""

from __future__ import annotations

import functools
import gzip
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_node.demo.roomr.sensor import Stand
from memory_node.demo.roomr.world import (
    Episode,
    Scene,
    agent_positions,
    build_episode,
    build_scene,
)
from memory_node.errors import InvalidValueError

DATA = Path(__file__).resolve().parents[1] / 'data'
ROOMS = 'rooms.json.gz'
TOURS = 'tours.json'

Tour = tuple[list[Stand], list[Stand]]
"""Where the sensor stands on visit 1 and on visit 2."""


@dataclass(frozen=True, eq=False)
class Room:
    """A room and what is known of it.

    Attributes:
        kind: kitchen, living room, bedroom or bathroom.
        scene: the fixed part.
        episodes: number in the data set's val split → what is where on each visit.
        tour: where the sensor stands on each visit, the same in all episodes.
    """

    name: str
    kind: str
    scene: Scene
    episodes: dict[int, Episode]
    tour: Tour

    def episode(self, index: int) -> Episode:
        """Return the episode with this number.

        Raises:
            InvalidValueError: the room comes without it.
        """
        if index not in self.episodes:
            raise InvalidValueError(
                f'episode: got {index}, expected one of {sorted(self.episodes)} for {self.name}'
            )
        return self.episodes[index]


def room_names() -> tuple[str, ...]:
    """Return the names of all rooms, kitchen first."""
    return tuple(_raw_rooms())


@functools.cache
def load_room(name: str) -> Room:
    """Return one room by its name, or by its kind ('kitchen').

    Raises:
        InvalidValueError: there is no such room.
    """
    rooms = _raw_rooms()
    found = [n for n, raw in rooms.items() if name in (n, raw['kind'])]
    if not found:
        known = ', '.join(f'{n} ({raw["kind"]})' for n, raw in rooms.items())
        raise InvalidValueError(f'room: got {name!r}, expected one of {known}')
    name, raw = found[0], rooms[found[0]]
    scene = build_scene(name, raw['inventory'], agent_positions(raw['agent_positions']))
    episodes = {int(k): build_episode(scene, int(k), e) for k, e in raw['episodes'].items()}
    rows = json.loads((DATA / TOURS).read_text())[name]
    tour = [_stand(r) for r in rows['visit_1']], [_stand(r) for r in rows['visit_2']]
    return Room(name, raw['kind'], scene, episodes, tour)


@functools.cache
def _raw_rooms() -> dict[str, Any]:
    with gzip.open(DATA / ROOMS, 'rt', encoding='utf-8') as stream:
        rooms: dict[str, Any] = json.load(stream)
    return rooms


def _stand(row: Sequence[float]) -> Stand:
    """Row of a tour: x, y, z in metres, yaw and pitch in degrees, map frame."""
    return Stand((row[0], row[1], row[2]), math.radians(row[3]), math.radians(row[4]))
