"""Interrupting native calls at a chosen check, for tests."""

from __future__ import annotations

import ctypes
import operator
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from sash import _core

_NEVER = 1 << 62


@contextmanager
def interrupted_at(check: int) -> Iterator[None]:
    """Let native loops check at each row, and the given check raise KeyboardInterrupt."""
    _core._poll_after(check)
    try:
        yield
    finally:
        _core._poll_after(0)


def checks_of(call: Callable[[], object]) -> int:
    """Return how often a call checks when it is not interrupted."""
    _core._poll_after(_NEVER)
    try:
        call()
    finally:
        checks = _core._poll_after(0)
    return checks


def at_every_check(call: Callable[[], Any]) -> Iterator[int]:
    """Interrupt a call at its first check, its second, and so on; yield after each interruption."""
    checks = checks_of(call)
    assert checks > 0, "the call never checks"
    for check in range(1, checks + 1):
        with interrupted_at(check), pytest.raises(KeyboardInterrupt, match=f"check {check} "):
            call()
        yield check


class RaisedByHandlerError(Exception):
    """What the handler of `with_signal_pending` raises."""


def with_signal_pending(call: Callable[[], object]) -> None:
    """Run a native call while a signal waits whose handler raises.

    The signal is made pending and the call made from C, without a bytecode between them: only the
    call itself can run the handler.
    """

    def handler(*_: object) -> None:
        raise RaisedByHandlerError

    former = signal.signal(signal.SIGUSR1, handler)
    make_pending = partial(ctypes.pythonapi.PyErr_SetInterruptEx, int(signal.SIGUSR1))
    try:
        with interrupted_at(_NEVER):
            list(map(operator.call, [make_pending, call]))
    finally:
        signal.signal(signal.SIGUSR1, former)
