"""What the trees take, and that they give it back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import named
from test_tree_machine import TREES

import sash
from sash import agg
from sash.trees import Tree

INTS, FLOATS = agg.sum(dtype=int), agg.sum()
MILLION = 1_000_000
BLOCK = 1 << 18  # nodes come in blocks of up to this; one of each kind is not full
SPARE = 4 * BLOCK  # of each kind one in use and one kept for the next burst


def in_order(structure: type[Tree], aggregate: sash.Aggregate, n: int) -> Tree:
    """A tree of n entries, inserted one by one in order, while as many have left."""
    tree = structure(aggregate)
    values: Any = np.ones(2 * n, np.int64 if aggregate is INTS else np.float64)
    tree.slide(np.arange(2 * n), values, rows=n)
    assert len(tree) == n
    return tree


@pytest.mark.parametrize("n", [100_000, 150_000, MILLION])
@pytest.mark.parametrize(("aggregate", "slot"), [(FLOATS, 16), (INTS, 24)], ids=str)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_in_order(structure: type[Tree], aggregate: sash.Aggregate, slot: int, n: int) -> None:
    """A time of 8 bytes and a state, in leaves 7/8 full; inner nodes hardly count."""
    assert in_order(structure, aggregate, n).nbytes <= 1.05 * slot * 8 / 7 * n + 2 * BLOCK
    loaded = structure(aggregate)
    loaded.bulk_insert(np.arange(n), np.ones(n, np.int64))
    assert loaded.nbytes <= 1.1 * slot * 8 / 7 * n + 2 * BLOCK


@pytest.mark.parametrize("n", [100_000, MILLION])
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_twenty_bytes_for_each_entry(structure: type[Tree], n: int) -> None:
    assert in_order(structure, FLOATS, n).nbytes <= 20 * n


def test_big_states_are_shared() -> None:
    """A Bloom filter of 2 KB for each node, not for each entry."""
    n = 1 << 15
    tree = sash.FingerTree(agg.bloom())
    for time in range(n):
        tree.insert(time, time % 1000)
    assert len(tree.query().data) == 2048
    assert tree.nbytes <= 128 * n


def test_small_trees_are_small() -> None:
    for structure in TREES:
        tree = structure(INTS)
        for time in (3, 1, 2):
            tree.insert(time, time)
        assert tree.nbytes < 4096
        loaded = structure(INTS)
        loaded.bulk_insert([3, 1, 2], [1, 2, 3])
        assert loaded.nbytes < 16_384


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_clear(structure: type[Tree]) -> None:
    tree = in_order(structure, INTS, 200_000)
    tree.clear()
    assert tree.nbytes < 8192
    tree.insert(1, 5)
    assert tree.query() == 5


@pytest.mark.parametrize("left", [10, 2_000])
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_a_bulk_that_leaves_gives_memory_back(structure: type[Tree], left: int) -> None:
    """Dropped nodes may be taken apart by later operations, but not never: a window goes on."""
    n = 200_000
    tree = in_order(structure, INTS, n)
    large = tree.nbytes
    assert tree.bulk_evict(tree.youngest - left) == n - left
    assert tree.query() == left
    for _ in range(n // 2):  # sooner than the window would have been replaced
        tree.insert(tree.youngest + 1, 1)
        tree.evict()
    tree.check_invariants()
    assert tree.nbytes <= SPARE < large / 5


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_one_by_one_gives_memory_back(structure: type[Tree]) -> None:
    tree = in_order(structure, INTS, 200_000)
    large = tree.nbytes
    while len(tree) > 10:
        tree.evict()
    assert tree.query() == 10
    assert tree.nbytes <= SPARE < large / 5


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_a_window_that_slides_does_not_grow(structure: type[Tree]) -> None:
    source = np.random.default_rng(1)
    tree = structure(INTS)
    now = np.arange(400_000)
    late = now - (source.pareto(0.8, len(now)) * 5).astype(np.int64) % 3000
    ones = np.ones(len(now), np.int64)
    tree.slide(late[:50_000], ones[:50_000], rows=2_000)
    before = tree.nbytes
    tree.slide(late[50_000:], ones[50_000:], rows=2_000)
    tree.check_invariants()
    assert tree.nbytes <= 2 * before
