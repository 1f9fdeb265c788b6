"""Watch a sensor: over the last minute, how warm, how steady, and when was the peak?

Readings come about once a second; now and then the sensor is silent. The window is by time,
so it holds however many readings the last minute had.
"""

from __future__ import annotations

import math
import random

import sash
from sash import agg

MINUTE = 60


def readings(seconds: int) -> list[tuple[int, float | None]]:
    """Make up readings: a slow wave, noise, a spike, and a gap."""
    noise = random.Random(7)
    made: list[tuple[int, float | None]] = []
    for second in range(seconds):
        celsius = 21 + 2 * math.sin(second / 90) + noise.gauss(0, 0.1)
        if second == 200:
            celsius += 15
        made.append((second, None if 300 <= second < 320 else round(celsius, 2)))
    return made


def main() -> None:
    """Print a line every half minute."""
    window = sash.TimedWindow(
        [
            agg.count("celsius").alias("readings"),
            agg.mean("celsius"),
            agg.stddev("celsius"),
            agg.max("celsius"),
            agg.argmax("celsius", "second", argument_dtype=int),
        ]
    )
    print("   at  readings   mean  stddev    max  at second")
    for second, celsius in readings(450):
        window.insert(second, {"celsius": celsius, "second": second})
        window.bulk_evict(second - MINUTE)
        if second % 30 == 29:
            there, mean, spread, peak, when = window.query()
            print(f"{second:5}  {there:8}  {mean:5.2f}  {spread:6.2f}  {peak:5.2f}  {when:9}")


if __name__ == "__main__":
    main()
