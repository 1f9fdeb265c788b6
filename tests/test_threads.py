"""Threads: what shares an object is refused or right, what does not is never disturbed."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import STRUCTURES, named
from test_tree_machine import TREES

import sash
from sash import TimedWindow, agg
from sash.structures import Window
from sash.trees import Tree

SUM = agg.sum(dtype=int)
ONES = np.ones(400_000, np.int64)
START = 20_000
PATIENCE = 60.0  # seconds in which two threads must have met; they meet within a few milliseconds


@pytest.fixture(autouse=True)
def switching() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*works: Callable[[], None]) -> None:
    """Run functions in threads that begin at once; raise what they raise."""
    barrier = threading.Barrier(len(works))
    errors: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        barrier.wait()
        try:
            work()
        except BaseException as error:  # shown by the thread that waits
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class Refusals:
    """Calls that another thread's use of the same object may refuse."""

    def __init__(self) -> None:
        self.count = 0

    def allow(self, call: Callable[[], Any]) -> Any:
        """Return what the call does, or None when it was refused."""
        try:
            return call()
        except RuntimeError as error:
            if "in use by another call" not in str(error):
                raise
            self.count += 1
            return None


def met(long: Callable[[], Any], short: Callable[[], Any]) -> None:
    """Run both again and again, each in a thread, until one was refused during the other."""
    refusals = [Refusals(), Refusals()]
    end = time.monotonic() + PATIENCE

    def work(i: int, call: Callable[[], Any]) -> Callable[[], None]:
        def repeat() -> None:
            while not any(r.count for r in refusals) and time.monotonic() < end:
                refusals[i].allow(call)

        return repeat

    together(work(0, long), work(1, short))
    assert any(r.count for r in refusals), "no call was ever refused: they never met"


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_a_window_of_several_threads(structure: type[Window]) -> None:
    """The sum of ones is the number of those that are there, whoever came first."""
    window = structure(SUM)
    window.insert_many(ONES[:START])  # so that no eviction finds it empty
    inserted, evicted, refusals = [0, 0], [0, 0], [Refusals() for _ in range(3)]

    def mover(i: int) -> Callable[[], None]:
        def work() -> None:
            for n in range(40):
                size = 1 + 97 * n % 401
                if refusals[i].allow(lambda: (window.insert_many(ONES[:size]), 1)):  # noqa: B023
                    inserted[i] += size
                size //= 2
                if refusals[i].allow(lambda: (window.evict_many(size), 1)):  # noqa: B023
                    evicted[i] += size

        return work

    def reader() -> None:
        for _ in range(20):
            found = refusals[2].allow(window.query)
            assert found is None or 0 <= found <= START + 2 * 40 * 401
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


def slow_sum() -> sash.Aggregate:
    """A Python function that lets other threads go on."""

    def combine(a: int, b: int) -> int:
        time.sleep(0.001)
        return a + b

    return sash.monoid(combine, name="slow", inverse=lambda s, e: s - e)


MADE: dict[str, Callable[[], tuple[Any, Callable[[], Any]]]] = {
    "DabaLite": lambda: (w := sash.DabaLite(slow_sum()), lambda: (w.insert(1), w.query())),
    "FingerTree": lambda: (
        w := sash.FingerTree(slow_sum()),
        lambda: (w.insert(len(w) % 50, 1), w.query()),
    ),
    "TimedWindow": lambda: (w := TimedWindow(slow_sum()), lambda: (w.insert(1, 1), w.query())),
    "FlatFat": lambda: (
        w := sash.FlatFat(slow_sum(), [1] * 8),
        lambda: (w.update({3: 1}), w.aggregate()),
    ),
    "ReactiveAggregator": lambda: (
        w := sash.ReactiveAggregator(slow_sum()),
        lambda: (w.insert(1), w.query()),
    ),
}


@pytest.mark.parametrize("kind", MADE)
def test_python_functions_let_others_be_refused(kind: str) -> None:
    window, call = MADE[kind]()
    met(call, call)
    window.check_invariants()
    if kind == "FlatFat":
        assert window.aggregate() == 8
    elif kind != "FingerTree":
        assert window.query() == len(window)


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


# ---- different objects that share an aggregate ----------------------------------------------------
SHARED: dict[str, sash.Aggregate] = {
    "native": agg.max("x"),
    "record": agg.topk(5, "x"),
    "Python": sash.monoid(max, name="largest").on("x"),
    "order": agg.nth_youngest(3, "x"),
}


@pytest.mark.parametrize("kind", SHARED)
def test_one_aggregate_in_many_threads(kind: str) -> None:
    shared = SHARED[kind]
    n = 1500 if kind == "Python" else 30_000
    x = np.random.default_rng(1).integers(0, 1000, n).astype(float)
    table = pa.table({"t": np.arange(n), "k": np.arange(n) % 7, "x": x})
    plain = shared.on(None)

    def work() -> list[Any]:
        op = sash.WindowOperator(on="t", by="k", windows=sash.tumbling(100), aggs=shared)
        op.process(table)
        tree = sash.FingerTree(plain)
        tree.bulk_insert(np.arange(n), x)
        window = sash.DabaLite(plain)
        slid = window.slide(x, 50)
        return [
            sash.rolling(table, on="t", by="k", window=40, aggs=[shared, agg.median("x")]),
            op.finish(),
            slid.tolist() if isinstance(slid, np.ndarray) else slid,
            str(tree.query()),
            window.snapshot(),
        ]

    wanted = work()
    found: list[list[Any]] = []
    together(*[lambda: found.append(work())] * 3)
    for each in found:
        assert str(each) == str(wanted)


# ---- inputs that change or go away ------------------------------------------------------------------
def test_inputs_are_kept_alive() -> None:
    """Nothing refers to them but the call; another thread collects and fills what was free."""
    stop = threading.Event()

    def collect() -> None:
        while not stop.is_set():
            gc.collect(0)
            np.full(50_000, 7.0)

    def work() -> None:
        try:
            for i in range(15):
                n = 50_000
                assert (sash.DabaLite(agg.max()).slide(np.full(n, float(i)), 10) == i).all()
                tree = sash.FingerTree(agg.max())
                tree.bulk_insert(np.arange(n), np.full(n, float(i)))
                assert tree.query() == i
                out = sash.rolling(
                    pa.table({"t": np.arange(n), "x": np.full(n, float(i))}),
                    on="t", window=9, aggs=[agg.max("x"), agg.median("x")],
                )  # fmt: skip
                assert out["max_x"].to_numpy().max() == out["median_x"].to_numpy().min() == i
                op = operator()
                op.process(batch(n, i))
                assert op.rows == n
        finally:
            stop.set()

    together(work, collect)


SCRIBBLE = """
import threading, numpy as np, pyarrow as pa, sash, sys
from sash import agg
sys.setswitchinterval(1e-6)
n = 20_000
times, values = np.arange(n), np.ones(n)
keys = (np.arange(n) % 50).astype(np.int64)
stop = threading.Event()

def scribble():
    source = np.random.default_rng(1)
    while not stop.is_set():
        at = source.integers(0, n, 1000)
        times[at] = source.integers(-2**62, 2**62, 1000)
        values[at] = source.normal(size=1000)
        keys[at] = source.integers(-2**62, 2**62, 1000)
        times[:] = np.arange(n)

def table():
    return pa.table({"t": times, "k": keys, "x": values})

def bulk():
    tree = sash.FingerTree(agg.sum())
    for _ in range(3):
        tree.bulk_insert(times, values)
        tree.bulk_insert(times[::7], values[::7])
    tree.bulk_evict(n // 2)
    tree.check_invariants()

def timed():
    window = sash.TimedWindow(agg.max())
    window.insert_many(times, values)
    window.check_invariants()

def slide():
    sash.FingerTree(agg.max()).slide(times, values, rows=100)
    sash.TwoStacks([agg.sum(), agg.topk(3)]).slide(values, 100)

def roll():
    for order in ("event", "arrival"):
        sash.rolling(table(), on="t", by="k", window=50, aggs=[agg.max("x"), agg.median("x")], order=order)
    sash.rolling(table(), on="t", window=50, aggs=[agg.count_distinct("k"), agg.mean("x"), agg.bloom("x")])

def process():
    op = sash.WindowOperator(on="t", by="k", windows=[sash.tumbling(999), sash.session(5), sash.sliding(rows=9, slide=3)],
                             aggs=[agg.sum("x"), agg.nth_youngest(2, "x")], lateness=2**60)
    op.process(table())
    op.process(table())
    op.snapshot()

thread = threading.Thread(target=scribble)
thread.start()
done = 0
try:
    for call in (bulk, timed, slide, roll, process):
        for _ in range(4):
            try:
                call()
                done += 1
            except (ValueError, OverflowError):
                pass
finally:
    stop.set()
    thread.join()
print("alive", done)
"""


def test_inputs_that_are_written_to_meanwhile() -> None:
    """What comes out is of either value; nothing crashes, and no structure is damaged."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIBBLE], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout[:5]) == (0, "alive"), done.stderr[-1000:]
