# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated home: the same for a seed, furnished without overlaps, and changed as it says."""

from __future__ import annotations

import math

import pytest

from memory_node.errors import InvalidValueError
from memory_node.sim.home import (
    DRAWER_M,
    DRAWER_OUT_M,
    ELSEWHERE_M,
    FREE_SLOTS,
    KINDS,
    SCREEN_M,
    Home,
    Thing,
    Where,
    fits_in,
)


def overlap(a: Thing, b: Thing) -> bool:
    return all(
        abs(a.center_m[k] - b.center_m[k]) < (a.size_m[k] + b.size_m[k]) / 2 - 1e-9
        for k in range(3)
    )  # fmt: skip


def check_places(home: Home) -> None:
    """Everything stands on the furniture that it says, and nothing in anything else."""
    standing = [t for t in home.things if t.where is Where.STANDING]
    for thing in standing:
        piece = home.furniture[thing.piece]
        assert thing.center_m[2] - thing.size_m[2] / 2 == pytest.approx(piece.size_m[2])
        assert all(abs(piece.center_m[k] - thing.center_m[k]) < piece.size_m[k] / 2 for k in (0, 1))
        assert not any(overlap(thing, other) for other in standing if other is not thing)


def test_things_stand_on_furniture_and_not_in_each_other() -> None:
    home = Home(1)
    assert len(home.things) == 30 and len(home.furniture) == 9
    assert sorted(t.label for t in home.things) == sorted(KINDS)
    check_places(home)


def test_the_same_seed_gives_the_same_home() -> None:
    places = [[t.center_m for t in Home(seed).things] for seed in (1, 1, 2)]
    assert places[0] == places[1] != places[2]


def test_more_things_than_kinds_have_names_of_their_own() -> None:
    home = Home(1, 40)
    assert len({t.name for t in home.things}) == 40 and len({t.label for t in home.things}) == 30
    check_places(home)


@pytest.mark.parametrize('seed', range(5))
def test_what_is_moved_goes_far_enough_and_to_a_free_place(seed: int) -> None:
    home = Home(seed, 45)
    for _ in range(30):
        thing = home.choose()
        assert thing is not None
        before = thing.center_m
        assert home.move(thing)
        assert math.dist(before[:2], thing.center_m[:2]) > ELSEWHERE_M
        check_places(home)
        home.touched = set()


def test_only_what_was_not_touched_is_chosen_and_only_from_where_it_is_asked_for() -> None:
    home = Home(3)
    chosen = set()
    while (thing := home.choose({0, 1})) is not None:
        assert thing.piece in (0, 1)
        chosen.add(thing.name)
        assert home.move(thing, {4, 5}) and thing.piece in (4, 5)
        if len(chosen) == 3:
            break
    assert len(chosen) == 3 == len(home.touched)


def test_what_is_taken_away_comes_back() -> None:
    home = Home(2)
    thing = home.things[4]
    before = thing.center_m
    home.take_away(thing)
    assert thing.where is Where.AWAY and thing.center_m == before and thing.piece == -1
    assert home.bring_back(thing) and thing.where is Where.STANDING
    check_places(home)


def test_a_drawer_carries_what_is_in_it_out_and_in() -> None:
    home = Home(2)
    drawer = home.drawers[0]
    piece = home.furniture[drawer.piece]
    things = [t for t in home.things if fits_in(t.size_m)][:3]
    for thing in things:
        home.stow(thing, drawer)
    shut = [t.center_m for t in things]
    low, high = (piece.center_m[1] - piece.size_m[1] / 2, piece.center_m[1] + piece.size_m[1] / 2)
    assert all(low < y < high for _, y, _ in shut), 'within the sideboard'
    home.set_open(drawer, True)
    for thing, (x, y, z) in zip(things, shut):
        out = piece.out
        assert thing.center_m == pytest.approx(
            (x + DRAWER_OUT_M * out[0], y + DRAWER_OUT_M * out[1], z)
        )
        assert abs(thing.center_m[0] - piece.center_m[0]) < DRAWER_M[0] / 2
    assert not any(overlap(a, b) for a in things for b in things if a is not b)
    assert home.drawer_with(things[1]) is drawer
    assert home.bring_back(things[1])
    assert home.drawer_with(things[1]) is None and things[1].where is Where.STANDING


def test_a_drawer_takes_only_what_fits() -> None:
    home = Home(2)
    drawer = home.drawers[0]
    tall = next(t for t in home.things if t.label == 'bottle')
    with pytest.raises(InvalidValueError, match='drawer: got bottle of'):
        home.stow(tall, drawer)
    small = [t for t in home.things if fits_in(t.size_m)]
    for thing in small[:3]:
        home.stow(thing, drawer)
    with pytest.raises(InvalidValueError, match='beside 3 others, expected at most 3 things'):
        home.stow(small[3], drawer)


def test_a_screen_stands_before_what_it_hides() -> None:
    home = Home(2)
    thing = home.choose(in_front=True)
    assert thing is not None
    home.hide(thing)
    (screen,) = home.screens
    out = home.furniture[thing.piece].out
    ahead = sum((s - t) * o for s, t, o in zip(screen.center_m, thing.center_m, out))
    assert ahead > thing.size_m[1] / 2 + SCREEN_M[1] / 2, 'clear of it'
    assert abs(screen.center_m[0] - thing.center_m[0]) < 1e-9


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ((-1,), 'seed: got -1, expected a whole number of at least 0'),
        ((1, 0), 'things: got 0, expected 1 to '),
        ((1, 60), f'things: got 60, expected 1 to {57 - FREE_SLOTS} for this home'),
    ],
)
def test_what_cannot_be_furnished_is_refused(arguments: tuple[int, ...], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Home(*arguments)
