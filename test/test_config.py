# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Every tunable: its range, its type, its words."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest

from memory_node.config import Config, NodeConfig, Tunable, tunables
from memory_node.errors import InvalidValueError

ROWS = [(cls, row) for cls in (Config, NodeConfig) for row in tunables(cls)]
WEIGHTS = ('geometry_weight', 'iou_weight', 'feature_weight', 'label_weight')


def cases(kind: type) -> list[Any]:
    return [pytest.param(cls, row, id=row.name) for cls, row in ROWS if type(row.default) is kind]


def set_one(cls: type, name: str, value: Any) -> Any:
    """The value as the configuration holds it."""
    if name in WEIGHTS:  # the others make up the sum
        others = [other for other in WEIGHTS if other != name]
        rest = dict.fromkeys(others[1:], 0.0) | {others[0]: 1.0 - value}
        return getattr(cls(**{name: value}, **rest), name)
    return getattr(cls(**{name: value}), name)


def is_refused(cls: type, row: Tunable, value: Any) -> None:
    with pytest.raises(InvalidValueError) as caught:
        cls(**{row.name: value})
    assert str(caught.value) == f'{row.name}: got {value!r}, expected {row.expected()}'


@pytest.mark.parametrize(('cls', 'row'), [pytest.param(c, r, id=r.name) for c, r in ROWS])
def test_each_has_words_and_a_default_within_its_range(cls: type, row: Tunable) -> None:
    assert row.meaning.endswith('.') and row.meaning[0].isupper()
    assert '  ' not in row.meaning
    assert row.checked(row.default) == row.default
    assert type(row.checked(row.default)) is type(row.default)
    if row.unit:
        assert f'[{row.unit}]' in row.expected()
    suffix = {'_m': 'm', '_s': 's', '_deg': 'deg'}
    for end, unit in suffix.items():
        assert (row.unit == unit) == row.name.endswith(end), (row.name, row.unit)
    if isinstance(row.default, (int, float)) and not isinstance(row.default, bool):
        assert row.low is not None and row.high is not None, 'a number without a range'


@pytest.mark.parametrize(('cls', 'row'), cases(float))
def test_decimals(cls: type, row: Tunable) -> None:
    assert row.low is not None and row.high is not None
    assert set_one(cls, row.name, row.low) == row.low
    assert set_one(cls, row.name, row.high) == row.high
    for value in (
        row.low - 1e-6, row.high + 1, math.nextafter(row.high, math.inf), -1e300,
        float('nan'), float('inf'), float('-inf'), '1', '', None, True, False, [1.0], (), 1j,
    ):  # fmt: skip
        is_refused(cls, row, value)


@pytest.mark.parametrize('value', [10**400, -(10**400)], ids=['above', 'below'])
def test_whole_numbers_beyond_every_decimal(value: int) -> None:
    [row] = [row for row in tunables(Config) if row.name == 'near_m']
    is_refused(Config, row, value)


@pytest.mark.parametrize(('cls', 'row'), cases(float))
def test_c39_whole_numbers_are_accepted_for_decimals(cls: type, row: Tunable) -> None:
    assert row.high is not None and row.low is not None
    if int(row.high) < row.low:
        pytest.skip('no whole number is in its range')
    value = set_one(cls, row.name, int(row.high))
    assert value == int(row.high)
    assert type(value) is float


@pytest.mark.parametrize(('cls', 'row'), cases(int))
def test_whole_numbers(cls: type, row: Tunable) -> None:
    assert row.low is not None and row.high is not None
    for good in (int(row.low), int(row.high)):
        assert set_one(cls, row.name, good) == good
    for value in (row.low - 1, row.high + 1, 1.0, 1.5, '1', None, True, [1], float('nan')):
        is_refused(cls, row, value)


@pytest.mark.parametrize(('cls', 'row'), cases(bool))
def test_switches(cls: type, row: Tunable) -> None:
    for good in (True, False):
        assert set_one(cls, row.name, good) is good
    for value in (0, 1, 1.0, 'true', '', None, []):
        is_refused(cls, row, value)


@pytest.mark.parametrize(('cls', 'row'), cases(str))
def test_texts(cls: type, row: Tunable) -> None:
    for good in row.choices or ('', 'x', 'Küche'):
        assert set_one(cls, row.name, good) == good
    for value in (0, 1.0, True, None, ['x'], b'x', *(['nonsense'] if row.choices else [])):
        is_refused(cls, row, value)


@pytest.mark.parametrize(('cls', 'row'), cases(tuple))
def test_lists_of_texts(cls: type, row: Tunable) -> None:
    a, b = {
        'antonyms': ('on off', 'a b'), 'detector_rates': ('a 0.9 0.1', 'b 0.8 0.01'),
    }.get(row.name, ('a', 'b'))  # fmt: skip
    for good in ((), [], [a, b], (a,)):
        assert set_one(cls, row.name, good) == tuple(good)
    for value in ('wall', [1], ['a', None], None, 5, {'a'}):
        is_refused(cls, row, value)


def test_every_type_of_default_was_tried() -> None:
    assert {type(row.default) for _, row in ROWS} <= {float, int, bool, str, tuple}


def test_names_are_unique_across_both_tables() -> None:
    names = [row.name for _, row in ROWS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ('weights', 'accepted'),
    [
        ((0.2, 0.2, 0.5, 0.1), True),
        ((0.25, 0.25, 0.25, 0.25), True),
        ((1, 0, 0, 0), True),
        ((0.1,) * 3 + (0.7000009,), True),
        ((0.1,) * 3 + (0.7000011,), False),
        ((0.2, 0.2, 0.5, 0.2), False),
        ((0, 0, 0, 0), False),
    ],
)
def test_ch_15_the_weights_sum_to_one(weights: tuple[float, ...], accepted: bool) -> None:
    given = dict(zip(WEIGHTS, weights, strict=True))
    if accepted:
        assert Config(**given)
        return
    with pytest.raises(InvalidValueError, match=r'geometry_weight.*expected a sum of 1'):
        Config(**given)


def test_the_defaults_are_chronotopes() -> None:
    c = Config()
    assert (c.dilation_m, c.geometry_range_m) == (0.25, 0.5)  # CH-14, CH-16
    assert tuple(getattr(c, name) for name in WEIGHTS) == (0.2, 0.2, 0.5, 0.1)  # CH-15
    assert (c.merge_score, c.create_score, c.blend) == (0.62, 0.30, 0.2)  # CH-18, CH-19
    assert (c.near_m, c.on_gap_m) == (0.6, 0.08)  # CH-33


def test_a_configuration_goes_through_json_and_back() -> None:
    config = Config(blend=0.5, ignored_labels=('wall', 'floor'))
    assert Config.of(json.loads(json.dumps(dataclasses.asdict(config)))) == config


def test_an_unknown_name_is_named() -> None:
    with pytest.raises(InvalidValueError, match='no such setting: blent, zeal'):
        Config.of({'zeal': 1, 'blend': 0.5, 'blent': 1})


def test_a_configuration_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().blend = 0.5  # type: ignore[misc]


@pytest.mark.parametrize('pair', ['open', 'open open', 'open closed ajar', ''])
def test_antonyms_are_two_different_words(pair: str) -> None:
    with pytest.raises(InvalidValueError, match=r'antonyms.*two different words'):
        Config(antonyms=('on off', pair))
