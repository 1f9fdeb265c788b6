"""FiBA 2019, figures 11, 12 and 13: distance, latency and in-order data. Others: fiba_windows."""

from __future__ import annotations

from functools import partial

from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.papers import fiba_windows
from benchmarks.papers.judging import best, costs, listed, panels, places, power, time, verdict
from benchmarks.papers.structures import CLASSICS, FINGERS, IN_ORDER, MONOIDS, SHAPES
from benchmarks.papers.sweeps import sweep, violins
from benchmarks.results import Result

ROUNDS = {"sum": 300_000, "geomean": 300_000, "bloom": 20_000}
ROUND = "ns per round of evict, insert and query"


def _size(plan: Plan, monoid: str) -> int:
    """Return the entries of a window; states of 2 KB make a smaller one."""
    if monoid == "bloom":
        return plan.pick(1 << 16, 1 << 18)
    return plan.pick(1 << 18, 1 << 22)


def distances(plan: Plan) -> Result:
    result = Result("fiba_distance", "distance d", ROUND)
    for monoid in MONOIDS:
        n = _size(plan, monoid)
        powers = range(plan.pick(8, 4), n.bit_length() - 1, plan.pick(8, 4))
        sweep(
            result, plan, "rounds", FINGERS | CLASSICS, "d", [0, *(1 << k for k in powers), n],
            panel=monoid, monoid=monoid, n=n, rounds=ROUNDS[monoid],
        )  # fmt: skip
        result.parameters[f"n, {monoid}"] = n
    result.parameters["rounds"] = ROUNDS
    result.notes = [
        SHAPES,
        "The window of bloom is smaller than the paper's 2^22: it is filled anew for each point.",
    ]
    return result


def judge_distances(result: Result) -> Verdict:
    parts, ahead = [], {}
    for panel in panels(result):
        *inside, n = places(result.line("FingerTree", panel))
        name, near = best(result, list(FINGERS), inside[0], panel)
        finger = costs(result.line(name, panel))
        classic = costs(result.line(name.replace("Finger", "Classic"), panel), inside)
        ahead[panel] = f"{classic[0] / near:.1f}"
        parts += [
            classic[0] > 1.3 * near,
            max(classic) < 2 * min(classic),
            finger[-2] > 1.2 * finger[0],
            result.line("FingerTree", panel).at(n) < finger[-2],
        ]
    wide, narrow = (costs(result.line(name, "sum")) for name in FINGERS)
    classic = costs(result.line("ClassicTree", "sum"))[:-1]
    far = places(result.line("FingerTree", "sum"))[-2]
    seen = (
        f"At d = 0 the finger tree is {listed(ahead)} times as fast as the classic tree. Sum takes "
        f"it {time(wide[0])} there and {time(wide[-2])} at d = {power(far)}, the classic tree "
        f"{time(min(classic))} to {time(max(classic))}. At d = n, where the paper's trees get "
        f"faster, it takes {time(wide[-1])}, and {time(narrow[-1])} with narrow nodes."
    )
    return verdict(parts, seen)


def latencies(plan: Plan) -> Result:
    result = Result("fiba_latency", "", "ns of a round of evict, insert and query")
    for monoid in MONOIDS:
        n = _size(plan, monoid)
        for d in (0, n // 4):
            violins(
                result, plan, "rounds", FINGERS | CLASSICS, panel=f"{monoid}, d = {power(d)}",
                monoid=monoid, n=n, d=d, rounds=ROUNDS[monoid] // 2,
            )  # fmt: skip
        result.parameters[f"n, {monoid}"] = n
    result.parameters["rounds"] = {name: rounds // 2 for name, rounds in ROUNDS.items()}
    result.notes = [
        "Each round's time includes reading the clock twice, about 20 to 40 ns.",
        "Nanoseconds here, processor cycles in the paper.",
    ]
    return result


def judge_latencies(result: Result) -> Verdict:
    parts = []
    medians: dict[bool, dict[str, str]] = {True: {}, False: {}}
    tails: dict[bool, dict[str, str]] = {True: {}, False: {}}
    for panel in panels(result):
        finger = result.violin("FingerTree", panel).quantiles
        classic = result.violin("ClassicTree", panel).quantiles
        in_order = panel.endswith("d = 0")
        ahead = classic["0.5"] / finger["0.5"]
        if in_order or panel.startswith("bloom"):
            parts.append(ahead > 1.2)
        else:
            parts.append(ahead > 0.7)  # alike, or better
        for q, words in (("0.5", medians), ("0.999", tails)):
            words[in_order][panel.split(",")[0]] = f"{time(finger[q])} against {time(classic[q])}"
    seen = (
        f"Medians of the finger tree against the classic tree at d = 0: {listed(medians[True])}; "
        f"at d = n/4: {listed(medians[False])}. At d = 0, 99.9% take at most "
        f"{listed(tails[True])}."
    )
    return verdict(parts, seen)


def fifo(plan: Plan) -> Result:
    result = Result("fiba_fifo", "window size n", ROUND)
    lines = FINGERS | {"ClassicTree": CLASSICS["ClassicTree"]} | IN_ORDER
    for monoid in MONOIDS:
        top = plan.pick(14, 16) if monoid == "bloom" else plan.pick(20, 22)
        powers = range(4, top + 1, plan.pick(8, 4))
        sizes = sorted({*(1 << k for k in powers), 1 << top})
        sweep(
            result, plan, "rounds", lines, partial(_turnover, monoid), sizes,
            panel=monoid, monoid=monoid,
        )  # fmt: skip
    result.parameters["rounds"] = "those of fiba_distance, n at least"
    result.notes = [
        SHAPES,
        "The sizes of bloom end at 2^16: TwoStacks, Daba and ReactiveAggregator keep 2 to 4 KB for "
        "each entry, which would be 8 to 16 GB at the paper's 2^22.",
    ]
    return result


def _turnover(monoid: str, n: int) -> dict[str, int]:
    """Let the whole window be replaced: TwoStacks works through all of it once in that time."""
    return {"n": n, "rounds": max(ROUNDS[monoid], n)}


def judge_fifo(result: Result) -> Verdict:
    parts, flat, behind = [], {}, {}
    for panel in panels(result):
        large = [n for n in places(result.line("FingerTree", panel)) if n >= 256]
        name, cost = best(result, list(FINGERS), large[-1], panel)
        finger = costs(result.line(name, panel), large)
        classic = costs(result.line("ClassicTree", panel))
        rival, rival_cost = best(result, list(IN_ORDER), large[-1], panel)
        daba = min(result.line(x, panel).at(large[-1]) for x in ("Daba", "DabaLite"))
        parts += [
            max(finger) < 1.8 * min(finger),
            classic[-1] > 1.5 * classic[0],
            1.05 * rival_cost < cost,
        ]
        flat[panel] = f"{time(min(finger))} to {time(max(finger))}"
        behind[panel] = f"{cost / daba:.1f} times as long as DABA, {rival} {time(rival_cost)}"
    classic = costs(result.line("ClassicTree", "sum"))
    seen = (
        f"From n = 256 on the finger tree takes {listed(flat)}; the classic tree's sum grows from "
        f"{time(classic[0])} to {time(classic[-1])}. At the largest n the finger tree takes "
        f"{listed(behind)}."
    )
    return verdict(parts, seen)


EXPERIMENTS = [
    Experiment(
        "fiba_distance",
        "fiba",
        "Late by d entries: cost of a round",
        "Finger trees beat classic trees by far when events come nearly in order, and their cost "
        "grows with log d; that of the classic tree does not depend on d. All are faster at d = n.",
        distances,
        judge_distances,
        "FiBA 2019, figure 11",
    ),
    Experiment(
        "fiba_latency",
        "fiba",
        "How long single rounds take",
        "In order, the median round of a finger tree is much shorter than that of a classic tree. "
        "Far out of order they are alike for cheap aggregates; for costly ones fingers stay ahead.",
        latencies,
        judge_latencies,
        "FiBA 2019, figure 12",
    ),
    Experiment(
        "fiba_fifo",
        "fiba",
        "In-order data: cost of a round by window size",
        "The cost of a finger tree does not depend on n, that of a classic tree grows with log n; "
        "structures that take in-order data only stay ahead of both.",
        fifo,
        judge_fifo,
        "FiBA 2019, figure 13",
    ),
    *fiba_windows.EXPERIMENTS,
]
