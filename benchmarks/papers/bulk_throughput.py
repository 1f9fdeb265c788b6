"""Bulk 2023, figures 11 to 14: cost per item, by the size of the bulks and by their lateness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import geometric_mean

from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.papers.bulk_latency import (
    BOTH,
    BULK,
    EVICTS,
    NARROW,
    NOTES,
    ONE_BY_ONE,
    OTHERS,
    SINGLE,
    TREES,
    size,
    with_calls,
)
from benchmarks.papers.judging import best, costs, listed, panels, places, power, time, verdict
from benchmarks.papers.structures import MONOIDS
from benchmarks.papers.sweeps import Arguments, sweep
from benchmarks.results import Result

ITEMS = {"sum": 1 << 19, "geomean": 1 << 19, "bloom": 1 << 15}


def _by_bulk(name: str, plan: Plan, lines: Mapping[str, Arguments]) -> Result:
    result = Result(name, "bulk size m", "ns per item")
    for monoid in MONOIDS:
        top = 12 if monoid == "bloom" else plan.pick(16, 18)
        powers = range(0, top + 1, plan.pick(8, 6))
        bulks = sorted({*(1 << k for k in powers), 1 << top})
        sweep(
            result, plan, "bulk", lines, partial(_turnover, size(plan, monoid)), bulks,
            panel=monoid, monoid=monoid, part="all", d=0,
        )  # fmt: skip
    result.parameters = {"n": {x: size(plan, x) for x in MONOIDS}, "items": "n"}
    result.notes = list(NOTES)
    return result


def _turnover(n: int, m: int) -> dict[str, int]:
    """Let the whole window be replaced: TwoStacksLite works through all of it in that time."""
    return {"n": n, "m": m, "rounds": n // m}


def evict_only(plan: Plan) -> Result:
    return _by_bulk("bulk_evict_throughput", plan, with_calls(EVICTS, TREES | OTHERS))


def judge_evict_only(result: Result) -> Verdict:
    trees: dict[str, str] = {}
    amtas: dict[str, str] = {}
    parts, bests = [], {}
    for panel in panels(result):
        last = places(result.line(BULK, panel))[-1]
        name, cost = best(result, [*TREES, *OTHERS], last, panel)
        bests[panel] = f"{name} with {time(cost)}"
        for line, words in ((result.line(BULK, panel), trees), (result.line("Amta", panel), amtas)):
            parts.append(line.at(last) < 0.9 * costs(line)[0])
            words[panel] = f"{time(costs(line)[0])} and {time(line.at(last))}"
    seen = (
        f"With m = 1, and with the largest bulks, FingerTree takes {listed(trees)}, Amta "
        f"{listed(amtas)}. The best there is {listed(bests)}."
    )
    return verdict(parts, seen)


def evict_and_insert(plan: Plan) -> Result:
    return _by_bulk("bulk_both_throughput", plan, with_calls(BOTH, TREES | OTHERS))


def judge_evict_and_insert(result: Result) -> Verdict:
    parts, gains, trees = [], {}, {}
    for panel in panels(result):
        bulk = result.line(BULK, panel)
        middle = next(m for m in places(bulk) if m >= 256)
        lines = [result.line(name, panel) for name in (*TREES, *OTHERS)]
        improved = [costs(line)[0] / line.at(middle) for line in lines]
        parts.append(min(improved) > 1.05)
        gains[panel] = f"{min(improved):.1f} to {max(improved):.1f}"
        trees[panel] = f"from {time(costs(bulk)[0])} to {time(bulk.at(middle))}"
    seen = (
        f"From m = 1 to {power(middle)} structures get {listed(gains)} times as fast; FingerTree "
        f"goes {listed(trees)}."
    )
    return verdict(parts, seen)


def _by_distance(name: str, plan: Plan, m: int, items: Mapping[str, int]) -> Result:
    result = Result(name, "distance d", "ns per item")
    lines = with_calls(BOTH, TREES)
    lines[f"{NARROW}, one by one"] = {**TREES[NARROW], **ONE_BY_ONE}
    for monoid in MONOIDS:
        n = size(plan, monoid)
        powers = range(plan.pick(10, 5), n.bit_length() - 1, 5)
        distances: Sequence[int] = [0, *(1 << k for k in powers)]
        sweep(
            result, plan, "bulk", lines, "d", distances, panel=monoid, monoid=monoid, n=n, m=m,
            part="all", rounds=items[monoid] // m,
        )  # fmt: skip
    result.parameters = {"n": {x: size(plan, x) for x in MONOIDS}, "m": m, "items": dict(items)}
    result.notes = list(NOTES)
    return result


def late_bulks(plan: Plan) -> Result:
    return _by_distance("bulk_distance", plan, 1024, ITEMS)


def judge_late_bulks(result: Result) -> Verdict:
    parts, trees, singles = [], {}, {}
    for panel in panels(result):
        bulk, single = result.line(BULK, panel), result.line(SINGLE, panel)
        late = [d for d in places(bulk) if d > 0]
        ratios = [single.at(d) / bulk.at(d) for d in late]
        parts += [min(ratios) > 1.1, max(costs(bulk, late)) < 2 * min(costs(bulk, late))]
        trees[panel] = f"{time(min(costs(bulk, late)))} to {time(max(costs(bulk, late)))}"
        singles[panel] = f"{min(ratios):.1f} to {max(ratios):.1f}"
    seen = (
        f"From the least to the greatest d, an item of a bulk takes {listed(trees)}; one by one, "
        f"{listed(singles)} times as long."
    )
    return verdict(parts, seen)


def no_bulks(plan: Plan) -> Result:
    return _by_distance("bulk_single_distance", plan, 1, ITEMS)


def judge_no_bulks(result: Result) -> Verdict:
    parts, words = [], {}
    for panel in panels(result):
        bulk, single = result.line(BULK, panel), result.line(SINGLE, panel)
        ratios = [bulk.at(d) / single.at(d) for d in places(bulk)]
        parts.append(geometric_mean(ratios) > 0.9)
        words[panel] = f"{min(ratios):.2f} to {max(ratios):.2f}"
    return verdict(parts, f"Bulk calls of one entry take {listed(words)} of single calls' time.")


EXPERIMENTS = [
    Experiment(
        "bulk_evict_throughput",
        "bulk",
        "Bulk evictions, in order: cost per item",
        "With a bulk eviction of their own, structures get faster with larger bulks.",
        evict_only,
        judge_evict_only,
        "Bulk 2023, figure 11",
    ),
    Experiment(
        "bulk_both_throughput",
        "bulk",
        "Bulk evictions and insertions, in order: cost per item",
        "All structures get faster with larger bulks, up to some thousand items.",
        evict_and_insert,
        judge_evict_and_insert,
        "Bulk 2023, figure 12",
    ),
    Experiment(
        "bulk_distance",
        "bulk",
        "Bulks of 1,024 that are late by d: cost per item",
        "A bulk is searched for once: more lateness does not slow it down, and it beats single "
        "insertions.",
        late_bulks,
        judge_late_bulks,
        "Bulk 2023, figure 13",
    ),
    Experiment(
        "bulk_single_distance",
        "bulk",
        "Bulks of one: cost per item",
        "Without bulks, bulk operations have no advantage.",
        no_bulks,
        judge_no_bulks,
        "Bulk 2023, figure 14",
    ),
]
