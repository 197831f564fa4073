# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The part `relations` of labels.yaml: what it says, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from memory_node.errors import InvalidValueError
from memory_node.fusion.classes import Classes, load_classes, parse
from memory_node.scene.roles import ROLES, Roles

HEAD = 'fallback: {half_life_h: 1, mobility: movable}\ngroups:\n'
GROUP = '- {half_life_h: 1, mobility: movable, classes: {sofa: [couch], towel: [hand towel]}}\n'


def roles(text: str) -> Roles:
    return parse(f'{HEAD}{GROUP}relations: {text}\n', 'mine.yaml').roles


def test_what_is_said_of_a_class_holds_of_its_other_names() -> None:
    found = roles('{beds: [sofa], hooks: {rail: [towel]}, parts: {cushion: [sofa]}}')
    assert found.of_label == {'sofa': ROLES['beds'], 'couch': ROLES['beds'],
                              'rail': ROLES['hooks']}  # fmt: skip
    assert found.hung == {'rail': {'towel', 'handtowel'}}
    assert found.wholes == {'cushion': {'sofa', 'couch'}}


def test_another_name_may_be_said_otherwise() -> None:
    found = roles('{beds: [sofa], bare: [couch]}').of_label
    assert (found['sofa'], found['couch']) == (ROLES['beds'], ROLES['bare'])


def test_a_file_without_relations_knows_none() -> None:
    assert parse(HEAD + GROUP, 'mine.yaml').roles == Roles()


def test_what_comes_with_the_package() -> None:
    of_label = load_classes().roles.of_label
    for label, word in (
        ('countertop', 'tables'), ('couch', 'beds'), ('refrigerator', 'closed'),
        ('sinkbasin', 'open'), ('sink', 'basins'), ('bookshelf', 'shelves'), ('tap', 'bare'),
    ):  # fmt: skip
        assert of_label[label] is ROLES[word], label


def test_what_is_stored_brings_the_roles_of_the_package_and_compares_without() -> None:
    own = load_classes()
    again = Classes.from_plain(own.as_plain())
    assert again.roles == own.roles
    assert Classes(own.fallback, own.named, own.aliases) == own


@pytest.mark.parametrize(
    ('text', 'says'),
    [
        ('[1]', 'expected of tables'), ('{sofas: [x]}', 'expected of tables'),
        ('{beds: sofa}', 'beds'), ('{beds: [1]}', 'beds'), ("{beds: ['']}", 'beds'),
        ('{hooks: [rail]}', 'hooks'), ('{parts: {a: b}}', 'parts: a'),
        ('{beds: [x], bare: [X]}', 'nothing before'), ('{beds: null}', 'beds'),
    ],
)  # fmt: skip
def test_what_is_refused_says_where(text: str, says: str) -> None:
    with pytest.raises(InvalidValueError, match=rf'labels_file: mine.yaml: relations.*{says}'):
        roles(text)


def test_a_label_in_two_lists_of_the_same_role_is_no_contradiction() -> None:
    found: Any = roles('{beds: [sofa, Sofa]}')
    assert found.of_label['sofa'] is ROLES['beds']
