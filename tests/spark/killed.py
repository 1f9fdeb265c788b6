"""A stream into SQLite, to be killed: run with a folder that has its input in ``in``.

Both tables are written in one transaction for each micro-batch: ``log`` has every row that came
out, once for each micro-batch; ``windows`` the last revision of every window, by an upsert.
"""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from streams import read
from striking import strike

import sash
from sash import agg
from sash import spark as sps


def lift(n: int) -> str:
    strike(f"row {n}")
    return str(n)


JOIN = sash.monoid(lambda a, b: a + b, lift=lift, name="join", column="n", returns=str)
ASKED: dict[str, Any] = {
    "on": "t", "by": "k", "lateness": "2 seconds",
    "windows": [sash.sliding("4s", "500ms"), sash.session("400ms"), sash.tumbling(rows=9)],
    "aggs": [agg.count(), agg.sum("x"), agg.last("n"), JOIN],
}  # fmt: skip
COLUMNS = ["k", "window", "window_start", "window_end", "count", "sum_x", "last_n", "join_n"]
TABLES = """
create table if not exists log (batch, k, window, window_start, window_end, count, sum_x, last_n,
    join_n, revision, change);
create table if not exists windows (k, window, window_start, window_end, count, sum_x, last_n,
    join_n, revision, change, primary key (k, window, window_start, window_end));
"""
UPSERT = """
insert into windows values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do update set count = excluded.count, sum_x = excluded.sum_x, last_n = excluded.last_n,
    join_n = excluded.join_n, revision = excluded.revision, change = excluded.change
where excluded.revision >= windows.revision
"""


def into(database: Path) -> Any:
    def write(batch: Any, number: int) -> None:
        own = ["string(window_start)", "string(window_end)"]
        rows = batch.selectExpr(*COLUMNS[:2], *own, *COLUMNS[4:], "revision", "change").collect()
        values = [
            tuple("nobody" if v is None and i == 0 else v for i, v in enumerate(r)) for r in rows
        ]
        strike(f"before {number}")
        with closing(sqlite3.connect(database)) as db:
            db.executescript(TABLES)
            with db:
                db.execute("delete from log where batch = ?", (number,))
                places = ", ".join("?" * 11)
                logged = [(number, *v) for v in values]
                db.executemany(f"insert into log values ({places})", logged)
                db.executemany(UPSERT, values)
        strike(f"after {number}")

    return write


def main(folder: Path) -> None:
    """Run until all files are done; workers may die, each task is tried many times."""
    session = sps.local_session(
        2, {"spark.master": "local[2,16]", "spark.sql.session.timeZone": "UTC"}
    )
    session.sparkContext.setLogLevel("OFF")
    out = sps.windows(read(session, folder / "in"), watermark="1 second", **ASKED)
    writer = out.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.foreachBatch(into(folder / "out.sqlite")).trigger(availableNow=True).start()
    query.awaitTermination()
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
