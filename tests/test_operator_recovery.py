"""What is emitted over a restart: nothing again, and revisions that go on rising."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import agg

BY_ROWS = {
    "tumbling": sash.tumbling(rows=2),
    "sliding": sash.sliding(rows=3, slide=1),
    "rolling": sash.windows.rolling(rows=2),
    "delta": sash.windows.delta("x", 2),
    "punctuation": sash.windows.punctuation("mark"),
    "split": sash.windows.split(lambda _, mark: mark[1:] != mark[:-1], "mark", name="split"),
}


def make(window: Any, **arguments: Any) -> sash.WindowOperator:
    return sash.WindowOperator(on="t", windows=window, aggs=agg.collect("x"), **arguments)


def table(times: list[int], x: list[int] | None = None) -> pa.Table:
    x = times if x is None else x
    return pa.table(
        {
            "t": pa.array(times, pa.int64()),
            "x": pa.array(x, pa.int64()),
            "mark": [v % 3 == 0 for v in x],
        }
    )


def test_rows_that_were_emitted_do_not_come_back() -> None:
    """Windows by rows, without keys, from a snapshot and changes."""
    op = make(sash.tumbling(rows=2))
    op.process(table([1], [10]))
    saved = [op.snapshot()]
    op.process(table([4], [20]))
    op.advance(6)
    saved.append(op.changes())
    again = make(sash.tumbling(rows=2))
    again.restore(*saved)
    again.process(table([10, 11], [1, 2]))
    assert again.advance(20)["collect_x"].to_pylist() == [[1, 2]]


batches = st.lists(st.lists(st.integers(0, 30), max_size=4), min_size=1, max_size=8)


@pytest.mark.parametrize("emit", ["complete", "updates", "changelog"])
@pytest.mark.parametrize("window", sorted(BY_ROWS))
@given(batches, st.data())
def test_restarts_change_nothing_and_revisions_rise(
    window: str, emit: str, times: list[list[int]], data: st.DataObject
) -> None:
    how = {"lateness": data.draw(st.sampled_from([0, 5, 40])), "emit": emit}
    op, other = make(BY_ROWS[window], **how), make(BY_ROWS[window], **how)
    saved = [other.snapshot()]
    revisions: dict[tuple[int, int], int] = {}
    watermark = 0
    for batch in times:
        steps = [lambda one, b=batch: one.process(table(b))]
        if data.draw(st.booleans()):
            watermark += data.draw(st.integers(0, 12))
            steps.append(lambda one, w=watermark: one.advance(w))
        for step in steps:
            if op._bound is None and step is not steps[0]:
                continue
            emitted = step(op)
            assert step(other).equals(emitted)
            check_revisions(revisions, emitted)
        saved.append(other.snapshot() if data.draw(st.booleans()) else other.changes())
        other = make(BY_ROWS[window], **how)
        other.restore(*saved)


def check_revisions(revisions: dict[tuple[int, int], int], emitted: pa.Table) -> None:
    """Those of one place rise; a retraction repeats that of the row it retracts."""
    for row in emitted.to_pylist():
        place = row["window_start"], row["window_end"]
        last = revisions.get(place, -1)
        if row["change"] in ("withdrawn", "retract"):
            assert row["revision"] <= last
        else:
            assert row["revision"] > last
            revisions[place] = row["revision"]


def test_a_window_that_comes_back_goes_on_counting() -> None:
    """A late row moves the edges of windows by rows, and another one moves them back."""
    op = make(sash.tumbling(rows=2), lateness=100)
    log = [op.process(table([10, 20, 30, 40])), op.advance(50)]
    log += [op.process(table([5])), op.process(table([6]))]
    rows = [r for part in log for r in part.to_pylist() if r["window_start"] == 30]
    assert [(r["change"], r["revision"]) for r in rows] == [
        ("complete", 0), ("withdrawn", 0), ("complete", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("window", [sash.windows.delta("x", 2), sash.windows.punctuation("done")])
def test_a_window_at_the_place_of_a_settled_one_goes_on_counting(window: Any) -> None:
    op = sash.WindowOperator(on="t", windows=window, aggs=agg.collect("x"))
    op.process(pa.table({"t": [1, 1], "x": [9, -9], "done": [True, False]}))
    emitted = [op.advance(5), op.advance(50), op.finish()]
    again = pa.concat_tables(emitted).select(["window_start", "window_end", "revision"])
    assert again.to_pylist() == [
        {"window_start": 1, "window_end": 1, "revision": 0},
        {"window_start": 1, "window_end": 1, "revision": 2},
    ]


def test_results_that_were_not_delivered_are_in_snapshots() -> None:
    def refuse(_: pa.Table) -> None:
        raise RuntimeError("no room for late rows")

    op = make(sash.tumbling(5), on_late=refuse, delay=0)
    op.process(table([1, 2]))
    with pytest.raises(RuntimeError, match="no room") as caught:
        op.process(table([9, 1]))
    assert "the operator took this call" in caught.value.__notes__[0]
    other = make(sash.tumbling(5), delay=0)
    other.restore(op.snapshot())
    for one in (op, other):
        assert one.process(table([9]))["collect_x"].to_pylist() == [[1, 2]]
        assert one.process(table([9])).num_rows == 0
