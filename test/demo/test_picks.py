# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What is asked is chosen from the data, for every episode and several seeds."""

from __future__ import annotations

from collections import Counter

import pytest

from memory_node.demo.flat import FlatRoom, furnish, tour
from memory_node.demo.picks import (
    LOOKS_AGAIN,
    rests_on,
    thing_to_find,
    thing_to_forget,
    thing_to_look_on,
)
from memory_node.demo.truth import REPORTED, Thing, things_of
from memory_node.errors import SpatialMemoryError


def truths(rooms: list[FlatRoom], seed: int) -> dict[str, list[Thing]]:
    found = {}
    for room in rooms:
        stream = room.stream(seed)
        stream.visit(1)
        found[room.room.name] = things_of(room, stream.truth)
    return found


@pytest.mark.parametrize('episode', range(5))
def test_questions_are_about_things_that_were_reported(episode: int) -> None:
    rooms = furnish(episode=episode)
    things = truths(rooms, seed=1)
    labels = Counter(t.label for inside in things.values() for t in inside)
    _, single = thing_to_find(things)
    assert labels[single.label] == 1 and single.small and single.reported >= REPORTED
    holder = thing_to_look_on(things)
    assert not holder.small
    assert any(rests_on(t, holder) for inside in things.values() for t in inside)


@pytest.mark.parametrize('episode', range(5))
@pytest.mark.parametrize('kind', ['kitchen', 'living room', 'bedroom', 'bathroom'])
def test_the_forgotten_thing_is_reported_again_but_too_rarely_to_come_back(
    episode: int, kind: str
) -> None:
    rooms = furnish([kind], episode)
    things = truths(rooms, seed=1)
    target = thing_to_forget(rooms, things, seeds=(2, 3))
    thing = things[rooms[0].room.name][target.index]
    assert thing.small and thing.reported >= REPORTED
    again = 0
    for seed in (2, 3):
        looks = tour(rooms, seed=seed, looks=target.looks)
        counts = [int((look.shown.things == target.index).sum()) for look in looks]
        assert counts == [1] * LOOKS_AGAIN
        again += sum(counts)
    assert again < 5


def test_resting_is_judged_by_the_boxes() -> None:
    table = Thing('Table', (0.0, 0.0, 0.4), (1.0, 1.0, 0.8), False, 3)

    def mug(x: float, z: float, reported: int = 3, small: bool = True) -> Thing:
        return Thing('Mug', (x, 0.0, z), (0.1, 0.1, 0.1), small, reported)

    assert rests_on(mug(0.0, 0.85), table)
    assert not rests_on(mug(0.6, 0.85), table)
    assert not rests_on(mug(0.0, 1.2), table)
    assert not rests_on(mug(0.0, 0.85, reported=1), table)
    assert not rests_on(mug(0.0, 0.85, small=False), table)


def test_rooms_without_anything_to_ask_say_so() -> None:
    twice = {'room': [Thing('Mug', (0.0, 0.0, 0.0), (0.1, 0.1, 0.1), True, 5)] * 2}
    with pytest.raises(SpatialMemoryError, match='whose label no other has'):
        thing_to_find(twice)
    with pytest.raises(SpatialMemoryError, match='no furniture'):
        thing_to_look_on(twice)
