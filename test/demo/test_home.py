# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated home: the same for a seed, furnished without overlaps, and changed as it says."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from memory_node.demo.home import KINDS, NOISE_M, Home, Stand
from memory_node.errors import InvalidValueError, MissingExtraError


def test_without_pybullet_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'pybullet', None)
    with pytest.raises(MissingExtraError, match=r'\[sim\]: pip install pybullet'):
        Home(1)


@pytest.fixture
def home() -> Iterator[Home]:
    pytest.importorskip('pybullet', reason='needs pybullet: scripts/env --with sim')
    home = Home(1)
    yield home
    home.close()


def test_things_stand_on_furniture_and_not_in_each_other(home: Home) -> None:
    assert len(home.things) == 30 and len(home.furniture) == 9
    assert sorted(t.label for t in home.things) == sorted(KINDS)
    for thing in home.things:
        (under,) = [
            piece for piece in home.furniture
            if all(abs(piece.center_m[k] - thing.center_m[k]) < piece.size_m[k] / 2 for k in (0, 1))
        ]  # fmt: skip
        assert thing.center_m[2] - thing.size_m[2] / 2 == pytest.approx(under.size_m[2])
        for other in home.things:
            apart = [abs(thing.center_m[k] - other.center_m[k]) for k in (0, 1)]
            sides = [(thing.size_m[k] + other.size_m[k]) / 2 for k in (0, 1)]
            assert other is thing or any(a >= s for a, s in zip(apart, sides))


def test_the_same_seed_gives_the_same_home_and_pictures(home: Home) -> None:
    again, other = Home(1), Home(2)
    assert [t.center_m for t in again.things] == [t.center_m for t in home.things]
    assert [t.center_m for t in other.things] != [t.center_m for t in home.things]
    stand = home.tour()[0]
    assert (home.look(stand).depth_m == again.look(stand).depth_m).all()
    again.close()
    other.close()


def test_depth_is_that_of_the_place_it_looks_at(home: Home) -> None:
    thing = home.things[0]
    x, y, z = thing.center_m
    stand = Stand((x, y + 0.4, z + 0.5), thing.center_m)
    frame = home.look(stand)
    assert frame.labels[thing.body or 0] == thing.label
    middle = frame.depth_m[frame.depth_m.shape[0] // 2, frame.depth_m.shape[1] // 2]
    assert 0 <= math.dist(stand.eye_m, thing.center_m) - middle < max(thing.size_m)
    assert np.linalg.det(stand.rotation) == pytest.approx(1.0)
    assert NOISE_M > 0 and not home.clears(frame, thing.center_m)


def test_what_is_moved_or_taken_away_leaves_its_place(home: Home) -> None:
    where = {t.label: t.center_m for t in home.things}
    changed = home.rearrange(6, 3)
    assert len({thing.label for thing, _ in changed}) == 9
    assert sum(thing.body is None for thing, _ in changed) == 3
    for thing, before in changed:
        assert before == where[thing.label]
        x, y, z = before
        frame = home.look(Stand((x, y + 0.1, z + 0.6), before))
        assert thing.body is None or thing.body not in frame.labels
        assert home.clears(frame, before)
    others = {t.label for t in home.things} - {thing.label for thing, _ in changed}
    assert all(t.center_m == where[t.label] for t in home.things if t.label in others)


def test_more_things_than_there_is_room_for_are_refused() -> None:
    pytest.importorskip('pybullet', reason='needs pybullet: scripts/env --with sim')
    with pytest.raises(InvalidValueError, match='things: got 60'):
        Home(1, things=60)
