"""The faults of the published code, each as a test."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import oracle
import pytest
from cases import agrees, named
from kinds import KINDS
from test_tree_machine import TREES, Model, Shape, same

import sash
from sash import agg
from sash.trees import Tree

KIND = {kind.name: kind for kind in KINDS}
CONCAT = KIND["concat"]
SHAPES: list[Shape] = [(4, 4), (4, 5), (5, 4), (5, 9), (8, 8), (None, None)]
PUBLISHED = [*range(11, 16), 20, *range(21, 26)]


def grown(structure: type[Tree], shape: Shape, times: Any, kind: Any = CONCAT) -> Any:
    """A tree and its model with entries at the given times, inserted one by one."""
    tree, model = structure(kind.aggregate, leaf=shape[0], fanout=shape[1]), Model()
    for i, time in enumerate(times):
        tree.insert(time, i)
        model.insert(time, i)
    return tree, model


def bulk(tree: Tree, model: Model, times: list[int], kind: Any = CONCAT) -> None:
    tree.bulk_insert(times, range(len(times)))
    model.bulk_insert(zip(times, range(len(times)), strict=True))
    same(tree, model, kind)


@pytest.mark.parametrize("kind", [CONCAT, KIND["ordered-record"], KIND["sum-int"]], ids=named)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_bulk_times_that_are_there(structure: type[Tree], shape: Shape, kind: Any) -> None:
    for n in (7, 30, 200):
        tree, model = grown(structure, shape, range(0, 10 * n, 10), kind)
        bulk(tree, model, PUBLISHED, kind)
        bulk(tree, model, [20, 20, 11, 11, 25, *range(60, 10 * n, 30)], kind)
        bulk(tree, model, list(range(0, 10 * n, 10)), kind)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_a_time_twice_in_a_bulk(structure: type[Tree], shape: Shape) -> None:
    """At every entry, so at the first of every leaf and at every separator."""
    for time in range(0, 400, 10):
        for times in ([time, time], [time - 1, time, time, time + 1], [time + 5] * 9, [time] * 40):
            tree, model = grown(structure, shape, range(0, 400, 10))
            bulk(tree, model, times)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_nodes_that_borrow_beside_the_left_spine(structure: type[Tree], shape: Shape) -> None:
    for n in (12, 33, 80, 150):
        for at in range(0, n, 5):  # a hole here, next to what the front eats from the left
            tree, model = grown(structure, shape, range(0, 10 * n, 10))
            for i in range(6):
                time = 10 * min(at + i, n - 1)
                assert tree.evict(time) is model.evict(time)
                kept = model.values()
                CONCAT.check(tree.query(), kept)
                if len(model) > 1:
                    tree.evict()
                    model.evict()
                if i % 2:
                    tree.insert(model.oldest - 1, i)
                    model.insert(model.oldest - 1, i)
                CONCAT.check(tree.query(), model.values())
                tree.check_invariants()
            same(tree, model, CONCAT)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_size_after_bulk_operations(structure: type[Tree], shape: Shape) -> None:
    tree = structure(agg.count(), leaf=shape[0], fanout=shape[1])
    there: set[int] = set()
    for step in range(60):
        times = [(i * 37 + step * 11) % 500 for i in range(step)]
        tree.bulk_insert(times, times)
        there |= set(times)
        assert len(tree) == len(there)
        low = [t for t in there if t <= step * 4]
        assert tree.bulk_evict(step * 4) == len(low)
        there -= set(low)
        assert len(tree) == len(there)
        tree.check_invariants()


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_copies_are_refused(structure: type[Tree]) -> None:
    tree, _ = grown(structure, (4, 4), range(30))
    for call in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="snapshot"):
            call(tree)


NUMBERS: dict[str, tuple[sash.Aggregate, oracle.Oracle]] = {
    "max": (agg.max(), oracle.max_),
    "min": (agg.min(), oracle.min_),
    "max-int": (agg.max(dtype=int), oracle.max_),
    "range": (agg.range(), oracle.range_),
    "geomean": (agg.geomean(), oracle.geomean),
    "relative-variation": (agg.relative_variation(), oracle.relative_variation),
    "mincount": (agg.mincount(), oracle.mincount),
    "maxcount": (agg.maxcount(), oracle.maxcount),
    "mean-int": (agg.mean(dtype=int), oracle.mean),
    "stddev": (agg.stddev(), oracle.stddev(1)),
    "first": (agg.first(), oracle.first),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_identities(structure: type[Tree], name: str) -> None:
    """Empty windows, windows that emptied, and empty parts; negative values do not meet a zero."""
    aggregate, wanted = NUMBERS[name]
    whole = "int" in name
    tree = structure(aggregate, leaf=4, fanout=4)
    assert tree.query() == wanted([])
    values = [-7, -3, -5, -3, -7, -2, -11, -2, -2] * 4
    for i, value in enumerate(values):
        tree.insert(10 * i, value if whole else float(value))
        assert agrees(tree.query(), wanted(values[: i + 1]), 1.0)
        assert tree.query(10 * i + 1, 10 * i + 9) == wanted([])
        assert tree.query(10 * i, 10 * i - 1) == wanted([])
    while tree:
        tree.evict()
    assert tree.query() == wanted([])
    tree.check_invariants()


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_argmax_of_negative_numbers(structure: type[Tree]) -> None:
    tree = structure(agg.argmax(), leaf=4, fanout=4)
    assert tree.query() is None
    for i in range(20):
        tree.insert(i, (-1.0 - (i * 7) % 20, float(i)))
    assert tree.query() == 0.0


@pytest.mark.parametrize("shape", [(4, 4), (None, None)], ids=str)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_precision(structure: type[Tree], shape: Shape) -> None:
    source = np.random.default_rng(4)
    order = source.permutation(400).tolist()

    def result(aggregate: sash.Aggregate, values: list[Any]) -> Any:
        tree = structure(aggregate, leaf=shape[0], fanout=shape[1])
        for i in order:
            tree.insert(i, values[i])
        return tree.query()

    near = (1e9 + source.random(400)).tolist()
    assert result(agg.stddev(), near) == pytest.approx(oracle.stddev(1)(near), rel=1e-6)
    assert 0.2 < result(agg.stddev(), near) < 0.4
    negative = source.integers(-(2**62), -(2**61), 400).tolist()
    assert result(agg.mean(dtype=int), negative) == oracle.mean(negative)
    assert result(agg.mean(dtype=int), [-1, -2] * 200) == -1.5
    wide = (10.0 ** source.uniform(-300, 300, 400)).tolist()
    assert result(agg.geomean(), wide) == pytest.approx(oracle.geomean(wide), rel=1e-12)
    assert result(agg.geomean(), [1.0000001] * 400) == pytest.approx(1.0000001, rel=1e-14)
