"""Reactive Aggregator 2015, figures 9 to 12 and table 4: other windows, base intervals, memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.papers.contests import Run, agree, contest
from benchmarks.papers.judging import costs, panels, places, power, time, verdict
from benchmarks.papers.sweeps import SAME, Arguments, runs, sweep
from benchmarks.results import Result

OURS, DABA, INTERVALS = "ReactiveAggregator", "DabaLite", "B-Int"
ALIKE = "ReactiveAggregator and DabaLite gave the same checksum of all answers at each of "
SINGLY: dict[str, Any] = {"evict": "single", "insert": "single"}
"""All structures note one entry at a time; the Reactive Aggregator works when it is asked."""

FIXED, SWINGING = "a window of n", "from n/2 to n and back"


def changing(plan: Plan) -> Result:
    result = Result(
        "reactive_changing", "window size n", "ns per query and the changes before", y_log=False
    )
    both = {OURS: "reactive_aggregator", DABA: "daba_lite"}
    rounds = {OURS: plan.pick(300_000, 1_000_000), DABA: plan.pick(2_000_000, 4_000_000)}
    for monoid in ("max", "stddev"):
        for n in [1 << k for k in plan.pick((4, 12, 20), (4, 8, 12, 16, 20))]:
            runs_of = {
                FIXED: Run("rounds", {"monoid": monoid, "n": n}),
                # Beyond n its capacity doubles, below n/2 it is halved.
                SWINGING: Run("oscillate", {"monoid": monoid, "n": n + 1, "low": n // 2 - 1}),
            }
            for mode, arguments in runs_of.values():
                agree(
                    result, plan, mode, list(both.values()),
                    f"{ALIKE}these sizes, fixed and changing", **arguments, rounds=5000,
                )  # fmt: skip
            lines = {
                f"{name}, {how}": Run(
                    mode, {**arguments, "structure": structure, "rounds": rounds[name]}
                )
                for name, structure in both.items()
                for how, (mode, arguments) in runs_of.items()
            }
            contest(result, plan, n, lines, monoid)
    result.parameters["rounds"] = rounds
    result.notes = [
        "In a window of n, each query follows an eviction and an insertion; in one that changes, "
        "one of them."
    ]
    return result


def judge_changing(result: Result) -> Verdict:
    parts, words = [], []
    for panel in panels(result):
        fixed, swinging = (result.line(f"{OURS}, {x}", panel) for x in (FIXED, SWINGING))
        ratios = [swinging.at(n) / fixed.at(n) for n in places(fixed)]
        parts.append(max(ratios) < 1.3)
        words.append(
            f"{panel}: a changing window takes {min(ratios):.2f} to {max(ratios):.2f} of a fixed "
            f"one's time ({time(costs(swinging)[-1])} and {time(costs(fixed)[-1])} at "
            f"{power(places(fixed)[-1])})"
        )
    return verdict(parts, "; ".join(words) + ".")


BATCHES: dict[str, Callable[[int], int]] = {
    "m = 1": lambda _: 1,
    "m = 4": lambda _: 4,
    "m = 64": lambda _: 64,
    "m = n/16": lambda n: n // 16,
    "m = n/4": lambda n: n // 4,
    "m = n": lambda n: n,
}


def batches(plan: Plan) -> Result:
    result = Result("reactive_batches", "window size n", "ns per item", y_log=False)
    items = plan.pick(1 << 19, 1 << 20)
    for n in [1 << k for k in plan.pick((6, 12, 18), (6, 8, 10, 12, 14, 16, 18, 20))]:
        lines = {}
        for name, size in BATCHES.items():
            m = size(n)
            common = {
                "monoid": "stddev", "n": n, "m": m, "rounds": max(6, items // m), **SINGLY,
            }  # fmt: skip
            agree(
                result, plan, "bulk", ["reactive_aggregator", "daba_lite"],
                f"{ALIKE}these sizes n and m", **common | {"rounds": 3},
            )  # fmt: skip
            lines[name] = Run("bulk", {"structure": "reactive_aggregator", **common})
            if name in ("m = 1", "m = n/4"):
                lines[f"{DABA}, {name}"] = Run("bulk", {"structure": "daba_lite", **common})
        contest(result, plan, n, lines)
    result.parameters["items"] = items
    return result


def judge_batches(result: Result) -> Verdict:
    sizes = places(result.line("m = 1"))
    growth = {
        name: result.line(name).at(sizes[-1]) / result.line(name).at(sizes[0]) for name in BATCHES
    }
    shares = [growth[x] for x in ("m = n/16", "m = n/4", "m = n")]
    parts = [growth["m = 1"] > 1.3, growth["m = 4"] > 1.2, max(shares) < 1.3]
    words = [
        f"{name} from {time(result.line(name).at(sizes[0]))} to "
        f"{time(result.line(name).at(sizes[-1]))}"
        for name in BATCHES
    ]
    return verdict(
        parts,
        f"Per item, from n = {sizes[0]:g} to {power(sizes[-1])}: {', '.join(words)}; DabaLite "
        f"takes {time(result.line(f'{DABA}, m = 1').at(sizes[-1]))} with m = 1 at the end.",
    )


def intervals(plan: Plan) -> Result:
    result = Result("reactive_intervals", "window size n", "ns per item", y_log=False)
    lines: dict[str, Arguments] = {
        OURS: {"structure": "reactive_aggregator"},
        INTERVALS: {"structure": "b_int"},
    }
    items = plan.pick(1 << 19, 1 << 20)
    last = plan.pick(1 << 18, 1 << 22)
    sizes = [n for n in (16, 1 << 8, 1 << 13, 1 << 18, 1 << 22) if n <= last]
    for parts in (0, 16):
        sweep(
            result, plan, "bulk", lines, lambda n: _batch(n, n // parts if parts else 1, items),
            sizes, panel=f"max, m = n/{parts}" if parts else "max, m = 1", monoid="max", **SINGLY,
        )  # fmt: skip
    for monoid in ("sum", "mean", "mincount", "stddev"):
        sweep(
            result, plan, "bulk", lines, lambda n: _batch(n, 1, items), [8, 1 << 13, last],
            panel=f"{monoid}, m = 1", monoid=monoid, **SINGLY,
        )  # fmt: skip
    result.parameters["items"] = items
    result.notes = [
        "B-Int is our own: the base intervals of Arasu and Widom in an array for each level.",
        "The panels of the other aggregates are the paper's table 4.",
    ]
    return result


def _batch(n: int, m: int, items: int) -> dict[str, int]:
    return {"n": n, "m": m, "rounds": max(6, items // m)}


def judge_intervals(result: Result) -> Verdict:
    parts, words = [], []
    for panel in panels(result):
        ours, theirs = result.line(OURS, panel), result.line(INTERVALS, panel)
        ratios = [theirs.at(n) / ours.at(n) for n in places(ours)]
        parts.append(min(ratios) > 0.95)
        words.append(f"{panel} {', '.join(f'{ratio:.2f}' for ratio in ratios)}")
    sizes = [power(n) for n in places(result.line(OURS, panels(result)[0]))]
    return verdict(
        parts,
        f"The time of B-Int by that of ReactiveAggregator, from {sizes[0]} to {sizes[-1]} entries: "
        f"{'; '.join(words)}.",
    )


KEEPERS: dict[str, Arguments] = {
    "Recalc": {"structure": "recalc"},
    OURS: {"structure": "reactive_aggregator"},
    "TwoStacksLite": {"structure": "two_stacks_lite"},
    DABA: {"structure": "daba_lite"},
    "Daba": {"structure": "daba"},
    "FingerTree": {"structure": "finger_tree"},
}
STRUCTURE, PROCESS = "the structure", "the process"


def memory(plan: Plan) -> Result:
    result = Result("reactive_memory", "window size n", "KB")
    for n in [1 << k for k in plan.pick((4, 12, 22), (0, 4, 8, 12, 16, 20, 22))]:
        lines = {name: {**x, "monoid": "max", "n": n, "rounds": 64} for name, x in KEEPERS.items()}
        for name, found in runs(plan, "rounds", lines).items():
            result.add(name, n, [one["bytes"] / 1024 for one in found], STRUCTURE)
            result.add(name, n, [one["rss_kb"] for one in found], PROCESS)
    result.checks = [SAME]
    result.parameters["rounds"] = 64
    result.notes = [
        "max of 8 bytes an entry; FingerTree keeps the time of each entry as well.",
        "The process is the native program, with the values it feeds; at its greatest.",
    ]
    return result


def judge_memory(result: Result) -> Verdict:
    sizes = places(result.line(OURS, STRUCTURE))
    last = sizes[-1]
    per_entry = {name: result.line(name, STRUCTURE).at(last) * 1024 / last for name in KEEPERS}
    near = max(n for n in sizes if n <= 4096)
    process = [result.line(name, PROCESS).at(near) for name in (OURS, "Recalc")]
    of_states = per_entry[OURS] / 8
    parts = [of_states < 8.5, process[0] < 1.1 * process[1]]
    words = ", ".join(f"{name} {bytes_:.0f}" for name, bytes_ in per_entry.items())
    return verdict(
        parts,
        f"Bytes for each of {power(last)} entries: {words}. At n = {near:g} the process has "
        f"{process[0] / 1024:.1f} MB with ReactiveAggregator and {process[1] / 1024:.1f} MB when "
        "recomputing.",
    )


EXPERIMENTS = [
    Experiment(
        "reactive_changing",
        "reactive",
        "Windows whose capacity keeps changing",
        "Growing and shrinking is paid for by the changes in between: a window that swings costs "
        "no more for each entry than one of a fixed size.",
        changing,
        judge_changing,
        "Reactive Aggregator 2015, figure 9",
    ),
    Experiment(
        "reactive_batches",
        "reactive",
        "m changes between queries",
        "The cost of a change is in O(1 + log(n/m)): it grows with log n for a fixed m, and is "
        "constant where m is a fraction of n.",
        batches,
        judge_batches,
        "Reactive Aggregator 2015, figure 10",
    ),
    Experiment(
        "reactive_intervals",
        "reactive",
        "Beside the base intervals of Arasu and Widom",
        "Both have the same complexity, and the Reactive Aggregator is faster by a factor that "
        "grows from 1.02 at 8 entries to 1.4 at 8 million, whatever the aggregate.",
        intervals,
        judge_intervals,
        "Reactive Aggregator 2015, figure 11 and table 4",
    ),
    Experiment(
        "reactive_memory",
        "reactive",
        "Memory by window size",
        "Memory is linear in n with a small constant; up to 4,096 entries one cannot see it in "
        "the process.",
        memory,
        judge_memory,
        "Reactive Aggregator 2015, figure 12",
    ),
]
