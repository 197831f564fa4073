# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""What the README says is what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / 'README.md').read_text(encoding='utf-8')


def section(title: str) -> str:
    """The text below a heading, up to the next one."""
    return re.split(r'^#+ ', README.split(f'{title}\n', 1)[1], maxsplit=1, flags=re.M)[0]


def first_cells(title: str) -> list[str]:
    rows = re.findall(r'^\| (.+?) \|', section(title), flags=re.M)
    return [cell for cell in rows if cell.startswith('`')]


def blocks(language: str) -> list[str]:
    return re.findall(rf'^```{language}\n(.*?)^```', README, flags=re.M | re.S)


def test_the_services_are_those_of_the_node() -> None:
    handlers = pytest.importorskip('memory_node.ros.handlers')
    services = pytest.importorskip('memory_node.ros.services')
    named = {f'`~/{services.snake(name)}`' for name in handlers.HANDLERS}
    assert set(first_cells('### Services')) == named
    files = {path.stem for path in (ROOT / 'srv').glob('*.srv')}
    assert files == set(handlers.HANDLERS)


def test_the_library_example_prints_what_it_says(tmp_path: Path) -> None:
    (example,) = blocks('python')
    done = subprocess.run(
        [sys.executable, '-c', example], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = [line.strip().removeprefix('# ') for line in example.splitlines() if '    # ' in line]
    assert done.stdout.splitlines() == said


def test_the_service_calls_name_fields_that_exist() -> None:
    yaml = pytest.importorskip('yaml')
    srv = pytest.importorskip('spatial_memory.srv')
    calls = re.findall(
        r"service call (\S+) spatial_memory/srv/(\w+) \\?\s*'(.*?)'", '\n'.join(blocks('sh')), re.S
    )
    assert len(calls) >= 6
    for _, kind, request in calls:
        fields = getattr(srv, kind).Request.get_fields_and_field_types()
        assert set(yaml.safe_load(request)) <= set(fields), kind


def test_the_commands_are_those_of_the_command_line() -> None:
    cli = pytest.importorskip('memory_node.cli.main')
    named = set(re.findall(r'^memory (\w+) ', section('## Command line'), flags=re.M))
    assert named == set(cli.VERBS)


def test_versions_agree() -> None:
    setup = re.search(r'^version = (\S+)', (ROOT / 'setup.cfg').read_text(), flags=re.M)
    package = re.search(r'<version>(\S+)</version>', (ROOT / 'package.xml').read_text())
    assert setup and package and setup[1] == package[1]


def test_every_reply_begins_alike() -> None:
    codes = None
    for path in sorted((ROOT / 'srv').glob('*.srv')):
        reply = path.read_text(encoding='utf-8').split('---\n', 1)[1]
        fields = [line for line in reply.splitlines() if line and not line.startswith('#')]
        constants = [line for line in fields if '=' in line]
        assert [f for f in fields if '=' not in f][:3] == [
            'bool success', 'uint16 error_code', 'string message',
        ], path.name  # fmt: skip
        codes = codes or constants
        assert constants == codes, path.name


@pytest.mark.parametrize('path', sorted([*(ROOT / 'msg').glob('*'), *(ROOT / 'srv').glob('*')]),
                         ids=lambda p: p.name)  # fmt: skip
def test_every_interface_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding='utf-8')
    assert text.startswith('# ')
    assert not re.search(r'[ \t]+$', text, flags=re.M)
