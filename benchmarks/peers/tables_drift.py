"""What is left in a rolling sum of one great value, long after it has left the window."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.peers.tables_peers import INSTALLED, Case, make_table
from benchmarks.results import Result

WINDOW = 1000
GREAT = 1e12
SPIKE = 500
"""The row with the great value."""
LEAST = 1e-12
"""Errors below are told as this: they are rounding of the windows themselves."""


def run(plan: Plan) -> Result:
    """Compare windows that never held the great value with what they hold."""
    rows = plan.pick(100_000, 1_000_000)
    table = make_table(rows, 1)
    values = table["v"].to_numpy().copy()
    values[SPIKE] = GREAT
    table = table.set_column(2, "v", pa.array(values))
    ends = np.random.default_rng(9).integers(SPIKE + WINDOW, rows, 200)
    result = Result(
        "tables_drift",
        x_label="aggregate",
        y_label=f"greatest error after a value of {GREAT:.0e} has left",
        x_log=False,
        parameters={"rows": rows, "window": WINDOW, "great value": GREAT, "windows": len(ends)},
    )
    for name, make in INSTALLED.items():
        for aggregate in ("sum", "mean", "stddev"):
            work = make(table, Case(aggregate, WINDOW))
            assert work is not None
            answer = work.read(work.run())
            exact = np.array([_exact(aggregate, values, end) for end in ends])
            error = float(np.abs(answer[ends] - exact).max())
            if name == "Sash":
                assert error < 1e-11, (aggregate, error)
            if math.isnan(error):
                result.notes.append(f"{name}, {aggregate}: NaN; drawn as if off by the answer")
                error = float(exact.max())
            result.add(name, aggregate, [max(error, LEAST)])
    result.notes.append(f"errors below {LEAST:g}, the rounding of any sum, are told as that")
    result.checks = ["Sash's error in any of 200 windows is below 1e-11; exact sums by math.fsum"]
    return result


def _exact(aggregate: str, values: Any, end: int) -> float:
    window = values[end - WINDOW + 1 : end + 1].tolist()
    total = math.fsum(window)
    if aggregate == "sum":
        return total
    mean = total / WINDOW
    if aggregate == "mean":
        return mean
    return math.sqrt(math.fsum((v - mean) ** 2 for v in window) / (WINDOW - 1))


def judge(result: Result) -> Verdict:
    """Say who is off, and by how much."""
    ours = max(p.cost for p in result.line("Sash").points)
    off = {
        line.name: max((p.cost, str(p.x)) for p in line.points)
        for line in result.lines
        if line.name != "Sash"
    }
    named = [
        f"{name} by {error:.1g} ({aggregate})"
        for name, (error, aggregate) in sorted(off.items(), key=lambda x: -x[1][0])
        if error > 1e-9
    ]
    right = [name for name, (error, _) in off.items() if error <= 1e-9]
    seen = f"Sash is off by {ours:.1g} at most, which is rounding"
    if named:
        seen += f"; {', '.join(named)}"
    if right:
        seen += f"; {', '.join(right)} by no more than 1e-9"
    return Verdict("yes" if ours < 1e-9 else "no", seen + ".")


DRIFT = Experiment(
    name="tables_drift",
    group="peers",
    title="What a great value leaves behind in rolling sums",
    claim="A value that has left the window has no influence; running sums keep its rounding.",
    run=run,
    judge=judge,
)
