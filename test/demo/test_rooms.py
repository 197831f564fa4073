# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The rooms that come with the demo: complete, small, attributed, and cut by the script."""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_node.demo.roomr.rooms import DATA, ROOMS, TOURS, load_room, room_names
from memory_node.errors import InvalidValueError

PROJECT = Path(__file__).resolve().parents[2]
SOURCE = PROJECT.parent / 'shared' / 'data' / 'ai2thor_roomr'
KINDS = ('kitchen', 'living room', 'bedroom', 'bathroom')


def cutter() -> Any:
    """bench/cut_roomr_subset.py as a module."""
    path = PROJECT / 'bench' / 'cut_roomr_subset.py'
    spec = importlib.util.spec_from_file_location('cut_roomr_subset', path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def packed_rooms() -> Any:
    return json.loads(gzip.decompress((DATA / ROOMS).read_bytes()))


def test_one_room_of_each_kind_with_five_episodes_and_both_tours() -> None:
    rooms = [load_room(name) for name in room_names()]
    assert tuple(room.kind for room in rooms) == KINDS
    for room in rooms:
        assert sorted(room.episodes) == [0, 1, 2, 3, 4]
        assert [len(visit) for visit in room.tour] == [10, 10]
        assert load_room(room.kind) is not None
        assert load_room(room.kind).name == room.name


@pytest.mark.parametrize('name', room_names())
def test_every_pose_has_its_object_and_every_box_an_extent(name: str) -> None:
    room = load_room(name)
    names = [item['name'] for item in room.scene.inventory]
    assert len(set(names)) == len(names)
    for episode in room.episodes.values():
        assert set(episode.names) <= set(names)
        for boxes in (room.scene.furniture, episode.visit_1, episode.visit_2):
            assert np.isfinite(boxes.center).all() and (boxes.size >= 0).all()
    for stand in room.tour[0] + room.tour[1]:
        assert room.scene.shell.contain(np.array([stand.position_m]), margin_m=0.5).all()


def test_a_room_or_an_episode_that_is_not_there_is_named() -> None:
    with pytest.raises(InvalidValueError, match=r"room: got 'cellar', expected one of FloorPlan23"):
        load_room('cellar')
    with pytest.raises(InvalidValueError, match=r'episode: got 7, expected one of \[0, 1'):
        load_room('kitchen').episode(7)


def test_it_is_small_and_its_origin_and_licences_are_beside_it() -> None:
    files = {path.name: path.stat().st_size for path in DATA.iterdir() if path.is_file()}
    assert sum(files.values()) < 300_000
    assert set(files) == {ROOMS, TOURS, 'README.md', *cutter().LICENCES}
    for licence in cutter().LICENCES:
        assert 'Apache License' in (DATA / licence).read_text()
    readme = (DATA / 'README.md').read_text()
    for word in ('7fcf881b09ddd88be37ee87bbeea319c01e62bc4', 'cut_roomr_subset.py', 'Apache-2.0'):
        assert word in readme


def test_it_is_what_the_script_cuts_out_of_the_data_set() -> None:
    if not (SOURCE / 'roomr_2022_val.pkl.gz').exists():
        pytest.skip(f'the data set is not at {SOURCE}')
    assert cutter().cut(SOURCE) == packed_rooms()
    for licence in cutter().LICENCES:
        assert (SOURCE / licence).read_bytes() == (DATA / licence).read_bytes()
    tours = json.loads((PROJECT.parent / 'shared/bench/roomr/tours.json').read_text())
    ours = json.loads((DATA / TOURS).read_text())
    assert ours == {name: tours[name] for name in room_names()}
