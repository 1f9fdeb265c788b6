"""FiBA 2019, figures 14, 15 and 18: shared windows, real data, coarse slides."""

from __future__ import annotations

from statistics import geometric_mean

from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.papers.judging import (
    best,
    costs,
    listed,
    panels,
    places,
    power,
    time,
    times,
    verdict,
)
from benchmarks.papers.replays import replay
from benchmarks.papers.structures import CLASSICS, FINGERS, MONOIDS, SHAPES
from benchmarks.papers.sweeps import Arguments, runs, sweep
from benchmarks.results import Result

TWIN, RANGE = "two trees", "one tree and a range query"


def sharing(plan: Plan) -> Result:
    result = Result("fiba_sharing", "size of the small window", "ns per round of both windows")
    n, rounds = plan.pick(1 << 20, 1 << 22), 500_000
    sizes = [1 << k for k in range(2, n.bit_length(), plan.pick(6, 4))]
    lines: dict[str, Arguments] = {
        f"{name}, {words}": {**arguments, "how": how}
        for name, arguments in FINGERS.items()
        for words, how in ((TWIN, "twin"), (RANGE, "range"))
    }
    found = sweep(
        result, plan, "share", lines, lambda small: {"small": small, "d": small // 2}, sizes,
        monoid="sum", n=n, rounds=rounds,
    )  # fmt: skip
    space = {name: found[name, sizes[-1]][0]["bytes"] for name in lines}
    result.parameters = {"n": n, "rounds": rounds, "bytes at the last size": space}
    result.notes = ["Sums only, where the paper has geomean and bloom too.", SHAPES]
    return result


def judge_sharing(result: Result) -> Verdict:
    parts, words = [], {}
    for name in FINGERS:
        twin, shared = result.line(f"{name}, {TWIN}"), result.line(f"{name}, {RANGE}")
        ratios = [shared.at(x) / twin.at(x) for x in places(twin)]
        parts += [max(ratios) > 0.8, max(ratios) < 2.5]
        words[name] = f"{min(ratios):.1f} to {max(ratios):.1f}"
    space = result.parameters["bytes at the last size"]
    saved = space[f"FingerTree, {TWIN}"] / space[f"FingerTree, {RANGE}"]
    seen = (
        f"One tree with a range query takes {listed(words)} times as long as two trees. With a "
        f"small window of {power(places(twin)[-1])}, two trees need {times(saved)} its space."
    )
    return verdict([*parts, saved > 1.6], seen)


def real(plan: Plan) -> Result:
    result = Result("fiba_real", "window in days", "ns per row")
    days = plan.pick([1.0, 32.0], [0.25, 1.0, 4.0, 32.0, 128.0])
    replay(result, plan, FINGERS | CLASSICS, days, MONOIDS)
    result.notes.append(SHAPES)
    return result


def judge_real(result: Result) -> Verdict:
    parts, took, ahead = [], {}, {}
    for panel in panels(result):
        ratios = []
        for x in places(result.line("FingerTree", panel)):
            name, cost = best(result, list(FINGERS), x, panel)
            ratios.append(result.line(name.replace("Finger", "Classic"), panel).at(x) / cost)
        finger = costs(result.line("FingerTree", panel))
        parts += [min(ratios) > 1, geometric_mean(ratios) > 1.15]
        took[panel] = f"{time(min(finger))} to {time(max(finger))}"
        ahead[panel] = f"{min(ratios):.1f} to {max(ratios):.1f}"
    seen = (
        f"The finger tree takes {listed(took)} per row; the classic tree takes {listed(ahead)} "
        "times as long."
    )
    return verdict(parts, seen)


VANILLA, SLICES = "FingerTree", "FingerTree of slices"
STORE, RECOMPUTE = "ReactiveAggregator of slices", "recomputation"


def coarse(plan: Plan) -> Result:
    result = Result("fiba_coarse", "items between queries", "ns per item")
    n, items = 1 << 13, 1_000_000
    lines: dict[str, Arguments] = {
        VANILLA: {"structure": "finger_tree", "how": "vanilla"},
        SLICES: {"structure": "finger_tree", "how": "slices"},
        STORE: {"structure": "reactive_aggregator", "how": "slices"},
    }
    again: dict[str, Arguments] = {RECOMPUTE: {"structure": "recalc", "how": "recompute"}}
    slides = [1 << k for k in range(0, 13, plan.pick(4, 2))]
    sweep(  # coarse slides take less time per item: more items
        result, plan, "coarse", lines,
        lambda g: {"g": g, "rounds": items * min(g, 16)}, slides, monoid="sum", n=n,
    )  # fmt: skip
    sweep(
        result, plan, "coarse", again,
        lambda g: {"g": g, "rounds": min(16 * items, 8_000 * g)}, slides, monoid="sum", n=n,
    )  # fmt: skip
    for g in slides:  # recomputation has fewer rounds above: let all agree on as many
        few = {"monoid": "sum", "n": n, "g": g, "rounds": max(8_192, 4 * g)}
        all_lines = {name: few | dict(line) for name, line in (lines | again).items()}
        runs(plan, "coarse", all_lines, turns=1)
    result.parameters = {"n": n, "items": f"{items} to {16 * items}"}
    result.notes = [
        "In C++; the paper's figure is of Flink. A ReactiveAggregator over slices does what "
        "Scotty does here, and recomputing the window what Flink does by itself."
    ]
    return result


def judge_coarse(result: Result) -> Verdict:
    vanilla, slices, store = (result.line(name) for name in (VANILLA, SLICES, STORE))
    again = result.line(RECOMPUTE)
    slides = places(slices)
    first, last = slides[0], slides[-1]
    wide = [g for g in slides if g >= 16]
    parts = [
        slices.at(last) < 0.7 * slices.at(first),
        all(slices.at(g) < 0.7 * vanilla.at(g) for g in wide),
        all(slices.at(g) < 1.25 * store.at(g) for g in slides),
        all(slices.at(g) < again.at(g) for g in slides),
    ]
    seen = (
        f"A FingerTree of items takes {time(vanilla.at(first))} per item with a query for each and "
        f"{time(vanilla.at(last))} with one for {last:g}; of slices {time(slices.at(first))} and "
        f"{time(slices.at(last))}, a ReactiveAggregator of slices {time(store.at(first))} and "
        f"{time(store.at(last))}, recomputation {time(again.at(first))} and {time(again.at(last))}."
    )
    return verdict(parts, seen)


EXPERIMENTS = [
    Experiment(
        "fiba_sharing",
        "fiba",
        "A big and a small window: two trees, or one",
        "One tree with range queries is not faster than a tree for each window, but in the same "
        "range; its gain is space, and windows of any size on the fly.",
        sharing,
        judge_sharing,
        "FiBA 2019, figure 14",
    ),
    Experiment(
        "fiba_real",
        "fiba",
        "Real events with their real lateness",
        "On real data with time windows, finger trees consistently beat classic trees.",
        real,
        judge_real,
        "FiBA 2019, figure 15",
    ),
    Experiment(
        "fiba_coarse",
        "fiba",
        "Coarse slides: a query every g items",
        "Fewer queries hardly help a finger tree of items. Over slices it has the best "
        "throughput at all slides, and gets faster the coarser they are.",
        coarse,
        judge_coarse,
        "FiBA 2019, figure 18",
    ),
]
