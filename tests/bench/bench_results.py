"""Experiments and results that were made up, for tests of the report."""

from __future__ import annotations

from benchmarks.experiment import Experiment, Holds, Plan, Verdict
from benchmarks.results import Result, Violin

MACHINE = {"cpu": "a fast one", "cores": 2, "load before": 0.5, "packages": {"sash": "0.1.0"}}


def finished(result: Result) -> Result:
    result.machine, result.began, result.seconds = dict(MACHINE), "2026-01-02 03:04:05 UTC", 61.0
    return result


def sizes_result(slower: float = 1.0) -> Result:
    result = Result(
        "sizes_of_it",
        "distance d",
        "ns for a round",
        parameters={"n": 4194304, "rounds": {"sum": 5000}},
    )
    for panel in ("sum", "bloom <2^14>"):
        for d in (0, 1, 1 << 10, 1 << 20):
            result.add("FingerTree", d, [14.0, 15.0, 20.0], panel)
            result.add("ClassicTree", d, [90.0 * slower, 95.0 * slower, 99.0 * slower], panel)
        result.add("DabaLite", 0, [9.0, 9.0, 9.5], panel)
    result.checks = ["all gave the same <answers>"]
    result.notes = [f"note {i}" for i in range(9)]
    return finished(result)


def peers_result() -> Result:
    result = Result("tables_of_it", "aggregate", "ns for a row")
    for aggregate, bottleneck in {"sum, 10^3 rows": 2.0, "max, 10^3 rows": 3.9}.items():
        result.add("pandas", aggregate, [20.0, 21.0, 25.0])
        result.add("Sash", aggregate, [4.0, 4.1, 4.2])
        result.add("Sash, two cores", aggregate, [2.0])
        result.add("bottleneck", aggregate, [bottleneck])
    result.checks = ["rows", "nulls"]
    return finished(result)


def latency_result() -> Result:
    result = Result("latency_of_it", "", "ns of a round")
    bins = {"60": 300, "64": 900, "68": 100, "4096": 1}
    told = {"min": 60.0, "0.5": 65.0, "0.999": 70.0, "0.99999": 4100.0, "max": 4200.0, "mean": 66.0}
    for name in ("Daba", "TwoStacks"):
        result.violins.append(Violin(name, dict(bins), dict(told)))
    result.checks = ["checksums"]
    return finished(result)


def never(_: Plan) -> Result:
    raise AssertionError("the report runs no experiment")


def experiment(name: str, group: str, source: str = "", holds: Holds = "yes") -> Experiment:
    def judge(result: Result) -> Verdict:
        return Verdict(holds, f"Seen in {result.name}: 14 < 39.")

    return Experiment(
        name, group, f"Title of {name} & more", f"{name} is | quick", never, judge, source
    )


EXPERIMENTS = [
    experiment("sizes_of_it", "fiba", "FiBA 2019, figure 11"),
    experiment("latency_of_it", "daba", "DABA 2021, figure 13", "partly"),
    experiment("not_run", "daba", "DABA 2021, figure 14"),
    experiment("tables_of_it", "peers", holds="no"),
]
RESULTS = {r.name: r for r in (sizes_result(), latency_result(), peers_result())}
