# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""A small OpenAI-compatible server on the loopback, for tests."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import TracebackType
from typing import Any


class ModelServer:
    """Answers every chat completion alike.

    Attributes:
        requests: path, headers and body of each request.
    """

    def __init__(
        self, says: str | None = None, body: bytes | None = None, status: int = 200,
        headers: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Start it. says: the content of the message; body: all of the reply instead."""
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        if body is None:
            body = json.dumps({'choices': [{'message': {'content': says}}]}).encode()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers['Content-Length'])
                asked = json.loads(self.rfile.read(length))
                outer.requests.append((self.path, dict(self.headers), asked))
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = HTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self._server.server_port}/v1'
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def __enter__(self) -> ModelServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)
