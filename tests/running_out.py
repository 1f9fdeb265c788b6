"""A program that has little memory: run by test_out_of_memory.py.

Everything grows until there is no more. What raises is a MemoryError, and what is there then is
right.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sash
from sash import TimedWindow, agg

COLUMN = np.ones(50_000, np.int64)
NOW = np.arange(50_000)
SUM = agg.sum(dtype=int)
MORE = 80 << 20
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def limited(more: int) -> None:
    """From here on, so many bytes more and no others."""
    resource.setrlimit(resource.RLIMIT_AS, UNLIMITED)  # reading how many there are takes some
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + more, resource.RLIM_INFINITY))


def until_full(grow: Callable[[int], Any]) -> int:
    """Call it again and again until memory runs out; how often it succeeded.

    Then there is memory again: how much a check may take of what was left would be chance.
    """
    for i in range(10_000):
        try:
            grow(i)
        except MemoryError:
            limited(MORE)
            return i
    raise AssertionError("memory never ran out")


def window(kind: str) -> None:
    made = getattr(sash, kind)(SUM)
    assert until_full(lambda _: made.insert_many(COLUMN)) > 0
    assert made.query() == len(made) >= len(COLUMN)
    made.evict_many(len(made) - 1000)
    made.insert(1)
    made.check_invariants()
    assert made.query() == len(made) == 1001


def timed() -> None:
    made = TimedWindow(SUM)
    assert until_full(lambda i: made.insert_many(NOW + i * len(NOW), COLUMN)) > 0
    assert made.query() == len(made)
    assert made.youngest == len(made) - 1
    made.bulk_evict(made.youngest - 1000)
    made.check_invariants()
    assert made.query() == len(made) == 1000


def tree(kind: str) -> None:
    made = getattr(sash, kind)([SUM, agg.nth_youngest(20, dtype=int)])
    done = until_full(lambda i: made.bulk_insert(NOW * 1000 + i, COLUMN))
    assert len(made) == done * len(NOW)  # a bulk is taken whole, or not at all
    assert made.query() == (len(made), 1)
    made.check_invariants()
    made.bulk_evict(made.youngest - 1_000_000)
    made.insert(3, 1)
    made.check_invariants()
    assert made.query()[0] == len(made)


def objects() -> None:
    made = sash.FingerTree(sash.monoid(lambda a, b: a if len(a) > len(b) else b, lift=bytes))
    done = until_full(lambda i: made.insert(i, 1_000_000))
    assert len(made) == done > 0
    assert len(made.query()) == 1_000_000
    made.check_invariants()


def results() -> None:
    """The results of a column may be too many, though the window is small."""
    made = sash.DabaLite(agg.countmin(width=1 << 12, depth=4))
    made.insert_many(NOW[:10])
    try:
        made.slide(NOW, 100)
    except MemoryError:
        made.check_invariants()
        assert len(made) == 10
        return
    raise AssertionError("six gigabytes of results in less memory")


def rolling() -> None:
    table = pa.table({"t": NOW, "x": NOW})
    try:
        sash.rolling(table, on="t", window=10, aggs=agg.countmin("x", width=1 << 12, depth=4))
    except MemoryError:
        few = sash.rolling(table, on="t", window=10, aggs=agg.max("x"))
        assert few["max_x"].to_pylist() == NOW.tolist()
        return
    raise AssertionError("six gigabytes of results in less memory")


def operator() -> None:
    def make() -> sash.WindowOperator:
        return sash.WindowOperator(
            on="t", by="k", windows=[sash.tumbling(1), sash.session(1)], aggs=agg.sum("x")
        )

    def batch(i: int) -> pa.Table:
        return pa.table({"t": NOW + i * len(NOW), "k": NOW, "x": COLUMN})

    op = make()
    op.process(batch(0))
    saved = op.snapshot()
    done = until_full(lambda i: op.process(batch(i + 1)))
    try:
        op.query(0)
    except RuntimeError as error:
        assert "ran out of memory" in str(error)
        op = make()
        limited(MORE)  # as in a new process
        op.restore(saved)
        done = 0
    assert op.rows == (done + 1) * len(NOW)
    assert op.query(7)["sum_x"] == done + 1


if __name__ == "__main__":
    for argument in sys.argv[1:]:  # each a function, or one and its argument: window:DabaLite
        what, *kind = argument.split(":")
        limited(MORE)
        globals()[what](*kind)
        print(argument)
