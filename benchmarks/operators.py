"""The window operator beside one bucket per window: same rows, same windows, one core.

The baseline is the usual way: every row is added to every window it is in. It is written in NumPy,
a whole batch at a time for each kind of window. Its answers are compared with the operator's.
"""

from __future__ import annotations

import gc
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sash
from benchmarks.measure import Row
from sash import agg

SECOND = 1_000_000
RATE = 15_000  # rows in a second of event time
DELAY = 2 * SECOND
BATCH = 200_000
Times = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]


def make_stream(rows: int, late: float) -> tuple[Times, Values]:
    """Rows by arrival: a part of them late, by up to two seconds."""
    rng = np.random.default_rng(5)
    times = np.sort(rng.integers(0, rows * SECOND // RATE, rows))
    times += times // (12 * SECOND) * 2 * SECOND  # five gaps a minute
    delays = np.where(rng.random(rows) < late, rng.integers(0, DELAY, rows), 0)
    order = np.argsort(times + delays, kind="stable")
    return times[order], rng.random(rows)


def run_ours(table: pa.Table, windows: list[sash.windows.Window], by: str | None) -> Any:
    """Return nanoseconds of CPU for each row, what was told, and the operator."""
    op = sash.WindowOperator(on="t", by=by, windows=windows, aggs=agg.sum("x"), delay=DELAY)
    batches = [table.slice(i, BATCH) for i in range(0, table.num_rows, BATCH)]
    told = [op.process(batches[0])]
    gc.collect()
    start = time.process_time()
    told += [op.process(b) for b in batches[1:]]
    cost = (time.process_time() - start) * 1e9 / (table.num_rows - BATCH)
    told.append(op.finish())
    return cost, pa.concat_tables(told), op


def run_buckets(times: Times, values: Values, windows: list[sash.windows.Window]) -> Any:
    """Add every row to every window it is in; sessions by sorting. Windows are never closed."""
    buckets: dict[tuple[str, int], float] = {}
    start = time.process_time()
    for i in range(0, len(times), BATCH):
        t, x = times[i : i + BATCH], values[i : i + BATCH]
        for w in windows:
            if w.kind == "session":
                continue
            first = t // w.slide
            for back in range(w.size // w.slide):
                index = first - back
                low = int(index.min())
                sums = np.bincount(index - low, weights=x)
                for k in np.flatnonzero(sums):
                    place = (w.name, (low + int(k)) * w.slide)
                    buckets[place] = buckets.get(place, 0.0) + sums[k]
    for w in windows:
        if w.kind == "session":
            _sessions(buckets, w, times, values)
    return (time.process_time() - start) * 1e9 / len(times), buckets


def _sessions(buckets: Any, w: sash.windows.Window, times: Times, values: Values) -> None:
    order = np.argsort(times, kind="stable")
    t, x = times[order], values[order]
    starts = np.flatnonzero(np.diff(t, prepend=t[0] - w.size - 1) > w.size)
    sums = np.add.reduceat(x, starts)
    buckets.update({(w.name, int(t[s])): v for s, v in zip(starts, sums, strict=True)})


def _check(told: pa.Table, buckets: dict[tuple[str, int], float]) -> None:
    places = zip(told["window"].to_pylist(), told["window_start"].to_pylist(), strict=True)
    ours = dict(zip(places, told["sum_x"].to_pylist(), strict=True))
    assert ours.keys() == buckets.keys(), "other windows than the baseline's"
    np.testing.assert_allclose([ours[p] for p in buckets], list(buckets.values()), rtol=1e-9)


def twenty() -> list[sash.windows.Window]:
    return [*(sash.tumbling(i * SECOND) for i in range(1, 21)), sash.session(SECOND)]


def operator(quick: bool) -> list[Row]:
    """Windows over one stream, nanoseconds of CPU for each row, and millions of rows a second."""
    n = 1_000_000 if quick else 6_000_000
    thousand = [sash.tumbling(SECOND + i * 19_019) for i in range(1000)]
    long = [sash.tumbling(i * SECOND) for i in range(1, 1001)]
    cases: list[tuple[str, list[sash.windows.Window], float, int | None]] = [
        ("20 tumbling + session, 20% late", twenty(), 0.2, None),
        ("20 tumbling + session, none late", twenty(), 0.0, None),
        ("20 tumbling + session, 50% late", twenty(), 0.5, None),
        ("20 tumbling + session, all late", twenty(), 1.0, None),
        ("1,000 tumbling of 1 to 20 s", thousand, 0.2, None),
        ("1,000 tumbling of 1 to 1,000 s", long, 0.2, None),
        ("sliding 60 s by 100 ms", [sash.sliding(60 * SECOND, SECOND // 10)], 0.2, None),
        ("tumbling 60 s, 100,000 keys", [sash.tumbling(60 * SECOND)], 0.2, 100_000),
        ("20 tumbling + session, 1,000 keys", twenty(), 0.2, 1000),
    ]  # fmt: skip
    rows: list[Row] = []
    for name, windows, late, keys in cases:
        times, values = make_stream(n, late)
        columns = {"t": pa.array(times), "x": pa.array(values)}
        if keys is not None:
            columns["k"] = pa.array(np.random.default_rng(6).integers(0, keys, n))
        runs = [
            run_ours(pa.table(columns), windows, None if keys is None else "k") for _ in range(3)
        ]
        cost, told, _ = min(runs, key=lambda r: r[0])
        row: Row = {"windows": name, "told": told.num_rows, "ns a row": cost}
        row["M rows/s"] = 1000 / cost
        if keys is None:
            part = n if len(windows) < 100 and "100 ms" not in name else min(n, 400_000)
            base, buckets = run_buckets(times[:part], values[:part], windows)
            small = pa.table({"t": times[:part], "x": values[:part]})
            op = sash.WindowOperator(on="t", windows=windows, aggs=agg.sum("x"), delay=DELAY)
            _check(pa.concat_tables([op.process(small), op.finish()]), buckets)
            row |= {"buckets, ns": base, "times": base / cost}
        rows.append(row)
    return rows


def operator_memory(quick: bool) -> list[Row]:
    """What an idle key and a slice take, and what changes since a snapshot cost."""
    n = 100_000 if quick else 1_000_000
    rows: list[Row] = []
    for name, windows, lateness in (
        ("tumbling", [sash.tumbling(SECOND)], 0),
        ("tumbling, lateness", [sash.tumbling(SECOND)], SECOND),
        ("20 tumbling + session", twenty(), 0),
        ("rolling 100 rows", [sash.windows.rolling(rows=100)], 0),
    ):
        op = sash.WindowOperator(
            on="t", by="k", windows=windows, aggs=agg.sum("x"), lateness=lateness
        )
        op.process(pa.table({"t": np.arange(n) % 7, "x": np.ones(n), "k": np.arange(n)}))
        if lateness:
            op.advance(SECOND)  # then it is told, and may still change
        rows.append({"what": f"an idle key, {name}", "bytes": op.nbytes / n, "ms": None})
    size = 1_000_000 if quick else 10_000_000
    op = sash.WindowOperator(on="t", windows=sash.sliding(size, 1), aggs=agg.sum("x"))
    op.process(pa.table({"t": np.arange(size), "x": np.ones(size)}))
    rows.append({"what": f"a slice of {size:,}", "bytes": op.nbytes / op.slices, "ms": None})
    start = time.perf_counter()
    whole = op.snapshot()
    rows.append({"what": "whole snapshot", "bytes": len(whole), "ms": _ms(start)})
    rng = np.random.default_rng(7)
    best: Row = {}
    for _ in range(5):
        op.process(pa.table({"t": rng.integers(0, size, 1000), "x": rng.random(1000)}))
        start = time.perf_counter()
        changes = op.changes()
        took = {"what": "changes of 1,000 rows", "bytes": len(changes), "ms": _ms(start)}
        best = min(best or took, took, key=lambda r: float(r["ms"]))
    return [*rows, best]


def _ms(start: float) -> float:
    return (time.perf_counter() - start) * 1000
