"""How often each structure combines, held to the theorems.

The monoid has an explicit identity, so that every combine a structure asks for is called.
Paper 002: theorems 3, 7, 10 and 13. Paper 003: theorem 4.2.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

import pytest
from cases import named
from counting import Counting

import sash
from sash import agg
from sash.structures import Window

# structure: most combines per insert, evict and query; on average per insert and evict
BOUNDS: dict[type[Window], tuple[tuple[float, float, float], tuple[float, float]]] = {
    sash.TwoStacks: ((1, math.inf, 1), (1, 1)),
    sash.TwoStacksLite: ((1, math.inf, 1), (1, 1)),
    sash.Daba: ((4, 3, 1), (2.5, 1.5)),
    sash.DabaLite: ((3, 2, 1), (2, 1)),
}
PARTIALS: dict[type[Window], Callable[[int], int]] = {
    sash.TwoStacks: lambda n: 2 * n,
    sash.TwoStacksLite: lambda n: n + 1,
    sash.Daba: lambda n: 2 * n,
    sash.DabaLite: lambda n: n + 2,
}
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 100, 1000]


class Totals:
    """The combines of each operation on one window, each held to its bound."""

    def __init__(self, structure: type[Window]) -> None:
        self.count = Counting()
        self.structure = structure
        self.window = structure(self.count.monoid)
        self.inserts: list[int] = []
        self.evicts: list[int] = []
        self.queries: list[int] = []

    def insert(self) -> None:
        self.inserts.append(self.count.of(lambda: self.window.insert(1)))

    def evict(self) -> None:
        n = len(self.window)
        self.evicts.append(self.count.of(self.window.evict))
        assert self.evicts[-1] <= n

    def query(self) -> None:
        self.queries.append(self.count.of(self.window.query))

    def within(self, per_insert: float, per_evict: float, per_query: float) -> None:
        assert max(self.inserts, default=0) <= per_insert
        assert max(self.evicts, default=0) <= per_evict
        assert max(self.queries, default=0) <= per_query


def shapes() -> Iterator[tuple[str, list[str]]]:
    """Runs of operations: sliding at each size, growing, shrinking, and at random."""
    for size in SIZES:
        yield f"slide-{size}", ["insert"] * size + ["evict", "insert", "query"] * (3 * size + 50)
    yield "grow", ["insert", "insert", "query", "evict"] * 500
    yield "fill-drain", (["insert"] * 300 + ["query", "evict"] * 300) * 3
    for seed in range(4):
        source, n, run = random.Random(seed), 0, []
        for step in range(3000):
            up = source.random() < (0.7 if (step // 400) % 2 == 0 else 0.3)
            run.append("insert" if up or n == 0 else "evict")
            n += 1 if run[-1] == "insert" else -1
            run.append("query")
        yield f"random-{seed}", run


SHAPES = dict(shapes())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("structure", BOUNDS, ids=named)
def test_worst_case(structure: type[Window], shape: str) -> None:
    totals = Totals(structure)
    for operation in SHAPES[shape]:
        getattr(totals, operation)()
    totals.within(*BOUNDS[structure][0])


@pytest.mark.parametrize("size", [s for s in SIZES if s > 1])
@pytest.mark.parametrize("structure", BOUNDS, ids=named)
def test_average(structure: type[Window], size: int) -> None:
    totals = Totals(structure)
    for _ in range(size):
        totals.insert()
    totals.inserts.clear()
    cycles = 12 * size
    for _ in range(cycles):
        totals.insert()
        totals.evict()
    per_insert, per_evict = BOUNDS[structure][1]
    # A structure may do the work of a pair of operations in the one or in the other.
    both = sum(totals.inserts) + sum(totals.evicts)
    assert both <= (per_insert + per_evict) * cycles + size
    assert sum(totals.evicts) <= per_evict * cycles + size
    assert sum(totals.inserts) <= per_insert * cycles + size


@pytest.mark.parametrize("structure", [sash.TwoStacks, sash.TwoStacksLite], ids=named)
def test_amortised_eviction(structure: type[Window]) -> None:
    for shape in SHAPES.values():
        totals = Totals(structure)
        for operation in shape:
            getattr(totals, operation)()
            assert sum(totals.evicts) <= len(totals.inserts)


@pytest.mark.parametrize("structure", BOUNDS, ids=named)
def test_a_query_combines_once_when_both_lists_hold_something(structure: type[Window]) -> None:
    totals = Totals(structure)
    for _ in range(9):
        totals.insert()
    totals.evict()
    totals.insert()
    totals.query()
    assert totals.queries == [1]


def test_daba_reaches_its_bounds() -> None:
    for structure in (sash.Daba, sash.DabaLite):
        totals = Totals(structure)
        for shape in ("grow", "fill-drain", "random-0"):
            for operation in SHAPES[shape]:
                getattr(totals, operation)()
        (per_insert, per_evict, _), _ = BOUNDS[structure]
        assert (max(totals.inserts), max(totals.evicts)) == (per_insert, per_evict)


@pytest.mark.parametrize("structure", PARTIALS, ids=named)
def test_stored_partial_aggregates(structure: type[Window]) -> None:
    totals = Totals(structure)
    for n in range(1, 200):
        totals.insert()
        assert totals.window._partials() == PARTIALS[structure](n)
    for n in range(198, 0, -1):
        totals.evict()
        assert totals.window._partials() == PARTIALS[structure](n)


def test_partial_aggregates_of_the_others() -> None:
    stored = {
        sash.Recalc: lambda n: n,
        sash.SubtractOnEvict: lambda n: n + 1,
        sash.FlatFit: lambda n: n,
        sash.Amta: lambda n: 2 * n,
    }
    for structure, partials in stored.items():
        window = structure(agg.sum(dtype=int))
        for n in range(1, 20):
            window.insert(n)
            assert window._partials() == partials(n), structure


def test_recalc_and_subtract_on_evict() -> None:
    totals = Totals(sash.Recalc)
    for _ in range(20):
        totals.insert()
    totals.query()
    totals.evict()
    assert (sum(totals.inserts), totals.evicts, totals.queries) == (0, [0], [20])

    count = Counting()
    monoid = sash.monoid(count._combine, inverse=lambda s, e: s - e, identity=0)
    window = sash.SubtractOnEvict(monoid)
    assert [count.of(lambda: window.insert(1)) for _ in range(5)] == [1] * 5
    assert count.of(window.evict) == count.of(window.query) == 0


@pytest.mark.parametrize("size", [s for s in SIZES if s > 1])
def test_amta_and_flat_fit_amortised(size: int) -> None:
    amta, fit = Totals(sash.Amta), Totals(sash.FlatFit)
    rounds = 12 * size + 50
    for totals in (amta, fit):
        for _ in range(size):
            totals.insert()
        for _ in range(rounds):
            totals.insert()
            totals.evict()
            totals.query()
    log = math.ceil(math.log2(size + 1))
    assert sum(amta.inserts) <= 2 * (rounds + size)
    assert sum(amta.evicts) <= (1 + log / size) * rounds + size + log
    assert max(amta.evicts) <= 2 * log + 1
    assert max(amta.queries) <= 1
    assert sum(fit.inserts) == sum(fit.evicts) == 0
    assert max(fit.queries) <= size - 1
    assert sum(fit.queries) <= 3 * rounds + size


def test_amta_evicts_many_at_logarithmic_cost() -> None:
    for n in (16, 100, 1000, 5000):
        for k in (1, n // 3, n // 2, n - 1):
            count = Counting()
            window = sash.Amta(count.monoid)
            window.insert_many([1] * n)
            assert (
                count.of(lambda w=window, k=k: w.evict_many(k)) <= 2 * math.ceil(math.log2(n)) + 2
            )
            assert window.query() == n - k


@pytest.mark.parametrize("n", [1, 2, 4, 8, 64, 256])
def test_flat_fat(n: int) -> None:
    source = random.Random(n)
    count = Counting()
    assert count.of(lambda: sash.FlatFat(count.monoid, [1] * n)) == n - 1
    fat = sash.FlatFat(count.monoid, [1] * n)
    assert count.of(fat.aggregate) == 0
    for place in range(n):
        assert count.of(lambda p=place: fat.prefix(p)) <= math.log2(n)
        assert count.of(lambda p=place: fat.suffix(p)) <= math.log2(n)
    for m in range(1, n + 1):
        for places in (source.sample(range(n), m), range(m), range(0, n, max(1, n // m))):
            changes = dict.fromkeys(places, 2)
            most = len(changes) * (1 + math.ceil(math.log2(n / len(changes))))
            assert count.of(lambda c=changes: fat.update(c)) <= min(most, max(n - 1, 0))


def test_reactive_aggregator() -> None:
    count = Counting()
    window = sash.ReactiveAggregator(count.monoid)
    for n in (8, 64, 1024):
        while len(window) < n:
            window.insert(1)
        window.query()
        assert count.of(lambda: window.insert(1)) + count.of(window.query) <= 4 * n  # it doubled
        assert count.of(window.evict) == 0
        for m in (1, 3, 7):
            for _ in range(m):
                window.evict()
                window.insert(1)
            changed = 2 * m
            most = changed * (1 + math.ceil(math.log2(2 * n / changed))) + 2 * math.log2(2 * n) + 1
            assert count.of(window.query) <= most
