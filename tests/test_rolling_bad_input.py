# ruff: noqa: E501 (a table of cases, one a line)
"""What rolling refuses, and that the message names the column, the value and the remedy."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sash
from sash import _durations, agg

TABLE = pa.table(
    {
        "ts": pa.array([dt.datetime(2026, 1, 1, h) for h in range(3)], pa.timestamp("ms")),
        "n": [1, 2, 3],
        "price": [1.0, 2.0, 3.0],
        "name": ["a", "b", "c"],
        "list": [[1], [2], [3]],
        "text_time": ["2026-01-01", "2026-01-02", "2026-01-03"],
        "hole": pa.array([1, None, 3]),
    }
)
SUM = agg.sum("price")

CASES: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"on": "tz", "window": "1h", "aggs": SUM}, KeyError, "on: no column 'tz'; did you mean 'ts'"),
    ({"rows": 2, "aggs": agg.sum("prize")}, KeyError, "sum: no column 'prize'; did you mean 'price'"),
    ({"rows": 2, "by": "nam", "aggs": SUM}, KeyError, "by: no column 'nam'; did you mean 'name'"),
    ({"rows": 2, "by": 5, "aggs": SUM}, TypeError, "by must be a column name or a list"),
    ({"on": 3, "window": "1h", "aggs": SUM}, TypeError, "on must be a column name, not 3"),
    ({"on": "ts", "window": "1 fortnight", "aggs": SUM}, ValueError, "cannot read '1 fortnight'"),
    ({"on": "ts", "window": "", "aggs": SUM}, ValueError, "cannot read ''"),
    ({"on": "ts", "window": "h", "aggs": SUM}, ValueError, "cannot read 'h'"),
    ({"on": "ts", "window": "1M", "aggs": SUM}, ValueError, "cannot read '1M'"),
    ({"on": "ts", "window": np.timedelta64(1, "M"), "aggs": SUM}, ValueError, "not a fixed length"),
    ({"on": "ts", "window": np.timedelta64("NaT"), "aggs": SUM}, TypeError, "a duration such as"),
    ({"on": "ts", "window": "1h", "closed": ["right"], "aggs": SUM}, ValueError, "closed must be one of"),
    ({"on": "ts", "window": "1mo", "aggs": SUM}, ValueError, "not a fixed length"),
    ({"on": "ts", "window": "2 years", "aggs": SUM}, ValueError, "not a fixed length"),
    ({"on": "ts", "window": "-1h", "aggs": SUM}, ValueError, "window must be at least 1"),
    ({"on": "ts", "window": "0s", "aggs": SUM}, ValueError, "window must be at least 1"),
    ({"on": "ts", "window": "1500us", "aggs": SUM}, ValueError, "whole number of milliseconds"),
    ({"on": "ts", "window": 1.5, "aggs": SUM}, TypeError, "a duration such as '1h'"),
    ({"on": "ts", "window": True, "aggs": SUM}, TypeError, "a duration such as '1h'"),
    ({"on": "ts", "window": ("1h",), "aggs": SUM}, ValueError, r"a pair is \(before, after\)"),
    ({"on": "ts", "window": ("0s", "0s"), "aggs": SUM}, ValueError, "longer than 0"),
    ({"on": "ts", "window": ("1h", "1h"), "center": True, "aggs": SUM}, ValueError, "a pair already"),
    ({"on": "ts", "window": [], "aggs": SUM}, ValueError, "name at least one window"),
    ({"on": "ts", "window": ["1h", "1h"], "aggs": SUM}, ValueError, "two windows are called '1h'"),
    ({"on": "ts", "window": "1h", "closed": "none", "aggs": SUM}, ValueError, "closed must be one of"),
    ({"on": "ts", "window": "1h", "order": "late", "aggs": SUM}, ValueError, "'event' or 'arrival'"),
    ({"on": "ts", "window": "1h", "min_rows": -1, "aggs": SUM}, ValueError, "min_rows"),
    ({"on": "ts", "window": "1h", "threads": 0, "aggs": SUM}, ValueError, "threads"),
    ({"on": "n", "window": "1h", "aggs": SUM}, TypeError, "'n' holds integers"),
    ({"on": "price", "window": 1, "aggs": SUM}, TypeError, "'price': expected timestamps"),
    ({"on": "text_time", "window": 1, "aggs": SUM}, TypeError, "parse it first"),
    ({"on": "hole", "window": 1, "aggs": SUM}, ValueError, "1 null times, the first in row 1"),
    ({"window": "1h", "aggs": SUM}, TypeError, "needs the time column"),
    ({"on": "ts", "aggs": SUM}, TypeError, "give a window"),
    ({"rows": 0, "aggs": SUM}, ValueError, "rows must be at least 1"),
    ({"rows": 2.0, "aggs": SUM}, TypeError, "rows must be an integer"),
    ({"rows": 2, "aggs": []}, TypeError, "expected an aggregate"),
    ({"rows": 2, "aggs": agg.sum}, TypeError, r"call it, as in sum\(\)"),
    ({"rows": 2, "aggs": agg.sum()}, ValueError, r"name its column, as in agg.sum\('price'\)"),
    ({"rows": 2, "aggs": agg.median()}, ValueError, "name its column"),
    ({"rows": 2, "aggs": agg.sum("name")}, TypeError, "'name' holds string, not numbers"),
    ({"rows": 2, "aggs": agg.sum("ts")}, TypeError, "not numbers"),
    ({"rows": 2, "aggs": agg.median("name")}, TypeError, "not numbers"),
    ({"rows": 2, "aggs": agg.max("list")}, TypeError, "cannot be put in order"),
    ({"rows": 2, "aggs": agg.bloom("list")}, TypeError, "not plain values"),
    ({"rows": 2, "aggs": [SUM, agg.sum("price")]}, ValueError, r"give one an alias\(\)"),
    ({"rows": 2, "aggs": SUM.alias("name")}, ValueError, "there is a column 'name' already"),
    ({"rows": 2, "every": 2, "aggs": SUM}, ValueError, "every= goes with windows by time"),
    ({"on": "ts", "window": "1h", "every": "0s", "aggs": SUM}, ValueError, "every must be at least 1"),
    ({"on": "ts", "window": ["1h", "2h"], "every": "1h", "aggs": SUM}, ValueError, "one window"),
    ({"on": "ts", "window": "1d", "every": "1ms", "by": "window_start", "aggs": SUM}, KeyError, "no column"),
    ({"on": "ts", "window": "36500d", "every": "1ms", "aggs": SUM}, ValueError, "at most 10000000 can be told"),
    ({"on": "ts", "window": "1h", "offset": "1m", "aggs": SUM}, ValueError, "offset= goes with every="),
    ({"rows": 2, "order": "arrival", "aggs": SUM}, TypeError, "needs the time column"),
    ({"on": "ts", "window": ("1h", "1h"), "order": "arrival", "aggs": SUM}, ValueError, "look ahead"),
    ({"on": "ts", "window": "1h", "closed": "left", "aggs": agg.rank("n")}, ValueError, "own row"),
    ({"on": "ts", "window": "1h", "order": "arrival", "aggs": agg.rank("n")}, ValueError, "event order"),
    ({"on": "ts", "rows": 2, "order": "arrival", "closed": "left", "aggs": SUM}, ValueError, "newest"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "error", "text"), CASES, ids=[c[2][:40] for c in CASES])
def test_refused(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        sash.rolling(TABLE, **arguments)


@pytest.mark.parametrize("table", [5, "table", [1, 2], {"a": [1]}, None, np.zeros(3)])
def test_what_is_no_table(table: Any) -> None:
    with pytest.raises(TypeError, match="expected a table"):
        sash.rolling(table, rows=2, aggs=SUM)


def test_tables_that_cannot_be_read() -> None:
    mixed = pd.DataFrame({"v": [1, "a"], "t": [1, 2]})
    with pytest.raises(TypeError, match="column 'v': cannot be read as one type"):
        sash.rolling(mixed, rows=2, aggs=agg.max("v"))
    zones = [pd.Timestamp("2026-01-01", tz="UTC"), pd.Timestamp("2026-01-01", tz="Europe/Rome")]
    odd = pd.DataFrame({"t": pd.Series(zones, dtype=object), "v": [1, 2]})
    out = sash.rolling(odd, on="t", window="2h", aggs=agg.count())  # moments are moments
    assert out["count"].tolist() == [2, 1]
    naive = pd.DataFrame({"t": pd.Series([zones[0], pd.Timestamp("2026-01-01")], dtype=object)})
    with pytest.raises(ValueError, match="'t' mixes times with and without a time zone"):
        sash.rolling(naive, on="t", window="1h", aggs=agg.count("t"))
    numbers = pd.DataFrame({0: [1], 1: [2]})
    with pytest.raises(TypeError, match="column names must be strings, not 0"):
        sash.rolling(numbers, rows=1, aggs=agg.count())
    twice = pa.table([pa.array([1]), pa.array([2])], ["a", "a"])
    with pytest.raises(ValueError, match="two columns called 'a'"):
        sash.rolling(twice, rows=1, aggs=agg.count())
    with pytest.raises(TypeError, match="expected a table"):
        sash.rolling(pd.Series([1, 2]), rows=1, aggs=agg.count())
    own = pa.table({"t": [1], "window_start": [1]})
    with pytest.raises(ValueError, match="rename the key"):
        sash.rolling(own, on="t", by="window_start", window=1, every=1, aggs=agg.count())
    big = pa.table({"v": pa.array([2**64 - 1], pa.uint64())})
    with pytest.raises(OverflowError, match="does not fit"):
        sash.rolling(big, rows=1, aggs=agg.sum("v"))
    with pytest.raises(OverflowError, match="does not fit"):
        sash.rolling(big, on="v", window=1, aggs=agg.count())


def test_results_that_no_table_can_hold() -> None:
    odd = sash.monoid(lambda a, b: a, lower=lambda s: s if s == 1 else "text", column="n")
    with pytest.raises(TypeError, match="several types"):
        sash.rolling(TABLE, rows=1, aggs=odd)


def test_structures_refuse_what_only_rolling_can() -> None:
    for aggregate in (
        agg.median(),
        agg.quantile(0.5),
        agg.rank(),
        agg.mode(),
        agg.count_distinct(),
    ):
        with pytest.raises(TypeError, match=r"sash\.rolling does"):
            sash.DabaLite(aggregate)
        with pytest.raises(TypeError, match=r"sash\.rolling does"):
            sash.FingerTree(aggregate)


def test_bad_parameters_of_the_ordered_aggregates() -> None:
    for wrong in (-0.1, 1.5, "x", float("nan"), True, None):
        with pytest.raises(ValueError, match="q lies between 0 and 1"):
            agg.quantile(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="interpolation is one of"):
        agg.quantile(0.5, interpolation="cubic")
    with pytest.raises(ValueError, match="ties is one of"):
        agg.rank(ties="dense")


def test_explain_checks_like_rolling() -> None:
    with pytest.raises(KeyError, match="did you mean 'price'"):
        sash.explain(TABLE, rows=2, aggs=agg.sum("prise"))
    with pytest.raises(TypeError, match="no argument 'windows'; did you mean 'window'"):
        sash.explain(TABLE, windows=2, aggs=SUM)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1h", 3_600_000_000_000),
        ("1h30m", 5_400_000_000_000),
        ("90 s", 90_000_000_000),
        ("2 Days", 172_800_000_000_000),
        ("1 week 1 day", 691_200_000_000_000),
        ("5 minutes", 300_000_000_000),
        ("3min", 180_000_000_000),
        ("250ms", 250_000_000),
        ("7us", 7_000),
        ("7µs", 7_000),
        ("8ns", 8),
        ("-3s", -3_000_000_000),
        (dt.timedelta(microseconds=1), 1_000),
        (np.timedelta64(3, "m"), 180_000_000_000),
    ],
)
def test_durations(text: Any, wanted: int) -> None:
    assert _durations.nanoseconds("window", text) == wanted
