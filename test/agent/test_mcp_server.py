# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The tools over real stdio and real HTTP, asked by the client of the package `mcp`."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from views import seen, view

from memory_node import SpatialMemory
from memory_node.agent import mcp_server
from memory_node.agent.tools import TOOLS
from memory_node.errors import InvalidValueError
from memory_node.notes.items import Note

anyio = pytest.importorskip('anyio')
mcp_client = pytest.importorskip('mcp.client.session')
mcp_stdio = pytest.importorskip('mcp.client.stdio')
mcp_http = pytest.importorskip('mcp.client.streamable_http')

ROOT = Path(__file__).parents[2]
TOKEN = 'correct-horse-battery'
DEADLINE_S = 60
TABLE = seen('table', (2, 0, 0.4), size_m=(1, 1, 0.8))
MUG = seen('mug', (2, 0.1, 0.85), size_m=(0.1, 0.1, 0.1))


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file with a mug on a table."""
    target = str(tmp_path / 'memory.db')
    with SpatialMemory.open(target) as memory:
        for k in range(3):
            memory.observe(view(1 + 2 * k, TABLE, MUG))
    return target


@contextlib.asynccontextmanager
async def over_stdio(*arguments: str) -> AsyncIterator[Any]:
    server = mcp_stdio.StdioServerParameters(
        command=sys.executable, args=['-m', 'memory_node.agent.mcp_server', *arguments],
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
    )  # fmt: skip
    with anyio.fail_after(DEADLINE_S):
        async with (
            mcp_stdio.stdio_client(server) as (read, write),
            mcp_client.ClientSession(read, write) as session,
        ):
            await session.initialize()
            yield session


def answer(result: Any) -> Any:
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


def test_a_file_is_served_read_only_over_stdio(path: str) -> None:
    async def talk() -> None:
        async with over_stdio(path) as session:
            tools = (await session.list_tools()).tools
            assert sorted(tool.name for tool in tools) == sorted(TOOLS)
            writing = {t.name for t in tools if not t.annotations.read_only_hint}
            assert writing == {'feedback', 'reflect', 'remember'}
            found = answer(await session.call_tool('whats_on', {'anchor': 'table'}))
            assert [r['subject'] for r in found['relations']] == ['mug']
            for name, arguments, says in (
                ('whats_on', {'anchor': 'x' * 100_000}, 'argument anchor: expected'),
                ('object_details', {'object_id': 99}, 'no object has this id'),
                ('object_details', {'object_id': True}, 'argument object_id'),
                ('format_disk', {}, 'no such tool'),
                ('remember', {'text': 'x'}, 'opened for reading only: nothing can be written'),
                ('reflect', {}, 'opened for reading only'),
            ):
                result = await session.call_tool(name, arguments)
                assert result.is_error and says in result.content[0].text
            with SpatialMemory.open(path) as writer:  # a node may have it open meanwhile
                for k in range(3):
                    writer.observe(view(10 + 2 * k, TABLE, MUG, seen('cup', (2.3, 0.1, 0.85))))
                again = answer(await session.call_tool('whats_on', {'anchor': 'table'}))
            assert sorted(r['subject'] for r in again['relations']) == ['cup', 'mug']

    anyio.run(talk)


def test_whose_notes_are_served_is_said_at_the_start(path: str) -> None:
    with SpatialMemory.open(path) as memory:
        memory.remember(Note('The zyxkey is blue', scope={'user': 'anna'}))

    async def talk(user: str) -> list[str]:
        async with over_stdio(path, '--user', user) as session:
            found = answer(await session.call_tool('recall', {'question': 'the zyxkey'}))
            other = await session.call_tool('recall', {'question': 'zyxkey', 'user': 'anna'})
            assert other.is_error
            return [note['content'] for note in found['notes']]

    assert anyio.run(talk, 'Anna') == ['The zyxkey is blue']
    assert anyio.run(talk, 'ben') == []


@contextlib.contextmanager
def http_server(path: str, token_file: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    child = subprocess.Popen(
        [sys.executable, '-m', 'memory_node.agent.mcp_server', path, '--http', str(port),
         '--token-file', str(token_file)],
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
    )  # fmt: skip
    url = f'http://127.0.0.1:{port}/mcp'
    try:
        wait_for(lambda: status(url) is not None, child)
        yield url
    finally:
        child.terminate()
        child.wait(DEADLINE_S)


def wait_for(done: Callable[[], bool], child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        for _ in range(20 * DEADLINE_S):
            if done():
                return
            child.wait(0.05)
            break
    for _ in range(20 * DEADLINE_S):
        if done():
            return
        assert child.poll() is None, 'the server ended'
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.05)
    raise AssertionError('the server did not come up')


def status(url: str, *tokens: str) -> int | None:
    request = urllib.request.Request(url, data=b'{}', method='POST')
    request.add_header('Content-Type', 'application/json')
    for token in tokens:
        request.add_header('Authorization', token)
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE_S) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    target = tmp_path / 'token'
    target.write_text(TOKEN + '\n')
    target.chmod(0o600)
    return target


def test_http_answers_whoever_brings_the_token_and_nobody_else(path: str, token_file: Path) -> None:
    httpx = pytest.importorskip('httpx2')

    async def talk(url: str) -> None:
        with anyio.fail_after(DEADLINE_S):
            async with (
                httpx.AsyncClient(headers={'Authorization': f'Bearer {TOKEN}'}) as client,
                mcp_http.streamable_http_client(url, http_client=client) as streams,
                mcp_client.ClientSession(streams[0], streams[1]) as session,
            ):
                await session.initialize()
                found = answer(await session.call_tool('semantic_search', {'text': 'mug'}))
                assert [o['label'] for o in found['objects']] == ['mug']

    with http_server(path, token_file) as url:
        assert status(url) == 401
        for wrong in ('Bearer ', f'Bearer {TOKEN}x', TOKEN, f'Basic {TOKEN}', 'Bearer é'):
            assert status(url, wrong.encode().decode('latin-1')) == 401, wrong
        anyio.run(talk, url)


def test_a_token_must_be_long_and_its_owners_alone(
    path: str, token_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert mcp_server.read_token(str(token_file)) == TOKEN
    token_file.chmod(0o644)
    with pytest.raises(InvalidValueError, match='mode 600'):
        mcp_server.read_token(str(token_file))
    for bad in ('', 'short', 'x' * 15, 'ü' * 20):
        with pytest.raises(InvalidValueError, match='token'):
            mcp_server.http_app(mcp_server.Toolbox(None), bad)  # type: ignore[arg-type]
    assert mcp_server.main([path, '--http', '8765']) == mcp_server.CANNOT
    assert mcp_server.main([]) == mcp_server.CANNOT
    assert mcp_server.main([path + '.missing']) == mcp_server.CANNOT
    for port in ('0', '65536', 'x', '-1'):
        with pytest.raises(SystemExit):
            mcp_server.main([path, '--http', port])
