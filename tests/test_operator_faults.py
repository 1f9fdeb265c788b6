"""Functions that raise, at any moment: the call has not happened, and nothing is lost after it."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import agg
from sash.windows import delta, rolling, split

WINDOWS = {
    "fixed": [sash.tumbling(10), sash.sliding(30, 7)],
    "sessions": [sash.session(3), sash.session(8), sash.tumbling(25)],
    "rolling": [rolling(12)],
    "by rows": [sash.sliding(rows=4, slide=2), delta("x", 30), rolling(rows=3)],
}


class PlannedError(Exception):
    """What a function raises here."""


class Adding:
    """A sum whose functions raise at a certain call, or from it on."""

    def __init__(self) -> None:
        self.calls, self.at, self.once = 0, -1, True

    def _step(self) -> None:
        self.calls += 1
        if self.calls == self.at or (not self.once and self.calls > self.at >= 0):
            raise PlannedError

    def aggregate(self, commutative: bool) -> sash.Aggregate:
        def combine(a: int, b: int) -> int:
            self._step()
            return a + b

        def lift(value: int) -> int:
            self._step()
            return value

        def lower(state: int) -> int:
            self._step()
            return state

        made = sash.monoid(combine, lift=lift, lower=lower, name="add", commutative=commutative)
        return made.on("x")


def batches(n: int) -> list[pa.Table]:
    rng = np.random.default_rng(3)
    return [
        pa.table(
            {
                "t": rng.integers(i * 15, i * 15 + 40, 12),
                "x": rng.integers(0, 100, 12),
                "k": rng.integers(0, 3, 12),
            }
        )
        for i in range(n)
    ]


@pytest.mark.parametrize("once", [True, False], ids=["once", "from then on"])
@pytest.mark.parametrize("store", ["lazy", "eager", "auto"])
@pytest.mark.parametrize("windows", WINDOWS)
def test_a_call_that_raises_has_not_happened(windows: str, store: str, once: bool) -> None:
    """Its twin never sees the batch that failed; both tell the same from there on."""
    data = batches(8)

    def make(adding: Adding) -> sash.WindowOperator:
        return sash.WindowOperator(
            on="t", by="k", windows=WINDOWS[windows], store=store, delay=20, lateness=25,
            aggs=[adding.aggregate(commutative=store != "auto"), agg.count()],
        )  # fmt: skip

    rng = np.random.default_rng(5)
    trial = Adding()
    op = make(trial)
    for batch in data[:5]:
        op.process(batch)
    cost = trial.calls // 5
    for _ in range(12):
        adding, other = Adding(), Adding()
        op, twin = make(adding), make(other)
        saved = []
        for i, batch in enumerate(data):
            if i == 4:
                saved = [op.snapshot()]
                adding.calls, adding.at, adding.once = 0, int(rng.integers(1, 3 * cost)), once
                try:
                    raw = op.process(batch)
                except PlannedError:
                    adding.at = -1
                    continue
                adding.at = -1
                assert sorted(map(str, raw.to_pylist())) == sorted(
                    map(str, twin.process(batch).to_pylist())
                )
                continue
            assert _same(op.process(batch), twin.process(batch))
        again = make(Adding())
        again.restore(*saved, op.changes())
        assert (op.rows, op.slices) == (twin.rows, twin.slices)
        last = twin.finish()
        assert _same(op.finish(), last)
        assert _same(again.finish(), last)


def _same(a: pa.Table, b: pa.Table) -> bool:
    return sorted(map(str, a.to_pylist())) == sorted(map(str, b.to_pylist()))


@pytest.mark.parametrize("store", ["lazy", "eager"])
def test_a_watermark_that_raises_can_be_given_again(store: str) -> None:
    table = pa.table({"t": list(range(200)), "x": [1] * 200})
    for at in range(1, 400, 7):
        adding = Adding()
        op = sash.WindowOperator(
            on="t", windows=sash.sliding(40, 5), aggs=adding.aggregate(True), store=store
        )
        op.process(table)
        adding.calls, adding.at = 0, at
        found = []
        try:
            found.append(op.advance(150))
        except PlannedError:
            assert op.watermark is None
        adding.at = -1
        found += [op.advance(150), op.finish()]
        values = [v for t in found for v in t["add_x"].to_pylist()]
        assert len(values) == 47 and sum(values) == 8 * 200


def test_results_that_no_table_can_hold_are_not_lost() -> None:
    show = [False]
    mixed = sash.monoid(
        lambda a, b: a + b, lower=lambda s: s if show[0] or s < 5 else "big", name="m"
    ).on("x")
    op = sash.WindowOperator(on="t", windows=sash.tumbling(10), aggs=mixed)
    op.process(pa.table({"t": [1, 12, 22], "x": [1, 7, 1]}))
    with pytest.raises(TypeError, match="of several types"):
        op.advance(25)
    assert op.watermark is None
    show[0] = True
    assert op.advance(25)["m_x"].to_pylist() == [1, 7]


def test_windows_that_raise_leave_no_trace() -> None:
    adding = Adding()
    op = sash.WindowOperator(on="t", windows=sash.sliding(20, 10), aggs=adding.aggregate(True))
    op.process(pa.table({"t": [1, 12, 15], "x": [1, 2, 3]}))
    adding.calls, adding.at = 0, 1
    with pytest.raises(PlannedError):
        op.windows()
    assert set(op.advance(100)["change"].to_pylist()) == {"complete"}


def test_a_snapshot_that_raises_loses_no_changes() -> None:
    fail = [False]

    def dump(state: int) -> bytes:
        if fail[0]:
            raise PlannedError
        return str(state).encode()

    def make() -> sash.WindowOperator:
        add = sash.monoid(lambda a, b: a + b, name="add", dump=dump, load=int).on("x")
        return sash.WindowOperator(on="t", windows=sash.tumbling(10), aggs=add)

    op = make()
    op.process(pa.table({"t": [1], "x": [1]}))
    saved = [op.snapshot()]
    op.process(pa.table({"t": [2, 12], "x": [10, 5]}))
    fail[0] = True
    for save in (op.changes, op.snapshot):
        with pytest.raises(PlannedError):
            save()
    fail[0] = False
    other = make()
    other.restore(*saved, op.changes())
    assert other.finish() == op.finish()


def test_nothing_is_leaked() -> None:
    class Value:
        """Something to count references of."""

    value = Value()
    adding = Adding()

    def run(at: int) -> None:
        keep = sash.monoid(lambda a, b: adding._step() or a, lift=lambda _: value, name="v").on("x")
        op = sash.WindowOperator(
            on="t", by="k", windows=[sash.tumbling(9), sash.session(2), sash.tumbling(rows=3)],
            aggs=keep, lateness=50, store="eager", emit="updates",
        )  # fmt: skip
        adding.calls, adding.at = 0, at
        for batch in batches(4):
            try:
                op.process(batch)
            except (PlannedError, TypeError):
                continue

    run(-1)
    before = sys.getrefcount(value)
    for at in (-1, 5, 40, 100, 300):
        run(at)
    gc.collect()
    assert sys.getrefcount(value) <= before


def test_an_operator_in_its_own_functions_is_collected() -> None:
    class Box:
        op: Any = None

    box: Box | None = Box()
    op: Any = sash.WindowOperator(
        on="t", windows=split(lambda t: (box, t > 3)[1]), aggs=agg.count()
    )
    op.process(pa.table({"t": [1, 5]}))
    box.op = op
    gone = weakref.ref(box)
    op = box = None
    gc.collect()
    assert gone() is None


def test_what_was_due_when_a_call_raised_is_due_at_once() -> None:
    adding = Adding()
    op = sash.WindowOperator(on="t", windows=sash.tumbling(10), aggs=adding.aggregate(True))
    op.process(pa.table({"t": [3], "x": [5]}))
    op.advance(9)
    adding.at = adding.calls + 1
    with pytest.raises(PlannedError):
        op.advance(10)
    assert op.advance(10)["add_x"].to_pylist() == [5]
