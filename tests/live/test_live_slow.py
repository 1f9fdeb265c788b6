"""Clients that hold connections and send or read slowly: others are served meanwhile."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from serving import request

from sash.live import Server

HELD = 200
ASKED = b"GET /chart.js HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n"


def connected(server: Server) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # an answer does not fit
    made.settimeout(30)
    made.connect(("127.0.0.1", server.port))
    return made


def says_nothing(one: socket.socket, port: int) -> None:
    """Only hold the connection."""


def sends_a_part(one: socket.socket, port: int) -> None:
    """Send a byte more whenever it is called."""
    one.send(b"G")


def reads_nothing(one: socket.socket, port: int) -> None:
    """Ask for much more than the buffers of the system hold, and read none of it."""
    one.send(ASKED % port * 1000)


SLOW: list[Callable[[socket.socket, int], None]] = [says_nothing, sends_a_part, reads_nothing]


@contextmanager
def held(server: Server, slow: Callable[[socket.socket, int], None]) -> Iterator[None]:
    """Hold many connections; each does its part when it is opened, and from then on."""
    opened: list[socket.socket] = []
    end = threading.Event()

    def again() -> None:
        while not end.wait(0.05):
            for one in opened:
                _quietly(slow, one, server.port)

    try:
        for _ in range(HELD):
            opened.append(connected(server))
            _quietly(slow, opened[-1], server.port)
            opened[-1].setblocking(False)
        thread = threading.Thread(target=again)
        thread.start()
        yield
        end.set()
        thread.join(30)
    finally:
        end.set()
        for one in opened:
            one.close()


def _quietly(slow: Callable[[socket.socket, int], None], one: socket.socket, port: int) -> None:
    try:
        slow(one, port)
    except OSError:
        return  # the server has closed it, or takes no more


@pytest.mark.parametrize("slow", SLOW)
def test_others_are_served_meanwhile(
    server: Server, slow: Callable[[socket.socket, int], None]
) -> None:
    with held(server, slow):
        for _ in range(20):
            assert request(server, "/api/health").status == 200
            assert request(server, "/page.js").status == 200
