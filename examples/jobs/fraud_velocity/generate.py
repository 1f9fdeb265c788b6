"""Card payments of six hours, in the order in which they reach us: JSON lines in four files.

``python generate.py [rows] [folder]``. One card is stolen at 9:40 and tried at shop after shop.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

BEGIN = datetime(2026, 3, 2, 6, tzinfo=UTC)
SECONDS, FILES, CARDS, STOLEN = 6 * 3600, 4, 60, "card-13"


def delay(rng: random.Random) -> float:
    """Return how many seconds a payment is on its way."""
    chance = rng.random()
    if chance < 0.01:
        return rng.uniform(2, 4) * 3600  # a terminal that was offline for the whole morning
    if chance < 0.05:
        return rng.uniform(5, 40) * 60  # one in a lift, or in a tunnel
    return rng.expovariate(1 / 5)


def payments(rows: int) -> Iterator[tuple[float, str]]:
    """Yield the seconds at which payments arrive, and their lines."""
    rng = random.Random(7)
    for number in range(rows):
        card, second = f"card-{rng.randrange(CARDS):02}", rng.uniform(0, SECONDS)
        amount = round(rng.lognormvariate(3, 1), 2)
        if number % 40 == 0:
            card, second, amount = STOLEN, rng.uniform(13_200, 13_800), round(amount / 10, 2)
        at = (BEGIN + timedelta(seconds=second)).isoformat(timespec="milliseconds")
        payment: dict[str, object] = {
            "id": number, "card": card, "at": at, "amount": amount,
            "merchant": f"shop-{rng.randrange(200):03}",
        }  # fmt: skip
        if number % 311 == 5:
            payment["amount"] = None  # an authorization that was cancelled
        line = json.dumps(payment)
        yield second + delay(rng), line[: len(line) // 2] if number % 503 == 7 else line


def main(rows: int, folder: Path) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line for _, line in sorted(payments(rows))]
    for i in range(FILES):
        path = folder / f"{i:02}.json"
        path.write_text("\n".join(lines[i * rows // FILES : (i + 1) * rows // FILES]) + "\n")
        os.utime(path, (1e9 + i, 1e9 + i))  # a stream takes files in the order of their times


if __name__ == "__main__":
    given = dict(enumerate(sys.argv))
    main(int(given.get(1, 4000)), Path(given.get(2, Path(__file__).parent / "data")))
