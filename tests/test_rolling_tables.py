"""Rolling over tables of every library, columns of every type, beside what those libraries say."""

from __future__ import annotations

import datetime as dt
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash
from sash import agg

UTC = dt.UTC
N = 400


def flights(seed: int = 3) -> pa.Table:
    """Unsorted times with repeats, a few keys, nulls."""
    rng = np.random.default_rng(seed)
    seconds = rng.integers(0, 600, N)
    start = np.datetime64("2026-03-29T00:30:00", "us")
    values = rng.normal(100, 20, N).round(3)
    return pa.table(
        {
            "ts": pa.array(start + seconds.astype("timedelta64[s]")),
            "key": pa.array([None if k == 3 else f"k{k}" for k in rng.integers(0, 4, N)]),
            "price": pa.array(values, mask=rng.random(N) < 0.1),
            "qty": pa.array(rng.integers(-50, 50, N)),
        }
    )


TABLE = flights()
AGGS = [agg.sum("price"), agg.max("qty"), agg.count(), agg.median("price"), agg.last("key")]
NAMES = [a.output for a in AGGS]
ARGS: dict[str, Any] = {"on": "ts", "window": "1m", "by": "key", "aggs": AGGS}
WANTED = sash.rolling(TABLE, **ARGS)


# ---- every library comes back as itself --------------------------------------------------------


def test_arrow_tables_and_batches() -> None:
    assert isinstance(WANTED, pa.Table)
    assert WANTED.select(TABLE.column_names).equals(TABLE)
    assert [str(WANTED[n].type) for n in NAMES] == ["double", "int64", "int64", "double", "string"]
    batch = TABLE.combine_chunks().to_batches()[0]
    assert sash.rolling(batch, **ARGS).equals(WANTED)
    chunked = pa.concat_tables([TABLE.slice(0, 7), TABLE.slice(7, 100), TABLE.slice(107)])
    assert sash.rolling(chunked, **ARGS).combine_chunks().equals(WANTED.combine_chunks())


def test_pandas_keeps_index_and_dtypes() -> None:
    frame = TABLE.to_pandas()
    frame.index = pd.Index(np.arange(N)[::-1] * 10, name="row")
    out = sash.rolling(frame, **ARGS)
    assert isinstance(out, pd.DataFrame)
    assert out.index.equals(frame.index)
    assert [str(out[n].dtype) for n in NAMES] == ["float64", "Int64", "Int64", "float64", "str"]
    assert pa.Array.from_pandas(out["sum_price"]).to_pylist() == WANTED["sum_price"].to_pylist()
    assert out["last_key"].isna().tolist() == [v is None for v in WANTED["last_key"].to_pylist()]


def test_a_pandas_index_can_be_the_time() -> None:
    frame = TABLE.to_pandas().set_index("ts")
    out = sash.rolling(frame, **ARGS)
    assert out["count"].tolist() == WANTED["count"].to_pylist()
    assert out.index.equals(frame.index)


def test_polars_frames_eager_and_lazy() -> None:
    frame = pl.from_arrow(TABLE)
    assert isinstance(frame, pl.DataFrame)
    out = sash.rolling(frame, **ARGS)
    assert isinstance(out, pl.DataFrame)
    assert out.columns == [*TABLE.column_names, *NAMES]
    assert out["median_price"].to_list() == WANTED["median_price"].to_pylist()
    lazy = sash.rolling(frame.lazy(), **ARGS)
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect().equals(out)


def test_duckdb_relations() -> None:
    relation = duckdb.from_arrow(TABLE)
    out = sash.rolling(relation, **ARGS)
    assert isinstance(out, duckdb.DuckDBPyRelation)
    assert out.columns == [*TABLE.column_names, *NAMES]
    assert [r[0] for r in out.select("max_qty").fetchall()] == WANTED["max_qty"].to_pylist()


def test_anything_that_speaks_arrow() -> None:
    class Stream:
        def __arrow_c_stream__(self, schema: object = None) -> object:
            return TABLE.__arrow_c_stream__(schema)

    assert sash.rolling(Stream(), **ARGS).equals(WANTED)


def test_steps_come_back_as_the_same_library() -> None:
    args = ARGS | {"every": "30s"}
    arrow = sash.rolling(TABLE, **args)
    assert arrow.column_names == ["key", "window_start", "window_end", *NAMES]
    assert arrow["window_end"].type == TABLE["ts"].type
    for frame, kind in ((TABLE.to_pandas(), pd.DataFrame), (pl.from_arrow(TABLE), pl.DataFrame)):
        out = sash.rolling(frame, **args)
        assert isinstance(out, kind)
        assert len(out) == arrow.num_rows


# ---- the same as the libraries' own ------------------------------------------------------------

ONE = {"on": "ts", "window": "1m"}
SORTED = TABLE.sort_by("ts").drop_columns(["key"])
UNIQUE = SORTED.append_column("i", pa.array(range(N))).set_column(
    0, "ts", pa.array(np.datetime64("2026-01-01", "us") + np.arange(N) * np.timedelta64(7, "s"))
)


@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
@pytest.mark.parametrize("name", ["sum", "mean", "min", "max", "std", "median", "count"])
def test_time_windows_agree_with_pandas(closed: Any, name: str) -> None:
    frame = UNIQUE.to_pandas()
    rolled = frame.rolling("1min", on="ts", closed=closed, min_periods=0 if name == "count" else 1)
    theirs = getattr(rolled["price"], name)()
    ours = {"std": agg.stddev}.get(name) or getattr(agg, name)
    out = sash.rolling(frame, on="ts", window="1m", closed=closed, aggs=ours("price").alias("x"))
    np.testing.assert_allclose(out["x"].astype(float), theirs.astype(float), rtol=1e-9)


@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
@pytest.mark.parametrize("name", ["sum", "mean", "min", "max", "median", "std"])
def test_time_windows_agree_with_polars(closed: Any, name: str) -> None:
    frame = pl.from_arrow(SORTED)
    assert isinstance(frame, pl.DataFrame)
    theirs = frame.rolling("ts", period="1m", closed={"neither": "none"}.get(closed, closed)).agg(
        getattr(pl.col("price"), name)().alias("x"),
    )["x"]
    ours = {"std": agg.stddev}.get(name) or getattr(agg, name)
    out = sash.rolling(frame, on="ts", window="1m", closed=closed, aggs=ours("price").alias("x"))
    wanted = theirs
    if name == "sum":  # polars gives 0 for a window without values, Sash null
        there = out["x"].is_not_null()
        wanted = theirs.filter(there)
        out = out.filter(there)
    np.testing.assert_allclose(
        out["x"].cast(pl.Float64).to_numpy(), wanted.cast(pl.Float64).to_numpy(), rtol=1e-9
    )


def test_count_windows_agree_with_polars_and_pandas() -> None:
    frame = pl.from_arrow(UNIQUE)
    assert isinstance(frame, pl.DataFrame)
    out = sash.rolling(
        frame,
        rows=25,
        min_rows=25,
        aggs=[agg.sum("qty"), agg.max("qty"), agg.stddev("qty"), agg.median("qty")],
    )
    for ours, theirs in {
        "sum_qty": frame["qty"].rolling_sum(25),
        "max_qty": frame["qty"].rolling_max(25),
        "stddev_qty": frame["qty"].rolling_std(25),
        "median_qty": frame["qty"].rolling_median(25),
    }.items():
        np.testing.assert_allclose(
            out[ours].cast(pl.Float64).to_numpy(), theirs.cast(pl.Float64).to_numpy(), rtol=1e-9
        )
    pandas_rank = UNIQUE.to_pandas()["qty"].rolling(25).rank()
    mine = sash.rolling(UNIQUE, rows=25, min_rows=25, aggs=agg.rank("qty"))["rank_qty"]
    np.testing.assert_array_equal(mine.to_numpy(), pandas_rank.to_numpy())


def test_range_frames_agree_with_duckdb() -> None:
    rows = TABLE  # noqa: F841 (DuckDB finds it by name)
    frame = "partition by key order by ts range between interval 59999999 microseconds preceding"
    relation = duckdb.sql(
        f"""
        select *, row_number() over () as i,
          max(qty) over w as m, count(*) over w as n, sum(qty) over w as s,
          quantile_cont(price, 0.9) over w as q, count(distinct qty) over w as d
        from rows window w as ({frame} and current row)
        """
    )
    theirs = {tuple(r[:4]): r[5:] for r in relation.fetchall()}
    out = sash.rolling(
        TABLE,
        on="ts",
        by="key",
        window="1m",
        aggs=[
            agg.max("qty"), agg.count(), agg.sum("qty"), agg.quantile(0.9, "price"),
            agg.count_distinct("qty"),
        ],
    )  # fmt: skip
    for row in out.to_pylist():
        values = list(row.values())
        m, n, s, q, d = theirs[tuple(values[:4])]
        assert (values[4], values[5], values[6], values[8]) == (m, n, int(s), d)
        assert values[7] == pytest.approx(q)


def test_accuracy_where_running_sums_fail() -> None:
    values = [1e16, 1.0, 1.0, 1.0, float("inf"), 1.0, 1.0, float("nan"), 2.0, 2.0, 2.0]
    table = pa.table({"v": values})
    out = sash.rolling(table, rows=2, aggs=[agg.sum("v"), agg.mean("v"), agg.stddev("v")])
    assert out["sum_v"].to_pylist()[2:4] == [2.0, 2.0]
    assert out["sum_v"].to_pylist()[6] == 2.0
    assert out["sum_v"].to_pylist()[9:] == [4.0, 4.0]
    assert out["stddev_v"].to_pylist()[10] == 0.0


def test_progress_and_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert sash.rolling(TABLE, **ARGS, progress=True).equals(WANTED)
    text = str(sash.explain(TABLE, **ARGS))
    assert "400 rows by 'ts' and 4 keys of key, not in order: sorted first" in text
    assert "sum_price: TwoStacksLite" in text
    assert "median_price: order statistics" in text
    assert "count: frame sizes" in text
    late = str(sash.explain(TABLE, **ARGS, order="arrival"))
    assert "FingerTree" in late
    assert "arrival" in late
    python = sash.monoid(lambda a, b: a + b, column="qty", name="mine")
    assert "GIL" in str(sash.explain(TABLE, rows=5, aggs=python))


def test_overflow_is_an_error_that_leaves_nothing_behind() -> None:
    table = pa.table({"v": [2**62, 2**62, 1]})
    with pytest.raises(OverflowError, match="cast the column to float64"):
        sash.rolling(table, rows=2, aggs=agg.sum("v"))
    assert sash.rolling(table, rows=1, aggs=agg.sum("v"))["sum_v"].to_pylist() == [2**62, 2**62, 1]


def test_a_python_combine_that_raises() -> None:
    def combine(a: int, b: int) -> int:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        sash.rolling(TABLE, rows=2, aggs=sash.monoid(combine, column="qty"))
