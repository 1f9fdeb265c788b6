"""A signal ends a call of the operator early: nothing is lost, and nothing counts twice.

Each call is interrupted at each of its checks. Afterwards the operator is what it was, and the same
call once more gives what it should.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest
from interrupting import checks_of, interrupted_at

import sash
from sash import agg

SOURCES = str(Path(sash.__file__).parent)
TIMES = [3, 11, 4, 30, 22, 18, 41, 5, 38, 57, 12, 60, 12]
LATE = [2, 19, 40, 7, 55, 33, 12]


def shifts(first: int, last: int) -> tuple[list[int], list[int]]:
    starts = list(range(first // 10 * 10 - 10, last + 10, 10))
    return starts, [s + 14 for s in starts]


WINDOWS = {
    "tumbling": sash.tumbling(10),
    "sliding": sash.sliding(20, 5),
    "session": sash.session(6),
    "rolling": sash.windows.rolling(9),
    "calendar": sash.windows.calendar(shifts, name="shifts"),
    "count": sash.sliding(rows=3, slide=2),
    "last": sash.windows.rolling(rows=3),
    "delta": sash.windows.delta("x", 3),
    "punctuation": sash.windows.punctuation("high"),
    "split": sash.windows.split(lambda _, low: low[1:] != low[:-1], "high", name="split"),
}
AGGREGATES: dict[str, Callable[[], Any]] = {
    "sum": lambda: agg.sum("x"),
    "last": lambda: [agg.last("x"), agg.count()],
    "python": lambda: sash.monoid(lambda a, b: a + b, lift=lambda v: [v], name="rows").on("x"),
}
Make = Callable[[], sash.WindowOperator]


def rows(times: list[int]) -> pa.Table:
    x = [t * t % 7 - 3 for t in times]
    keys = ["ab"[t % 2] for t in times]
    return pa.table({"t": times, "k": keys, "x": x, "high": [v > 0 for v in x]})


STEPS: list[Callable[[sash.WindowOperator], pa.Table]] = [
    lambda op: op.process(rows(TIMES)),
    lambda op: op.advance(45),
    lambda op: op.process(rows(LATE)),
    lambda op: op.process(rows([*LATE, 80, 85])),
    lambda op: op.advance(70),
    lambda op: op.finish(),
]


def maker(window: str, what: str, by: str | None, emit: str) -> Make:
    return lambda: sash.WindowOperator(
        on="t", by=by, windows=WINDOWS[window], aggs=AGGREGATES[what](), lateness=50, emit=emit
    )


def state_of(op: sash.WindowOperator) -> tuple[Any, ...]:
    """What can be seen of an operator."""
    if op._bound is None:
        return (op.rows,)
    keys = ["a", "b"] if op._by else [None]
    windows = [op.windows(k).to_pylist() for k in keys]
    return op.rows, op.late_rows, op.watermark, op.keys, op.slices, windows


def copy_of(op: sash.WindowOperator, make: Make) -> sash.WindowOperator:
    other = make()
    if op._bound is not None:
        other.restore(op.snapshot())
    return other


@pytest.mark.parametrize("by", [None, "k"], ids=["one key", "keys"])
@pytest.mark.parametrize("what", sorted(AGGREGATES))
@pytest.mark.parametrize("window", sorted(WINDOWS))
def test_a_call_that_is_interrupted_can_be_made_again(
    window: str, what: str, by: str | None
) -> None:
    for emit in ("complete", "updates", "changelog"):
        make = maker(window, what, by, emit)
        undisturbed, op, all_checks = make(), make(), 0
        for step in STEPS:
            before, copy = state_of(op), copy_of(op, make)
            checks = checks_of(partial(step, copy))
            for check in range(1, checks + 1):
                with interrupted_at(check), pytest.raises(KeyboardInterrupt):
                    step(op)
                assert state_of(op) == before
            assert step(op).to_pylist() == step(undisturbed).to_pylist()
            assert state_of(op) == state_of(undisturbed)
            all_checks += checks
        assert all_checks > len(STEPS)


@pytest.mark.parametrize("what", sorted(AGGREGATES))
@pytest.mark.parametrize("window", sorted(WINDOWS))
def test_snapshots_that_are_interrupted_lose_nothing(window: str, what: str) -> None:
    """Whatever was saved before and after an interruption is enough to restore."""
    make = maker(window, what, "k", "complete")
    op, twin, saved = make(), make(), []
    for number, step in enumerate(STEPS[:4]):
        step(op), step(twin)
        save, saves = (one.changes if number else one.snapshot for one in (op, twin))
        for check in range(1, checks_of(saves) + 1):
            with interrupted_at(check), pytest.raises(KeyboardInterrupt):
                save()
        saved.append(save())
    restored = make()
    checks = checks_of(partial(make().restore, *saved))
    assert checks > 0
    for check in range(1, checks + 1):
        with interrupted_at(check), pytest.raises(KeyboardInterrupt):
            restored.restore(*saved)
        assert restored._bound is None
    restored.restore(*saved)
    for step in STEPS[4:]:
        assert sorted(map(str, step(restored).to_pylist())) == sorted(
            map(str, step(op).to_pylist())
        )


def line_of(frame: FrameType) -> str:
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno)


def interrupted_at_line(number: int, call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """Make a call that a handler interrupts before the given line of Sash's Python code.

    What the call returns, or what it raises.
    """
    left = number

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(SOURCES):
            return None
        # Leaving a `with` is traced as its line, before __exit__; no handler ever runs there.
        if event == "line" and "with self._turn" not in line_of(frame):
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return trace

    former = sys.gettrace()
    sys.settrace(trace)
    try:
        return call(), None
    except KeyboardInterrupt as error:
        return None, error
    finally:
        sys.settrace(former)


@pytest.mark.parametrize("window", ["tumbling", "session", "count"])
def test_an_interruption_in_any_line_loses_nothing(window: str) -> None:
    """Also in those between the native call and the return: the results come with the next call."""
    make = maker(window, "sum", "k", "complete")
    op = make()
    taken = 0
    for step in STEPS[:4]:
        expected = step(copy_of(op, make)).to_pylist()
        for line in range(1, 10_000):
            copy = copy_of(op, make)
            found, error = interrupted_at_line(line, partial(step, copy))
            if error is None:
                assert found.to_pylist() == expected
                break
            if hasattr(error, "__notes__"):
                taken += 1
                found = copy.process(rows(TIMES)[:0])
            else:
                found = step(copy)
            assert found.to_pylist() == expected, line
        step(op)
    assert taken > 0
