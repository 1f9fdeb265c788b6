"""Counters of eight cells of a mobile network, by the minute: Parquet in four files.

``python generate.py [rows] [folder]``. Times are milliseconds since 1970. A cell whose line is down
sends its counters when it is up again; some get it wrong and send seconds.
"""

from __future__ import annotations

import math
import os
import random
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

BEGIN = 1_772_431_200_000  # 2026-03-02 06:00 UTC, in milliseconds
FILES, CELLS = 4, 8
SCHEMA = pa.schema(
    [
        ("region", pa.string()),
        ("cell", pa.int32()),
        ("at", pa.int64()),
        ("attempts", pa.int64()),
        ("drops", pa.int64()),
        ("mbps", pa.float64()),
    ]
)


def delay(rng: random.Random) -> float:
    """Return how many minutes a row is on its way."""
    chance = rng.random()
    if chance < 0.005:
        return rng.uniform(200, 300)  # the line was down for hours
    if chance < 0.05:
        return rng.uniform(5, 50)
    return rng.uniform(0, 1)


def counters(rows: int) -> list[dict[str, object]]:
    """Return a row for each cell and minute, in the order in which they reach us."""
    rng = random.Random(19)
    found: list[tuple[float, dict[str, object]]] = []
    for number in range(rows):
        minute, cell = divmod(number, CELLS)
        load = 1.2 + math.sin(minute / 90 + cell)
        attempts = round(rng.gauss(60, 8) * load)
        row: dict[str, object] = {
            "region": "north" if cell < 4 else "south",
            "cell": cell,
            "at": BEGIN + minute * 60_000,
            "attempts": attempts,
            "drops": sum(rng.random() < 0.01 * load for _ in range(attempts)),
            "mbps": None if number % 83 == 6 else round(rng.gauss(120, 20) / load, 1),
        }
        if number > rows / 2 and number % 301 == 100:
            row["at"] = BEGIN // 1000 + minute * 60  # a clock in seconds
        found.append((minute + delay(rng), row))
    return [row for _, row in sorted(found, key=lambda one: one[0])]


def main(rows: int, folder: Path) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    all_rows = counters(rows)
    for i in range(FILES):
        part = all_rows[i * rows // FILES : (i + 1) * rows // FILES]
        path = folder / f"{i:02}.parquet"
        pq.write_table(pa.Table.from_pylist(part, schema=SCHEMA), path)
        os.utime(path, (1e9 + i, 1e9 + i))  # a stream takes files in the order of their times


if __name__ == "__main__":
    given = dict(enumerate(sys.argv))
    main(int(given.get(1, 3840)), Path(given.get(2, Path(__file__).parent / "data")))
