"""One window is one call's at a time: re-entrant and concurrent use are refused, nothing breaks."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cases import STRUCTURES, named
from patience import finished
from threads import met

import sash
from sash import TimedWindow, agg
from sash.structures import Window

CALLS: dict[str, Callable[[Any], Any]] = {
    "insert": lambda w: w.insert(1),
    "evict": lambda w: w.evict(),
    "query": lambda w: w.query(),
    "len": len,
    "clear": lambda w: w.clear(),
    "insert_many": lambda w: w.insert_many([1]),
    "slide": lambda w: w.slide([1], 3),
    "snapshot": lambda w: w.snapshot(),
    "check_invariants": lambda w: w.check_invariants(),
    "nbytes": lambda w: w.nbytes,
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_a_combine_may_not_call_back_in(structure: type[Window], call: str) -> None:
    inside: list[Window] = []

    def combine(a: int, b: int) -> int:
        if inside:
            CALLS[call](inside.pop())
        return a + b

    window = structure(sash.monoid(combine, inverse=lambda s, e: s - e))
    window.insert_many([1, 2, 4])
    for operation in (lambda: (window.insert(8), window.query()), lambda: window.slide([8], 9)):
        before = len(window)
        inside.append(window)
        with pytest.raises(RuntimeError, match="in use"):
            operation()
        assert not inside
        window.check_invariants()
        while len(window) > before:  # the insert stood, the query was refused
            assert window.query() == 15
            window.clear()
            window.insert_many([1, 2, 4])
    assert window.query() == 7


def test_a_timed_window_may_not_be_called_back_either() -> None:
    inside: list[TimedWindow] = []

    def combine(a: int, b: int) -> int:
        if inside:
            inside.pop().insert(5, 1)
        return a + b

    window = TimedWindow(sash.monoid(combine))
    window.insert_many([1, 2], [1, 2])
    inside.append(window)
    with pytest.raises(RuntimeError, match="in use"):
        window.slide([3, 4, 5], [4, 8, 16], 9)
    window.check_invariants()
    assert (len(window), window.query()) == (2, 3)


def test_an_index_method_may_not_call_back_in() -> None:
    window = sash.DabaLite(agg.sum(dtype=int))

    class Sly:
        def __index__(self) -> int:
            window.insert(1)
            return 5

    with pytest.raises((RuntimeError, TypeError)):
        window.insert(Sly())
    assert len(window) == 0


def test_another_thread_is_refused_during_a_long_slide() -> None:
    window = sash.Recalc(agg.max())
    values = np.arange(60_000, dtype=float)
    met(lambda: window.slide(values, 2_000), lambda: (window.insert(-1.0), window.evict()))
    window.check_invariants()
    assert window.query() in (None, -1.0, values[-1])


RACE = """
import sys, threading
import sash
sys.setswitchinterval(1e-6)
window = sash.TwoStacksLite(sash.agg.sum())

def evict():
    for _ in range(20_000):
        try:
            window.evict_many(len(window))
        except (IndexError, RuntimeError):
            pass

def insert():
    for _ in range(20_000):
        try:
            window.insert_many([1.0, 2.0, 3.0])
        except RuntimeError:
            pass

threads = [threading.Thread(target=f) for f in (evict, evict, insert)]
for t in threads: t.start()
for t in threads: t.join()
window.check_invariants()
assert len(window) < 60_001
print("whole")
"""


def test_racing_evictions_do_not_crash() -> None:
    done = finished([sys.executable, "-c", RACE])
    assert (done.returncode, done.stdout.strip()) == (0, "whole"), done.stderr[-500:]


def test_windows_of_different_threads_do_not_meet() -> None:
    values = np.arange(200_000, dtype=float)
    results: dict[int, np.ndarray[Any, Any]] = {}

    def run(i: int) -> None:
        results[i] = sash.DabaLite(agg.max()).slide(values + i, 100)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        assert (results[i] == values + i).all()
