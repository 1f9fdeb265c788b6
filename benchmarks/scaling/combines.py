"""Combines of a round, counted: the same on every machine."""

from __future__ import annotations

from benchmarks import native
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.results import Result

STRUCTURES = {
    "TwoStacksLite": "two_stacks_lite",
    "DabaLite": "daba_lite",
    "FingerTree": "finger_tree",
    "ClassicTree": "classic_tree",
    "ReactiveAggregator": "reactive_aggregator",
}
IN_ORDER, LATE = "in order, by entries", "late by up to d, 2^18 entries"


def run(plan: Plan) -> Result:
    """Combines of one insert, evict and query."""
    least = plan.pick(50_000, 200_000)
    result = Result("combines", "entries, or d", "combines for a round", y_log=False)
    result.parameters["rounds"] = f"at least {least}, and whole turns of the window"

    def counted(name: str, panel: str, x: int, n: int, **more: object) -> str:
        rounds = 2 * n * (1 + least // n)  # Two-Stacks turns over once in n rounds
        told = native.run(
            "rounds", structure=STRUCTURES[name], monoid="counted", rounds=rounds, n=n,
            **more,
        )  # fmt: skip
        calls = told["combines"]
        total = calls["insert"] + calls["evict"] + calls["query"]
        result.add(name, x, [total / calls["rounds"]], panel)
        return str(told["checksum"])

    for exponent in plan.pick((6, 12, 18), (6, 8, 10, 12, 14, 16, 18, 20)):
        n = 1 << exponent
        if len({counted(name, IN_ORDER, n, n=n) for name in STRUCTURES}) != 1:
            raise AssertionError(f"structures disagree at {n} entries")
    for exponent in plan.pick((3, 9, 15), (3, 6, 9, 12, 15, 17)):
        d = 1 << exponent
        late = {"n": 1 << 18, "d": d, "delay": "random"}
        if len({counted(name, LATE, d, **late) for name in ("FingerTree", "ClassicTree")}) != 1:
            raise AssertionError(f"trees disagree at distance {d}")
    result.checks.append("all structures gave the same answers")
    return result


def judge(result: Result) -> Verdict:
    """The bounds of the papers."""
    least, most = {}, {}
    for name in STRUCTURES:
        costs = [p.cost for p in result.line(name, IN_ORDER).points]
        least[name], most[name] = min(costs), max(costs)
    late = result.line("FingerTree", LATE).points
    parts = [f"{name} {least[name]:.1f} to {most[name]:.1f}" for name in STRUCTURES]
    seen = (
        f"In order, whatever the window: {', '.join(parts)}. A round with a late row takes "
        f"FingerTree {late[0].cost:.1f} at d = {late[0].x:,} and {late[-1].cost:.1f} at "
        f"{late[-1].x:,}."
    )
    flat = all(most[x] < 1.5 * least[x] for x in ("TwoStacksLite", "DabaLite", "FingerTree"))
    return Verdict("yes" if flat else "no", seen)


EXPERIMENTS = [
    Experiment(
        name="combines",
        group="scaling",
        title="Combines, counted",
        claim="In order a round takes a few combines whatever the window; late by d, O(log d).",
        run=run,
        judge=judge,
    )
]
