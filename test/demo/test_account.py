# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What happened in the simulated home, and what of it could be known."""

from __future__ import annotations

import math

import pytest

from memory_node.demo.account import (
    DRAWER,
    STANDING,
    Account,
    Departure,
    errors_m,
    median_m,
    wrongly_gone,
)
from memory_node.demo.rearranged import Place, losses, moves
from memory_node.demo.truth import Remembered
from memory_node.model import Triple
from memory_node.sim.world import FURNITURE, SCREENS, Real

HERE, THERE, DRAWER_AT, OUT = (0.0, 0.0, 1.0), (2.0, 0.0, 1.0), (0.0, 0.3, 0.7), (0.0, 0.9, 0.7)
SIDEBOARD = (0.0, 0.3, 0.4)
SIZE = (0.1, 0.1, 0.1)
LEFT_NS = 50


def thing(place: Triple, observable: bool, state: str = STANDING, name: str = 'cup') -> Real:
    return Real(name, name, state, place, SIZE, observable)


def departure(act: str, clear: bool, by_robot: bool = False, at_ns: int = LEFT_NS) -> Departure:
    return Departure('cup', 'cup', act, by_robot, at_ns, HERE, clear)


def told(*images: tuple[list[Real], list[Departure]]) -> Account:
    account = Account()
    for number, (shown, left) in enumerate(images):
        account.add(number, shown)
        account.leave(number, left)
    return account


SEEN = ([thing(HERE, True)], [])
UNSEEN = ([thing(HERE, False)], [])


def test_a_thing_counts_when_two_images_showed_it_where_it_stands() -> None:
    assert told(SEEN, UNSEEN).objects() == 0
    account = told(SEEN, SEEN, UNSEEN)
    assert account.objects() == 1 and account.things()[0].center_m == HERE
    others = [thing(THERE, True, FURNITURE, 'table'), thing(THERE, True, SCREENS, 'screen')]
    assert told((others, []), (others, [])).objects() == 2
    assert told((others, []), (others, [])).things() == []


@pytest.mark.parametrize(
    ('before', 'clear', 'again', 'shown'),
    [(2, 2, 2, True), (1, 2, 2, False), (2, 1, 2, False), (2, 2, 1, False)],
)
def test_a_move_can_be_known_when_both_places_were_seen(
    before: int, clear: int, again: int, shown: bool
) -> None:
    account = told(
        *[SEEN] * before,
        *[([thing(THERE, False)], [departure('move', True)])] * clear,
        *[([thing(THERE, True)], [departure('move', False)])] * again,
    )
    (changed,) = account.changed()
    assert (changed.end_m, changed.shown) == (THERE, shown)
    assert moves([changed], [Place(1, 'cup', HERE, THERE)]).right == 1
    believed = before >= 2 > clear
    assert account.objects() == (again >= 2) + believed, 'not seen to be gone is there, for all'


def test_a_removal_can_be_known_when_its_place_was_seen_empty() -> None:
    gone = ([thing(HERE, False, 'away')], [departure('remove', True)])
    account = told(SEEN, SEEN, gone, gone)
    (changed,) = account.changed()
    assert (changed.end_m, changed.shown) == (None, True) and account.objects() == 0
    verdict = losses([changed], [Place(1, 'cup', HERE)])
    assert (verdict.true, verdict.found, verdict.right) == (1, 1, 1)
    assert wrongly_gone(account, [Place(1, 'cup', HERE)]) == []


def test_what_was_seen_in_an_open_drawer_may_be_told_in_steps() -> None:
    account = told(
        SEEN, SEEN,
        ([thing(OUT, True, DRAWER)], [departure('stow', True)]),
        ([thing(DRAWER_AT, False, DRAWER)], [departure('stow', True)]),
    )  # fmt: skip
    changed = account.changed()
    assert [c.shown for c in changed].count(True) == 1, 'it is asked for once'
    assert moves(changed, [Place(1, 'cup', HERE, OUT)]).right == 1
    assert losses(changed, [Place(1, 'cup', OUT), Place(2, 'cup', HERE)]).right == 2
    assert losses(changed, [Place(1, 'cup', THERE)]).right == 0


def test_what_the_robot_put_away_itself_is_still_known_and_not_asked_for() -> None:
    board = thing(SIDEBOARD, True, FURNITURE, 'sideboard')
    left = [departure('stow', True, by_robot=True)]
    stowed = ([thing(DRAWER_AT, False, DRAWER), board], left)
    account = told(SEEN, SEEN, stowed, stowed)
    assert account.objects() == 2, 'the sideboard, and what is in it'
    (changed,) = account.changed()
    assert not changed.shown and changed.end_m == SIDEBOARD
    assert moves([changed], [Place(1, 'cup', HERE, SIDEBOARD)]).right == 1


def test_what_is_hidden_must_not_be_called_gone() -> None:
    account = told(SEEN, SEEN, UNSEEN, UNSEEN)
    assert wrongly_gone(account, [Place(1, 'cup', HERE)]) == [Place(1, 'cup', HERE)]
    assert wrongly_gone(account, [Place(1, 'cup', THERE)]) == [], 'nothing is there'
    assert losses(account.changed(), [Place(1, 'cup', HERE)]).right == 0


def test_what_has_no_object_is_infinitely_far_off() -> None:
    account = told(SEEN, SEEN)
    held = [Remembered('cup', (0.03, 0.04, 1.0)), Remembered('mug', HERE)]
    errors = errors_m(account.things(), held)
    assert errors == pytest.approx([0.05]) and median_m(errors) == pytest.approx(0.05)
    assert errors_m(account.things(), held[1:]) == [math.inf] and median_m([]) == math.inf
