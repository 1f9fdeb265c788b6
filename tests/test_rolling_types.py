"""Rolling over columns of every type: what goes in comes out, exactly."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from test_rolling_tables import TABLE

import sash
from sash import agg

UTC = dt.UTC


def one(column: pa.Array, aggregate: sash.Aggregate, **more: Any) -> pa.ChunkedArray:
    table = pa.table({"t": pa.array(range(len(column))), "v": column})
    return sash.rolling(table, on="t", aggs=aggregate, **({"window": 2} | more))[aggregate.output]


MOMENTS = [dt.datetime(2026, 10, 25, h, tzinfo=UTC) for h in (0, 3, 1, 2)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(MOMENTS, pa.timestamp("ns", "Europe/Berlin")),
        pa.array(MOMENTS, pa.timestamp("s")),
        pa.array([dt.date(2026, 1, d) for d in (1, 4, 2, 3)]),
        pa.array([dt.date(2026, 1, d) for d in (1, 4, 2, 3)], pa.date64()),
        pa.array([dt.time(d) for d in (1, 4, 2, 3)]),
        pa.array([1000, 4000, 2000, 3000], pa.time32("ms")),
        pa.array([dt.timedelta(d) for d in (1, 4, 2, 3)]),
        pa.array([Decimal("1.10"), Decimal("4.4"), Decimal("-2.20"), Decimal("3.30")]),
        pa.array([Decimal(10) ** 30, Decimal(10) ** 33, Decimal(1), Decimal(2)]),
        pa.array(["a", "d", "b", "c"]),
        pa.array(["a", "d", "b", "c"]).dictionary_encode(),
        pa.array([b"a", b"d", b"b", b"c"]),
        pa.array([2**63 + 1, 2**64 - 1, 5, 2**63], pa.uint64()),
        pa.array([1, 4, 2, 3], pa.int8()),
        pa.array([1, 4, 2, 3], pa.float32()),
        pa.array([False, True, False, False]),
    ],
    ids=lambda c: str(c.type),
)
def test_orderable_types_keep_their_type(column: pa.Array) -> None:
    values = column.to_pylist()
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    for name, pick in {
        "max": max, "min": min, "first": lambda w: w[0], "last": lambda w: w[-1],
    }.items():  # fmt: skip
        found = one(column, getattr(agg, name)("v"))
        assert found.type == kind
        wanted = [pick(values[max(0, i - 1) : i + 1]) for i in range(len(values))]
        assert found.to_pylist() == wanted, name
    assert one(column, agg.count_distinct("v")).to_pylist()[-1] == len(set(values[-2:]))
    assert one(column, agg.mode("v")).to_pylist()[0] == values[0]
    assert one(column, agg.argmax("v", "v")).to_pylist() == one(column, agg.max("v")).to_pylist()
    assert one(column, agg.collect("v")).to_pylist()[-1] == values[-2:]


def test_sums_of_types() -> None:
    durations = one(pa.array([dt.timedelta(1), dt.timedelta(2)]), agg.sum("v"))
    assert durations.to_pylist() == [dt.timedelta(1), dt.timedelta(3)]
    small = one(pa.array([Decimal("1.10"), Decimal("2.25"), None]), agg.sum("v"))
    assert small.type == pa.decimal128(38, 2)
    assert small.to_pylist() == [Decimal("1.10"), Decimal("3.35"), Decimal("2.25")]
    huge = one(pa.array([Decimal(10) ** 30, Decimal(1)]), agg.sum("v"))
    assert huge.to_pylist() == [Decimal(10**30), Decimal(10**30 + 1)]
    assert one(pa.array([True, True, None]), agg.sum("v")).to_pylist() == [1, 2, 1]
    assert one(pa.array([2**53 + 1, 2**53 + 2]), agg.sum("v")).to_pylist() == [2**53 + 1, 2**54 + 3]
    big = one(pa.array([2**60, 2**60 + 1]), agg.max("v"))
    assert big.to_pylist() == [2**60, 2**60 + 1]
    assert one(pa.nulls(3), agg.sum("v")).to_pylist() == [None] * 3
    assert one(pa.nulls(3), agg.count("v")).to_pylist() == [0] * 3


def test_wide_results() -> None:
    column = pa.array([3.0, 1.0, None, 2.0])
    assert one(column, agg.topk(2, "v"), window=9).to_pylist()[-1] == [3.0, 2.0]
    assert one(column, agg.histogram([0, 2, 4], "v"), window=9).to_pylist()[-1] == [1, 2]
    assert one(column, agg.bloom("v", contains=1.0)).to_pylist() == [False, True, True, False]
    assert one(column, agg.hll("v"), window=9).to_pylist() == [1, 2, 2, 3]
    assert one(column, agg.quantiles([0.0, 1.0], "v"), window=9).to_pylist()[-1] == [1.0, 3.0]
    table = pa.table({"t": pa.array(MOMENTS, pa.timestamp("us", "UTC")), "v": column})
    m4 = sash.rolling(table, on="t", window="1d", aggs=agg.m4("v", "t"))["m4_v"]
    assert m4.to_pylist()[1] == {  # in order of time: 3.0, null, 2.0, 1.0
        "first": {"time": MOMENTS[0], "value": 3.0},
        "last": {"time": MOMENTS[1], "value": 1.0},
        "min": {"time": MOMENTS[1], "value": 1.0},
        "max": {"time": MOMENTS[0], "value": 3.0},
    }


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_times_of_any_unit_and_zone(unit: str, zone: str | None) -> None:
    # Daylight saving ends on that day in New York: an hour of event time stays an hour.
    start = dt.datetime(2026, 11, 1, 4, tzinfo=UTC)
    moments = [start + dt.timedelta(minutes=20 * i) for i in range(12)]
    kind = pa.timestamp(unit, zone)
    stamps = pa.array(moments, pa.timestamp(unit, "UTC"))
    column = stamps.cast(kind) if zone else stamps.cast(pa.int64()).cast(kind)
    table = pa.table({"t": column, "v": list(range(12))})
    for window in ("1h", dt.timedelta(hours=1), np.timedelta64(1, "h"), "60 minutes"):
        out = sash.rolling(table, on="t", window=window, aggs=agg.count())
        assert out["count"].to_pylist() == [1, 2] + [3] * 10
        assert out["t"].type == kind


def test_dates_and_integers_as_times() -> None:
    days = pa.array([dt.date(2026, 2, d) for d in (26, 27, 28)] + [dt.date(2026, 3, 1)])
    table = pa.table({"t": days, "v": [1, 2, 3, 4]})
    assert sash.rolling(table, on="t", window="2d", aggs=agg.sum("v"))["sum_v"].to_pylist() == [
        1, 3, 5, 7,
    ]  # fmt: skip
    steps = sash.rolling(table, on="t", window="2d", every="1d", aggs=agg.count())
    assert steps["window_start"].type == pa.date32()
    for kind in (pa.int8(), pa.uint32(), pa.uint64()):
        ints = pa.table({"t": pa.array([5, 1, 3], kind), "v": [1, 2, 3]})
        found = sash.rolling(ints, on="t", window=3, aggs=agg.sum("v"))["sum_v"].to_pylist()
        assert found == [4, 2, 5]


def test_keys_of_any_type() -> None:
    keys: list[list[Any]] = [
        ["a", None, "a", None],
        [1, None, 1, None],
        [dt.date(2026, 1, 1), None] * 2,
        [1.5, float("nan")] * 2,
        [0.0, 1.0, -0.0, 1.0],
        [True, None] * 2,
        [b"x", b""] * 2,
        [Decimal("1.0"), None] * 2,
    ]
    for key in keys:
        table = pa.table({"k": pa.array(key), "j": [1, 1, 1, 1], "v": [1, 2, 3, 4]})
        for by in ("k", ["k", "j"]):
            found = sash.rolling(table, rows=9, by=by, aggs=agg.sum("v"))["sum_v"].to_pylist()
            assert found == [1, 2, 4, 6], (key, by)


def test_many_key_columns_do_not_overflow() -> None:
    rng = np.random.default_rng(0)
    n = 2000
    names = [f"k{i}" for i in range(8)]
    table = pa.table({name: rng.integers(0, 2000, n) for name in names} | {"v": [1] * n})
    found = sash.rolling(table, rows=3, by=names, aggs=agg.sum("v"))["sum_v"].to_pylist()
    assert found == [1] * n


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("order", ["event", "arrival"])
def test_empty_tables_and_single_rows(rows: int, order: str) -> None:
    table = TABLE.slice(0, rows)
    every = [
        agg.sum("price"), agg.count(), agg.median("price"), agg.mode("key"), agg.collect("qty"),
        agg.argmax("qty", "key"), agg.max("key"), agg.topk(2, "qty"), agg.quantiles(0.5, "qty"),
        agg.sum("qty").alias("s"), agg.m4("qty", "ts"), agg.bloom("key"),
    ]  # fmt: skip
    out = sash.rolling(table, on="ts", by="key", window="1m", order=order, aggs=every)
    assert out.num_rows == rows
    if order == "event":
        steps = sash.rolling(table, on="ts", by="key", window="1m", every="1m", aggs=every)
        assert steps.num_rows == rows
    for library in (table.to_pandas(), pl.from_arrow(table)):
        assert len(sash.rolling(library, on="ts", window="1m", aggs=every[:4])) == rows


# ---- exactness at the ends of types ------------------------------------------------------------

HUGE = [Decimal(10**37 + 1), Decimal(1), None, Decimal(-(10**36)) - 7]
LARGE = [5, 2**64 - 1, None, 2**63 + 1]
WIDE = [-(2**63), 2**63 - 1, None, 2**53 + 1]
EXACT: dict[str, tuple[pa.Array, list[Any]]] = {
    "uint64": (pa.array(LARGE, pa.uint64()), LARGE),
    "int64": (pa.array(WIDE), WIDE),
    "int8": (pa.array([-128, 127, None, 5], pa.int8()), [-128, 127, None, 5]),
    "decimal": (pa.array(HUGE, pa.decimal128(38, 0)), HUGE),
    "decimal256": (pa.array(HUGE, pa.decimal256(60, 2)), HUGE),
    "cents": (pa.array([Decimal("0.01"), Decimal("99.99"), None, Decimal("-5.00")]),
              [Decimal("0.01"), Decimal("99.99"), None, Decimal("-5.00")]),
    "null": (pa.nulls(4), [None] * 4),
}  # fmt: skip


def windows(values: list[Any], size: int) -> list[list[Any]]:
    return [
        [v for v in values[max(0, i + 1 - size) : i + 1] if v is not None]
        for i in range(len(values))
    ]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_nothing_is_rounded(name: str, size: int) -> None:
    column, values = EXACT[name]
    table = pa.table({"v": column})
    whole = [None if v is None else Fraction(v) for v in values]

    def roll(aggregate: sash.Aggregate) -> list[Any]:
        return sash.rolling(table, rows=size, aggs=aggregate.alias("x"))["x"].to_pylist()

    for pick, aggregate in ((max, agg.max("v")), (min, agg.min("v"))):
        assert roll(aggregate) == [pick(w, default=None) for w in windows(values, size)]
    low = agg.quantile(0.5, "v", interpolation="lower")
    assert roll(low) == [sorted(w)[(len(w) - 1) // 2] if w else None for w in windows(values, size)]
    ranks = [
        None if v is None else float(sorted(w).index(v) + 1)
        for v, w in zip(values, windows(values, size), strict=True)
    ]
    assert roll(agg.rank("v", ties="min")) == ranks
    if name == "int64":  # sums and differences of these need more than 64 bits
        return
    if name == "uint64":
        for refused in (agg.sum("v"), agg.range("v")):
            with pytest.raises(OverflowError, match="does not fit"):
                roll(refused)
        return
    sums = [None if v is None else Fraction(v) for v in roll(agg.sum("v"))]
    assert sums == [sum(w) if w else None for w in windows(whole, size)]
    spans = [None if v is None else Fraction(v) for v in roll(agg.range("v"))]
    assert spans == [max(w) - min(w) if w else None for w in windows(whole, size)]


def test_questions_about_one_column_do_not_disturb_each_other() -> None:
    price = pa.array([Decimal("9007199254740993"), Decimal("9007199254740992")])
    table = pa.table({"v": price, "s": ["b", "a"]})
    low = agg.quantile(0.5, "v", interpolation="lower").alias("low")
    out = sash.rolling(table, rows=2, aggs=[agg.median("v"), low, agg.rank("v")])
    assert out["low"].type == price.type
    assert out["rank_v"].to_pylist() == [1.0, 1.0]
    words = [agg.rank("s"), agg.quantile(0, "s", interpolation="lower").alias("least")]
    assert sash.rolling(table, rows=2, aggs=words)["least"].to_pylist() == ["b", "a"]


def test_a_monoid_may_be_called_what_it_likes() -> None:
    table = pa.table({"v": [1, 2, 3]})
    for name in ("count", "sum", "collect", "distinct", "median", "mode", "argmax", "hll"):
        mine = sash.monoid(lambda a, b: a * 10 + b, name=name, column="v").alias("x")
        assert sash.rolling(table, rows=2, aggs=mine)["x"].to_pylist() == [1, 12, 23], name


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.uint16(), pa.uint64(), pa.bool_()])
def test_pandas_integers_stay_integers(kind: pa.DataType) -> None:
    big = 2**60 + 1 if kind == pa.uint64() else 1
    table = pa.table({"v": pa.array([None, big, 0], pa.uint64()).cast(kind)})
    out = sash.rolling(table.to_pandas(types_mapper=pd.ArrowDtype), rows=1, aggs=agg.max("v"))
    assert out["max_v"].isna().tolist() == [True, False, False]
    assert int(out["max_v"][1]) == big


def test_lengths_of_time_are_exact() -> None:
    table = pa.table({"t": pa.array([0, 1000, 1500], pa.timestamp("ns")), "v": [1, 2, 3]})
    for window in (pd.Timedelta("501ns"), np.timedelta64(501, "ns"), "501ns", 501):
        out = sash.rolling(table, on="t", window=window, aggs=agg.count())
        assert out["count"].to_pylist() == [1, 1, 2]
    days = pa.table({"t": pa.array([0, 6, 7], pa.date32()), "v": [1, 2, 3]})
    for window in (7, "7d", dt.timedelta(7)):
        out = sash.rolling(days, on="t", window=window, aggs=agg.sum("v"))
        assert out["sum_v"].to_pylist() == [1, 3, 5]


def test_ends_of_steps_beyond_the_type() -> None:
    for kind, t in ((pa.uint32(), 1), (pa.int8(), 127), (pa.uint64(), 0)):
        table = pa.table({"t": pa.array([t], kind), "v": [1]})
        out = sash.rolling(table, on="t", window=5, every=5, aggs=agg.count())
        assert out["window_start"].type == pa.int64()
        start, end = out["window_start"][0].as_py(), out["window_end"][0].as_py()
        assert (end - start, start <= t < end) == (5, True)
    for t in (-(2**63), 2**63 - 1):
        table = pa.table({"t": [t], "v": [1]})
        with pytest.raises(OverflowError, match="begins or ends beyond"):
            sash.rolling(table, on="t", window=5, every=5, aggs=agg.count())


def test_quantiles_between_distant_values() -> None:
    table = pa.table({"v": [-1.7e308, 1.7e308, float("-inf"), 1.0]})
    out = sash.rolling(table, rows=2, aggs=agg.median("v"))["median_v"].to_pylist()
    assert out == [-1.7e308, 0.0, float("-inf"), float("-inf")]


def test_categories_keep_an_order_of_their_own() -> None:
    sizes = pd.Categorical(["M", "S", "L", None], categories=["S", "M", "L"], ordered=True)
    out = sash.rolling(pd.DataFrame({"v": sizes}), rows=4, aggs=[agg.max("v"), agg.min("v")])
    assert out["max_v"].tolist() == ["M", "M", "L", "L"]
    assert out["min_v"].tolist() == ["M", "S", "S", "S"]
    loose = pd.DataFrame({"v": pd.Categorical(["b", "a", None])})
    assert sash.rolling(loose, rows=3, aggs=agg.max("v"))["max_v"].tolist() == ["b", "b", "b"]


def test_lists_lose_nothing() -> None:
    fine = pa.array([1, 2, 2, None], pa.time64("ns"))
    assert one(fine, agg.collect("v"), window=9).to_pylist()[-1] == fine.to_pylist()[:3]
    for aggregate, wanted in ((agg.collect("v"), [1, 2, 2]), (agg.distinct("v"), [1, 2])):
        found = one(fine, aggregate, window=9)[-1].values
        assert found.view(pa.int64()).to_pylist() == wanted
    nans = one(pa.array([float("nan"), 1.0, float("nan")]), agg.distinct("v"), window=9)
    assert [str(v) for v in nans.to_pylist()[-1]] == ["1.0", "nan"]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", "c", "b"]).cast(pa.string_view()),
        pa.array([b"a", b"c", b"b"]).cast(pa.binary_view()),
        pc.run_end_encode(pa.array([1, 3, 2])),
        pa.array(["a", "c", "b"], pa.large_string()),
    ],
    ids=lambda c: str(c.type),
)
def test_unusual_layouts(column: pa.Array) -> None:
    for aggregate in (agg.max("v"), agg.first("v"), agg.mode("v"), agg.collect("v")):
        plain = pa.array(column.to_pylist())
        assert one(column, aggregate).to_pylist() == one(plain, aggregate).to_pylist()


def test_functions_that_stop_iteration_or_give_what_no_table_holds() -> None:
    def stop(a: int, b: int) -> int:
        raise StopIteration

    with pytest.raises(RuntimeError):
        sash.rolling(TABLE, rows=2, aggs=sash.monoid(stop, column="qty"))
    with pytest.raises(TypeError, match="a table cannot hold"):
        sash.rolling(TABLE, rows=1, aggs=sash.monoid(max, lower=lambda s: 2**80, column="qty"))
    frame = pd.DataFrame({"v": [1, 2]})
    assert sash.rolling(frame, rows=2, aggs=agg.sum("v").alias("self"))["self"].tolist() == [1, 3]
