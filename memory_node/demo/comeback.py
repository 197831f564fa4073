# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The robot comes back to rooms that were rearranged: what moved, what is gone, what is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spatial_memory.msg import Hit, MemoryObject

from memory_node.demo.client import KNOWN, MemoryClient, center_of
from memory_node.demo.flat import FlatRoom
from memory_node.demo.messages import nanoseconds
from memory_node.demo.rearranged import Changed, Place, Verdict, changed_in, losses, moves
from memory_node.demo.report import Report
from memory_node.errors import SpatialMemoryError

BLIND = (
    MemoryObject.CHECK_OCCLUDED, MemoryObject.CHECK_OUT_OF_RANGE, MemoryObject.CHECK_NO_EVIDENCE,
)  # fmt: skip
"""Looks that say nothing."""
LEAST_RIGHT = 0.5
"""The demo fails when less of what the memory says moved, or of what moved, is right. It is a few
things only: `bench/roomr` measures it on a thousand episodes."""


class ComebackError(SpatialMemoryError):
    """The memory did not notice what was changed."""


@dataclass(frozen=True)
class Seen:
    """What the memory says after the second visit.

    Attributes:
        moved, gone: objects of which it says so. unknown: objects whose place no look could tell of
            on this visit.
    """

    moved: Sequence[Place]
    gone: Sequence[Place]
    unknown: Sequence[Hit]


def rearrangement(rooms: Sequence[FlatRoom], seed: int) -> list[Changed]:
    """What was moved or taken away in some rooms between the two visits."""
    changed: list[Changed] = []
    for room in rooms:
        stream = room.stream(seed)
        stream.visit(1)
        before = stream.truth
        stream.visit(2)
        changed += changed_in(room, before, stream.truth)
    return changed


def asked(client: MemoryClient, since_ns: int) -> Seen:
    """Ask the memory what has changed.

    Args:
        client: that emptied `moved` before the visit. since_ns: when the visit began.
    """
    hits, _ = client.query(states=KNOWN)
    labels = {int(hit.object.id): hit.object.label for hit in hits}
    moved = [
        Place(number, labels[number], start, end)
        for number, (start, end) in sorted(client.moved.items()) if number in labels
    ]  # fmt: skip
    gone, unknown = [], []
    for hit in hits:
        thing = hit.object
        if thing.state == MemoryObject.STATE_ABSENT:
            gone.append(Place(int(thing.id), thing.label, center_of(thing)))
        elif nanoseconds(thing.last_checked) < since_ns or thing.last_check in BLIND:
            unknown.append(hit)
    return Seen(moved, gone, unknown)


def told(report: Report, seen: Seen, changed: Sequence[Changed]) -> None:
    """Print it, beside the truth.

    Raises:
        ComebackError: too little of it is right.
    """
    report.question('What has moved, and where to?', 'changes', '(kind MOVED)')
    report.places(seen.moved, changed)
    report.question('What is gone?', 'query', '{states: [absent]}')
    report.places(seen.gone, changed)
    report.question('What could it not look at?', 'query', '{} (last_check, last_checked)')
    report.unchecked(seen.unknown)
    verdicts: Mapping[str, Verdict] = {
        'moved': moves(changed, seen.moved), 'gone': losses(changed, seen.gone),
    }  # fmt: skip
    report.question('Is that so? Against what was rearranged:')
    report.verdicts(verdicts)
    one = verdicts['moved']
    if one.right < LEAST_RIGHT * one.said or one.found < LEAST_RIGHT * one.true:
        raise ComebackError(
            f'of {one.true} things that moved {one.found} were noticed, and of {one.said} said '
            f'to have moved {one.right} have'
        )
