# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Class ids, guesses and covariances of other conventions in the words of ours."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from memory_node.errors import InvalidValueError
from memory_node.perception.adapters import ClassNames, claim_of, position_covariance

CHAIR = {'56': 'chair', '41': 'cup'}


def file(tmp_path: Path, text: str) -> str:
    path = tmp_path / 'names.yaml'
    path.write_text(text, encoding='utf-8')
    return str(path)


@pytest.mark.parametrize(
    'text',
    [
        '56: chair\n41: cup',
        '"56": chair\n"41": " cup "',
        'names: {56: chair, 41: cup}\nnc: 2',
    ],
)
def test_c18_a_table_gives_names(tmp_path: Path, text: str) -> None:
    names = ClassNames.of_file(file(tmp_path, text))
    assert len(names) == 2
    assert (names('56'), names('41')) == ('chair', 'cup')


@pytest.mark.parametrize('text', ['[person, bicycle]', 'names:\n- person\n- bicycle\n'])
def test_c18_a_list_counts_from_zero(tmp_path: Path, text: str) -> None:
    names = ClassNames.of_file(file(tmp_path, text))
    assert (names('0'), names('1')) == ('person', 'bicycle')


def test_c18_an_unknown_id_is_its_own_name_and_warned_of_once() -> None:
    said: list[str] = []
    names = ClassNames(CHAIR, said.append)
    for _ in range(50):
        assert names('999') == '999'
        assert names('56') == 'chair'
    assert len(said) == 1
    assert '999' in said[0]
    for k in range(5000):
        names(f'made up {k}')
    assert len(said) == 1000, 'a detector that makes up ids fills neither the log nor the memory'


def test_c18_without_a_table_ids_are_names(tmp_path: Path) -> None:
    said: list[str] = []
    assert ClassNames.of_file('', said.append)('56') == '56'
    assert said == []


@pytest.mark.parametrize(
    'text', ['', '56', 'a: {b', '56: [chair]', '56: ""', '56: true', '{}', '[]']
)
def test_a_file_that_holds_no_names_is_refused_by_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidValueError, match=r'class_names_file: got .*names\.yaml'):
        ClassNames.of_file(file(tmp_path, text))


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match='class_names_file'):
        ClassNames.of_file(str(tmp_path / 'none.yaml'))
    (tmp_path / 'binary').write_bytes(b'\xff\xfe\x00')
    with pytest.raises(InvalidValueError, match='class_names_file'):
        ClassNames.of_file(str(tmp_path / 'binary'))


def test_the_best_guess_is_the_label() -> None:
    claim = claim_of([('41', 0.2), ('56', 0.7), ('stool', 0.1)], ClassNames(CHAIR))
    assert claim == ('chair', 0.7, {'cup': 0.2, 'stool': 0.1})


def test_c17_no_guess_or_none_with_a_class_is_no_label() -> None:
    assert claim_of([], ClassNames()) == ('', 0.0, {})
    assert claim_of([('', 0.9), ('  ', 0.8)], ClassNames(CHAIR)) == ('', 0.0, {})
    assert claim_of([('', 0.9), ('cup', 0.8)], ClassNames()).label == 'cup'


def test_of_equal_guesses_the_first_and_of_one_name_the_best() -> None:
    assert claim_of([('a', 0.5), ('b', 0.5)], ClassNames()).label == 'a'
    claim = claim_of([('41', 0.2), ('cup', 0.6), ('b', 0.5), ('b', 0.1)], ClassNames(CHAIR))
    assert claim == ('cup', 0.6, {'b': 0.5})


def test_a_score_that_is_no_number_never_wins_over_one_that_is() -> None:
    claim = claim_of([('a', math.nan), ('b', 0.1), ('c', math.inf)], ClassNames())
    assert (claim.label, claim.score) == ('b', 0.1)
    alone = claim_of([('a', math.nan)], ClassNames())
    assert alone.label == 'a'
    assert math.isnan(alone.score), 'for the core to refuse'


def test_the_covariance_of_the_position_is_the_corner_of_that_of_the_pose() -> None:
    pose = [float(k) for k in range(36)]
    assert position_covariance(pose) == [0, 1, 2, 6, 7, 8, 12, 13, 14]
