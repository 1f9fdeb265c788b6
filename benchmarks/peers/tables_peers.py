"""The same rolling aggregates in Sash, polars, pandas, DuckDB, bottleneck and numbagg.

Each library gets its own kind of table, made before the clock runs, and the fastest way of it that
we know. A library that has no way returns none.
"""

from __future__ import annotations

import os

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # polars reads it when it is imported

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sash
from sash import agg

STEP = 1000
"""Microseconds between rows, about."""
Answer = npt.NDArray[np.float64]

OURS = {
    "sum": agg.sum("v"),
    "mean": agg.mean("v"),
    "max": agg.max("v"),
    "stddev": agg.stddev("v"),
    "argmax": agg.argmax("v", "row"),
    "median": agg.median("v"),
    "distinct": agg.count_distinct("d"),
    "distinct, HLL": agg.hll("d"),
    "Python function": sash.monoid(lambda a, b: a if a > b else b, name="mine", column="v"),
}
NAMES = {"sum": "sum", "mean": "mean", "max": "max", "stddev": "std", "median": "median"}
"""What pandas and polars call them."""


@dataclass(frozen=True)
class Case:
    """One aggregate of one kind of window."""

    aggregate: str
    window: int
    """Rows; by time, as long as so many rows take."""
    timed: bool = False
    keyed: bool = False

    @property
    def period(self) -> str:
        """The length of the window, as pandas and polars write it."""
        return f"{self.window * STEP}us"


@dataclass(frozen=True)
class Work:
    """What is timed, and how its answer is read: one number for each row, in the table's order."""

    run: Callable[[], Any]
    read: Callable[[Any], Answer]


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
    """Return any column as an array."""
    return np.asarray(values, np.float64)


def _by_row(rows: Any, values: Any) -> Answer:
    """Return the answers of rows that came in another order."""
    placed = np.empty(len(rows))
    placed[np.asarray(rows)] = floats(values)
    return placed


def sash_work(table: pa.Table, case: Case) -> Work:
    """Ours."""
    reach: dict[str, Any] = {"rows": case.window}
    if case.timed:
        reach = {"on": "t", "window": case.window * STEP}
    by = "k" if case.keyed else None
    one = OURS[case.aggregate].alias("x")
    return Work(
        lambda: sash.rolling(table, by=by, aggs=one, threads=1, **reach),
        lambda out: floats(out["x"].to_numpy()),
    )


def polars_work(table: pa.Table, case: Case) -> Work | None:
    """Its rolling expressions where it has them, else a frame for each row."""
    import polars as pl

    frame: Any = pl.from_arrow(table)
    name = NAMES.get(case.aggregate)
    if name and case.timed:
        x = getattr(pl.col("v"), f"rolling_{name}_by")("t", window_size=case.period)
        x = (x.over("k") if case.keyed else x).alias("x")
        return Work(lambda: frame.select(x), lambda out: floats(out["x"]))
    if name:
        x = getattr(pl.col("v"), f"rolling_{name}")(case.window, min_samples=1).alias("x")
        return Work(lambda: frame.select(x), lambda out: floats(out["x"]))
    if case.aggregate == "Python function" and not case.timed:
        values = frame["v"]
        return Work(
            lambda: values.rolling_map(lambda s: max(s.to_list()), case.window, min_samples=1),
            floats,
        )
    what = {
        "argmax": pl.col("row").last() - pl.len() + 1 + pl.col("v").arg_max(),
        "distinct": pl.col("d").n_unique(),
        "Python function": pl.col("v").map_batches(
            lambda s: max(s.to_list()), pl.Float64, returns_scalar=True
        ),
    }.get(case.aggregate)
    if what is None or (case.keyed and case.aggregate == "argmax"):
        return None
    on, period = ("t", case.period) if case.timed else ("row", f"{case.window}i")
    group = "k" if case.keyed else None
    rolled = [what.alias("x"), pl.col("row").last().alias("at")]
    return Work(
        lambda: frame.rolling(on, period=period, group_by=group).agg(*rolled),
        lambda out: _by_row(out["at"], out["x"]),
    )


def pandas_work(table: pa.Table, case: Case) -> Work | None:
    """Its rolling methods; a Python function gets each window as an array."""
    name = {**NAMES, "distinct": "nunique", "Python function": "apply"}.get(case.aggregate)
    if name is None or (case.keyed and name == "apply"):
        return None
    column = "d" if name == "nunique" else "v"
    frame = table.select(["t", "k", column]).to_pandas()
    arguments: tuple[Any, ...] = ()
    more: dict[str, Any] = {}
    if name == "apply":
        arguments, more = (lambda window: max(window.tolist()),), {"raw": True}

    def run() -> Any:
        if case.keyed:
            rolling = frame.groupby("k").rolling(case.period, on="t")[column]
        elif case.timed:
            rolling = frame.rolling(case.period, on="t")[column]
        else:
            rolling = frame[column].rolling(case.window, min_periods=1)
        return getattr(rolling, name)(*arguments, **more)

    def read(out: Any) -> Answer:
        if not case.keyed:
            return floats(out)
        order = np.argsort(frame["k"].to_numpy(), kind="stable")  # its result is key by key
        return _by_row(order, out)

    return Work(run, read)


def duckdb_work(table: pa.Table, case: Case) -> Work | None:
    """SQL's window functions, over a table of its own."""
    import duckdb

    what = {
        "sum": "sum(v)",
        "mean": "avg(v)",
        "max": "max(v)",
        "stddev": "stddev_samp(v)",
        "argmax": "arg_max(row, v)",
        "median": "median(v)",
        "distinct": "count(distinct d)",
        "distinct, HLL": "approx_count_distinct(d)",
    }.get(case.aggregate)
    if what is None:
        return None
    connection = duckdb.connect(config={"threads": 1})
    connection.register("arrow_rows", table)
    connection.execute("create table rows_in as from arrow_rows")
    part = "partition by k " if case.keyed else ""
    frame = f"order by row rows between {case.window - 1} preceding and current row"
    if case.timed:
        back = case.window * STEP - 1
        frame = f"order by t range between interval {back} microseconds preceding and current row"
    query = f"select row, {what} over ({part}{frame}) x from rows_in"
    return Work(
        lambda: connection.sql(query).fetchnumpy(), lambda out: _by_row(out["row"], out["x"])
    )


def bottleneck_work(table: pa.Table, case: Case) -> Work | None:
    """Windows by count only."""
    import bottleneck as bn  # type: ignore[import-untyped]

    if case.timed or case.aggregate not in {*NAMES, "argmax"}:
        return None
    name = NAMES.get(case.aggregate, "argmax")
    move, values = getattr(bn, f"move_{name}"), table["v"].to_numpy()
    more = {"ddof": 1} if name == "std" else {}
    rows = table["row"].to_numpy()
    size = min(case.window, len(values))
    return Work(
        lambda: move(values, size, 1, **more),
        lambda out: rows - out if name == "argmax" else floats(out),  # it counts from the newest
    )


def numbagg_work(table: pa.Table, case: Case) -> Work | None:
    """Windows by count only."""
    import numbagg

    move = {"sum": numbagg.move_sum, "mean": numbagg.move_mean, "stddev": numbagg.move_std}
    if case.timed or case.aggregate not in move:
        return None
    values, function = table["v"].to_numpy(), move[case.aggregate]
    size = min(case.window, len(values))
    return Work(lambda: function(values, window=size, min_count=1), floats)


ALL: dict[str, Callable[[pa.Table, Case], Work | None]] = {
    "Sash": sash_work,
    "polars": polars_work,
    "pandas": pandas_work,
    "DuckDB": duckdb_work,
    "bottleneck": bottleneck_work,
    "numbagg": numbagg_work,
}
INSTALLED = {name: make for name, make in ALL.items() if find_spec(name.lower()) is not None}
"""Those that there are here, ours among them."""
