"""Every type of number at its ends: exact, or refused with an error that says so."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash import _partials, agg

TOP, BOTTOM = 2**63 - 1, -(2**63)
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
WHOLE = ["max", "min", "first", "last", "sum", "range"]


def ends(dtype: str) -> list[int]:
    info = np.iinfo(dtype)
    return [int(info.max), 1, int(info.min), 0, int(info.max)]


def wanted(name: str, inside: list[int]) -> int:
    return {
        "max": max, "min": min, "first": lambda w: w[0], "last": lambda w: w[-1], "sum": sum,
        "range": lambda w: max(w) - min(w),
    }[name](inside)  # fmt: skip


def windows(values: list[Any], size: int) -> list[list[Any]]:
    return [values[max(0, i + 1 - size) : i + 1] for i in range(len(values))]


def roll(column: Any, aggregate: sash.Aggregate, size: int, **more: Any) -> list[Any]:
    table = pa.table({"v": column})
    return sash.rolling(table, rows=size, aggs=aggregate.alias("x"), **more)["x"].to_pylist()


# ---- integers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_integers_at_their_ends(dtype: str, name: str, size: int) -> None:
    values = ends(dtype)
    array = np.array(values, dtype)
    exact = [wanted(name, w) for w in windows(values, size)]
    aggregate = getattr(agg, name)("v")
    live = getattr(agg, name)(dtype=int)
    if all(BOTTOM <= v <= TOP for v in values) and all(BOTTOM <= v <= TOP for v in exact):
        assert roll(array, aggregate, size) == exact
        assert sash.DabaLite(live).slide(array, size).tolist() == exact
        frame = sash.rolling(pd.DataFrame({"v": array}), rows=size, aggs=aggregate.alias("x"))
        assert frame["x"].tolist() == exact
        polars = sash.rolling(pl.DataFrame({"v": array}), rows=size, aggs=aggregate.alias("x"))
        assert polars["x"].to_list() == exact
        return
    with pytest.raises(OverflowError, match="does not fit in a 64-bit integer"):
        sash.DabaLite(live).slide(array, size)
    if dtype == "uint64" and name not in ("sum", "range"):
        assert roll(array, aggregate, size) == exact
    else:
        with pytest.raises(OverflowError, match="does not fit in a 64-bit integer"):
            roll(array, aggregate, size)


def test_unsigned_integers_beyond_63_bits_as_floats() -> None:
    array = np.array([2**64 - 1, 2**63, 1], np.uint64)
    assert sash.DabaLite(agg.max()).slide(array, 2).tolist() == [2.0**64, 2.0**64, 2.0**63]
    assert roll(array, agg.mean("v"), 1) == [2.0**64, 2.0**63, 1.0]
    window = sash.DabaLite(agg.sum(dtype=int))
    for value in (np.uint64(2**63), 2**63):
        with pytest.raises(OverflowError, match="use dtype=float"):
            window.insert(value)
    assert len(window) == 0


def test_an_operator_refuses_them_and_goes_on() -> None:
    for name in ("sum", "max", "first", "mean", "range"):
        op = sash.WindowOperator(on="t", windows=sash.tumbling(9), aggs=getattr(agg, name)("v"))
        op.process(pa.table({"t": [0], "v": pa.array([5], pa.uint64())}))
        with pytest.raises(OverflowError, match="18446744073709551615 does not fit"):
            op.process(pa.table({"t": [1, 2], "v": pa.array([2**64 - 1, 1], pa.uint64())}))
        op.process(pa.table({"t": [3], "v": pa.array([7], pa.uint64())}))
        found = op.finish()[f"{name}_v"].to_pylist()
        assert found == [{"sum": 12, "max": 7, "first": 5, "mean": 6.0, "range": 2}[name]]


EXTREMES = st.sampled_from([TOP, BOTTOM, TOP - 1, 1, -1, 0, 2**62])


@pytest.mark.parametrize("structure", [sash.FingerTree, sash.ClassicTree])
@given(rows=st.dictionaries(st.integers(0, 30), EXTREMES, min_size=1), data=st.data())
@settings(max_examples=examples(40))
def test_only_the_total_that_is_asked_for_overflows(
    structure: type[sash.FingerTree], rows: dict[int, int], data: st.DataObject
) -> None:
    tree = structure(agg.sum(dtype=int))
    for time, value in rows.items():
        tree.insert(time, value)
    for _ in range(5):
        lo, hi = data.draw(st.integers(-1, 31)), data.draw(st.integers(-1, 31))
        inside = [v for t, v in rows.items() if lo <= t <= hi]
        if BOTTOM <= sum(inside) <= TOP:
            assert tree.query(lo, hi) == (sum(inside) if inside else None)
        else:
            with pytest.raises(OverflowError, match="does not fit"):
                tree.query(lo, hi)
    tree.check_invariants()


def test_a_mean_of_integers_counts_to_2_to_the_32() -> None:
    """Slices take the rows of any number; here they are told of billions by their states."""

    def slices(values: int, total: int) -> pa.Table:
        state = (total + (values << 96)) % 2**128
        return pa.table({
            _partials.FIRST: [1], _partials.LAST: [1],
            _partials.STATE: pa.array([state.to_bytes(16, "little")], pa.binary()),
        })  # fmt: skip

    types = {"t": pa.int64(), "v": pa.int64()}
    for value in (6, -6, 0, BOTTOM, TOP):
        op = sash.WindowOperator(on="t", windows=sash.tumbling(9), aggs=agg.mean("v"))
        _partials.merge(op, types, slices(2**31, value * 2**31))
        _partials.merge(op, types, slices(2**31 - 1, value * (2**31 - 1)))
        assert op.query() == {"mean_v": float(value)}
        for _ in range(3):
            _partials.merge(op, types, slices(1, value))
            with pytest.raises(OverflowError, match="counts up to 2\\^32 - 1 values"):
                op.query()


def test_an_operator_is_right_again_once_it_fits() -> None:
    op = sash.WindowOperator(on="t", windows=sash.windows.rolling(2), aggs=agg.sum("v"))
    op.process(pa.table({"t": [0, 1, 2], "v": [TOP, 1, 5]}))
    assert op.advance(1)["sum_v"].to_pylist() == [TOP]
    for _ in range(2):
        with pytest.raises(OverflowError, match="does not fit"):
            op.advance(3)
    op.process(pa.table({"t": [1], "v": [-1]}))
    assert op.advance(3)["sum_v"].to_pylist() == [TOP, 5]


# ---- floats and truth values -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(
    "name", [*WHOLE, "mean", "variance", "product", "mode", "median", "count_distinct", "rank"]
)
def test_narrow_floats(dtype: str, name: str) -> None:
    """They are read as float64, which holds all of them; what is one of them comes out as one."""
    info = np.finfo(dtype)
    values = np.array([info.max, info.smallest_subnormal, -info.max, -0.0, 0.1], dtype)
    column = pa.array(values)
    aggregate = getattr(agg, name)("v")
    wide = roll(column.cast(pa.float64()), aggregate, 3)
    found = roll(column, aggregate, 3)
    if name == "range":  # in the type of the column, where it may be too large
        with np.errstate(over="ignore"):
            wide = np.array(wide).astype(dtype).astype(float).tolist()
    assert found == wide
    if name not in ("mode", "median", "count_distinct", "rank"):
        live = sash.DabaLite(getattr(agg, name)()).slide(values, 3).tolist()
        assert live == sash.DabaLite(getattr(agg, name)()).slide(values.astype(float), 3).tolist()


def test_truth_values_and_nulls() -> None:
    column = pa.array([True, None, False, True])
    assert roll(column, agg.sum("v"), 4) == [1, 1, 1, 2]
    assert roll(column, agg.mean("v"), 4) == [1.0, 1.0, 0.5, 2 / 3]
    assert roll(column, agg.max("v"), 2) == [True, True, False, True]
    masked = np.ma.masked_array([TOP, 1, BOTTOM], mask=[False, True, False])
    assert sash.DabaLite(agg.sum(dtype=int)).slide(masked, 3).tolist() == [TOP, TOP, -1]
    assert sash.DabaLite(agg.max(dtype=int)).slide(masked, 1).tolist() == [TOP, None, BOTTOM]
    nothing = np.ma.masked_array([np.nan, np.inf], mask=True)
    assert sash.DabaLite(agg.sum()).slide(nothing, 2).tolist() == [None, None]


def test_what_is_no_number_is_refused() -> None:
    for odd in (np.array([1j]), np.array(["1"]), np.array([1], "m8[s]")):
        with pytest.raises(TypeError, match="expected numbers"):
            sash.DabaLite(agg.sum()).slide(odd, 1)
    with pytest.raises(OverflowError, match="too large for a float64"):
        sash.DabaLite(agg.sum()).insert(10**400)


# ---- decimals ----------------------------------------------------------------------------------


def most(kind: pa.DataType) -> Decimal:
    return Decimal((0, (9,) * kind.precision, -kind.scale))


NARROW = [pa.decimal32(9, 2), pa.decimal64(18, 0), pa.decimal128(18, 18), pa.decimal128(9, -3)]
WIDE = [pa.decimal128(38, 0), pa.decimal128(38, 38), pa.decimal256(76, 0), pa.decimal256(76, 40)]


def tumbled(column: pa.Array, aggregate: sash.Aggregate) -> Any:
    op = sash.WindowOperator(on="t", windows=sash.tumbling(9), aggs=aggregate.alias("x"))
    op.process(pa.table({"t": range(len(column)), "v": column}))
    (found,) = op.finish()["x"].to_pylist()
    return found


@pytest.mark.parametrize("kind", [*NARROW, *WIDE], ids=str)
def test_decimals_at_their_ends(kind: pa.DataType) -> None:
    top = most(kind)
    least = top.copy_negate()  # a minus sign would round
    column = pa.array([top, least, None, top], kind)
    for name, exact in (("max", top), ("min", least), ("first", top), ("sum", top)):
        aggregate = getattr(agg, name)("v")
        assert Fraction(roll(column, aggregate, 4)[-1]) == Fraction(exact), name
        assert Fraction(tumbled(column, aggregate)) == Fraction(exact), name
    assert roll(column, agg.count_distinct("v"), 4) == [1, 2, 2, 2]
    assert roll(column, agg.mode("v"), 4)[-1] == top
    assert sash.rolling(pa.table({"v": column}), rows=4, by="v", aggs=agg.count()).num_rows == 4


@pytest.mark.parametrize("kind", WIDE, ids=str)
def test_decimals_fit_or_raise(kind: pa.DataType) -> None:
    top = most(kind)
    three = pa.array([top, top, top.copy_negate()], kind)
    # Part of the window does not fit, the whole does.
    assert roll(three, agg.sum("v"), 3, min_rows=3) == [None, None, top]
    assert tumbled(three, agg.sum("v")) == top
    for column, name in ((three[:2], "sum"), (three[1:], "range")):
        for attempt in (lambda c, a: roll(c, a, 2), tumbled):
            with pytest.raises(OverflowError, match=r"does not fit in decimal\d+"):
                attempt(column, getattr(agg, name)("v"))


def test_differences_of_decimals_are_exact() -> None:
    column = pa.array([Decimal(10**37 + 1), Decimal(-(10**36) - 7)], pa.decimal128(38, 0))
    exact = 10**37 + 10**36 + 8
    assert tumbled(column, agg.range("v")) == exact
    assert roll(column, agg.range("v"), 2)[-1] == exact
