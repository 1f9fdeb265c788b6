"""Readings of twelve thermometers, in the order in which they reach us: CSV in eight files.

``python generate.py [rows] [folder]``. Each reads every 30 seconds; one dies halfway. Readings are
dropped, sent twice, sent late, or have no value or no sensible time.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

BEGIN = datetime(2026, 3, 2, 6, tzinfo=UTC)
SENSORS, PERIOD, FILES, DEAD = 12, 30, 8, 4


def delay(rng: random.Random) -> float:
    """Return how many seconds a reading is on its way."""
    chance = rng.random()
    if chance < 0.01:
        return rng.uniform(30, 60) * 60  # a gateway that restarted
    if chance < 0.06:
        return rng.uniform(2, 8) * 60  # radio out of reach
    return rng.uniform(0, 10)


def readings(rows: int) -> Iterator[tuple[float, str]]:
    """Yield the seconds at which readings arrive, and their lines."""
    rng = random.Random(11)
    for number in range(rows):
        seq, sensor = divmod(number, SENSORS)
        if rng.random() < 0.02 or (sensor == DEAD and number > rows / 2):
            continue  # dropped
        second = seq * PERIOD + sensor
        at = (BEGIN + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")
        celsius = f"{20 + sensor / 10 + rng.gauss(0, 0.3):.2f}"
        if number % 97 == 3:
            celsius = ""  # the probe gave nothing
        if number > rows / 2 and number % 201 == 9:
            at = "1970-01-01T00:00:07Z"  # a clock that was lost
        if number % 287 == 11:
            at = "??"
        line = f"s{sensor:02},{seq},{at},{celsius}"
        yield second + delay(rng), line
        if rng.random() < 0.02:
            yield second + delay(rng), line  # the gateway missed the acknowledgement


def main(rows: int, folder: Path) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line for _, line in sorted(readings(rows))]
    for i in range(FILES):
        part = lines[i * len(lines) // FILES : (i + 1) * len(lines) // FILES]
        path = folder / f"{i:02}.csv"
        path.write_text("\n".join(["sensor,seq,at,celsius", *part]) + "\n")
        os.utime(path, (1e9 + i, 1e9 + i))  # a stream takes files in the order of their times


if __name__ == "__main__":
    given = dict(enumerate(sys.argv))
    main(int(given.get(1, 4800)), Path(given.get(2, Path(__file__).parent / "data")))
