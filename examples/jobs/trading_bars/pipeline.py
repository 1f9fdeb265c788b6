"""The same as job.toml, in Python: bars by the minute, and of 100 trades each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sash
from sash import agg
from sash import spark as sps

DATA = Path(__file__).parent / "data"


def results(session: Any, folder: Path) -> Any:
    """Return the bars."""
    return sps.windows(
        session.read.parquet(str(folder)),
        on="at", by="symbol",
        windows=[
            sash.tumbling("1m", name="minute"), sash.tumbling(rows=100, name="trades_100"),
        ],
        aggs=[
            agg.first("price").alias("open"), agg.max("price").alias("high"),
            agg.min("price").alias("low"), agg.last("price").alias("close"),
            agg.sum("size").alias("volume"), agg.weighted_mean("price", "size").alias("vwap"),
            agg.count().alias("trades"),
        ],
    )  # fmt: skip


def main() -> None:
    """Show the first minutes of a symbol, and how many bars there are."""
    session = sps.local_session(config={"spark.sql.session.timeZone": "America/New_York"})
    bars = results(session, DATA).cache()
    bars.where("symbol = 'ACME' and window = 'minute'").orderBy("window_start").show(5)
    bars.groupBy("window", "symbol").count().orderBy("window", "symbol").show()
    session.stop()


if __name__ == "__main__":
    main()
