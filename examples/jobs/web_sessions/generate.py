"""Clicks of a shop's visitors, in the order in which logs reach us: CSV in four files.

``python generate.py [rows] [folder]``. Two edge servers write logs; the second one's come late, so
that half of a visit may arrive long after the other.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

BEGIN = datetime(2026, 3, 2, 7)  # by the clocks in Berlin
SECONDS, FILES, VISITORS = 6 * 3600, 4, 120
PAGES = ["/", "/search", "/shoes", "/shoes/17", "/hats", "/hats/3", "/cart", "/pay"]


def delay(rng: random.Random) -> float:
    """Return how many seconds a line of a log is on its way."""
    chance = rng.random()
    if chance < 0.01:
        return rng.uniform(3, 5) * 3600  # found on a disk, hours later
    if chance < 0.2:
        return rng.uniform(20, 80) * 60  # the second server's
    return rng.uniform(0, 120)


def clicks(rows: int) -> Iterator[tuple[float, str]]:
    """Yield the seconds at which clicks arrive, and their lines."""
    rng = random.Random(13)
    second, left = 0.0, 0
    for number in range(rows):
        if left == 0:
            visitor, second = f"v{rng.randrange(VISITORS):03}", rng.uniform(0, SECONDS)
            left, page = rng.randint(1, 15), "/"
        at = (BEGIN + timedelta(seconds=second)).strftime("%d/%b/%Y:%H:%M:%S")
        size = "-" if number % 53 == 2 else str(rng.randrange(500, 90_000))
        yield second + delay(rng), f"{visitor},{at},{page},{size}"
        second, left, page = second + rng.expovariate(1 / 180), left - 1, rng.choice(PAGES)


def main(rows: int, folder: Path) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line for _, line in sorted(clicks(rows))]
    for i in range(FILES):
        part = lines[i * rows // FILES : (i + 1) * rows // FILES]
        path = folder / f"{i:02}.csv"
        path.write_text("\n".join(["visitor,at,page,bytes", *part]) + "\n")
        os.utime(path, (1e9 + i, 1e9 + i))  # a stream takes files in the order of their times


if __name__ == "__main__":
    given = dict(enumerate(sys.argv))
    main(int(given.get(1, 4000)), Path(given.get(2, Path(__file__).parent / "data")))
