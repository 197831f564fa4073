# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Rooms, objects and episodes of the RoomR data in a right-handed, z-up map frame.

The data are in Unity's frame: left-handed, y up, metres; Euler angles in degrees, R = Ry Rx Rz.
A Unity point (x, y, z) is the map point (z, -x, y).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_node.demo.roomr.keyed import stable_hash
from memory_node.model import Floats

Raw = Mapping[str, Any]
"""An object, a pose or an episode as it is in the data (Unity frame)."""

MAP_FROM_UNITY = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
STRUCTURE = frozenset({'Floor', 'Wall', 'Ceiling'})
SEE_THROUGH = frozenset({'Window', 'Mirror', 'Painting', 'LightSwitch', 'ShowerGlass', 'Rug'})
CONTAINERS = frozenset({'Fridge', 'Microwave', 'Drawer', 'Cabinet', 'Safe'})
CLOSED_BELOW = 0.1
"""A container less open than this hides what has its centre inside its box."""
REMOVED_SHARE = 0.1
"""Share of the objects taken away before the second visit."""
MIN_OCCLUDER_EXTENT_M = 0.3
MIN_OCCLUDER_VOLUME_M3 = 0.02
AGENT_BAND_M = (0.1, 1.4)
"""Heights between which a box around an agent position is no solid thing."""
SHELL_BOTTOM_M = -0.05


@dataclass(frozen=True, eq=False)
class Boxes:
    """Map-aligned boxes: lo and hi corners, both (N, 3) metres."""

    lo: Floats
    hi: Floats

    @property
    def center(self) -> Floats:
        """(N, 3) metres, map."""
        return (self.lo + self.hi) / 2

    @property
    def size(self) -> Floats:
        """(N, 3) side lengths, metres."""
        return self.hi - self.lo

    def __len__(self) -> int:
        return len(self.lo)

    def __getitem__(self, index: Any) -> Boxes:
        return Boxes(self.lo[index], self.hi[index])

    def contain(self, points: Floats, margin_m: float = 0.0) -> npt.NDArray[np.bool_]:
        """Return (P, N) bool: point p lies in box n grown by the margin."""
        p = points[:, None]
        inside: npt.NDArray[np.bool_] = np.all(
            (p >= self.lo - margin_m) & (p <= self.hi + margin_m), axis=2
        )
        return inside


@dataclass(frozen=True, eq=False)
class Episode:
    """Things that can be carried, at visit 1 and visit 2, sorted by name.

    Attributes:
        displacement_m: (N,) metres between the places of the two visits.
        removed: (N,) bool, taken away before visit 2.
        openness: of each visit, container name → 0 (closed) to 1.
    """

    id: str
    names: list[str]
    labels: list[str]
    visit_1: Boxes
    visit_2: Boxes
    displacement_m: Floats
    removed: npt.NDArray[np.bool_]
    openness: tuple[dict[str, float], dict[str, float]]


@dataclass(frozen=True, eq=False)
class Scene:
    """The fixed part of a room. Furniture is all that cannot be carried, structure left out.

    Attributes:
        inventory: all objects in the default state (Unity frame).
        labels: what a detector may say in this room, sorted.
        occluders: large opaque furniture.
        default_openness: (C,) of the containers, 0 to 1.
        agents: (A, 2) map x, y at which an agent has stood, metres.
        shell: (1,) box of the whole room.
    """

    name: str
    inventory: Sequence[Raw]
    labels: list[str]
    furniture_names: list[str]
    furniture_labels: list[str]
    furniture: Boxes
    occluders: Boxes
    container_names: list[str]
    containers: Boxes
    default_openness: Floats
    agents: Floats
    shell: Boxes

    def closed(self, openness: Mapping[str, float]) -> npt.NDArray[np.bool_]:
        """Return (C,) bool: containers that hide their content, as an episode opens them."""
        defaults = zip(self.container_names, self.default_openness, strict=True)
        values = [openness.get(name, default) for name, default in defaults]
        shut: npt.NDArray[np.bool_] = np.array(values, dtype=float) < CLOSED_BELOW
        return shut


def vector(d: Mapping[str, float]) -> Floats:
    """Return (3,) of a mapping with x, y, z."""
    return np.array([d['x'], d['y'], d['z']], dtype=float)


def to_map(points: Floats) -> Floats:
    """Return (..., 3) Unity points as map points, metres."""
    turned: Floats = points @ MAP_FROM_UNITY.T
    return turned


def unity_rotation(euler_deg: Mapping[str, float]) -> Floats:
    """Return the (3, 3) rotation in Unity's frame, R = Ry Rx Rz."""
    x, y, z = np.radians(vector(euler_deg))
    cx, sx, cy, sy, cz, sz = np.cos(x), np.sin(x), np.cos(y), np.sin(y), np.cos(z), np.sin(z)
    rx = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    ry = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    rz = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    rotation: Floats = ry @ rx @ rz
    return rotation


def default_box(item: Raw) -> Boxes:
    """Return the (1,) map-aligned box of an object in the default state."""
    box = item['axisAlignedBoundingBox']
    center = to_map(vector(box['center']))
    half = np.abs(to_map(vector(box['size']))) / 2
    return Boxes((center - half)[None], (center + half)[None])


def local_corners(item: Raw) -> Floats:
    """Return (8, 3) corners of the tightest known box in the object's own (Unity) frame."""
    box = item['objectOrientedBoundingBox'] or item['axisAlignedBoundingBox']
    corners = np.array(box['cornerPoints'], dtype=float)
    local: Floats = (corners - vector(item['position'])) @ unity_rotation(item['rotation'])
    return local


def posed_box(item: Raw, pose: Raw) -> Boxes:
    """Return the (1,) map-aligned box of an object carried to a pose {position, rotation}."""
    rotation = unity_rotation(pose['rotation'])
    corners = to_map(local_corners(item) @ rotation.T + vector(pose['position']))
    return Boxes(corners.min(axis=0)[None], corners.max(axis=0)[None])


def stack(boxes: Sequence[Boxes]) -> Boxes:
    """Return the boxes as one."""
    if not boxes:
        return Boxes(np.zeros((0, 3)), np.zeros((0, 3)))
    return Boxes(np.concatenate([b.lo for b in boxes]), np.concatenate([b.hi for b in boxes]))


def build_scene(name: str, items: Sequence[Raw], agents: Floats) -> Scene:
    """Return the fixed part of a room.

    Args:
        name: FloorPlanN.
        items: all its objects in the default state (Unity frame).
        agents: see agent_positions.
    """
    fixed = [o for o in items if not o['pickupable'] and o['objectType'] not in STRUCTURE]
    containers = [o for o in fixed if o['objectType'] in CONTAINERS]
    everything = stack([default_box(o) for o in items])
    return Scene(
        name=name,
        inventory=items,
        labels=sorted({o['objectType'] for o in items} - STRUCTURE),
        furniture_names=[o['name'] for o in fixed],
        furniture_labels=[o['objectType'] for o in fixed],
        furniture=stack([default_box(o) for o in fixed]),
        occluders=_occluders(fixed, agents),
        container_names=[o['name'] for o in containers],
        containers=stack([default_box(o) for o in containers]),
        default_openness=np.array([o['openness'] if o['isOpen'] else 0.0 for o in containers]),
        agents=agents,
        shell=_shell(everything),
    )


def agent_positions(positions: Iterable[Mapping[str, float]]) -> Floats:
    """Return (A, 2) map x, y of the Unity positions, to the millimetre, sorted."""
    points = {(round(p['z'], 3) + 0.0, round(-p['x'], 3) + 0.0) for p in positions}
    return np.array(sorted(points), dtype=float)


def _occluders(fixed: Sequence[Raw], agents: Floats) -> Boxes:
    """Boxes of large opaque furniture, without those in which an agent has stood."""
    boxes = stack([default_box(o) for o in fixed if o['objectType'] not in SEE_THROUGH])
    size = boxes.size
    large = np.sort(size, axis=1)[:, 1] >= MIN_OCCLUDER_EXTENT_M
    large &= size.prod(axis=1) >= MIN_OCCLUDER_VOLUME_M3
    x, y = agents[:, 0, None], agents[:, 1, None]
    around = (
        (x > boxes.lo[:, 0]) & (x < boxes.hi[:, 0]) & (y > boxes.lo[:, 1]) & (y < boxes.hi[:, 1])
    )
    at_body = (boxes.lo[:, 2] < AGENT_BAND_M[1]) & (boxes.hi[:, 2] > AGENT_BAND_M[0])
    return boxes[large & ~(around.any(axis=0) & at_body)]


def _shell(everything: Boxes) -> Boxes:
    """(1,) box of the whole room: walls at the outermost things, floor just below zero."""
    lo, hi = everything.lo.min(axis=0), everything.hi.max(axis=0)
    lo[2] = SHELL_BOTTOM_M
    return Boxes(lo[None], hi[None])


def build_episode(scene: Scene, index: int, raw: Raw) -> Episode:
    """Return one episode: visit 1 in the target poses, visit 2 in the starting poses.

    Args:
        scene: the room.
        index: number of the episode in the room's split; removals hang on it.
        raw: the episode in the data.
    """
    items = {o['name']: o for o in scene.inventory}
    before = {p['name']: p for p in raw['target_poses']}
    after = {p['name']: p for p in raw['starting_poses']}
    names = sorted(before)
    shift = [vector(before[n]['position']) - vector(after[n]['position']) for n in names]
    episode_id = f'{scene.name}/{index:02d}'
    return Episode(
        id=episode_id,
        names=names,
        labels=[items[n]['objectType'] for n in names],
        visit_1=stack([posed_box(items[n], before[n]) for n in names]),
        visit_2=stack([posed_box(items[n], after[n]) for n in names]),
        displacement_m=np.linalg.norm(np.array(shift).reshape(-1, 3), axis=1),
        removed=np.array([is_removed(episode_id, n) for n in names], dtype=bool),
        openness=(
            {q['name']: q['target_openness'] for q in raw['openable_data']},
            {q['name']: q['start_openness'] for q in raw['openable_data']},
        ),
    )


def is_removed(episode_id: str, name: str) -> bool:
    """Return whether the thing is taken away before visit 2: the same for every seed."""
    return stable_hash('removed', episode_id, name) < REMOVED_SHARE * 2**64
