"""NaN, infinities, signed zeros and overflow: what docs/numbers.md says of them, everywhere."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from depth import examples
from error_bounds import CLAIMS, Stream
from every_window import SYSTEMS, UNORDERED
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash import Aggregate, agg

NAN, INF = math.nan, math.inf


def bits(value: float | None) -> bytes | None:
    """What tells zeros apart, and NaN from NaN."""
    return None if value is None else struct.pack("<d", value)


def ieee(values: Sequence[float]) -> float | None:
    """The sum of a window with something in it that is not finite; None: all are."""
    if all(map(math.isfinite, values)):
        return None
    if any(map(math.isnan, values)) or {INF, -INF} <= set(values):
        return NAN
    return INF if INF in values else -INF


@pytest.mark.parametrize("system", SYSTEMS)
@given(
    values=st.lists(st.sampled_from([1.0, 0.1, -7.0, 1e16, NAN, INF, -INF]), min_size=1),
    size=st.integers(1, 6),
)
@settings(max_examples=examples(15))
def test_nan_and_infinities_leave_with_their_row(
    system: str, values: list[float], size: int
) -> None:
    names = ["sum", "mean", "variance"]
    stream = Stream([v if math.isfinite(v) else 0.0 for v in values])
    aggregates = [CLAIMS[name].aggregate("v") for name in names]
    for lo, hi, row in SYSTEMS[system](aggregates, values, size):
        odd = ieee(values[lo:hi])
        if odd is None:
            assert all(
                CLAIMS[name].kept(got, stream.window(lo, hi))
                for name, got in zip(names, row, strict=True)
            ), (row, values[lo:hi])
            continue
        for got in row[:2]:
            assert got == odd or (math.isnan(got) and math.isnan(odd)), (got, values[lo:hi])
        assert row[2] is None if hi - lo < 2 else math.isnan(row[2])


# ---- zeros -------------------------------------------------------------------------------------


def negative(value: float) -> bool:
    return math.copysign(1.0, value) < 0


def zeros_of(aggregate: str, zeros: Sequence[float]) -> float:
    """Which zero it is, of a window of nothing but zeros."""
    signs = [negative(v) for v in zeros]
    least = {
        "min": any(signs), "max": all(signs), "sum": False, "mean": all(signs),
        "first": signs[0], "last": signs[-1], "product": sum(signs) % 2 == 1, "range": False,
        "variance": False,
    }[aggregate]  # fmt: skip
    return -0.0 if least else 0.0


ZEROED = ["min", "max", "sum", "mean", "first", "last", "product", "range", "variance"]


@pytest.mark.parametrize("system", SYSTEMS)
@given(
    values=st.lists(st.sampled_from([0.0, -0.0]), min_size=1, max_size=12), size=st.integers(1, 5)
)
@settings(max_examples=examples(10))
def test_zeros(system: str, values: list[float], size: int) -> None:
    names = [n for n in ZEROED if system not in UNORDERED or n not in ("first", "last")]
    aggregates = [getattr(agg, name)("v") for name in names]
    for lo, hi, row in SYSTEMS[system](aggregates, values, size):
        for name, got in zip(names, row, strict=True):
            if name == "variance" and hi - lo < 2:
                assert got is None
            else:
                assert bits(got) == bits(zeros_of(name, values[lo:hi])), (name, values[lo:hi])


@pytest.mark.parametrize("system", sorted(SYSTEMS.keys() - UNORDERED))
def test_zeros_tie(system: str) -> None:
    values = [(-0.0, 1.0), (0.0, 2.0), (-0.0, 3.0), (0.0, 4.0)]
    both = [agg.argmin("v", "w"), agg.argmax("v", "w")]
    for lo, _, row in SYSTEMS[system](both, values, 2):
        assert row == (values[lo][1],) * 2  # the oldest of the window
    counts = [agg.mincount("v"), agg.maxcount("v")]
    for lo, hi, row in SYSTEMS[system](counts, [v for v, _ in values], 3):
        assert row == (hi - lo,) * 2


def test_zeros_in_tables() -> None:
    table = pa.table({"v": [-0.0, 0.0, -0.0], "one": [1, 1, 1]})
    every = [agg.mode("v"), agg.median("v"), agg.quantile(0.0, "v", interpolation="lower")]
    for column in sash.rolling(table, rows=2, aggs=every).columns[2:]:
        assert [bits(v) for v in column.to_pylist()] == [bits(0.0)] * 3
    two = [agg.count_distinct("v"), agg.distinct("v"), agg.topk(2, "v")]
    row = sash.rolling(table, rows=2, aggs=two).to_pylist()[1]
    assert (row["count_distinct_v"], row["distinct_v"]) == (1, [0.0])
    assert list(map(bits, row["topk_v"])) == [bits(0.0), bits(-0.0)]
    keys = sash.rolling(table, rows=3, by="v", aggs=agg.sum("one"))
    assert keys["sum_one"].to_pylist() == [1, 2, 3]


# ---- NaN ---------------------------------------------------------------------------------------

PAYLOADS = [
    struct.unpack("<d", struct.pack("<Q", word))[0]
    for word in (0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000BAD, 0xFFF0000000000001)
]


@pytest.mark.parametrize("system", sorted(SYSTEMS.keys() - UNORDERED))
def test_all_nans_are_one(system: str) -> None:
    array = np.array([*PAYLOADS, 1.0, *PAYLOADS])
    pairs = [(v, float(i)) for i, v in enumerate(array)]
    for lo, hi, row in SYSTEMS[system]([agg.min("v"), agg.max("v"), agg.maxcount("v")], array, 3):
        inside = array[lo:hi]
        assert row[0] == 1.0 if 1.0 in inside else bits(row[0]) == bits(NAN)
        if np.isnan(inside).any():
            assert bits(row[1]) == bits(NAN)
            assert row[2] == np.isnan(inside).sum()
    for lo, hi, row in SYSTEMS[system]([agg.argmax("v", "w")], pairs, 3):
        first = next((i for i in range(lo, hi) if math.isnan(array[i])), lo)
        assert row == (float(first),)


def test_nans_in_tables_and_sketches() -> None:
    table = pa.table({"v": np.array([*PAYLOADS, 1.0]), "one": [1] * 5})
    whole = [agg.count_distinct("v"), agg.hll("v"), agg.distinct("v"), agg.mode("v")]
    last = sash.rolling(table, rows=5, aggs=whole).to_pylist()[-1]
    assert (last["count_distinct_v"], last["hll_v"], len(last["distinct_v"])) == (2, 2, 2)
    assert math.isnan(last["mode_v"])
    keys = sash.rolling(table, rows=5, by="v", aggs=agg.sum("one"))["sum_one"].to_pylist()
    assert keys == [1, 2, 3, 4, 1]


def test_keys_of_an_operator() -> None:
    op = sash.WindowOperator(on="t", by="k", windows=sash.tumbling(9), aggs=agg.count())
    op.process(pa.table({"t": range(6), "k": np.array([0.0, -0.0, *PAYLOADS])}))
    out = op.finish()
    assert out["count"].to_pylist() == [2, 4]
    assert [bits(k) for k in out["k"].to_pylist()] == [bits(0.0), bits(NAN)]


# ---- overflow of floats ------------------------------------------------------------------------


def last_of(system: str, aggregates: list[Aggregate], values: list[Any], size: int) -> Any:
    """The result of the last full window."""
    whole = [row for lo, hi, row in SYSTEMS[system](aggregates, values, size) if hi - lo == size]
    return whole[-1]


@pytest.mark.parametrize("system", [s for s in SYSTEMS if not s.endswith("-steps")])
def test_floats_overflow_to_infinity_and_come_back(system: str) -> None:
    both = [agg.sum("v"), agg.mean("v"), agg.geomean("v")]
    total, mean, middle = last_of(system, both, [1.5e308] * 4, 4)
    assert (total, mean) == (INF, INF)  # although the mean of these is a float
    assert math.isclose(middle, 1.5e308, rel_tol=1e-12)
    values = [1.5e308] * 4 + [1.0, 2.0, 3.0, 6.0]
    assert last_of(system, both[:2], values, 4) == (12.0, 3.0)
    spread = [agg.variance("v"), agg.stddev("v")]
    for got in last_of(system, spread, [1e200, -1e200, 1e200, -1e200], 4):
        assert not math.isfinite(got)  # the squares are beyond the floats
    for value in (5.0, 0.1, -1e9 / 3, 1.7e308, 5e-324):
        assert last_of(system, spread, [1e200, -1e200, 1.0, value, value, value], 3) == (0.0, 0.0)
    assert last_of(system, [agg.range("v")], [-1.5e308, 1.5e308], 2) == (INF,)
    assert last_of(system, [agg.product("v")], [1e200, 1e200], 2) == (INF,)
    assert last_of(system, [agg.product("v")], [1e-200, 1e-200], 2) == (0.0,)
