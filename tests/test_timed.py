"""TimedWindow over every in-order structure: windows by time, equal times, times that go back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import ITERABLE, STRUCTURES, Case, named
from depth import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from kinds import kinds_for

import sash
from sash import TimedWindow, agg
from sash.structures import Window

TIMED = [s for s in STRUCTURES if s is not sash.ReactiveAggregator]
CHOSEN = {"sum-int", "concat", "ordered-record", "python-sum"}
PAIRS = [(s, k) for s in TIMED for k in kinds_for(s) if k.name in CHOSEN]
FIRST, LAST = -(2**63), 2**63 - 1


def machine(structure: type[Window], kind: Case) -> type[RuleBasedStateMachine]:
    """The state machine of a timed window over one structure and kind of monoid."""
    gaps = st.integers(0, 5)
    rows = st.lists(st.tuples(gaps, kind.values), max_size=10)

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.window = TimedWindow(kind.aggregate, structure)
            self.rows: list[tuple[int, Any]] = []
            self.now = -20

        def after(self, rows: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
            out = []
            for gap, value in rows:
                self.now += gap
                out.append((self.now, value))
            return out

        @rule(gap=gaps, value=kind.values)
        def insert(self, gap: int, value: Any) -> None:
            self.now += gap
            self.window.insert(self.now, value)
            self.rows.append((self.now, value))

        @rule(batch=rows)
        def insert_many(self, batch: list[tuple[int, Any]]) -> None:
            fresh = self.after(batch)
            self.window.insert_many([t for t, _ in fresh], [v for _, v in fresh])
            self.rows += fresh

        @rule(batch=rows, size=st.integers(1, 15))
        def slide(self, batch: list[tuple[int, Any]], size: int) -> None:
            fresh = self.after(batch)
            times, values = [t for t, _ in fresh], [v for _, v in fresh]
            got = self.window.slide(times, values, size)
            if isinstance(got, dict):
                got = list(zip(*got.values(), strict=True))
            for result, row in zip(got, fresh, strict=True):
                self.rows = [r for r in [*self.rows, row] if r[0] > row[0] - size]
                kind.check(plain(result), [v for _, v in self.rows])

        @precondition(lambda self: self.rows)
        @rule()
        def evict(self) -> None:
            self.window.evict()
            del self.rows[0]

        @rule(back=st.integers(0, 25))
        def bulk_evict(self, back: int) -> None:
            kept = [r for r in self.rows if r[0] > self.now - back]
            assert self.window.bulk_evict(self.now - back) == len(self.rows) - len(kept)
            self.rows = kept

        @precondition(lambda self: self.rows)
        @rule(value=kind.values, back=st.integers(1, 5))
        def go_back(self, value: Any, back: int) -> None:
            late = self.rows[-1][0] - back
            with pytest.raises(ValueError, match="FingerTree takes any order"):
                self.window.insert(late, value)
            with pytest.raises(ValueError, match="FingerTree takes any order"):
                self.window.insert_many([self.now, late], [value, value])
            with pytest.raises(ValueError, match="FingerTree takes any order"):
                self.window.slide([late], [value], 3)

        @rule()
        def restore(self) -> None:
            data = self.window.snapshot()
            self.window = TimedWindow.restore(data, kind.aggregate, structure)

        @rule()
        def clear(self) -> None:
            self.window.clear()
            self.rows.clear()

        @invariant()
        def whole(self) -> None:
            self.window.check_invariants()
            assert len(self.window) == len(self.rows)
            kind.check(self.window.query(), [v for _, v in self.rows])
            if self.rows:
                ends = (self.rows[0][0], self.rows[-1][0])
                assert (self.window.oldest, self.window.youngest) == ends
            if structure in ITERABLE:
                assert [t for t, _ in self.window] == [t for t, _ in self.rows]

    return Machine


def plain(result: Any) -> Any:
    """A result of a slide as `query` gives it."""
    if result is np.ma.masked:
        return None
    if isinstance(result, tuple):
        return tuple(map(plain, result))
    return result.item() if isinstance(result, np.generic) else result


@pytest.mark.deeper
@pytest.mark.parametrize(("structure", "kind"), PAIRS, ids=named)
def test_agrees_with_the_definition(structure: type[Window], kind: Case) -> None:
    chosen = settings(max_examples=examples(15), stateful_step_count=30)
    run_state_machine_as_test(machine(structure, kind), settings=chosen)


@pytest.mark.parametrize("structure", TIMED, ids=named)
def test_the_ends_of_time(structure: type[Window]) -> None:
    window = TimedWindow(agg.count(), structure)
    counts = window.slide([FIRST, FIRST + 1, -1, 0, LAST, LAST], [0] * 6, LAST)
    # (t - LAST, t]: at -1 the first time, -2^63 = -1 - LAST, has just left; at LAST, 0 has.
    assert counts.tolist() == [1, 2, 2, 2, 1, 2]
    assert (window.oldest, window.youngest) == (LAST, LAST)
    window.clear()
    window.insert(FIRST, 0)
    window.insert(LAST, 0)
    assert window.bulk_evict(FIRST) == 1
    assert window.bulk_evict(LAST) == 1
    assert len(window) == 0


@pytest.mark.parametrize("time", [2**63, -(2**63) - 1, 1.5, "1", None])
def test_times_that_are_none(time: Any) -> None:
    window = TimedWindow(agg.count())
    with pytest.raises((TypeError, OverflowError, ValueError)):
        window.insert(time, 0)
    with pytest.raises((TypeError, OverflowError, ValueError)):
        window.insert_many([time], [0])
    assert len(window) == 0


def test_bad_calls() -> None:
    window = TimedWindow(agg.sum())
    window.insert_many([1, 2], [1.0, 2.0])
    for call in (
        lambda: window.insert_many([3], [1.0, 2.0]),
        lambda: window.insert_many(np.array([[3]]), [1.0]),
        lambda: window.insert_many([3.0], [1.0]),
        lambda: window.slide([3], [1.0], 0),
        lambda: window.slide([3], [1.0], 1.5),
        lambda: window.insert(3, "x"),
        lambda: window.insert_many([3], ["x"]),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
        assert (len(window), window.query(), window.youngest) == (2, 3.0, 2)
    window.clear()
    for ask in (lambda: window.oldest, lambda: window.youngest, window.evict):
        with pytest.raises(IndexError, match="empty window"):
            ask()


@pytest.mark.parametrize("structure", [sash.ReactiveAggregator, Window, "DabaLite", int, None])
def test_structures_without_a_timed_variant(structure: Any) -> None:
    with pytest.raises(TypeError):
        TimedWindow(agg.sum(), structure)
