# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The tools as an MCP server: over stdio, or over HTTP on loopback with a token.

    memory_mcp kitchen.db                           # a file, read only, also while a node has it
    memory_mcp --node spatial_memory                # a running node, through its services
    memory_mcp --node spatial_memory --user anna    # with her notes, and what she means by «near»
    memory_mcp kitchen.db --http 8765 --token-file ~/.memory_token

Needs the package `mcp`: pip install 'spatial_memory[mcp]'.
"""

from __future__ import annotations

import argparse
import hmac
import importlib
import json
import logging
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memory_node.agent.arguments import ToolError
from memory_node.agent.tools import TOOLS, UNTRUSTED, Toolbox
from memory_node.errors import InvalidValueError, SpatialMemoryError

NAME = 'spatial_memory'
LOOPBACK = '127.0.0.1'
SHORTEST_TOKEN = 16
MAX_BODY = 1_000_000
CANNOT = 2
_LOG = logging.getLogger('spatial_memory.mcp')


def make_server(toolbox: Toolbox) -> Any:
    """An `mcp` server of these tools.

    Raises:
        InvalidValueError: the package `mcp` is missing.
    """
    server, types = _package('mcp.server.lowlevel'), _package('mcp_types')
    anyio = _package('anyio')
    turn = anyio.Lock()

    def answer(name: str, arguments: object) -> Any:
        try:
            found = toolbox.call(name, arguments)
        except ToolError as error:
            return types.CallToolResult(content=[_text(types, str(error))], is_error=True)
        text = json.dumps(found, ensure_ascii=False, allow_nan=False)
        return types.CallToolResult(content=[_text(types, text)], structured_content=found)

    async def list_tools(context: Any, params: Any) -> Any:
        return types.ListToolsResult(tools=[
            types.Tool(
                name=spec['name'], description=spec['description'],
                input_schema=spec['parameters'],
                annotations=types.ToolAnnotations(
                    read_only_hint=not TOOLS[spec['name']].writes, destructive_hint=False,
                    open_world_hint=False,
                ),
            )
            for spec in toolbox.specs()
        ])  # fmt: skip

    async def call_tool(context: Any, params: Any) -> Any:
        async with turn:
            return await anyio.to_thread.run_sync(answer, params.name, params.arguments)

    return server.Server(
        NAME,
        instructions='The memory of a robot: what is where and since when, what was said and done. '
        f'{UNTRUSTED}',
        on_list_tools=list_tools, on_call_tool=call_tool,
    )  # fmt: skip


def serve_stdio(toolbox: Toolbox) -> None:
    """Serve until the input ends."""
    server, stdio, anyio = make_server(toolbox), _package('mcp.server.stdio'), _package('anyio')

    async def run() -> None:
        async with stdio.stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(run)


def http_app(toolbox: Toolbox, token: str) -> Any:
    """An ASGI application that serves /mcp to whoever brings the token; to others only 401.

    Raises:
        InvalidValueError: the token is too short, or the package `mcp` is missing.
    """
    if len(token) < SHORTEST_TOKEN or not token.isprintable() or not token.isascii():
        raise InvalidValueError(
            f'token: got {len(token)} characters, expected {SHORTEST_TOKEN} or more that are '
            'printable ASCII'
        )
    inner = make_server(toolbox).streamable_http_app(
        host=LOOPBACK, json_response=True, max_request_body_size=MAX_BODY
    )
    expected = f'Bearer {token}'.encode()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope['type'] == 'http':
            given = [v for k, v in scope['headers'] if k.lower() == b'authorization']
            if len(given) != 1 or not hmac.compare_digest(given[0], expected):
                await send({
                    'type': 'http.response.start', 'status': 401,
                    'headers': [(b'www-authenticate', b'Bearer'), (b'content-length', b'0')],
                })  # fmt: skip
                await send({'type': 'http.response.body', 'body': b''})
                return
        elif scope['type'] != 'lifespan':
            return
        await inner(scope, receive, send)

    return app


def serve_http(toolbox: Toolbox, port: int, token: str) -> None:
    """Serve on loopback until stopped."""
    app = http_app(toolbox, token)
    _package('uvicorn').run(app, host=LOOPBACK, port=port, log_level='warning', access_log=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the server that the command line asks for."""
    given = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format='%(name)s: %(message)s')  # to stderr
    try:
        token = None if given.http is None else read_token(given.token_file)
        with _source(given) as source:
            toolbox = Toolbox(source, _report, given.user, given.robot)
            if token is None:
                serve_stdio(toolbox)
            else:
                serve_http(toolbox, given.http, token)
    except SpatialMemoryError as error:
        _LOG.error('%s', error)
        return CANNOT
    except KeyboardInterrupt:
        pass
    return 0


def read_token(path: str) -> str:
    """The token that a file holds, which only its owner may read.

    Raises:
        InvalidValueError: it cannot be read, or others may read it.
    """
    if not path:
        raise InvalidValueError('--http: got no --token-file, expected one')
    try:
        with Path(path).expanduser().open(encoding='utf-8') as file:
            open_to = os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO)
            token = file.read(4096).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValueError(f'--token-file: cannot read {path!r}: {error}') from error
    if open_to:
        raise InvalidValueError(f'--token-file: others may read {path!r}, expected mode 600')
    return token


def _source(given: argparse.Namespace) -> Any:
    if (given.file is None) == (given.node is None):
        raise InvalidValueError('memory_mcp: expected FILE or --node')
    if given.node is not None:  # the only way into ROS from here
        return importlib.import_module('memory_node.ros.tool_source').NodeSource(given.node)
    return importlib.import_module('memory_node.agent.store_source').StoreSource(given.file)


def _report(name: str, error: Exception) -> None:
    _LOG.warning('%s failed: %s: %.500s', name, type(error).__name__, error)


def _text(types: Any, text: str) -> Any:
    return types.TextContent(type='text', text=text)


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InvalidValueError(
            f'the package {error.name} is missing: pip install "spatial_memory[mcp]"'
        ) from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='memory_mcp', description='Serve a spatial memory to language models by MCP.'
    )
    parser.add_argument('file', metavar='FILE', nargs='?', help='file of the memory; read only')
    parser.add_argument('--node', metavar='NAME', help='name of a running memory node instead')
    parser.add_argument(
        '--user', default='', metavar='NAME',
        help='for whom: notes that are theirs or nobody\'s are read, and theirs are written '
        '(default: nobody in particular)',
    )  # fmt: skip
    parser.add_argument('--robot', default='', metavar='NAME', help='for which robot, likewise')
    parser.add_argument(
        '--http', type=_port, metavar='PORT', help=f'serve http://{LOOPBACK}:PORT/mcp, not stdio'
    )
    parser.add_argument(
        '--token-file', default='', metavar='PATH',
        help=f'with --http: file of mode 600 with a token of {SHORTEST_TOKEN} characters or more',
    )  # fmt: skip
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f'got {text!r}, expected a port from 1 to 65535')
    return int(text)


if __name__ == '__main__':
    raise SystemExit(main())
