"""The same as job.toml, in Python: visits to a shop, corrected as late logs come in."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
from pyspark.sql import functions as f

import sash
from sash import agg
from sash import spark as sps

DATA = Path(__file__).parent / "data"
COLUMNS = "visitor string, at string, page string, bytes bigint"
ZONE = "Europe/Berlin"


def results(session: Any, folder: Path) -> Any:
    """Return a stream of visits. Times are read in the session's time zone."""
    lines = session.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
    clicks = lines.csv(str(folder), header=True).withColumn(
        "at", f.try_to_timestamp("at", f.lit("dd/MMM/yyyy:HH:mm:ss"))
    )
    return sps.windows(
        clicks,
        on="at", by="visitor", windows=sash.session("30 minutes", name="visit"),
        aggs=[
            agg.count().alias("clicks"), agg.first("page").alias("landed_on"),
            agg.last("page").alias("left_from"), agg.hll("page").alias("pages"),
            agg.sum("bytes").alias("bytes"),
        ],
        watermark="5 minutes", lateness="90 minutes",
    )  # fmt: skip


def main() -> None:
    """Show how the visits of one visitor were told and corrected."""
    session = sps.local_session(config={"spark.sql.session.timeZone": ZONE})
    told: list[pa.Table] = []
    with tempfile.TemporaryDirectory() as checkpoint:
        stream = results(session, DATA).writeStream.option("checkpointLocation", checkpoint)
        stream = stream.foreachBatch(lambda batch, _: told.append(batch.toArrow()))
        stream.trigger(availableNow=True).start().awaitTermination()
    session.stop()
    rows = pa.concat_tables(told).to_pylist()
    joined = [row["visitor"] for row in rows if row["change"] == "withdrawn"]
    print(f"{len(rows)} rows, {len(joined)} of them visits that became part of another")
    for row in rows:
        if row["visitor"] == joined[0]:
            begin, end = (row[c].astimezone(ZoneInfo(ZONE)) for c in ("window_start", "window_end"))
            words = f"{begin:%H:%M:%S} to {end:%H:%M:%S}, {row['clicks']} clicks"
            print(f"  {row['visitor']}: {words}: {row['change']}")


if __name__ == "__main__":
    main()
