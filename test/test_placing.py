# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Regions as they are told, changed, removed, replayed and purged (CH-32)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from views import seen, view

from memory_node import Query, SpatialMemory
from memory_node.errors import InvalidValueError
from memory_node.model import ChangeKind
from memory_node.store.repair import repair

ROOM = ((0, 0, 0), (4, 4, 3))
OTHER = ((6, 0, 0), (9, 4, 3))


@pytest.fixture
def memory() -> Iterator[SpatialMemory]:
    with SpatialMemory.open(':memory:') as opened:
        yield opened
        assert opened.check() == []


def contents(memory: SpatialMemory, region: str) -> set[str]:
    return {hit.object.label for hit in memory.query(Query(region=region))}


def fill(memory: SpatialMemory) -> None:
    things = [seen('mug', (1, 1, 1)), seen('lamp', (7, 1, 1)), seen('bench', (20, 1, 1))]
    for second in (0, 2):
        memory.observe(view(1000 + second, *things))


def test_ch_32_made_redefined_in_place_and_it_adopts_what_is_in_it(memory: SpatialMemory) -> None:
    fill(memory)
    before = {obj.id: obj.region for obj in memory.objects()}
    assert set(before.values()) == {''}
    [line] = memory.set_region('Kitchen', 'room', ROOM, reason='drawn', actor='Ann').changes
    assert (line.kind, line.object_id, line.actor, line.reason) == (
        ChangeKind.REGION, None, 'Ann', 'drawn',
    )  # fmt: skip
    assert line.before == {} and line.after['name'] == 'Kitchen'
    assert contents(memory, 'kitchen') == {'mug'}
    [line] = memory.set_region('KITCHEN', 'place', OTHER).changes
    assert line.before['kind'] == 'room' and line.after['kind'] == 'place'
    [region] = memory.regions()
    assert (region.name, region.kind, region.seq) == ('KITCHEN', 'place', memory.seq)
    assert contents(memory, 'kitchen') == {'lamp'}
    assert {obj.label: obj.region for obj in memory.objects()} == {
        'mug': '', 'lamp': 'KITCHEN', 'bench': '',
    }  # fmt: skip


def test_saying_the_same_again_writes_nothing(memory: SpatialMemory) -> None:
    memory.set_region('room', 'room', ROOM)
    seq = memory.seq
    commit = memory.set_region('room', 'room', ROOM)
    assert (commit.changes, commit.seq, memory.seq) == ((), seq, seq)


def test_region_of_a_point(memory: SpatialMemory) -> None:
    memory.set_region('room', 'room', ROOM)
    memory.set_region('corner', 'place', ((0, 0, 0), (1, 1, 1)), parent='room')
    for point, name in (((0.5, 0.5, 0.5), 'corner'), ((3, 3, 1), 'room')):
        found = memory.region_of(point)
        assert found is not None and found.name == name
    assert memory.region_of((5, 5, 5)) is None
    assert memory.region_of((3, 3, 1), 'upstairs') is None
    with pytest.raises(InvalidValueError, match='point_m'):
        memory.region_of((0, float('nan'), 0))


def test_what_is_part_of_a_region_is_found_in_it_wherever_it_lies(memory: SpatialMemory) -> None:
    fill(memory)
    memory.set_region('house', 'floor', ROOM)
    memory.set_region('garage', 'room', OTHER, parent='HOUSE')
    memory.set_region('street', 'place', ((15, 0, 0), (25, 4, 3)))
    assert contents(memory, 'house') == {'mug', 'lamp'}
    assert contents(memory, 'garage') == {'lamp'}
    assert contents(memory, 'street') == {'bench'}


def test_ch_31_removing_one_with_parts_gives_them_to_what_it_was_part_of(
    memory: SpatialMemory,
) -> None:
    fill(memory)
    memory.set_region('town', 'place', ((-50, -50, 0), (-49, -49, 1)))
    memory.set_region('house', 'floor', ROOM, parent='town')
    memory.set_region('garage', 'room', OTHER, parent='house')
    memory.set_region('cellar', 'room', ((0, 0, -3), (4, 4, 0)), parent='House')
    lines = memory.remove_region('HOUSE').changes
    assert [line.after['name'] for line in lines] == ['house', 'cellar', 'garage']
    assert {r.name: r.parent for r in memory.regions()} == {
        'town': '', 'garage': 'town', 'cellar': 'town',
    }  # fmt: skip
    assert contents(memory, 'town') == {'lamp'}
    with pytest.raises(InvalidValueError, match='expected one of cellar, garage, town'):
        memory.remove_region('house')
    memory.set_region('house', 'floor', ROOM)
    assert contents(memory, 'house') == {'mug'}


def test_no_region_lies_in_itself_or_in_nothing(memory: SpatialMemory) -> None:
    memory.set_region('a', 'room', ROOM)
    memory.set_region('b', 'room', OTHER, parent='a')
    memory.set_region('c', 'room', OTHER, parent='b')
    for name, parent, words in (
        ('a', 'a', 'a in a'), ('a', 'c', 'a in c in b in a'), ('d', 'e', "got 'e'"),
    ):  # fmt: skip
        with pytest.raises(InvalidValueError, match=rf'^parent: .*{words}'):
            memory.set_region(name, 'room', ROOM, parent=parent)
    assert [r.name for r in memory.regions()] == ['a', 'b', 'c']


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'name': ''}, 'name'),
        ({'name': 'a\x00b'}, 'name'),
        ({'name': 'x' * 200}, 'name'),
        ({'name': None}, 'name'),
        ({'kind': ''}, 'kind'),
        ({'box_m': None}, 'either box_m or polygon_m'),
        ({'polygon_m': ((0, 0), (1, 0), (1, 1))}, 'either box_m or polygon_m'),
        ({'low_m': 0.0}, 'low_m'),
        ({'box_m': ((0, 0, 0), (0, 1, 1))}, 'box_m'),
        ({'parent': 5}, 'parent'),
        ({'map_id': 5}, 'map_id'),
        ({'actor': 'perception'}, 'actor'),
    ],
)
def test_bad_values_are_refused_by_name(
    memory: SpatialMemory, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidValueError, match=words):
        memory.set_region(**{'name': 'room', 'kind': 'room', 'box_m': ROOM, **given})
    assert (memory.regions(), memory.seq) == ([], 0)


def test_each_map_has_regions_of_its_own(memory: SpatialMemory) -> None:
    memory.observe(view(1000, seen('mug', (1, 1, 1)), map_id='up'))
    memory.set_region('hall', 'room', ROOM, map_id='down')
    assert contents(memory, 'hall') == set()
    memory.set_region('hall', 'room', ROOM)
    assert {(r.name, r.map_id) for r in memory.regions()} == {('hall', 'down'), ('hall', 'up')}
    assert contents(memory, 'hall') == {'mug'}
    memory.remove_region('hall')
    assert [r.map_id for r in memory.regions()] == ['down']


def test_they_are_there_after_opening_rebuilding_and_in_every_change(tmp_path: Path) -> None:
    path = str(tmp_path / 'a.db')
    with SpatialMemory.open(path) as memory:
        memory.set_region('room', 'room', ROOM)
        memory.set_region('gone', 'room', OTHER)
        memory.remove_region('gone')
        [created] = memory.observe(view(1000, seen('mug', (1, 1, 1)))).changes
        assert created.object is not None and created.object.region == 'room'
        memory.forget(1)
        assert memory.object(1).region == 'room', 'where it was'
        memory.restore(1)
        regions, before = memory.regions(), memory.snapshot_hash()
    with SpatialMemory.open(path) as memory:
        assert (memory.regions(), memory.snapshot_hash()) == (regions, before)
        assert contents(memory, 'room') == {'mug'}
        assert [obj.region for obj in memory.page()] == ['room']
        memory.rebuild()
        assert (memory.regions(), memory.snapshot_hash()) == (regions, before)
        assert memory.check() == []


def test_a_repair_saves_them(tmp_path: Path) -> None:
    path, saved = str(tmp_path / 'a.db'), str(tmp_path / 'b.db')
    with SpatialMemory.open(path) as memory:
        memory.set_region('house', 'floor', ROOM)
        memory.set_region('attic', 'room', ((0, 0, 3), (4, 4, 5)), parent='house')
        fill(memory)
        memory.remove_region('house')
        expected = memory.regions(), memory.snapshot_hash()
    with apsw.Connection(path) as file:
        file.execute("UPDATE region SET name = 'vault'")
        file.execute("UPDATE object SET label = 'vase'")
    repair(path, saved)
    with SpatialMemory.open(saved) as memory:
        assert (memory.regions(), memory.snapshot_hash()) == expected
        assert memory.check() == []


def test_check_notices_a_region_that_no_line_says(memory: SpatialMemory) -> None:
    memory.set_region('room', 'room', ROOM)
    memory._database.rows("UPDATE region SET name = 'vault'")
    assert any('region is not what the log gives' in found for found in memory.check())
    memory.rebuild()


def test_a_region_with_a_name_that_has_to_go_is_purged(memory: SpatialMemory) -> None:
    memory.set_region("Anna's room", 'room', ROOM)
    memory.set_region('Anna', 'room', OTHER)
    memory.set_region('hall', 'room', OTHER, actor='Anna')
    memory.observe(view(1000, seen('mug', (1, 1, 1))))
    memory.purge(person='Anna')
    assert [r.name for r in memory.regions()] == ["Anna's room"]
    assert 'hall' not in str(memory.changes())
    memory.set_region('hall', 'room', OTHER)


def test_a_file_of_regions(memory: SpatialMemory, tmp_path: Path) -> None:
    path = tmp_path / 'house.yaml'
    path.write_text(
        'regions:\n'
        '- {name: ground floor, kind: floor, box_m: [[0, 0, 0], [10, 10, 3]]}\n'
        '- {name: kitchen, kind: room, parent: ground floor, low_m: 0, high_m: 3,\n'
        '   polygon_m: [[0, 0], [4, 0], [4, 2], [2, 2], [2, 4], [0, 4]]}\n'
    )
    memory.set_region('shed', 'room', OTHER)
    assert len(memory.load_regions(str(path))) == 2
    assert [r.name for r in memory.regions()] == ['ground floor', 'kitchen', 'shed']
    found = memory.region_of((3, 3, 1))
    assert found is not None and found.name == 'ground floor'
    assert memory.load_regions(str(path)) == [], 'what is so already is not said again'


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('', 'the key regions'),
        ('regions: 5', 'the key regions'),
        ('[', 'no YAML'),
        ('regions: [kitchen]', 'region 1: got'),
        ('regions: [{kind: room}]', 'region 1: got'),
        ('regions: [{name: a, colour: red}]', 'region 1: got'),
        ('regions: [{name: a}]', 'region 1: region: expected either'),
        ('regions: [{name: a, box_m: [[0, 0, 0], [1, 1, .nan]]}]', 'region 1: box_m'),
        ('regions: [{name: a, parent: b, box_m: [[0, 0, 0], [1, 1, 1]]}]', 'region 1: parent'),
    ],
)
def test_a_file_that_says_something_else_is_refused_by_place(
    memory: SpatialMemory, tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / 'bad.yaml'
    path.write_text(text)
    with pytest.raises(InvalidValueError, match=f'regions_file.*{words}'):
        memory.load_regions(str(path))
    with pytest.raises(InvalidValueError, match='cannot read'):
        memory.load_regions(str(tmp_path / 'none.yaml'))
