# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the memory says has changed in a room, against what has: after things were moved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_node.demo.flat import FlatRoom
from memory_node.demo.roomr.streams import Truth
from memory_node.demo.truth import MATCH_M, REPORTED, Thing, things_of
from memory_node.model import Triple

MOVED_M = 0.05
"""A thing has moved when it lies this far from where it was."""


@dataclass(frozen=True)
class Place:
    """An object that has moved, or is gone: centres in metres, map.

    Attributes:
        start_m: where it was. end_m: where it is; None: not there any more.
    """

    object_id: int
    label: str
    start_m: Triple
    end_m: Triple | None = None


@dataclass(frozen=True)
class Changed:
    """A thing that was moved or taken away.

    Attributes:
        end_m: where it is now; None: it was taken away.
        shown: whether the robot can know: the detector reported it there, or nothing hid the empty
            place.
    """

    thing: Thing
    end_m: Triple | None
    shown: bool


@dataclass(frozen=True)
class Verdict:
    """How right the memory is about what moved, or about what is gone.

    Attributes:
        true: things to which it happened and which the robot could know of. said: objects of which
            the memory says so. right: of these, the ones to which it happened.
        found: of the true things, those of which the memory says so.
    """

    true: int
    said: int
    right: int
    found: int

    def __add__(self, other: Verdict) -> Verdict:
        return Verdict(
            self.true + other.true, self.said + other.said, self.right + other.right,
            self.found + other.found,
        )  # fmt: skip


def changed_in(room: FlatRoom, before: Truth, after: Truth) -> list[Changed]:
    """The small things of a room that were moved or taken away, of those that were known.

    Args:
        room: of both. before, after: of its first and of its second visit.
    """
    known, now = things_of(room, before, 1), things_of(room, after, 2)
    found = []
    for k, thing in enumerate(known):
        if not thing.small or thing.reported < REPORTED:
            continue
        if after.removed[k]:
            found.append(Changed(thing, None, bool(after.old_place_clear[k] >= REPORTED)))
        elif after.displacement_m[k] >= MOVED_M:
            found.append(Changed(thing, now[k].center_m, now[k].reported >= REPORTED))
    return found


def moves(changed: Sequence[Changed], said: Sequence[Place]) -> Verdict:
    """Compare what moved with what the memory says moved: from there and to there."""
    return _verdict([c for c in changed if c.end_m is not None], changed, said)


def losses(changed: Sequence[Changed], said: Sequence[Place]) -> Verdict:
    """Compare what was taken away with what the memory calls absent.

    What was moved and not seen again has left its place too: that is right, and not asked for.
    """
    return _verdict([c for c in changed if c.end_m is None], changed, said)


def is_right(place: Place, changed: Iterable[Changed]) -> bool:
    """Whether what the memory says of an object happened to a thing."""
    return any(_is(place, one) for one in changed)


def _verdict(asked: list[Changed], changed: Sequence[Changed], said: Sequence[Place]) -> Verdict:
    right = sum(is_right(place, changed) for place in said)
    shown = [one for one in asked if one.shown]
    found = sum(any(_is(place, one) for place in said) for one in shown)
    return Verdict(len(shown), len(said), right, found)


def _is(place: Place, one: Changed) -> bool:
    """Whether an object is a thing, by its label, where it was, and where it is if that is said."""
    same = place.label == one.thing.label
    same &= math.dist(place.start_m, one.thing.center_m) <= MATCH_M
    if place.end_m is None:
        return same
    return same and one.end_m is not None and math.dist(place.end_m, one.end_m) <= MATCH_M
