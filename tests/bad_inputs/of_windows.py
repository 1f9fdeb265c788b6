"""Of windows, lengths of time and `WindowOperator`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

import sash
from bad_inputs.row import Bad, Hostile, HostileError, Text, endless
from sash import agg
from sash._snapshot import DamagedSnapshotError

ROWS_IN = pa.table({"time": [1, 5], "user": ["a", "b"], "x": [1.0, 2.0]})


def made(**others: Any) -> sash.WindowOperator:
    usual = {"on": "time", "by": "user", "windows": sash.tumbling(10), "aggs": agg.sum("x")}
    return sash.WindowOperator(**{**usual, **others})


def operator() -> sash.WindowOperator:
    op = made(lateness=5)
    op.process(ROWS_IN)
    return op


def stamped() -> sash.WindowOperator:
    op = made(windows=sash.tumbling("1m"))
    op.process(pa.table({"time": pa.array([1], pa.timestamp("us")), "user": ["a"], "x": [1.0]}))
    return op


def finished() -> sash.WindowOperator:
    op = operator()
    op.finish()
    return op


def rows(**columns: Any) -> pa.Table:
    return pa.table({"time": [7], "user": ["a"], "x": [1.0]} | columns)


def without(name: str) -> pa.Table:
    return rows().drop_columns([name])


LENGTHS = [
    Bad("size of nothing", sash.tumbling, TypeError, "a size, as '1m', or rows=100"),
    Bad("size and rows", lambda: sash.tumbling("1m", rows=3), TypeError, "either a size"),
    Bad("no unit", lambda: sash.tumbling("90"), ValueError, "cannot read '90'"),
    Bad("no number", lambda: sash.tumbling("h"), ValueError, "cannot read 'h'"),
    Bad("empty", lambda: sash.tumbling(""), ValueError, "cannot read ''"),
    Bad("a point", lambda: sash.tumbling("1.5h"), ValueError, "cannot read '1.5h'"),
    Bad("months", lambda: sash.tumbling("3 months"), ValueError, "not a fixed length"),
    Bad("capital M", lambda: sash.tumbling("3M"), ValueError, "cannot read '3M'"),
    Bad("too many digits", lambda: sash.tumbling("9" * 5000 + "s"), ValueError, "5001 characters"),
    Bad("very long", lambda: sash.tumbling("1s" * 10**6), ValueError, "no duration"),
    Bad("31 digits", lambda: sash.tumbling("9" * 31 + "s"), ValueError, "cannot read"),
    Bad("a string of one's own", lambda: sash.tumbling(Text("soon")), ValueError, "'soon'"),
    Bad(
        "calendar length",
        lambda: made(windows=sash.tumbling(np.timedelta64(1, "M"))),
        ValueError,
        "not a fixed length",
    ),
    Bad("rows of 0", lambda: sash.tumbling(rows=0), ValueError, "at least 1, not 0"),
    Bad("rows of -5", lambda: sash.tumbling(rows=-5), ValueError, "not -5"),
    Bad("rows of True", lambda: sash.tumbling(rows=True), TypeError, "not True"),
    Bad("rows of 1e3", lambda: sash.tumbling(rows=1e3), TypeError, "integer, not 1000.0"),
    Bad("rows of 2^63", lambda: sash.tumbling(rows=2**63), ValueError, "below 2^63"),
    Bad("rows of text", lambda: sash.tumbling(rows="5"), TypeError, "integer, not '5'"),
    Bad("rows with offset", lambda: sash.tumbling(rows=5, offset=1), TypeError, "offset="),
    Bad("no slide", lambda: sash.sliding("1h"), TypeError, "needs a slide"),
    Bad("slide of rows", lambda: sash.sliding(rows=5, slide=6), ValueError, "leaves rows out"),
    Bad("slide in time", lambda: sash.sliding(rows=5, slide="1s"), TypeError, "integer"),
    Bad("name of nothing", lambda: sash.tumbling(5, name=""), TypeError, "non-empty string"),
    Bad("name of 3", lambda: sash.tumbling(5, name=3), TypeError, "non-empty string, not 3"),
    Bad("delta of 0", lambda: sash.windows.delta("x", 0), ValueError, "above 0"),
    Bad("delta of NaN", lambda: sash.windows.delta("x", float("nan")), ValueError, "not nan"),
    Bad("delta of inf", lambda: sash.windows.delta("x", float("inf")), ValueError, "not inf"),
    Bad("delta of True", lambda: sash.windows.delta("x", True), ValueError, "not True"),
    Bad("delta of text", lambda: sash.windows.delta("x", "3"), ValueError, "not '3'"),
    Bad("delta of 10^400", lambda: sash.windows.delta("x", 10**400), ValueError, "above 0"),
    Bad("delta over 3", lambda: sash.windows.delta(3, 1.0), TypeError, "named by a string"),
    Bad("punctuation of None", lambda: sash.windows.punctuation(None), TypeError, "not None"),
    Bad("split by text", lambda: sash.windows.split("x"), TypeError, "needs a function"),
    Bad("split over 3", lambda: sash.windows.split(len, 3), TypeError, "named by a string"),
    Bad("calendar of None", lambda: sash.windows.calendar(None), TypeError, "needs a function"),
    Bad("session of None", lambda: sash.session(None), TypeError, "None"),
]
MAKING = [
    Bad("on None", lambda: made(on=None), TypeError, "on must be a column name, not None"),
    Bad("on a list", lambda: made(on=["time"]), TypeError, "not ['time']"),
    Bad("by a number", lambda: made(by=3), TypeError, "by must be a column name or a list"),
    Bad("by numbers", lambda: made(by=[3]), TypeError, "not [3]"),
    Bad("by twice", lambda: made(by=["user", "user"]), ValueError, "'user' is named twice"),
    Bad("by our name", lambda: made(by="window"), ValueError, "'window' of their own"),
    Bad("by without end", lambda: made(by=(str(i) for i in endless())), ValueError, "at most"),
    Bad("by hostile", lambda: made(by=Hostile()), HostileError, "within"),
    Bad("no windows", lambda: made(windows=[]), TypeError, "windows must be a window"),
    Bad("windows None", lambda: made(windows=None), TypeError, "not None"),
    Bad("windows by text", lambda: made(windows="1h"), TypeError, "not '1h'"),
    Bad("windows of text", lambda: made(windows=["1h"]), TypeError, "sash.tumbling('1m')"),
    Bad("windows twice", lambda: made(windows=[sash.tumbling(5)] * 2), ValueError, "'tumbling_5'"),
    Bad(
        "windows without end",
        lambda: made(windows=(sash.tumbling(1, name=str(i)) for i in endless())),
        ValueError,
        "at most 10000",
    ),
    Bad("no aggregates", lambda: made(aggs=[]), TypeError, "expected an aggregate"),
    Bad("aggregate of no column", lambda: made(aggs=agg.sum()), ValueError, "agg.sum('price')"),
    Bad("a median of windows", lambda: made(aggs=agg.median("x")), TypeError, "sash.rolling does"),
    Bad("alias of ours", lambda: made(aggs=agg.sum("x").alias("revision")), ValueError, "of their"),
    Bad("alias of a key", lambda: made(aggs=agg.sum("x").alias("user")), ValueError, "a key and"),
    Bad("emit", lambda: made(emit="all"), ValueError, "emit must be one of"),
    Bad("emit None", lambda: made(emit=None), ValueError, "emit must be one of"),
    Bad("emit a list", lambda: made(emit=["complete"]), ValueError, "emit must be one of"),
    Bad("store", lambda: made(store="disk"), ValueError, "store must be one of"),
    Bad("on_late", lambda: made(on_late="print"), TypeError, "on_late must be a function"),
    Bad("lateness of text", lambda: made(lateness="soon"), ValueError, "lateness: cannot read"),
    Bad("delay of text", lambda: made(delay="1 fortnight"), ValueError, "delay: cannot read"),
]
TYPES = [  # known with the first batch
    Bad("lateness of -1", lambda: made(lateness=-1).process(ROWS_IN), ValueError, "at least 0"),
    Bad("lateness of 1.5", lambda: made(lateness=1.5).process(ROWS_IN), TypeError, "integer"),
    Bad("lateness None", lambda: made(lateness=None).process(ROWS_IN), TypeError, "lateness"),
    Bad("lateness True", lambda: made(lateness=True).process(ROWS_IN), TypeError, "not True"),
    Bad("lateness 2^63", lambda: made(lateness=2**63).process(ROWS_IN), ValueError, "2^63"),
    Bad("lateness 2^61", lambda: made(lateness=2**61).process(ROWS_IN), ValueError, "2^60"),
    Bad("lateness '1h'", lambda: made(lateness="1h").process(ROWS_IN), TypeError, "integers"),
    Bad(
        "size of 0",
        lambda: made(windows=sash.tumbling(0)).process(ROWS_IN),
        ValueError,
        "size must be at least 1, not 0",
    ),
    Bad(
        "gap of 2^63",
        lambda: made(windows=sash.session(2**63)).process(ROWS_IN),
        ValueError,
        "gap must be below 2^63",
    ),
    Bad(
        "size of 1.5",
        lambda: made(windows=sash.tumbling(1.5)).process(ROWS_IN),
        TypeError,
        "must be an integer, not 1.5",
    ),
    Bad(
        "size of a timedelta",
        lambda: made(windows=sash.tumbling(timedelta(1))).process(ROWS_IN),
        TypeError,
        "holds integers",
    ),
    Bad(
        "slide above size",
        lambda: made(windows=sash.sliding(5, 6)).process(ROWS_IN),
        ValueError,
        "leaves rows out",
    ),
    Bad(
        "a row in 10^12 windows",
        lambda: made(windows=sash.sliding(10**12, 1)).process(ROWS_IN),
        ValueError,
        "each row into 1000000000000 windows",
    ),
    Bad(
        "column of a window",
        lambda: made(windows=sash.windows.delta("y", 1)).process(ROWS_IN),
        KeyError,
        "no column 'y'",
    ),
]
BATCHES = [
    Bad("batch None", lambda op: op.process(None), TypeError, "expected a table", operator),
    Bad("batch of a dict", lambda op: op.process({"time": [1]}), TypeError, "not dict", operator),
    Bad("batch of a list", lambda op: op.process([1]), TypeError, "not list", operator),
    Bad("batch of an array", lambda op: op.process(pa.array([1])), TypeError, "table", operator),
    Bad("batch hostile", lambda op: op.process(Hostile()), TypeError, "not Hostile", operator),
    Bad("no time", lambda op: op.process(without("time")), KeyError, "no column 'time'", operator),
    Bad("no key", lambda op: op.process(without("user")), KeyError, "no column 'user'", operator),
    Bad("no value", lambda op: op.process(without("x")), KeyError, "no column 'x'", operator),
    Bad(
        "a near miss",
        lambda op: op.process(rows().rename_columns(["Time", "user", "x"])),
        KeyError,
        "did you mean 'Time'?",
        operator,
    ),
    Bad("null time", lambda op: op.process(rows(time=[None])), ValueError, "null times", operator),
    Bad("text time", lambda op: op.process(rows(time=["1"])), TypeError, "", operator),
    Bad("float time", lambda op: op.process(rows(time=[1.5])), TypeError, "double", operator),
    Bad("far time", lambda op: op.process(rows(time=[2**62])), OverflowError, "row 0", operator),
    Bad("null key", lambda op: op.process(rows(user=[None])), ValueError, "null keys", operator),
    Bad("other key", lambda op: op.process(rows(user=[1])), TypeError, "user", operator),
    Bad("text value", lambda op: op.process(rows(x=["a"])), TypeError, "x", operator),
    Bad("nested value", lambda op: op.process(rows(x=[[1.0]])), TypeError, "x", operator),
    Bad("watermark None", lambda op: op.advance(None), TypeError, "not None", operator),
    Bad("watermark text", lambda op: op.advance("5"), TypeError, "'5' is not a time", operator),
    Bad("watermark NaN", lambda op: op.advance(float("nan")), TypeError, "not nan", operator),
    Bad("watermark True", lambda op: op.advance(True), TypeError, "not True", operator),
    Bad("watermark 2^63", lambda op: op.advance(2**63), OverflowError, "2^62", operator),
    Bad("watermark a date", lambda op: op.advance(datetime(2024, 1, 1)), TypeError, "", operator),
    Bad("watermark hostile", lambda op: op.advance(Hostile()), HostileError, "within", operator),
    Bad("watermark NaT", lambda op: op.advance(np.datetime64("NaT")), TypeError, "NaT", stamped),
    Bad("query of two", lambda op: op.query(("a", "b")), TypeError, "", operator),
    Bad("query of None", lambda op: op.query(), ValueError, "which key?", operator),
    Bad("query of 3", lambda op: op.query(3), TypeError, "not of the type", operator),
    Bad("query within", lambda op: op.query("a", 3, 4), ValueError, "", operator),
    Bad("windows of 3", lambda op: op.windows(3), TypeError, "not of the type", operator),
    Bad("add text", lambda op: op.add("1h"), TypeError, "one window", operator),
    Bad("add twice", lambda op: op.add(sash.tumbling(10)), ValueError, "tumbling_10", operator),
    Bad("add a length", lambda op: op.add(sash.tumbling("1h")), TypeError, "integers", operator),
    Bad("remove", lambda op: op.remove("tumbling_1"), KeyError, "did you mean", operator),
    Bad("remove the last", lambda op: op.remove("tumbling_10"), ValueError, "only", operator),
    Bad("remove None", lambda op: op.remove(None), KeyError, "None", operator),
    Bad("restore again", lambda op: op.restore(b"x"), RuntimeError, "not processed", operator),
    Bad("process after", lambda op: op.process(ROWS_IN), RuntimeError, "was finished", finished),
    Bad("advance after", lambda op: op.advance(99), RuntimeError, "was finished", finished),
    Bad("pickled", lambda op: op.__reduce__(), TypeError, "snapshot()", operator),
]
NEW = [
    Bad("advance first", lambda op: op.advance(1), RuntimeError, "no batch", made),
    Bad("query first", lambda op: op.query("a"), RuntimeError, "no batch", made),
    Bad("restore nothing", lambda op: op.restore(), TypeError, "needs a snapshot", made),
    Bad("restore text", lambda op: op.restore("x"), TypeError, "is bytes, not str", made),
    Bad("restore noise", lambda op: op.restore(b"x" * 99), DamagedSnapshotError, "", made),
    Bad(
        "restore another's",
        lambda op: op.restore(stamped().snapshot()),
        sash.SnapshotError,
        "",
        made,
    ),
    Bad(
        "restore that of a structure",
        lambda op: op.restore(sash.Daba(agg.sum()).snapshot()),
        sash.SnapshotError,
        "",
        made,
    ),
]
ROWS = [*LENGTHS, *MAKING, *TYPES, *BATCHES, *NEW]
