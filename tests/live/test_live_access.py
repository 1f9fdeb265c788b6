"""The server answers only those who may ask, and only what it can bear."""

from __future__ import annotations

import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import PATIENCE, until
from serving import request, served

from sash.live import Server, serve
from sash.live._connections import MOST_CONNECTIONS

TOKEN = "a-token_for_tests"


@pytest.fixture
def guarded(told: Path) -> Iterator[Server]:
    with served(told, token=TOKEN) as server:
        yield server


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "FOO"])
def test_only_get(server: Server, method: str) -> None:
    reply = request(server, "/api/health", method=method, body=b"x" * 100_000)
    assert reply.status == 405
    assert reply.headers["Allow"] == "GET"


def test_oversize(server: Server) -> None:
    assert request(server, "/" + "x" * 9000).status == 414
    assert request(server, "/" + "x" * 70_000).status == 414
    assert request(server, "/", **{f"X-{i}": "y" for i in range(200)}).status == 431
    assert request(server, "/api/keys", {f"p{i}": "" for i in range(100)}).status == 400
    assert request(server, "/api/health").status == 200


def test_files_and_headers(server: Server) -> None:
    for target, kind in [
        ("/", "text/html"),
        ("/page.js", "text/javascript"),
        ("/page.css", "text/css"),
        ("/icon.svg", "image/svg+xml"),
    ]:
        reply = request(server, target)
        assert reply.status == 200
        assert reply.headers["Content-Type"].startswith(kind)
        assert len(reply.body) > 100
    for target in ("/", "/api/health", "/nothing"):
        headers = request(server, target).headers
        assert headers["Content-Security-Policy"].startswith(
            "default-src 'none'; script-src 'self'"
        )
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in headers
        assert headers["Server"] == "sash"


@pytest.mark.parametrize("host", ["evil.example:{port}", "127.0.0.1:1", "127.0.0.1", "", "x"])
def test_other_hosts_are_refused(server: Server, host: str) -> None:
    for target in ("/", "/api/health", "/page.js"):
        assert request(server, target, host=host.format(port=server.port)).status == 403


@pytest.mark.parametrize("host", ["localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_own_hosts_are_known(server: Server, host: str) -> None:
    assert request(server, "/api/health", host=host.format(port=server.port)).status == 200


@pytest.mark.parametrize("target", ["/", "/page.js", "/icon.svg", "/api/health", "/nothing"])
def test_nothing_without_the_token(guarded: Server, target: str) -> None:
    cookie = f"sash_live_{guarded.port}"
    wrong: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {}),
        ({"token": ""}, {}),
        ({"token": "wrong"}, {}),
        ({"token": TOKEN + "x"}, {}),
        ({"token": "Ж"}, {}),
        ({}, {"Authorization": "Bearer wrong"}),
        ({}, {"Authorization": "Basic " + TOKEN}),
        ({}, {"Cookie": f"{cookie}=wrong"}),
        ({}, {"Cookie": f"other={TOKEN}"}),
        ({}, {"Cookie": ";;=\x01"}),
    ]
    for params, headers in wrong:
        reply = request(guarded, target, params, **headers)
        assert reply.status == 401, (params, headers)
        assert "Set-Cookie" not in reply.headers


def test_the_token(guarded: Server) -> None:
    assert guarded.url == f"http://127.0.0.1:{guarded.port}/?token={TOKEN}"
    reply = request(guarded, "/", {"token": TOKEN, "x": "1&2"})
    assert (reply.status, reply.headers["Location"]) == (303, "/?x=1%262")
    cookie, *rules = reply.headers["Set-Cookie"].split("; ")
    assert set(rules) == {"HttpOnly", "SameSite=Strict", "Path=/"}
    assert request(guarded, "/", Cookie=cookie).status == 200
    assert request(guarded, "/api/health", Cookie=f"a=b; {cookie}").status == 200
    assert request(guarded, "/api/health", Authorization=f"Bearer {TOKEN}").status == 200
    assert request(guarded, "/api/health", {"token": TOKEN}).status == 200


def test_others_can_only_reach_it_with_a_token(path: Path) -> None:
    with served(path, host="0.0.0.0") as server:
        assert server.token is not None
        assert len(server.token) >= 40
        assert server.url == f"http://127.0.0.1:{server.port}/?token={server.token}"
        assert request(server, "/api/health").status == 401
        bearer = f"Bearer {server.token}"
        found = request(server, "/api/health", host="any.name", Authorization=bearer)
        assert found.status == 200
    with served(path, host="0.0.0.0") as second:
        assert second.token != server.token


@pytest.mark.parametrize("token", ["", "short", "with space in it", "semi;colon;;", "ümlautümlaut"])
def test_tokens_that_would_not_do(path: Path, token: str) -> None:
    with pytest.raises(ValueError, match="at least 8 letters"):
        serve(path, token=token)


def test_a_port_that_is_taken(server: Server, path: Path) -> None:
    with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{server.port}"):
        serve(path, port=server.port)


def test_of_too_many_connections_the_oldest_are_closed(server: Server) -> None:
    """At once, and the others stay."""
    opened = [socket.create_connection(("127.0.0.1", server.port), PATIENCE) for _ in range(120)]
    oldest = opened[: 120 - MOST_CONNECTIONS]
    try:
        until(lambda: closed(opened) == oldest, "the oldest connections are closed")
    finally:
        for one in opened:
            one.close()
    assert request(server, "/api/health").status == 200


def closed(connections: list[socket.socket]) -> list[socket.socket]:
    """Return those that the server has closed: there is an end to read."""
    return select.select(connections, [], [], 0)[0]


def test_garbage_is_answered_or_closed(server: Server) -> None:
    for garbage in (
        b"\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\xff\xfe\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as one:
            one.settimeout(PATIENCE)
            one.sendall(garbage)
            one.shutdown(socket.SHUT_WR)
            assert one.recv(1000)[:12] in (b"", b"HTTP/1.1 400", b"HTTP/1.1 505")
    assert request(server, "/api/health").status == 200


def test_closing_ends_open_connections(path: Path) -> None:
    with served(path) as server:
        idle = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
        assert request(server, "/api/health").status == 200
    with idle:
        idle.settimeout(PATIENCE)
        assert idle.recv(1) == b""


def test_a_server_that_never_ran_can_be_closed(path: Path) -> None:
    server = serve(path)
    server.close()
    server.close()
    before = set(threading.enumerate())
    server.run()
    assert set(threading.enumerate()) <= before


def test_it_needs_no_spark() -> None:
    code = "import sash.live, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "sash" in loaded
    assert not loaded & {"pyspark", "typer", "rich", "pandas", "pydantic"}
