# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A furnished home with things on its furniture, which are moved and taken away between tours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memory_node.errors import InvalidValueError, MissingExtraError
from memory_node.model import Triple

ROOMS = ('kitchen', 'living room', 'bedroom')
ROOM_M, WALL_M, WALL_HEIGHT_M, DOOR_M = 4.0, 0.1, 2.2, 1.0
FURNITURE = (
    ('table', (-1.1, -1.4, 0.0), (1.4, 0.7, 0.74)),
    ('desk', (1.2, -1.4, 0.0), (1.2, 0.7, 0.72)),
    ('sideboard', (0.2, 1.6, math.pi), (1.6, 0.45, 0.85)),
)
"""Of each room: label, x, y and where its front faces (0: +y), and width, depth, height."""
KINDS = {
    'mug': (0.09, 0.09, 0.11), 'bottle': (0.08, 0.08, 0.26), 'bowl': (0.16, 0.16, 0.08),
    'book': (0.15, 0.21, 0.06), 'vase': (0.11, 0.11, 0.22), 'radio': (0.22, 0.1, 0.14),
    'alarm clock': (0.12, 0.07, 0.14), 'kettle': (0.17, 0.17, 0.2), 'toaster': (0.24, 0.16, 0.18),
    'candle': (0.08, 0.08, 0.14), 'teddy bear': (0.16, 0.14, 0.2), 'basket': (0.24, 0.18, 0.12),
    'glass': (0.07, 0.07, 0.12), 'teapot': (0.18, 0.14, 0.15), 'jar': (0.1, 0.1, 0.16),
    'can': (0.07, 0.07, 0.12), 'cereal box': (0.2, 0.07, 0.26), 'milk carton': (0.08, 0.08, 0.22),
    'plant': (0.16, 0.16, 0.26), 'camera': (0.14, 0.09, 0.1), 'speaker': (0.12, 0.12, 0.2),
    'pencil cup': (0.09, 0.09, 0.12), 'tissue box': (0.23, 0.12, 0.09), 'lamp': (0.14, 0.14, 0.26),
    'globe': (0.18, 0.18, 0.24), 'piggy bank': (0.14, 0.11, 0.12), 'trophy': (0.1, 0.1, 0.24),
    'hat': (0.24, 0.22, 0.11), 'jug': (0.13, 0.13, 0.22), 'toy car': (0.2, 0.1, 0.08),
}  # fmt: skip
"""Label → width, depth, height."""
GRID_M = 0.28
"""From one place on a piece of furniture to the next."""

WIDTH, HEIGHT, VERTICAL_RAD = 480, 360, math.radians(60.0)
NEAR_M, FAR_M = 0.05, 12.0
FOCAL_PX = HEIGHT / (2 * math.tan(VERTICAL_RAD / 2))
NOISE_M = 0.002
"""Of each measurement of depth, at any distance."""
LEAST_PX = 120
"""A detector reports what shows so many pixels."""
ELSEWHERE_M = 0.6
"""What is moved goes at least so far."""
CLEAR_M = 0.02
"""What is seen so far behind a place is seen through it: flat things lie low."""
EYE_M, AWAY_M = 1.45, 1.25
"""Height of the camera, and how far from the middle of a piece of furniture it stands."""
SIDES_M = (-0.75, -0.25, 0.25, 0.75)
"""How far to the side the robot looks at each piece from."""


@dataclass
class Thing:
    """Something that stands on furniture.

    Attributes:
        body: of the simulation; None: it was taken away.
    """

    label: str
    size_m: Triple
    center_m: Triple
    body: int | None


class Stand(NamedTuple):
    """Where a camera is, and what it looks at, map metres."""

    eye_m: Triple
    target_m: Triple

    @property
    def rotation(self) -> npt.NDArray[np.float64]:
        """(3, 3): columns are the optical axes right, down, forward in the map."""
        forward = np.subtract(self.target_m, self.eye_m)
        forward /= math.sqrt(float((forward * forward).sum()))
        right = np.array([forward[1], -forward[0], 0.0])
        right /= math.sqrt(float((right * right).sum()))
        return np.column_stack([right, np.cross(forward, right), forward])


class Frame(NamedTuple):
    """What a camera sees.

    Attributes:
        depth_m: (H, W). ids: (H, W) bodies of what is reported, 0 elsewhere.
        labels: body → label of what a detector reports.
    """

    stand: Stand
    depth_m: npt.NDArray[np.float32]
    ids: npt.NDArray[np.uint16]
    labels: dict[int, str]


class Home:
    """Rooms in a row, each with a table, a desk and a sideboard; everything follows from a seed."""

    def __init__(self, seed: int, things: int = 30) -> None:
        """Build and furnish it.

        Raises:
            MissingExtraError: pybullet is not installed.
            InvalidValueError: there is not room for so many things.
        """
        try:
            import pybullet
        except ImportError as error:
            raise MissingExtraError(
                'sim', f'the simulated home needs pybullet ({error})', 'pybullet'
            ) from error
        self._bullet: Any = pybullet
        self._client = pybullet.connect(pybullet.DIRECT)
        self._rng = np.random.default_rng([seed, 7])
        self._box((0.0, 0.0, -0.05), (60.0, 60.0, 0.1), 0.6)
        self.furniture: list[Thing] = []
        self._slots: list[Triple] = []
        self._fronts: list[tuple[Thing, float]] = []
        for number in range(len(ROOMS)):
            self._room(number * (ROOM_M + WALL_M))
        if things > len(self._slots) - 10:
            raise InvalidValueError(
                f'things: got {things}, expected at most {len(self._slots) - 10} for this home'
            )
        self._free = [self._slots[k] for k in self._rng.permutation(len(self._slots))]
        labels = list(KINDS)
        self.things = [self._put(labels[k % len(labels)]) for k in range(things)]

    def close(self) -> None:
        """End the simulation."""
        self._bullet.disconnect(physicsClientId=self._client)

    def rearrange(self, moves: int, removals: int) -> list[tuple[Thing, Triple]]:
        """Move some things elsewhere and take others away; return them with where they were."""
        chosen = self._rng.permutation(len(self.things))[: moves + removals].tolist()
        changed = []
        for k in chosen[:moves]:
            thing = self.things[k]
            before = thing.center_m
            far = (s for s in reversed(self._free) if math.dist(s[:2], before[:2]) > ELSEWHERE_M)
            slot = next(far)
            self._free.remove(slot)
            self._free.insert(0, (before[0], before[1], before[2] - thing.size_m[2] / 2))
            thing.center_m = (slot[0], slot[1], slot[2] + thing.size_m[2] / 2)
            self._bullet.resetBasePositionAndOrientation(
                thing.body, thing.center_m, (0, 0, 0, 1), physicsClientId=self._client
            )
            changed.append((thing, before))
        for k in chosen[moves:]:
            thing = self.things[k]
            self._bullet.removeBody(thing.body, physicsClientId=self._client)
            thing.body = None
            changed.append((thing, thing.center_m))
        return changed

    def tour(self) -> list[Stand]:
        """Return where the robot looks from, piece by piece."""
        stands = []
        for piece, facing in self._fronts:
            x, y, _ = piece.center_m
            out = (-math.sin(facing), math.cos(facing))
            along = (math.cos(facing), math.sin(facing))
            for side in SIDES_M:
                eye = (
                    x + AWAY_M * out[0] + side * along[0], y + AWAY_M * out[1] + side * along[1],
                    EYE_M,
                )  # fmt: skip
                stands.append(Stand(eye, (x, y, piece.size_m[2])))
        return stands

    def look(self, stand: Stand) -> Frame:
        """Return what a camera sees from somewhere."""
        bullet = self._bullet
        view = bullet.computeViewMatrix(stand.eye_m, stand.target_m, (0, 0, 1))
        lens = bullet.computeProjectionMatrixFOV(
            math.degrees(VERTICAL_RAD), WIDTH / HEIGHT, NEAR_M, FAR_M
        )
        _, _, _, buffer, bodies = bullet.getCameraImage(
            WIDTH, HEIGHT, view, lens, renderer=bullet.ER_TINY_RENDERER,
            physicsClientId=self._client,
        )  # fmt: skip
        buffer = np.asarray(buffer, np.float64).reshape(HEIGHT, WIDTH)
        depth = FAR_M * NEAR_M / (FAR_M - (FAR_M - NEAR_M) * buffer)
        depth += self._rng.normal(0.0, NOISE_M, depth.shape)
        depth[buffer >= 1.0] = 0.0
        bodies = np.asarray(bodies).reshape(HEIGHT, WIDTH)
        known = {t.body: t.label for t in (*self.furniture, *self.things) if t.body is not None}
        shown, counts = np.unique(bodies, return_counts=True)
        labels = {
            int(body): known[int(body)]
            for body, count in zip(shown, counts)
            if int(body) in known and count >= LEAST_PX
        }
        ids = np.where(np.isin(bodies, list(labels)), bodies, 0).astype(np.uint16)
        return Frame(stand, depth.astype(np.float32), ids, labels)

    def clears(self, frame: Frame, place_m: Triple) -> bool:
        """Whether a frame shows that nothing is at a place: what is behind it is seen.

        Args:
            frame: of `look`. place_m: map.
        """
        x, y, z = (np.subtract(place_m, frame.stand.eye_m) @ frame.stand.rotation).tolist()
        if z <= NEAR_M:
            return False
        u, v = round(x / z * FOCAL_PX + WIDTH / 2), round(y / z * FOCAL_PX + HEIGHT / 2)
        if not (0 <= u < WIDTH and 0 <= v < HEIGHT):
            return False
        return bool(frame.depth_m[v, u] > z + CLEAR_M)

    def _room(self, x: float) -> None:
        half, high = ROOM_M / 2, WALL_HEIGHT_M / 2
        for side in (-1, 1):
            self._box((x, side * (half + WALL_M / 2), high), (ROOM_M, WALL_M, WALL_HEIGHT_M), 0.9)
        wall = (ROOM_M - DOOR_M) / 2
        for side in (-1, 1):
            y = side * (DOOR_M + wall) / 2
            self._box((x - half - WALL_M / 2, y, high), (WALL_M, wall, WALL_HEIGHT_M), 0.9)
        for label, (dx, dy, facing), (width, depth, height) in FURNITURE:
            center = (x + dx, dy, height / 2)
            body = self._box(center, (width, depth, height), 0.4)
            piece = Thing(label, (width, depth, height), center, body)
            self.furniture.append(piece)
            self._fronts.append((piece, facing))
            columns, rows = int((width - 0.1) / GRID_M), max(int((depth - 0.05) / GRID_M), 1)
            for i in range(columns):
                for j in range(rows):
                    self._slots.append((
                        center[0] + (i - (columns - 1) / 2) * GRID_M,
                        center[1] + (j - (rows - 1) / 2) * GRID_M, height,
                    ))  # fmt: skip

    def _put(self, label: str) -> Thing:
        x, y, top = self._free.pop()
        size = KINDS[label]
        center = (x, y, top + size[2] / 2)
        return Thing(label, size, center, self._box(center, size, float(self._rng.random())))

    def _box(self, center: Sequence[float], size: Sequence[float], grey: float) -> int:
        half = [s / 2 for s in size]
        shape = self._bullet.createVisualShape(
            self._bullet.GEOM_BOX, halfExtents=half, rgbaColor=[grey, grey, grey, 1.0],
            physicsClientId=self._client,
        )  # fmt: skip
        return int(self._bullet.createMultiBody(
            0.0, -1, shape, list(center), physicsClientId=self._client
        ))  # fmt: skip
