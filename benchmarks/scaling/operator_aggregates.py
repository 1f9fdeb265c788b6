"""What the kind of aggregate costs in a `WindowOperator`, and what small batches cost."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pyarrow as pa

import sash
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.measure import cpu_seconds, in_turns
from benchmarks.results import Result
from sash import agg

SECOND = 1_000_000
BATCH = 200_000
OWN_SUM = sash.monoid(operator.add, name="own_sum", column="x")
CASES: dict[str, tuple[Any, int]] = {
    "sum": (agg.sum("x"), BATCH),
    "count, sum and max": ([agg.count(), agg.sum("x"), agg.max("x")], BATCH),
    "last": (agg.last("x"), BATCH),
    "a sum by Python": (OWN_SUM, BATCH),
    "sum, batches of 2,000": (agg.sum("x"), 2_000),
}


def run(plan: Plan) -> Result:
    """CPU of a row by the aggregates asked for: one key, tumbling windows of a second."""
    rows = plan.pick(400_000, 2_000_000)
    rng = np.random.default_rng(5)
    times = np.sort(rng.integers(0, rows // 15_000 * SECOND, rows))
    values = rng.integers(0, 100, rows).astype(float)
    table = pa.table({"t": times, "x": values})
    ends = np.flatnonzero(np.diff(times // SECOND, append=-1))
    sums = np.diff(np.cumsum(values)[ends], prepend=0.0)
    wanted = {"last": values[ends]}
    result = Result("operator_aggregates", "aggregates", "ns of CPU for a row", x_log=False)
    result.parameters |= {"rows": rows, "batch": BATCH, "window": "tumbling, a second"}

    def cost(name: str) -> float:
        what, batch = CASES[name]
        op = sash.WindowOperator(on="t", windows=sash.tumbling(SECOND), aggs=what)
        parts = [table.slice(i, batch) for i in range(0, rows, batch)]
        told, seconds = cpu_seconds(lambda: [op.process(part) for part in parts])
        out = pa.concat_tables([*told, op.finish()], promote_options="default")
        columns = [c for c in out.column_names if c.endswith(("sum_x", "last_x", "own_sum_x"))]
        columns = columns or [c for c in out.column_names if "sum" in c]
        np.testing.assert_array_equal(out[columns[0]].to_numpy(), wanted.get(name, sums))
        return seconds * 1e9 / rows

    work = {name: (lambda n=name: cost(n)) for name in CASES}
    for name, taken in in_turns(work, plan.repeat, plan.tries).items():
        result.add("WindowOperator", name, taken)
    result.checks.append("every window's sum (or last value) is that of NumPy")
    return result


def judge(result: Result) -> Verdict:
    """Compiled aggregates are the cheapest."""
    line = result.line("WindowOperator")
    costs = {p.x: p.cost for p in line.points}
    seen = "A row costs " + ", ".join(f"{v:.0f} ns ({k})" for k, v in costs.items()) + "."
    return Verdict("yes" if costs["sum"] == min(costs.values()) else "partly", seen)


EXPERIMENTS = [
    Experiment(
        name="operator_aggregates",
        group="scaling",
        title="Kinds of aggregates in the operator",
        claim="One compiled aggregate is cheapest; the order of rows and Python cost more.",
        run=run,
        judge=judge,
    )
]
