"""Rides that are reported late, counted in windows that correct themselves.

Each ride is reported when it ends, so reports come out of order by up to an hour. Hours are told
when the watermark passes them, ten minutes behind the latest report; rides that come later than
that correct them. What was told last of every hour is what counting all rides at the end gives. On
the way the operator is saved after every batch, and once it is thrown away and restored.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

import sash
from sash import agg

START = datetime(2026, 6, 1, tzinfo=UTC)


def rides(n: int) -> pa.Table:
    """Return rides in the order of their reports."""
    rng = np.random.default_rng(2)
    begins = np.sort(rng.integers(0, 24 * 3600, n))
    ends = begins + rng.gamma(2.0, 600.0, n).astype(int)
    order = np.argsort(ends, kind="stable")
    stamps = pa.array([START + timedelta(seconds=int(s)) for s in begins[order]])
    return pa.table(
        {
            "begins": stamps.cast(pa.timestamp("us", "UTC")),
            "station": [f"station {i}" for i in rng.integers(0, 4, n)],
            "minutes": (ends - begins)[order] / 60,
        }
    )


def make() -> sash.WindowOperator:
    """Return a new operator: restoring takes the same arguments."""
    return sash.WindowOperator(
        on="begins",
        by="station",
        windows=[sash.tumbling("1h"), sash.session("5m")],
        aggs=[agg.count(), agg.mean("minutes"), agg.max("minutes")],
        delay="10m",
        lateness="3h",
    )


def main() -> None:
    """Process a day of rides in small batches."""
    table = rides(5_000)
    op, told, corrections = make(), {}, 0
    saved = [op.snapshot()]
    for start in range(0, table.num_rows, 250):
        if start == 2_500:  # as if the machine had been lost
            op = make()
            op.restore(*saved)
        for row in op.process(table.slice(start, 250)).to_pylist():
            if row["window"] == "tumbling_1h":
                told[row["station"], row["window_start"]] = row["count"]
                corrections += row["change"] == "correction"
        saved.append(op.changes())
    for row in op.finish().to_pylist():
        if row["window"] == "tumbling_1h":
            told[row["station"], row["window_start"]] = row["count"]

    expected = Counter(
        (r["station"], r["begins"].replace(minute=0, second=0)) for r in table.to_pylist()
    )
    assert told == expected
    sizes = [len(s) for s in saved[1:]]
    print(f"{len(told)} hours of 4 stations, {corrections} corrections, {op.late_rows} too late")
    print(f"changes after a batch of 250 rides: {sum(sizes) / len(sizes) / 1024:.1f} KB on average")


if __name__ == "__main__":
    main()
