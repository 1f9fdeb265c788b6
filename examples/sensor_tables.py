"""Roll over a table: ten sensors report by radio, and a fifth of their readings arrive late.

For each reading: how does it compare with the ten minutes before it, as they really were
(event order), and what did a live alarm know at the moment it arrived (arrival order)?
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import sash
from sash import agg

ROWS = 50_000


def readings() -> pa.Table:
    """Make up readings in the order of their arrival."""
    rng = np.random.default_rng(5)
    arrival = np.sort(rng.integers(0, 86_400_000, ROWS))
    late = np.where(rng.random(ROWS) < 0.2, rng.exponential(60_000, ROWS).astype(np.int64), 0)
    sensor = rng.integers(0, 10, ROWS)
    celsius = 20 + sensor + rng.normal(0, 0.5, ROWS) + (rng.random(ROWS) < 0.001) * 30
    return pa.table(
        {
            "measured": pa.array(arrival - late).cast(pa.timestamp("ms", "UTC")),
            "sensor": pa.array([f"s{i}" for i in sensor]),
            "celsius": pa.array(celsius.round(2), mask=rng.random(ROWS) < 0.01),
        }
    )


def main() -> None:
    """Find the readings far above what their sensor had shown."""
    table = readings()
    usual = [agg.median("celsius"), agg.quantile(0.95, "celsius"), agg.count("celsius")]
    args = {"on": "measured", "by": "sensor", "window": "10m", "aggs": usual}
    print(sash.explain(table, **args), "\n")
    truth = sash.rolling(table, **args)
    live = sash.rolling(table, **args, order="arrival")

    counts = truth["count_celsius"].to_numpy(), live["count_celsius"].to_numpy()
    print(f"readings in ten minutes: {counts[0].mean():.1f} on average")
    print(f"rows whose window was different when they arrived: {(counts[0] != counts[1]).sum():,}")

    above = truth["celsius"].to_numpy() - truth["median_celsius"].to_numpy()
    for row in np.argsort(-np.nan_to_num(above))[:3].tolist():
        one = truth.slice(row, 1).to_pylist()[0]
        print(
            f"{one['measured']:%H:%M:%S} {one['sensor']}: {one['celsius']} degrees, "
            f"median of the ten minutes {one['median_celsius']:.2f}"
        )


if __name__ == "__main__":
    main()
