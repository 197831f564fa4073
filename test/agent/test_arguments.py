# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Arguments: the schema says what the check takes, and errors say nothing of what was given."""

from __future__ import annotations

import math
from typing import Any

import pytest

from memory_node.agent.arguments import MAX_TEXT, Argument, ToolError, checked, schema_of

SECRET = 'rm -rf /'
ALL = {
    'n': Argument('integer', 'a number', low=1, high=10),
    'x': Argument('number', 'another', low=0, high=5, above=True),
    'text': Argument('text', 'words', required=True),
    'kind': Argument('text', 'a kind', choices=('on', 'in')),
    'at': Argument('point', 'a place'),
    'yes': Argument('boolean', 'or no', default=False),
}


def test_defaults_and_values() -> None:
    assert checked(ALL, {'text': 'mug'}) == {
        'n': None, 'x': None, 'text': 'mug', 'kind': None, 'at': None, 'yes': False,
    }  # fmt: skip
    given = {'text': 'mug', 'n': 10, 'x': 5, 'kind': 'in', 'at': [1, 2.5, -3], 'yes': True}
    assert checked(ALL, given) == {**given, 'at': (1.0, 2.5, -3.0)}
    assert checked(ALL, {'text': 'mug', 'n': None})['n'] is None


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('n', 0), ('n', 11), ('n', 1.0), ('n', True), ('n', '1'), ('x', 0), ('x', 5.1),
        ('x', math.nan), ('x', math.inf), ('x', False), ('x', 10**400), ('text', ''), ('text', ' '),
        ('text', 'a' * (MAX_TEXT + 1)), ('text', 'a\n'), ('text', None), ('text', 1),
        ('kind', 'under'), ('at', [1, 2]), ('at', [1, 2, math.nan]), ('at', 'abc'),
        ('at', [1, 2, 2e6]), ('at', [True, 0, 0]), ('yes', 1), ('yes', 'true'), ('z', 1),
    ],
)  # fmt: skip
def test_what_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ToolError, match='expected'):
        checked(ALL, {'text': 'mug', name: value})


def test_nothing_that_was_given_comes_back() -> None:
    for given in ({'text': SECRET + '\n'}, {SECRET: 1}, {'text': 'a', 'kind': SECRET}, SECRET):
        with pytest.raises(ToolError) as raised:
            checked(ALL, given)
        assert SECRET not in str(raised.value)


def test_the_schema_says_the_same() -> None:
    schema = schema_of(ALL)
    assert schema['required'] == ['text'] and schema['additionalProperties'] is False
    properties = schema['properties']
    assert properties['n'] == {
        'description': 'a number', 'type': 'integer', 'minimum': 1, 'maximum': 10,
    }  # fmt: skip
    assert properties['x']['exclusiveMinimum'] == 0
    assert properties['kind']['enum'] == ['on', 'in']
    assert properties['at']['minItems'] == properties['at']['maxItems'] == 3
