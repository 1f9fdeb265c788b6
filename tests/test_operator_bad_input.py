"""Bad input to a window operator: clear errors, and nothing has changed."""

from __future__ import annotations

import copy
import pickle
import threading
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import agg
from sash.windows import calendar, delta, punctuation, split

GOOD = pa.table({"t": [1, 5, 12], "x": [1.0, 2.0, 3.0], "k": ["a", "b", "a"]})


def make(**arguments: Any) -> sash.WindowOperator:
    given: dict[str, Any] = {"on": "t", "windows": sash.tumbling(10), "aggs": agg.sum("x")}
    return sash.WindowOperator(**(given | arguments))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"on": 3}, TypeError, "on must be a column name"),
        ({"windows": []}, TypeError, "windows must be a window such as"),
        ({"windows": "1m"}, TypeError, "windows must be a window such as"),
        ({"windows": [sash.tumbling(5), sash.tumbling(5)]}, ValueError, "give one a name="),
        ({"aggs": agg.sum}, TypeError, "call it"),
        ({"aggs": agg.sum()}, ValueError, "name its column"),
        ({"aggs": agg.median("x")}, TypeError, "sash.rolling does"),
        ({"delay": "2x"}, ValueError, "cannot read '2x' as a duration"),
        ({"aggs": [agg.sum("x"), agg.sum("x")]}, ValueError, "alias"),
        ({"emit": "all"}, ValueError, "emit must be one of"),
        ({"store": "tree"}, ValueError, "store must be one of"),
        ({"by": ["k", "k"]}, ValueError, "named twice"),
        ({"by": "window"}, ValueError, "of their own"),
        ({"aggs": agg.sum("x").alias("revision")}, ValueError, "of their own"),
        ({"by": "k", "aggs": agg.sum("x").alias("k")}, ValueError, "a key and an aggregate"),
        ({"on_late": 3}, TypeError, "on_late must be a function"),
    ],
)
def test_operators_that_make_no_sense(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make(**arguments)


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (sash.sliding(10, 0), "slide must be at least 1"),
        (sash.sliding(10, 20), "slide must be at most the size"),
        (sash.tumbling(0), "size must be at least 1"),
        (sash.tumbling(-3), "size must be at least 1"),
        (sash.session(-1), "gap must be at least 1"),
        (sash.session(0), "gap must be at least 1"),
        (sash.tumbling(1 << 61), "below 2\\^60"),
        (sash.tumbling("1m"), "give the length as an integer"),
    ],
)
def test_lengths_that_make_no_sense(window: sash.windows.Window, message: str) -> None:
    op = make(windows=[sash.tumbling(10), window])
    with pytest.raises((ValueError, TypeError), match=message):
        op.process(GOOD)
    assert op.rows == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (sash.tumbling, "either a size"),
        (lambda: sash.tumbling("1m", rows=3), "either a size"),
        (lambda: sash.tumbling(rows=0), "rows must be at least 1"),
        (lambda: sash.tumbling(rows=3, offset=1), "offset"),
        (lambda: sash.sliding("1h"), "needs a slide"),
        (lambda: sash.tumbling("5T"), "cannot read '5T' as a duration"),
        (lambda: sash.sliding(rows=3, slide=5), "leaves rows out"),
        (lambda: delta("x", 0), "above 0"),
        (lambda: delta(3, 1), "named by a string"),
        (lambda: punctuation(None), "named by a string"),
        (lambda: split("x"), "needs a function"),
        (lambda: calendar(3), "needs a function"),
        (lambda: sash.session(3, name=""), "non-empty string"),
    ],
)
def test_windows_that_make_no_sense(call: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def table(**columns: Any) -> pa.Table:
    return pa.table({n: GOOD[n] for n in GOOD.column_names} | columns)


BAD_BATCHES = [
    (GOOD.drop_columns(["x"]), KeyError, "no column 'x'"),
    (GOOD.rename_columns(["t", "y", "k"]), KeyError, "no column 'x'"),
    (table(t=[1, None, 3]), ValueError, "1 null times, the first in row 1"),
    (table(k=["a", None, "c"]), ValueError, "null keys, the first in row 1"),
    (table(t=[1.5, 2.0, 3.0]), TypeError, "holds double in this batch and int64"),
    (table(x=["a", "b", "c"]), TypeError, "holds string in this batch and double"),
    (table(k=[1, 2, 3]), TypeError, "holds int64 in this batch and string"),
    (table(t=[1, 1 << 62, 3]), OverflowError, "the time in row 1"),
    (table(t=[1, -(1 << 63), 3]), OverflowError, "the time in row 1"),
    ([1, 2, 3], TypeError, "expected a table"),
    (None, TypeError, "expected a table"),
]


@pytest.mark.parametrize(("batch", "error", "message"), BAD_BATCHES)
def test_batches_that_cannot_be_taken_change_nothing(
    batch: Any, error: type[Exception], message: str
) -> None:
    op, other = (make(by="k", lateness=20) for _ in range(2))
    for one in (op, other):
        one.process(GOOD)
        one.advance(8)
    with pytest.raises(error, match=message):
        op.process(batch)
    more = pa.table({"t": [2, 20, 7], "x": [1.0, 1.0, 1.0], "k": ["b", "c", "d"]})
    assert op.process(more) == other.process(more)
    assert op.finish() == other.finish()
    assert op.rows == other.rows


def test_times_beyond_64_bits() -> None:
    with pytest.raises(OverflowError, match="does not fit"):
        make().process(pa.table({"t": pa.array([1 << 63], pa.uint64()), "x": [1.0]}))


def test_the_first_batch_must_say_what_types_there_are() -> None:
    op = make()
    with pytest.raises(TypeError, match="only nulls in the first batch"):
        op.process(pa.table({"t": [1], "x": pa.nulls(1)}))
    assert op.process(pa.table({"t": pa.array([], pa.int64()), "x": pa.nulls(0)})).num_rows == 0
    op.process(pa.table({"t": [1], "x": [1.0]}))
    op.process(pa.table({"t": [2], "x": pa.nulls(1)}))
    assert op.finish()["sum_x"].to_pylist() == [1.0]


@pytest.mark.parametrize("value", ["soon", 1.5, None, True, datetime(2026, 1, 1)])
def test_watermarks_that_are_none(value: Any) -> None:
    op = make()
    op.process(GOOD)
    with pytest.raises(TypeError, match="watermark"):
        op.advance(value)
    with pytest.raises(OverflowError, match="watermark"):
        op.advance(1 << 62)


def test_a_naive_time_for_a_column_with_a_zone() -> None:
    op = make()
    op.process(pa.table({"t": pa.array([0], pa.timestamp("us", "UTC")), "x": [1.0]}).slice(0, 0))
    with pytest.raises(TypeError, match="has the time zone UTC"):
        op.advance(datetime(2026, 1, 1))


def test_questions_that_cannot_be_answered() -> None:
    op = make(by="k")
    for ask in (op.query, op.windows, op.advance):
        with pytest.raises(RuntimeError, match="no batch has been processed yet"):
            ask(3)
    assert op.finish().num_rows == 0
    op.process(GOOD)
    with pytest.raises(TypeError, match="not of the type of its column"):
        op.query(3)
    two = make(by=["k", "t"])
    two.process(GOOD)
    assert two.query(("a", 1)) == {"sum_x": 1.0}
    with pytest.raises(ValueError, match="a key has 2 parts"):
        two.query("a")
    keyless = make()
    keyless.process(GOOD)
    with pytest.raises(ValueError, match="there are no keys"):
        keyless.query("a")


def test_windows_that_cannot_be_added_or_removed() -> None:
    op = make()
    op.process(GOOD)
    with pytest.raises(ValueError, match="give one a name="):
        op.add(sash.tumbling(10))
    with pytest.raises(KeyError, match="no window 'tumblin_10'; did you mean 'tumbling_10'"):
        op.remove("tumblin_10")
    with pytest.raises(ValueError, match="the only window"):
        op.remove("tumbling_10")
    with pytest.raises(KeyError, match="was not read so far"):
        op.add(delta("k", 3))
    with pytest.raises(ValueError, match="slide must be at most"):
        op.add(sash.sliding(3, 4))
    assert [w.name for w in op._windows] == ["tumbling_10"]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda first, last: 3, "two sequences of integers"),
        (lambda first, last: ([0], [10, 20]), "two sequences of integers"),
        (lambda first, last: ([0], [0]), "end after it starts"),
        (lambda first, last: ([0.5], [10.5]), "two sequences of integers"),
        (lambda first, last: (["0"], ["10"]), "two sequences of integers"),
        (lambda first, last: ([5, 0], [20, 30]), "must ascend"),
        (lambda first, last: ([0, 1], [20, 15]), "must ascend"),
    ],
)
def test_calendars_that_make_no_sense(function: Any, message: str) -> None:
    op = make(windows=calendar(function))
    with pytest.raises((TypeError, ValueError), match=message):
        op.process(GOOD)


def test_functions_that_raise_change_nothing() -> None:
    broken = True

    def starts(times: Any, *_: Any) -> Any:
        if broken:
            raise RuntimeError("not today")
        return times % 3 == 0

    op = make(windows=[split(starts), sash.tumbling(10)], by="k")
    with pytest.raises(RuntimeError, match="not today"):
        op.process(GOOD)
    assert (op.rows, op.keys) == (0, 0)
    broken = False
    op.process(GOOD)
    assert op.keys == 2
    wrong = make(windows=split(lambda times: times[:1] > 0))
    with pytest.raises(ValueError, match="a truth value for each of the 3 rows"):
        wrong.process(GOOD)


def test_one_call_at_a_time() -> None:
    op = make(on_late=lambda table: None)
    with op._turn, pytest.raises(RuntimeError, match="in use by another call"):
        op.process(GOOD)
    inside: list[Exception] = []

    def starts(times: Any) -> Any:
        try:
            op.query()
        except RuntimeError as error:
            inside.append(error)
        return times > 0

    op = make(windows=split(starts))
    op.process(GOOD)
    assert inside


def test_operators_do_not_travel() -> None:
    op = make()
    for travel in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="snapshot"):
            travel(op)


def test_threads_each_with_an_operator() -> None:
    found: list[pa.Table] = []

    def run() -> None:
        op = make(by="k")
        for i in range(50):
            op.process(table(t=[i, i + 1, i + 2]))
        found.append(op.finish())

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f == found[0] for f in found)


def test_an_overflow_changes_nothing() -> None:
    op = make(aggs=agg.sum("x"), delay=0, lateness=100)
    big = (1 << 63) - 1
    op.process(pa.table({"t": [1], "x": [big]}))
    with pytest.raises(OverflowError, match="does not fit"):
        op.process(pa.table({"t": [2, 30], "x": [big, 1]}))
    assert (op.rows, op.watermark) == (1, 1)
    found = op.process(pa.table({"t": [30], "x": [1]}))
    assert found["sum_x"].to_pylist() == [big]
    with pytest.raises(OverflowError):
        op.process(pa.table({"t": [3], "x": [5]}))  # as a correction
    assert op.process(pa.table({"t": [3], "x": [-5]}))["sum_x"].to_pylist() == [big - 5]


def test_keys_of_every_type() -> None:
    keys: list[list[Any]] = [
        [1, 2, 1], ["a", "b", "a"], [b"a", b"b", b"a"], [True, False, True], [1.5, np.nan, 1.5],
        [Decimal("1.5"), Decimal("2"), Decimal("1.5")],
        [datetime(2026, 1, 1), datetime(2026, 1, 2), datetime(2026, 1, 1)],
    ]  # fmt: skip
    for values in keys:
        op = make(by="k")
        op.process(table(k=values))
        out = op.finish()
        assert op.keys == 0
        assert out["k"].type == pa.array(values).type
        assert out["sum_x"].to_pylist() == [1.0, 3.0, 2.0]
    op = make(by="k")
    op.process(table(k=[0.0, -0.0, 0.0]))
    assert op.keys == 1
    with pytest.raises(TypeError, match="cannot be a key"):
        make(by="k").process(table(k=[[1], [2], [3]]))
