"""How often each structure combines in fixed workloads, counted by a monoid in Python.

The counts are whole numbers that depend on nothing but the algorithms. Workloads of the same name
in ``cpp/bench_guard`` do the same operations on the same times.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

import sash
from sash.structures import Window
from sash.trees import Tree

ROWS, ROUNDS = 1024, 8192  # of a window in order
ENTRIES, TREE_ROUNDS, BULK, BULKS, LATE = 16384, 4096, 1024, 16, 1024
SECOND = 1000


@dataclass(frozen=True)
class Combined:
    """The combines of one workload, by what was called; filling is not one of its operations."""

    operations: int
    combines: dict[str, int]


class Tally:
    """A sum that counts its combines under the name of what is going on."""

    def __init__(self, commutative: bool = True) -> None:
        self.now = "fill"
        self.combines: Counter[str] = Counter()
        self.monoid = sash.monoid(
            self._combine, inverse=self._inverse, identity=0, commutative=commutative, returns=int
        )

    def _combine(self, a: int, b: int) -> int:
        self.combines[self.now] += 1
        return a + b

    def _inverse(self, state: int, entry: int) -> int:
        self.combines[self.now] += 1
        return state - entry

    def of(self, operations: int) -> Combined:
        """Return what was counted."""
        return Combined(operations, dict(sorted(self.combines.items())))


class Random:
    """The same numbers on every machine, those of ``cpp/bench_guard``."""

    def __init__(self) -> None:
        self._state = 1

    def below(self, limit: int) -> int:
        """Return the next one."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state >> 33) % limit


def arrivals(late: int) -> Iterator[int]:
    """Yield the times of rows as they arrive, each late by up to so many rows; none twice."""
    random = Random()
    for i in itertools.count():
        yield (i - random.below(late + 1)) * 8192 + i % 8192


def in_order(
    structure: type[Window], commutative: bool = True, step: int = 1, rounds: int = ROUNDS
) -> Combined:
    """Evict the oldest and insert one, so many times, with a query after every step of them."""
    tally = Tally(commutative)
    window = structure(tally.monoid)
    window.insert_many([1] * ROWS)
    for i in range(ROWS, ROWS + rounds):
        tally.now = "evict"
        window.evict()
        tally.now = "insert"
        window.insert(1)
        tally.now = "query"
        if i % step == 0 and window.query() != ROWS:
            raise AssertionError(f"{structure.__name__}: wrong sum")
    return tally.of(rounds)


def places() -> Combined:
    """Overwrite 16 of 1,024 places, and ask for a suffix."""
    tally = Tally()
    fat = sash.FlatFat(tally.monoid, [1] * ROWS)
    rounds = 512
    for i in range(0, rounds * 16, 16):
        tally.now = "update"
        fat.update({(i + k) % ROWS: 1 for k in range(16)})
        tally.now = "suffix"
        place = (i + 16) % 1000
        if fat.suffix(place) != ROWS - place:
            raise AssertionError("FlatFat: wrong sum")
    return tally.of(rounds)


def by_time() -> Combined:
    """Slide a window by time."""
    tally = Tally()
    window = sash.TimedWindow(tally.monoid)
    tally.now = "slide"
    if window.slide(range(0, 4 * ROUNDS, 4), [1] * ROUNDS, 4 * ROWS)[-1] != ROWS:
        raise AssertionError("TimedWindow: wrong sum")
    return tally.of(ROUNDS)


def filled(structure: type[Tree], tally: Tally, times: Iterator[int]) -> Tree:
    """Return a tree of the first times, one by one."""
    tree = structure(tally.monoid)
    for _ in range(ENTRIES):
        tree.insert(next(times), 1)
    return tree


def tree_rounds(structure: type[Tree], late: int, commutative: bool = True) -> Combined:
    """Evict the oldest, insert one and ask for all, so many times."""
    tally, times = Tally(commutative), arrivals(late)
    tree = filled(structure, tally, times)
    for _ in range(TREE_ROUNDS):
        tally.now = "evict"
        tree.evict()
        tally.now = "insert"
        tree.insert(next(times), 1)
        tally.now = "query"
        if tree.query() != ENTRIES:
            raise AssertionError(f"{structure.__name__}: wrong sum")
    return tally.of(TREE_ROUNDS)


def tree_bulks(structure: type[Tree], late: int, commutative: bool = True) -> Combined:
    """Evict the oldest 1,024 at once, insert as many at once and ask for all."""
    tally, times = Tally(commutative), arrivals(late)
    tree = filled(structure, tally, times)
    for _ in range(BULKS):
        kept = [time for time, _ in tree]
        tally.now = "evict"
        tree.bulk_evict(kept[BULK - 1])
        tally.now = "insert"
        tree.bulk_insert(sorted(next(times) for _ in range(BULK)), [1] * BULK)
        tally.now = "query"
        if tree.query() != ENTRIES:
            raise AssertionError(f"{structure.__name__}: wrong sum")
    return tally.of(BULKS * BULK)


def tree_parts(structure: type[Tree]) -> Combined:
    """Ask for what is between two random entries."""
    tally, random = Tally(), Random()
    tree = structure(tally.monoid)
    for i in range(ENTRIES):
        tree.insert(i, 1)
    tally.now = "query"
    for _ in range(TREE_ROUNDS):
        first, last = sorted((random.below(ENTRIES), random.below(ENTRIES)))
        if tree.query(first, last) != last - first + 1:
            raise AssertionError(f"{structure.__name__}: wrong sum")
    return tally.of(TREE_ROUNDS)


def stream(keys: int) -> pa.Table:
    """Return rows as they arrive, each fifth of them late by up to two seconds."""
    random, rows = Random(), range(16384)
    # A time and a key in turns, as they are drawn there.
    drawn = [(random.below(2 * SECOND) if i % 5 == 0 else 0, random.below(keys)) for i in rows]
    times = [10 * i - late for i, (late, _) in zip(rows, drawn, strict=True)]
    return pa.table({"t": times, "k": [key for _, key in drawn], "x": [1] * len(rows)})


def operator(windows: list[sash.windows.Window], keys: int, covers: int) -> Combined:
    """Process a stream batch by batch; each row is in so many windows."""
    tally, table = Tally(), stream(keys)
    op = sash.WindowOperator(
        on="t", by="k", windows=windows, aggs=tally.monoid.on("x"), delay=2 * SECOND
    )
    tally.now = "process"
    told = [op.process(table.slice(i, 1024)) for i in range(0, table.num_rows, 1024)]
    tally.now = "finish"
    told.append(op.finish())
    if sum(sum(part["monoid_x"].to_pylist()) for part in told) != covers * table.num_rows:
        raise AssertionError("WindowOperator: wrong sum")
    return tally.of(table.num_rows)


def rolling(order: str) -> Combined:
    """Aggregate the last ten seconds of each row."""
    tally, table = Tally(), stream(1)
    tally.now = "rolling"
    aggs = tally.monoid.on("x").alias("sum")
    out = sash.rolling(table, on="t", window=10 * SECOND, aggs=aggs, order=order, threads=1)
    times = np.asarray(table["t"])
    last = times.argmax()  # by then all rows but a few of the last are there
    inside = times[: last + 1] if order == "arrival" else times
    if out["sum"][int(last)].as_py() != (inside > times.max() - 10 * SECOND).sum():
        raise AssertionError("rolling: wrong sum")
    return tally.of(table.num_rows)


def _workloads() -> dict[str, Callable[[], Combined]]:
    fifo = [sash.SubtractOnEvict, sash.TwoStacks, sash.TwoStacksLite, sash.Daba, sash.DabaLite]
    fifo += [sash.FlatFit, sash.Amta, sash.ReactiveAggregator]
    many = [sash.tumbling(i * SECOND) for i in range(1, 21)] + [sash.session(SECOND // 20)]
    all_of: dict[str, Callable[[], Combined]] = {
        "Recalc: in order": partial(in_order, sash.Recalc, rounds=256),
        **{f"{s.__name__}: in order": partial(in_order, s) for s in fifo},
        **{
            f"{s.__name__}: in order, not commutative": partial(in_order, s, commutative=False)
            for s in (sash.TwoStacksLite, sash.DabaLite)
        },
        "ReactiveAggregator: 64 changes per query": partial(
            in_order, sash.ReactiveAggregator, step=32
        ),
        "FlatFat: 16 of 1,024 places": places,
        "TimedWindow: by time": by_time,
    }
    for tree in (sash.FingerTree, sash.ClassicTree):
        for late, how in ((0, "in order"), (LATE, "late")):
            for commutative, law in ((True, ""), (False, ", not commutative")):
                one, bulk = f"{tree.__name__}: {how}{law}", f"{tree.__name__}: bulks {how}{law}"
                all_of[one] = partial(tree_rounds, tree, late, commutative)
                all_of[bulk] = partial(tree_bulks, tree, late, commutative)
        all_of[f"{tree.__name__}: parts"] = partial(tree_parts, tree)
    return all_of | {
        "WindowOperator: 20 tumbling and sessions": partial(operator, many, 1, 21),
        "WindowOperator: sliding": partial(
            operator, [sash.sliding(60 * SECOND, SECOND // 10)], 1, 600
        ),
        "WindowOperator: 1,000 keys": partial(operator, [sash.tumbling(20 * SECOND)], 1000, 1),
        "rolling: by event time": partial(rolling, "event"),
        "rolling: by arrival": partial(rolling, "arrival"),
    }


WORKLOADS = _workloads()


def measure() -> dict[str, Combined]:
    """Run all workloads."""
    return {name: run() for name, run in WORKLOADS.items()}
