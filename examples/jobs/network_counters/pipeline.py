"""The same as job.toml, in Python: quality of the cells of a mobile network."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as f

import sash
from sash import agg
from sash import spark as sps

DATA = Path(__file__).parent / "data"
COLUMNS = "region string, cell int, at bigint, attempts bigint, drops bigint, mbps double"


def results(session: Any, folder: Path) -> Any:
    """Return a stream of changes, and of rows that are too late in its column late_row."""
    files = session.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
    counters = files.parquet(str(folder)).withColumn("at", f.timestamp_millis("at"))
    return sps.windows(
        counters,
        on="at", by=["region", "cell"],
        windows=[
            sash.tumbling("15m", name="quarter"), sash.sliding("1h", "15m", name="hour"),
        ],
        aggs=[
            agg.sum("attempts").alias("attempts"), agg.sum("drops").alias("drops"),
            agg.max("drops").alias("worst_minute"), agg.argmax("drops", "at").alias("worst_at"),
            agg.quantiles([0.1, 0.5, 0.9], "mbps").alias("mbps"),
        ],
        watermark="2 minutes", lateness="1 hour", emit="changelog", late_rows=True,
    )  # fmt: skip


def main() -> None:
    """Show the worst hours, from a table that is kept by the changes."""
    session = sps.local_session(config={"spark.sql.session.timeZone": "UTC"})
    told: list[pa.Table] = []
    with tempfile.TemporaryDirectory() as checkpoint:
        stream = results(session, DATA).writeStream.option("checkpointLocation", checkpoint)
        stream = stream.foreachBatch(lambda batch, _: told.append(batch.toArrow()))
        stream.trigger(availableNow=True).start().awaitTermination()
    session.stop()
    rows = [row for row in pa.concat_tables(told).to_pylist() if row["late_row"] is None]
    table: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        window = tuple(row[c] for c in ("region", "cell", "window", "window_start"))
        if row["change"] == "insert":
            table[window] = row
        else:
            del table[window]
    print(f"{len(rows)} changes, {len(table)} windows; the hours with most drops of calls:")
    hours = [row for (_, _, window, _), row in table.items() if window == "hour"]
    for row in sorted(hours, key=lambda row: row["drops"], reverse=True)[:3]:
        share = f"{row['drops']} of {row['attempts']}, median {row['mbps'][1]} Mbit/s"
        print(f"  {row['region']} {row['cell']}, {row['window_start']:%H:%M} to", end=" ")
        print(f"{row['window_end']:%H:%M}: {share}, worst at {row['worst_at']:%H:%M}")


if __name__ == "__main__":
    main()
