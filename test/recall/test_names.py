# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What a text certainly names, and what only reads like it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import memory_node
from memory_node.errors import InvalidValueError
from memory_node.recall.names import KIND, LABEL, NAME, load_names, names_of
from memory_node.recall.words import key

NAMES = load_names()
DATA = Path(memory_node.__file__).parent / 'data'


@pytest.mark.parametrize(
    ('text', 'label', 'score'),
    [
        ('CoffeeMachine', 'CoffeeMachine', LABEL),
        ('coffee machines', 'CoffeeMachine', LABEL),
        ('coffeemachine', 'CoffeeMachine', LABEL),
        ('tv stand', 'TVStand', LABEL),
        ('couch', 'Sofa', NAME),
        ('TVs', 'Television', NAME),
        ('fridge', 'refrigerator', NAME),
        ('trash can', 'GarbageCan', NAME),
        ('knives', 'knife', LABEL),
        ('Äpfel', 'Apple', NAME),
        ('sofá', 'Sofa', LABEL),
        ('Tasse', 'mug', KIND),
        ('杯子', 'Cup', NAME),
        ('table', 'CoffeeTable', KIND),
        ('lamp', 'desk lamp', KIND),
        ('mug', 'red mug', LABEL - 0.05),
        ('red couch', 'big red sofa', NAME - 0.05),
    ],
)
def test_what_is_certain(text: str, label: str, score: float) -> None:
    naming = NAMES.naming(text, label)
    assert naming.certain
    assert naming.score == pytest.approx(score)


@pytest.mark.parametrize(
    ('text', 'label'),
    [
        ('dog', 'DogBed'), ('bed', 'DogBed'), ('towel', 'paper towel'), ('coffee', 'CoffeeMachine'),
        ('red mug', 'mug'), ('red mug', 'blue mug'), ('chair', 'ArmChair'), ('can', 'GarbageCan'),
        ('glass', 'glass table'),
    ],
)  # fmt: skip
def test_what_only_reads_alike(text: str, label: str) -> None:
    naming = NAMES.naming(text, label)
    assert not naming.certain
    assert 0 < naming.score <= 0.8


@pytest.mark.parametrize(
    ('text', 'label'),
    [
        ('able', 'table'), ('cat', 'catalogue'), ('mug', 'smug'), ('', 'mug'), ('mug', ''),
        ('!?', 'mug'), ('cup', 'mug'), ('dog', 'dogma'), ('pen', 'pencil'), ('tab', 'table'),
    ],
)  # fmt: skip
def test_what_is_not_named(text: str, label: str) -> None:
    assert NAMES.naming(text, label).score == 0


def test_every_name_stands_in_one_line_and_is_certain_for_it() -> None:
    listed = yaml.safe_load((DATA / 'labels.yaml').read_text(encoding='utf-8'))['names']
    assert sum(map(len, listed.values())) > 600
    for first, others in listed.items():
        for name in (first, *others):
            assert NAMES.line[key(name)] == key(first)
            assert NAMES.naming(name, first).certain, name


def test_every_kind_is_of_listed_or_plain_labels() -> None:
    for wider, kinds in NAMES.kinds.items():
        assert kinds
        for kind in kinds:
            assert NAMES.naming(wider, kind).certain


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('{names: {sofa: [couch], bed: [Couch]}}', 'in two lines'),
        ('{names: [sofa]}', 'expected names'),
        ('{names: {sofa: couch}}', 'a name with a list'),
        ("{names: {sofa: ['?']}}", 'a name with a list'),
        ('{kinds: {sofa: 3}}', 'a name with a list'),
    ],
)
def test_a_bad_table_is_refused(text: str, expected: str) -> None:
    with pytest.raises(InvalidValueError, match=expected):
        names_of(yaml.safe_load(text), 'x.yaml')


def test_an_own_table_replaces_that_of_the_package(tmp_path) -> None:
    own = tmp_path / 'labels.yaml'
    own.write_text('{names: {gizmo: [doodah]}, kinds: {}}')
    assert load_names(str(own)).naming('doodah', 'gizmo').certain
    assert not load_names(str(own)).naming('couch', 'sofa').certain
    own.write_text('{fallback: {}, groups: []}')
    assert load_names(str(own)).naming('couch', 'sofa').certain, 'it lists no names: ours'
    with pytest.raises(InvalidValueError, match='cannot read'):
        load_names(str(tmp_path / 'none.yaml'))
