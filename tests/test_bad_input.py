"""Misuse: a precise exception, and the window as it was."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import ITERABLE, STRUCTURES, named

import sash
from sash import agg
from sash.structures import Window


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_an_empty_window(structure: type[Window]) -> None:
    window = structure([agg.sum(dtype=int), agg.count()])
    assert window.query() == (None, 0)
    assert not window
    assert structure not in ITERABLE or list(window) == []
    with pytest.raises(IndexError, match="evict from an empty window"):
        window.evict()
    with pytest.raises(IndexError, match="evict 1 entries from a window of 0"):
        window.evict_many(1)
    window.evict_many(0)
    window.clear()
    window.check_invariants()
    assert "0 entries" in repr(window)


FLOATS, INTS, PAIR = agg.sum(), agg.sum(dtype=int), agg.argmax()
NAMED = [agg.sum("x"), agg.max("y")]
BOOL, OBJECTS = agg.any(), agg.argmax(argument_dtype=object)

INSERTS: list[tuple[Any, Any, type[Exception], str]] = [
    (FLOATS, "a", TypeError, "expected a number, got 'a'"),
    (FLOATS, b"1", TypeError, "expected a number"),
    (FLOATS, [1.0], TypeError, "expected a number"),
    (FLOATS, 10**400, OverflowError, "too large for a float64"),
    (FLOATS, 1j, TypeError, "expected a number"),
    (FLOATS, (1.0,), TypeError, "expected a number"),
    (INTS, 1.5, TypeError, "expected an integer, got 1.5"),
    (INTS, 1.0, TypeError, "dtype=float"),
    (INTS, "1", TypeError, "expected an integer"),
    (PAIR, 1.0, TypeError, "expected a tuple of 2"),
    (PAIR, (1.0,), TypeError, "expected a tuple of 2"),
    (PAIR, (1.0, 2.0, 3.0), TypeError, "expected a tuple of 2"),
    (PAIR, (1.0, "x"), TypeError, "expected a number"),
    (PAIR, None, TypeError, "expected a tuple of 2"),
    (NAMED, (1.0,), TypeError, "x, y"),
    (NAMED, {"x": 1.0}, KeyError, "'y'"),
    (NAMED, {"x": 1.0, "y": "z"}, TypeError, "expected a number"),
    (NAMED, 5.0, TypeError, "expected a tuple of 2"),
    (OBJECTS, (1.0,), TypeError, "tuple of 2"),
    (OBJECTS, (1.0, "a", "b"), TypeError, "tuple of 2"),
    (OBJECTS, "ab", TypeError, "tuple of 2"),
    (OBJECTS, 5.0, TypeError, "tuple of 2"),
    (agg.bloom(), [1], TypeError, "to hash"),
    (agg.hll(), object(), TypeError, "to hash"),
]
GOOD: dict[str, Any] = {"argmax": (1.0, 2.0), "bloom": "tea", "hll": "tea"}


def filled(aggregate: Any) -> tuple[Window, Any]:
    name = "" if isinstance(aggregate, list) else aggregate.name
    value = {"x": 1.0, "y": 2.0} if aggregate is NAMED else GOOD.get(name, 1)
    window = sash.DabaLite(aggregate)
    for _ in range(3):
        window.insert(value)
    return window, window.query()


def refused(window: Window, before: Any, call: Callable[[], Any], error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        call()
    window.check_invariants()
    assert (len(window), window.query()) == (3, before)


@pytest.mark.parametrize(("aggregate", "value", "error", "match"), INSERTS)
def test_insert(aggregate: Any, value: Any, error: type[Exception], match: str) -> None:
    window, before = filled(aggregate)
    refused(window, before, lambda: window.insert(value), error, match)


COLUMNS: list[tuple[Any, Any, Any, str]] = [
    (FLOATS, ["a"], TypeError, "expected numbers"),
    (FLOATS, [1.0, "a"], TypeError, "different types|expected numbers"),
    (FLOATS, np.zeros((2, 2)), ValueError, "one dimension"),
    (FLOATS, np.array(1.0), ValueError, "one dimension"),
    (FLOATS, np.array([1.0, None]), TypeError, "array of objects"),
    (FLOATS, np.array(["a"]), TypeError, "expected numbers"),
    (FLOATS, np.array(["2020-01-01"], "M8[D]"), TypeError, "expected numbers"),
    (FLOATS, np.array([1j]), TypeError, "expected numbers"),
    (FLOATS, pa.array(["a"]), TypeError, "expected numbers, got string"),
    (FLOATS, "abc", TypeError, "column of values, got str"),
    (FLOATS, 5, TypeError, "column of values, got int"),
    (FLOATS, None, TypeError, "column of values, got NoneType"),
    (FLOATS, [[1.0]], TypeError, "expected numbers"),
    (FLOATS, {"x": [1.0]}, (TypeError, KeyError), "column"),
    (INTS, [1, 2.5], TypeError, "floats for an aggregate over integers"),
    (INTS, np.array([1.0]), TypeError, "dtype=float"),
    (INTS, np.array([2**63], np.uint64), OverflowError, "64-bit"),
    (PAIR, [1.0, 2.0], TypeError, "list of tuples"),
    (PAIR, (np.zeros(2), np.zeros(3)), ValueError, "2 and 3 rows"),
    (PAIR, [(1.0, 2.0), (1.0,)], (TypeError, ValueError), "tuple"),
    (PAIR, [(1.0, 2.0, 3.0)], (TypeError, ValueError), "tuple"),
    (NAMED, {"x": [1.0]}, KeyError, "no column 'y'"),
    (NAMED, {"x": [1.0], "y": [1.0, 2.0]}, ValueError, "1 and 2 rows"),
    (NAMED, pa.table({"x": [1.0]}), KeyError, "no column 'y'"),
    (NAMED, {"x": ["a"], "y": [1.0]}, TypeError, "x: expected numbers"),
    (BOOL, ["yes"], TypeError, "expected numbers"),
    (agg.count(), 5, TypeError, "."),
    (agg.count(), "abc", TypeError, "."),
    (agg.collect(), np.zeros((2, 2)), ValueError, "one dimension"),
    (agg.collect(), "abc", TypeError, "column of values"),
    (agg.collect(), 5, TypeError, "column of values"),
]


@pytest.mark.parametrize(("aggregate", "values", "error", "match"), COLUMNS)
def test_columns(aggregate: Any, values: Any, error: Any, match: str) -> None:
    window, before = filled(aggregate)
    refused(window, before, lambda: window.insert_many(values), error, match)
    refused(window, before, lambda: window.slide(values, 2), error, match)


@pytest.mark.parametrize("value", [0, -1, 2**63, 10**30, True, 1.0, "3", None])
@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_sizes(structure: type[Window], value: Any) -> None:
    window = structure(INTS)
    window.insert_many([1, 2, 3])
    wrong = (ValueError, TypeError, IndexError)
    refused(window, 6, lambda: window.slide([1], value), wrong, ".")
    if value != 0 or isinstance(value, bool):
        refused(window, 6, lambda: window.evict_many(value), wrong, ".")


def test_a_huge_size_is_fine() -> None:
    assert sash.DabaLite(INTS).slide([1, 2], np.int64(2**62)).tolist() == [1, 3]


NOT_AGGREGATES = [agg.sum, max, "sum", 5, None, [], [agg.sum(), "max"], [agg.sum], {"a": agg.sum()}]


@pytest.mark.parametrize("what", NOT_AGGREGATES, ids=range(len(NOT_AGGREGATES)))
@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_not_an_aggregate(structure: type[Window], what: Any) -> None:
    with pytest.raises(TypeError, match="expected an aggregate"):
        structure(what)
    with pytest.raises(TypeError, match="expected an aggregate"):
        sash.FlatFat(what, [1])


def test_hints() -> None:
    with pytest.raises(TypeError, match=r"got the function sum: call it, as in sum\(\)"):
        sash.DabaLite(agg.sum)
    with pytest.raises(ValueError, match=r"two aggregates are named 'sum': give one an alias\(\)"):
        sash.DabaLite([agg.sum(), agg.sum()])
    with pytest.raises(ValueError, match="name the columns of all aggregates, or of none"):
        sash.DabaLite([agg.sum("x"), agg.max()])
    with pytest.raises(TypeError, match="Window is abstract: use DabaLite"):
        Window(agg.sum())


@pytest.mark.parametrize(
    "aggregate",
    [agg.max(), agg.topk(2), agg.collect(), agg.variance(), [agg.count(), agg.min()], agg.bloom()],
    ids=repr,
)
def test_what_cannot_be_subtracted(aggregate: Any) -> None:
    with pytest.raises(TypeError, match=r"not invertible.*use TwoStacksLite, or DabaLite"):
        sash.SubtractOnEvict(aggregate)


def test_what_drifts_when_subtracted() -> None:
    with pytest.raises(TypeError, match=r"drifts.*TwoStacksLite, dtype=int, or allow_rounding"):
        sash.SubtractOnEvict(agg.sum())
    assert sash.SubtractOnEvict(agg.sum(), allow_rounding=True).query() is None


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_windows_are_not_pickled_or_copied(structure: type[Window]) -> None:
    window = structure(INTS)
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            call(window)
    with pytest.raises(TypeError, match="snapshot"):
        pickle.dumps(sash.TimedWindow(INTS))
    with pytest.raises(TypeError):
        copy.copy(sash.FlatFat(INTS, [1]))
