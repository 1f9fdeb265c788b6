"""A signal ends a native call early, and leaves everything as it was before the call.

Each call is interrupted at each of its checks. Afterwards the window is what it was, and the same
call once more gives what it should.
"""

from __future__ import annotations

import itertools
import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import STRUCTURES, named
from interrupting import (
    RaisedByHandlerError,
    at_every_check,
    checks_of,
    interrupted_at,
    with_signal_pending,
)

import sash
from sash import _core, _rolling, agg
from sash._columns import rows_of

ROWS = 24
VALUES = [(7 * i) % 11 - 3 for i in range(ROWS)]
FLOATS = [v / 2 for v in VALUES]
TIMES = [2 * i for i in range(ROWS)]
SHUFFLED = [TIMES[(5 * i) % ROWS] + (i % 3) for i in range(ROWS)]

AGGREGATES: dict[str, Callable[[], Any]] = {
    "sum": lambda: agg.sum(dtype=int),
    "max": agg.max,
    "sketch": lambda: agg.hll(lg_k=4),
    "several": lambda: [agg.count(), agg.max("v")],
    "python": lambda: sash.monoid(lambda a, b: a + b, lift=str, identity=""),
}
INVERTIBLE = {"sum"}
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "insert_many": lambda w, values: w.insert_many(values),
    "slide": lambda w, values: w.slide(values, 5),
    "evict_many": lambda w, values: w.evict_many(len(w) - 1),
    "snapshot": lambda w, values: w.snapshot(),
}
TIMED: dict[str, Callable[[Any, Any], Any]] = {
    "insert_many": lambda w, values: w.insert_many([t + 90 for t in TIMES], values),
    "slide": lambda w, values: w.slide([t + 90 for t in TIMES], values, 9),
    "bulk_evict": lambda w, values: w.bulk_evict(w.youngest - 1),
    "snapshot": lambda w, values: w.snapshot(),
}
TREE: dict[str, Callable[[Any, Any], Any]] = {
    "bulk_insert": lambda w, values: w.bulk_insert(SHUFFLED, values),
    "slide": lambda w, values: w.slide(SHUFFLED, values, 9),
    "slide_rows": lambda w, values: w.slide(SHUFFLED, values, rows=4),
    "snapshot": lambda w, values: w.snapshot(),
}
NOT_CHECKED = {"evict_many", "bulk_evict"}
"""Short whatever a native window holds: these do not check (docs/memory-and-threads.md)."""


def values_of(aggregate: str, values: list[Any]) -> Any:
    return {"v": values} if aggregate == "several" else values


def plain(result: Any) -> Any:
    """A result that can be compared."""
    if isinstance(result, dict):
        return {name: plain(one) for name, one in result.items()}
    return result.tolist() if isinstance(result, np.ndarray) else result


def state_of(window: Any) -> tuple[bytes, Any, int]:
    window.check_invariants()
    return window.snapshot(), plain(window.query()), len(window)


def verify(make: Callable[[], Any], call: Callable[[Any], Any], checked: bool) -> None:
    """Interrupt a call on a window everywhere; the window is unchanged, and a retry is right."""
    undisturbed = make()
    wanted = plain(call(undisturbed))
    found: list[Any] = []
    window = make()
    assert (checks_of(lambda: found.append(call(window))) > 0) is checked
    assert plain(found[0]) == wanted
    assert state_of(window)[1:] == state_of(undisturbed)[1:]
    if not checked:
        return
    for _ in at_every_check(lambda: call(make())):
        pass
    window = make()
    before = state_of(window)
    for check in itertools.count(1):
        try:
            with interrupted_at(check):
                assert plain(call(window)) == wanted
            break
        except KeyboardInterrupt:
            assert state_of(window) == before
    assert check > 1
    assert state_of(window)[1:] == state_of(undisturbed)[1:]


def filled(window: Any, values: Any, *times: Any) -> Any:
    """A window that has been in use: entries came and went, one by one."""
    rows = [{"v": v} for v in values["v"]] if isinstance(values, dict) else values
    for i, row in enumerate(rows):
        window.insert(*(t[i] for t in times), row)
        if i % 3 == 2:
            window.evict()
    window.query()
    return window


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_in_order_structures(structure: Any, aggregate: str, operation: str) -> None:
    if structure is sash.SubtractOnEvict and aggregate not in INVERTIBLE:
        aggregate = "sum"
    values = values_of(aggregate, VALUES)
    verify(
        lambda: filled(structure(AGGREGATES[aggregate]()), values),
        lambda w: OPERATIONS[operation](w, values),
        checked=operation not in NOT_CHECKED or aggregate == "python",
    )


@pytest.mark.parametrize("operation", TIMED)
@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("structure", [sash.TwoStacksLite, sash.DabaLite, sash.Amta], ids=named)
def test_timed_windows(structure: Any, aggregate: str, operation: str) -> None:
    values = values_of(aggregate, VALUES)
    verify(
        lambda: filled(sash.TimedWindow(AGGREGATES[aggregate](), structure), values, TIMES),
        lambda w: TIMED[operation](w, values),
        checked=operation not in NOT_CHECKED or aggregate == "python",
    )


@pytest.mark.parametrize("operation", TREE)
@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("tree", [sash.FingerTree, sash.ClassicTree], ids=named)
def test_trees(tree: Any, aggregate: str, operation: str) -> None:
    values = values_of(aggregate, VALUES)
    verify(
        lambda: filled(tree(AGGREGATES[aggregate](), leaf=4, fanout=4), values, TIMES),
        lambda w: TREE[operation](w, values),
        checked=True,
    )


@pytest.mark.parametrize("batches", [2, 3])
@pytest.mark.parametrize("operation", ["insert_many", "slide"])
def test_windows_larger_than_a_batch(operation: str, batches: int) -> None:
    """A window of up to two batches is copied, so that the call can be undone; no larger one."""

    def make() -> Any:
        window = sash.DabaLite(agg.max())
        window.insert_many(VALUES * batches)
        return window

    verify(make, lambda w: OPERATIONS[operation](w, VALUES), checked=batches == 2)


@pytest.mark.parametrize("batches", [2, 3])
@pytest.mark.parametrize("operation", ["bulk_insert", "slide"])
def test_trees_larger_than_a_batch(operation: str, batches: int) -> None:
    def make() -> Any:
        tree = sash.FingerTree(agg.max())
        tree.bulk_insert(range(batches * ROWS), VALUES * batches)
        return tree

    window, times = make(), range(batches * ROWS, (batches + 1) * ROWS)
    columns, _ = rows_of(window._plan, VALUES)
    calls: dict[str, Callable[[Any], Any]] = {
        "bulk_insert": lambda w: w._insert_many(np.array(times), columns),
        "slide": lambda w: w._slide(np.array(times), columns, 9, False),
    }
    assert (checks_of(lambda: calls[operation](window)) > 0) is (batches == 2)


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("structure", [*STRUCTURES, sash.FingerTree], ids=named)
def test_restore(structure: Any, aggregate: str) -> None:
    if structure is sash.SubtractOnEvict:
        aggregate = "sum"
    times = (TIMES,) if structure is sash.FingerTree else ()
    window = filled(structure(AGGREGATES[aggregate]()), values_of(aggregate, VALUES), *times)
    data = window.snapshot()
    for _ in at_every_check(lambda: structure.restore(data, AGGREGATES[aggregate]())):
        pass
    assert structure.restore(data, AGGREGATES[aggregate]()).snapshot() == data


def test_flat_fat() -> None:
    places = sash.FlatFat(agg.sum(dtype=int), VALUES)
    changes = {i: 100 + i for i in range(0, ROWS, 2)}
    before = [places.prefix(i) for i in range(ROWS)]
    for _ in at_every_check(lambda: sash.FlatFat(agg.sum(dtype=int), VALUES)):
        pass
    for check in itertools.count(1):
        try:
            with interrupted_at(check):
                places.update(changes)
            break
        except KeyboardInterrupt:
            assert [places.prefix(i) for i in range(ROWS)] == before
    assert check > 1
    wanted = np.cumsum([changes.get(i, v) for i, v in enumerate(VALUES)]).tolist()
    assert [places.prefix(i) for i in range(ROWS)] == wanted


# ---- rolling -----------------------------------------------------------------------------------

TABLE = pa.table(
    {
        "t": pa.array([SHUFFLED[i % ROWS] + i // 7 for i in range(2 * ROWS)]),
        "k": [("a", "b", "c")[i % 3] for i in range(2 * ROWS)],
        "v": [float(v) for v in VALUES + FLOATS],
        "n": VALUES + VALUES[::-1],
    }
)
KERNELS: dict[str, Any] = {
    "scalar": agg.max("v"),
    "record": [agg.mean("n"), agg.sum("n")],
    "sketch": agg.hll("n", lg_k=4),
    "place": agg.argmax("v", "n"),
    "median": agg.median("v"),
    "rank": agg.rank("v"),
    "distinct": agg.count_distinct("n"),
    "mode": agg.mode("n"),
    "python": sash.monoid(lambda a, b: a + b, column="n", lift=str, identity=""),
}
SHAPES: dict[str, dict[str, Any]] = {
    "by_time": {"on": "t", "window": 9},
    "by_time_and_key": {"on": "t", "window": 9, "by": "k"},
    "all_rows": {"on": "t", "window": 1000},
    "by_rows": {"rows": 5},
    "arrival": {"on": "t", "window": 9, "order": "arrival"},
    "steps": {"on": "t", "window": 9, "every": 4},
}


def roll(kernel: str, shape: str, threads: int) -> Any:
    return sash.rolling(TABLE, aggs=KERNELS[kernel], threads=threads, **SHAPES[shape])


MEANT = [
    (kernel, shape)
    for kernel in KERNELS
    for shape in SHAPES
    if kernel != "rank" or shape not in ("arrival", "steps")
]


@pytest.mark.parametrize("kernel, shape", MEANT)
@pytest.mark.parametrize("threads", [1, 3])
def test_rolling(kernel: str, shape: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rolling, "_PART", 4)
    wanted = roll(kernel, shape, threads)
    for _ in at_every_check(lambda: roll(kernel, shape, threads)):
        assert not [t for t in threading.enumerate() if t.name.startswith("sash")]
    assert roll(kernel, shape, threads).equals(wanted)


def test_an_interrupted_wait_stops_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait for several threads is interrupted while a kernel runs in each of them."""
    kernel = kernel_of_rows()
    running = threading.Barrier(3)
    ended = []

    class Endless:
        """A kernel that goes on until its call is stopped."""

        def run(self, start: int, stop: int) -> None:
            running.wait()
            try:
                while True:
                    kernel.run(0, ROWS)
            except RuntimeError as error:
                ended.append(str(error))
                raise

    def wait_interrupted(*_: object) -> Iterator[None]:
        running.wait()
        signal.raise_signal(signal.SIGINT)
        yield

    monkeypatch.setattr(_rolling, "tracked", wait_interrupted)
    parts: Any = [(Endless(), 0, _rolling._PART), (Endless(), 0, _rolling._PART)]
    with interrupted_at(1 << 62), pytest.raises(KeyboardInterrupt):
        _rolling._run_parts(parts, 2, progress=False)
    assert ended == ["the call that this part of the work belongs to has ended"] * 2


# ---- signals -----------------------------------------------------------------------------------


def kernel_of_rows() -> _core.Roll:
    """A kernel over windows of three rows."""
    plan = sash.DabaLite(agg.max())._plan
    layout = _core.Layout(ROWS, None, 1, None, False)
    frames = _core.Frames.by_count(layout, 3, 0, False, True)
    task = _core.RollTask(layout, frames, 0, False, 0, True)
    return _core.Roll.monoid(task, plan.spec, rows_of(plan, FLOATS)[0])


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_a_handler_that_raises_ends_a_structure_call(structure: Any) -> None:
    aggregate = agg.sum(dtype=int) if structure is sash.SubtractOnEvict else agg.max()
    window = filled(structure(aggregate), VALUES)
    columns, rows = rows_of(window._plan, VALUES)
    before = state_of(window)
    for call in (
        partial(window._insert_many, columns, rows),
        partial(window._slide, columns, rows, 5),
        window._save,
    ):
        with pytest.raises(RaisedByHandlerError):
            with_signal_pending(call)
        assert state_of(window) == before


def test_a_handler_that_raises_ends_a_tree_call() -> None:
    tree = filled(sash.FingerTree(agg.max()), VALUES, TIMES)
    columns, _ = rows_of(tree._plan, VALUES)
    times = np.array(TIMES)
    before = state_of(tree)
    for call in (
        partial(tree._insert_many, times, columns),
        partial(tree._slide, times, columns, 5, False),
        tree._save,
    ):
        with pytest.raises(RaisedByHandlerError):
            with_signal_pending(call)
        assert state_of(tree) == before


def test_a_handler_that_raises_ends_a_restore_as_itself() -> None:
    window = filled(sash.DabaLite(agg.max()), VALUES)
    fresh = sash.DabaLite(agg.max())
    with pytest.raises(RaisedByHandlerError):
        with_signal_pending(partial(fresh._load, *window._save()))
    assert len(fresh) == 0


def test_a_handler_that_raises_ends_a_kernel() -> None:
    with pytest.raises(RaisedByHandlerError):
        with_signal_pending(partial(kernel_of_rows().run, 0, ROWS))
