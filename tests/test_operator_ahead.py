"""Rows far ahead of the present are dropped, and drop nothing else."""

from __future__ import annotations

import logging
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import agg

NOW = 1_000


def make(**arguments: Any) -> sash.WindowOperator:
    given_ = {"on": "t", "windows": sash.tumbling(10), "aggs": agg.collect("t"), "delay": 5}
    return sash.WindowOperator(**given_ | arguments)


def test_one_row_of_another_age_drops_only_itself() -> None:
    dropped: list[pa.Table] = []
    op = make(max_ahead=100, on_late=dropped.append)
    first = op.process(pa.table({"t": [990, 2**61, 1_005]}), now=NOW)
    second = op.process(pa.table({"t": [1_007, 1_020]}), now=NOW)
    found = pa.concat_tables([first, second, op.finish()])
    assert sorted(t for w in found["collect_t"].to_pylist() for t in w) == [990, 1005, 1007, 1020]
    assert [t["t"].to_pylist() for t in dropped] == [[2**61]]
    assert (op.rows, op.late_rows) == (4, 1)


def test_without_a_bound_such_a_row_drops_all_after_it(caplog: pytest.LogCaptureFixture) -> None:
    """What the bound is for; the log says what happens."""
    op = make()
    op.process(pa.table({"t": [990, 2**61]}))
    with caplog.at_level(logging.WARNING, "sash"):
        op.process(pa.table({"t": [1_007, 1_020]}))
    assert op.late_rows == 2
    (record,) = caplog.records
    assert "2 of the 2 rows of a batch (100.0%) were dropped" in record.getMessage()
    assert str(2**61 - 5) in record.getMessage()
    assert "max_ahead" in record.getMessage()


def test_the_warning_comes_again_when_the_number_has_doubled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    op = make()
    op.process(pa.table({"t": [2**61]}))
    for _ in range(8):
        op.process(pa.table({"t": [1]}))
    assert len(caplog.records) == 4  # at 1, 2, 4 and 8 rows
    few = make()
    few.process(pa.table({"t": [100] * 100}))
    caplog.clear()
    few.process(pa.table({"t": [1, *[100] * 99]}))
    assert few.late_rows == 1
    assert not caplog.records  # 1% is not more than 1%


times = st.one_of(st.integers(NOW - 50, NOW + 50), st.integers(-(2**61), 2**61))


def lines(table: pa.Table) -> list[str]:
    return sorted(map(str, table.to_pylist()))


@given(st.lists(st.lists(times, max_size=8), max_size=4), st.sampled_from([0, 20, 2**59]))
def test_the_others_come_out_as_if_those_had_never_come(
    batches: list[list[int]], ahead: int
) -> None:
    """A row just within the bound counts, one beyond does not."""
    kinds: list[dict[str, Any]] = [
        {"windows": [sash.sliding(20, 10), sash.session(7), sash.tumbling(rows=2)]},
        {"delay": None},
        {"lateness": 30},
        {"by": "k"},
    ]
    for arguments in kinds:
        bounded, plain = make(max_ahead=ahead, **arguments), make(**arguments)
        for batch in batches:
            table = pa.table(
                {
                    "t": pa.array(batch, pa.int64()),
                    "k": pa.array([t % 3 for t in batch], pa.int64()),
                }
            )
            near = [t for t in batch if t <= NOW + ahead]
            without = pa.table(
                {"t": pa.array(near, pa.int64()), "k": pa.array([t % 3 for t in near], pa.int64())}
            )
            assert lines(bounded.process(table, now=NOW)) == lines(plain.process(without))
            assert bounded.watermark == plain.watermark
        assert lines(bounded.finish()) == lines(plain.finish())
        assert bounded.late_rows - plain.late_rows == sum(
            t > NOW + ahead for batch in batches for t in batch
        )


@pytest.mark.parametrize(
    "kind",
    [pa.timestamp("us", "UTC"), pa.timestamp("s"), pa.timestamp("ns", "America/New_York")],
    ids=str,
)
def test_the_present_is_that_of_the_system(kind: pa.DataType) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    far = soon + timedelta(days=2)
    values = [soon, far] if kind.tz else [t.replace(tzinfo=None) for t in (soon, far)]
    op = make(windows=sash.tumbling("1h"), aggs=agg.count(), delay="1h", max_ahead="1d")
    op.process(pa.table({"t": pa.array(values).cast(kind, safe=False)}))
    assert (op.rows, op.late_rows) == (1, 1)


def test_dates_and_times_that_are_given() -> None:
    op = make(windows=sash.tumbling("1d"), aggs=agg.count(), delay=None, max_ahead="2 days")
    days = [date(2020, 1, 1), date(2020, 1, 3), date(2020, 1, 4)]
    op.process(pa.table({"t": days}), now=date(2020, 1, 1))
    assert (op.rows, op.late_rows) == (2, 1)


def test_calendars_are_not_asked_for_times_that_are_dropped() -> None:
    asked: list[int] = []

    def shifts(first: int, last: int) -> tuple[list[int], list[int]]:
        asked.append(last)
        starts = range(first // 10 * 10 - 10, last + 10, 10)
        return list(starts), [s + 10 for s in starts]

    op = make(windows=sash.windows.calendar(shifts, name="shifts"), max_ahead=10)
    op.process(pa.table({"t": [990, 2**61]}), now=NOW)
    assert max(asked) < 2_000


def test_integers_need_a_present() -> None:
    op = make(max_ahead=10)
    with pytest.raises(ValueError, match=r"'t' holds int64.*process\(batch, now=...\)"):
        op.process(pa.table({"t": [1]}))
    assert op.rows == 0
    with pytest.raises(ValueError, match="now is for operators with max_ahead"):
        make().process(pa.table({"t": [1]}), now=5)
    with pytest.raises(ValueError, match="max_ahead must be at least 0"):
        make(max_ahead=-1).process(pa.table({"t": [1]}), now=5)


def test_the_bound_may_be_another_after_a_restart() -> None:
    op = make()
    op.process(pa.table({"t": [990]}))
    other = make(max_ahead=10)
    other.restore(op.snapshot())
    other.process(pa.table({"t": [991, 5_000]}), now=NOW)
    assert (other.rows, other.late_rows) == (2, 1)
