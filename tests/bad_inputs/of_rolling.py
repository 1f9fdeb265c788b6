"""Of `sash.rolling` and of names of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import sash
from bad_inputs.row import Bad, Hostile
from sash import agg

TABLE = pa.table({"time": [1, 5], "symbol": ["a", "b"], "price": [1.0, 2.0]})
STAMPS = TABLE.set_column(0, "time", pa.array([1, 5], pa.timestamp("s")))


def table() -> pa.Table:
    return TABLE


def roll(given: Any = TABLE, **others: Any) -> Any:
    usual = {"on": "time", "window": 2, "aggs": agg.sum("price")}
    return sash.rolling(given, **{**usual, **others})


ROWS = [
    Bad("no table", lambda: roll(None), TypeError, "expected a table"),
    Bad("a path", lambda: roll("trades.parquet"), TypeError, "not str"),
    Bad("a dict", lambda: roll({"time": [1]}), TypeError, "not dict"),
    Bad("a list of rows", lambda: roll([{"time": 1}]), TypeError, "not list"),
    Bad("an array", lambda: roll(np.ones(3)), TypeError, "expected a table"),
    Bad("a series of polars", lambda: roll(pl.Series([1])), TypeError, "expected a table"),
    Bad("a series of pandas", lambda: roll(pd.Series([1])), TypeError, "expected a table"),
    Bad("a hostile table", lambda: roll(Hostile()), TypeError, "not Hostile"),
    Bad("no columns", lambda: roll(pa.table({})), KeyError, "the table has no columns"),
    Bad("no window", lambda t: roll(t, window=None), TypeError, "give a window", table),
    Bad("window of 0", lambda t: roll(t, window=0), ValueError, "at least 1, not 0", table),
    Bad("window of -1", lambda t: roll(t, window=-1), ValueError, "not -1", table),
    Bad("window of 1.5", lambda t: roll(t, window=1.5), TypeError, "integer, not 1.5", table),
    Bad("window of NaN", lambda t: roll(t, window=float("nan")), TypeError, "nan", table),
    Bad("window of True", lambda t: roll(t, window=True), TypeError, "not True", table),
    Bad("window of '1h'", lambda t: roll(t, window="1h"), TypeError, "holds integers", table),
    Bad("window of 2^63", lambda t: roll(t, window=2**63), ValueError, "below 2^63", table),
    Bad("window of none", lambda t: roll(t, window=[]), ValueError, "at least one", table),
    Bad("windows of none", lambda t: roll(t, window={}), ValueError, "at least one", table),
    Bad("window of three", lambda t: roll(t, window=(1, 2, 3)), ValueError, "a pair is", table),
    Bad("window of no length", lambda t: roll(t, window=(0, 0)), ValueError, "longer than", table),
    Bad("windows twice", lambda t: roll(t, window=[2, 2]), ValueError, "called '2'", table),
    Bad("window of hostile", lambda t: roll(t, window=Hostile()), TypeError, "hostile", table),
    Bad("window too fine", lambda: roll(STAMPS, window="1ms"), ValueError, "whole number of sec"),
    Bad("window of a month", lambda: roll(STAMPS, window="1mo"), ValueError, "fixed length"),
    Bad("rows of 0", lambda t: roll(t, window=None, rows=0), ValueError, "at least 1", table),
    Bad("rows of 1.0", lambda t: roll(t, window=None, rows=1.0), TypeError, "integer", table),
    Bad("rows of 2^63", lambda t: roll(t, window=None, rows=2**63), ValueError, "2^63", table),
    Bad("rows of '5'", lambda t: roll(t, window=None, rows="5"), TypeError, "not '5'", table),
    Bad("on None", lambda t: roll(t, on=None), TypeError, "needs the time column", table),
    Bad("on 3", lambda t: roll(t, on=3), TypeError, "on must be a column name, not 3", table),
    Bad("on a text", lambda t: roll(t, on="symbol"), TypeError, "got string; parse it", table),
    Bad("on a float", lambda t: roll(t, on="price"), TypeError, "got double", table),
    Bad("on a near miss", lambda t: roll(t, on="tme"), KeyError, "did you mean 'time'?", table),
    Bad("on nothing near", lambda t: roll(t, on="zzz"), KeyError, "there are 'time'", table),
    Bad("on no name", lambda t: roll(t, on=""), KeyError, "no column ''", table),
    Bad("by a near miss", lambda t: roll(t, by="symbl"), KeyError, "'symbol'?", table),
    Bad("by 3", lambda t: roll(t, by=3), TypeError, "by must be a column name", table),
    Bad("by bytes", lambda t: roll(t, by=b"symbol"), TypeError, "by must be", table),
    Bad("a column near", lambda t: roll(t, aggs=agg.sum("prise")), KeyError, "'price'?", table),
    Bad("a column of text", lambda t: roll(t, aggs=agg.sum("symbol")), TypeError, "sym", table),
    Bad("no aggregates", lambda t: roll(t, aggs=[]), TypeError, "an aggregate", table),
    Bad("aggregates by name", lambda t: roll(t, aggs="sum"), TypeError, "an aggregate", table),
    Bad(
        "an aggregate twice",
        lambda t: roll(t, aggs=[agg.sum("price")] * 2),
        ValueError,
        "sum_price",
        table,
    ),
    Bad(
        "taken",
        lambda t: roll(t, aggs=agg.sum("price").alias("symbol")),
        ValueError,
        "already",
        table,
    ),
    Bad("closed", lambda t: roll(t, closed="open"), ValueError, "closed must be one of", table),
    Bad("closed True", lambda t: roll(t, closed=True), ValueError, "closed must be", table),
    Bad("closed a list", lambda t: roll(t, closed=["left"]), ValueError, "closed", table),
    Bad("min_rows of -1", lambda t: roll(t, min_rows=-1), ValueError, "at least 0", table),
    Bad("min_rows of 1.5", lambda t: roll(t, min_rows=1.5), TypeError, "integer", table),
    Bad("min_rows None", lambda t: roll(t, min_rows=None), TypeError, "not None", table),
    Bad("order", lambda t: roll(t, order="random"), ValueError, "'event' or 'arrival'", table),
    Bad("threads of 0", lambda t: roll(t, threads=0), ValueError, "at least 1", table),
    Bad("threads of text", lambda t: roll(t, threads="all"), TypeError, "not 'all'", table),
    Bad("every of 0", lambda t: roll(t, every=0), ValueError, "every must be at least 1", table),
    Bad("every tiny", lambda t: roll(t, window=2**62, every=1), ValueError, "each row into", table),
    Bad(
        "every by rows",
        lambda t: roll(t, window=None, rows=2, every=1),
        ValueError,
        "by time",
        table,
    ),
    Bad("every with a near key", lambda t: roll(t, every=1, by="window_end"), KeyError, "", table),
    Bad("offset alone", lambda t: roll(t, offset=1), ValueError, "goes with every=", table),
    Bad(
        "arrival ahead",
        lambda t: roll(t, window=(1, 1), order="arrival"),
        ValueError,
        "ahead",
        table,
    ),
    Bad(
        "rank elsewhere",
        lambda t: roll(t, aggs=agg.rank("price"), closed="left"),
        ValueError,
        "own row",
        table,
    ),
    Bad(
        "two of a name",
        lambda: roll(pa.table([[1], [2]], names=["time", "time"])),
        ValueError,
        "two columns called 'time'",
    ),
    Bad(
        "two of a name in pandas",
        lambda: roll(pd.DataFrame([[1, 2, 3]], columns=["time", "time", "price"])),
        ValueError,
        "two columns called 'time'",
    ),
    Bad(
        "numbers for names",
        lambda: roll(pd.DataFrame({0: [1]})),
        TypeError,
        "column names must be strings, not 0",
    ),
    Bad(
        "one column of many types",
        lambda: roll(pd.DataFrame({"time": [1, "a"], "price": [1.0, 2.0]})),
        TypeError,
        "cannot be read as one type",
    ),
    Bad(
        "null times",
        lambda: roll(pa.table({"time": [1, None], "price": [1.0, 2.0]})),
        ValueError,
        "1 null times, the first in row 1",
    ),
    Bad(
        "unsigned and too large",
        lambda: roll(pa.table({"time": pa.array([2**63], pa.uint64()), "price": [1.0]})),
        OverflowError,
        "64 bits",
    ),
    Bad(
        "a sum too large",
        lambda: roll(pa.table({"time": [1, 2], "price": [2**62, 2**62]})),
        OverflowError,
        "",
    ),
]
