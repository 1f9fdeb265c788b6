"""What golden snapshots are made of: how each is made, and what it is asked.

A golden file is a snapshot that some version of Sash wrote. Its answers were told by the window or
operator that it was taken of, not by one that was restored. So a case is made, saved and asked by
`tools/make_golden.py`, once for each format; and restored and asked again by the tests, for ever.
Values come from plain arithmetic, so that they are the same everywhere. To change a case is to
break the files that were made of it: add another one instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

import pyarrow as pa

import sash
from sash import agg

SUM = sash.monoid(lambda a, b: a + b, inverse=lambda s, e: s - e, name="golden_sum")
LONGEST = sash.monoid(max, lift=lambda v: (len(str(v)), [str(v)]), name="golden_longest")
OWN = sash.monoid(
    lambda a, b: a + b,
    lift=lambda v: complex(v, 1),
    lower=lambda s: (s.real, s.imag),
    dump=lambda s: f"{s.real.hex()} {s.imag.hex()}".encode(),
    load=lambda data: complex(*map(float.fromhex, data.decode().split())),
    name="golden_own",
)
AGGREGATES: dict[str, Callable[[], Any]] = {
    "sum_float": agg.sum,
    "sum_int": lambda: agg.sum(dtype=int),
    "max_float": agg.max,
    "variance": agg.variance,
    "counts": lambda: [agg.count(), agg.sum(dtype=int), agg.histogram([0.0, 4.0, 90.0])],
    "edges": lambda: [agg.first(dtype=int), agg.last(dtype=int), agg.nth_youngest(3, dtype=int)],
    "extremes": lambda: [agg.topk(2, dtype=int), agg.maxcount(dtype=int), agg.range(dtype=int)],
    "sketches": lambda: [
        agg.bloom(bits=64, hashes=2),
        agg.hll(lg_k=4),
        agg.countmin(width=4, depth=2),
    ],
    "text": lambda: agg.concat(separator="-"),
    "lists": lambda: [agg.collect(), agg.distinct()],
    "python": lambda: SUM,
    "python_states": lambda: LONGEST,
    "python_dump": lambda: OWN,
    "mixed": lambda: [agg.mean(), LONGEST],
}
INVERTIBLE = ("sum_int", "counts", "python")
IN_ORDER = (
    sash.Recalc, sash.SubtractOnEvict, sash.TwoStacks, sash.TwoStacksLite, sash.Daba, sash.DabaLite,
    sash.FlatFit, sash.Amta, sash.ReactiveAggregator,
)  # fmt: skip


def shown(value: Any) -> str:
    """Return an answer as text that tells any two apart, and is the same everywhere."""
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(map(shown, value)))}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, sash.sketches.Bloom):
        return value.data.hex()
    if isinstance(value, sash.sketches.CountMin):
        return str(value.counters.tolist())
    # What was restored may group entries otherwise, and floats round otherwise then.
    return f"{value:.12g}" if isinstance(value, float) else repr(value)


# ---- windows -------------------------------------------------------------------------------------


@dataclass
class WindowCase:
    """A window: twelve values, the sixth a null, with evictions in between."""

    kind: type[Any]
    aggregate: str
    inner: type[Any] | None = None
    made = "i for i in 0..11, but None for 5; after each third the oldest is evicted"

    @property
    def name(self) -> str:
        inner = "" if self.inner is None else f"_{self.inner.__name__}"
        return f"{self.kind.__name__}{inner}_{self.aggregate}"

    @property
    def timed(self) -> bool:
        return self.kind not in IN_ORDER

    def empty(self) -> Any:
        aggregate = AGGREGATES[self.aggregate]()
        return self.kind(aggregate) if self.inner is None else self.kind(aggregate, self.inner)

    def insert(self, window: Any, i: int) -> None:
        value = None if i == 5 else float(i) if "float" in self.aggregate else i
        window.insert(*((10 * i, value) if self.timed else (value,)))

    def make(self) -> Any:
        window = self.empty()
        for i in range(12):
            self.insert(window, i)
            if i % 3 == 2:
                window.evict()
        return window

    def save(self, window: Any) -> list[bytes]:
        return [window.snapshot()]

    def restore(self, saved: list[bytes]) -> Any:
        aggregate = AGGREGATES[self.aggregate]()
        if self.inner is None:
            return self.kind.restore(saved[0], aggregate)
        return self.kind.restore(saved[0], aggregate, self.inner)

    def ask(self, window: Any) -> Iterator[str]:
        """Use the window until nothing of it is left."""
        yield f"{len(window)} entries"
        yield shown(window.query())
        for i in range(12, 18):
            self.insert(window, i)
            yield shown(window.query())
        while len(window):
            window.evict()
            yield shown(window.query())


def window_cases() -> Iterator[WindowCase]:
    for structure in IN_ORDER:
        for name in INVERTIBLE if structure is sash.SubtractOnEvict else AGGREGATES:
            yield WindowCase(structure, name)
    for name in AGGREGATES:
        yield WindowCase(sash.FingerTree, name)
        yield WindowCase(sash.ClassicTree, name)
        yield WindowCase(sash.TimedWindow, name, sash.DabaLite)
    yield WindowCase(sash.TimedWindow, "sum_int", sash.TwoStacksLite)
    yield WindowCase(sash.TimedWindow, "mixed", sash.TwoStacks)


# ---- operators -----------------------------------------------------------------------------------


def _thirds(first: int, last: int) -> tuple[list[int], list[int]]:
    starts = [t for t in range(first // 30 * 30 - 30, last + 30, 30) if t + 30 > first]
    return starts, [t + 30 for t in starts]


WINDOWS: dict[str, Callable[[], list[Any]]] = {
    "fixed": lambda: [sash.tumbling(10), sash.sliding(25, 5, offset=3)],
    "sessions": lambda: [sash.session(4), sash.session(9), sash.tumbling(20)],
    "rolling": lambda: [sash.windows.rolling(15), sash.tumbling(10)],
    "counted": lambda: [
        sash.tumbling(rows=3), sash.sliding(rows=5, slide=2), sash.windows.rolling(rows=3),
    ],
    "cut": lambda: [
        sash.windows.delta("x", 6), sash.windows.punctuation("p"),
        sash.windows.split(lambda times: times[1:] - times[:-1] > 5),
    ],
    "calendar": lambda: [sash.windows.calendar(_thirds), sash.session(3)],
}  # fmt: skip
KEYS: dict[str, list[str]] = {
    "none": [], "text": ["k"], "int": ["n"], "float": ["f"], "several": ["k", "n", "d"],
}  # fmt: skip
OPERATOR_AGGREGATES: dict[str, Callable[[], list[Any]]] = {
    "scalar": lambda: [agg.sum("x")],
    "native": lambda: [agg.sum("x"), agg.mean("y"), agg.argmax("y", "x"), agg.hll("x", lg_k=4)],
    "python": lambda: [agg.concat("x", separator="-"), agg.count(), agg.collect("y")],
}


ROWS = 10


def batch(number: int) -> pa.Table:
    """Ten rows, a few of them late for the batch before, and fewer too late."""
    steps = [(i * 7919 + number * 104729) % 1009 for i in range(ROWS)]
    ages = [37 if s % 19 == 0 else 90 if s % 31 == 0 else 0 for s in steps]
    moments = zip(range(ROWS), steps, ages, strict=True)
    times = [number * 60 + i * 6 + s % 4 - age for i, s, age in moments]
    return pa.table(
        {
            "t": pa.array(times, pa.int64()),
            "x": pa.array([None if s % 13 == 0 else s % 10 for s in steps], pa.int64()),
            "y": pa.array([s / 8 for s in steps], pa.float64()),
            "p": pa.array([s % 5 == 0 for s in steps], pa.bool_()),
            "k": pa.array([f"key {s % 3}" for s in steps], pa.string()),
            "n": pa.array([s % 4 - 2 for s in steps], pa.int32()),
            "f": pa.array([(s % 3) / 2 for s in steps], pa.float64()),
            "d": pa.array([s % 2 for s in steps], pa.int32()).cast(pa.date32()),
        }
    )


@dataclass
class OperatorCase:
    """An operator: a snapshot, and the changes of two batches after it."""

    windows: str
    keys: str
    aggregate: str
    emit: str = "complete"
    made = "a snapshot after batch 0, then changes after batches 1 and 2, each after advance"

    @property
    def name(self) -> str:
        return f"operator_{self.windows}_{self.keys}_{self.aggregate}_{self.emit}"

    def empty(self) -> sash.WindowOperator:
        return sash.WindowOperator(
            on="t", by=KEYS[self.keys], windows=WINDOWS[self.windows](),
            aggs=OPERATOR_AGGREGATES[self.aggregate](), lateness=40, emit=self.emit,
        )  # fmt: skip

    def make(self) -> sash.WindowOperator:
        op = self.empty()
        self.saved: list[bytes] = []
        for number in range(3):
            op.process(batch(number))
            op.advance(number * 60 + 40)
            self.saved.append(op.changes())
        return op

    def save(self, op: sash.WindowOperator) -> list[bytes]:
        return self.saved

    def restore(self, saved: list[bytes]) -> sash.WindowOperator:
        op = self.empty()
        op.restore(*saved)
        return op

    def ask(self, op: sash.WindowOperator) -> Iterator[str]:
        """Go on with the stream, and finish it."""
        yield f"{op.rows} rows, {op.late_rows} late, {op.keys} keys, {op.slices} slices"
        yield from rows_of(op.windows() if not KEYS[self.keys] else op.key_table())
        yield from rows_of(op.process(batch(3)))
        yield from rows_of(op.advance(230))
        yield from rows_of(op.finish())


def rows_of(table: pa.Table) -> list[str]:
    """Return the rows of a table, in an order of their own."""
    rows = [", ".join(f"{n}={shown(v)}" for n, v in row.items()) for row in table.to_pylist()]
    return sorted(rows)


def operator_cases() -> Iterator[OperatorCase]:
    for windows in WINDOWS:
        yield OperatorCase(windows, "text", "native")
        yield OperatorCase(windows, "none", "python")
    for keys in KEYS:
        yield OperatorCase("fixed", keys, "scalar", "changelog")
    yield OperatorCase("sessions", "int", "native", "updates")
    yield OperatorCase("counted", "several", "scalar", "updates")


Case = WindowCase | OperatorCase
CASES: dict[str, Case] = {case.name: case for case in (*window_cases(), *operator_cases())}
