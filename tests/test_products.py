"""Several aggregates at once: native records, mixed with Python, named columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pyarrow as pa
import pytest
from cases import agrees
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import agg

LONGEST = sash.monoid(lambda a, b: max(a, b, key=len), name="longest", column="name")
ROWS = [
    {"x": 3, "y": 1.5, "name": "a"},
    {"x": None, "y": 2.5, "name": "window"},
    {"x": 7, "y": None, "name": None},
    {"x": 7, "y": -1.0, "name": "sash"},
]


@given(st.lists(st.none() | st.integers(-100, 100), max_size=20), st.integers(1, 6))
def test_every_component_is_the_aggregate_alone(values: list[Any], size: int) -> None:
    parts = {
        "count": (agg.count(), oracle.count_rows),
        "sum": (agg.sum(dtype=int), oracle.sum_),
        "max": (agg.max(), lambda v: oracle.max_([x if x is None else float(x) for x in v])),
        "first": (agg.first(dtype=int), oracle.first),
        "topk": (agg.topk(2, dtype=int), oracle.topk(2)),
        "nth_youngest": (agg.nth_youngest(2, dtype=int), oracle.nth_youngest(2)),
        "collect": (agg.collect(), oracle.collect),
    }
    for chosen in (list(parts), list(parts)[:-1]):  # with a Python aggregate and without
        window = sash.DabaLite([parts[name][0] for name in chosen])
        columns = window.slide(values, size)
        assert list(columns) == chosen
        for i in range(len(values)):
            inside = values[max(0, i + 1 - size) : i + 1]
            for name in chosen:
                got = columns[name][i]
                got = None if got is np.ma.masked else got
                got = got.item() if isinstance(got, np.generic) else got
                assert agrees(got, parts[name][1](inside)), (name, inside)


@pytest.mark.parametrize("extra", [[], [LONGEST]], ids=["native", "mixed"])
def test_rows_as_dicts_tuples_and_columns(extra: list[sash.Aggregate]) -> None:
    aggs = [
        agg.sum("x", dtype=int),
        agg.max("y"),
        agg.count("y").alias("ys"),
        agg.argmax("x", "y", dtype=int),
        *extra,
    ]
    expected = (17, 2.5, 3, None) + (("window",) if extra else ())
    names = ["x", "y"] + (["name"] if extra else [])
    by_dict, by_tuple, by_column, by_table = (sash.DabaLite(aggs) for _ in range(4))
    for row in ROWS:
        by_dict.insert(row)
        by_tuple.insert(tuple(row[n] for n in names))
    columns = {n: [row[n] for row in ROWS] for n in ("x", "y", "name")}
    by_column.insert_many(columns)
    by_table.insert_many(pa.table(columns))
    for window in (by_dict, by_tuple, by_column, by_table):
        assert len(window) == 4
        assert window.query() == expected
    by_tuple.evict_many(3)
    assert by_tuple.query()[:4] == (7, -1.0, 1, -1.0)


def test_a_tuple_of_arrays_and_a_list_of_tuples() -> None:
    aggs = [agg.argmin(argument_dtype=int), agg.sum()]
    one, two = sash.DabaLite(aggs), sash.DabaLite(aggs)
    one.insert_many((np.array([2.0, 1.0]), np.array([10, 20])))
    two.insert_many([(2.0, 10), (1.0, 20)])
    assert one.query() == two.query() == (20, 3.0)


def test_names_of_results() -> None:
    aggs = [agg.sum("x").alias("total"), agg.mean("x"), agg.count()]
    assert list(sash.DabaLite(aggs).slide({"x": [1.0]}, 1)) == ["total", "mean_x", "count"]


def test_one_named_aggregate_takes_values_too() -> None:
    window = sash.DabaLite(agg.sum("x"))
    window.insert(1.0)
    window.insert({"x": 2.0})
    window.insert_many({"x": [3.0], "other": [9.0]})
    assert window.query() == 6.0


def test_a_python_aggregate_of_a_named_column() -> None:
    window = sash.DabaLite(LONGEST)
    for row in ROWS:
        window.insert(row)
    assert window.query() == "window"


def test_nulls_are_skipped_by_each_aggregate_alone() -> None:
    window = sash.TwoStacksLite([agg.sum("x"), agg.sum("y"), LONGEST])
    window.insert({"x": None, "y": 1.0, "name": None})
    assert window.query() == (None, 1.0, None)
    window.insert({"x": 2.0, "y": None, "name": "b"})
    assert window.query() == (2.0, 1.0, "b")


def test_counting_rows_of_columns() -> None:
    for values in ({"x": [1, 2, 3]}, pa.table({"x": [1, 2, 3]}), np.zeros((3,)), [1, 2, 3]):
        window = sash.DabaLite(agg.count())
        window.insert_many(values)
        assert window.query() == 3


def test_counting_values_of_an_object_array() -> None:
    window = sash.DabaLite(agg.count("x"))
    window.insert_many({"x": np.array([None, "a", None], object)})
    assert window.query() == 1


def test_subtract_on_evict_of_a_named_python_column() -> None:
    window = sash.SubtractOnEvict(agg.sum("x", dtype=object))
    for value in (1, 2, 3):
        window.insert({"x": value})
    window.evict()
    assert window.query() == 5


def test_a_null_remains_null_when_floats_are_subtracted() -> None:
    window = sash.SubtractOnEvict(agg.sum(), allow_rounding=True)
    window.insert_many([5.0, None])
    window.evict()
    assert window.query() is None


def test_an_empty_mixed_product_gives_each_aggregates_empty_result() -> None:
    window = sash.DabaLite([agg.count(), agg.collect()])
    assert window.query() == (0, None)


def test_a_column_of_one_aggregate_is_the_argument_of_another() -> None:
    window = sash.DabaLite([agg.max("y"), agg.argmax("x", "y")])
    for x, y in [(1.0, 5.0), (3.0, 4.0), (2.0, 6.0)]:
        window.insert({"x": x, "y": y})
    assert window.query() == (6.0, 4.0)
