"""The window operator: what its users count on, case by case.

A timeline says what happens: rows as their times, `|` a watermark.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import sash
from sash import agg

ROWS = sash.monoid(lambda a, b: a + b, lift=lambda v: [v], name="rows")


def operator(*windows: sash.windows.Window, **arguments: Any) -> sash.WindowOperator:
    given: dict[str, Any] = {"on": "t", "windows": windows, "aggs": agg.sum("x")}
    return sash.WindowOperator(**(given | arguments))


def rows(*times: int, x: list[Any] | None = None, **columns: Any) -> pa.Table:
    values = pa.array([1.0] * len(times), pa.float64()) if x is None else x
    return pa.table({"t": pa.array(times, pa.int64()), "x": values, **columns})


def told(table: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    names = ["window_start", "window_end", *columns]
    return [tuple(r[n] for n in names) for r in table.to_pylist()]


# ---- what the published code gets wrong ----


def test_a_time_jump_longer_than_the_lateness_loses_nothing() -> None:
    # 1 2 ... 1_000_000 |
    op = operator(sash.tumbling(10), lateness=5, delay=0)
    found = told(op.process(rows(1, 2)), "sum_x")
    found += told(op.process(rows(1_000_000)), "sum_x")
    found += told(op.finish(), "sum_x")
    assert found == [(0, 10, 2.0), (1_000_000, 1_000_010, 1.0)]
    assert op.late_rows == 0


def test_a_jump_within_one_batch_loses_nothing() -> None:
    op = operator(sash.tumbling(10), sash.session(3), lateness=5, delay=0)
    found = op.process(rows(1, 1_000_000))
    assert told(found, "sum_x") == [(0, 10, 1.0), (1, 4, 1.0)]


def test_extending_the_start_of_the_first_session() -> None:
    # 10 | then 8 joins it from the left (case 1.3)
    op = operator(sash.session(3), lateness=100)
    op.process(rows(10))
    assert op.advance(9).num_rows == 0
    assert op.process(rows(8)).num_rows == 0
    assert told(op.advance(20), "sum_x") == [(8, 13, 2.0)]


def test_a_watermark_when_no_session_is_open() -> None:
    op = operator(sash.session(3))
    assert op.process(rows()).num_rows == 0
    assert op.advance(5).num_rows == 0
    op.process(rows(7))
    assert told(op.advance(11)) == [(7, 10)]
    assert op.advance(50).num_rows == 0
    op.process(rows(60))
    assert told(op.advance(100)) == [(60, 63)]


@pytest.mark.parametrize(("late", "sessions"), [(7, 1), (6, 2), (13, 1), (14, 2)])
def test_a_row_exactly_one_gap_away_belongs_to_the_session(late: int, sessions: int) -> None:
    op = operator(sash.session(3))
    op.process(rows(10))
    op.process(rows(late))
    assert op.finish().num_rows == sessions


def test_a_session_is_told_only_when_no_row_on_time_can_join_it() -> None:
    op = operator(sash.session(3))
    op.process(rows(10))
    assert op.advance(13).num_rows == 0  # a row at 13 would join
    assert op.process(rows(13)).num_rows == 0
    assert told(op.advance(17), "sum_x") == [(10, 16, 2.0)]


def test_session_edges_cross_fixed_edges() -> None:
    # 8 9 10 11 | one session over two tumbling windows
    op = operator(sash.session(3), sash.tumbling(10))
    op.process(rows(8, 11, 9, 10))
    found = {(r["window"], r["window_start"]): r["sum_x"] for r in op.finish().to_pylist()}
    assert found == {("session_3", 8): 4.0, ("tumbling_10", 0): 2.0, ("tumbling_10", 10): 2.0}


def test_several_gaps_out_of_order() -> None:
    op = operator(sash.session(2), sash.session(5), sash.session(9), lateness=100)
    for t in (30, 10, 20, 24, 12, 16):
        op.process(rows(t))
    found = [(r["window"], r["window_start"], r["window_end"]) for r in op.finish().to_pylist()]
    assert found == [
        ("session_2", 10, 14), ("session_2", 16, 18), ("session_2", 20, 22),
        ("session_2", 24, 26), ("session_2", 30, 32),
        ("session_5", 10, 29), ("session_5", 30, 35),
        ("session_9", 10, 39),
    ]  # fmt: skip


def test_no_window_is_told_twice_around_its_end() -> None:
    op = operator(sash.tumbling(10), lateness=5)
    op.process(rows(3))
    assert op.advance(9).num_rows == 0
    assert told(op.advance(10)) == [(0, 10)]
    assert op.advance(10).num_rows == 0
    assert op.advance(9).num_rows == 0
    assert op.advance(11).num_rows == 0


def test_rows_are_folded_in_order_of_time_and_arrival() -> None:
    op = operator(sash.tumbling(10), sash.session(20), aggs=ROWS.on("x"), lateness=100)
    op.process(rows(5, 3, 5, x=["a", "b", "c"]))
    op.process(rows(4, 5, 3, x=["d", "e", "f"]))
    expected = ["b", "f", "d", "a", "c", "e"]
    assert [r["rows_x"] for r in op.finish().to_pylist()] == [expected, expected]


def test_windows_of_rows_with_equal_times() -> None:
    op = operator(sash.tumbling(rows=2), aggs=ROWS.on("x"))
    op.process(rows(5, 5, 5, x=["a", "b", "c"]))
    assert told(op.advance(5), "rows_x") == [(5, 5, ["a", "b"])]
    assert told(op.process(rows(5, 6, x=["d", "e"])), "rows_x") == [(5, 5, ["c", "d"])]
    assert op.finish().num_rows == 0  # there is no second row


def test_the_same_input_gives_the_same_output() -> None:
    def run() -> list[dict[str, Any]]:
        op = operator(sash.sliding(7, 3), sash.session(2), by="k", lateness=4, delay=3)
        out = []
        for start in range(0, 60, 5):
            times = [(start * 7 + i * 3) % 23 + start for i in range(9)]
            out += op.process(rows(*times, k=[t % 4 for t in times])).to_pylist()
        return out + op.finish().to_pylist()

    assert run() == run()


# ---- figure 4 of the paper ----


@pytest.mark.parametrize(
    ("late", "sessions"),
    [
        pytest.param(11, [(10, 15), (20, 25)], id="1.1 inside"),
        pytest.param(14, [(10, 17), (20, 25)], id="1.2 at the end"),
        pytest.param(18, [(10, 15), (18, 25)], id="1.3 at the start"),
        pytest.param(30, [(10, 15), (20, 25), (30, 33)], id="3 a new one at the end"),
        pytest.param(2, [(2, 5), (10, 15), (20, 25)], id="3 a new one before"),
    ],
)
@pytest.mark.parametrize("store", ["lazy", "eager"])
def test_out_of_order_rows_and_sessions(
    late: int, sessions: list[tuple[int, int]], store: str
) -> None:
    # 10 11 12 . . . . . . . 20 21 22, gap 3
    op = operator(sash.session(3), store=store)
    op.process(rows(10, 11, 12, 20, 21, 22))
    op.process(rows(late))
    assert op.slices == len(sessions)  # no more than there are sessions
    assert told(op.finish()) == sessions


@pytest.mark.parametrize("store", ["lazy", "eager"])
def test_a_row_that_closes_a_gap_fuses_sessions(store: str) -> None:
    op = operator(sash.session(3), sash.session(8), store=store)
    op.process(rows(10, 15))
    assert op.slices == 2
    op.process(rows(13))  # case 2
    assert op.slices == 1
    assert told(op.finish(), "sum_x") == [(10, 18, 3.0), (10, 23, 3.0)]


def test_slices_are_as_few_as_windows_need() -> None:
    op = operator(sash.sliding(10, 5), sash.session(1000))
    op.process(rows(*range(100)))
    assert op.slices == 20
    op = operator(sash.session(2), sash.session(50), sash.session(9))
    op.process(rows(*range(100)))
    assert op.slices == 1


# ---- time ----


def test_late_rows_correct_what_was_told() -> None:
    op = operator(sash.tumbling(10), lateness=10)
    op.process(rows(3))
    assert told(op.advance(12), "sum_x", "revision", "change") == [(0, 10, 1.0, 0, "complete")]
    assert told(op.process(rows(4, 5)), "sum_x", "revision", "change") == [
        (0, 10, 3.0, 1, "correction")
    ]
    assert op.process(rows(6, x=[None])).num_rows == 0  # the sum is the same
    assert told(op.process(rows(2)), "sum_x", "revision") == [(0, 10, 4.0, 2)]
    assert op.process(rows(1)).num_rows == 0
    assert op.late_rows == 1


def test_a_late_session_that_fuses_two_withdraws_one() -> None:
    op = operator(sash.session(3), lateness=100)
    op.process(rows(10, 15))
    assert told(op.advance(30)) == [(10, 13), (15, 18)]
    found = told(op.process(rows(13)), "sum_x", "revision", "change")
    assert found == [
        (10, 13, 1.0, 0, "withdrawn"),
        (15, 18, 1.0, 0, "withdrawn"),
        (10, 18, 3.0, 0, "complete"),
    ]


def test_a_changelog_retracts_before_it_inserts() -> None:
    op = operator(sash.tumbling(10), lateness=100, emit="changelog")
    op.process(rows(3))
    assert told(op.advance(12), "sum_x", "change") == [(0, 10, 1.0, "insert")]
    assert told(op.process(rows(4)), "sum_x", "revision", "change") == [
        (0, 10, 1.0, 0, "retract"),
        (0, 10, 2.0, 1, "insert"),
    ]


def test_updates_come_early() -> None:
    op = operator(sash.tumbling(10), emit="updates")
    assert told(op.process(rows(3)), "sum_x", "change") == [(0, 10, 1.0, "update")]
    assert told(op.process(rows(4, 12)), "sum_x", "revision", "change") == [
        (0, 10, 2.0, 1, "update"),
        (10, 20, 1.0, 0, "update"),
    ]
    assert told(op.advance(10), "sum_x", "revision", "change") == [(0, 10, 2.0, 2, "complete")]


def test_late_rows_go_to_the_side() -> None:
    side: list[pa.Table] = []
    op = operator(sash.tumbling(10), delay=0, by="k", on_late=side.append)
    op.process(rows(30, 5, 31, k=["a", "b", "a"], other=[1, 2, 3]))
    assert [t.to_pylist() for t in side] == [[{"t": 5, "x": 1.0, "k": "b", "other": 2}]]
    assert (op.rows, op.late_rows, op.keys) == (2, 1, 1)


def test_a_derived_watermark_follows_row_by_row() -> None:
    one_by_one, at_once = (operator(sash.tumbling(10), delay=2) for _ in range(2))
    times = [5, 20, 17, 18, 40, 39, 38, 37]
    for t in times:
        one_by_one.process(rows(t))
    at_once.process(rows(*times))
    assert one_by_one.late_rows == at_once.late_rows == 2
    assert one_by_one.watermark == at_once.watermark == 38


def test_clock_times_and_zones() -> None:
    op = sash.WindowOperator(
        on="ts", windows=sash.tumbling("1h", offset="30m"), aggs=agg.count(), lateness="1h"
    )
    zone = pa.timestamp("us", "Europe/Berlin")
    start = datetime(2026, 1, 1, 12, tzinfo=UTC)
    op.process(pa.table({"ts": pa.array([start, start + timedelta(minutes=45)], zone)}))
    found = op.advance(datetime(2026, 1, 1, 13, tzinfo=UTC))
    assert found["window_end"].to_pylist() == [datetime(2026, 1, 1, 12, 30, tzinfo=UTC)]
    assert found.schema.field("window_start").type == zone
    assert op.watermark == datetime(2026, 1, 1, 13, tzinfo=UTC)


# ---- questions ----


def test_live_questions() -> None:
    op = operator(sash.tumbling(10), by="k")
    op.process(rows(3, 12, 25, k=["a", "a", "b"]))
    assert op.query("a") == {"sum_x": 2.0}
    assert op.query("a", 10, 20) == {"sum_x": 1.0}
    assert op.query("nobody") == {"sum_x": None}
    with pytest.raises(ValueError, match=r"12 is inside the slice \[10, 20\)"):
        op.query("a", 12, None)
    assert told(op.windows("a"), "complete") == [(0, 10, False), (10, 20, False)]


def test_questions_from_every_moment() -> None:
    """Refused inside a slice, which reaches from its first row to its last; else exact."""
    op = operator(sash.tumbling(10), sash.session(3), by="k")
    times = (1, 3, 12, 13, 18)
    op.process(rows(*times, k=["a"] * len(times)))
    for t in range(21):
        if t in (2, 3, 13):
            with pytest.raises(ValueError, match=f"{t} is inside the slice"):
                op.query("a", t, None)
        else:
            later = sum(time >= t for time in times)
            assert op.query("a", t, None) == {"sum_x": float(later) or None}


def test_windows_come_and_go() -> None:
    op = operator(sash.tumbling(10), lateness=100)
    op.process(rows(3, 7))
    op.add(sash.tumbling(4))
    op.process(rows(9, 12, 3))
    found = {(r["window"], r["window_start"]): r["sum_x"] for r in op.finish().to_pylist()}
    assert found == {
        ("tumbling_10", 0): 4.0, ("tumbling_10", 10): 1.0,
        ("tumbling_4", 8): 1.0, ("tumbling_4", 12): 1.0,
    }  # fmt: skip
    op = operator(sash.tumbling(10), sash.session(2))
    op.process(rows(3))
    op.remove("session_2")
    assert [r["window"] for r in op.finish().to_pylist()] == ["tumbling_10"]


def test_sessions_that_are_gone_cut_no_slices() -> None:
    op = operator(sash.tumbling(10), sash.session(3))
    op.process(rows(1, 7))
    assert op.slices == 2
    op.remove("session_3")
    op.process(rows(21, 27))
    assert op.slices == 3
    assert told(op.finish(), "sum_x") == [(0, 10, 2.0), (20, 30, 2.0)]


def test_keys_are_forgotten_when_nothing_can_change() -> None:
    op = operator(sash.tumbling(10), sash.session(5), by="k", delay=0, lateness=20)
    for i in range(1000):
        op.process(rows(i * 10, k=[i]))
    assert op.keys < 10
    op.finish()
    assert (op.keys, op.slices) == (0, 0)
    with pytest.raises(RuntimeError, match="the stream was finished"):
        op.process(rows(10**9, k=[1]))


def test_keys_of_windows_by_rows_are_forgotten_too() -> None:
    for more in ({"lateness": 10}, {"delay": 0}, {}):
        op = operator(sash.tumbling(rows=1), by="k", **more)
        for i in range(100):
            op.process(rows(i, k=[i]))
            op.advance(i)
        op.advance(10**6)
        assert op.keys == 0


def test_rows_in_no_window_are_forgotten() -> None:
    def shifts(first: int, last: int) -> tuple[list[int], list[int]]:
        hundreds = range(first // 100, last // 100 + 1)
        return [h * 100 for h in hundreds], [h * 100 + 50 for h in hundreds]

    op = operator(sash.windows.calendar(shifts), by="k")
    for i in range(20):
        op.process(rows(i * 100 + 70, i * 100 + 10, k=[f"{i} out", f"{i} in"]))
        op.advance(i * 100)
    assert op.keys <= 5
    assert op.query("19 out") == {"sum_x": 1.0}  # what is kept, if in no window
    assert "19 in" in op.key_table()["k"].to_pylist()
    op.finish()
    assert (op.keys, op.slices) == (0, 0)


def test_finish_tells_what_rows_would_have_ended() -> None:
    windows = (
        sash.windows.delta("x", 5),
        sash.windows.punctuation("done"),
        sash.windows.split(lambda times: times % 2 == 0),
        sash.tumbling(rows=2),
    )
    op = operator(*windows)
    op.process(rows(1, 2, 3, x=[1.0, 2.0, 3.0], done=[False, True, False]))
    found = [(r["window"], r["sum_x"]) for r in op.finish().to_pylist()]
    assert found == [
        ("delta_x_5", 6.0), ("punctuation_done", 3.0), ("punctuation_done", 3.0),
        ("split", 1.0), ("split", 5.0), ("tumbling_2rows", 3.0),
    ]  # fmt: skip


def test_what_could_not_be_delivered_comes_with_the_next_call() -> None:
    def refuse(_: pa.Table) -> None:
        raise ZeroDivisionError

    op = operator(sash.tumbling(10), delay=0, on_late=refuse)
    op.process(rows(1, 5))
    with pytest.raises(ZeroDivisionError):
        op.process(rows(2, 25))
    assert op.late_rows == 1
    assert told(op.process(rows(26)), "sum_x") == [(0, 10, 2.0)]


def test_types_written_otherwise_are_the_same() -> None:
    op = operator(sash.tumbling(10), by="k")
    plain = rows(1, k=pa.array(["a"]))
    op.process(plain)
    op.process(rows(2, k=pa.array(["a"], pa.large_string())))
    op.process(rows(3, k=pa.array(["a"]).dictionary_encode()))
    assert op.query("a") == {"sum_x": 3.0}
    stamps = pa.timestamp("us", "UTC"), pa.timestamp("us", "+00:00")
    op = operator(sash.tumbling("10s"), aggs=agg.count())
    for stamp in stamps:
        op.process(pa.table({"t": pa.array([1], pa.int64()).cast(stamp)}))
    assert op.query() == {"count": 2}


def test_every_aggregate_keeps_its_type() -> None:
    columns = [
        pa.array([3, 1, 2], kind) for kind in (pa.uint64(), pa.date32(), pa.int8(), pa.float32())
    ]
    columns += [pa.array([3, 1, 2]).view(kind) for kind in (pa.timestamp("ns"), pa.duration("s"))]
    columns.append(pa.array([Decimal("3.25"), Decimal("1"), Decimal("2")], pa.decimal128(9, 2)))
    for x in columns:
        kind = x.type
        aggs = [agg.max("x"), agg.first("x"), agg.collect("x"), agg.argmin("x", "x").alias("a")]
        op = operator(sash.tumbling(10), aggs=aggs)
        op.process(rows(1, 2, 3, x=x))
        found = op.finish()
        kept = [found.schema.field(n).type for n in ("max_x", "first_x", "a")]
        assert kept == [kind] * 3
        assert found.schema.field("collect_x").type == pa.list_(kind)
        assert found["max_x"][0] == x[0] and found["a"][0] == x[1]
        assert found["collect_x"][0].values == x


@pytest.mark.parametrize("window", [
    sash.windows.delta("x", 5), sash.windows.punctuation("end"),
    sash.windows.split(lambda times, x: x[1:] % 5 == 0, "x"),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("saved", [False, True])
def test_a_window_that_rows_have_not_ended_is_told_at_the_end(window: Any, saved: bool) -> None:
    table = pa.table({"t": [1, 2, 5], "x": [1.0, 11.0, 12.0], "end": [True, False, False]})

    def make() -> sash.WindowOperator:
        return sash.WindowOperator(on="t", windows=window, aggs=agg.count())

    op = make()
    told = [op.process(table), op.advance(5)]
    if saved:
        data, op = op.snapshot(), make()
        op.restore(data)
    told.append(op.finish())
    assert sum(n for part in told for n in part["count"].to_pylist()) == 3
