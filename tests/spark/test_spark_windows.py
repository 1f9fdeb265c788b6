"""`sash.spark.windows` gives the windows of Spark, and those of `sash.WindowOperator`."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from depth import sampled
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


@pytest.mark.parametrize("which", sampled(SETS, 2))
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
    folded = sps.windows(df, on="t", by="k", windows=sash.tumbling(50), aggs=aggs)
    rows = sps.windows(df, on="t", by="k", windows=sash.tumbling(rows=20), aggs=aggs)
    assert folded.schema["k"].dataType == df.schema["k"].dataType
    theirs = df.groupBy("k", (f.col("t") - f.col("t") % 50).alias("window_start")).agg(
        f.count("*").alias("count"), f.sum("x").alias("sum_x")
    )
    found = folded.select("k", "window_start", "count", "sum_x")
    assert sorted(map(str, found.collect())) == sorted(map(str, theirs.collect()))
    every_key = df.groupBy("k").count().selectExpr("k", "explode(sequence(1, count div 20))")
    counts = rows.select("k").collect()
    assert sorted(map(str, counts)) == sorted(map(str, every_key.select("k").collect()))


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


def test_an_aggregate_of_a_key_sees_its_nulls(spark: Any) -> None:
    df = spark.sql("select * from values (1, null), (2, null), (3, 5) as t(t, k)")
    aggs = [agg.count("k"), agg.max("k"), agg.count()]
    for windows in (sash.tumbling(10), sash.windows.delta("k", 100)):
        out = sps.windows(df, on="t", by="k", windows=windows, aggs=aggs)
        found = {tuple(r) for r in out.select("k", "count_k", "max_k", "count").collect()}
        assert found == {(None, 0, None, 2), (5, 1, 5, 1)}
    with pytest.raises(Exception, match="column 't' has null times"):
        null = spark.sql("select cast(null as int) as t")
        sps.windows(null, on="t", by="t", windows=sash.tumbling(5), aggs=agg.count()).collect()


def test_dates_and_calendars(spark: Any) -> None:
    df = spark.sql("select date_add(date'2026-01-01', cast(id as int)) as d from range(60)")

    def months(hour: int) -> Any:
        def listed(first: int, last: int) -> tuple[list[int], list[int]]:
            days = [dt.date(2025, 12, 1), dt.date(2026, 1, 1), dt.date(2026, 2, 1),
                    dt.date(2026, 3, 1), dt.date(2026, 4, 1)]  # fmt: skip
            ends = [(d - dt.date(1970, 1, 1)).days * 86_400_000 + hour * 3_600_000 for d in days]
            return ends[:-1], ends[1:]

        return sash.windows.calendar(listed, name="month")

    out = sps.windows(df, on="d", windows=months(0), aggs=agg.count()).toArrow()
    starts = out.sort_by("window_start")["window_start"].to_pylist()
    assert starts == [dt.date(2026, 1, 1), dt.date(2026, 2, 1), dt.date(2026, 3, 1)]
    with pytest.raises(Exception, match="have to begin and end at dates, not at parts of a day"):
        sps.windows(df, on="d", windows=months(6), aggs=agg.count()).collect()


def test_states_of_any_class_travel_by_dump_and_load(spark: Any) -> None:
    class Best:
        def __init__(self, value: float) -> None:
            self.value = value

    def best(**functions: Any) -> sash.Aggregate:
        return sash.monoid(
            lambda a, b: a if a.value >= b.value else b, lift=Best, lower=lambda s: s.value,
            name="best", column="x", commutative=True, returns=float, **functions,
        )  # fmt: skip

    arrays = sash.monoid(
        np.add, lift=lambda v: np.array([v, 1.0]), lower=lambda s: float(s[0]), name="added",
        dump=lambda s: s.tobytes(), load=np.frombuffer,
        column="x", commutative=True, returns=float,
    )  # fmt: skip
    df = spark.range(100).selectExpr("id as t", "cast(id as double) as x").repartition(3)
    dumped = best(
        dump=lambda s: s.value.hex().encode(), load=lambda b: Best(float.fromhex(b.decode()))
    )
    aggs = [dumped, arrays, agg.quantiles(1.0, "x")]
    out = sps.windows(df, on="t", windows=sash.tumbling(1000), aggs=aggs).first()
    assert (out.best_x, out.added_x, out.quantiles_x) == (99.0, 4950.0, 99.0)
    with pytest.raises(
        Exception, match="Best is not plain data: give the monoid a dump and a load"
    ):
        sps.windows(df, on="t", windows=sash.tumbling(1000), aggs=best()).collect()


def test_an_error_of_slices_together_names_the_key(spark: Any) -> None:
    df = spark.sql("select id as t, id % 3 as k, if(id % 3 = 1, 1L << 62, 1L) as x from range(12)")
    out = sps.windows(
        df.repartition(12, "t"), on="t", by="k", windows=sash.tumbling(100), aggs=agg.sum("x")
    )
    with pytest.raises(Exception, match=r"does not fit in a 64-bit integer.*in the windows of k=1"):
        out.collect()
