"""Python functions that raise, at the k-th call for every k: the tree stays as it was, no leaks."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from cases import named
from test_exceptions import Fragile
from test_references import Failing, State
from test_tree_machine import SHAPES, TREES, Shape

import sash
from sash.trees import Tree

# Entries are at multiples of 10. Each operation gets the tree and its times.
Operation = Callable[[Tree, list[int]], object]
OPERATIONS: dict[str, Operation] = {
    "append": lambda w, t: w.insert(t[-1] + 5, 7),
    "insert late": lambda w, t: w.insert(t[len(t) // 2] + 5, 7),
    "insert near the end": lambda w, t: w.insert(t[-1] - 5, 7),
    "insert first": lambda w, t: w.insert(t[0] - 5, 7),
    "merge": lambda w, t: w.insert(t[len(t) // 2], 7),
    "merge with the oldest": lambda w, t: w.insert(t[0], 7),
    "merge with the youngest": lambda w, t: w.insert(t[-1], 7),
    "evict": lambda w, t: w.evict(),
    "evict inside": lambda w, t: w.evict(t[len(t) // 2]),
    "evict near the front": lambda w, t: w.evict(t[min(3, len(t) - 1)]),
    "evict the youngest": lambda w, t: w.evict(t[-1]),
    "bulk_evict few": lambda w, t: w.bulk_evict(t[min(4, len(t) - 1)]),
    "bulk_evict half": lambda w, t: w.bulk_evict(t[len(t) // 2]),
    "bulk_evict most": lambda w, t: w.bulk_evict(t[-1] - 25),
    "bulk append": lambda w, t: w.bulk_insert(range(t[-1] + 1, t[-1] + 14), range(13)),
    "bulk_insert": lambda w, t: w.bulk_insert(
        [t[0] - 3, t[0], *range(t[-1] // 2, t[-1], 7), t[-1], t[-1], t[-1] + 3],
        range(5 + len(range(t[-1] // 2, t[-1], 7))),
    ),
    "query": lambda w, t: w.query(),
    "query a part": lambda w, t: w.query(t[0] + 1, t[-1] - 1),
    "slide": lambda w, t: w.slide([t[-1], t[-1] + 5, t[0], t[-1] + 9, t[-1] - 15], range(5), 60),
    "slide by rows": lambda w, t: w.slide([t[-1] + 5, t[0] + 5, t[-1] + 9], range(3), rows=len(t)),
}
COUNTS = (1, 2, 6, 15, 45)
MOST = 400  # no operation here calls functions more often


def fill(tree: Any, n: int) -> None:
    """Entries that came in order, late and at equal times, after some that have left."""
    for i in range(-n, n, 2):
        tree.insert(10 * i, i % 10)
    for i in reversed(range(-n, n)):
        tree.insert(10 * i, i % 7)
    tree.bulk_evict(-50)
    while len(tree) > n:
        tree.evict()


def assert_same(tree: Tree, twin: Tree) -> None:
    tree.check_invariants()
    assert len(tree) == len(twin)
    assert tree.query() == twin.query()
    assert list(tree) == list(twin)
    if twin:
        ends = (twin.oldest, twin.youngest)
        assert (tree.oldest, tree.youngest) == ends
        assert tree.query(ends[0] + 1, ends[1] - 1) == twin.query(ends[0] + 1, ends[1] - 1)


class FragileSum(Fragile):
    """Integer sums, which commute: the tree then folds instead of computing anew."""

    def __init__(self, identity: str | None, persistent: bool) -> None:
        super().__init__(identity, persistent)
        self.monoid = sash.monoid(
            self._guard(lambda a, b: a + b),  # type: ignore[arg-type]
            lift=self._guard(lambda v: v + 1),
            identity=None if identity is None else 0,
            commutative=True,
        )


@pytest.mark.parametrize("persistent", [False, True], ids=["once", "from-then-on"])
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_all_or_nothing(structure: type[Tree], operation: str, persistent: bool) -> None:
    failed = sum(
        failures(structure, shape, OPERATIONS[operation], make(identity, persistent))
        for shape in SHAPES
        for make in (Fragile, FragileSum)
        for identity in ("", None)
    )
    assert failed > 0


def failures(structure: type[Tree], shape: Shape, operation: Operation, fragile: Fragile) -> int:
    """Fail at every k until the operation gets through; how often it failed."""
    failed = 0
    for n in COUNTS:
        tree, before, after = (
            structure(fragile.monoid, leaf=shape[0], fanout=shape[1]) for _ in range(3)
        )
        for each in (tree, before, after):
            fill(each, n)
        times = [t for t, _ in before]
        operation(after, times)
        k = 1
        while fragile.armed(lambda w=tree, t=times, k=k: operation(w, t), k):
            assert k < MOST
            assert_same(tree, before)
            k += 1
        assert_same(tree, after)
        failed += k - 1
    return failed


def test_a_failed_call_can_be_repeated() -> None:
    """After any failure the same call, and then others, give what they give on a fresh tree."""
    for name, operation in OPERATIONS.items():
        for k in range(1, MOST):
            fragile = Fragile(None, persistent=False)
            trees = [sash.FingerTree(fragile.monoid, leaf=4, fanout=4) for _ in range(2)]
            for each in trees:
                fill(each, 30)
            times = [t for t, _ in trees[0]]
            if not fragile.armed(lambda w=trees[0], o=operation, t=times: o(w, t), k):
                break
            for each in trees:
                operation(each, times)
                OPERATIONS["insert late"](each, times)
                OPERATIONS["bulk_evict few"](each, times)
                OPERATIONS["append"](each, times)
            assert_same(*trees)
        else:
            pytest.fail(f"{name} never got through")


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_lower_that_raises(structure: type[Tree]) -> None:
    def lower(state: int) -> int:
        return 1 // (state - 3) and state

    tree = structure(sash.monoid(lambda a, b: a + b, lower=lower))
    tree.bulk_insert([1, 2], [1, 2])
    for call in (tree.query, lambda: tree.query(1, 2), lambda: tree.slide([5, 6], [-1, 1], 9)):
        with pytest.raises(ZeroDivisionError):
            call()
        tree.check_invariants()
        assert (len(tree), tree.oldest, tree.youngest) == (2, 1, 2)
    tree.insert(4, 4)
    assert "3 entries" in repr(tree)


# ---- references ---------------------------------------------------------------------------------


def alive() -> int:
    return len(State.alive)


@pytest.fixture(autouse=True)
def none_before() -> None:
    gc.collect()
    State.alive.clear()


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("shape", [(4, 4), (None, None)], ids=str)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_failing_leaks_nothing(structure: type[Tree], shape: Shape, operation: str) -> None:
    failing = Failing()
    tree = structure(failing.monoid(), leaf=shape[0], fanout=shape[1])
    fill(tree, 40)
    times = [t for t, _ in tree]
    for left in range(MOST):
        counts = []
        for _ in range(3):  # failing again and again at the same place keeps nothing more
            failing.left = left
            with suppress(ZeroDivisionError):
                OPERATIONS[operation](tree, times)
                failing.left = -1
            if failing.left == -1:
                break
            counts.append(alive())
        if len(counts) < 3:
            break
        assert counts[2] == counts[1], left
    else:
        pytest.fail("the operation never got through")
    failing.left = -1
    tree.clear()
    assert alive() <= 5  # what the tree and the call before it were working with
    del tree
    assert alive() == 0


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_evicted_states_are_given_up(structure: type[Tree]) -> None:
    tree = structure(Failing().monoid(), leaf=4, fanout=4)
    fill(tree, 300)
    assert alive() >= 300
    times = [t for t, _ in tree]
    for time in times[100:200]:
        tree.evict(time)
    assert tree.bulk_evict(times[90]) == 91
    for _ in range(105):
        tree.evict()
    for time in range(10_000, 10_400, 10):  # what was dropped is taken apart in later calls
        tree.insert(time, 1)
        tree.evict()
    assert len(tree) == 4
    assert alive() <= 60
    del tree
    assert alive() == 0


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_reference_counts(structure: type[Tree]) -> None:
    value = object()
    before = sys.getrefcount(value)
    tree = structure(sash.monoid(lambda a, b: b), leaf=4, fanout=4)
    for i in range(90):
        tree.insert((i * 37) % 61, value)
    tree.bulk_insert(range(40, 99), [value] * 59)
    tree.slide(range(80, 110), [value] * 30, 50)
    assert sys.getrefcount(value) > before + 40
    tree.bulk_evict(100)
    tree.evict(105)
    del tree
    assert sys.getrefcount(value) == before
