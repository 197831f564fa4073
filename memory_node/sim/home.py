# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A furnished home of several rooms, and where its things are: on furniture, in drawers, away."""

from __future__ import annotations

import enum
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from memory_node.errors import InvalidValueError
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
FREE_SLOTS = 12
"""Places that stay free at least, so that things can be moved."""
ELSEWHERE_M = 0.6
"""What is moved goes at least so far."""

SCREEN, SCREEN_M, SCREEN_EDGE_M = 'folding screen', (0.6, 0.02, 0.4), 0.03
"""Stands along the front edge of a piece, so far from it, and hides what is behind it."""
DRAWER_M, DRAWER_WALL_M, DRAWER_OUT_M = (0.7, 0.36, 0.2), 0.015, 0.34
"""A drawer, its walls, and how far it is pulled out."""
DRAWER_TOP_M, DRAWER_PROUD_M = 0.05, 0.01
"""Below the top of its piece; its front stands out from that of the piece."""
DRAWER_HOLDS, DRAWER_GRID_M = 3, 0.225
"""Things side by side, and from one to the next."""


class Where(str, enum.Enum):
    """Where a thing is."""

    STANDING, DRAWER, AWAY = 'standing', 'drawer', 'away'


@dataclass
class Piece:
    """A piece of furniture, or what stands on it for a while.

    Attributes:
        name: unique.
        facing_rad: where its front faces; 0: +y. center_m, size_m: of its box; the size along the
            front, across it, and upright.
    """

    name: str
    label: str
    room: int
    size_m: Triple
    center_m: Triple
    facing_rad: float

    @property
    def out(self) -> tuple[float, float]:
        """Unit vector from its front into the room."""
        return -math.sin(self.facing_rad), math.cos(self.facing_rad)


@dataclass
class Thing:
    """Something that people put here and there.

    Attributes:
        name: unique. center_m: of its box, also of where it was last when it is away.
        piece: number of the furniture it is on or in; -1: away.
    """

    name: str
    label: str
    size_m: Triple
    center_m: Triple
    piece: int
    where: Where = Where.STANDING


@dataclass
class Drawer:
    """In a piece of furniture.

    Attributes:
        piece: its number. contents: what lies in it, in order of their places.
    """

    piece: int
    is_open: bool = False
    contents: list[Thing] = field(default_factory=list)


class Slot(NamedTuple):
    """Where a thing can stand: its bottom, map metres. in_front: nothing stands before it."""

    place_m: Triple
    piece: int
    in_front: bool


class Home:
    """Rooms in a row, each with a table, a desk and a sideboard; everything follows from a seed.

    Attributes:
        furniture, things, drawers, screens: what there is. slots: where things can stand.
        touched: names of the things that are left alone by `choose`, as something has happened to
            them; whoever begins a new round empties it.
    """

    def __init__(self, seed: int, things: int = 30) -> None:
        """Furnish it.

        Raises:
            InvalidValueError: the seed is negative, or there is not room for so many things.
        """
        if seed < 0:
            raise InvalidValueError(f'seed: got {seed}, expected a whole number of at least 0')
        self._rng = np.random.default_rng([seed, 7])
        self.furniture: list[Piece] = []
        self.slots: list[Slot] = []
        for number in range(len(ROOMS)):
            self._furnish(number)
        self.drawers = [Drawer(k) for k, p in enumerate(self.furniture) if p.label == 'sideboard']
        self.screens: list[Piece] = []
        most = len(self.slots) - FREE_SLOTS
        if not 1 <= things <= most:
            raise InvalidValueError(f'things: got {things}, expected 1 to {most} for this home')
        self._free = [self.slots[k] for k in self._rng.permutation(len(self.slots)).tolist()]
        self.things = [self._placed(k) for k in range(things)]
        self.touched: set[str] = set()

    def choose(self, pieces: Collection[int] = (), *, in_front: bool = False) -> Thing | None:
        """Return one of the things that stand and were not touched; None: there is none.

        Args:
            pieces: only on these; empty: on any. in_front: only where nothing stands before it.
        """
        front = {s.place_m[:2] for s in self.slots if s.in_front}
        fit = [
            t for t in self.things
            if t.where is Where.STANDING and t.name not in self.touched
            and (not pieces or t.piece in pieces)
            and (not in_front or t.center_m[:2] in front)
        ]  # fmt: skip
        return fit[int(self._rng.integers(len(fit)))] if fit else None

    def move(self, thing: Thing, pieces: Collection[int] = ()) -> bool:
        """Put a thing elsewhere, on some pieces; return whether there is a place for it."""
        slot = self._free_slot(thing.center_m, pieces)
        if slot is None:
            return False
        self._leave(thing)
        self._stand(thing, slot)
        return True

    def take_away(self, thing: Thing) -> None:
        """Take a thing out of the home."""
        self._leave(thing)
        thing.where, thing.piece = Where.AWAY, -1
        self.touched.add(thing.name)

    def stow(self, thing: Thing, drawer: Drawer) -> None:
        """Put a thing into a drawer.

        Raises:
            InvalidValueError: it does not fit, or the drawer is full.
        """
        if not fits_in(thing.size_m) or len(drawer.contents) >= DRAWER_HOLDS:
            raise InvalidValueError(
                f'drawer: got {thing.name} of {thing.size_m} m beside {len(drawer.contents)} '
                f'others, expected at most {DRAWER_HOLDS} things that fit into it'
            )
        self._leave(thing)
        thing.where, thing.piece = Where.DRAWER, drawer.piece
        drawer.contents.append(thing)
        self.touched.add(thing.name)
        self._settle(drawer)

    def set_open(self, drawer: Drawer, is_open: bool) -> None:
        """Open or close a drawer; what is in it comes along."""
        drawer.is_open = is_open
        self._settle(drawer)

    def bring_back(self, thing: Thing) -> bool:
        """Put what is away or in a drawer on furniture; return whether there is a place for it."""
        slot = self._free_slot(thing.center_m, ())
        if slot is None:
            return False
        self._leave(thing)
        self._stand(thing, slot)
        return True

    def hide(self, thing: Thing) -> None:
        """Put a folding screen before a thing that stands in front."""
        piece = self.furniture[thing.piece]
        out = piece.out
        off = piece.size_m[1] / 2 - SCREEN_EDGE_M
        along = (thing.center_m[0] - piece.center_m[0]) * abs(math.cos(piece.facing_rad))
        center = (
            piece.center_m[0] + along + off * out[0], piece.center_m[1] + off * out[1],
            piece.size_m[2] + SCREEN_M[2] / 2,
        )  # fmt: skip
        self.touched.add(thing.name)
        name = f'{SCREEN} {len(self.screens) + 1}'
        self.screens.append(Piece(name, SCREEN, piece.room, SCREEN_M, center, piece.facing_rad))

    def drawer_center(self, drawer: Drawer) -> Triple:
        """Return the middle of a drawer as it is now, map metres."""
        piece = self.furniture[drawer.piece]
        out = piece.out
        off = piece.size_m[1] / 2 + DRAWER_PROUD_M - DRAWER_M[1] / 2
        off += DRAWER_OUT_M if drawer.is_open else 0.0
        return (
            piece.center_m[0] + off * out[0], piece.center_m[1] + off * out[1],
            piece.size_m[2] - DRAWER_TOP_M - DRAWER_M[2] / 2,
        )  # fmt: skip

    def drawer_with(self, thing: Thing) -> Drawer | None:
        """Return the drawer in which a thing is."""
        return next((d for d in self.drawers if thing in d.contents), None)

    def _leave(self, thing: Thing) -> None:
        """Take a thing from where it is; its place is used again last."""
        drawer = self.drawer_with(thing)
        if drawer is not None:
            drawer.contents.remove(thing)
            self._settle(drawer)
        elif thing.where is Where.STANDING:
            slot = next(s for s in self.slots if s.place_m[:2] == thing.center_m[:2])
            self._free.insert(0, slot)

    def _stand(self, thing: Thing, slot: Slot) -> None:
        self._free.remove(slot)
        x, y, top = slot.place_m
        thing.center_m, thing.piece = (x, y, top + thing.size_m[2] / 2), slot.piece
        thing.where = Where.STANDING
        self.touched.add(thing.name)

    def _free_slot(self, from_m: Triple, pieces: Collection[int]) -> Slot | None:
        return next(
            (
                s for s in reversed(self._free)
                if math.dist(s.place_m[:2], from_m[:2]) > ELSEWHERE_M
                and (not pieces or s.piece in pieces)
            ),
            None,
        )  # fmt: skip

    def _settle(self, drawer: Drawer) -> None:
        """Things in a drawer stand side by side on its bottom."""
        x, y, z = self.drawer_center(drawer)
        bottom = z - DRAWER_M[2] / 2 + DRAWER_WALL_M
        for k, thing in enumerate(drawer.contents):
            aside = (k % 2 * 2 - 1) * DRAWER_GRID_M * ((k + 1) // 2)
            thing.center_m = (x + aside, y, bottom + thing.size_m[2] / 2)

    def _placed(self, number: int) -> Thing:
        labels = list(KINDS)
        label = labels[number % len(labels)]
        again = number // len(labels)
        slot = self._free.pop()
        x, y, top = slot.place_m
        size = KINDS[label]
        name = f'{label} {again + 1}' if again else label
        return Thing(name, label, size, (x, y, top + size[2] / 2), slot.piece)

    def _furnish(self, room: int) -> None:
        x = room * (ROOM_M + WALL_M)
        for label, (dx, dy, facing), size in FURNITURE:
            center = (x + dx, dy, size[2] / 2)
            name = f'{label} {room + 1}'
            self.furniture.append(Piece(name, label, room, size, center, facing))
            number = len(self.furniture) - 1
            self.slots += _slots_of(self.furniture[number], number)


def fits_in(size_m: Triple) -> bool:
    """Whether a thing fits into a drawer."""
    width, depth, height = size_m
    inside = (DRAWER_GRID_M, DRAWER_M[1] - 2 * DRAWER_WALL_M, DRAWER_M[2] - 2 * DRAWER_WALL_M)
    return width < inside[0] and depth < inside[1] and height < inside[2]


def middle_of_room(room: int) -> Triple:
    """Return the middle of the floor of a room, map metres."""
    return room * (ROOM_M + WALL_M), 0.0, 0.0


def _slots_of(piece: Piece, number: int) -> Iterable[Slot]:
    width, depth, height = piece.size_m
    columns, rows = int((width - 0.1) / GRID_M), max(int((depth - 0.05) / GRID_M), 1)
    for i in range(columns):
        for j in range(rows):
            off = (j - (rows - 1) / 2) * GRID_M
            place = (
                piece.center_m[0] + (i - (columns - 1) / 2) * GRID_M, piece.center_m[1] + off,
                height,
            )  # fmt: skip
            yield Slot(place, number, off * piece.out[1] >= 0)
