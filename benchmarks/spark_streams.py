"""Streams on Spark beside Spark's own streaming aggregation: the same files, one session.

One file is one micro-batch. CPU is that of the whole tree of processes. The floor is a query that
reads the same files, passes them through Python and keeps no state. Answers are compared by the
number and the sum of all windows that came out.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sash
from benchmarks.measure import Row
from benchmarks.spark_batch import cpu_of_tree, session
from sash import agg
from sash import spark as sps

_BEGIN = 1_600_000_000_000_000
_SCHEMA = "t timestamp, k bigint, x double"


def _table(first: int, rows: int, step: int, keys: int) -> pa.Table:
    """Rows ``step`` microseconds apart, the keys at random."""
    rng = np.random.default_rng(first)
    times = pa.array(_BEGIN + np.arange(first, first + rows) * step)
    values = rng.integers(0, 9, rows).astype(float)
    stamps = times.view(pa.timestamp("us", "UTC"))
    return pa.table({"t": stamps, "k": rng.integers(0, keys, rows), "x": values})


def _write(folder: Path, sizes: list[int], step: int, keys: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    first = 0
    for i, rows in enumerate(sizes):
        path = folder / f"{i:05}.parquet"
        pq.write_table(_table(first, rows, step, keys), path)
        os.utime(path, (1e9 + i, 1e9 + i))
        first += rows


@dataclass
class Run:
    """What a query has cost and said."""

    cpu: float = 0.0
    wall: float = 0.0
    rows: int = 0
    windows: int = 0
    total: float = 0.0
    triggers: list[int] = field(default_factory=list)
    """Milliseconds of each micro-batch that had rows."""
    watched: list[Row] = field(default_factory=list)
    stores: list[Row] = field(default_factory=list)
    """What each micro-batch left in the state store."""

    @property
    def answer(self) -> tuple[int, float]:
        """What queries must agree in."""
        return self.windows, self.total


def _run(spark: Any, folder: Path, ask: Callable[[Any], Any], watch: Any = None) -> Run:
    """Run a query over all files. ``watch()`` is called after each micro-batch."""
    done = Run()
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", 10_000)
    files = spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))

    def sink(batch: Any, _: int) -> None:
        row = batch.selectExpr("count(1)", "coalesce(sum(total), 0)").first()
        done.windows += row[0]
        done.total += row[1]
        if watch is not None:
            done.watched.append(watch())

    with tempfile.TemporaryDirectory() as checkpoint:
        writer = ask(files).writeStream.option("checkpointLocation", checkpoint)
        cpu, wall = cpu_of_tree(), time.perf_counter()
        query = writer.foreachBatch(sink).trigger(availableNow=True).start()
        query.awaitTermination()
        done.cpu, done.wall = cpu_of_tree() - cpu, time.perf_counter() - wall
    progress = [p for p in query.recentProgress if p.numInputRows]
    for operators in (p.stateOperators for p in progress):
        for state in operators:
            size = state.customMetrics.get("rocksdbSstFileSize", 0) + state.memoryUsedBytes
            done.stores.append({"values": state.numRowsTotal, "store MB": round(size / 1e6, 1)})
    done.rows = sum(p.numInputRows for p in progress)
    done.triggers = [p.durationMs["triggerExecution"] for p in progress]
    return done


def _floor(stream: Any) -> Any:
    def first(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        return (batch.slice(0, 1) for batch in batches)

    return stream.mapInArrow(first, _SCHEMA).selectExpr("x as total")


def _ours(ratio: int, **more: Any) -> Callable[[Any], Any]:
    asked: dict[str, Any] = {
        "on": "t", "by": "k", "windows": sash.sliding(f"{ratio}s", "1s"),
        "aggs": agg.sum("x").alias("total"), "watermark": "1 second",
    }  # fmt: skip
    return lambda stream: sps.windows(stream, **{**asked, **more})


def _theirs(ratio: int) -> Callable[[Any], Any]:
    def ask(stream: Any) -> Any:
        from pyspark.sql import functions as f

        window = f.window("t", f"{ratio} seconds", "1 second")
        marked = stream.withWatermark("t", "1 second")
        return marked.groupBy("k", window).agg(f.sum("x").alias("total"))

    return ask


def spark_stream_slides(quick: bool) -> list[Row]:
    """CPU microseconds a row beyond the floor: windows of n seconds every second, 100 keys."""
    rows = 200_000 if quick else 1_000_000
    spark = session(2)
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        whole, part = Path(place, "whole"), Path(place, "part")
        _write(whole, [rows // 10] * 10, 1000, 100)
        # Spark copies a row for every window: at 600 it gets fewer micro-batches of the same size;
        # at 3600 it does not come to an end.
        _write(part, [rows // 10] * 3, 1000, 100)
        _run(spark, whole, _ours(1))  # and everything is warm
        floors = {folder: _run(spark, folder, _floor).cpu for folder in (whole, part)}
        for ratio in (1, 10, 60, 600, 3600):
            folder = part if ratio == 600 else whole
            ours = _run(spark, whole, _ours(ratio))
            line: Row = {"size/slide": ratio, "sash": _beyond(ours, floors[whole])}
            line |= {"spark": None, "times": None, "windows": ours.windows}
            if ratio <= 600:
                theirs = _run(spark, folder, _theirs(ratio))
                same = ours if folder == whole else _run(spark, folder, _ours(ratio))
                assert same.answer == theirs.answer, (same.answer, theirs.answer)
                own = _beyond(theirs, floors[folder])
                line |= {"spark": own, "times": round(own / line["sash"], 1)}
            found.append(line)
            print(line, flush=True)
    return found


def _beyond(run: Run, floor: float) -> float:
    return round((run.cpu - floor) / run.rows * 1e6, 1)


def spark_stream_keys(quick: bool) -> list[Row]:
    """CPU microseconds a row beyond the floor, tumbling windows of a second, by keys."""
    rows = 200_000 if quick else 1_000_000
    spark = session(2)
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "in")
        for keys in (1, 100, 10_000):
            _write(folder, [rows // 10] * 10, 1000, keys)
            if not found:
                _run(spark, folder, _ours(1))
            floor = _run(spark, folder, _floor).cpu
            ours, theirs = _run(spark, folder, _ours(1)), _run(spark, folder, _theirs(1))
            assert ours.answer == theirs.answer, (ours.answer, theirs.answer)
            line: Row = {"keys": keys, "windows": ours.windows}
            for name, run in (("sash", ours), ("spark", theirs)):
                line[name] = _beyond(run, floor)
            found.append(line)
            print(line, flush=True)
    return found


def spark_stream_live(quick: bool) -> list[Row]:
    """A micro-batch of 1,000 rows, by how many entries of one key are kept."""
    spark = session(2)
    found: list[Row] = []
    many = 1_000_000 if quick else 10_000_000
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "in")
        for entries in (10_000, many):
            _write(folder, [entries, *[1000] * 60], 1000, 1)
            # The order of rows matters to `last`, so that each is an entry of its own.
            aggs = [agg.sum("x").alias("total"), agg.last("x")]
            window = sash.sliding(f"{entries // 1000}s", "1s")
            spent: list[float] = []

            def watch(spent: list[float] = spent) -> Row:
                spent.append(cpu_of_tree())
                return {}

            run = _run(spark, folder, _ours(1, by=None, windows=window, aggs=aggs), watch)
            each = np.diff(spent)[10:60]
            triggers = run.triggers[11:]
            line = {
                "entries": entries,
                "median CPU ms": round(float(np.median(each)) * 1e3),
                "mean CPU ms": round(float(np.mean(each)) * 1e3),
                "median wall ms": statistics.median(triggers),
                "first batch s": run.triggers[0] / 1e3,
            }
            found.append(line)
            print(line, flush=True)
    return found


def spark_stream_latency(quick: bool) -> list[Row]:
    """Wall milliseconds of a micro-batch of 100 rows."""
    spark = session(2)
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "in")
        _write(folder, [100] * (20 if quick else 60), 10_000, 10)
        for name, ask in (("sash", _ours(10)), ("spark", _theirs(10))) * 2:
            run = _run(spark, folder, ask)
            late = sorted(run.triggers[5:])
            found.append(
                {
                    "query": name,
                    "median ms": statistics.median(late),
                    "p95 ms": late[-len(late) // 20],
                }
            )
            print(found[-1], flush=True)
    return found[2:]


def spark_stream_soak(quick: bool) -> list[Row]:
    """Two hours of events at full speed: memory of workers and bytes of state, over time."""
    spark = session(2)
    batches, rows = (20, 20_000) if quick else (100, 200_000)
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "in")
        _write(folder, [rows] * batches, 7_200_000_000 // (batches * rows), 1000)
        windows = [sash.sliding("10m", "10s"), sash.session("30s"), sash.tumbling("1m")]
        ask = _ours(1, windows=windows, watermark="1 minute", lateness="5 minutes")
        run = _run(spark, folder, ask, lambda: {"workers MB": _memory_of_workers()})
    for i in range(batches // 10 - 1, batches, batches // 10):
        found.append(
            {"rows": (i + 1) * rows, **run.watched[i], **run.stores[i], "ms": run.triggers[i]}
        )
    return found


def _memory_of_workers() -> int:
    """Return the memory of all Python workers, in megabytes."""
    total = 0
    for entry in os.scandir("/proc"):
        try:
            command = Path(entry.path, "cmdline").read_bytes()
            if b"pyspark.daemon" in command:
                fields = Path(entry.path, "statm").read_text().split()
                total += (int(fields[1]) - int(fields[2])) * 4096
        except (OSError, ValueError):
            continue
    return total >> 20
