"""Streams on Spark that are fed one micro-batch at a time, so that queries can take turns."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sash
from benchmarks.peers.spark_session import session
from benchmarks.processes import cpu_of_tree
from sash import agg
from sash import spark as sps

SPARK = "Spark"
SECOND = 1_000_000
_BEGIN = 1_600_000_000 * SECOND
_SCHEMA = "t timestamp, k bigint, x double"
Ask = Callable[[Any], Any]


@contextmanager
def streaming_session() -> Iterator[Any]:
    """Give a session for queries that run beside each other and wait for their turn.

    Idle queries look for files twice a second instead of a hundred times, and no micro-batch runs
    without rows: in a stream that goes on, the next one with rows tells what the last completed.
    """
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.pollingDelay": "500ms",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        "spark.sql.streaming.numRecentProgressUpdates": "10000",
    }
    with session(2, **settings) as spark:
        yield spark


class Rows:
    """Micro-batches to feed: rows ``step`` microseconds apart, the keys at random."""

    def __init__(self, step: int, keys: int) -> None:
        self._step, self._keys, self._made = step, keys, 0
        self.batches: list[pa.Table] = []

    def next(self, rows: int) -> pa.Table:
        """Return the next micro-batch."""
        rng = np.random.default_rng(self._made)
        times = pa.array(_BEGIN + np.arange(self._made, self._made + rows) * self._step)
        values = rng.integers(0, 9, rows).astype(float)
        stamps = times.view(pa.timestamp("us", "UTC"))
        table = pa.table({"t": stamps, "k": rng.integers(0, self._keys, rows), "x": values})
        self._made += rows
        self.batches.append(table)
        return table

    def expected(self, windows: Any, by: str | None = "k", delay: int = SECOND) -> Any:
        """Return the number and the sum of the windows that a stream has told of them, by Sash.

        The last micro-batch ran with the watermark of the one before: whole milliseconds.
        """
        aggs = agg.sum("x").alias("total")
        op = sash.WindowOperator(on="t", by=by, windows=windows, aggs=aggs)
        for batch in self.batches:
            op.process(batch)
        latest = self.batches[-2]["t"][-1].value
        watermark = pa.scalar((latest - delay) // 1000 * 1000, pa.timestamp("us", "UTC"))
        told = op.advance(watermark.as_py())["total"].to_numpy()
        return len(told), float(told.sum())


class Query:
    """A query that waits for micro-batches."""

    def __init__(self, spark: Any, ask: Ask) -> None:
        self.windows, self.total = 0, 0.0
        self._place = Path(tempfile.mkdtemp())
        self._folder = self._place / "in"
        self._folder.mkdir()
        files = spark.readStream.schema(_SCHEMA).parquet(str(self._folder))
        writer = ask(files).writeStream.option("checkpointLocation", str(self._place / "kept"))
        self._query = writer.foreachBatch(self._sink).start()

    def _sink(self, batch: Any, _: int) -> None:
        row = batch.selectExpr("count(1)", "coalesce(sum(total), 0)").first()
        self.windows += row[0]
        self.total += row[1]

    def feed(self, batch: pa.Table) -> float:
        """Run a micro-batch; returns its CPU seconds in the whole tree of processes."""
        written = self._place / "next.parquet"
        pq.write_table(batch, written)
        before = cpu_of_tree()
        written.rename(self._folder / f"{len(list(self._folder.iterdir())):05}.parquet")
        self._query.processAllAvailable()
        return cpu_of_tree() - before

    @property
    def triggers(self) -> list[int]:
        """Milliseconds of each micro-batch."""
        return [p.durationMs["triggerExecution"] for p in self._fed]

    @property
    def store(self) -> float:
        """Megabytes in the state store, after the last micro-batch."""
        states = self._fed[-1].stateOperators
        files = sum(state.customMetrics.get("rocksdbSstFileSize", 0) for state in states)
        return float(files + sum(state.memoryUsedBytes for state in states)) / 1e6

    @property
    def _fed(self) -> list[Any]:
        return [p for p in self._query.recentProgress if p.numInputRows]

    @property
    def answer(self) -> tuple[int, float]:
        """What queries must agree in."""
        return self.windows, self.total

    def stop(self) -> None:
        """End it, and remove its files."""
        self._query.stop()
        shutil.rmtree(self._place, ignore_errors=True)


@contextmanager
def queries(spark: Any, asks: dict[str, Ask]) -> Iterator[dict[str, Query]]:
    """Give running queries by name."""
    running: dict[str, Query] = {}
    try:
        for name, ask in asks.items():
            running[name] = Query(spark, ask)
        yield running
    finally:
        for query in running.values():
            query.stop()


def floor(rows: Any) -> Any:
    """Read the rows and pass them through Python: what is left of a query without its state."""

    def first(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        return (batch.slice(0, 1) for batch in batches)

    return rows.mapInArrow(first, _SCHEMA).selectExpr("x as total")


def ours(windows: Any, **more: Any) -> Ask:
    """Windows by Sash."""
    asked: dict[str, Any] = {"on": "t", "by": "k", "aggs": agg.sum("x").alias("total")}
    asked |= {"watermark": "1 second", **more}
    return lambda rows: sps.windows(rows, windows=windows, **asked)


def theirs(ratio: int) -> Ask:
    """Windows of so many seconds every second, by Spark."""

    def ask(rows: Any) -> Any:
        from pyspark.sql import functions as f

        window = f.window("t", f"{ratio} seconds", "1 second")
        marked = rows.withWatermark("t", "1 second")
        return marked.groupBy("k", window).agg(f.sum("x").alias("total"))

    return ask
