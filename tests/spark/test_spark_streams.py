"""Streaming windows on Spark: what one operator says of the same micro-batches."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from streams import Sink, expected, listed, read, rows_of, run, write

import sash
from sash import agg
from sash import spark as sps

WINDOWS = [sash.tumbling("1s"), sash.sliding("5s", "500ms"), sash.session("700ms")]
AGGS = [agg.count(), agg.sum("x"), agg.last("n"), agg.max("x")]
TOLD = ["k", "window", "window_start", "window_end", "count", "sum_x", "last_n", "max_x"]


def filled(tables: list[pa.Table]) -> list[pa.Table]:
    """Operators refuse null keys, which Spark has: give them a name."""
    return [t.set_column(0, "k", t["k"].fill_null("nobody")) for t in tables]


@pytest.mark.parametrize(
    ("emit", "windows"),
    [
        ("complete", WINDOWS),
        ("updates", [sash.sliding("3s", "500ms"), sash.tumbling(rows=7)]),
        ("changelog", [sash.session("300ms"), sash.windows.rolling("2s")]),
    ],
)
def test_equals_one_operator(spark: Any, tmp_path: Path, emit: str, windows: Any) -> None:
    tables = rows_of(1, 4, 300, 12)
    write(tmp_path / "in", tables)
    out = sps.windows(
        read(spark, tmp_path / "in"), on="t", by="k", windows=windows, aggs=AGGS,
        watermark="1 second", lateness="500 ms", emit=emit, late_rows=True,
    )  # fmt: skip
    sink = Sink()
    query = run(out, tmp_path / "checkpoint", sink, "update" if emit == "updates" else "append")

    def make(**more: Any) -> sash.WindowOperator:
        return sash.WindowOperator(
            on="t", by="k", windows=windows, aggs=AGGS, lateness="500ms", emit=emit, **more
        )

    told, late = expected(filled(tables), 1000, make)
    wanted = [row for table in told for row in table.to_pylist()]
    found = [r | {"k": r["k"] or "nobody"} for r in sink.rows() if r["late_row"] is None]
    columns = [*TOLD, "revision", "change"]
    assert listed(found, columns) == listed(wanted, columns)
    rejected = [r["late_row"] for r in sink.rows() if r["late_row"] is not None]
    assert sorted(r["n"] for r in rejected) == sorted(late["n"].to_pylist())
    assert all(list(r) == ["k", "t", "x", "n"] for r in rejected)

    counted = [p.observedMetrics["sash"].asDict() for p in query.recentProgress]
    untimed = sum(1 for r in rejected if r["t"] is None)
    assert sum(c["rows"] for c in counted) == 1200 - len(rejected)
    assert sum(c["late_rows"] for c in counted) == len(rejected) - untimed > 0
    assert sum(c["rows_without_time"] for c in counted) == untimed > 0
    assert sum(c["windows"] for c in counted) == len(wanted)


@pytest.mark.parametrize(("keys", "rows"), [(1, 400), (10_000, 20_000)])
def test_equals_the_batch_answer(spark: Any, tmp_path: Path, keys: int, rows: int) -> None:
    """Rows within the watermark, in any split: the complete windows of a batch query."""
    tables = rows_of(keys, 3, rows, keys, spread=900)
    write(tmp_path / "in", tables)
    asked: Any = {"on": "t", "by": "k", "windows": WINDOWS, "aggs": AGGS[:2]}
    out = sps.windows(read(spark, tmp_path / "in"), watermark="1 second", **asked)
    sink = Sink()
    query = run(out, tmp_path / "checkpoint", sink)
    watermark = query.lastProgress.eventTime["watermark"]
    every = spark.read.parquet(str(tmp_path / "in")).where("t is not null")
    # A row at the very end of a session would still belong to it.
    batch = sps.windows(every, **asked).where(
        f"window_end < '{watermark}' or (window_end = '{watermark}' and window not like 'session%')"
    )
    found, wanted = sink.rows(), batch.toArrow().to_pylist()
    assert len(wanted) > rows / 100
    assert listed(found, TOLD[:-2]) == listed(wanted, TOLD[:-2])
    assert all(r["revision"] == 0 and r["change"] == "complete" for r in found)


def test_stopped_and_started_again(spark: Any, tmp_path: Path) -> None:
    """A query goes on where it was, with other settings; and Spark keeps its own of partitions."""
    tables = rows_of(3, 4, 200, 9)
    answers = []
    for stops in ([4], [1, 4]):
        folder = tmp_path / str(len(stops))
        sink, done = Sink(), 0
        for stop in stops:
            write(folder, tables[done:stop], done)
            done = stop
            partitions = 3 + len(answers) + done % 2
            spark.conf.set("spark.sql.shuffle.partitions", partitions)
            try:
                out = sps.windows(
                    read(spark, folder), on="t", by="k", windows=WINDOWS, aggs=AGGS,
                    watermark="2 seconds", lateness="10 seconds", shards=4,
                )  # fmt: skip
                run(out, tmp_path / f"checkpoint {len(stops)}", sink)
            finally:
                spark.conf.set("spark.sql.shuffle.partitions", 3)
        answers.append(sink.rows())
    # With a stop, the watermark catches up in a micro-batch without rows: what is late is late
    # sooner, and windows are told sooner. The last that is said of each is the same.
    last = [
        {tuple(row[c] for c in TOLD[:4]): row for row in sorted(a, key=lambda r: r["revision"])}
        for a in answers
    ]
    standing = [
        {p: r["sum_x"] for p, r in one.items() if r["change"] != "withdrawn"} for one in last
    ]
    assert standing[0] == standing[1]
    assert len(standing[0]) > 100


def test_a_file_sink_takes_what_is_appended(spark: Any, tmp_path: Path) -> None:
    tables = rows_of(4, 3, 100, 5)
    write(tmp_path / "in", tables)
    out = sps.windows(
        read(spark, tmp_path / "in"), on="t", windows=sash.tumbling("1s"), aggs=agg.count(),
        watermark="1 second", lateness="2 seconds",
    )  # fmt: skip
    writer = out.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(tmp_path / "out"), format="parquet")
    query.awaitTermination()
    found = spark.read.parquet(str(tmp_path / "out")).toArrow()
    assert found.column_names == [
        "window",
        "window_start",
        "window_end",
        "count",
        "revision",
        "change",
    ]
    assert set(found["change"].to_pylist()) == {"complete", "correction"}


def test_two_sources_go_by_the_slower_watermark(spark: Any, tmp_path: Path) -> None:
    fast, slow = rows_of(5, 3, 60, 3, spread=0), rows_of(6, 3, 60, 3, spread=0)
    slow = [t.set_column(1, "t", back(t["t"], 4000)) for t in slow]
    for name, tables in (("fast", fast), ("slow", slow)):
        write(tmp_path / name, tables)
    both = [
        read(spark, tmp_path / name).withWatermark("t", "100 milliseconds")
        for name in ("fast", "slow")
    ]
    out = sps.windows(
        both[0].union(both[1]), on="t", by="k", windows=sash.tumbling("500ms"), aggs=agg.count()
    )
    sink = Sink()
    query = run(out, tmp_path / "checkpoint", sink)
    latest = max(t for table in slow for t in table["t"].to_pylist() if t is not None)
    ends = [row["window_end"] for row in sink.rows()]
    assert 0 < (latest - max(ends)).total_seconds() < 0.7
    assert all(p.observedMetrics["sash"].late_rows == 0 for p in query.recentProgress)


def back(times: pa.ChunkedArray, milliseconds: int) -> pa.Array:
    moved = pa.compute.subtract(times.cast(pa.int64()).combine_chunks(), milliseconds * 1000)
    return moved.cast(times.type)


@pytest.mark.full
def test_many_queries_in_one_session(spark: Any, tmp_path: Path) -> None:
    """Two at once, of one plan and of another: none finds the windows of others."""
    tables = rows_of(7, 3, 100, 4)
    write(tmp_path / "in", tables)
    asked: Any = {"on": "t", "by": "k", "windows": sash.tumbling("1s"), "watermark": "1 second"}
    stream = read(spark, tmp_path / "in")
    counts = sps.windows(stream, aggs=agg.count(), **asked)
    sums = sps.windows(stream, aggs=agg.sum("x"), **asked)
    sinks = [Sink() for _ in range(3)]
    queries = []
    for i, out in enumerate((counts, counts, sums)):
        writer = out.writeStream.option("checkpointLocation", str(tmp_path / f"checkpoint {i}"))
        queries.append(writer.foreachBatch(sinks[i]).trigger(availableNow=True).start())
    for query in queries:
        query.awaitTermination()
    columns = ["k", "window_start", "count"]
    assert listed(sinks[0].rows(), columns) == listed(sinks[1].rows(), columns)
    assert len(sinks[2].rows()) == len(sinks[0].rows()) > 0
    assert "sum_x" in sinks[2].rows()[0]


def test_rows_as_they_come(spark: Any, tmp_path: Path) -> None:
    """The rate source, a trigger by the clock, and micro-batches of any size."""
    rate = spark.readStream.format("rate").option("rowsPerSecond", 2000).load()
    out = sps.windows(
        rate, on="timestamp", windows=sash.tumbling("100ms"), aggs=[agg.count(), agg.min("value")],
        watermark="0 seconds",
    )  # fmt: skip
    sink = Sink()
    writer = out.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.foreachBatch(sink).trigger(processingTime="1 second").start()
    try:
        for _ in range(60):
            query.awaitTermination(1)
            if len(sink.rows()) > 20:
                break
    finally:
        query.stop()
    rows = sorted(sink.rows(), key=lambda r: r["window_start"])
    assert len(rows) > 20
    assert all(r["revision"] == 0 for r in rows)
    firsts = [r["min_value"] for r in rows]
    counts = [r["count"] for r in rows]
    assert [a + n for a, n in zip(firsts[:-1], counts[:-1], strict=True)] == firsts[1:]


def test_rolling_of_a_stream(spark: Any, tmp_path: Path) -> None:
    """Every row comes out, with what `sash.rolling` says of the rows that were not too late."""
    tables = rows_of(8, 4, 200, 6)
    write(tmp_path / "in", tables)
    out = sps.rolling(
        read(spark, tmp_path / "in"), on="t", by="k", window="2s", aggs=AGGS,
        watermark="1 second", lateness="1 second", late_rows=True,
    )  # fmt: skip
    assert out.columns[:4] == ["k", "t", "x", "n"]
    sink = Sink()
    run(out, tmp_path / "checkpoint", sink)
    last: dict[int, dict[str, Any]] = {}
    for row in sorted(sink.rows(), key=lambda r: -1 if r["revision"] is None else r["revision"]):
        last[row["n"]] = row
    late = {n for n, row in last.items() if row["change"] == "late"}
    every = pa.concat_tables(filled(tables))
    kept = every.filter(pa.array([n not in late for n in every["n"].to_pylist()]))
    wanted = sash.rolling(kept, on="t", by="k", window="2s", aggs=AGGS)
    latest = max(t for t in every["t"].to_pylist() if t is not None)
    passed = latest - timedelta(seconds=1.001)
    wanted_rows = {r["n"]: r for r in wanted.to_pylist() if r["t"] < passed}
    told = {n: r | {"k": r["k"] or "nobody"} for n, r in last.items() if n not in late}
    columns = ["k", "t", "x", "n", "count", "sum_x", "last_n", "max_x"]
    assert late
    assert any(r["revision"] for r in told.values())
    assert set(wanted_rows) <= set(told)
    assert listed((told[n] for n in wanted_rows), columns) == listed(wanted_rows.values(), columns)
