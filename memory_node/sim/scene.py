# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The home in pybullet, on the CPU: what a depth camera with a perfect detector sees of it."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import ConvexHull

from memory_node.errors import MissingExtraError
from memory_node.model import Floats, Triple
from memory_node.sim.home import (
    DOOR_M,
    DRAWER_M,
    DRAWER_WALL_M,
    ROOM_M,
    ROOMS,
    SCREEN,
    SCREEN_M,
    WALL_HEIGHT_M,
    WALL_M,
    Home,
    Where,
    middle_of_room,
)
from memory_node.sim.people import PERSON, PERSON_M
from memory_node.sim.route import Stand

WIDTH, HEIGHT, VERTICAL_RAD = 480, 360, math.radians(60.0)
NEAR_M, FAR_M = 0.05, 12.0
FOCAL_PX = HEIGHT / (2 * math.tan(VERTICAL_RAD / 2))
CENTER_PX = (WIDTH - 1) / 2, (HEIGHT - 1) / 2
NOISE_M = 0.002
"""Of each measurement of depth, at any distance."""
LEAST_PX = 120
LEAST_SHARE = 0.3
"""A detector reports what shows so many pixels, and so much of its outline, the part of that beyond
the border of the image and behind other things included: no sliver is taken for a desk."""
CLEAR_M = 0.02
"""What is seen so far behind a place is seen through it: flat things lie low."""
INNER, CLEAR_SHARE = 0.7, 0.7
"""A place is seen to be empty when so many points of a grid in the inner part of its box are."""
CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
GRID = np.array([(x, y, z) for x in (-0.5, 0, 0.5) for y in (-0.5, 0, 0.5) for z in (-0.5, 0, 0.5)])
CELLAR_M = (0.0, 0.0, -50.0)
"""Where bodies are that are not in the home; the floor hides them."""
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


class Frame(NamedTuple):
    """What a camera sees.

    Attributes:
        depth_m: (H, W), 0: nothing. ids: (H, W) bodies of what is reported, 0 elsewhere.
        color: (H, W, 3). labels: body → label of what a detector reports.
        names: body → unique name of these.
    """

    stand: Stand
    depth_m: npt.NDArray[np.float32]
    ids: npt.NDArray[np.uint16]
    color: npt.NDArray[np.uint8]
    labels: dict[int, str]
    names: dict[int, str]

    def clears(self, center_m: Triple, size_m: Triple) -> bool:
        """Whether it shows that nothing is at a place: what is behind most of it is seen.

        Args:
            center_m, size_m: of the box of what was there, map.
        """
        points = np.array(center_m) + INNER * GRID * size_m
        u, v, away = _projected(points, self.stand)
        inside = (away > NEAR_M) & (u >= 0) & (u < WIDTH) & (v >= 0) & (v < HEIGHT)
        if not inside.any():
            return False
        seen = self.depth_m[v[inside].astype(int), u[inside].astype(int)]
        return int((seen > away[inside] + CLEAR_M).sum()) >= CLEAR_SHARE * len(points)


class Scene:
    """Bodies for all that is, was or will be in a home; close it when it is done with."""

    def __init__(self, home: Home, people: int, screens: int) -> None:
        """Build it.

        Args:
            home: what is shown; `update` follows it. people, screens: how many there may be.

        Raises:
            MissingExtraError: pybullet is not installed.
        """
        try:
            import pybullet
        except ImportError as error:
            raise MissingExtraError(
                'sim', f'the simulated home needs pybullet ({error})', 'pybullet'
            ) from error
        self._bullet: Any = pybullet
        self._client = pybullet.connect(pybullet.DIRECT)
        self._home = home
        self._labels: dict[int, str] = {}
        self._sizes: dict[int, Triple] = {}
        self._at: dict[int, Triple] = {}
        self._names: dict[int, str] = {}
        self._box((0.0, 0.0, -0.05), (60.0, 60.0, 0.1), (0.6, 0.55, 0.5))
        for room in range(len(ROOMS)):
            self._walls(middle_of_room(room)[0])
        for piece in home.furniture:
            body = self._box(piece.center_m, piece.size_m, (0.5, 0.35, 0.2))
            self._labels[body], self._names[body] = piece.label, piece.name
        self._bodies: dict[str, int] = {}
        for k, thing in enumerate(home.things):
            body = self._box(CELLAR_M, thing.size_m, colorsys.hsv_to_rgb(k * 0.618 % 1, 0.7, 0.9))
            self._bodies[thing.name] = body
            self._labels[body], self._names[body] = thing.label, thing.name
        self._drawers = [self._drawer() for _ in home.drawers]
        self._screens = [self._box(CELLAR_M, SCREEN_M, (0.9, 0.9, 0.8)) for _ in range(screens)]
        self._people = [self._box(CELLAR_M, PERSON_M, (0.2, 0.3, 0.6)) for _ in range(people)]
        for label, some in ((SCREEN, self._screens), (PERSON, self._people)):
            self._labels |= dict.fromkeys(some, label)
            self._names |= {body: f'{label} {k + 1}' for k, body in enumerate(some)}

    def close(self) -> None:
        """End the simulation."""
        self._bullet.disconnect(physicsClientId=self._client)

    def update(self, people: Sequence[Triple] = ()) -> None:
        """Put everything where the home has it now, and people where they are."""
        home = self._home
        for thing in home.things:
            self._put(self._bodies[thing.name],
                      CELLAR_M if thing.where is Where.AWAY or self._is_shut(thing.name)
                      else thing.center_m)  # fmt: skip
        for body, drawer in zip(self._drawers, home.drawers):
            self._put(body, home.drawer_center(drawer))
        for k, body in enumerate(self._screens):
            self._put(body, home.screens[k].center_m if k < len(home.screens) else CELLAR_M)
        for body, place in zip(self._people, people):
            self._put(body, place)

    def look(self, stand: Stand, noise: np.random.Generator) -> Frame:
        """Return what a camera sees from somewhere.

        Args:
            stand: where it is. noise: of its depth.
        """
        bullet = self._bullet
        view = bullet.computeViewMatrix(stand.eye_m, stand.target_m, (0, 0, 1))
        lens = bullet.computeProjectionMatrixFOV(
            math.degrees(VERTICAL_RAD), WIDTH / HEIGHT, NEAR_M, FAR_M
        )
        _, _, color, buffer, bodies = bullet.getCameraImage(
            WIDTH, HEIGHT, view, lens, renderer=bullet.ER_TINY_RENDERER, shadow=0,
            physicsClientId=self._client,
        )  # fmt: skip
        buffer = np.asarray(buffer, np.float64).reshape(HEIGHT, WIDTH)
        depth = FAR_M * NEAR_M / (FAR_M - (FAR_M - NEAR_M) * buffer)
        depth += noise.normal(0.0, NOISE_M, depth.shape)
        depth[buffer >= 1.0] = 0.0
        bodies = np.asarray(bodies).reshape(HEIGHT, WIDTH)
        shown, counts = np.unique(bodies, return_counts=True)
        labels = {
            body: self._labels[body]
            for body, count in zip(shown.tolist(), counts.tolist())
            if body in self._labels and count >= max(LEAST_PX, self._least_px(body, stand))
        }
        ids = np.where(np.isin(bodies, list(labels)), bodies, 0).astype(np.uint16)
        names = {body: self._names[body] for body in labels}
        pixels = np.asarray(color, np.uint8).reshape(HEIGHT, WIDTH, 4)[..., :3].copy()
        return Frame(stand, depth.astype(np.float32), ids, pixels, labels, names)

    @property
    def labels(self) -> dict[int, str]:
        """Body → label of all that a detector knows."""
        return dict(self._labels)

    def _is_shut(self, name: str) -> bool:
        """Whether a thing lies in a closed drawer, which is as one with its piece."""
        return any(
            not d.is_open and any(t.name == name for t in d.contents) for d in self._home.drawers
        )

    def _least_px(self, body: int, stand: Stand) -> float:
        """Of how many pixels something must show to be known for what it is."""
        corners = np.array(self._at[body]) + CORNERS * self._sizes[body]
        u, v, away = _projected(corners, stand)
        if (away <= NEAR_M).any():
            return float(WIDTH * HEIGHT)  # it is beside the camera
        return LEAST_SHARE * float(ConvexHull(np.column_stack([u, v])).volume)

    def _put(self, body: int, place_m: Triple) -> None:
        if self._at.get(body) != place_m:
            self._at[body] = place_m
            self._bullet.resetBasePositionAndOrientation(
                body, place_m, UPRIGHT, physicsClientId=self._client
            )

    def _walls(self, x: float) -> None:
        half, high, color = ROOM_M / 2, WALL_HEIGHT_M / 2, (0.9, 0.9, 0.85)
        for side in (-1, 1):
            size = (ROOM_M, WALL_M, WALL_HEIGHT_M)
            self._box((x, side * (half + WALL_M / 2), high), size, color)
        wall = (ROOM_M - DOOR_M) / 2
        for side in (-1, 1):
            y = side * (DOOR_M + wall) / 2
            self._box((x - half - WALL_M / 2, y, high), (WALL_M, wall, WALL_HEIGHT_M), color)

    def _drawer(self) -> int:
        """A drawer: bottom and four sides, of which the front is whatever looks into the room."""
        width, depth, height = DRAWER_M
        wall = DRAWER_WALL_M
        parts: list[tuple[Triple, Triple]] = [
            ((width, depth, wall), (0.0, 0.0, (wall - height) / 2)),
            ((width, wall, height), (0.0, (depth - wall) / 2, 0.0)),
            ((width, wall, height), (0.0, (wall - depth) / 2, 0.0)),
            ((wall, depth, height), ((width - wall) / 2, 0.0, 0.0)),
            ((wall, depth, height), ((wall - width) / 2, 0.0, 0.0)),
        ]
        return self._body(CELLAR_M, parts, (0.55, 0.4, 0.25))

    def _box(self, center: Triple, size: Triple, color: Triple) -> int:
        return self._body(center, [(size, (0.0, 0.0, 0.0))], color)

    def _body(
        self, center: Triple, parts: Sequence[tuple[Triple, Triple]], color: Triple
    ) -> int:  # fmt: skip
        bullet = self._bullet
        shape = bullet.createVisualShapeArray(
            shapeTypes=[bullet.GEOM_BOX] * len(parts),
            halfExtents=[[s / 2 for s in size] for size, _ in parts],
            visualFramePositions=[list(place) for _, place in parts],
            rgbaColors=[[*color, 1.0]] * len(parts), physicsClientId=self._client,
        )  # fmt: skip
        body = int(bullet.createMultiBody(
            0.0, -1, shape, list(center), physicsClientId=self._client
        ))  # fmt: skip
        self._sizes[body], self._at[body] = parts[0][0], center
        return body


def _projected(points_m: Floats, stand: Stand) -> tuple[Floats, Floats, Floats]:
    """Column, row and distance along the optical axis of points of the map; (N,) each."""
    across, down, away = (np.subtract(points_m, stand.eye_m) @ stand.rotation).T
    scale = FOCAL_PX / np.maximum(away, NEAR_M)
    return across * scale + WIDTH / 2, down * scale + HEIGHT / 2, away
