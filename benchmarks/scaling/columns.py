"""Whole columns through one structure: `slide`, as in the README."""

from __future__ import annotations

import numpy as np

import sash
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.measure import cpu_seconds, in_turns
from benchmarks.results import Result
from sash import agg

LINES = {
    "TwoStacksLite, max": (sash.TwoStacksLite, agg.max()),
    "DabaLite, max": (sash.DabaLite, agg.max()),
    "TwoStacksLite, sum": (sash.TwoStacksLite, agg.sum()),
    "DabaLite, mean and stddev": (sash.DabaLite, [agg.mean(), agg.stddev()]),
}
BRUTE = {"max": np.max, "sum": np.sum}
ROWS = 1_000_000


def run(plan: Plan) -> Result:
    """Milliseconds for a million floats, by the size of the window."""
    values = np.random.default_rng(0).normal(size=ROWS)
    result = Result("columns", "entries in the window", "ms of CPU for a million values")
    result.parameters["rows"] = ROWS
    for size in (10, 1_000, 100_000):

        def cost(name: str) -> float:
            structure, what = LINES[name]
            out, seconds = cpu_seconds(lambda: structure(what).slide(values, size))
            if not isinstance(out, dict):
                _check(out, values, size, name.rsplit(" ", maxsplit=1)[-1])
            return seconds * 1e3

        runs = in_turns({name: (lambda n=name: cost(n)) for name in LINES}, plan.repeat, plan.tries)
        for name, taken in runs.items():
            result.add(name, size, taken)
    result.checks.append("a hundred windows of each sum and maximum, recomputed by NumPy")
    return result


def _check(out: np.ndarray, values: np.ndarray, size: int, what: str) -> None:
    for i in np.random.default_rng(1).integers(0, len(values), 100):
        window = values[max(0, i + 1 - size) : i + 1]
        if not np.isclose(out[i], BRUTE[what](window), rtol=1e-9, atol=1e-9):
            raise AssertionError(f"{what} of {size} entries is wrong at row {i}")


def judge(result: Result) -> Verdict:
    """Flat in the window's size."""
    highest = result.line("TwoStacksLite, max")
    costs = [p.cost for p in highest.points]
    seen = (
        f"A rolling maximum over a million floats takes {min(costs):.1f} to {max(costs):.1f} ms "
        "for windows of 10 to 100,000 entries."
    )
    return Verdict("yes" if max(costs) < 4 * min(costs) else "no", seen)


EXPERIMENTS = [
    Experiment(
        name="columns",
        group="scaling",
        title="A whole column in one call",
        claim="The cost of a column does not grow with the window.",
        run=run,
        judge=judge,
    )
]
