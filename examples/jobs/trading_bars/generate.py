"""Trades of half an hour in three symbols: Parquet in five files.

``python generate.py [rows] [folder]``. The feed's lines differ in speed, so that trades are a
little out of order. A few have no size: the exchange took them back.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

BEGIN = 1_772_461_800_000_000  # 2026-03-02 14:30 UTC, in microseconds
SECONDS, FILES = 1800, 5
SCHEMA = pa.schema(
    [
        ("symbol", pa.string()),
        ("at", pa.timestamp("us", "UTC")),
        ("price", pa.float64()),
        ("size", pa.int64()),
    ]
)


def trades(rows: int) -> list[dict[str, object]]:
    """Return trades, in the order in which they reach us."""
    rng = random.Random(17)
    prices = {"ACME": 120.0, "BOLT": 45.0, "CRUX": 310.0}
    # no two at the same moment: the first and last price of a bar must be clear
    moments = sorted(rng.sample(range(SECONDS * 1000), rows))
    found: list[tuple[float, dict[str, object]]] = []
    for number, moment in enumerate(moments):
        symbol = rng.choices(list(prices), [5, 3, 2])[0]
        prices[symbol] = round(prices[symbol] * (1 + rng.gauss(0, 0.0004)), 2)
        size = None if number % 211 == 4 else rng.choice([1, 5, 10, 100, 250])
        trade = {"symbol": symbol, "at": BEGIN + moment * 1000}
        trade |= {"price": prices[symbol], "size": size}
        found.append((moment + rng.uniform(0, 2000), trade))
    return [trade for _, trade in sorted(found, key=lambda one: one[0])]


def main(rows: int, folder: Path) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    all_trades = trades(rows)
    for i in range(FILES):
        part = all_trades[i * rows // FILES : (i + 1) * rows // FILES]
        pq.write_table(pa.Table.from_pylist(part, schema=SCHEMA), folder / f"{i:02}.parquet")


if __name__ == "__main__":
    given = dict(enumerate(sys.argv))
    main(int(given.get(1, 6000)), Path(given.get(2, Path(__file__).parent / "data")))
