"""Threads: what shares an object is refused or right, what does not is never disturbed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import STRUCTURES, named
from patience import PATIENCE
from test_tree_machine import TREES
from threads import Refusals, met, together

import sash
from sash import TimedWindow, agg
from sash.structures import Window
from sash.trees import Tree

SUM = agg.sum(dtype=int)
ONES = np.ones(400_000, np.int64)
START = 8_000


@pytest.fixture(autouse=True)
def switching() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_a_window_of_several_threads(structure: type[Window]) -> None:
    """The sum of ones is the number of those that are there, whoever came first."""
    window = structure(SUM)
    window.insert_many(ONES[:START])  # so that no eviction finds it empty
    inserted, evicted, refusals = [0, 0], [0, 0], [Refusals() for _ in range(3)]

    def mover(i: int) -> Callable[[], None]:
        def work() -> None:
            for n in range(40):
                size = 1 + 97 * n % 201
                if refusals[i].allow(lambda: (window.insert_many(ONES[:size]), 1)):  # noqa: B023
                    inserted[i] += size
                size //= 2
                if refusals[i].allow(lambda: (window.evict_many(size), 1)):  # noqa: B023
                    evicted[i] += size

        return work

    def reader() -> None:
        for _ in range(20):
            found = refusals[2].allow(window.query)
            assert found is None or 0 <= found <= START + 2 * 40 * 201
            data = refusals[2].allow(window.snapshot)
            if data is not None:
                restored = structure.restore(data, SUM)
                assert restored.query() == len(restored)

    together(mover(0), mover(1), reader)
    window.check_invariants()
    assert len(window) == START + sum(inserted) - sum(evicted)
    assert window.query() == len(window)


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_a_column_call_refuses_others_meanwhile(structure: type[Window]) -> None:
    window = structure(SUM)
    met(lambda: window.slide(ONES, 100), window.query)
    window.check_invariants()
    assert (window.query() or 0) == len(window) in (0, 100)


def test_times_of_several_threads() -> None:
    window = TimedWindow(SUM)
    now = np.zeros(len(ONES), np.int64)
    met(lambda: window.slide(now, ONES, 5), lambda: window.bulk_evict(-1))
    window.check_invariants()
    assert (window.query() or 0) == len(window)


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_a_tree_of_several_threads(structure: type[Tree]) -> None:
    tree = structure(SUM)
    numbers = iter(range(10**9))
    refusals = [Refusals() for _ in range(3)]
    inserted: list[np.ndarray[Any, Any]] = []

    def bulks() -> None:
        for _ in range(40):
            times = np.arange(3000) * 1000 + next(numbers)
            if refusals[0].allow(lambda: (tree.bulk_insert(times, ONES[:3000]), 1)):  # noqa: B023
                inserted.append(times)

    def singles() -> None:
        for _ in range(2000):
            t = 500_000 + next(numbers) % 100
            if refusals[1].allow(lambda: (tree.insert(3 * t, 1), tree.evict(3 * t))):  # noqa: B023
                continue

    def questions() -> None:
        for _ in range(300):
            found = refusals[2].allow(lambda: tree.query(0, 10**9))
            assert found is None or 0 <= found <= 40 * 3000 + 2000

    together(bulks, singles, questions)
    tree.check_invariants()
    kept = dict(tree)
    for times in inserted:
        assert all(t in kept for t in times.tolist() if t % 3 or t < 1_500_000 or t > 1_500_400)
    assert tree.query() == sum(kept.values())


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_a_bulk_refuses_others_meanwhile(structure: type[Tree]) -> None:
    tree = structure(SUM)
    times = np.arange(200_000)
    met(lambda: tree.bulk_insert(times, ONES[:200_000]), tree.query)
    tree.check_invariants()
    assert len(tree) in (0, 200_000)
    assert (tree.query() or 0) % 200_000 == 0


def test_tickets_are_not_given_twice() -> None:
    window = sash.ReactiveAggregator(SUM)
    tickets: list[list[int]] = [[], [], []]

    def work(i: int) -> Callable[[], None]:
        return lambda: tickets[i].extend(window.insert(1) for _ in range(5000))

    together(*map(work, range(3)))
    assert sorted(t for each in tickets for t in each) == list(range(15_000))
    assert window.query() == 15_000


class Held:
    """Sums by a Python function that, once it is armed, waits until another thread was refused."""

    def __init__(self) -> None:
        self.armed = False
        self.inside, self.refused = Event(), Event()
        self.sum = sash.monoid(self._combine, name="held", inverse=lambda s, e: s - e)

    def _combine(self, a: int, b: int) -> int:
        if self.armed:
            self.inside.set()
            assert self.refused.wait(PATIENCE), "nobody was refused while this call went on"
        return a + b


Made = tuple[Any, Callable[[], Any]]
MADE: dict[str, Callable[[sash.Aggregate], Made]] = {
    "DabaLite": lambda held: (w := sash.DabaLite(held), lambda: (w.insert(1), w.query())),
    "FingerTree": lambda held: (
        w := sash.FingerTree(held),
        lambda: (w.insert(len(w) % 50, 1), w.query()),
    ),
    "TimedWindow": lambda held: (w := TimedWindow(held), lambda: (w.insert(1, 1), w.query())),
    "FlatFat": lambda held: (
        w := sash.FlatFat(held, [1] * 8),
        lambda: (w.update({3: 1}), w.aggregate()),
    ),
    "ReactiveAggregator": lambda held: (
        w := sash.ReactiveAggregator(held),
        lambda: (w.insert(1), w.query()),
    ),
}


@pytest.mark.parametrize("kind", MADE)
def test_python_functions_let_others_be_refused(kind: str) -> None:
    held = Held()
    window, call = MADE[kind](held.sum)
    for _ in range(10):
        call()
    held.armed = True

    def other() -> None:
        assert held.inside.wait(PATIENCE), "the call never came to its function"
        try:
            with pytest.raises(RuntimeError, match="in use by another call"):
                call()
        finally:
            held.refused.set()

    together(call, other)
    window.check_invariants()
    if kind == "FlatFat":
        assert window.aggregate() == 8
    else:
        assert window.query() == 11


def operator() -> sash.WindowOperator:
    return sash.WindowOperator(
        on="t", by="k", windows=[sash.tumbling(1000), sash.session(50)], lateness=10**9,
        aggs=[agg.count(), agg.sum("x").alias("sum")],
    )  # fmt: skip


def batch(n: int, start: int) -> pa.Table:
    return pa.table(
        {
            "t": start + np.arange(n) % 2000,
            "k": np.char.mod("key %d", np.arange(n) % 100) if n < 10_000 else np.arange(n) % 100,
            "x": np.ones(n, np.int64),
        }
    )


def test_an_operator_of_several_threads() -> None:
    op = operator()
    op.process(batch(100, 0))
    taken, refusals = [100, 0, 0], [Refusals() for _ in range(3)]
    told: list[list[pa.Table]] = [[], [], []]

    def feed(i: int) -> Callable[[], None]:
        def work() -> None:
            for n in range(60):
                rows = 50 + 7 * n
                found = refusals[i].allow(lambda: op.process(batch(rows, 100 * n)))  # noqa: B023
                if found is not None:
                    told[i].append(found)
                    taken[i] += rows

        return work

    def ask() -> None:
        for n in range(60):
            calls: list[Callable[[], Any]] = [
                lambda: op.advance(40 * n),  # noqa: B023
                lambda: op.query("key 1"),
                lambda: op.windows("key 2"),
                op.snapshot,
                op.changes,
                op.key_table,
                lambda: (op.rows, op.keys, op.nbytes, op.watermark),
            ]
            for call in calls:
                found = refusals[2].allow(call)
                if call is calls[0] and found is not None:
                    told[2].append(found)

    together(feed(0), feed(1), ask)
    assert op.rows == sum(taken)
    again = operator()
    again.restore(op.snapshot())
    last = op.finish()
    assert again.finish() == last
    rows = pa.concat_tables([t for each in told for t in each] + [last], promote_options="default")
    assert rows.num_rows > 0


def test_a_batch_refuses_others_meanwhile() -> None:
    op = operator()
    large = batch(200_000, 0)
    op.process(large)
    met(lambda: op.process(large), op.snapshot)
    assert op.rows % 200_000 == 0
    found = op.finish()
    of_tumbling = found.filter(
        pa.array([w.startswith("tumbling") for w in found["window"].to_pylist()])
    )
    assert sum(of_tumbling["count"].to_pylist()) == op.rows
    assert of_tumbling["count"] == of_tumbling["sum"]


def test_what_is_told_goes_to_one_thread() -> None:
    """Each window complete is told once, to the thread whose batch completed it."""
    op = sash.WindowOperator(
        on="t", windows=sash.tumbling(10), aggs=agg.count(), delay=0, lateness=0
    )
    op.process(pa.table({"t": [0]}))
    numbers = iter(range(1, 10**9))
    told: list[pa.Table] = []
    refusals = [Refusals(), Refusals()]

    def work(i: int) -> Callable[[], None]:
        def feed() -> None:
            for _ in range(300):
                t = 10 * next(numbers)
                found = refusals[i].allow(lambda: op.process(pa.table({"t": [t]})))  # noqa: B023
                if found is not None:
                    told.append(found)

        return feed

    together(work(0), work(1))
    told.append(op.finish())
    starts = [t for table in told for t in table["window_start"].to_pylist()]
    assert len(starts) == len(set(starts)) == op.rows
