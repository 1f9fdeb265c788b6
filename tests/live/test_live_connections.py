"""Which connections are closed, and when: with a clock that the test sets."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from serving import request

from sash.live import Server, _connections
from sash.live._api import Api
from sash.live._connections import Connections, Phase


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Ends:
    """The two ends of a connection."""

    def __init__(self, client: str = "a") -> None:
        self.client = client
        self.ours, self.theirs = socket.socketpair()
        self.theirs.settimeout(30)

    @property
    def is_closed(self) -> bool:
        self.theirs.setblocking(False)
        try:
            return self.theirs.recv(1) == b""
        except BlockingIOError:
            return False


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def connections(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Connections:
    monkeypatch.setattr(_connections, "_GRACE", 0.0)
    return Connections(3, clock)


@pytest.fixture
def made() -> Iterator[Any]:
    ends: list[Ends] = []

    def one(client: str = "a") -> Ends:
        ends.append(Ends(client))
        return ends[-1]

    yield one
    for end in ends:
        end.ours.close()
        end.theirs.close()


def admitted(connections: Connections, clock: Clock, made: Any, clients: str) -> list[Ends]:
    """Connections of these clients, one a second."""
    found = []
    for client in clients:
        found.append(made(client))
        assert connections.admit(found[-1].ours, client)
        clock.now += 1
    return found


def released(connections: Connections, ends: list[Ends]) -> str:
    """Release what was closed, as its thread does; return which those are, by place."""
    closed = [i for i, one in enumerate(ends) if one.is_closed]
    for i in closed:
        connections.release(ends[i].ours)
    return "".join(map(str, closed))


@pytest.mark.parametrize(
    ("clients", "phases", "closed"),
    [
        ("aaa", "RRR", "0"),  # the oldest
        ("abb", "RRR", "1"),  # of the client that has most
        ("abb", "RAR", "2"),  # but not one that is at work
        ("abb", "RAA", "0"),
        ("aaa", "ASR", "2"),  # 1 began to send after 2 began to wait
        ("aaa", "AAA", ""),
    ],
)
def test_which_goes_first(
    connections: Connections, clock: Clock, made: Any, clients: str, phases: str, closed: str
) -> None:
    ends = admitted(connections, clock, made, clients)
    letters = {"R": Phase.READING, "A": Phase.ANSWERING, "S": Phase.SENDING}
    for one, letter in zip(ends, phases, strict=True):
        connections.enter(one.ours, letters[letter])
        clock.now += 1
    new = made()
    assert not connections.admit(new.ours, "c")  # there is room once the thread has ended
    assert released(connections, ends) == closed
    assert connections.admit(new.ours, "c") == bool(closed)


def test_one_is_closed_for_one(connections: Connections, clock: Clock, made: Any) -> None:
    """One that was closed already makes room, so that no second one is."""
    ends = admitted(connections, clock, made, "aaa")
    for _ in range(3):
        assert not connections.admit(made().ours, "b")
    assert released(connections, ends) == "0"
    assert len(connections) == 2


def test_one_that_was_closed_does_not_go_on(
    connections: Connections, clock: Clock, made: Any
) -> None:
    ends = admitted(connections, clock, made, "a")
    assert connections.close_slowest()
    with pytest.raises(ConnectionAbortedError):
        connections.enter(ends[0].ours, Phase.ANSWERING)
    assert not connections.close_slowest()


def test_deadlines_are_of_a_phase(connections: Connections, clock: Clock, made: Any) -> None:
    reading, sending, working = ends = [made() for _ in range(3)]
    for one in ends:
        assert connections.admit(one.ours, "a")
    connections.enter(sending.ours, Phase.SENDING)
    connections.enter(working.ours, Phase.ANSWERING)
    for now, closed in [(10, ""), (10.1, "0"), (30, "0"), (30.1, "01"), (1e6, "01")]:
        clock.now = now
        connections.enter(working.ours, Phase.ANSWERING)
        connections.close_overdue()
        assert "".join(str(i) for i, one in enumerate(ends) if one.is_closed) == closed
    del reading


def test_reading_again_begins_when_an_answer_was_sent(
    connections: Connections, clock: Clock, made: Any
) -> None:
    (one,) = admitted(connections, clock, made, "a")
    for _ in range(5):
        clock.now += 9
        for phase in (Phase.ANSWERING, Phase.SENDING, Phase.READING):
            connections.enter(one.ours, phase)
        connections.enter(one.ours, Phase.READING)
        connections.close_overdue()
        assert not one.is_closed


# ---- the server -------------------------------------------------------------------------------


def opened(server: Server) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", server.port), 30)
    made.settimeout(30)
    return made


def test_bytes_do_not_extend_a_deadline(server: Server) -> None:
    """Each byte comes in time, the request does not."""
    clock = Clock()
    server._http.connections.clock = clock
    with opened(server) as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: ")
        assert request(server, "/api/health").status == 200  # so it was admitted, at 0
        for _ in range(10):
            clock.now += 1
            one.sendall(b"x")
            assert request(server, "/api/health").status == 200
        one.setblocking(False)
        with pytest.raises(BlockingIOError):  # ten seconds are just allowed
            one.recv(1)
        one.settimeout(30)
        clock.now += 1
        assert one.recv(1) == b""


def test_an_answer_that_nobody_reads_is_given_up(server: Server) -> None:
    clock = Clock()
    connections = server._http.connections
    connections.clock = clock
    sending = threading.Event()
    enter = connections.enter

    def entered(one: socket.socket, phase: Phase) -> None:
        enter(one, phase)
        if phase is Phase.SENDING:
            sending.set()

    connections.enter = entered  # type: ignore[method-assign]
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.settimeout(30)
        one.connect(("127.0.0.1", server.port))
        asked = f"GET /chart.js HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
        one.sendall(asked.encode() * 900)
        assert sending.wait(30)
        while clock.now < 10_000 and len(connections):  # whichever phase it is in by now
            clock.now += 31
            sending.clear()
            sending.wait(0.1)
        assert len(connections) == 0


def test_an_error_of_the_server_is_reported(
    server: Server, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also one that looks like a connection that has ended."""

    def fail(*arguments: Any) -> None:
        raise BrokenPipeError("the disk is on fire")

    monkeypatch.setattr(Api, "answer", fail)
    assert request(server, "/api/health").status == 500
    assert "the disk is on fire" in capfd.readouterr().err


def test_a_thread_that_cannot_be_started_takes_no_room(
    server: Server, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        for _ in range(_connections.MOST_CONNECTIONS + 1):
            with opened(server) as one:
                assert one.recv(1) == b""
    assert request(server, "/api/health").status == 200
    assert "can't start new thread" in capfd.readouterr().err


def test_without_file_descriptors_another_is_closed(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept = socket.socket.accept
    refused = []

    def full(one: socket.socket) -> Any:
        if one is server._http.socket and not refused:
            refused.append(one)
            raise OSError(errno.EMFILE, "Too many open files")
        return accept(one)

    with opened(server) as first:
        assert request(server, "/api/health").status == 200  # so the first was admitted
        monkeypatch.setattr(socket.socket, "accept", full)
        assert request(server, "/api/health").status == 200
        assert first.recv(1) == b""
    assert len(refused) == 1
