"""The connections of the server: how many there are, how long each may take, which ends first."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

MOST_CONNECTIONS = 64
_GRACE = 1.0  # seconds that a closed connection's thread has to end before newcomers are refused


class Phase(Enum):
    """What a connection is doing, and the seconds that it may take in all; None: not limited."""

    READING = 10.0  # waiting for a request and reading it, however many pieces it comes in
    ANSWERING = None  # the server is at work: the client is not to blame
    SENDING = 30.0  # the client takes the answer


@dataclass
class _Connection:
    client: str
    since: float
    phase: Phase = Phase.READING
    closed: bool = False


class Connections:
    """The open connections, never more than ``most``.

    Each phase of a request has a deadline from its beginning, not from the last byte. When there
    is no room for another connection, one that waits for its client is closed: of the client that
    has the most of them, the one that has waited longest. Connections whose answer is being
    computed are never closed for others.
    """

    def __init__(
        self, most: int = MOST_CONNECTIONS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most = most
        self.clock = clock
        self._open: dict[socket.socket, _Connection] = {}
        self._changed = threading.Condition()

    def __len__(self) -> int:
        with self._changed:
            return len(self._open)

    def admit(self, one: socket.socket, client: str) -> bool:
        """Take in a new connection, if need be in place of another; False where none can go."""
        with self._changed:
            active = sum(not c.closed for c in self._open.values())
            if active >= self.most and not self._close_slowest():
                return False
            if not self._changed.wait_for(lambda: len(self._open) < self.most, _GRACE):
                return False
            self._open[one] = _Connection(client, self.clock())
            return True

    def release(self, one: socket.socket) -> None:
        """Forget a connection whose thread ends."""
        with self._changed:
            self._open.pop(one, None)
            self._changed.notify_all()

    def enter(self, one: socket.socket, phase: Phase) -> None:
        """Begin a phase of a connection; raises if it was closed meanwhile."""
        with self._changed:
            found = self._open[one]
            if found.closed:
                raise ConnectionAbortedError("the server has closed this connection")
            if found.phase is not phase:
                found.phase, found.since = phase, self.clock()

    def close_overdue(self) -> None:
        """Close the connections that are past the deadline of their phase."""
        with self._changed:
            now = self.clock()
            for one, found in self._open.items():
                limit = found.phase.value
                if limit is not None and now - found.since > limit:
                    self._close(one)

    def close_slowest(self) -> bool:
        """Close the connection that goes first; returns whether there was one."""
        with self._changed:
            return self._close_slowest()

    def close_all(self) -> None:
        """Close all connections, and wait until their threads have ended."""
        with self._changed:
            for one in self._open:
                self._close(one)
            self._changed.wait_for(lambda: not self._open)

    def _close_slowest(self) -> bool:
        by_client = Counter(c.client for c in self._open.values() if not c.closed)
        waiting = [
            (-by_client[c.client], c.since, place, one)
            for place, (one, c) in enumerate(self._open.items())
            if c.phase is not Phase.ANSWERING and not c.closed
        ]
        if waiting:
            self._close(min(waiting)[-1])
        return bool(waiting)

    def _close(self, one: socket.socket) -> None:
        """End both directions, which wakes the connection's thread. That thread releases it."""
        self._open[one].closed = True
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # the client has ended it
