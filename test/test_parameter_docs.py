# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""config/memory.yaml and the README say what the code says."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from memory_node import parameter_docs
from memory_node.config import Config, NodeConfig, tunables
from memory_node.errors import InvalidValueError
from memory_node.perception.settings import EncoderConfig

ROOT = Path(__file__).parents[1]
AGAIN = 'run `python3 -m memory_node.parameter_docs` in the project'
ROWS = [row for cls in (Config, NodeConfig, EncoderConfig) for row in tunables(cls)]


def test_the_yaml_file_is_up_to_date() -> None:
    text = (ROOT / parameter_docs.YAML_FILE).read_text(encoding='utf-8')
    assert text == parameter_docs.parameter_yaml(), AGAIN


def test_the_readme_is_up_to_date() -> None:
    readme = ROOT / parameter_docs.README
    if not readme.exists() or parameter_docs.BEGIN not in readme.read_text(encoding='utf-8'):
        pytest.skip('the README has no markers for the table of parameters')
    text = readme.read_text(encoding='utf-8')
    assert text == parameter_docs.with_table(text), AGAIN


@pytest.mark.parametrize(
    'table', [parameter_docs.LIFTING, parameter_docs.SIMULATION], ids=lambda table: table.marker
)
def test_those_of_the_other_nodes_are_up_to_date(table: parameter_docs.Table) -> None:
    text = (ROOT / table.yaml_file).read_text(encoding='utf-8')
    assert text == parameter_docs.parameter_yaml(table), AGAIN
    [(_, content)] = yaml.safe_load(text).items()
    rows = [row for cls, _ in table.sections for row in tunables(cls)]
    assert content['ros__parameters'] == {row.name: row.default for row in rows}
    readme = (ROOT / parameter_docs.README).read_text(encoding='utf-8')
    assert readme == parameter_docs.with_table(readme, table), AGAIN


def test_the_yaml_holds_every_parameter_with_its_default() -> None:
    [(node, content)] = yaml.safe_load(parameter_docs.parameter_yaml()).items()
    assert node == '/**'
    values = content['ros__parameters']
    assert list(values) == [row.name for row in ROWS]
    for row in ROWS:
        value = values[row.name]
        default = list(row.default) if isinstance(row.default, tuple) else row.default
        assert value == default
        assert type(value) is type(default)


def test_every_line_is_short_and_every_unit_is_said() -> None:
    text = parameter_docs.parameter_yaml()
    assert max(map(len, text.splitlines())) <= 100
    for row in ROWS:
        assert not row.unit or f'[{row.unit}]' in text


def test_the_table_has_a_row_for_every_parameter() -> None:
    lines = parameter_docs.parameter_table_markdown().splitlines()
    assert len(lines) == 2 + len(ROWS)
    for row, line in zip(ROWS, lines[2:], strict=True):
        assert line.startswith(f'| `{row.name}` | ')
        assert line.count('|') - line.count('\\|') == 5


@pytest.mark.parametrize(
    ('value', 'text'),
    [
        (1e-05, '1.0e-05'),
        (1e9, '1000000000.0'),
        (0.25, '0.25'),
        (True, 'true'),
        ("it's", "'it''s'"),
        ((), '[]'),
        (('on', 'no'), "['on', 'no']"),
        (7, '7'),
    ],
)
def test_values_survive_yaml(value: object, text: str) -> None:
    assert parameter_docs._yaml_value(value) == text
    read = yaml.safe_load(text)
    assert (tuple(read) if isinstance(read, list) else read) == value


def test_update_writes_both(tmp_path: Path) -> None:
    (tmp_path / 'config').mkdir()
    readme = tmp_path / 'README.md'
    readme.write_text('before\n<!-- parameters -->\nold\n<!-- /parameters -->\nafter\n')
    parameter_docs.update(tmp_path)
    table = parameter_docs.parameter_table_markdown()
    assert readme.read_text() == (
        f'before\n<!-- parameters -->\n{table}<!-- /parameters -->\nafter\n'
    )
    assert (tmp_path / 'config/memory.yaml').read_text() == parameter_docs.parameter_yaml()


def test_a_readme_without_markers_is_refused() -> None:
    with pytest.raises(InvalidValueError, match='expected the markers'):
        parameter_docs.with_table('nothing here')
