# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Label numbers, and the label term of CH-17 by hand."""

from __future__ import annotations

import numpy as np
import pytest

from memory_node.fusion.labels import LabelBook
from memory_node.fusion.world import OBJECT


def term(book: LabelBook, wanted: str, *held: tuple[str, float]) -> float:
    """The label term of a detection beside an object with these labels and masses."""
    numbers = [book.intern(label) for label, _ in held] + [-1] * (4 - len(held))
    masses = [mass for _, mass in held] + [0.0] * (4 - len(held))
    return terms(book, [book.intern(wanted)], [numbers], [masses])[0]


def terms(
    book: LabelBook, wanted: list[int], held: list[list[int]], masses: list[list[float]]
) -> list[float]:
    """The label term of each detection beside the object of the same place."""
    records = np.zeros(len(wanted), OBJECT)
    records['labels'], records['masses'] = held, masses
    place, found = np.arange(len(wanted)), np.zeros((len(wanted), 4))
    book.terms(np.array(wanted, np.int32), place, place, records, found)
    return found[:, 3].tolist()


def test_spellings_that_differ_in_case_are_one_label_named_as_first_spelt() -> None:
    book = LabelBook()
    numbers = [book.intern(label) for label in ('CoffeeMachine', 'mug', 'coffeemachine', 'MUG')]
    assert numbers == [0, 1, 0, 1]
    assert book.names == ['CoffeeMachine', 'mug']
    assert len(book) == 2


def test_finding_never_makes_a_label() -> None:
    book = LabelBook()
    book.intern('Mug')
    assert book.find('mUG') == 0
    assert book.find('cup') is None
    assert book.names == ['Mug']


def test_quoted_is_the_json_of_each_name() -> None:
    book = LabelBook()
    for label in ('mug', 'a "b"\\', 'Küche'):
        book.intern(label)
    assert book.quoted == ['"mug"', '"a \\"b\\"\\\\"', '"Küche"']


@pytest.mark.parametrize(('mass', 'expected'), [(0.1, 0.8), (0.8, 0.8), (0.93, 0.93), (7.0, 1.0)])
def test_an_exact_match_is_the_mass_but_0_8_at_least_and_1_at_most(
    mass: float, expected: float
) -> None:
    assert term(LabelBook(), 'MUG', ('cup', 9.0), ('mug', mass)) == expected


@pytest.mark.parametrize(
    ('wanted', 'held', 'expected'),
    [
        ('Coffee', 'coffee machine', 0.5),
        ('coffee machine', 'Coffee', 0.5),
        ('table', 'able', 0.5),  # CH-17 says substring either way, no word boundary
        ('mug', 'cup', 0.0),
    ],
)
def test_a_label_within_another_is_half(wanted: str, held: str, expected: float) -> None:
    assert term(LabelBook(), wanted, (held, 5.0)) == expected


def test_an_exact_match_counts_before_a_substring() -> None:
    assert term(LabelBook(), 'mug', ('coffee mug', 5.0), ('mug', 0.1)) == 0.8


def test_each_pair_gets_its_own_term() -> None:
    book = LabelBook()
    mug, cup, mugs = book.intern('mug'), book.intern('cup'), book.intern('mugs')
    held = [[cup, -1, -1, -1], [mug, -1, -1, -1], [cup, mugs, -1, -1], [-1, -1, -1, -1]]
    masses = [[1.0, 0.0, 0, 0], [0.9, 0.0, 0, 0], [1.0, 1.0, 0, 0], [0.0, 0.0, 0, 0]]
    assert terms(book, [mug, mug, mug, cup], held, masses) == [0.0, 0.9, 0.5, 0.0]
