"""Units, calendars and zones: moments and lengths are exact, or refused; never wrapped or cut."""

from __future__ import annotations

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash import agg
from sash._clock import REACH, Clock
from sash._durations import nanoseconds, since_epoch

UTC, BERLIN = dt.UTC, ZoneInfo("Europe/Berlin")
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
LONG_UNITS = {"W": 604_800 * 10**9, "D": 86_400 * 10**9, "h": 3_600 * 10**9, "m": 60 * 10**9}


def counts(times: Any, window: Any, **more: Any) -> list[int]:
    out = sash.rolling(pa.table({"t": times}), on="t", window=window, aggs=agg.count(), **more)
    return out["count"].to_pylist()  # type: ignore[no-any-return]


# ---- lengths -----------------------------------------------------------------------------------


@given(n=st.integers(-(2**62), 2**62), unit=st.sampled_from([*NANOSECONDS, *LONG_UNITS]))
def test_lengths_of_numpy_are_exact(n: int, unit: str) -> None:
    wanted = n * (NANOSECONDS | LONG_UNITS)[unit]
    assert nanoseconds("window", np.timedelta64(n, unit)) == wanted
    if abs(n) < 2**40:
        assert nanoseconds("window", np.timedelta64(n, (unit, 25))) == 25 * wanted


def test_a_window_of_six_centuries() -> None:
    """Nanoseconds end at 292 years; seconds do not."""
    days = 220_000
    for unit, second in (("s", 1), ("ms", 10**3), ("us", 10**6)):
        times = pa.array([0, days * 86_400 * second], pa.timestamp(unit))
        for longer in (np.timedelta64(days + 1, "D"), dt.timedelta(days + 1), f"{days + 1}d"):
            assert counts(times, longer) == [1, 2]
        assert counts(times, np.timedelta64(days, "D")) == [1, 1]
    with pytest.raises(ValueError, match="below 2\\^63 of the column's unit"):
        counts(pa.array([0], pa.timestamp("ns")), np.timedelta64(days, "D"))


@pytest.mark.parametrize(
    ("length", "why"),
    [
        (np.timedelta64(5), "has no unit"),
        (np.timedelta64(1500, "ps"), "finer than nanoseconds"),
        (np.timedelta64(1, "M"), "not a fixed length"),
        (np.timedelta64("NaT", "s"), "must be a duration"),
        (pd.NaT, "must be a duration"),
    ],
)
def test_lengths_that_are_none(length: Any, why: str) -> None:
    with pytest.raises((TypeError, ValueError), match=why):
        counts(pa.array([0], pa.timestamp("ns")), length)


def test_windows_of_nanoseconds_have_names_of_their_own() -> None:
    table = pa.table({"t": pa.array([0, 501], pa.timestamp("ns")), "v": [1, 2]})
    both = [np.timedelta64(501, "ns"), pd.Timedelta("502ns")]
    out = sash.rolling(table, on="t", window=both, aggs=agg.sum("v"))
    assert out["sum_v_501ns"].to_pylist() == [1, 2]
    assert out["sum_v_502ns"].to_pylist() == [1, 3]
    assert sash.tumbling(pd.Timedelta("1500ns")).name == "tumbling_1500ns"


# ---- moments -----------------------------------------------------------------------------------

STAMPS = [pa.timestamp(unit, zone) for unit in NANOSECONDS for zone in (None, "UTC", "Asia/Tokyo")]


@pytest.mark.parametrize("kind", STAMPS, ids=str)
@given(fine=st.integers(-(2**62), 2**62))
@settings(max_examples=examples(30))
def test_moments_of_any_library(kind: pa.DataType, fine: int) -> None:
    """A moment is the same to a nanosecond however it is written, or refused."""
    clock, unit = Clock("t", kind), NANOSECONDS[kind.unit]
    zone = None if kind.tz is None else "UTC"
    spellings = [
        np.datetime64(fine, "ns"),
        pd.Timestamp(fine, unit="ns", tz=zone),
        pa.scalar(fine, pa.timestamp("ns", kind.tz)),
    ]
    if fine % 1000 == 0 or kind.unit == "us":
        fine -= fine % 1000
        exact = dt.datetime(1970, 1, 1, tzinfo=UTC) + dt.timedelta(microseconds=fine // 1000)
        spellings = [exact if zone else exact.replace(tzinfo=None)]
    for moment in spellings:
        if fine % unit == 0:
            assert clock.moment("watermark", moment) == fine // unit
        else:
            with pytest.raises(ValueError, match="finer than the unit"):
                clock.moment("watermark", moment)


def test_moments_beyond_what_a_unit_holds() -> None:
    far = [np.datetime64("2500-01-01"), dt.datetime(9999, 1, 1), np.datetime64("-9999", "Y")]
    for moment in far:
        assert abs(since_epoch("t", moment)) > 2**62
        with pytest.raises(OverflowError, match="more than 2\\^62 - 1 from the epoch"):
            Clock("t", pa.timestamp("ns")).moment("watermark", moment)
        seconds = Clock("t", pa.timestamp("s")).moment("watermark", moment)
        assert np.datetime64(seconds, "s") == np.datetime64(moment, "s")
    with pytest.raises(OverflowError, match="more than 2\\^62 - 1"):
        Clock("t", pa.timestamp("us")).moment("watermark", np.datetime64("300000-01-01"))


def test_moments_of_dates_are_days() -> None:
    days = pa.array([dt.date(2026, 2, 27), dt.date(2026, 3, 1)])
    op = sash.WindowOperator(on="t", windows=sash.tumbling(1), aggs=agg.count())
    op.process(pa.table({"t": days}))
    for moment in (dt.date(2026, 2, 28), np.datetime64("2026-02-28"), 20512, pa.scalar(20512)):
        assert Clock("t", pa.date32()).moment("w", moment) == 20512 * 86_400_000
    assert op.advance(20512)["window_start"].to_pylist() == [dt.date(2026, 2, 27)]
    assert op.watermark == dt.date(2026, 2, 28)


def test_moments_of_other_kinds_are_refused() -> None:
    naive, zoned = dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 1, tzinfo=UTC)
    refused = [
        (pa.timestamp("us"), zoned), (pa.timestamp("us", "UTC"), naive),
        (pa.timestamp("us", "UTC"), dt.date(2026, 1, 1)),
        (pa.timestamp("us"), pa.scalar(zoned)), (pa.timestamp("us", "UTC"), pa.scalar(naive)),
        (pa.timestamp("us"), dt.timedelta(1)), (pa.duration("us"), naive), (pa.int64(), naive),
        (pa.timestamp("us"), "2026-01-01"), (pa.timestamp("us"), pd.NaT), (pa.int64(), None),
        (pa.timestamp("us"), np.datetime64("NaT")), (pa.int64(), 1.0), (pa.int64(), True),
        (pa.timestamp("us"), pa.scalar(None, pa.timestamp("us"))),
    ]  # fmt: skip
    for kind, moment in refused:
        with pytest.raises(TypeError, match="column 't'"):
            Clock("t", kind).moment("watermark", moment)
    assert Clock("t", pa.duration("ns")).moment("w", pd.Timedelta("501ns")) == 501
    assert Clock("t", pa.duration("s")).moment("w", np.timedelta64(10**6, "D")) == 86_400 * 10**6


# ---- the ends of calendars ---------------------------------------------------------------------


def test_the_first_and_the_last_year() -> None:
    ends = [dt.datetime(1, 1, 1), dt.datetime(1, 1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59)]
    for unit in ("s", "ms", "us"):
        times = pa.array(ends, pa.timestamp(unit))
        assert counts(times, "2h") == [1, 2, 1]
        assert counts(times, ("0s", "2h"), closed="both") == [2, 1, 1]
        op = sash.WindowOperator(on="t", windows=sash.tumbling("1d"), aggs=agg.count())
        op.process(pa.table({"t": times}))
        out = op.finish()
        assert out["count"].to_pylist() == [2, 1]
        assert out["window_start"].to_pylist() == [ends[0], dt.datetime(9999, 12, 31)]
        assert out["window_end"].cast(pa.int64())[1].as_py() % 86_400 == 0  # the year 10000
    days = pa.array([e.date() for e in ends])
    assert counts(days, "1d") == [2, 2, 1]
    frame = pd.DataFrame({"t": pd.Series(ends, dtype="datetime64[us]")})
    assert sash.rolling(frame, on="t", window="2h", aggs=agg.count())["count"].tolist() == [1, 2, 1]
    polars = sash.rolling(pl.DataFrame({"t": ends}), on="t", window="2h", aggs=agg.count())
    assert polars["count"].to_list() == [1, 2, 1]


def test_the_ends_of_nanoseconds() -> None:
    """1677-09-21 and 2262-04-11: all of int64 for a table, a narrower stretch for a stream."""
    ends = [-(2**63), -(2**63) + 1, 2**63 - 1]
    times = pa.array(ends, pa.timestamp("ns"))
    assert counts(times, "1ns") == [1, 1, 1]
    assert counts(times, "2ns") == [1, 2, 1]
    assert counts(times, 2**63 - 1) == [1, 2, 1]
    assert counts(times, (2**63 - 1, 2**63 - 1)) == [2, 2, 1]
    polars = pl.DataFrame({"t": pl.Series(ends).cast(pl.Datetime("ns"))})
    out = sash.rolling(polars, on="t", window="2ns", aggs=agg.count())
    assert out["count"].to_list() == [1, 2, 1]
    assert out["t"].to_physical().to_list() == ends
    frame = pd.DataFrame({"t": [pd.Timestamp.min, pd.Timestamp.max]})
    assert sash.rolling(frame, on="t", window="1d", aggs=agg.count())["count"].tolist() == [1, 1]
    op = sash.WindowOperator(on="t", windows=sash.tumbling("1s"), aggs=agg.count())
    with pytest.raises(OverflowError, match="a coarser unit would fit"):
        op.process(pa.table({"t": times}))
    inside = pa.array([-REACH, REACH], pa.timestamp("ns"))
    op.process(pa.table({"t": inside}))
    assert [t.year for t in inside.to_pylist()] == [1823, 2116]
    assert op.finish()["count"].to_pylist() == [1, 1]


def test_dates_at_their_ends() -> None:
    ends = pa.array([-(2**31), 2**31 - 1], pa.int32()).cast(pa.date32())
    assert counts(ends, 2**32 - 1) == [1, 1]
    assert counts(ends, 2**32) == [1, 2]
    out = sash.rolling(pa.table({"t": ends}), on="t", window=1, every=1, aggs=agg.count())
    assert out["window_start"].cast(pa.int32()).to_pylist() == [-(2**31), 2**31 - 1]


# ---- zones, daylight saving, leap seconds ------------------------------------------------------


def test_the_hour_that_comes_twice() -> None:
    """02:30 in Berlin on 25 October 2026, before and after the clocks go back: an hour apart."""
    twice = [dt.datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=fold) for fold in (0, 1)]
    times = pa.array(twice, pa.timestamp("us", "Europe/Berlin"))
    assert counts(times, "1h") == [1, 1]
    assert counts(times, "61m") == [1, 2]
    op = sash.WindowOperator(on="t", windows=sash.tumbling("1h"), aggs=agg.count())
    op.process(pa.table({"t": times}))
    assert op.advance(twice[1])["count"].to_pylist() == [1]
    assert op.finish()["window_start"].to_pylist() == [twice[1].replace(minute=0)]


def test_the_hour_that_is_left_out() -> None:
    before, after = (dt.datetime(2026, 3, 29, h, tzinfo=BERLIN) for h in (1, 3))
    times = pa.array([before, after], pa.timestamp("s", "Europe/Berlin"))
    assert counts(times, "1h") == [1, 1]
    assert counts(times, "61m") == [1, 2]


def test_a_tumbling_day_is_one_of_utc() -> None:
    """Days of a zone are a calendar's: docs/operator.md has it."""
    late = dt.datetime(2026, 6, 1, 0, 30, tzinfo=BERLIN)  # still May in UTC
    op = sash.WindowOperator(on="t", windows=sash.tumbling("1d"), aggs=agg.count())
    op.process(pa.table({"t": pa.array([late], pa.timestamp("us", "Europe/Berlin"))}))
    assert op.finish()["window_start"].to_pylist() == [dt.datetime(2026, 5, 31, tzinfo=UTC)]


LEAP = "2016-12-31 23:59:60"


def test_leap_seconds_do_not_exist() -> None:
    """The clock of POSIX has none. Parsers refuse 23:59:60, or read it as the next midnight."""
    for refuses in (pd.Timestamp, np.datetime64, dt.datetime.fromisoformat):
        with pytest.raises(ValueError, match=r"(?i)second"):
            refuses(LEAP)
    with pytest.raises(pa.ArrowInvalid, match="Failed to parse"):
        pa.array([LEAP]).cast(pa.timestamp("s"))
    midnight = dt.datetime(2017, 1, 1)
    folded = pc.strptime(pa.array([LEAP]), format="%Y-%m-%d %H:%M:%S", unit="s")
    assert folded.to_pylist() == [midnight]
    assert pl.Series([LEAP]).str.to_datetime("%Y-%m-%d %H:%M:%S").to_list() == [midnight]
    times = pa.array([midnight - dt.timedelta(seconds=1), folded[0].as_py()], pa.timestamp("s"))
    assert counts(times, "1s") == [1, 1]  # on the clock it is one second, on the wall it was two
    assert counts(times, "2s") == [1, 2]
