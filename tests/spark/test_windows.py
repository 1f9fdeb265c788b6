"""`sash.spark.windows` gives the windows of Spark, and those of `sash.WindowOperator`."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from frames import differences, events, frame_of
from pyspark.sql import functions as f

import sash
from sash import agg
from sash import spark as sps

THEIRS: list[tuple[Any, tuple[str, ...]]] = [
    (sash.tumbling("10s"), ("window", "10 seconds", "10 seconds", "0 seconds")),
    (sash.tumbling("10s", offset="3s"), ("window", "10 seconds", "10 seconds", "3 seconds")),
    (sash.sliding("9s", "2s"), ("window", "9 seconds", "2 seconds", "0 seconds")),
    (sash.session("2s"), ("session_window", "2 seconds")),
]


@pytest.mark.parametrize(("window", "call"), THEIRS, ids=[w.name for w, _ in THEIRS])
def test_equals_sparks_windows(spark: Any, window: Any, call: tuple[str, ...]) -> None:
    df = frame_of(spark, events(5, 3000, 20)).repartition(5)  # sessions across partitions
    aggs = [agg.count(), agg.sum("i"), agg.max("x"), agg.min("s"), agg.stddev("i")]
    ours = sps.windows(df, on="ts", by="k", windows=window, aggs=aggs).drop("window")
    name, *arguments = call
    column = getattr(f, name)("ts", *arguments).alias("w")
    calls = [f.count("*"), f.sum("i"), f.max("x"), f.min("s"), f.stddev("i")]
    named = [c.alias(a.output) for c, a in zip(calls, aggs, strict=True)]
    grouped = df.groupBy("k", column).agg(*named)
    theirs = grouped.select(
        "k", f.col("w.start").alias("window_start"), f.col("w.end").alias("window_end"),
        *(a.output for a in aggs),
    )  # fmt: skip
    assert differences(ours.toArrow(), theirs.toArrow(), ["k", "window_start"]) == []


def calendar() -> Any:
    """Windows of 20 and 10 seconds in turn."""

    def halves(first: int, last: int) -> tuple[list[int], list[int]]:
        begins = range(first // 30_000_000 * 30 - 30, last // 1_000_000 + 60, 30)
        starts = [t * 1_000_000 for b in begins for t in (b, b + 20)]
        return starts, [*starts[1:], starts[-1] + 10_000_000]

    return sash.windows.calendar(halves)


SETS: dict[str, list[Any]] = {
    "shared": [sash.tumbling("1m"), sash.sliding("1m", "7s"), sash.session("1s"),
               sash.session("3s")],
    "calendar": [calendar()],
    "count": [sash.tumbling(rows=7), sash.sliding(rows=9, slide=4), sash.tumbling("1m")],
    "rolling": [sash.windows.rolling("20s"), sash.windows.rolling(rows=5)],
    "delta": [sash.windows.delta("n", 40), sash.windows.punctuation("end")],
    "split": [sash.windows.split(lambda t, n: n[1:] % 5 == 0, "n")],
}  # fmt: skip
NATIVE = [agg.count(), agg.sum("i"), agg.max("x"), agg.mean("x"), agg.hll("s")]
ORDERED = [agg.last("s"), agg.argmax("x", "n"), agg.collect("i"), agg.m4("x", "ts")]
MINE = sash.monoid(
    lambda a, b: a | b, lift=lambda v: frozenset([v]), lower=sorted, name="set", column="s",
    commutative=True, returns=pa.list_(pa.string()),
)  # fmt: skip
PYTHON = [MINE, agg.sum("i"), agg.quantiles(0.5, "x")]


@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize("aggs", [NATIVE, ORDERED, PYTHON], ids=["native", "ordered", "python"])
@pytest.mark.parametrize("by", [None, ["k", "s"]], ids=str)
def test_equals_the_operator(spark: Any, which: str, aggs: list[Any], by: Any) -> None:
    table = events(7, 900, 2, unique=True)
    table = table.append_column("end", pa.array(np.arange(900) % 11 == 3))
    table = table.set_column(0, "k", table["k"].fill_null(9))
    table = table.set_column(4, "s", table["s"].fill_null("none"))
    if aggs is PYTHON:  # quantiles are estimates: exact for as few as these
        aggs = [MINE, agg.sum("i"), agg.quantiles(0.5, "x", k=2000)]
    arguments: dict[str, Any] = {"on": "ts", "by": by, "windows": SETS[which], "aggs": aggs}
    ours = sps.windows(frame_of(spark, table).repartition(4), **arguments)
    op = sash.WindowOperator(**arguments)
    op.process(table)
    told = op.finish().drop_columns(["revision", "change"])
    order = [*(by or []), "window", "window_start", "window_end", aggs[1].output]
    assert differences(ours.toArrow(), told, order[:-1] if which != "rolling" else order) == []


KEYS: dict[str, pa.Array] = {
    "float": pa.array([0.0, -0.0, float("nan"), None, 2.5], pa.float64()),
    "single": pa.array([0.5, -0.5, None, None, 2.5], pa.float32()),
    "string": pa.array(["", "a", None, "b", "a"]),
    "binary": pa.array([b"", b"a", None, b"b", b"a"]),
    "bool": pa.array([True, False, None, True, None]),
    "date": pa.array([0, 1, None, -1, 1], pa.int32()).cast(pa.date32()),
    "time": pa.array([0, 1, None, -1, 1], pa.timestamp("us", "UTC")),
    "plain": pa.array([0, 1, None, -1, 1], pa.timestamp("us")),
    "decimal": pa.array([0, 1, None, -1, 1]).cast(pa.decimal128(25, 2)),
    "money": pa.array([0, 1, None, -1, 1], pa.int8()).cast(pa.decimal128(9, 2)),
    "byte": pa.array([0, 1, None, -1, 1], pa.int8()),
}


@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_all_types(spark: Any, kind: str) -> None:
    keys = KEYS[kind].take(pa.array(np.arange(200) % 5))
    table = pa.table({"k": keys, "t": np.arange(200), "x": np.arange(200)})
    df = frame_of(spark, table).repartition(4)
    aggs = [agg.count(), agg.sum("x")]
    for windows in (sash.tumbling(50), sash.tumbling(rows=10_000)):
        ours = sps.windows(df, on="t", by="k", windows=windows, aggs=aggs)
        assert ours.schema["k"].dataType == df.schema["k"].dataType
        if windows.by_rows:
            assert ours.count() == 0  # none is full
            continue
        theirs = df.groupBy("k", (f.col("t") - f.col("t") % 50).alias("window_start")).agg(
            f.count("*").alias("count"), f.sum("x").alias("sum_x")
        )
        found = ours.select("k", "window_start", "count", "sum_x")
        lines = [sorted(d.collect(), key=str) for d in (found, theirs)]
        assert list(map(str, lines[0])) == list(map(str, lines[1]))


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us"), pa.int32()], ids=str)
def test_all_types_of_times(spark: Any, kind: pa.DataType) -> None:
    t = np.random.default_rng(3).integers(-400, 400, 500).astype(np.int32)
    column = pa.array(t) if kind == pa.int32() else pa.array(t).cast(pa.date32()).cast(kind)
    size: Any = 7 if kind == pa.int32() else "7d"
    table = pa.table({"t": column, "x": np.arange(500)})
    arguments: dict[str, Any] = {
        "on": "t", "windows": [sash.tumbling(size), sash.session(size)],
        "aggs": [agg.count(), agg.max("t"), agg.sum("x")],
    }  # fmt: skip
    ours = sps.windows(frame_of(spark, table), **arguments)
    op = sash.WindowOperator(**arguments)
    op.process(table)
    told = op.finish().drop_columns(["revision", "change"])
    assert differences(ours.toArrow(), told, ["window", "window_start"]) == []


def test_results_have_the_columns_they_say(spark: Any) -> None:
    df = frame_of(spark, events(1, 50, 3))
    out = sps.windows(df, on="ts", by=["s", "k"], windows=sash.tumbling("1m", name="minute"),
                      aggs=[agg.count(), agg.m4("x", "ts").alias("chart")])  # fmt: skip
    assert out.columns == ["s", "k", "window", "window_start", "window_end", "count", "chart"]
    assert out.schema["window_start"].dataType.simpleString() == "timestamp"
    assert out.select("chart.max.value").count() == out.count()
    assert {r[0] for r in out.select("window").collect()} == {"minute"}


def test_nothing_and_one_row(spark: Any) -> None:
    df = frame_of(spark, events(1, 3, 2))
    arguments: dict[str, Any] = {"on": "ts", "windows": sash.session("1m"), "aggs": agg.count()}
    assert sps.windows(df.limit(0), **arguments).count() == 0
    (row,) = sps.windows(df.filter("n = 1"), **arguments).collect()
    assert row["count"] == 1
    assert row.window_end - row.window_start == dt.timedelta(minutes=1)


def test_ties_are_in_the_order_asked_for(spark: Any) -> None:
    df = spark.sql("select 0 as t, id from range(100)").repartition(7)
    out = sps.windows(df, on="t", windows=sash.tumbling(10), aggs=agg.collect("id"), ties="id")
    assert out.first()["collect_id"] == list(range(100))
