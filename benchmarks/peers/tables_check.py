"""Answers of rolling aggregates: ours compared with NumPy, others with ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.peers.tables_peers import STEP, Answer, Case

NEAR = 1e-6
"""Answers may differ by so much, and by so much of themselves: sums are of floats."""


def check_ours(answer: Answer, table: pa.Table, case: Case) -> None:
    """Compute the windows of some rows with NumPy."""
    columns = {name: table[name].to_numpy() for name in ("k", "v", "d")}
    times = table["t"].cast(pa.int64()).to_numpy()
    for row in np.random.default_rng(8).integers(case.window // 8, len(answer), 12):
        first = row - case.window + 1
        if case.timed:
            first = np.searchsorted(times, times[row] - case.window * STEP, "right")
        inside = np.arange(max(0, first), row + 1)
        if case.keyed:
            inside = inside[columns["k"][inside] == columns["k"][row]]
        v, d = columns["v"][inside], columns["d"][inside]
        brute: dict[str, Callable[[], Any]] = {
            "sum": v.sum, "mean": v.mean, "max": v.max, "median": lambda: np.median(v),
            "stddev": lambda: v.std(ddof=1), "argmax": lambda: inside[v.argmax()],
            "distinct": lambda: len(np.unique(d)), "distinct, HLL": lambda: len(np.unique(d)),
            "Python function": v.max,
        }  # fmt: skip
        loose = 0.1 if case.aggregate == "distinct, HLL" else NEAR
        expected = brute[case.aggregate]()
        assert np.isclose(answer[row], expected, rtol=loose, atol=loose), (case, row)


def difference(ours: Answer, theirs: Answer, keys: int) -> str:
    """Return how their answers differ from ours, if they do."""
    wrong = ~np.isclose(ours, theirs, rtol=NEAR, atol=NEAR, equal_nan=True)
    nothing = np.isnan(ours) != np.isnan(theirs)
    if nothing.sum() <= keys:  # the deviation of a key's first row is 0 or nothing at all
        wrong &= ~nothing
    if not wrong.any():
        return ""
    most = np.abs(ours - theirs)[wrong].max()
    return f"drifts: {wrong.sum():,} of {len(wrong):,} answers differ, by up to {most:.1g}"


def estimates(ours: Answer, theirs: Answer, exact: Answer) -> str:
    """Return how far off estimates are."""
    off = [np.mean(np.abs(found / exact - 1)) for found in (ours, theirs)]
    return f"its estimates are off by {off[1]:.1%} on average, those of Sash by {off[0]:.1%}"
