"""Rows and windows as in Scotty 2018, and who aggregates them: slices, buckets, trees of rows."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sash
from benchmarks import native
from benchmarks.measure import cpu_seconds
from sash import agg
from sash.windows import Window

SECOND = 1_000_000
RATE = 15_000
"""Rows in a second of event time."""
DELAY = 2 * SECOND
BATCH = 200_000
Times = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]
Buckets = dict[tuple[str, int], float]
"""The sum of each window, by its name and its start."""


@dataclass(frozen=True)
class Rows:
    """Rows in the order they arrive in."""

    times: Times
    values: Values

    @cached_property
    def batches(self) -> list[pa.Table]:
        """All rows as tables for the operator."""
        table = pa.table({"t": self.times, "x": self.values})
        return [table.slice(i, BATCH) for i in range(0, len(self.times), BATCH)]

    def first(self, count: int) -> Rows:
        """Return those that arrive first."""
        return Rows(self.times[:count], self.values[:count])

    def write(self, path: Path) -> Path:
        """Write them for the native program."""
        with path.open("wb") as file:
            np.array([len(self.times)], np.int64).tofile(file)
            self.times.tofile(file)
            self.values.tofile(file)
        return path


def make_rows(count: int, late: float) -> Rows:
    """Return rows of which a part is late, by up to two seconds, with five gaps a minute.

    Values are whole, so that sums are exact in whatever order they are added up.
    """
    rng = np.random.default_rng(5)
    times = np.sort(rng.integers(0, count * SECOND // RATE, count))
    times += times // (12 * SECOND) * 2 * SECOND
    delays = np.where(rng.random(count) < late, rng.integers(0, DELAY, count), 0)
    order = np.argsort(times + delays, kind="stable")
    return Rows(times[order], rng.integers(1, 1001, count).astype(np.float64))


def slices(rows: Rows, windows: Sequence[Window], store: str) -> tuple[pa.Table, float]:
    """Return all windows that the operator tells, and nanoseconds of CPU for each row.

    The first batch is not counted: it is where the operator gets to know its columns.
    """
    op = sash.WindowOperator(on="t", windows=windows, aggs=agg.sum("x"), delay=DELAY, store=store)
    told = [op.process(rows.batches[0])]
    more, seconds = cpu_seconds(lambda: [op.process(batch) for batch in rows.batches[1:]])
    counted = max(1, len(rows.times) - BATCH)
    return pa.concat_tables([*told, *more, op.finish()]), seconds * 1e9 / counted


def buckets(rows: Rows, windows: Sequence[Window]) -> tuple[Buckets, float]:
    """Add every row to every window it is in, in NumPy, a batch at a time; sessions by sorting.

    Returns the windows, which are never closed, and nanoseconds of CPU for each row.
    """
    found, seconds = cpu_seconds(lambda: _fill_buckets(rows, windows))
    return found, seconds * 1e9 / len(rows.times)


def _fill_buckets(rows: Rows, windows: Sequence[Window]) -> Buckets:
    found: Buckets = {}
    for i in range(0, len(rows.times), BATCH):
        t, x = rows.times[i : i + BATCH], rows.values[i : i + BATCH]
        for w in windows:
            if w.kind == "session":
                continue
            first = t // w.slide
            for back in range(w.size // w.slide):
                index = first - back
                low = int(index.min())
                sums = np.bincount(index - low, weights=x)
                for k in np.flatnonzero(sums):
                    place = (w.name, (low + int(k)) * w.slide)
                    found[place] = found.get(place, 0.0) + sums[k]
    for w in windows:
        if w.kind == "session":
            found |= _sessions(w, rows)
    return found


def _sessions(w: Window, rows: Rows) -> Buckets:
    order = np.argsort(rows.times, kind="stable")
    t, x = rows.times[order], rows.values[order]
    starts = np.flatnonzero(np.diff(t, prepend=t[0] - w.size - 1) > w.size)
    sums = np.add.reduceat(x, starts)
    return {(w.name, int(t[s])): float(v) for s, v in zip(starts, sums, strict=True)}


def check(told: pa.Table, expected: Buckets) -> None:
    """Raise unless the operator told the windows of the buckets, each once, with their sums."""
    places = zip(told["window"].to_pylist(), told["window_start"].to_pylist(), strict=True)
    ours = dict(zip(places, told["sum_x"].to_pylist(), strict=True))
    assert len(ours) == told.num_rows, "a window was told twice"
    assert ours.keys() == expected.keys(), "other windows than the baseline's"
    np.testing.assert_array_equal([ours[p] for p in expected], list(expected.values()))


def of_rows(file: Path, sizes: Sequence[int], how: str) -> tuple[str, float]:
    """Return the checksum of the native program for tumbling windows, and its cost of a row."""
    found = native.run(
        "tuples", file=file, windows=",".join(map(str, sizes)), delay=DELAY, how=how, times=1
    )
    return found["checksum"], statistics.fmean(found["ns"])


def checksum(told: pa.Table) -> str:
    """Return what the native program gives when it tells the same tumbling windows."""
    fixed = told.filter([not name.startswith("session") for name in told["window"].to_pylist()])
    starts, ends = (fixed[x].to_numpy() for x in ("window_start", "window_end"))
    sums = fixed["sum_x"].to_numpy().astype(np.int64)
    return str(int((sums * (starts % 7 + (ends - starts) % 13 + 8)).sum()) + len(sums))
