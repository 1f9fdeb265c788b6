"""Real events, out of order: flights, and what there is in the shared folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frames import differences, frame_of

import sash
from sash import agg
from sash import spark as sps
from sash.demo.flights import load

SHARED = Path(__file__).parents[3] / "shared" / "data"
FILES = sorted(SHARED.glob("*_ship.parquet"))
AGGS = [agg.count(), agg.sum("value"), agg.max("value"), agg.stddev("value"), agg.median("value")]


def check(spark: Any, table: pa.Table, hours: int) -> None:
    table = table.append_column("n", pa.array(range(table.num_rows)))
    df = frame_of(spark, table).repartition(4)
    ours = sps.rolling(df, on="event_time", by="key", window=f"{hours}h", aggs=AGGS, split=True)
    over = (
        "over (partition by key order by unix_micros(event_time) "
        f"range between {hours * 3_600_000_000 - 1} preceding and current row)"
    )
    calls = ["count(1)", "sum(value)", "max(value)", "stddev(value)", "percentile(value, 0.5)"]
    theirs = df.selectExpr("*", *(f"{c} {over} as `{a.output}`"
                                  for c, a in zip(calls, AGGS, strict=True)))  # fmt: skip
    assert differences(ours.toArrow(), theirs.toArrow(), ["n"]) == []
    windows: dict[str, Any] = {
        "on": "event_time", "by": "key", "aggs": AGGS[:3],
        "windows": [sash.sliding("6h", "1h"), sash.session("20m")],
    }  # fmt: skip
    op = sash.WindowOperator(**windows)
    op.process(table)
    told = op.finish().drop_columns(["revision", "change"])
    order = ["key", "window", "window_start"]
    assert differences(sps.windows(df, **windows).toArrow(), told, order) == []


def flights() -> pa.Table:
    found = load()
    whole = pa.table(
        {
            "event_time": pa.array(found.departure * 60_000_000).view(pa.timestamp("us", "UTC")),
            "key": found.table["carrier"],
            "value": pa.array(found.delay),
        }
    )
    return whole.slice(0, 60_000)


@pytest.mark.parametrize("path", [None, *FILES], ids=["flights", *(p.stem for p in FILES)])
@pytest.mark.full
def test_real_data(spark: Any, path: Path | None) -> None:
    table = flights() if path is None else pq.read_table(path).slice(0, 50_000)
    key = table["key"].cast(pa.string())
    check(spark, table.select(["event_time", "value"]).append_column("key", key), 2)
