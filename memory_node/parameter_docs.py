# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""config/memory.yaml and the README's table of parameters, made from `memory_node.config`.

`python3 -m memory_node.parameter_docs [PROJECT FOLDER]` writes both; a test compares them.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_node.config import Config, NodeConfig, Tunable, tunables
from memory_node.errors import InvalidValueError

YAML_FILE = Path('config') / 'memory.yaml'
README = Path('README.md')
BEGIN, END = '<!-- parameters -->', '<!-- /parameters -->'

_SECTIONS = ((Config, 'What the memory decides by.'), (NodeConfig, 'What only the node needs.'))
_WIDTH = 100
_HEADER = """\
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0
#
# Every parameter of the node with its default. Made from memory_node/config.py by
# `python3 -m memory_node.parameter_docs`: do not edit by hand. Your own file need only hold what
# differs: `ros2 launch spatial_memory memory.launch.py params_file:=mine.yaml`.

/**:
  ros__parameters:
"""


def parameter_yaml() -> str:
    """Return the text of config/memory.yaml."""
    return _HEADER + ''.join(_yaml_lines())


def parameter_table_markdown() -> str:
    """Return the README's table, one row a parameter."""
    rows = ['| Parameter | Default | Takes | Meaning |', '| --- | --- | --- | --- |']
    for cls, _ in _SECTIONS:
        for row in tunables(cls):
            cells = (f'`{row.name}`', f'`{_yaml_value(row.default)}`', _takes(row), row.meaning)
            rows.append('| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |')
    return '\n'.join(rows) + '\n'


def with_table(text: str) -> str:
    """Return a README with what stands between the two markers replaced by the table.

    Raises:
        InvalidValueError: the text has no pair of markers.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InvalidValueError(f'README: expected the markers {BEGIN} and {END}')
    return f'{before}{BEGIN}\n{parameter_table_markdown()}{END}{after}'


def update(root: Path) -> None:
    """Write config/memory.yaml, and the table into a README that has the markers."""
    (root / YAML_FILE).write_text(parameter_yaml(), encoding='utf-8')
    readme = root / README
    if readme.exists() and BEGIN in (text := readme.read_text(encoding='utf-8')):
        readme.write_text(with_table(text), encoding='utf-8')


def _yaml_lines() -> Iterator[str]:
    for cls, title in _SECTIONS:
        yield f'\n    # -- {title}\n'
        for row in tunables(cls):
            takes = _takes(row)
            yield '\n'
            for sentence in (row.meaning, f'{takes[0].upper()}{takes[1:]}.'):
                for line in textwrap.wrap(sentence, _WIDTH - 6, break_on_hyphens=False):
                    yield f'    # {line}\n'
            yield f'    {row.name}: {_yaml_value(row.default)}\n'


def _takes(row: Tunable) -> str:
    return row.expected() + ('; fixed at start' if row.read_only else '')


def _yaml_value(value: Any) -> str:
    if isinstance(value, tuple):
        return f'[{", ".join(map(_yaml_value, value))}]'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    text = repr(value)
    if isinstance(value, float) and 'e' in text and '.' not in text:
        return text.replace('e', '.0e')  # without the point, YAML takes it for a string
    return text


if __name__ == '__main__':
    update(Path(sys.argv[1] if len(sys.argv) > 1 else '.'))
