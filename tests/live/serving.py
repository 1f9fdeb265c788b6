"""Servers for tests, and plain requests to them."""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from patience import PATIENCE

from sash.live import Server, serve

FIRST_FIXED, FIXED = 20_000, 10_000


def fixed_port() -> int:
    """Return a free port that no other process is given by chance: a server comes back to it."""
    for i in range(FIXED):
        port = FIRST_FIXED + (os.getpid() * 31 + i) % FIXED
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError(f"no port from {FIRST_FIXED} on is free")


@contextmanager
def served(path: Path, **more: Any) -> Iterator[Server]:
    server = serve(path, **more)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(PATIENCE)
        assert not thread.is_alive()


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def request(
    server: Server,
    target: str,
    params: dict[str, Any] | None = None,
    *,
    method: str = "GET",
    host: str | None = None,
    body: bytes | None = None,
    **headers: str,
) -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        whole = target + ("?" + urlencode(params) if params else "")
        connection.putrequest(method, whole, skip_host=True)
        connection.putheader("Host", host if host is not None else f"127.0.0.1:{server.port}")
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        for name, value in headers.items():
            connection.putheader(name, value)
        with suppress(ConnectionError):  # it may have answered and gone before it has the body
            connection.endheaders(body)
        answer = connection.getresponse()
        return Reply(answer.status, dict(answer.getheaders()), answer.read())
    finally:
        connection.close()
