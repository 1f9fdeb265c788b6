"""Threads that begin at once, and calls that another's use of the same object may refuse."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from patience import PATIENCE


def together(*works: Callable[[], None]) -> None:
    """Run functions in threads that begin at once; raise what they raise."""
    barrier = threading.Barrier(len(works))
    errors: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        barrier.wait()
        try:
            work()
        except BaseException as error:  # shown by the thread that waits
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class Refusals:
    """Calls that another thread's use of the same object may refuse."""

    def __init__(self) -> None:
        self.count = 0

    def allow(self, call: Callable[[], Any]) -> Any:
        """Return what the call does, or None when it was refused."""
        try:
            return call()
        except RuntimeError as error:
            if "in use by another call" not in str(error):
                raise
            self.count += 1
            return None


def met(long: Callable[[], Any], short: Callable[[], Any]) -> None:
    """Run both again and again, each in a thread, until one was refused during the other."""
    refusals = [Refusals(), Refusals()]
    end = time.monotonic() + PATIENCE  # they meet within a few milliseconds

    def work(i: int, call: Callable[[], Any]) -> Callable[[], None]:
        def repeat() -> None:
            while not any(r.count for r in refusals) and time.monotonic() < end:
                refusals[i].allow(call)

        return repeat

    together(work(0, long), work(1, short))
    assert any(r.count for r in refusals), "no call was ever refused: they never met"
