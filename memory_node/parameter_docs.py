# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The files in config/ and the README's tables of parameters, made from the tables in the code.

`python3 -m memory_node.parameter_docs [PROJECT FOLDER]` writes them; a test compares them.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memory_node.config import Config, NodeConfig, Tunable, tunables
from memory_node.errors import InvalidValueError
from memory_node.perception.settings import EncoderConfig, LiftingConfig, LiftingNodeConfig
from memory_node.sim.settings import SimulationConfig, SimulationNodeConfig

README = Path('README.md')
_WIDTH = 100
_HEADER = """\
# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0
#
# Every parameter of the node with its default. Made from memory_node/{source} by
# `python3 -m memory_node.parameter_docs`: do not edit by hand. Your own file need only hold what
# differs: `ros2 launch spatial_memory {launch} {argument}:=mine.yaml`.

/**:
  ros__parameters:
"""


class Table(NamedTuple):
    """The parameters of one node.

    Attributes:
        yaml_file: below the project. marker: names its place in the README.
        source, launch, argument: where they are declared, which launch file takes others, and how.
        sections: configuration classes with titles.
    """

    yaml_file: Path
    marker: str
    source: str
    launch: str
    argument: str
    sections: tuple[tuple[type, str], ...]

    @property
    def begin(self) -> str:
        """The line above it in the README."""
        return f'<!-- {self.marker} -->'

    @property
    def end(self) -> str:
        """The line below it in the README."""
        return f'<!-- /{self.marker} -->'


MEMORY = Table(
    Path('config') / 'memory.yaml', 'parameters', 'config.py', 'memory.launch.py', 'params_file',
    (
        (Config, 'What the memory decides by.'), (NodeConfig, 'What only the node needs.'),
        (EncoderConfig, 'What compares texts to how things look; as in lifting.yaml.'),
    ),
)  # fmt: skip
LIFTING = Table(
    Path('config') / 'lifting.yaml', 'lifting parameters', 'perception/settings.py',
    'lifting.launch.py', 'lifting_file',
    (
        (LiftingConfig, 'How regions become boxes.'), (LiftingNodeConfig, 'What comes in.'),
        (EncoderConfig, 'What makes features of the colour image.'),
    ),
)  # fmt: skip
SIMULATION = Table(
    Path('config') / 'simulation.yaml', 'simulation parameters', 'sim/settings.py',
    'simulation.launch.py', 'simulation_file',
    (
        (SimulationConfig, 'What there is, and what happens.'),
        (SimulationNodeConfig, 'How it is shown.'),
    ),
)  # fmt: skip
YAML_FILE, BEGIN, END = MEMORY.yaml_file, MEMORY.begin, MEMORY.end


def parameter_yaml(table: Table = MEMORY) -> str:
    """Return the text of a node's file in config/."""
    header = _HEADER.format(source=table.source, launch=table.launch, argument=table.argument)
    return header + ''.join(_yaml_lines(table))


def parameter_table_markdown(table: Table = MEMORY) -> str:
    """Return the README's table of a node, one row a parameter."""
    rows = ['| Parameter | Default | Takes | Meaning |', '| --- | --- | --- | --- |']
    for cls, _ in table.sections:
        for row in tunables(cls):
            cells = (f'`{row.name}`', f'`{_yaml_value(row.default)}`', _takes(row), row.meaning)
            rows.append('| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |')
    return '\n'.join(rows) + '\n'


def with_table(text: str, table: Table = MEMORY) -> str:
    """Return a README with what stands between the two markers replaced by the table.

    Raises:
        InvalidValueError: the text has no pair of markers.
    """
    before, begin, rest = text.partition(table.begin)
    _, end, after = rest.partition(table.end)
    if not begin or not end:
        raise InvalidValueError(f'README: expected the markers {table.begin} and {table.end}')
    return f'{before}{table.begin}\n{parameter_table_markdown(table)}{table.end}{after}'


def update(root: Path) -> None:
    """Write the files in config/, and the tables into a README that has the markers."""
    for table in (MEMORY, LIFTING, SIMULATION):
        (root / table.yaml_file).write_text(parameter_yaml(table), encoding='utf-8')
        readme = root / README
        if readme.exists() and table.begin in (text := readme.read_text(encoding='utf-8')):
            readme.write_text(with_table(text, table), encoding='utf-8')


def _yaml_lines(table: Table) -> Iterator[str]:
    for cls, title in table.sections:
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
