"""Bulk 2023, figures 7 to 10: how long single bulk evictions and bulk insertions take."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.papers.judging import listed, panels, time, verdict
from benchmarks.papers.structures import FINGERS, IN_ORDER, MONOIDS, SHAPES
from benchmarks.papers.sweeps import Arguments, violins
from benchmarks.results import Result

BULK, NARROW, SINGLE = "FingerTree", "FingerTree 16/8", "FingerTree, one by one"
ONE_BY_ONE = {"evict": "single", "insert": "single"}
TREES: dict[str, Arguments] = {**FINGERS, SINGLE: {**FINGERS[BULK], **ONE_BY_ONE}}
OTHERS: dict[str, Arguments] = {
    "Amta": {"structure": "amta"},
    "TwoStacksLite": IN_ORDER["TwoStacksLite"],
    "DabaLite": IN_ORDER["DabaLite"],
}
# What all do but SINGLE:
EVICTS = {"evict": "bulk", "insert": "single"}
BOTH = {"evict": "bulk", "insert": "bulk"}


def with_calls(calls: Mapping[str, str], lines: Mapping[str, Arguments]) -> dict[str, Arguments]:
    """Return lines that make these calls, where they do not say which themselves."""
    return {name: {**calls, **arguments} for name, arguments in lines.items()}


def size(plan: Plan, monoid: str) -> int:
    """Return the entries of a window; states of 2 KB make a smaller one."""
    if monoid == "bloom":
        return 1 << 16
    return plan.pick(1 << 20, 1 << 22)


NOTES = [
    SHAPES,
    "One by one: the same tree, with a call for each entry.",
    "The window of bloom is 2^16: Amta keeps 4 KB for each entry, 16 GB at the paper's 2^22.",
    "TwoStacksLite and DabaLite keep a state for each 16 entries of bloom, as in the package.",
]


def _measure(
    name: str, what: str, plan: Plan, lines: Mapping[str, Arguments], part: str, m: int, d: int
) -> Result:
    result = Result(name, "", f"ns of {what} of {m:,} entries")
    items = {"sum": plan.pick(1 << 20, 1 << 22), "bloom": plan.pick(1 << 16, 1 << 19)}
    items["geomean"] = items["sum"]
    for monoid in MONOIDS:
        violins(
            result, plan, "bulk", lines, panel=monoid, monoid=monoid, n=size(plan, monoid), m=m,
            d=d, part=part, rounds=items[monoid] // m,
        )  # fmt: skip
    result.parameters = {"n": {x: size(plan, x) for x in MONOIDS}, "m": m, "d": d, "items": items}
    result.notes = list(NOTES)
    return result


def _medians(result: Result, panel: str) -> dict[str, float]:
    return {v.name: v.quantiles["0.5"] for v in result.violins if v.panel == panel}


def _in_words(medians: Mapping[str, float]) -> str:
    ordered = sorted(medians.items(), key=lambda item: item[1])
    return ", ".join(f"{name} {time(cost)}" for name, cost in ordered)


def evictions(plan: Plan) -> Result:
    lines = with_calls(EVICTS, TREES | OTHERS)
    return _measure("bulk_evict_latency", "a bulk eviction", plan, lines, "evict", 1024, 0)


def judge_evictions(result: Result) -> Verdict:
    parts, words, behind = [], [], []
    for panel in panels(result):
        medians = _medians(result, panel)
        slower = max(medians[BULK], medians["Amta"])
        loops = {x: medians[x] for x in (SINGLE, "DabaLite", "TwoStacksLite")}
        parts += [slower < 0.6 * loop for loop in loops.values()]
        words.append(f"{panel}: {_in_words(medians)}")
        behind += [f"{x} ({panel})" for x, loop in loops.items() if slower >= 0.6 * loop]
    lost = f" Not far behind, or ahead, with its loop: {', '.join(behind)}." if behind else ""
    return verdict(parts, "Medians of " + "; ".join(words) + "." + lost)


def insertions(plan: Plan) -> Result:
    lines = with_calls(BOTH, TREES | OTHERS)
    return _measure("bulk_insert_latency", "a bulk insertion", plan, lines, "insert", 1024, 0)


def judge_insertions(result: Result) -> Verdict:
    parts, words = [], []
    for panel in panels(result):
        medians = _medians(result, panel)
        in_order = min(medians["TwoStacksLite"], medians["DabaLite"])
        parts.append(in_order < 1.1 * min(medians[x] for x in TREES))
        words.append(f"{panel}: {_in_words(medians)}")
    return verdict(parts, "Medians of " + "; ".join(words) + ".")


def late_insertions(plan: Plan) -> Result:
    lines, what = with_calls(BOTH, TREES), "a bulk insertion 1,024 entries late"
    return _measure("bulk_late_latency", what, plan, lines, "insert", 1024, 1024)


def judge_late_insertions(result: Result) -> Verdict:
    parts, words = [], {}
    for panel in panels(result):
        medians = _medians(result, panel)
        ahead = medians[SINGLE] / medians[BULK]
        parts.append(ahead > 1.15)
        words[panel] = f"{time(medians[BULK])} and {time(medians[SINGLE])}"
    return verdict(parts, f"Medians of one call, and of 1,024 single calls: {listed(words)}.")


LATER, ONCE = "freed later", "freed at once"


def free_list(plan: Plan) -> Result:
    lines = {
        f"{name}, {how}": {**EVICTS, **arguments, "free": free}
        for name, arguments in FINGERS.items()
        for how, free in ((LATER, "later"), (ONCE, "once"))
    }
    result = _measure("bulk_free_list", "a bulk eviction", plan, lines, "evict", 4096, 0)
    result.notes.append(
        "The paper also compares two allocators. Nodes here come from blocks that the tree gets "
        "from the allocator by the megabyte, so that it hardly matters which one that is."
    )
    return result


def judge_free_list(result: Result) -> Verdict:
    parts, words = [], {}
    for panel in panels(result):
        medians = _medians(result, panel)
        for name in FINGERS:
            later, once = medians[f"{name}, {LATER}"], medians[f"{name}, {ONCE}"]
            parts.append(once > 1.5 * later)
            words[f"{name}, {panel}"] = f"{time(later)} and {time(once)}"
    seen = f"Medians with dropped nodes freed later, and at once: {listed(words)}."
    return verdict(parts, seen)


EXPERIMENTS = [
    Experiment(
        "bulk_evict_latency",
        "bulk",
        "Evicting 1,024 entries at once",
        "Structures with a bulk eviction of their own, in O(log m) or O(log n), beat those that "
        "loop over single evictions.",
        evictions,
        judge_evictions,
        "Bulk 2023, figure 7",
    ),
    Experiment(
        "bulk_insert_latency",
        "bulk",
        "Inserting 1,024 entries at once, in order",
        "In order, a bulk insertion takes O(m) in all structures; those that take in-order data "
        "only are ahead.",
        insertions,
        judge_insertions,
        "Bulk 2023, figure 8",
    ),
    Experiment(
        "bulk_late_latency",
        "bulk",
        "Inserting 1,024 entries at once, out of order",
        "Out of order, a bulk insertion takes less time than its entries one by one.",
        late_insertions,
        judge_late_insertions,
        "Bulk 2023, figure 9",
    ),
    Experiment(
        "bulk_free_list",
        "bulk",
        "Dropped nodes: freed later, or at once",
        "The deferred free list is indispensable: without it, a bulk eviction takes much longer.",
        free_list,
        judge_free_list,
        "Bulk 2023, figure 10",
    ),
]
