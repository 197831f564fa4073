# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A flat made of rooms of the data set, and a robot's looks into them.

Each room keeps its own axes; in the map of the flat it is shifted so that no two overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_node.demo.roomr.rooms import Room, load_room, room_names
from memory_node.demo.roomr.sensor import SensorModel, Stand
from memory_node.demo.roomr.streams import VISITS, EpisodeStream, Shown
from memory_node.errors import InvalidValueError
from memory_node.model import Floats, Triple

SPACING_M = 20.0
"""The rooms lie side by side along the map's x axis; distance of their origins."""
ROOM_MARGIN_M = 0.5


@dataclass(frozen=True, eq=False)
class FlatRoom:
    """A room at its place in the flat.

    Attributes:
        room: what it is made of.
        number: of the episode.
        offset_m: from the room's own axes to the map of the flat.
    """

    room: Room
    number: int
    offset_m: Triple

    @property
    def center_m(self) -> Triple:
        """Middle of the room, map of the flat."""
        x, y, z = self.room.scene.shell.center[0] + self.offset_m
        return float(x), float(y), float(z)

    @property
    def radius_m(self) -> float:
        """Everything in the room is this close to its middle."""
        return float(np.linalg.norm(self.room.scene.shell.size[0]) / 2 + ROOM_MARGIN_M)

    def stream(self, seed: int, features: bool = True) -> EpisodeStream:
        """Return the looks of a tour, with noise drawn from this seed; room's own axes."""
        scene, tour = self.room.scene, self.room.tour
        model = SensorModel(features=features)
        return EpisodeStream(scene, self.room.episode(self.number), tour, model, seed)


@dataclass(frozen=True, eq=False)
class Look:
    """One look of the robot: where it stands, and what its detector says."""

    room: FlatRoom
    shown: Shown

    @property
    def stand(self) -> Stand:
        """Where the sensor believes to be, map of the flat."""
        pose = self.shown.view.sensor_pose
        assert pose is not None
        x, y, z = np.add(pose.position_m, self.room.offset_m)
        true = self.shown.stand
        return Stand((float(x), float(y), float(z)), true.yaw_rad, true.pitch_rad)

    @property
    def optical_centers_m(self) -> Floats:
        """(D, 3) centres of the detected boxes in the sensor's optical frame, metres."""
        centers = [d.center_m for d in self.shown.view.detections]
        return self.stand.to_optical(np.array(centers).reshape(-1, 3) + self.room.offset_m)


def furnish(names: Sequence[str] = (), episode: int = 0) -> list[FlatRoom]:
    """Return rooms of the flat. Each has its place, whichever others are asked for.

    Args:
        names: rooms or kinds of rooms, in the order of the tour, each at most once; empty: all.
        episode: number of the episode in each of them.

    Raises:
        InvalidValueError: no such room or episode, or a room twice.
    """
    rooms = [load_room(name) for name in names or room_names()]
    if len({room.name for room in rooms}) < len(rooms):
        raise InvalidValueError(f'rooms: got {list(names)}, expected each at most once')
    for room in rooms:
        room.episode(episode)
    place = {name: k * SPACING_M for k, name in enumerate(room_names())}
    return [FlatRoom(room, episode, (place[room.name], 0.0, 0.0)) for room in rooms]


def tour(
    rooms: Sequence[FlatRoom],
    *,
    seed: int = 1,
    visit: int = 1,
    looks: Sequence[int] = (),
    features: bool = True,
) -> list[Look]:
    """Return what the robot sees, one room after the other.

    Args:
        rooms: where it goes.
        seed: of the detector's noise.
        visit: 1, or 2 for the second visit of the episode, to which things were moved.
        looks: numbers of the looks of each room's tour, from 0; empty: all.
        features: whether detections bring an appearance embedding.

    Raises:
        InvalidValueError: no such visit or look.
    """
    if visit not in VISITS:
        raise InvalidValueError(f'visit: got {visit}, expected 1 or 2')
    seen: list[Look] = []
    for room in rooms:
        shown = room.stream(seed, features).visit(visit)
        wrong = [k for k in looks if not 0 <= k < len(shown)]
        if wrong:
            raise InvalidValueError(f'looks: got {wrong}, expected 0 to {len(shown) - 1}')
        seen += [Look(room, shown[k]) for k in looks or range(len(shown))]
    return seen
