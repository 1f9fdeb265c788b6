"""Tumbling, sliding and session windows are those of Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import agg


def rows(seed: int) -> list[tuple[int, int, float]]:
    """Key, microseconds, value; many of the distances are exactly one gap."""
    rng = np.random.default_rng(seed)
    steps = rng.choice([0, 250_000, 1_000_000, 2_000_000, 2_000_001, 5_000_000], 400)
    times = np.cumsum(steps) - 100_000_000  # before the epoch, too
    order = rng.permutation(len(times))
    return [(int(rng.integers(0, 3)), int(times[i]), float(i)) for i in order]


WINDOWS = [
    (sash.tumbling("10s"), ("window", "10 seconds", "10 seconds", "0 seconds")),
    (sash.tumbling("10s", offset="3s"), ("window", "10 seconds", "10 seconds", "3 seconds")),
    (sash.sliding("9s", "2s"), ("window", "9 seconds", "2 seconds", "0 seconds")),
    (sash.session("2s"), ("session_window", "2 seconds")),
    (sash.session("1s"), ("session_window", "1 second")),
]


@pytest.mark.parametrize(("window", "call"), WINDOWS, ids=[w.name for w, _ in WINDOWS])
def test_windows_equal_those_of_spark(spark: Any, window: Any, call: tuple[str, ...]) -> None:
    from pyspark.sql import functions as f

    data = rows(11)
    stamps = pa.array([t for _, t, _ in data], pa.int64()).view(pa.timestamp("us", "UTC"))
    table = pa.table({"k": [k for k, _, _ in data], "ts": stamps, "x": [x for _, _, x in data]})
    op = sash.WindowOperator(
        on="ts", by="k", windows=window, aggs=[agg.count(), agg.sum("x"), agg.max("x")]
    )
    out = [op.process(table.slice(i, 37)) for i in range(0, len(data), 37)]
    ours = {
        (r["k"], r["window_start"], r["window_end"]): (r["count"], r["sum_x"], r["max_x"])
        for t in [*out, op.finish()]
        for r in t.to_pylist()
    }

    frame = spark.createDataFrame(
        [(k, datetime.fromtimestamp(t / 1e6, UTC), x) for k, t, x in data],
        "k long, ts timestamp, x double",
    )
    name, *arguments = call
    column = getattr(f, name)("ts", *arguments)
    grouped = frame.groupBy("k", column.alias("w")).agg(f.count("x"), f.sum("x"), f.max("x"))
    epoch = f.unix_micros
    spark_rows = grouped.select("k", epoch("w.start"), epoch("w.end"), *grouped.columns[2:])
    theirs = {
        (r[0], _moment(r[1]), _moment(r[2])): (r[3], r[4], r[5]) for r in spark_rows.collect()
    }
    assert ours == theirs


def _moment(micros: int) -> datetime:
    return pa.scalar(micros, pa.int64()).cast(pa.timestamp("us", "UTC")).as_py()
