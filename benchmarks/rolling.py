"""Rolling over tables beside pandas, polars, DuckDB, bottleneck and numbagg: same work, one core.

Every peer's answer is compared with ours before its time counts. A peer that would take too long on
all rows is measured on as many as two windows hold.
"""

from __future__ import annotations

import os

os.environ.setdefault("POLARS_MAX_THREADS", "1")

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sash
from benchmarks.measure import Row
from sash import agg

STEP = 1000  # microseconds between rows, about
LONG = 5.0  # seconds
Answer = npt.NDArray[np.float64]
Peer = Callable[[pa.Table, int], Any]

JOIN = sash.monoid(lambda a, b: a if a > b else b, name="mine", column="v")
OURS = {
    "sum": agg.sum("v"),
    "mean": agg.mean("v"),
    "min": agg.min("v"),
    "max": agg.max("v"),
    "stddev": agg.stddev("v"),
    "argmax": agg.argmax("v", "row"),
    "median": agg.median("v"),
    "distinct": agg.count_distinct("d"),
    "distinct, approximate": agg.hll("d"),
    "quantile sketch": agg.quantiles(0.5, "v"),
    "Python monoid": JOIN,
}
SLOW = {"quantile sketch", "Python monoid", "distinct, approximate"}


def make_table(rows: int, keys: int) -> pa.Table:
    """Rows in order of time, about a millisecond apart."""
    rng = np.random.default_rng(4)
    times = np.arange(rows, dtype=np.int64) * STEP + rng.integers(0, STEP, rows)
    return pa.table(
        {
            "t": pa.array(times).cast(pa.timestamp("us")),
            "k": rng.integers(0, keys, rows, np.int32),
            "v": rng.normal(size=rows),
            "d": rng.integers(0, 1_000_000, rows),
            "row": np.arange(rows),
        }
    )


def floats(values: Any) -> Answer:
    return np.asarray(values, np.float64)


# ---- peers: (case, by time, keyed) -> a function of (table, window) ------------------------------


def polars_peer(case: str, timed: bool, keyed: bool, window: int) -> Peer | None:
    import polars as pl

    if keyed and not timed:
        return None
    simple = {"sum": "sum", "mean": "mean", "min": "min", "max": "max", "stddev": "std"}
    simple |= {"median": "median"}
    group = "k" if keyed else None

    def by_time(table: pa.Table, window: int) -> Any:
        frame = pl.from_arrow(table)
        period = f"{window * STEP}us"
        if case in simple and not keyed:
            rolled = getattr(pl.col("v"), f"rolling_{simple[case]}_by")("t", window_size=period)
            return frame.select(rolled.alias("x"))["x"]
        what = {
            "argmax": pl.col("row").last() - pl.len() + 1 + pl.col("v").arg_max(),
            "distinct": pl.col("d").n_unique(),
            "Python monoid": pl.col("v").map_batches(
                lambda s: max(s.to_list()), pl.Float64, returns_scalar=True
            ),
        }.get(case)
        if what is None:
            what = getattr(pl.col("v"), simple[case])()
        out = frame.rolling("t", period=period, group_by=group).agg(
            what.alias("x"), pl.col("row").last()
        )
        return out.sort("row")["x"] if keyed else out["x"]

    def by_count(table: pa.Table, window: int) -> Any:
        frame = pl.from_arrow(table.select(["v", "d", "row"]))
        if case in simple:
            return getattr(frame["v"], f"rolling_{simple[case]}")(window, min_samples=1)
        what = {
            "argmax": pl.col("row").last() - pl.len() + 1 + pl.col("v").arg_max(),
            "distinct": pl.col("d").n_unique(),
        }[case]
        return frame.rolling("row", period=f"{window}i").agg(what.alias("x"))["x"]

    if case in ("quantile sketch", "distinct, approximate"):
        return None
    if (case == "Python monoid" and not timed) or (keyed and case == "argmax"):
        return None
    return by_time if timed else by_count


def pandas_peer(case: str, timed: bool, keyed: bool, window: int) -> Peer | None:
    simple = {"sum": "sum", "mean": "mean", "min": "min", "max": "max", "stddev": "std"}
    simple |= {"median": "median"}
    if keyed or case not in simple:
        return None

    def run(table: pa.Table, window: int) -> Any:
        frame = table.select(["t", "v"]).to_pandas()
        if timed:
            rolled = frame.rolling(f"{window * STEP}us", on="t")["v"]
        else:
            rolled = frame["v"].rolling(window, min_periods=1)
        return getattr(rolled, simple[case])()

    return run


def duckdb_peer(case: str, timed: bool, keyed: bool, window: int) -> Peer | None:
    import duckdb

    what = {
        "sum": "sum(v)",
        "mean": "avg(v)",
        "min": "min(v)",
        "max": "max(v)",
        "stddev": "stddev_samp(v)",
        "argmax": "arg_max(row, v)",
        "median": "median(v)",
        "distinct": "count(distinct d)",
        "distinct, approximate": "approx_count_distinct(d)",
    }.get(case)
    if what is None or (keyed and not timed):
        return None

    def run(table: pa.Table, window: int) -> Any:
        connection = duckdb.connect(config={"threads": 1})
        connection.register("rows_in", table)
        back = f"range between interval {window * STEP - 1} microseconds preceding"
        if not timed:
            back = f"rows between {window - 1} preceding"
        part = "partition by k" if keyed else ""
        query = f"select row, {what} over ({part} order by t {back} and current row) x from rows_in"
        out = connection.sql(query).fetchnumpy()
        return out["x"][np.argsort(out["row"])] if keyed else out["x"]

    return run


def bottleneck_peer(case: str, timed: bool, keyed: bool, window: int) -> Peer | None:
    import bottleneck as bn

    move = {"sum": bn.move_sum, "mean": bn.move_mean, "min": bn.move_min, "max": bn.move_max}
    move |= {"median": bn.move_median, "stddev": lambda v, w, n: bn.move_std(v, w, n, ddof=1)}
    if timed or keyed or case not in move or window > 50_000:  # more it does not take
        return None
    return lambda table, window: move[case](table["v"].to_numpy(), window, 1)


def numbagg_peer(case: str, timed: bool, keyed: bool, window: int) -> Peer | None:
    import numbagg

    move = {"sum": numbagg.move_sum, "mean": numbagg.move_mean, "stddev": numbagg.move_std}
    if timed or keyed or case not in move:
        return None
    return lambda table, window: move[case](
        table["v"].to_numpy(), window=min(window, table.num_rows), min_count=1
    )


PEERS = {
    "polars": polars_peer,
    "pandas": pandas_peer,
    "duckdb": duckdb_peer,
    "bottleneck": bottleneck_peer,
    "numbagg": numbagg_peer,
}


# ---- measuring ---------------------------------------------------------------------------------


def timed_run(work: Callable[[], Any]) -> tuple[Any, float]:
    before = time.process_time()
    found = work()
    return found, time.process_time() - before


def ours(case: str, table: pa.Table, window: int, timed: bool, keyed: bool) -> Any:
    reach: dict[str, Any] = {"window": window * STEP} if timed else {"rows": window}
    on = "t" if timed else None
    by = "k" if keyed else None
    out = sash.rolling(table, on=on, by=by, aggs=OURS[case].alias("x"), threads=1, **reach)
    return out["x"].to_numpy()


def measure(run: Callable[[pa.Table], Any], table: pa.Table, probe: int) -> tuple[Any, float, int]:
    """Answer, nanoseconds per row, and rows: all of them unless that would take too long."""
    few = min(50_000, table.num_rows)
    found, took = timed_run(lambda: run(table.slice(0, few)))
    if took / few * probe > LONG:  # grows with the window: what it costs before the window is full
        return found, took / few * 1e9, few
    probe = min(probe, table.num_rows)
    part = table.slice(0, probe)
    found, took = timed_run(lambda: run(part))
    if probe == table.num_rows or took / probe * table.num_rows > LONG:
        return found, took / probe * 1e9, probe
    found, took = timed_run(lambda: run(table))
    again = timed_run(lambda: run(table))[1] if took < 3 else took
    return found, min(took, again) / table.num_rows * 1e9, table.num_rows


def same(a: Any, b: Any, case: str) -> bool:
    if case in ("distinct, approximate", "quantile sketch"):
        return True  # estimates of different sketches
    x, y = floats(a), floats(b)
    n = min(len(x), len(y))
    # Running sums of peers drift; a standard deviation of one row is 0 or nothing.
    near = np.isclose(x[2:n], y[2:n], rtol=1e-6, atol=1e-6, equal_nan=True)
    return bool(near.all())


def rolling(quick: bool) -> list[Row]:
    """CPU ns per row on one core: 10 million rows (quick: 1 million), windows of 10^3 and 10^6."""
    rows = 1_000_000 if quick else 10_000_000
    installed = {n: p for n, p in PEERS.items() if find_spec(n) is not None}
    tables = {keys: make_table(rows, keys) for keys in (1, 1000)}
    np.ones(40 * rows)  # memory that the machine has handed out once costs the first taker nothing
    out: list[Row] = []
    for case in OURS:
        for timed, window, keys in (
            (False, 1_000, 1), (False, 1_000_000, 1), (True, 1_000, 1), (True, 1_000_000, 1),
            (True, 1_000_000, 1000),
        ):  # fmt: skip
            if (quick and window > 1_000) or (case in SLOW and window > 1_000 and keys == 1):
                continue
            table = tables[keys]
            row: Row = {"aggregate": case, "window": f"{'time' if timed else 'rows'} {window:,}"}
            row["keys"] = keys
            probe = max(100_000, 2 * window if keys == 1 else 200_000)
            keyed = keys > 1
            mine, cost, _ = measure(
                lambda t, c=case, w=window, b=timed, k=keyed: ours(c, t, w, b, k), table, probe
            )
            row["sash"] = cost
            best = float("inf")
            for name in PEERS:
                peer = installed[name](case, timed, keyed, window) if name in installed else None
                row[name] = None
                if peer is None:
                    continue
                found, cost, n = measure(lambda t, p=peer, w=window: p(t, w), table, probe)
                check = (
                    mine
                    if n == table.num_rows
                    else ours(case, table.slice(0, n), window, timed, keyed)
                )
                wrong = "" if same(check, found, case) else " (differs)"
                row[name] = f"{cost:,.1f}{wrong}" if wrong else cost
                best = min(best, cost) if not wrong else best
            row["best peer / sash"] = f"{best / row['sash']:.1f}" if best < float("inf") else None
            out.append(row)
            print(row, flush=True)
    return out
