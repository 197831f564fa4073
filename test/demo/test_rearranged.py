# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the memory says has changed, against what has."""

from __future__ import annotations

import math

import pytest

from memory_node.demo.flat import furnish
from memory_node.demo.rearranged import (
    MOVED_M,
    Changed,
    Place,
    Verdict,
    changed_in,
    is_right,
    losses,
    moves,
)
from memory_node.demo.truth import Thing

HERE, THERE, ELSEWHERE = (0.0, 0.0, 1.0), (2.0, 0.0, 1.0), (5.0, 0.0, 1.0)


def thing(label: str, place: tuple[float, float, float] = HERE) -> Thing:
    return Thing(label, place, (0.1, 0.1, 0.1), True, 5)


CARRIED = Changed(thing('cup'), THERE, True)
UNSEEN = Changed(thing('pen', ELSEWHERE), HERE, False)
TAKEN = Changed(thing('bowl', THERE), None, True)
EVERYTHING = [CARRIED, UNSEEN, TAKEN]


def test_a_move_is_right_when_it_begins_and_ends_where_the_thing_did() -> None:
    assert is_right(Place(1, 'cup', HERE, THERE), EVERYTHING)
    assert not is_right(Place(1, 'cup', HERE, ELSEWHERE), EVERYTHING)
    assert not is_right(Place(1, 'cup', ELSEWHERE, THERE), EVERYTHING)
    assert not is_right(Place(1, 'mug', HERE, THERE), EVERYTHING)
    assert not is_right(Place(1, 'bowl', THERE, HERE), EVERYTHING), 'it was taken away'


def test_what_left_its_place_is_rightly_gone_wherever_it_went() -> None:
    assert is_right(Place(1, 'bowl', THERE), EVERYTHING)
    assert is_right(Place(1, 'pen', ELSEWHERE), EVERYTHING)
    assert not is_right(Place(1, 'bowl', HERE), EVERYTHING)


def test_moves_and_losses_are_counted_apart() -> None:
    said = [Place(1, 'cup', HERE, THERE), Place(2, 'cup', HERE, ELSEWHERE)]
    assert moves(EVERYTHING, said) == Verdict(true=1, said=2, right=1, found=1)
    gone = [Place(3, 'pen', ELSEWHERE)]
    assert losses(EVERYTHING, gone) == Verdict(true=1, said=1, right=1, found=0)
    assert moves(EVERYTHING, []) + losses(EVERYTHING, []) == Verdict(2, 0, 0, 0)


@pytest.mark.parametrize('room', furnish(), ids=lambda room: room.room.name)
def test_only_small_things_that_were_known_have_changed(room) -> None:
    stream = room.stream(1)
    stream.visit(1)
    before = stream.truth
    stream.visit(2)
    changed = changed_in(room, before, stream.truth)
    assert changed, 'something was'
    for one in changed:
        assert one.thing.small and one.thing.reported >= 2
        if one.end_m is not None:
            assert math.dist(one.thing.center_m, one.end_m) >= MOVED_M - 1e-9
