"""Rolling over tables beside pandas, polars, DuckDB, bottleneck and numbagg: one core, in turns.

Every answer is compared with ours, and ours with NumPy, before a time counts. A library that would
take too long on all rows is measured on fewer; the notes say on how many.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.measure import CALLS, cpu_seconds, in_turns, least_cpu
from benchmarks.peers.tables_check import check_ours, difference, estimates
from benchmarks.peers.tables_drift import DRIFT
from benchmarks.peers.tables_peers import (
    INSTALLED,
    NAMES,
    Answer,
    Case,
    Work,
    make_table,
    sash_work,
)
from benchmarks.results import Result

PROBE = 4_000
"""Rows by which it is first seen what a library costs, about."""
SEVEN = [*NAMES, "argmax", "distinct"]


@dataclass(frozen=True)
class Limits:
    """How long things may take, in seconds of CPU."""

    least: float
    """What is shorter is repeated, so that the clock has something to count."""
    run: float
    """A run, when there are enough rows to fill the window."""
    fill: float
    """A run that fills the window, else it is measured on windows that are not full."""


def cases(plan: Plan) -> dict[str, list[Case]]:
    """Return what is measured, panel by panel."""
    wide, keys = plan.pick(100_000, 1_000_000), plan.pick(100, 1000)
    power = len(str(wide)) - 1
    return {
        "10^3 rows": [Case(a, 1000) for a in [*SEVEN, "distinct, HLL", "Python function"]],
        f"10^{power} rows": [
            Case(a, wide) for a in plan.pick(["sum", "max", "median"], [*NAMES, "distinct"])
        ],
        "10^3 by time": [Case(a, 1000, True) for a in [*SEVEN, "Python function"]],
        f"10^{power} by time": [
            Case(a, wide, True)
            for a in plan.pick(["sum", "max"], ["sum", "max", "argmax", "median"])
        ],
        f"by time, {keys:,} keys": [
            Case(a, 1000 * keys, True, True)
            for a in plan.pick(["sum", "median"], ["sum", "max", "stddev", "median", "distinct"])
        ],
    }


# ---- one library, one case ---------------------------------------------------------------------


def affordable(make: Any, table: pa.Table, case: Case, limits: Limits) -> int:
    """Return on how many rows a library is measured: all of them unless that takes too long."""
    total: int = table.num_rows
    rows = min(total, case.window // 10 if case.keyed else PROBE)  # each key has its own start
    make(table.slice(0, rows), case).run()  # which may load and compile things
    while True:
        seconds = cpu_seconds(make(table.slice(0, rows), case).run)[1]
        if seconds > limits.run / 10 or rows == total:
            break
        rows = min(5 * rows, total)
    cost = max(seconds, 1e-5) / rows
    full = min(total, 2 * case.window)
    most = int(limits.run / cost)
    if most < full and cost * full < limits.fill:
        most = full
    return max(PROBE, min(_rounded(most), total))


def _rounded(rows: int) -> int:
    """Return it with two digits, the rest zero: what is told of it is easier to read."""
    unit = int(10 ** max(0, len(str(rows)) - 2))
    return rows // unit * unit


@dataclass
class Entrant:
    """A library in a case: its work, on how many rows, and what its first run gave."""

    rows: int
    work: Work
    seconds: float
    answer: Answer
    times: int
    """Calls of a run, of which the fastest counts: one where it takes long."""

    def cost(self) -> float:
        """Run it; nanoseconds a row."""
        return least_cpu(self.work.run, self.times) * 1e9 / self.rows


def enter(make: Any, table: pa.Table, case: Case, limits: Limits) -> Entrant | None:
    """Run it once, to have its answer; none if the library has no such thing."""
    if make(table.slice(0, 1), case) is None:
        return None
    rows = affordable(make, table, case, limits)
    work = make(table.slice(0, rows), case)
    found, seconds = cpu_seconds(work.run)
    times = max(CALLS, round(limits.least / max(seconds, 1e-5)))
    if seconds > 4 * limits.run:
        times = 1
    return Entrant(rows, work, seconds, work.read(found), times)


# ---- the experiment ----------------------------------------------------------------------------


def run(plan: Plan) -> Result:
    """Every library, every case."""
    rows = plan.pick(500_000, 10_000_000)
    limits = plan.pick(Limits(0.03, 0.06, 0.5), Limits(0.05, 0.25, 3.0))
    result = Result(
        "tables",
        x_label="aggregate",
        y_label="CPU ns per row",
        x_log=False,
        parameters={"rows": rows, "libraries": list(INSTALLED), "fewer rows": {}},
    )
    keys = plan.pick(100, 1000)
    tables = {False: make_table(rows, 1), True: make_table(rows, keys)}
    np.ones(
        plan.pick(1 << 27, 1 << 29)
    )  # memory that was handed out once costs the first taker nothing
    for make in INSTALLED.values():
        make(tables[False].slice(0, 1), Case("sum", 1))  # so that they are loaded
    gc.freeze()  # what they have loaded is not looked through before each run
    try:
        for panel, several in cases(plan).items():
            for case in several:
                _one(result, panel, case, tables[case.keyed], limits, plan.repeat)
    finally:
        gc.unfreeze()
    result.checks = [
        "Sash's answers are NumPy's in 12 windows of each case",
        "each library's answers are Sash's, in every row it was measured on, or a note says how "
        "they differ; estimates of HyperLogLog are within 10% of the exact count",
    ]
    missing = [n for n in ("polars", "pandas", "DuckDB", "bottleneck", "numbagg")
               if n not in INSTALLED]  # fmt: skip
    result.notes += [f"{name} is not installed here" for name in missing]
    result.notes += [
        f"measured on fewer rows: {where}: {', '.join(several)}"
        for where, several in result.parameters.pop("fewer rows").items()
    ]
    result.notes.append(
        "each library has its own kind of table before the clock runs; bottleneck and numbagg take "
        "arrays and windows by count; a Python function gets whole windows in polars and pandas, "
        "two partial results in Sash"
    )
    return result


def _one(
    result: Result, panel: str, case: Case, table: pa.Table, limits: Limits, repeat: int
) -> None:
    fewer: dict[str, list[str]] = result.parameters["fewer rows"]
    entrants = {
        name: entrant
        for name, make in INSTALLED.items()
        if (entrant := enter(make, table, case, limits)) is not None
    }
    check_ours(entrants["Sash"].answer, table, case)
    for name, entrant in entrants.items():
        if name != "Sash" and (said := _compare(entrants["Sash"], entrant, table, case)):
            result.notes.append(f"{name}, {case.aggregate}, {panel}: {said}")
        if entrant.rows < table.num_rows:
            full = "" if entrant.rows >= 2 * case.window else " (windows not full)"
            fewer.setdefault(f"{name}, {panel}", []).append(
                f"{case.aggregate} {entrant.rows:,}{full}"
            )
    # What takes long is called once more and no oftener.
    slow = {n: e for n, e in entrants.items() if e.times == 1}
    runs = in_turns({n: e.cost for n, e in entrants.items() if n not in slow}, repeat)
    runs |= {n: [e.seconds * 1e9 / e.rows, e.cost()] for n, e in slow.items()}
    for name in entrants:
        result.add(name, case.aggregate, runs[name], panel)


def _compare(ours: Entrant, theirs: Entrant, table: pa.Table, case: Case) -> str:
    rows, answer = theirs.rows, ours.answer
    if rows > ours.rows:
        answer = _answer(table.slice(0, rows), case)
    if case.aggregate == "distinct, HLL":
        exact = _answer(table.slice(0, rows), replace(case, aggregate="distinct"))
        return estimates(answer[:rows], theirs.answer, exact)
    keys = int(table["k"].to_numpy().max()) + 1
    return difference(answer[:rows], theirs.answer, keys)


def _answer(table: pa.Table, case: Case) -> Answer:
    work = sash_work(table, case)
    return work.read(work.run())


# ---- verdicts ----------------------------------------------------------------------------------


def judge(result: Result) -> Verdict:
    """Count the cells where no other library is faster, and say where one is."""
    ratios: dict[tuple[str, str], tuple[float, str]] = {}
    for ours in (line for line in result.lines if line.name == "Sash"):
        for point in ours.points:
            peers = [
                (line.at(point.x) / point.cost, line.name)
                for line in result.lines
                if line.panel == ours.panel and line.name != "Sash" and line.has(point.x)
            ]
            if peers:
                ratios[str(point.x), ours.panel] = min(peers)
    lost = {cell: found for cell, found in ratios.items() if found[0] < 0.85}
    won = sorted(ratio for ratio, _ in ratios.values() if ratio > 1.15)
    seen = f"Of {len(ratios)} cells Sash is ahead of the best other library in {len(won)}"
    if won:
        seen += f", by {won[len(won) // 2]:.1f} times in the middle one"
    if lost:
        named = [f"{a} ({panel}): {name} takes {r:.2f} of the time"
                 for (a, panel), (r, name) in sorted(lost.items(), key=lambda x: x[1])]  # fmt: skip
        seen += f"; behind in {len(lost)}: {'; '.join(named)}"
    by_running_sum = all(a in ("sum", "mean", "stddev") for a, _ in lost)
    return Verdict("yes" if by_running_sum else "partly", seen + ".")


EXPERIMENTS = [
    Experiment(
        name="tables",
        group="peers",
        title="Rolling over tables, beside other libraries",
        claim="No library is faster, but for those that keep running sums over windows by count.",
        run=run,
        judge=judge,
    ),
    DRIFT,
]
