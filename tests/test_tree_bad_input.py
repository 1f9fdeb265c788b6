"""Misuse of the trees: a precise exception, and the tree as it was."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cases import named
from test_tree_machine import TREES

import sash
from sash import agg
from sash.trees import Tree


def filled(structure: type[Tree]) -> Tree:
    tree = structure(agg.sum(dtype=int), leaf=4, fanout=4)
    for time in range(0, 200, 10):
        tree.insert(time, time)
    return tree


def refused(tree: Tree, call: Callable[[], object], error: Any, match: str = ".") -> None:
    """The call raises, and the tree has not changed."""
    before = (len(tree), tree.query(), list(tree), tree.snapshot())
    with pytest.raises(error, match=match):
        call()
    tree.check_invariants()
    assert (len(tree), tree.query(), list(tree), tree.snapshot()) == before


TIMES: list[tuple[Any, type[Exception], str]] = [
    (1.0, TypeError, "a time is an integer, not 1.0"),
    (math.nan, TypeError, "a time is an integer, not nan"),
    (np.float64(3), TypeError, "a time is an integer"),
    ("1", TypeError, "a time is an integer, not '1'"),
    (None, TypeError, "."),
    (True, TypeError, "a time is an integer, not True"),
    ([1], TypeError, "a time is an integer"),
    (2**63, OverflowError, "64-bit"),
    (-(2**63) - 1, OverflowError, "64-bit"),
    (10**30, OverflowError, "64-bit"),
]


@pytest.mark.parametrize(("time", "error", "match"), TIMES, ids=repr)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_times(structure: type[Tree], time: Any, error: type[Exception], match: str) -> None:
    tree = filled(structure)
    refused(tree, lambda: tree.insert(time, 1), error, match)
    refused(tree, lambda: tree.evict(time), error, match)
    refused(tree, lambda: tree.bulk_evict(time), error, match)
    refused(tree, lambda: tree.query(time, 5), error, match)
    refused(tree, lambda: tree.query(5, time), error, match)
    wrong = (error, TypeError, ValueError)
    refused(tree, lambda: tree.bulk_insert([time], [1]), wrong)
    refused(tree, lambda: tree.slide([time], [1], 5), wrong)
    if time is not True:  # NumPy takes a bool among integers for one
        refused(tree, lambda: tree.bulk_insert([1, 2, time], [1, 2, 3]), wrong)
        refused(tree, lambda: tree.slide([1, time], [1, 2], 5), wrong)


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_integers_of_numpy_are_times(structure: type[Tree]) -> None:
    tree = structure(agg.count())
    tree.insert(np.int64(5), 0)
    tree.insert(np.uint8(7), 0)
    tree.bulk_insert(np.array([1, 2], np.uint64), [0, 0])
    assert tree.evict(np.int32(2)) is True
    assert [t for t, _ in tree] == [1, 5, 7]


COLUMNS: list[tuple[Any, Any, Any, str]] = [
    ([1], [1, 2], ValueError, "1 times for 2 rows"),
    ([1, 2, 3], [1], ValueError, "3 times for 1 rows"),
    ([], [1], ValueError, "0 times for 1 rows"),
    (np.array([[1]]), [1], (TypeError, ValueError), "one dimension"),
    (np.array([True]), [1], TypeError, "integers"),
    (np.array([1.0]), [1], TypeError, "integers"),
    (np.array([2**63], np.uint64), [1], OverflowError, "64-bit"),
    (5, [1], TypeError, "."),
    ("1", [1], (TypeError, ValueError), "."),
    ([1, 2], [1, 2.5], TypeError, "dtype=float|integers"),
    ([1, 2], [1, "x"], TypeError, "."),
    ([1], 5, TypeError, "column of values"),
]


@pytest.mark.parametrize(("times", "values", "error", "match"), COLUMNS, ids=repr)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_columns(structure: type[Tree], times: Any, values: Any, error: Any, match: str) -> None:
    tree = filled(structure)
    refused(tree, lambda: tree.bulk_insert(times, values), error, match)
    refused(tree, lambda: tree.slide(times, values, 5), error, match)
    refused(tree, lambda: tree.slide(times, values, rows=5), error, match)


@pytest.mark.parametrize("value", [1.5, "x", [1], 2**63])
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_values(structure: type[Tree], value: Any) -> None:
    tree = filled(structure)
    for time in (-5, 0, 95, 100, 190, 500):
        wrong = (TypeError, OverflowError)
        refused(tree, lambda t=time: tree.insert(t, value), wrong)
        refused(tree, lambda t=time: tree.bulk_insert([t, t + 1], [1, value]), wrong)
        refused(tree, lambda t=time: tree.slide([t, t + 1], [1, value], 5), wrong)


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_sums_that_overflow(structure: type[Tree]) -> None:
    """An overflow may be found out later, at a query; it is an error, never a wrap."""
    tree = structure(agg.sum(dtype=int), leaf=4, fanout=4)
    tree.insert(1, 2**62)
    tree.insert(3, 2**62 - 1)
    with pytest.raises(OverflowError):
        for time in (2, 4, 5):
            tree.insert(time, 2**62)
            tree.query()
    while len(tree) > 1:
        tree.evict()
    assert tree.query() in (2**62, 2**62 - 1)


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_what_is_not_there(structure: type[Tree]) -> None:
    tree = filled(structure)
    before = tree.snapshot()
    for time in (-(2**63), -1, 5, 95, 191, 2**63 - 1):
        assert tree.evict(time) is False
    assert tree.bulk_evict(-1) == tree.bulk_evict(-(2**63)) == 0
    assert (tree.query(11, 19), tree.query(150, 50), tree.query(191, 2**63 - 1)) == (None,) * 3
    tree.bulk_insert([], [])
    assert len(tree.slide([], [], 5)) == 0
    tree.check_invariants()
    assert tree.snapshot() == before


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_an_empty_tree(structure: type[Tree]) -> None:
    tree = filled(structure)
    for empty in (structure([agg.sum(dtype=int), agg.count()]), tree):
        empty.bulk_evict(2**63 - 1)
        wanted = None if empty is tree else (None, 0)
        for ask in (empty.evict, lambda e=empty: e.oldest, lambda e=empty: e.youngest):
            with pytest.raises(IndexError, match="empty window"):
                ask()
        assert (empty.evict(3), empty.bulk_evict(3), list(empty)) == (False, 0, [])
        assert empty.query() == empty.query(0, 9) == empty.query(9, 0) == wanted
        empty.clear()
        empty.check_invariants()
        assert not empty
        assert "0 entries" in repr(empty)
    assert len(structure.restore(tree.snapshot(), agg.sum(dtype=int))) == 0


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_windows(structure: type[Tree]) -> None:
    tree = filled(structure)
    for window in ({}, {"size": 3, "rows": 3}, {"size": None}, {"rows": None}):
        refused(tree, lambda w=window: tree.slide([1], [1], **w), TypeError, "either size")
    for wrong in (0, -1, 2**63, 10**30, True, 1.0, "3"):
        errors = (TypeError, ValueError)
        refused(tree, lambda w=wrong: tree.slide([1], [1], w), errors, "size must be")
        refused(tree, lambda w=wrong: tree.slide([1], [1], rows=w), errors, "rows must be")


@pytest.mark.parametrize("which", ["leaf", "fanout"])
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_shapes(structure: type[Tree], which: str) -> None:
    data = filled(structure).snapshot()
    for value, error in [
        (3, ValueError),
        (0, ValueError),
        (-4, ValueError),
        (4097, ValueError),
        (5000, ValueError),
        (2**64, ValueError),
        (True, TypeError),
        ("x", TypeError),
        (8.0, TypeError),
    ]:
        with pytest.raises(error, match=f"{which} must be"):
            structure(agg.sum(), **{which: value})
        with pytest.raises(error, match=f"{which} must be"):
            structure.restore(data, agg.sum(dtype=int), **{which: value})
    for value in (4, np.int64(17), 4096):
        tree = structure(agg.sum(dtype=int), **{which: value})
        tree.slide(range(9000), [1] * 9000, rows=8500)
        tree.check_invariants()
        assert tree.query() == 8500


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_what_is_no_aggregate_or_snapshot(structure: type[Tree]) -> None:
    for what in (agg.sum, max, "sum", None, []):
        with pytest.raises(TypeError, match="expected an aggregate"):
            structure(what)
    tree = filled(structure)
    with pytest.raises(TypeError, match="snapshot"):
        pickle.dumps(tree)
    with pytest.raises(TypeError, match="abstract: use FingerTree"):
        Tree(agg.sum())
    for other in (sash.DabaLite, *(t for t in TREES if t is not structure)):
        with pytest.raises(sash.SnapshotError, match=f"structure {structure.__name__}"):
            other.restore(tree.snapshot(), agg.sum(dtype=int))
    with pytest.raises(sash.SnapshotError, match="snapshot of aggregate"):
        structure.restore(tree.snapshot(), agg.sum())
    for data in (b"", tree.snapshot()[:-9], bytes(400)):
        with pytest.raises(sash.SnapshotError):
            structure.restore(data, agg.sum(dtype=int))
