# %% [markdown]
# # Departures by the hour, as flights land
#
# A stream on Spark. What a flight was like is known when it has landed, so flights come in the
# order of their arrival, and by departure they are hours out of order. Windows by hour of departure
# are told once, and corrected when another flight of that hour lands late. SQLite ends with
# exactly the right rows, however often the query was stopped, killed or run again.

# %%
"""A stream of flights into SQLite, with corrections, exactly once."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sash
from sash import agg
from sash import spark as sps
from sash.demo import flights as demo

# %% [markdown]
# The sink. Spark may give a micro-batch to it again after a failure, so writing one twice must do
# no harm: a row takes the place of what there was of its window, unless that is a later revision.
# The whole micro-batch is one transaction.

# %%
TABLE = """
create table if not exists hours (
    airport text, window_start timestamp, flights integer, mean_delay real, worst real,
    revision integer, change text, primary key (airport, window_start))
"""
UPSERT = """
insert into hours values (?, ?, ?, ?, ?, ?, ?)
on conflict (airport, window_start) do update set
    flights = excluded.flights, mean_delay = excluded.mean_delay, worst = excluded.worst,
    revision = excluded.revision, change = excluded.change
where excluded.revision >= hours.revision
"""


def into_sqlite(database: Path) -> Callable[[Any, int], None]:
    """Return what writeStream.foreachBatch takes."""

    def write(batch: Any, _: int) -> None:
        columns = ("flights", "mean_delay", "worst", "revision", "change")
        rows = batch.selectExpr("airport", "string(window_start)", *columns).collect()
        with closing(sqlite3.connect(database)) as db, db:  # one transaction
            db.execute(TABLE)
            db.executemany(UPSERT, [tuple(row) for row in rows])

    return write


# %% [markdown]
# The query. The watermark is two hours behind the latest departure: then an hour is told. Flights
# that land later than that, up to half a day behind it, correct what was told.


# %%
def departures_by_hour(landings: Any) -> Any:
    """Return hourly windows of departures at each airport."""
    return sps.windows(
        landings,
        on="departs",
        by="airport",
        windows=sash.tumbling("1h"),
        aggs=[
            agg.count().alias("flights"),
            agg.mean("delay").alias("mean_delay"),
            agg.max("delay").alias("worst"),
        ],
        watermark="2 hours",
        lateness="12 hours",
    )


# %% [markdown]
# Three days of flights, in files of eight hours of landings each: one micro-batch a file.


# %%
def land(folder: Path, days: int = 3) -> pa.Table:
    """Write the flights of the first days of the year in the order they landed in."""
    found = demo.load()
    air_time = found.table["air_time"].to_numpy()
    landed = found.departure + air_time.astype(np.int64)
    first = found.departure.min()
    order = np.argsort(landed, kind="stable")
    order = order[landed[order] < first + days * demo.DAY]
    departs = pa.array(found.departure * 60_000_000).view(pa.timestamp("us", "UTC"))
    table = pa.table(
        {"departs": departs, "airport": found.table["origin"], "delay": found.delay.astype(float)}
    ).take(pa.array(order))
    hours = (landed[order] - first) // (8 * 60)
    folder.mkdir()
    for number in np.unique(hours):
        path = folder / f"{number:03}.parquet"
        pq.write_table(table.filter(pa.array(hours == number)), path)
        os.utime(path, (1e9 + number, 1e9 + number))  # files are read in the order of their age
    return table


def main() -> None:
    """Run the stream until all files are read; compare with the batch answer."""
    spark = sps.local_session()
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        flights = land(folder / "landings")
        files = spark.readStream.schema("departs timestamp, airport string, delay double")
        landings = files.option("maxFilesPerTrigger", 1).parquet(str(folder / "landings"))
        query = (
            departures_by_hour(landings)
            .writeStream.option("checkpointLocation", str(folder / "checkpoint"))
            .foreachBatch(into_sqlite(folder / "hours.sqlite"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        for done in query.recentProgress:
            counts = done.observedMetrics["sash"].asDict()
            print(f"micro-batch {done.batchId}: {counts}")

        with closing(sqlite3.connect(folder / "hours.sqlite")) as db:
            told = db.execute("select * from hours order by worst desc").fetchall()
        corrected = sum(1 for row in told if row[5])
        print(f"\n{len(told)} hours, {corrected} of them corrected by late landings; the worst:")
        for airport, start, number, mean, worst, revision, _ in told[:3]:
            line = f"  {airport} {start}: {number} flights, {mean:.1f} min, worst {worst:.0f} min"
            print(f"{line} (revision {revision})")

        batch = spark.createDataFrame(flights)
        whole = sps.windows(
            batch, on="departs", by="airport", windows=sash.tumbling("1h"), aggs=agg.count()
        ).collect()
        counts = {(r["airport"], str(r["window_start"])): r["count"] for r in whole}
        assert all(counts[row[0], row[1]] == row[2] for row in told)
        print("SQLite has what a batch query says of the same hours")

        live = sps.state(str(folder / "checkpoint")).windows()
        print(f"{live.count()} hours are still open or may be corrected")


if __name__ == "__main__":
    main()
