"""The same as job.toml, in Python: the last five minutes of each sensor, every minute."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa

import sash
from sash import agg
from sash import spark as sps

DATA = Path(__file__).parent / "data"
COLUMNS = "sensor string, seq bigint, at timestamp, celsius double"


def results(session: Any, folder: Path) -> Any:
    """Return a stream of windows, and of rows that are too late in its column late_row."""
    readings = session.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 2)
    return sps.windows(
        readings.csv(str(folder), header=True),
        on="at", by="sensor", windows=sash.sliding("5m", "1m"),
        aggs=[
            agg.count().alias("rows"), agg.hll("seq").alias("readings"),
            agg.count("celsius").alias("values"), agg.mean("celsius"), agg.stddev("celsius"),
            agg.last("celsius").alias("latest"), agg.m4("celsius", "seq").alias("chart"),
        ],
        watermark="1 minute", lateness="10 minutes", emit="updates", late_rows=True,
    )  # fmt: skip


def main() -> None:
    """Show the latest complete window of each sensor."""
    session = sps.local_session(config={"spark.sql.session.timeZone": "UTC"})
    told: list[pa.Table] = []
    with tempfile.TemporaryDirectory() as checkpoint:
        stream = results(session, DATA).writeStream.option("checkpointLocation", checkpoint)
        stream = stream.foreachBatch(lambda batch, _: told.append(batch.toArrow()))
        stream.trigger(availableNow=True).start().awaitTermination()
    session.stop()
    rows = pa.concat_tables(told).to_pylist()
    windows = [row for row in rows if row["late_row"] is None]
    print(f"{len(windows)} windows told, {len(rows) - len(windows)} rows too late")
    complete = [row for row in windows if row["change"] != "update"]
    latest = {row["sensor"]: row for row in sorted(complete, key=_when)}
    for sensor, row in sorted(latest.items()):
        words = f"{row['readings']} readings, {row['mean_celsius']:.2f} degrees"
        print(f"  {sensor}: {words} in the 5 minutes to {row['window_end']:%H:%M}")


def _when(row: dict[str, Any]) -> Any:
    """Order windows by their time, and by revision where one was told again."""
    return row["window_end"], row["revision"]


if __name__ == "__main__":
    main()
