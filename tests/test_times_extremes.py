"""Times and lengths at the ends of 64 bits, against brute force on Python's unbounded integers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
import rolling_oracle
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_oracle import Downstream, Model, Row

import sash
from sash import agg
from sash._clock import LONGEST, REACH

FIRST, LAST = -(2**63), 2**63 - 1
EDGES = [FIRST, FIRST + 1, FIRST + 5, -(2**62), -1, 0, 1, 2**62, LAST - 5, LAST - 1, LAST]
TIMES = st.lists(st.sampled_from(EDGES) | st.integers(FIRST, LAST), min_size=1, max_size=8)
LENGTHS = st.sampled_from([1, 2, 5, 2**62, LAST - 1, LAST]) | st.integers(1, LAST)
REACHES = st.tuples(st.just(0) | LENGTHS, st.just(0) | LENGTHS).filter(any)


def places(times: list[int]) -> pa.Table:
    """A table whose rows are told apart by one bit each."""
    return pa.table({"t": pa.array(times, pa.int64()), "bit": [1 << i for i in range(len(times))]})


def frames(times: list[int], before: int, after: int, **how: Any) -> list[int | None]:
    rows = [{"t": t, "k": 0} for t in times]
    found = rolling_oracle.frames(rows, before, after, **how)
    return [sum(1 << i for i in frame) if frame else None for frame in found]


# ---- rolling -----------------------------------------------------------------------------------


@given(times=TIMES, reach=REACHES, closed=st.sampled_from(rolling_oracle.CLOSED))
@settings(max_examples=examples(150))
def test_rolling(times: list[int], reach: tuple[int, int], closed: str) -> None:
    out = sash.rolling(places(times), on="t", window=reach, closed=closed, aggs=agg.sum("bit"))
    assert out["sum_bit"].to_pylist() == frames(times, *reach, closed=closed)
    assert out["t"].to_pylist() == times


@given(times=TIMES, size=LENGTHS, center=st.booleans())
@settings(max_examples=examples(60))
def test_rolling_by_one_length(times: list[int], size: int, center: bool) -> None:
    table = places(times)
    out = sash.rolling(table, on="t", window=size, center=center, aggs=agg.sum("bit"))
    after = size // 2 if center else 0
    assert out["sum_bit"].to_pylist() == frames(times, size - after, after)
    if not center:
        out = sash.rolling(table, on="t", window=size, order="arrival", aggs=agg.sum("bit"))
        assert out["sum_bit"].to_pylist() == frames(times, size, 0, order="arrival")


@given(times=TIMES, rows=st.integers(1, 4) | st.just(LAST))
@settings(max_examples=examples(40))
def test_rolling_by_rows(times: list[int], rows: int) -> None:
    for order in ("event", "arrival"):
        out = sash.rolling(places(times), on="t", rows=rows, order=order, aggs=agg.sum("bit"))
        assert out["sum_bit"].to_pylist() == frames(times, rows, 0, by_count=True, order=order)


def stepped(times: list[int], size: int, every: int, offset: int) -> dict[int, int]:
    """The rows of each window [end - size, end), by its end."""
    found: dict[int, int] = {}
    for i, t in enumerate(times):
        end = (t - offset) // every * every + every + offset
        while end - size <= t:
            found[end] = found.get(end, 0) + (1 << i)
            end += every
    return dict(sorted(found.items()))


@given(
    times=TIMES,
    size=st.sampled_from([1, 7, 2**61, LAST]),
    share=st.integers(1, 4),
    offset=st.sampled_from([None, 0, 3, -3, FIRST, LAST]),
)
@settings(max_examples=examples(80))
def test_steps(times: list[int], size: int, share: int, offset: int | None) -> None:
    every = max(1, size // share)
    wanted = stepped(times, size, every, offset or 0)
    fits = all(end - size >= FIRST and end <= LAST for end in wanted)

    def run() -> pa.Table:
        return sash.rolling(
            places(times), on="t", window=size, every=every, offset=offset, aggs=agg.sum("bit")
        )

    if not fits:
        with pytest.raises(OverflowError, match="begins or ends beyond what 64 bits"):
            run()
        return
    out = run()
    assert out["window_end"].to_pylist() == list(wanted)
    assert out["window_start"].to_pylist() == [end - size for end in wanted]
    assert out["sum_bit"].to_pylist() == list(wanted.values())


# ---- live windows ------------------------------------------------------------------------------


@given(times=TIMES, size=LENGTHS)
@settings(max_examples=examples(60))
def test_trees_slide(times: list[int], size: int) -> None:
    values = [1 << i for i in range(len(times))]
    wanted = frames(times, size, 0, order="arrival")
    for structure in (sash.FingerTree, sash.ClassicTree):
        # A row that comes too late is dropped at once, so it is never seen.
        found = structure(agg.sum(dtype=int)).slide(times, values, size)
        assert found.tolist() == wanted
    ordered = sorted(times)
    found = sash.TimedWindow(agg.sum(dtype=int)).slide(ordered, values, size)
    assert found.tolist() == frames(ordered, size, 0, order="arrival")


@given(times=TIMES, ends=st.tuples(st.sampled_from(EDGES), st.sampled_from(EDGES)))
@settings(max_examples=examples(60))
def test_trees_between_two_times(times: list[int], ends: tuple[int, int]) -> None:
    tree = sash.FingerTree(agg.count())
    for time in times:
        tree.insert(time, 0)
    inside = sum(ends[0] <= t <= ends[1] for t in times)
    assert tree.query(*ends) == inside
    left = {t for t in times if t > ends[0]}
    assert tree.bulk_evict(ends[0]) == len(set(times) - left)
    assert [t for t, _ in tree] == sorted(left)


# ---- the operator ------------------------------------------------------------------------------


def halves(first: int, last: int) -> tuple[list[int], list[int]]:
    """Two windows, and with them all of time."""
    return [-REACH, 0], [0, REACH]


def whole(first: int, last: int) -> tuple[list[int], list[int]]:
    return [-REACH], [REACH]


SIZES = st.sampled_from([1, 7, 2**59, LONGEST - 2, LONGEST - 1])
OFFSETS = st.sampled_from([None, 3, -3, LONGEST - 1, -LONGEST + 1])
WINDOWS = st.one_of(
    st.builds(sash.tumbling, SIZES, offset=OFFSETS),
    st.builds(lambda n, o: sash.sliding(n, (n + 2) // 3, offset=o), SIZES, OFFSETS),
    st.builds(sash.session, SIZES),
    st.builds(sash.windows.rolling, SIZES),
    st.sampled_from([halves, whole]).map(sash.windows.calendar),
)
NEAR = st.sampled_from([-REACH, -REACH + 1, -LONGEST, -1, 0, 1, LONGEST, REACH - 1])
MOMENTS = NEAR | st.integers(-REACH, REACH - 1)


@given(
    window=WINDOWS,
    batches=st.lists(st.tuples(st.lists(MOMENTS, max_size=4), MOMENTS), min_size=1, max_size=4),
    lateness=st.sampled_from([0, 5, LONGEST - 1]),
    store=st.sampled_from(["lazy", "eager"]),
)
@settings(max_examples=examples(250))
def test_the_operator(
    window: sash.windows.Window,
    batches: list[tuple[list[int], int]],
    lateness: int,
    store: str,
) -> None:
    op = sash.WindowOperator(
        on="t", windows=window, aggs=agg.sum("bit"), lateness=lateness, store=store
    )
    model = Model(lambda bits: (sum(bits),), [(window, None)], lateness)
    said = Downstream("complete")

    def hear(table: pa.Table) -> None:
        said.read(table, ["sum_bit"], None, set())
        assert said.values() == model.told()

    bit = 0
    for times, watermark in batches:
        rows = [Row(None, t, 1 << (bit + i)) for i, t in enumerate(times)]
        bit += len(times)
        model.process(rows)
        batch = {"t": pa.array(times, pa.int64()), "bit": pa.array([r.x for r in rows], pa.int64())}
        hear(op.process(pa.table(batch)))
        model.advance(watermark)
        hear(op.advance(watermark))
    model.watermark = 2**70
    hear(op.finish())
    assert op.late_rows == len(model.late)


@pytest.mark.parametrize("time", [REACH + 1, -REACH - 1, FIRST, LAST])
def test_the_operator_says_where_its_time_ends(time: int) -> None:
    op = sash.WindowOperator(on="t", windows=sash.tumbling(5), aggs=agg.count())
    op.process(pa.table({"t": [REACH, -REACH]}))
    with pytest.raises(OverflowError, match="row 1 is more than 2\\^62 - 1 from the epoch"):
        op.process(pa.table({"t": [0, time]}))
    for question in (op.advance, lambda t: op.query(None, t), lambda t: op.query(None, None, t)):
        with pytest.raises(OverflowError, match="more than 2\\^62 - 1"):
            question(time)
    assert op.rows == 2


@pytest.mark.parametrize("length", [LONGEST, 2**62, LAST, 2**63, 10**30])
def test_lengths_that_are_too_long(length: int) -> None:
    batch = pa.table({"t": [0]})
    for window in (sash.tumbling, sash.session, sash.windows.rolling):
        op = sash.WindowOperator(on="t", windows=window(length), aggs=agg.count())
        with pytest.raises(ValueError, match="must be below 2\\^6"):
            op.process(batch)
    for more in ({"lateness": length}, {"delay": length}):
        op = sash.WindowOperator(on="t", windows=sash.tumbling(1), aggs=agg.count(), **more)
        with pytest.raises(ValueError, match="must be below 2\\^6"):
            op.process(batch)


def test_a_calendar_of_one_window_knows_when_it_is_due() -> None:
    op = sash.WindowOperator(on="t", windows=sash.windows.calendar(whole), aggs=agg.count())
    op.process(pa.table({"t": [5]}))
    assert op._bound is not None
    assert op._bound.next_due == REACH
