"""Rows to measure on, the calls that are measured, and NumPy's answers to compare with.

Values are whole numbers, so that sums are exact in any order and can be compared by prefix sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sash
from benchmarks.measure import CALLS, cpu_seconds, least_cpu
from sash import agg
from sash.windows import Window

STEP = 1000
"""Time between rows, about."""
BATCH = 100_000
"""Rows that an operator gets at once."""
CHECKED = 1_000_000
"""Of more rows in order, the last so many are compared."""
ROLLING, OPERATOR = "sash.rolling", "sash.WindowOperator"
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """Rows in the order they arrive."""

    times: Ints
    values: Floats
    keys: Ints

    def table(self, keyed: bool = False) -> pa.Table:
        """Return them as an Arrow table."""
        columns = {"t": self.times, "v": self.values}
        return pa.table(columns | ({"k": self.keys} if keyed else {}))

    def tail(self, rows: int) -> Rows:
        """Return the last of them."""
        return Rows(self.times[-rows:], self.values[-rows:], self.keys[-rows:])


def make_rows(rows: int, keys: int = 1, late: int | None = 0) -> Rows:
    """Make rows, each late by up to ``late`` places, or shuffled if that is none."""
    rng = np.random.default_rng(21)
    times = np.arange(rows, dtype=np.int64) * STEP + rng.integers(0, STEP, rows)
    values = rng.integers(0, 100, rows).astype(float)
    codes = rng.integers(0, keys, rows) if keys > 1 else np.zeros(rows, np.int64)
    if late == 0:
        return Rows(times, values, codes)
    order = rng.permutation(rows)
    if late is not None:
        order = np.argsort(np.arange(rows) + rng.uniform(0, late, rows), kind="stable")
    return Rows(times[order], values[order], codes[order])


def touch_memory(gigabytes: int) -> None:
    """Use memory once: what the machine hands out for the first time costs its first taker more."""
    np.ones(gigabytes << 27)


def cost_of(work: Callable[[], Any], rows: int, least: float) -> Callable[[], float]:
    """Return what measures the work: ns of CPU a row, the best of tries that take ``least`` s."""
    times = max(CALLS, round(least / max(cpu_seconds(work)[1], 1e-5)))
    return lambda: least_cpu(work, times) * 1e9 / rows


def roll(
    table: pa.Table, aggs: Any, window: int, by: str | None = None, order: str = "event"
) -> pa.Table:
    """Roll over windows as long as ``window`` rows take."""
    return sash.rolling(
        table, on="t", by=by, window=window * STEP, aggs=aggs, order=order, threads=1
    )


def operate(
    table: pa.Table,
    windows: Window | list[Window],
    aggs: Any = None,
    by: str | None = None,
    delay: int | None = 0,
) -> pa.Table:
    """Give the rows to an operator, batch by batch, and return all that it tells.

    The watermark is ``delay`` behind; with none it comes when the stream ends.
    """
    op = sash.WindowOperator(on="t", by=by, windows=windows, aggs=aggs or agg.sum("v"), delay=delay)
    told = [op.process(table.slice(i, BATCH)) for i in range(0, table.num_rows, BATCH)]
    told.append(op.finish())
    assert op.late_rows == 0, "rows were left out"
    return pa.concat_tables(told)


# ---- NumPy's answers ---------------------------------------------------------------------------


def check_sums(found: pa.Table, rows: Rows, window: int, name: str = "sum_v") -> None:
    """Compare rolling sums with differences of prefix sums."""
    answers = found[name].to_numpy()
    in_order = bool(np.all(rows.times[1:] >= rows.times[:-1])) and not rows.keys.any()
    if in_order and len(rows.times) > CHECKED + window:
        rows = rows.tail(CHECKED + window)
        answers = answers[-CHECKED - window :]
    wide = window * STEP
    places = rows.keys * (int(rows.times.max()) + wide + 1) + rows.times  # no key sees another's
    order = np.argsort(places, kind="stable")
    places = places[order]
    prefix = np.concatenate([[0.0], np.cumsum(rows.values[order])])
    first, last = (np.searchsorted(places, places - back, "right") for back in (wide, 0))
    expected = prefix[last] - prefix[first]
    skipped = window if in_order and len(rows.times) == CHECKED + window else 0
    assert np.array_equal(answers[order][skipped:], expected[skipped:]), "sums differ"


def check_samples(
    found: pa.Table, rows: Rows, window: int, name: str, brute: Callable[[Any], Any]
) -> None:
    """Compute some windows of rows that are in order."""
    answers = found[name].to_numpy()
    few = 20
    for end in np.random.default_rng(22).integers(1, len(answers), few):
        first = np.searchsorted(rows.times, rows.times[end] - window * STEP, "right")
        expected = brute(rows.values[first : end + 1])
        assert np.isclose(answers[end], expected, rtol=1e-9), (name, end)


def check_tumbling(told: pa.Table, rows: Rows, size: int, name: str = "sum_v") -> None:
    """Compare the sums of tumbling windows, key by key."""
    count = int(rows.times.max()) // size + 1
    places = rows.keys * count + rows.times // size
    sums = np.bincount(places, weights=rows.values)
    there = np.flatnonzero(np.bincount(places))
    keys = told["k"].to_numpy() if "k" in told.column_names else 0
    found = keys * count + told["window_start"].to_numpy() // size
    order = np.argsort(found)
    assert np.array_equal(found[order], there), "other windows"
    assert np.array_equal(told[name].to_numpy()[order], sums[there]), "sums differ"


def check_sliding(told: pa.Table, rows: Rows, size: int, slide: int) -> None:
    """Compare the sums of sliding windows, of rows without keys."""
    sums = np.bincount(rows.times // slide, weights=rows.values)
    prefix = np.concatenate([[0.0], np.cumsum(sums)])
    first = told["window_start"].to_numpy() // slide
    last = np.minimum(first + size // slide, len(sums))
    assert told.num_rows == len(sums) + size // slide - 1, "other windows"
    expected = prefix[last] - prefix[np.maximum(first, 0)]
    assert np.array_equal(told["sum_v"].to_numpy(), expected), "sums differ"
