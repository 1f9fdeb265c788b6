"""Adversarial orders of arrival and of eviction, and long seeded runs, against brute force."""

from __future__ import annotations

import bisect
import random
from collections.abc import Callable

import pytest
from cases import Case, named
from kinds import KINDS
from test_tree_machine import SHAPES, TREES, Model, Shape, same

import sash
from sash import agg
from sash.trees import Tree

N = 260
KIND = {kind.name: kind for kind in KINDS}
ORDERED = [KIND["concat"], KIND["ordered-record"]]


def zigzag(n: int) -> list[int]:
    """From both ends to the middle: 0, n-1, 1, n-2, ..."""
    return [i // 2 if i % 2 == 0 else n - 1 - i // 2 for i in range(n)]


def shuffled(n: int) -> list[int]:
    return random.Random(n).sample(range(n), n)


ORDERS: dict[str, Callable[[int], list[int]]] = {
    "ascending": lambda n: list(range(n)),
    "descending": lambda n: list(range(n, 0, -1)),
    "zigzag": zigzag,
    "inside-out": lambda n: zigzag(n)[::-1],
    "organ-pipe": lambda n: [*range(0, n, 2), *range(n - 1 - n % 2, 0, -2)],
    "random": shuffled,
    "one-far-late": lambda n: [t if t % 40 != 39 else t - 39 + t // 40 for t in range(n)],
    "always-the-same-place": lambda n: [0, 1000, *range(n - 2, 0, -1)],
    "all-equal": lambda n: [7] * n,
    "pairs": lambda n: [t // 2 for t in shuffled(n)],
}


@pytest.mark.parametrize("kind", ORDERED, ids=named)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_arrival(structure: type[Tree], shape: Shape, order: str, kind: Case) -> None:
    for window in (1, 9, 70, N):
        tree, model = structure(kind.aggregate, leaf=shape[0], fanout=shape[1]), Model()
        for i, time in enumerate(ORDERS[order](N)):
            tree.insert(time, i)
            model.insert(time, i)
            if len(model) > window:
                tree.evict()
                model.evict()
            kind.check(tree.query(), model.values())
            if i % 16 == 0:
                tree.check_invariants()
                low, high = time - i % 31, time + i % 17
                kind.check(tree.query(low, high), model.values(low, high))
        same(tree, model, kind)


@pytest.mark.parametrize("order", [o for o in ORDERS if o not in ("all-equal", "pairs")])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_departure(structure: type[Tree], shape: Shape, order: str) -> None:
    """Entries leave by their time, in every order, until none is left."""
    kind = KIND["concat"]
    times = list(dict.fromkeys(ORDERS[order](N)))
    for arrival in (sorted(times), times[::-1], shuffled(max(times) + 1)):
        tree, model = structure(kind.aggregate, leaf=shape[0], fanout=shape[1]), Model()
        for i, time in enumerate(arrival):
            tree.insert(time, i)
            model.insert(time, i)
        for i, time in enumerate(times):
            assert tree.evict(time) is model.evict(time)
            assert tree.evict(time) is False
            kind.check(tree.query(), model.values())
            if i % 8 == 0:
                tree.check_invariants()
        same(tree, model, kind)
        while model.rows:
            tree.evict()
            model.evict()
        same(tree, model, kind)


class Totals:
    """A brute-force window of integers that is fast enough for long runs."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}
        self.times: list[int] = []
        self.total = 0

    def insert(self, time: int, value: int) -> None:
        if time not in self.rows:
            bisect.insort(self.times, time)
        self.rows[time] = self.rows.get(time, 0) + value
        self.total += value

    def drop(self, low: int, high: int) -> None:
        """Drop the entries from one place to another."""
        for time in self.times[low:high]:
            self.total -= self.rows.pop(time)
        del self.times[low:high]

    def between(self, t_from: int, t_to: int) -> int | None:
        low = bisect.bisect_left(self.times, t_from)
        high = bisect.bisect_right(self.times, t_to)
        return sum(self.rows[t] for t in self.times[low:high]) if low < high else None


class Stress:
    """Random operations on a tree of integers and on `Totals`: bursts, lateness, bulks."""

    def __init__(self, tree: Tree, most: int, seed: int) -> None:
        self.tree, self.model, self.most = tree, Totals(), most
        self.random = random.Random(seed)
        self.now = 0

    def late(self) -> int:
        """A time with a heavy tail of lateness."""
        return self.now - int(self.random.paretovariate(0.4)) % (2 * self.most)

    def step(self) -> None:
        draw = self.random.random
        kind = draw()
        shrinking = len(self.model.times) > self.most * (0.4 + 0.6 * draw())
        if kind < 0.45 and not shrinking:
            self.now += self.random.randrange(3)
            time = self.now if draw() < 0.6 else self.late()
            value = self.random.randrange(-(10**6), 10**6)
            self.tree.insert(time, value)
            self.model.insert(time, value)
        elif kind < 0.47 and not shrinking:
            most = 45 + self.most // 150
            rows = [(self.late(), i) for i in range(self.random.randrange(most))]
            rows += [(self.now + i // 2, -i) for i in range(self.random.randrange(most))]
            self.now += most // 2
            self.tree.bulk_insert([t for t, _ in rows], [v for _, v in rows])
            for time, value in rows:
                self.model.insert(time, value)
        elif kind < 0.85 and self.model.times:
            self.tree.evict()
            self.model.drop(0, 1)
        elif kind < 0.92:
            time = self.late()
            at = bisect.bisect_left(self.model.times, time)
            there = time in self.model.rows
            assert self.tree.evict(time) is there
            self.model.drop(at, at + there)
        elif kind < 0.922 and self.model.times:
            n = min(int(self.random.paretovariate(0.3)), len(self.model.times))
            assert self.tree.bulk_evict(self.model.times[n - 1]) == n
            self.model.drop(0, n)
        elif kind < 0.94:
            low, high = self.late(), self.late()
            assert self.tree.query(low, high) == self.model.between(low, high)
        assert self.tree.query() == (self.model.total if self.model.times else None)

    def run(self, steps: int, every: int) -> None:
        largest = 0
        for i in range(steps):
            self.step()
            largest = max(largest, len(self.model.times))
            if i % every == 0:
                self.tree.check_invariants()
                assert len(self.tree) == len(self.model.times)
        self.tree.check_invariants()
        assert [(t, self.model.rows[t]) for t in self.model.times] == list(self.tree)
        assert largest > self.most / 2  # it did grow
        assert self.now > self.most  # and slide


@pytest.mark.parametrize(
    ("structure", "shape", "steps", "most"),
    [
        (sash.FingerTree, (None, None), 200_000, 30_000),
        (sash.FingerTree, (4, 4), 60_000, 3_000),
        (sash.ClassicTree, (5, 9), 60_000, 3_000),
    ],
    ids=str,
)
def test_long_run(structure: type[Tree], shape: Shape, steps: int, most: int) -> None:
    tree = structure(agg.sum(dtype=int), leaf=shape[0], fanout=shape[1])
    Stress(tree, most, seed=steps).run(steps, every=1_000)


@pytest.mark.parametrize("commutative", [True, False])
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_long_run_in_python(structure: type[Tree], commutative: bool) -> None:
    monoid = sash.monoid(lambda a, b: a + b, commutative=commutative)
    Stress(structure(monoid), 1_000, seed=5).run(15_000, every=250)
