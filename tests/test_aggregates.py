"""Every aggregate, for every dtype, against its brute-force definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from cases import AGGREGATES, HASHED, Case, named
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash import agg


@pytest.mark.parametrize("case", AGGREGATES + HASHED, ids=named)
@given(data=st.data())
@settings(max_examples=examples(60))
def test_one_by_one(case: Case, data: st.DataObject) -> None:
    values = data.draw(st.lists(case.values, max_size=12))
    window = sash.DabaLite(case.aggregate)
    case.check(window.query(), [])
    for i, value in enumerate(values):
        window.insert(value)
        case.check(window.query(), values[: i + 1])
    for i in range(len(values)):
        window.evict()
        case.check(window.query(), values[i + 1 :])


@pytest.mark.parametrize("case", AGGREGATES, ids=named)
@given(data=st.data())
@settings(max_examples=examples(60))
def test_by_column(case: Case, data: st.DataObject) -> None:
    values = data.draw(st.lists(case.values, min_size=1, max_size=25))
    size = data.draw(st.integers(1, 8))
    results = sash.TwoStacksLite(case.aggregate).slide(values, size)
    window = sash.Recalc(case.aggregate)
    window.insert_many(values)
    case.check(window.query(), values)
    for i, result in enumerate(results):
        value = result.item() if isinstance(result, np.generic) else result
        value = None if value is np.ma.masked else value
        case.check(value, values[max(0, i + 1 - size) : i + 1])


def test_results_have_the_type_of_the_input() -> None:
    assert sash.DabaLite(agg.sum(dtype=int)).slide([1, 2], 2).dtype == np.int64
    assert sash.DabaLite(agg.mean(dtype=int)).slide([1, 2], 2).dtype == np.float64
    assert sash.DabaLite(agg.any()).slide([True, False], 2).dtype == np.bool_
    assert sash.DabaLite(agg.collect()).slide(["a"], 2).dtype == object


def test_empty_windows() -> None:
    for case in AGGREGATES:
        empty, nulls = sash.DabaLite(case.aggregate), sash.DabaLite(case.aggregate)
        case.check(empty.query(), [])
        empty.insert_many([])
        assert len(empty) == 0
        pairs = ("arg", "m4", "count", "weighted")
        if case.values.validate() is None and not case.name.startswith(pairs):
            nulls.insert_many([None, None])
            assert len(nulls) == 2
            case.check(nulls.query(), [None, None])


def test_nan_and_infinity_leave_with_their_rows() -> None:
    for make in (agg.sum, agg.mean, agg.product, agg.variance, agg.geomean):
        for bad in (math.nan, math.inf):
            window = sash.TwoStacksLite(make())
            window.insert_many([bad, 2.0, 8.0])
            assert not math.isfinite(window.query())
            window.evict()
            expected = sash.Recalc(make())
            expected.insert_many([2.0, 8.0])
            assert window.query() == expected.query()


def test_variance_is_stable_far_from_zero() -> None:
    values = [1e9 + v for v in (4.0, 7.0, 13.0, 16.0)] * 100
    for structure in (sash.Recalc, sash.DabaLite, sash.FlatFit):
        window = structure(agg.variance(ddof=0))
        window.insert_many(values)
        assert window.query() == pytest.approx(22.5, rel=1e-7)


def test_float_sums_do_not_drift() -> None:
    window = sash.DabaLite(agg.sum())
    assert window.slide([1e16, 1.0, -1e16, 1.0, 1.0], 2)[-1] == 2.0


@pytest.mark.parametrize("make", [agg.mincount, agg.maxcount])
def test_both_zeros_are_one_value(make: Any) -> None:
    window = sash.DabaLite(make())
    window.insert_many([0.0, -0.0, 0.0])
    assert window.query() == 3


@pytest.mark.parametrize("make", [agg.argmin, agg.argmax])
def test_the_first_of_equal_rows_wins_whatever_the_sign_of_zero(make: Any) -> None:
    for zeros in ([0.0, -0.0], [-0.0, 0.0]):
        window = sash.DabaLite(make())
        window.insert_many([(zero, float(i)) for i, zero in enumerate(zeros)])
        assert window.query() == 0.0


@pytest.mark.parametrize("make", [agg.mincount, agg.maxcount])
def test_counts_over_objects_are_0_when_empty(make: Any) -> None:
    assert sash.DabaLite(make(dtype=object)).query() == 0


@pytest.mark.parametrize("make", [agg.min, agg.max])
def test_nan_is_the_greatest_object_too(make: Any) -> None:
    answers = set()
    for values in ([1.0, math.nan, 2.0], [math.nan, 1.0, 2.0], [2.0, 1.0, math.nan]):
        window = sash.DabaLite(make(dtype=object))
        window.insert_many(values)
        answers.add(repr(window.query()))
    assert answers == {"1.0" if make is agg.min else "nan"}
