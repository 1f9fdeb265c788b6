"""A long stream through one operator: every window is compared, and memory is watched.

Rows come up to two seconds late; keys live for a minute and are never seen again. Prints what was
tried and what came of it as a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import sash
from sash import agg

RATE = 15_000  # rows in a second of event time
KEYS = 1_000  # that live at a time
SECOND, MINUTE, WINDOW = 1_000_000, 60_000_000, 10_000_000
LATE = 2 * SECOND
GROWTH = 1.2
"""How much more memory there may be at the end than after the first tenth."""


class Stream:
    """Batches of rows, and what each window of them must say."""

    def __init__(self, rows: int, batch: int) -> None:
        self._rng = np.random.default_rng(7)
        self._sizes = [min(batch, rows - first) for first in range(0, rows, batch)]
        cells = (rows * SECOND // RATE // WINDOW + 2) * KEYS
        self.counts, self.sums = (np.zeros(cells, np.int64) for _ in range(2))
        self._at = 0

    def __iter__(self):  # type: ignore[no-untyped-def]
        for size in self._sizes:
            first = self._at * SECOND // RATE
            self._at += size
            last = self._at * SECOND // RATE
            late = self._rng.integers(0, LATE, size) * (self._rng.random(size) < 0.2)
            times = np.maximum(0, self._rng.integers(first, last, size) - late)
            place = self._rng.integers(0, KEYS, size)
            amounts = self._rng.integers(-100, 1_000_000, size)
            cells = times // WINDOW * KEYS + place
            self.counts += np.bincount(cells, minlength=len(self.counts))
            np.add.at(self.sums, cells, amounts)
            keys = times // MINUTE * KEYS + place
            yield pa.table({"t": times, "key": keys, "amount": amounts}), last - LATE


def resident() -> int:
    """Return the bytes of memory that this process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def main() -> int:
    """Run the stream; 1 when a window was wrong, missing or told twice, or memory grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--batch", type=int, default=200_000)
    args = parser.parse_args()
    began = time.monotonic()
    windows = [sash.tumbling(WINDOW), sash.sliding(MINUTE, WINDOW), sash.session(SECOND)]
    aggs = [agg.count(), agg.sum("amount"), agg.max("amount")]
    operator = sash.WindowOperator(on="t", by="key", windows=windows, aggs=aggs)
    stream = Stream(args.rows, args.batch)
    counts, sums = np.zeros_like(stream.counts), np.zeros_like(stream.sums)
    told, watched = np.zeros(len(counts), np.int64), []

    def take(out: pa.Table) -> None:
        out = out.filter(pa.compute.equal(out["window"], windows[0].name))
        start = out["window_start"].to_numpy()
        cells = start // WINDOW * KEYS + out["key"].to_numpy() % KEYS
        np.add.at(told, cells, 1)
        counts[cells] = out["count"].to_numpy()
        sums[cells] = out["sum_amount"].to_numpy()

    for table, watermark in stream:
        operator.process(table)
        take(operator.advance(watermark))
        watched.append(resident())
    take(operator.finish())
    wrong = int(np.sum((counts != stream.counts) | (sums != stream.sums)))
    wrong += int(np.sum(told != (stream.counts > 0)))
    growth = watched[-1] / watched[len(watched) // 10]
    print(
        json.dumps(
            {
                "what": "rows through one operator, keys that come and go, all windows compared",
                "amount": f"{args.rows:,} rows, {int(told.sum()):,} windows; memory at the end "
                f"{growth:.2f} of that after a tenth",
                "seconds": round(time.monotonic() - began, 1),
                "findings": wrong + (growth > GROWTH),
            }
        )
    )
    return 1 if wrong or growth > GROWTH else 0


if __name__ == "__main__":
    raise SystemExit(main())
