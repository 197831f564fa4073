# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What is known of classes, and what is wrong with a file that says so."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from views import seen, view

from memory_node import Config, SpatialMemory
from memory_node.errors import InvalidValueError
from memory_node.fusion.classes import ClassColumns, Classes, key_of, load_classes, parse

SMALL = """
fallback: {half_life_h: 10, mobility: movable}
groups:
- half_life_h: 2
  mobility: mobile
  classes: {Tour Guide: [usher]}
- half_life_h: 1000
  mobility: fixed
  container: true
  size_m: [0.1, 2]
  classes: {Locker: []}
"""


def test_a_cup_leaves_sooner_than_a_sofa_and_a_sofa_sooner_than_a_wall() -> None:
    classes = load_classes()
    cup, sofa, wall = (classes.of(label).half_life_h for label in ('cup', 'sofa', 'wall'))
    assert cup < sofa < wall
    assert (classes.of('wall').mobility, classes.of('cup').mobility) == ('fixed', 'movable')
    assert classes.of('never heard of it') == classes.fallback


@pytest.mark.parametrize('label', ['FireExtinguisher', 'fire extinguisher', 'fire_extinguisher'])
def test_spellings_are_one_class(label: str) -> None:
    assert load_classes().of(label).half_life_h == 17520
    assert key_of(label) == 'fireextinguisher'


def test_what_goes_about_is_left_out() -> None:
    left_out = parse(SMALL, 'x').left_out()
    assert {'tour guide', 'tour_guide', 'tourguide', 'usher'} <= left_out
    assert 'locker' not in left_out
    assert {'person', 'dog', 'robot'} <= load_classes().left_out()


def test_a_person_is_not_remembered(tmp_path: Path) -> None:
    with SpatialMemory.open(':memory:') as memory:
        commit = memory.observe(view(1000, seen('Person'), seen('mug', (3, 0, 1))))
        assert [v.reason for v in commit.verdicts] == ['ignored', '']
        assert memory.refusals == {'ignored': 1}
        assert [o.label for o in memory.objects()] == ['mug']


def test_another_file_and_back(tmp_path: Path) -> None:
    path = tmp_path / 'labels.yaml'
    path.write_text(SMALL)
    with SpatialMemory.open(':memory:', Config(labels_file=str(path))) as memory:
        memory.observe(view(1000, seen('usher'), seen('mug'), seen('person', (3, 0, 1))))
        found = {o.label: o.standing.half_life_s for o in memory.objects()}
        assert found == {'mug': 36000.0, 'person': 36000.0}
        path.unlink()
        assert memory.check() == [], 'what held then is in the file'
        memory.configure(Config())
        assert memory.objects()[0].standing.half_life_s == 48 * 3600.0


def test_the_table_survives_being_stored() -> None:
    classes = load_classes()
    again = Classes.from_plain(json.loads(json.dumps(classes.as_plain())))
    assert again.named == dict(classes.named) and again.fallback == classes.fallback


def test_columns_follow_the_labels_also_back() -> None:
    columns, names = ClassColumns(load_classes()), ['mug', 'wall']
    label = np.array([1, 0])
    assert columns.half_life_s(label, names).tolist() == [87600 * 3600.0, 48 * 3600.0]
    assert columns.is_fixed(label, names).tolist() == [True, False]
    columns.forget_from(1)
    assert columns.is_fixed(label, ['mug', 'cup']).tolist() == [False, False]


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('[', 'is no YAML'),
        ('groups: []', 'expected the keys fallback and groups'),
        ('{fallback: {half_life_h: 1, mobility: movable}, groups: 5}', 'expected a list'),
        ('{fallback: {half_life_h: 1}, groups: []}', 'expected half_life_h and mobility'),
        ('{fallback: {half_life_h: 0, mobility: fixed}, groups: []}', 'expected hours above 0'),
        ('{fallback: {half_life_h: .nan, mobility: fixed}, groups: []}', 'hours above 0'),
        ('{fallback: {half_life_h: 1, mobility: slow}, groups: []}', 'expected one of fixed'),
        (SMALL.replace('container: true', 'container: 3'), 'expected true or false'),
        (SMALL.replace('[0.1, 2]', '[2, 0.1]'), 'expected smallest and largest'),
        (SMALL.replace('Locker: []', 'Locker: cupboard'), 'each with a list of other names'),
        (SMALL.replace('container', 'contains'), 'group 2'),
        (SMALL.replace('Locker', 'USHER'), 'expected a label that no earlier group has'),
    ],
)
def test_c_bad_file_says_where(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text(text)
    with pytest.raises(InvalidValueError) as error:
        SpatialMemory.open(':memory:', Config(labels_file=str(path)))
    assert expected in str(error.value)
    assert 'mine.yaml' in str(error.value) and 'got' in str(error.value) or 'YAML' in expected


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match='cannot read'):
        load_classes(str(tmp_path / 'none.yaml'))
