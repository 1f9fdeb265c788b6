"""Threads that share an aggregate or a table, and inputs that change or go away during a call."""

from __future__ import annotations

import gc
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from patience import finished
from threads import together

import sash
from sash import agg

SHARED: dict[str, sash.Aggregate] = {
    "native": agg.max("x"),
    "record": agg.topk(5, "x"),
    "Python": sash.monoid(max, name="largest").on("x"),
    "order": agg.nth_youngest(3, "x"),
}


@pytest.mark.parametrize("kind", SHARED)
def test_one_aggregate_in_many_threads(kind: str) -> None:
    shared = SHARED[kind]
    n = 1500 if kind == "Python" else 30_000
    x = np.random.default_rng(1).integers(0, 1000, n).astype(float)
    table = pa.table({"t": np.arange(n), "k": np.arange(n) % 7, "x": x})
    plain = shared.on(None)

    def work() -> list[Any]:
        op = sash.WindowOperator(on="t", by="k", windows=sash.tumbling(100), aggs=shared)
        op.process(table)
        tree = sash.FingerTree(plain)
        tree.bulk_insert(np.arange(n), x)
        window = sash.DabaLite(plain)
        slid = window.slide(x, 50)
        return [
            sash.rolling(table, on="t", by="k", window=40, aggs=[shared, agg.median("x")]),
            op.finish(),
            slid.tolist() if isinstance(slid, np.ndarray) else slid,
            str(tree.query()),
            window.snapshot(),
        ]

    wanted = work()
    found: list[list[Any]] = []
    together(*[lambda: found.append(work())] * 3)
    for each in found:
        assert str(each) == str(wanted)


def test_inputs_are_kept_alive() -> None:
    """Nothing refers to them but the call; another thread collects and fills what was free."""
    stop = threading.Event()

    def collect() -> None:
        while not stop.is_set():
            gc.collect(0)
            np.full(50_000, 7.0)

    def work() -> None:
        try:
            for i in range(15):
                n = 50_000
                assert (sash.DabaLite(agg.max()).slide(np.full(n, float(i)), 10) == i).all()
                tree = sash.FingerTree(agg.max())
                tree.bulk_insert(np.arange(n), np.full(n, float(i)))
                assert tree.query() == i
                out = sash.rolling(
                    pa.table({"t": np.arange(n), "x": np.full(n, float(i))}),
                    on="t", window=9, aggs=[agg.max("x"), agg.median("x")],
                )  # fmt: skip
                assert out["max_x"].to_numpy().max() == out["median_x"].to_numpy().min() == i
                op = sash.WindowOperator(on="t", by="k", windows=sash.session(5), aggs=agg.sum("x"))
                op.process(
                    pa.table({"t": np.arange(n) + i, "k": np.arange(n) % 9, "x": np.ones(n)})
                )
                assert op.rows == n
        finally:
            stop.set()

    together(work, collect)


def test_inputs_that_are_written_to_meanwhile() -> None:
    """What comes out is of either value; nothing crashes, and no structure is damaged."""
    done = finished([sys.executable, Path(__file__).with_name("scribbling.py")])
    assert (done.returncode, done.stdout[:5]) == (0, "alive"), done.stderr[-1000:]
