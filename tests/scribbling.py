"""A program that writes to arrays while Sash reads them: run by test_thread_inputs.py."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pyarrow as pa

import sash
from sash import agg

sys.setswitchinterval(1e-6)
n = 20_000
times, values = np.arange(n), np.ones(n)
keys = (np.arange(n) % 50).astype(np.int64)
stop = threading.Event()


def scribble() -> None:
    source = np.random.default_rng(1)
    while not stop.is_set():
        at = source.integers(0, n, 1000)
        times[at] = source.integers(-(2**62), 2**62, 1000)
        values[at] = source.normal(size=1000)
        keys[at] = source.integers(-(2**62), 2**62, 1000)
        times[:] = np.arange(n)


def table() -> pa.Table:
    return pa.table({"t": times, "k": keys, "x": values})


def bulk() -> None:
    tree = sash.FingerTree(agg.sum())
    for _ in range(3):
        tree.bulk_insert(times, values)
        tree.bulk_insert(times[::7], values[::7])
    tree.bulk_evict(n // 2)
    tree.check_invariants()


def timed() -> None:
    window = sash.TimedWindow(agg.max())
    window.insert_many(times, values)
    window.check_invariants()


def slide() -> None:
    sash.FingerTree(agg.max()).slide(times, values, rows=100)
    sash.TwoStacks([agg.sum(), agg.topk(3)]).slide(values, 100)


def roll() -> None:
    for order in ("event", "arrival"):
        sash.rolling(
            table(), on="t", by="k", window=50, aggs=[agg.max("x"), agg.median("x")], order=order
        )
    sash.rolling(
        table(), on="t", window=50, aggs=[agg.count_distinct("k"), agg.mean("x"), agg.bloom("x")]
    )


def process() -> None:
    op = sash.WindowOperator(
        on="t",
        by="k",
        windows=[sash.tumbling(999), sash.session(5), sash.sliding(rows=9, slide=3)],
        aggs=[agg.sum("x"), agg.nth_youngest(2, "x")],
        lateness=2**60,
    )
    op.process(table())
    op.process(table())
    op.snapshot()


thread = threading.Thread(target=scribble)
thread.start()
done = 0
try:
    for call in (bulk, timed, slide, roll, process):
        for _ in range(4):
            try:
                call()
                done += 1
            except (ValueError, OverflowError):
                pass
finally:
    stop.set()
    thread.join()
print("alive", done)
