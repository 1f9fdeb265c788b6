"""The window operator against brute force, through everything that may happen to it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from depth import examples
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import sash
from sash import agg
from tests.operator_oracle import Downstream, Model, Row

TIMES = st.integers(-60, 60)
LENGTHS = st.integers(1, 25)


def shifts(first: int, last: int) -> tuple[list[int], list[int]]:
    """Overlapping windows of changing length: [10k, 10k + 4), [10k + 4, 10k + 13)."""
    tens = range(first // 10 * 10 - 20, last + 20, 10)
    starts = [t for ten in tens for t in (ten, ten + 4)]
    return starts, [t for ten in tens for t in (ten + 4, ten + 13)]


BY_ROWS = ["count", "last", "delta", "punctuation", "split"]
KINDS = ["tumbling", "sliding", "session", "session", "session", "rolling", "calendar", *BY_ROWS]


@st.composite
def by_rows(draw: Any, kind: str, name: str) -> sash.windows.Window:
    rows = draw(st.integers(1, 5))
    if kind == "count":
        return sash.sliding(rows=rows, slide=draw(st.integers(1, rows)), name=name)
    if kind == "last":
        return sash.windows.rolling(rows=rows, name=name)
    if kind == "delta":
        return sash.windows.delta("x", draw(st.integers(1, 6)), name=name)
    if kind == "punctuation":
        return sash.windows.punctuation("high", name=name)
    return sash.windows.split(lambda _, low: low[1:] != low[:-1], "low", name=name)


@st.composite
def one_window(draw: Any, name: str) -> sash.windows.Window:
    kind = draw(st.sampled_from(KINDS))
    size = draw(LENGTHS)
    if kind in BY_ROWS:
        return draw(by_rows(kind, name))
    if kind == "tumbling":
        return sash.tumbling(size, offset=draw(st.integers(-30, 30)), name=name)
    if kind == "sliding":
        slide = draw(st.integers(1, size))
        return sash.sliding(size, slide, offset=draw(st.integers(-30, 30)), name=name)
    if kind == "session":
        return sash.session(size, name=name)
    if kind == "rolling":
        return sash.windows.rolling(size, name=name)
    return sash.windows.calendar(shifts, name=name)


def rows_in_order() -> sash.Aggregate:
    return sash.monoid(lambda a, b: a + b, lift=lambda v: [v], name="rows").on("x")


def python_sum() -> sash.Aggregate:
    return sash.monoid(lambda a, b: a + b, name="add", commutative=True).on("x")


# What is aggregated, and the same by brute force: a tuple of the results.
AGGREGATES: dict[str, tuple[Any, Any]] = {
    "sum": (agg.sum("x"), lambda v: (sum(v),)),
    "three": ([agg.max("x"), agg.count(), agg.sum("x")], lambda v: (max(v), len(v), sum(v))),
    "last": ([agg.last("x"), agg.count()], lambda v: (v[-1], len(v))),
    "in order": (rows_in_order(), lambda v: (v,)),
    "Python, commutative": (python_sum(), lambda v: (sum(v),)),
    "mixed": ([rows_in_order(), agg.sum("x")], lambda v: (v, sum(v))),
}
KEYS = {"ints": [1, 2, 3], "strings": ["a", "b", "c"], "none": [None]}


def _sorted(told: dict[Any, list[Any]]) -> dict[Any, list[Any]]:
    return {place: sorted(values) for place, values in told.items()}


class OperatorMachine(RuleBasedStateMachine):
    @initialize(data=st.data())
    def start(self, data: st.DataObject) -> None:
        windows = [
            data.draw(one_window(f"w{i}")) for i in range(data.draw(st.integers(1, 4), "windows"))
        ]
        self.named = len(windows)
        what = data.draw(st.sampled_from(sorted(AGGREGATES)), "aggregate")
        self.aggs, fold = AGGREGATES[what]
        many = self.aggs if isinstance(self.aggs, list) else [self.aggs]
        self.values = [a.output for a in many]
        self.keys = KEYS[data.draw(st.sampled_from(sorted(KEYS)), "keys")]
        lateness = data.draw(st.sampled_from([0, 3, 20, 200]), "lateness")
        delay = data.draw(st.sampled_from([None, None, 0, 7]), "delay")
        self.emit = data.draw(st.sampled_from(["complete", "updates", "changelog"]), "emit")
        self.store = data.draw(st.sampled_from(["lazy", "eager", "auto"]), "store")
        self.model = Model(fold, [(w, None) for w in windows], lateness, delay)
        self.downstream = Downstream(self.emit)
        self.late: list[Any] = []
        self.removed = False
        self.op = self.new()
        self.saved: list[bytes] = []

    def new(self) -> sash.WindowOperator:
        return sash.WindowOperator(
            on="t",
            by=None if self.keys == [None] else "k",
            windows=[w for w, _ in self.model.windows],
            aggs=self.aggs,
            lateness=self.model.lateness,
            delay=self.model.delay,
            emit=self.emit,
            store=self.store,
            on_late=lambda table: self.late.extend(table.to_pylist()),
        )

    def read(self, told: pa.Table) -> None:
        names = {w.name for w, _ in self.model.windows if w.by_rows}
        self.downstream.read(told, self.values, None if self.keys == [None] else "k", names)

    @rule(data=st.data())
    def process(self, data: st.DataObject) -> None:
        size = data.draw(st.integers(0, 12), "rows")
        times = data.draw(st.lists(TIMES, min_size=size, max_size=size), "times")
        rows = [
            Row(data.draw(st.sampled_from(self.keys)), t, data.draw(st.integers(-5, 5)))
            for t in times
        ]
        kind = pa.string() if "a" in self.keys else pa.int64()
        table = pa.table(
            {
                "k": pa.array([r.key for r in rows], kind),
                "t": pa.array([r.t for r in rows], pa.int64()),
                "x": pa.array([r.x for r in rows], pa.int64()),
                "high": pa.array([r.x > 3 for r in rows], pa.bool_()),
                "low": pa.array([r.x < 0 for r in rows], pa.bool_()),
            }
        )
        self.read(self.op.process(table))
        self.model.process(rows)

    @rule(by=st.integers(-5, 30), jump=st.booleans())
    def advance(self, by: int, jump: bool) -> None:
        if self.op._bound is None:
            return
        if self.model.watermark is None:
            watermark = -60 + by
        else:
            watermark = self.model.watermark + by + (500 if jump and by == 30 else 0)
        self.read(self.op.advance(watermark))
        self.model.advance(watermark)

    @rule(everything=st.booleans())
    def save(self, everything: bool) -> None:
        if everything:
            self.saved = [self.op.snapshot()]
        else:
            self.saved.append(self.op.changes())

    @rule()
    def crash(self) -> None:
        self.saved.append(self.op.changes())
        op = self.new()
        op.restore(*self.saved)
        self.op = op

    @rule(data=st.data())
    def add(self, data: st.DataObject) -> None:
        if len(self.model.windows) > 5:
            return
        window = data.draw(one_window(f"w{self.named}"))
        known = set() if self.op._bound is None else set(self.op._bound.types)
        if known and not set(window.reads) <= known:
            return
        self.named += 1
        self.op.add(window)
        since = None if self.model.latest is None else self.model.latest + 1
        self.model.windows.append((window, since))

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if len(self.model.windows) == 1:
            return
        names = [w.name for w, _ in self.model.windows]
        name = data.draw(st.sampled_from(names))
        self.op.remove(name)
        self.removed = True
        self.model.windows = [(w, s) for w, s in self.model.windows if w.name != name]
        self.downstream.standing = {
            k: v for k, v in self.downstream.standing.items() if k[1] != name
        }

    @rule(data=st.data())
    def ask(self, data: st.DataObject) -> None:
        if self.op._bound is None:
            return
        key = data.draw(st.sampled_from(self.keys))
        if self.model.lateness < 200 or self.removed:  # else nothing has been forgotten yet
            return
        if all(w.by_rows or since is not None for w, since in self.model.windows):
            return
        rows = sorted((r for r in self.model.rows if r.key == key), key=lambda r: r.t)
        found = tuple(self.op.query(key).values())
        first, last = sorted(data.draw(st.tuples(TIMES, TIMES)))
        if not rows:
            assert all(f in (None, 0) for f in found)
            return
        if self.model.watermark is None or self.model.watermark < 60:
            assert found == self.model.fold([r.x for r in rows])
            inside = [r.x for r in rows if first <= r.t < last]
            try:
                part = tuple(self.op.query(key, first, last).values())
            except ValueError as error:
                assert "inside the slice" in str(error)
            else:
                if inside:
                    assert part == self.model.fold(inside)
                else:
                    assert all(p in (None, 0) for p in part)

    @invariant()
    def told_what_is_so(self) -> None:
        if not hasattr(self, "op"):
            return
        expected = self.model.told(early=self.emit == "updates")
        standing = self.downstream.values()
        for window, since in self.model.windows:  # early ones are told when a row comes
            if self.emit == "updates" and since is not None:
                expected = {k: v for k, v in expected.items() if k[1] != window.name}
                standing = {k: v for k, v in standing.items() if k[1] != window.name}
        assert _sorted(standing) == _sorted(expected)
        assert len(self.late) == len(self.model.late) == self.op.late_rows
        assert self.op.rows == len(self.model.rows)

    @invariant()
    def lists_its_windows(self) -> None:
        if not hasattr(self, "op") or self.op._bound is None:
            return
        everything = self.model.told(early=True)
        for key in self.keys:
            for row in self.op.windows(key).to_pylist():
                place = (key, row["window"], row["window_start"], row["window_end"])
                assert tuple(row[v] for v in self.values) in everything[place]


TestOperatorMachine = OperatorMachine.TestCase
TestOperatorMachine.settings = settings(
    max_examples=examples(300),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
