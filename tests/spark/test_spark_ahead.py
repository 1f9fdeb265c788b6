"""Rows far ahead of the present, in streams on Spark: they are dropped, and drop nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from depth import sampled
from streams import SCHEMA, Sink, read, run, write

import sash
from sash import agg
from sash import spark as sps

FAR = datetime(2999, 1, 1, tzinfo=UTC)
MINUTES = [datetime(2026, 3, 1, 9, m, tzinfo=UTC) for m in range(6)]


def tables() -> list[pa.Table]:
    """Micro-batches of two rows; the second has one with a wrong clock."""
    times = [MINUTES[:2], [MINUTES[2], FAR], MINUTES[3:5], [MINUTES[5], None]]
    return [
        pa.table([["a", "a"], t, [1, 1], [2 * i, 2 * i + 1]], schema=SCHEMA)
        for i, t in enumerate(times)
    ]


@pytest.mark.parametrize(
    ("by", "rolling"), sampled([("k", False), ("k", True), (None, False), (None, True)], 3)
)
def test_only_they_are_dropped(spark: Any, tmp_path: Path, by: Any, rolling: bool) -> None:
    write(tmp_path / "in", tables())
    asked: Any = {"on": "t", "by": by, "aggs": agg.count(), "watermark": "0 seconds"}
    asked |= {"max_ahead": "1 day", "late_rows": True}
    stream = read(spark, tmp_path / "in")
    if rolling:
        out = sps.rolling(stream, window="1m", **asked)
    else:
        out = sps.windows(stream, windows=sash.tumbling("1m"), **asked)
    sink = Sink()
    query = run(out, tmp_path / "checkpoint", sink)
    found = [r for r in sink.rows() if r["change"] != "late"]
    dropped = [r["t"] if rolling else r["late_row"]["t"] for r in sink.rows()
               if r["change"] == "late"]  # fmt: skip
    assert len(found) == 5  # those up to the watermark, at the last minute
    assert sum(r["count"] for r in found) == 5
    assert dropped == [FAR, None]
    counts = [p.observedMetrics["sash"].asDict() for p in query.recentProgress]
    assert sum(c["rows_ahead"] for c in counts) == 1
    assert sum(c["rows_without_time"] for c in counts) == 1
    assert sum(c["late_rows"] for c in counts) == 0
    assert sum(c["rows"] for c in counts) == 6


def test_what_cannot_be_bounded(spark: Any, tmp_path: Path) -> None:
    write(tmp_path / "in", tables())
    stream = read(spark, tmp_path / "in")
    asked: Any = {"on": "t", "windows": sash.tumbling("1m"), "aggs": agg.count()}
    with pytest.raises(ValueError, match=r"max_ahead: the stream has a watermark on 't' already"):
        sps.windows(stream.withWatermark("t", "1 minute"), max_ahead="1 day", **asked)
    with pytest.raises(ValueError, match="max_ahead: whole microseconds from 0 on, not '-1 day'"):
        sps.windows(stream, watermark="1 minute", max_ahead="-1 day", **asked)
    rows = spark.read.parquet(str(tmp_path / "in"))
    with pytest.raises(ValueError, match=r"max_ahead.*this DataFrame is not a stream"):
        sps.windows(rows, max_ahead=timedelta(days=1), **asked)
