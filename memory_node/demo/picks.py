# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What to ask the memory about: chosen from the data set, never from what the memory holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memory_node.demo.flat import FlatRoom
from memory_node.demo.roomr.streams import Shown
from memory_node.demo.truth import REPORTED, Thing
from memory_node.errors import SpatialMemoryError

REST_GAP_M = 0.1
"""A thing rests on another when its bottom is this close to the other's top."""
LOOKS_AGAIN = 2
"""Looks at the forgotten thing in each of the two short tours: together fewer than the five that
may bring it back."""

Things = Mapping[str, Sequence[Thing]]
"""Name of the room → its things."""


@dataclass(frozen=True)
class Target:
    """A thing to forget.

    Attributes:
        room: where it is.
        index: of the thing in the room.
        looks: numbers of the looks of the tour in which the detector will report it again,
            whichever of the seeds is used.
    """

    room: FlatRoom
    index: int
    looks: tuple[int, ...]


def thing_to_find(things: Things) -> tuple[str, Thing]:
    """Return the room and the thing whose label no other has, that was reported most often.

    Things that can be carried come first.
    """
    labels = Counter(thing.label for room in things.values() for thing in room)
    single = [
        (room, thing)
        for room, inside in things.items()
        for thing in inside
        if labels[thing.label] == 1 and thing.reported >= REPORTED
    ]
    if not single:
        raise SpatialMemoryError('these rooms hold no thing whose label no other has')
    return max(single, key=lambda pair: (pair[1].small, pair[1].reported))


def thing_to_look_on(things: Things) -> Thing:
    """Return the piece of furniture on which most things rest; a single label wins a tie."""
    labels = Counter(thing.label for room in things.values() for thing in room)
    counts = [
        (sum(rests_on(small, thing) for small in inside), labels[thing.label] == 1, thing)
        for inside in things.values()
        for thing in inside
        if not thing.small and thing.reported >= REPORTED
    ]
    if not counts:
        raise SpatialMemoryError('no furniture was reported twice in these rooms')
    return max(counts, key=lambda row: row[:2])[2]


def rests_on(small: Thing, thing: Thing) -> bool:
    """Return whether a carried thing was reported and stands on the top of another."""
    if not small.small or small.reported < REPORTED:
        return False
    apart = np.abs(np.subtract(small.center_m, thing.center_m))
    inside = bool((apart[:2] <= np.array(thing.size_m[:2]) / 2).all())
    bottom = small.center_m[2] - small.size_m[2] / 2
    top = thing.center_m[2] + thing.size_m[2] / 2
    return inside and abs(bottom - top) <= REST_GAP_M


def thing_to_forget(rooms: Sequence[FlatRoom], things: Things, seeds: Sequence[int]) -> Target:
    """Return a thing that can be carried and will be reported again on short tours.

    Its label is the only one in its room, so that whatever has it at this place is this thing.

    Args:
        rooms: the flat.
        things: what the first tour saw.
        seeds: of the short tours.
    """
    for room in rooms:
        inside = things[room.room.name]
        labels = Counter(thing.label for thing in inside)
        tours = [room.stream(seed).visit(1) for seed in seeds]
        for index, thing in enumerate(inside):
            if not thing.small or labels[thing.label] > 1 or thing.reported < REPORTED:
                continue
            looks = _looks_at(index, tours)
            if len(looks) >= LOOKS_AGAIN:
                return Target(room, index, looks[:LOOKS_AGAIN])
    raise SpatialMemoryError('no thing in these rooms would be reported again on short tours')


def _looks_at(index: int, tours: Sequence[Sequence[Shown]]) -> tuple[int, ...]:
    """Numbers of the looks in which each of the tours reports a thing."""
    return tuple(
        k for k in range(len(tours[0])) if all((shown[k].things == index).any() for shown in tours)
    )
