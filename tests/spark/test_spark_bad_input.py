"""What is refused, when, and in which words."""

from __future__ import annotations

import re
import threading
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest
from frames import events, frame_of

import sash
from sash import agg
from sash import spark as sps

TOTAL: dict[str, Any] = {"name": "total", "column": "i", "commutative": True, "returns": int}


@pytest.fixture(scope="module")
def df(spark: Any) -> Any:
    return frame_of(spark, events(1, 1200, 3)).cache()


def rolling(df: Any, **changes: Any) -> Any:
    arguments = {"on": "ts", "by": "k", "window": "1m", "aggs": agg.max("x"), **changes}
    return sps.rolling(df, **arguments)


def windows(df: Any, **changes: Any) -> Any:
    chosen = {"on": "ts", "by": "k", "windows": sash.tumbling("1m"), "aggs": agg.max("x")}
    return sps.windows(df, **{**chosen, **changes})


BOTH = pytest.mark.parametrize("call", [rolling, windows])


@BOTH
@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"on": "tss"}, KeyError, "on: no column 'tss'; did you mean 'ts'"),
        ({"on": None}, TypeError, "on"),
        ({"on": "x"}, TypeError, "column 'x': expected timestamps, dates or integers, got double"),
        ({"on": "s"}, TypeError, "expected timestamps, dates or integers, got string"),
        ({"by": "K"}, KeyError, "by: no column 'K'"),
        ({"by": ["k", "k"]}, ValueError, "by: column 'k' is named twice"),
        ({"by": 3}, TypeError, "by must be a column name"),
        ({"aggs": agg.max("y")}, KeyError, "max: no column 'y'"),
        ({"aggs": agg.max()}, ValueError, "max: name its column"),
        ({"aggs": []}, TypeError, "expected an aggregate"),
        ({"aggs": agg.max}, TypeError, "call it, as in max"),
        ({"aggs": [agg.max("x"), agg.max("x")]}, ValueError, "two aggregates are named 'max_x'"),
        ({"aggs": agg.max("x").alias("k")}, ValueError, "use alias"),
        ({"aggs": agg.sum("s")}, TypeError, "sum: column 's' holds string, not numbers"),
        ({"ties": "nn"}, KeyError, "ties: no column 'nn'"),
        ({"partitions": 0}, ValueError, "partitions must be at least 1"),
        ({"metrics": 5}, TypeError, "metrics must be a sash.spark.Metrics"),
        (
            {"aggs": sash.monoid(max, column="i")},
            TypeError,
            "monoid_i: Spark must know the type of its results before it runs: .* returns=float",
        ),
    ],
)
def test_refused_before_anything_runs(
    df: Any, call: Any, changes: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        call(df, **changes)


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"window": "1 lightyear"}, ValueError, "lightyear"),
        ({"window": None}, TypeError, "give a window"),
        ({"rows": 5, "window": None, "split": True}, ValueError, "split: rows=5 counts rows"),
        ({"split": "-1s"}, ValueError, "split"),
        ({"split": "soon"}, ValueError, "soon"),
        (
            {"partitions": 3, "by": None, "split": False},
            ValueError,
            "partitions: without keys everything comes together in one partition; leave it out",
        ),
        ({"closed": "open"}, ValueError, "closed must be one of"),
        ({"aggs": agg.max("x").alias("ts")}, ValueError, "there is a column 'ts' already"),
    ],
)
def test_rolling_refuses(
    df: Any, changes: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        rolling(df, **changes)


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"windows": "1m"}, TypeError, "windows must be a window such as"),
        ({"windows": [sash.tumbling("1m")] * 2}, ValueError, "two windows are called"),
        ({"windows": sash.windows.delta("s", 3)}, TypeError, "column 's' holds string"),
        ({"aggs": agg.median("x")}, TypeError, "median needs all values"),
        ({"ties": "n"}, ValueError, "ties: the order of rows does not matter here"),
        ({"partitions": 3, "by": None}, ValueError, "one partition; leave it out"),
        ({"by": "window"}, ValueError, "results have a column 'window' of their own"),
    ],
)
def test_windows_refuses(
    df: Any, changes: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        windows(df, **changes)


@pytest.mark.parametrize(
    "window",
    [
        sash.tumbling("12h"), sash.sliding("2d", "12h"), sash.tumbling("1d", offset="6h"),
        sash.session("36h"),
    ],
    ids=str,
)  # fmt: skip
def test_windows_of_parts_of_days_over_dates(spark: Any, window: Any) -> None:
    days = spark.sql("select date'2026-01-01' as ts, 1 as k, 2.0 as x")
    with pytest.raises(ValueError, match="windows of parts of a day would not begin and end at"):
        windows(days, windows=window)


def test_steps_of_parts_of_days_over_dates(spark: Any) -> None:
    days = spark.sql("select date'2026-01-01' as ts, 1 as k, 2.0 as x")
    assert rolling(days, window="12h").count() == 1
    for every, offset in (("12h", None), ("1d", "6h")):
        with pytest.raises(ValueError, match="windows of parts of a day would not begin and end"):
            rolling(days, window="2d", every=every, offset=offset)


def test_every_result_needs_a_type(df: Any) -> None:
    untyped = sash.monoid(max, column="i", name="m")
    with pytest.raises(TypeError, match="m_i_near: Spark must know the type of its results"):
        rolling(df, window={"near": "1m", "far": "2m"}, aggs=untyped)
    with pytest.raises(TypeError, match=r"a result of type decimal256\(50, 2\) has no Spark type"):
        rolling(df, aggs=sash.monoid(max, column="i", returns=pa.decimal256(50, 2)))


def test_names_of_our_own(df: Any) -> None:
    with pytest.raises(ValueError, match="a column is called '__sash_first': rename it"):
        windows(df.selectExpr("*", "1 as __sash_first"))


@BOTH
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("struct(1 as a)", r"holds struct<a:int>, which cannot be a key: name its fields"),
        ("array(1)", r"holds array<int>, which cannot be a key"),
        ("map(1, 2)", r"holds map<int,int>, which cannot be a key"),
        ("null", r"holds void, which cannot be a key"),
        ("'a' collate UTF8_LCASE", r"has the collation UTF8_LCASE"),
        ("parse_json('1')", r"variant has no Arrow type"),
    ],
)
def test_keys_of_types_that_are_none(spark: Any, call: Any, kind: str, message: str) -> None:
    odd = spark.sql(f"select {kind} as k, timestamp'2026-01-01' as ts, 1.0 as x")
    with pytest.raises(TypeError, match=message):
        call(odd)


@BOTH
def test_two_columns_of_one_name(df: Any, call: Any) -> None:
    with pytest.raises(ValueError, match="two columns called 'x'"):
        call(df.selectExpr("*", "1 as x"))


def test_not_dataframes() -> None:
    for thing in (5, None, pa.table({"t": [1]})):
        with pytest.raises(TypeError, match="takes a Spark DataFrame, not"):
            sps.rolling(thing, on="t", window=1, aggs=agg.count())


def test_dataframes_in_local_functions(df: Any) -> None:
    with pytest.raises(TypeError, match=r"not a Spark DataFrame: use sash\.spark\.rolling"):
        sash.rolling(df, on="ts", window="1m", aggs=agg.count())


@BOTH
def test_functions_that_cannot_be_sent(df: Any, call: Any) -> None:
    lock = threading.Lock()
    held = sash.monoid(lambda a, b: (lock, a)[1], **TOTAL)
    with pytest.raises(
        TypeError, match=r"total_i: its functions cannot be sent to Spark's workers"
    ):
        call(df, aggs=held)


@BOTH
@pytest.mark.parametrize("order_matters", [False, True])
def test_a_monoid_that_raises_names_the_row(df: Any, call: Any, order_matters: bool) -> None:
    def refuse_77(value: int) -> int:  # a function of this module would not be known to workers
        if value == 77:
            raise ArithmeticError("77 is no number")
        return value

    rows = df.selectExpr("k", "ts", "x", "if(n = 700, 77, n % 50) as i", "n")
    key, seconds = rows.filter("n = 700").selectExpr("k", "unix_seconds(ts)").first()
    total = sash.monoid(
        lambda a, b: a + b, lift=refuse_77, **{**TOTAL, "commutative": not order_matters}
    )
    with pytest.raises(Exception, match=f"77 is no number in the row with k={key}, ts=") as caught:
        call(rows, aggs=total).collect()
    moment = datetime.fromisoformat(re.search(r"ts=(\S+ [0-9:+.-]+)", str(caught.value))[1])
    assert moment.timestamp() == seconds


@BOTH
@pytest.mark.parametrize("by", [None, "k"])
def test_null_times(df: Any, call: Any, by: Any) -> None:
    rows = df.selectExpr("k", "if(n = 700, null, ts) as ts", "x")
    with pytest.raises(Exception, match=r"column 'ts' has null times, the first in the row with"):
        call(rows, by=by).collect()


def test_times_too_far_apart_for_ranges(spark: Any) -> None:
    far = spark.sql("select * from values (9223372036854775807L), (1L), (2L) as t(t)")
    arguments: dict[str, Any] = {"on": "t", "window": 2, "aggs": agg.count()}
    with pytest.raises(Exception, match=r"times beyond 2\^61, which need split=False"):
        sps.rolling(far, **arguments).collect()
    out = sps.rolling(far, split=False, **arguments).toArrow().sort_by("t")
    assert out["count"].to_pylist() == [1, 2, 1]


@BOTH
def test_integers_that_overflow(spark: Any, call: Any) -> None:
    big = spark.sql("select 1 as k, timestamp'2026-01-01' as ts, 9223372036854775807L as i "
                    "from range(3)")  # fmt: skip
    with pytest.raises(Exception, match="does not fit in a 64-bit integer"):
        call(big, aggs=agg.sum("i")).collect()
