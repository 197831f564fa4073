# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""(a) RoomR tours: two visits to a room; figures are about what stays where it is.

What is moved or taken away is in the views and not counted. Without --shared or its data, only the
episodes that come with the demo are used.
"""

from __future__ import annotations

import functools
import gzip
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from cut_roomr_subset import METADATA, SPLIT, _BuiltinsOnly

from identity.stream import Case, Given, Shown, Stream
from memory_node.demo.roomr.rooms import Tour, load_room, room_names
from memory_node.demo.roomr.sensor import SensorModel, Stand
from memory_node.demo.roomr.streams import EpisodeStream
from memory_node.demo.roomr.world import (
    Episode,
    Scene,
    agent_positions,
    build_episode,
    build_scene,
)
from memory_node.model import Floats, View

STAYS_M = 0.01
"""What is displaced by less stays put."""
SIGMAS_M = (0.02, 0.05, 0.10)
WRONG = (0.0, 0.05, 0.20)
KINDS = {0: 'kitchens', 2: 'living_rooms', 3: 'bedrooms', 4: 'bathrooms'}

Place = tuple[Scene, Episode, Tour]


def cases(given: Given) -> Iterator[Case]:
    """Rows of the table."""
    grid = [(f, w, s) for f in (True, False) for w in WRONG for s in SIGMAS_M]
    grid += [(True, 0.0, 0.20), (False, 0.0, 0.20)]
    if given.quick:
        grid = [(f, 0.05, s) for f in (True, False) for s in (0.02, 0.10)]
    for features, wrong, sigma in grid:
        name = f'σ {sigma * 100:.0f} cm, {wrong:.0%} wrong labels'
        model = SensorModel(sigma_m=sigma, wrong_label=wrong, features=features)
        make = partial(_make, model, given)
        yield Case('a', name + ('' if features else ', no feature'), make)


def _make(model: SensorModel, given: Given) -> list[Stream]:
    return [tour(place, model, given.seed) for place in places(given.shared, given.quick)]


@functools.cache
def places(shared: Path, quick: bool) -> Sequence[Place]:
    """One episode of each of the 20 rooms, or all 20 that come with the demo; two when quick."""
    data, tours = shared / 'data' / 'ai2thor_roomr', shared / 'bench' / 'roomr' / 'tours.json'
    if not quick and (data / SPLIT).exists() and tours.exists():
        return list(_all_rooms(data, tours))
    rooms = [load_room(name) for name in room_names()]
    pairs = [(room, k) for room in rooms for k in room.episodes]
    if quick:
        pairs = pairs[:: len(pairs) // 2]
    return [(room.scene, room.episode(k), room.tour) for room, k in pairs]


def found(given: Given) -> str:
    """What is missing of the data of this section; empty: nothing."""
    data = given.shared / 'data' / 'ai2thor_roomr' / SPLIT
    return '' if given.quick or data.exists() else f"{data} is absent: only the demo's episodes"


def _all_rooms(data: Path, tours: Path) -> Iterator[Place]:
    """An episode of each room, not the same number: a room's are ordered by how much moves."""
    raw = _BuiltinsOnly(io.BytesIO(gzip.decompress((data / SPLIT).read_bytes()))).load()
    metadata = json.loads(gzip.decompress((data / METADATA).read_bytes()))
    stands = json.loads(tours.read_text())
    for number, (name, episodes) in enumerate(sorted(raw.items())):
        plan = int(name.removeprefix('FloorPlan'))
        inventory = metadata[KINDS[plan // 100]][plan % 100 - 1]
        scene = build_scene(name, inventory, agent_positions(e['agent_position'] for e in episodes))
        index = (number * 7 + 3) % len(episodes)
        tour = tuple(
            [Stand(tuple(r[:3]), math.radians(r[3]), math.radians(r[4])) for r in stands[name][key]]
            for key in ('visit_1', 'visit_2')
        )
        yield scene, build_episode(scene, index, episodes[index]), tour


def tour(place: Place, model: SensorModel, seed: int, offset: Floats | None = None) -> Stream:
    """Both visits of an episode; all of the second is off by the offset, and nobody says so."""
    source = EpisodeStream(*place, model, seed)
    shown = []
    for s in source:
        view = s.view if s.visit == 1 or offset is None else _shifted(s.view, offset)
        shown.append(Shown(view, np.asarray(s.things)))
    truth = source.truth
    counted = (truth.displacement_m < STAYS_M) & ~truth.removed
    boxes = truth.visits[0]
    return Stream(shown, truth.labels, boxes.center, boxes.size, counted)


def _shifted(view: View, offset: Floats) -> View:
    detections = [
        replace(d, center_m=tuple((np.array(d.center_m) + offset).tolist()))
        for d in view.detections
    ]
    pose = view.sensor_pose
    position = tuple((np.array(pose.position_m) + offset).tolist())
    return replace(view, detections=detections, sensor_pose=replace(pose, position_m=position))
