"""How often the trees combine: constant in order, logarithmic in the distance otherwise.

The bounds are measured ones with a margin. What is asserted is how they grow: `logarithmic` fails
on anything that grows faster, which its own tests show.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from cases import named
from counting import Counting
from test_tree_machine import TREES, Shape

import sash
from sash.trees import Tree

Costs = dict[int, float]
WIDE, TINY, DEFAULT = (62, 32), (4, 4), (None, None)
SHAPES: list[Shape] = [DEFAULT, TINY]
LARGE = 1 << 16
GAP = 4  # between times, so that late ones fit in


class Counted(Counting):
    """A tree of n entries over a sum that counts its combines."""

    def __init__(self, structure: type[Tree], shape: Shape, commutative: bool, n: int) -> None:
        super().__init__(commutative)
        self.tree = structure(self.monoid, leaf=shape[0], fanout=shape[1])
        self.tree.bulk_insert(range(0, GAP * n, GAP), [1] * n)
        self.now = GAP * n

    def append(self) -> int:
        self.now += GAP
        return self.of(lambda: self.tree.insert(self.now - GAP, 1))

    def late(self, d: int, rounds: int = 500) -> float:
        """What a late insert costs at a random distance up to d, while the window slides."""
        source, total = random.Random(d), 0
        for _ in range(rounds):
            time = self.now - GAP * source.randrange(1, d + 1) - source.randrange(1, GAP)
            total += self.of(lambda time=time: self.tree.insert(time, 1))
            self.tree.evict()
            self.append()
        return total / rounds


def logarithmic(costs: Costs, slope: float, start: float) -> None:
    """Assert that costs are within start + slope * log2(x), and that doubling x adds no more.

    The increase over the upper half is what tells a logarithm from anything faster.
    """
    for x, cost in costs.items():
        assert cost <= start + slope * math.log2(x), costs
    places = sorted(costs)
    middle, end = places[len(places) // 2], places[-1]
    doublings = math.log2(end / middle)
    assert costs[end] - costs[middle] <= slope * doublings + 0.1 * start, costs


POINTS = [2**k for k in range(15)]


@pytest.mark.parametrize(
    "growth", [lambda x: x / 50, lambda x: x, math.sqrt, lambda x: 40 + x / 150]
)
def test_what_grows_faster_is_found(growth: Callable[[int], float]) -> None:
    with pytest.raises(AssertionError):
        logarithmic({x: growth(x) for x in POINTS}, slope=4, start=30)


def test_what_grows_slower_passes() -> None:
    logarithmic({x: 5 + 3 * math.log2(x) for x in POINTS}, slope=4, start=10)
    logarithmic(dict.fromkeys(POINTS, 7.0), slope=4, start=10)


def test_a_search_from_the_root_is_found() -> None:
    """The comparator fails what `test_distance_alone_counts` holds the finger tree to."""
    with pytest.raises(AssertionError):
        independent_of_n(sash.ClassicTree, TINY, True)


@pytest.mark.parametrize("commutative", [True, False])
@pytest.mark.parametrize(
    ("shape", "per_insert", "per_evict"),
    [(DEFAULT, 1.6, 1.5), (TINY, 2.5, 2.1), (WIDE, 1.3, 1.3)],
    ids=str,
)
def test_in_order(shape: Shape, per_insert: float, per_evict: float, commutative: bool) -> None:
    rounds, found = 3000, []
    for n in (1 << 8, 1 << 12, 1 << 16):
        counted = Counted(sash.FingerTree, shape, commutative, n)
        inserts, evicts = [], []
        for _ in range(rounds):
            inserts.append(counted.append())
            evicts.append(counted.of(counted.tree.evict))
            assert counted.of(counted.tree.query) <= 2
        assert counted.tree.query() == n
        assert sum(inserts) <= per_insert * rounds
        assert sum(evicts) <= per_evict * rounds
        width = counted.tree._shape()[0]  # a new front leaf computes its suffixes
        assert max(inserts) <= 4 * math.log2(n) + width
        assert max(evicts) <= 4 * math.log2(n) + width
        found.append((sum(inserts) + sum(evicts)) / rounds)
    small, middle, large = found  # a small window may be cheaper: it has hardly any inner nodes
    assert small - 0.1 <= middle == pytest.approx(large, abs=0.1), found


@pytest.mark.parametrize("commutative", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_late_inserts(shape: Shape, commutative: bool) -> None:
    costs = {d: Counted(sash.FingerTree, shape, commutative, LARGE).late(d) for d in POINTS}
    logarithmic(costs, slope=3.5, start=14)
    assert costs[1 << 14] <= 3 * costs[1 << 7], costs
    assert costs[1] < costs[1 << 14] / 2, costs  # near an end it is cheap


def independent_of_n(structure: type[Tree], shape: Shape, commutative: bool) -> None:
    """Assert that late inserts cost the same in a window sixteen times as large."""
    for d in (1, 1 << 4, 1 << 8):
        small = Counted(structure, shape, commutative, 1 << 12).late(d)
        large = Counted(structure, shape, commutative, LARGE).late(d)
        assert large <= 1.1 * small + 0.5, (d, small, large)


@pytest.mark.parametrize("commutative", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_distance_alone_counts(shape: Shape, commutative: bool) -> None:
    independent_of_n(sash.FingerTree, shape, commutative)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_evictions_by_time(shape: Shape) -> None:
    for from_front in (True, False):
        costs = {}
        for d in POINTS[2:]:
            counted = Counted(sash.FingerTree, shape, False, LARGE)
            source, total = random.Random(d), 0
            places = source.sample(range(d), min(d, 200))
            for place in places:
                time = GAP * place if from_front else counted.now - GAP * (place + 1)
                total += counted.of(lambda t=time, c=counted: c.tree.evict(t))
            costs[d] = total / len(places)
        logarithmic(costs, slope=4, start=20)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bulk_evict(shape: Shape) -> None:
    costs: Costs = {}
    for m in POINTS[4:]:
        counted = Counted(sash.FingerTree, shape, False, LARGE)
        found = []
        for _ in range(3):
            time = counted.tree.oldest + GAP * (m - 1)
            found.append(counted.of(lambda t=time, c=counted: c.tree.bulk_evict(t)))
        assert counted.tree.query() == len(counted.tree) == LARGE - 3 * m
        costs[m] = max(found)
    logarithmic(costs, slope=4, start=20)


@pytest.mark.parametrize("commutative", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_bulk_insert(structure: type[Tree], shape: Shape, commutative: bool) -> None:
    d = 1 << 14
    each: Costs = {}
    for m in POINTS[::2]:
        counted = Counted(structure, shape, commutative, LARGE)
        free = [t for t in range(counted.now - GAP * d, counted.now) if t % GAP]
        times = sorted(random.Random(m).sample(free, m))
        bulk = [1] * m
        combines = counted.of(lambda c=counted, t=times, b=bulk: c.tree.bulk_insert(t, b))
        assert counted.tree.query() == LARGE + m
        each[m] = combines / m
        assert each[m] <= 5 * (1 + math.log2(d / m)), each
    larger = [each[m] for m in sorted(each) if m >= 16]
    assert larger == sorted(larger, reverse=True), each
    assert each[1 << 14] <= 4, each


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_parts_of_the_window(shape: Shape) -> None:
    """The cost of a part is logarithmic in what is in it, wherever it is and whatever is around."""
    source = random.Random(3)
    for n in (1 << 12, LARGE):
        counted = Counted(sash.FingerTree, shape, False, n)
        tree = counted.tree
        inside, suffix, prefix = {}, {}, {}
        for size in [p for p in POINTS if p <= n // 4]:
            found = []
            for _ in range(20):
                at = source.randrange(n - size)
                t_from, t_to = GAP * at, GAP * (at + size - 1)
                found.append(counted.of(lambda a=t_from, b=t_to, w=tree: w.query(a, b)))
                assert tree.query(t_from, t_to) == size
            inside[size] = max(found)
            last = counted.now - GAP * size
            suffix[size] = counted.of(lambda t=last, w=tree: w.query(t, 2**62))
            prefix[size] = counted.of(lambda t=GAP * size, w=tree: w.query(-(2**62), t))
        for costs in (inside, suffix, prefix):
            logarithmic(costs, slope=4, start=20)
