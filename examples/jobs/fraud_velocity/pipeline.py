"""The same as job.toml, in Python: what a card did in the hour up to each of its payments."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa

from sash import agg
from sash import spark as sps

DATA = Path(__file__).parent / "data"
COLUMNS = "id bigint, card string, at timestamp, amount decimal(12, 2), merchant string"


def results(session: Any, folder: Path) -> Any:
    """Return a stream of payments with their features; those that are too late among them."""
    payments = session.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
    return sps.rolling(
        payments.json(str(folder)),
        on="at", by="card", window="1h",
        aggs=[
            agg.count().alias("payments"), agg.sum("amount").alias("spent"),
            agg.max("amount").alias("largest"), agg.hll("merchant").alias("merchants"),
        ],
        watermark="2 minutes", lateness="1 hour", late_rows=True,
    )  # fmt: skip


def main() -> None:
    """Show the cards that were used most, at their busiest."""
    session = sps.local_session(config={"spark.sql.session.timeZone": "UTC"})
    told: list[pa.Table] = []
    with tempfile.TemporaryDirectory() as checkpoint:
        stream = results(session, DATA).writeStream.option("checkpointLocation", checkpoint)
        stream = stream.foreachBatch(lambda batch, _: told.append(batch.toArrow()))
        stream.trigger(availableNow=True).start().awaitTermination()
    session.stop()
    rows = pa.concat_tables(told).to_pylist()
    changes = [row["change"] for row in rows]
    complete, again, late = (changes.count(c) for c in ("complete", "correction", "late"))
    print(f"{complete} payments, {again} rows more as late ones came, {late} too late; most used:")
    busiest: dict[str, Any] = {}
    for row in sorted(rows, key=lambda row: row["payments"] or 0, reverse=True):
        busiest.setdefault(row["card"], row)
    for card, row in list(busiest.items())[:3]:
        words = f"{row['payments']} payments at {row['merchants']} shops, {row['spent']} in all"
        print(f"  {card}: {words}, in the hour to {row['at']:%H:%M:%S}")


if __name__ == "__main__":
    main()
