# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the camera sees of the home."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from memory_node.errors import MissingExtraError
from memory_node.sim.home import Home, Piece, Thing, Where, fits_in
from memory_node.sim.people import PERSON
from memory_node.sim.route import Stand, stands_before
from memory_node.sim.scene import HEIGHT, NOISE_M, WIDTH, Frame, Scene

QUIET = np.random.default_rng(0)


def test_without_pybullet_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'pybullet', None)
    with pytest.raises(MissingExtraError, match=r'\[sim\]: pip install pybullet'):
        Scene(Home(1), 0, 0)


@pytest.fixture
def build() -> Iterator[Callable[..., Scene]]:
    """Makes scenes: build(home, people, screens)."""
    pytest.importorskip('pybullet', reason='needs pybullet: scripts/env --with sim')
    made = []

    def make(home: Home, people: int = 0, screens: int = 0) -> Scene:
        made.append(Scene(home, people, screens))
        return made[-1]

    yield make
    for scene in made:
        scene.close()


def above(place: tuple[float, float, float]) -> Stand:
    x, y, z = place
    return Stand((x, y + 0.1, z + 0.7), place)


def shown(scene: Scene, stand: Stand) -> Frame:
    return scene.look(stand, QUIET)


def before(piece: Piece) -> Stand:
    return stands_before(piece)[1]


def test_depth_is_that_of_the_place_it_looks_at(build: Callable[..., Scene]) -> None:
    home = Home(1)
    scene = build(home)
    scene.update()
    thing = home.things[0]
    stand = above(thing.center_m)
    frame = shown(scene, stand)
    assert thing.name in frame.names.values()
    middle = frame.depth_m[HEIGHT // 2, WIDTH // 2]
    assert 0 <= math.dist(stand.eye_m, thing.center_m) - middle < max(thing.size_m)
    assert not frame.clears(thing.center_m, thing.size_m)
    assert frame.color.shape == (HEIGHT, WIDTH, 3) and frame.color.std() > 0
    floor = shown(scene, Stand((0.0, 0.0, 1.0), (0.001, 0.001, 0.0)))
    assert np.median(floor.depth_m) == pytest.approx(1.0, abs=0.01)
    assert 0.5 * NOISE_M < (floor.depth_m - np.median(floor.depth_m)).std() < 2 * NOISE_M


def test_masks_and_names_agree(build: Callable[..., Scene]) -> None:
    home = Home(1)
    scene = build(home)
    scene.update()
    frame = shown(scene, before(home.furniture[0]))
    assert set(np.unique(frame.ids).tolist()) - {0} == set(frame.labels) == set(frame.names)
    assert set(frame.labels.items()) <= set(scene.labels.items())
    assert home.furniture[0].name in frame.names.values()


def test_a_sliver_is_not_taken_for_the_thing(build: Callable[..., Scene]) -> None:
    home = Home(1)
    scene = build(home)
    scene.update()
    table = home.furniture[0]
    x, y, z = table.center_m
    stand = Stand((x, y + 1.25, 1.45), (x + 1.7, y + 0.2, z))
    frame = shown(scene, stand)
    assert table.name not in frame.names.values(), 'its corner is at the border'


def test_what_is_away_or_in_a_closed_drawer_cannot_be_seen(build: Callable[..., Scene]) -> None:
    home = Home(1)
    scene = build(home)
    drawer = home.drawers[0]
    stowed = next(t for t in home.things if fits_in(t.size_m))
    away = next(t for t in home.things if t is not stowed)
    places: list[tuple[Thing, tuple[float, float, float]]] = []
    for thing, act in ((stowed, lambda t: home.stow(t, drawer)), (away, home.take_away)):
        places.append((thing, thing.center_m))
        act(thing)
    scene.update()
    for thing, place in places:
        frame = shown(scene, above(place))
        assert thing.name not in frame.names.values() and frame.clears(place, thing.size_m)
    over = above(stowed.center_m)
    assert stowed.name not in shown(scene, over).names.values()
    home.set_open(drawer, True)
    scene.update()
    x, y, z = stowed.center_m
    frame = shown(scene, Stand((x, y - 0.3, z + 0.7), stowed.center_m))
    assert stowed.name in frame.names.values() and stowed.where is Where.DRAWER


def test_a_screen_hides_what_is_behind_it(build: Callable[..., Scene]) -> None:
    home = Home(1)
    scene = build(home, screens=1)
    thing = home.choose(in_front=True)
    assert thing is not None
    stands = stands_before(home.furniture[thing.piece])
    scene.update()
    assert any(thing.name in shown(scene, stand).names.values() for stand in stands)
    home.hide(thing)
    scene.update()
    frames = [shown(scene, stand) for stand in stands]
    assert not any(thing.name in frame.names.values() for frame in frames)
    assert not any(frame.clears(thing.center_m, thing.size_m) for frame in frames)
    assert any('folding screen' in frame.labels.values() for frame in frames)


def test_people_hide_what_is_behind_them(build: Callable[..., Scene]) -> None:
    home = Home(1)
    scene = build(home, people=1)
    stand = before(home.furniture[0])
    x, y, _ = stand.eye_m
    scene.update([(x, y - 0.7, 0.85)])
    frame = shown(scene, stand)
    hidden = (frame.depth_m < 0.75).mean()
    assert hidden > 0.2
    scene.update([(x, y - 2.0, 0.85)])
    assert PERSON not in shown(scene, stand).labels.values() or hidden > 0.2
    scene.update([(x + 0.2, y + 2.0, 0.85)])
    looking = Stand((x, y, 1.45), (x, y + 2.0, 0.9))
    assert PERSON in shown(scene, looking).labels.values()
