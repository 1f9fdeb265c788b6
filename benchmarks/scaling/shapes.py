"""Widths of FingerTree's leaves and inner nodes: what the defaults were chosen from."""

from __future__ import annotations

import statistics

from benchmarks import native
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.measure import in_turns
from benchmarks.results import Result

LEAVES = (16, 32, 62, 78, 128)
FANOUTS = (8, 16, 48)
CASES = {
    "sum, in order": {"monoid": "sum", "d": 0},
    "sum, late by up to 2^12": {"monoid": "sum", "d": 1 << 12, "delay": "random"},
    "stddev, late by up to 2^12": {"monoid": "stddev", "d": 1 << 12, "delay": "random"},
    "argmax, late by up to 2^12": {"monoid": "argmax", "d": 1 << 12, "delay": "random"},
}


def run(plan: Plan) -> Result:
    """Cost of a round by the width of leaves; a line for each fan-out."""
    n, rounds = plan.pick(1 << 16, 1 << 20), plan.pick(200_000, 500_000)
    result = Result("tree_shapes", "entries in a leaf", "ns of CPU for a round", y_log=False)
    result.parameters |= {"n": n, "rounds": rounds}
    for panel, case in CASES.items():
        answers: set[str] = set()

        def cost(leaf: int, fanout: int) -> float:
            told = native.run(
                "rounds", structure="finger_tree", n=n, rounds=rounds, leaf=leaf, fanout=fanout,
                **case,
            )  # fmt: skip
            answers.add(told["checksum"])
            return statistics.fmean(told["ns"])

        for leaf in LEAVES:
            work = {f"{f} children": (lambda w=leaf, f=f: cost(w, f)) for f in FANOUTS}
            for name, taken in in_turns(work, plan.repeat, plan.tries).items():
                result.add(name, leaf, taken, panel)
        if len(answers) != 1:
            raise AssertionError(f"trees of different shapes disagree: {panel}")
    result.checks.append("trees of all shapes gave the same answers")
    return result


def judge(result: Result) -> Verdict:
    """The default is near the best of every workload."""
    worst, parts = 1.0, []
    for panel in CASES:
        lines = [x for x in result.lines if x.panel == panel]
        best = min(p.cost for x in lines for p in x.points)
        default = result.line("48 children", panel).at(78)
        worst = max(worst, default / best)
        parts.append(f"{default:.0f} ns, the best shape {best:.0f} ({panel})")
    holds = "yes" if worst < 1.35 else "partly" if worst < 1.8 else "no"
    return Verdict(holds, "Leaves of 78 and 48 children take " + "; ".join(parts) + ".")


EXPERIMENTS = [
    Experiment(
        name="tree_shapes",
        group="scaling",
        title="Widths of FingerTree's nodes",
        claim="The default, leaves of 78 entries and 48 children, is near the best.",
        run=run,
        judge=judge,
    )
]
