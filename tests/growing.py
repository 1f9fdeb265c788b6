"""A program that counts the bytes it has allocated: run by test_steady_memory.py.

`steady` runs a window on and on: no more is allocated. `burst` fills one far beyond that and
empties it again: all is freed. Counted are the bytes that are mapped, less those that malloc keeps
free, so that resident pages, fragmentation and the load of the machine do not matter.
"""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

import sash
from sash import TimedWindow, agg

MB = 1 << 20
SLACK = MB // 8
"""Bytes that may come and go: caches of malloc and of Python take half of it at most."""
MANY = 1_000_000
ONES = np.ones(MANY, np.int64)
NOW = np.arange(MANY)
SUM = agg.sum(dtype=int)
LONGEST = sash.monoid(lambda a, b: a if len(a) >= len(b) else b, name="longest")


class Heap(ctypes.Structure):
    """What mallinfo2 of the GNU C library returns, of all arenas and mapped blocks."""

    _fields_: ClassVar = [(f"before_{i}", ctypes.c_size_t) for i in range(8)] + [
        ("fordblks", ctypes.c_size_t),  # bytes that are free
        ("keepcost", ctypes.c_size_t),
    ]


MALLINFO = ctypes.CDLL(None).mallinfo2
MALLINFO.restype = Heap


def allocated() -> int:
    """Return the bytes that are allocated and not freed: by malloc, and mapped beside it."""
    gc.collect()
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return mapped - int(MALLINFO().fordblks)


# ---- rounds of windows that go on and on --------------------------------------------------------
def window_round(kind: str) -> Callable[[int], Any]:
    native, objects = getattr(sash, kind)(SUM), sash.DabaLite(LONGEST)
    if kind != "SubtractOnEvict":
        objects = getattr(sash, kind)(LONGEST)
    texts = [str(i) * (i % 50) for i in range(500)]

    def run(i: int) -> None:
        native.slide(ONES[:5000], 1000)
        objects.slide(texts, 100)
        objects.insert(texts[i % 500])
        objects.evict()
        objects.query()
        if i % 10 == 0:
            native.snapshot(), objects.snapshot()

    return run


def tree_round(kind: str) -> Callable[[int], Any]:
    native, objects = (
        getattr(sash, kind)([SUM, agg.topk(3, dtype=int)]),
        getattr(sash, kind)(LONGEST),
    )

    def run(i: int) -> None:
        now = 5000 * i
        native.bulk_insert(now + NOW[:5000] * 7 % 9000, ONES[:5000])
        native.bulk_evict(now - 2000)
        native.query(now - 500, now + 500)
        objects.bulk_insert(now + NOW[:300] * 7 % 400, list(map(str, range(300))))
        objects.bulk_evict(now - 100)

    return run


def operator_round(kind: str) -> Callable[[int], Any]:
    """Keys come and go, and names of keys."""
    op = sash.WindowOperator(
        on="t", by="k", delay=0, lateness=500,
        windows=[sash.tumbling(100), sash.sliding(300, 50), sash.session(20)],
        aggs=[agg.sum("x"), LONGEST.on("text")] if kind == "objects" else [agg.sum("x")],
    )  # fmt: skip

    def run(i: int) -> None:
        n = 300
        keys = [f"key {i}.{j % 100}" for j in range(n)]
        text = [str(j) for j in range(n)]
        op.process(pa.table({"t": 1000 * i + NOW[:n], "k": keys, "x": ONES[:n], "text": text}))
        if i == 5:
            op.snapshot()  # from here on changes are kept
        if i > 5 and i % 10 == 0:
            op.changes()

    return run


def rolling_round(kind: str) -> Callable[[int], Any]:
    table = pa.table({"t": NOW[:3000], "k": NOW[:3000] % 9, "x": NOW[:3000] % 100})
    aggs = [LONGEST.on("k")] if kind == "objects" else [agg.max("x"), agg.median("x")]
    if kind == "objects":
        table = table.set_column(1, "k", pa.array(list(map(str, range(3000)))))
    return lambda _: sash.rolling(table, on="t", window=50, aggs=aggs)


ROUNDS = {
    "window": window_round,
    "tree": tree_round,
    "operator": operator_round,
    "rolling": rolling_round,
}


def steady(what: str, kind: str) -> None:
    run, n = ROUNDS[what](kind), 40 if what == "operator" else 15
    for i in range(n):
        run(i)
    before = allocated()
    for i in range(n, 4 * n):
        run(i)
    grown = allocated() - before
    assert grown < SLACK, f"{what} of {kind}: {grown:,} bytes more after {3 * n} more rounds"


# ---- bursts --------------------------------------------------------------------------------------
def burst_of(made: Any, fill: Callable[[], Any], empty: Callable[[], Any]) -> None:
    """What is allocated is what nbytes says, after the burst too."""
    small, before = made.nbytes, allocated()
    fill()
    large, more = made.nbytes, allocated() - before
    assert large > 10 * MB
    assert abs(more - (large - small)) < large / 20, f"{made}: {more:,} bytes, not {large:,}"
    empty()
    assert made.nbytes < MB, f"{made}: {made.nbytes:,} bytes"
    left = allocated() - before - (made.nbytes - small)
    assert left < SLACK, f"{made}: {left:,} bytes left"


def burst(what: str, kind: str) -> None:
    if what == "window":
        made: Any = getattr(sash, kind)(SUM)
        made.slide(ONES[:5000], 1000)

        def empty() -> None:
            made.evict_many(MANY)
            made.slide(ONES[:5000], 1000)

        burst_of(made, lambda: (made.insert_many(ONES), made.query()), empty)
    elif what == "timed":
        made = TimedWindow(SUM, structure=getattr(sash, kind))
        made.insert_many(NOW[:1000], ONES[:1000])
        fill = lambda: made.insert_many(NOW + 1000, ONES)  # noqa: E731
        burst_of(made, fill, lambda: made.bulk_evict(MANY - 10))
    elif what == "tree":
        made = getattr(sash, kind)(SUM)
        made.bulk_insert(NOW[:1000], ONES[:1000])

        def leave() -> None:
            made.bulk_evict(MANY - 10)
            made.slide(MANY + NOW[:100_000], ONES[:100_000], rows=1000)

        burst_of(made, lambda: made.bulk_insert(NOW, ONES), leave)
    else:
        operator_bursts()


def operator_bursts() -> None:
    """As much is allocated after each burst."""
    op = sash.WindowOperator(
        on="t", by="k", windows=[sash.tumbling(10), sash.session(5)], aggs=agg.sum("x"),
        delay=0, lateness=100,
    )  # fmt: skip
    now = 0

    def batch(n: int) -> None:
        nonlocal now
        times = now + NOW[:n] * 1000 // n
        op.process(pa.table({"t": times, "k": NOW[:n] * 7, "x": ONES[:n]}))
        now += 1000

    def burst() -> int:
        batch(100_000)
        large = op.nbytes
        for _ in range(5):
            batch(1000)
        assert large > 3 * MB and op.nbytes < large / 20, f"{op}: {large}, {op.nbytes} bytes"
        return allocated()

    batch(1000)
    once = burst()
    for _ in range(4):
        more = burst() - once
    assert more < SLACK, f"{op}: {more:,} bytes more after four more bursts"


if __name__ == "__main__":
    for argument in sys.argv[2:]:  # such as window:DabaLite
        {"steady": steady, "burst": burst}[sys.argv[1]](*argument.split(":"))
        print(argument)
