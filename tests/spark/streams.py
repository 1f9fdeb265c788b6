"""Streams of files for tests: one micro-batch a file, in their order."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sash
from sash.spark._frames import schema_of

SCHEMA = pa.schema(
    [("k", pa.string()), ("t", pa.timestamp("us", "UTC")), ("x", pa.int64()), ("n", pa.int64())]
)
BEGIN = 1_600_000_000_000_000


def rows_of(seed: int, batches: int, rows: int, keys: int, spread: int = 3000) -> list[pa.Table]:
    """Micro-batches a second apart, with rows that are late, null or double."""
    rng = np.random.default_rng(seed)
    tables = []
    for batch in range(batches):
        at = batch * 1000 + rng.integers(-spread, 1000, rows)
        values = [
            pa.array(
                [f"key {k}" for k in rng.integers(0, keys, rows)], mask=rng.random(rows) < 0.03
            ),
            pa.array(BEGIN + at * 1000, mask=rng.random(rows) < 0.02).view(SCHEMA.field("t").type),
            pa.array(rng.integers(-9, 9, rows), mask=rng.random(rows) < 0.1),
            pa.array(np.arange(batch * rows, (batch + 1) * rows)),
        ]
        tables.append(pa.table(values, schema=SCHEMA))
    return tables


def write(folder: Path, tables: list[pa.Table], first: int = 0) -> None:
    folder.mkdir(exist_ok=True)
    for i, table in enumerate(tables, first):
        hidden = folder / f".{i:05}.parquet"
        pq.write_table(table, hidden)
        os.utime(hidden, (1e9 + i, 1e9 + i))  # files are taken in this order
        hidden.rename(folder / f"{i:05}.parquet")


def read(spark: Any, folder: Path, schema: pa.Schema = SCHEMA) -> Any:
    reader = spark.readStream.schema(schema_of(schema)).option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder))


class Sink:
    """Takes micro-batches; one that comes again takes the place of the first."""

    def __init__(self) -> None:
        self.batches: dict[int, pa.Table] = {}

    def __call__(self, frame: Any, number: int) -> None:
        self.batches[number] = frame.toArrow()

    def rows(self) -> list[dict[str, Any]]:
        return [row for table in self.batches.values() for row in table.to_pylist()]


def run(out: Any, checkpoint: Path, sink: Sink, mode: str = "append") -> Any:
    """Run a query until all files are done; return it."""
    writer = out.writeStream.outputMode(mode).option("checkpointLocation", str(checkpoint))
    query = writer.foreachBatch(sink).trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def expected(
    tables: list[pa.Table], delay_ms: int, make: Callable[..., sash.WindowOperator]
) -> tuple[list[pa.Table], pa.Table]:
    """What one operator tells, and the rows it leaves out, with watermarks as Spark moves them."""
    late: list[pa.Table] = [SCHEMA.empty_table()]
    op = make(on_late=late.append)
    op.process(SCHEMA.empty_table())
    told, watermark = [], None
    for table in [*tables, SCHEMA.empty_table()]:
        if watermark is not None:
            told.append(op.advance(watermark_time(watermark)))
        times = table["t"].combine_chunks()
        late.append(table.filter(times.is_null()))
        told.append(op.process(table.filter(times.is_valid())))
        latest = [t for t in times.cast(pa.int64()).to_pylist() if t is not None]
        if latest:
            found = max(latest) // 1000 - delay_ms
            watermark = found if watermark is None else max(watermark, found)
    return told, pa.concat_tables(late)


def watermark_time(milliseconds: int) -> Any:
    return pa.scalar(milliseconds * 1000, SCHEMA.field("t").type)


def listed(rows: Any, columns: list[str]) -> list[str]:
    return sorted(str({c: row[c] for c in columns}) for row in rows)
