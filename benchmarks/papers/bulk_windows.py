"""Bulk 2023, section 7.3 and figures 15 and 16: a very big window, and real data."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from benchmarks import native
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.papers.bulk_latency import EVICTS, SINGLE, with_calls
from benchmarks.papers.judging import costs, listed, panels, places, power, time, verdict
from benchmarks.papers.replays import DAY, Stream, replay, streams
from benchmarks.papers.structures import FINGERS, IN_ORDER, MONOIDS, SHAPES
from benchmarks.papers.sweeps import Arguments, Found, sweep, violins
from benchmarks.results import Result

SMALL = 1 << 22


def big_window(plan: Plan) -> Result:
    result = Result("bulk_big_window", "bulk size m", "ns per item")
    big, items = plan.pick(10**7, 10**8), 1 << 21
    bytes_per_entry: dict[str, Any] = {}
    for n in (SMALL, big):
        lines: dict[str, Arguments] = {
            f"FingerTree, n = {_size(n)}": FINGERS["FingerTree"],
            f"TwoStacksLite, n = {_size(n)}": IN_ORDER["TwoStacksLite"],
        }
        # A window this big takes seconds to fill: one run of three tries.
        few: dict[str, Any] = {
            "turns": 1, "monoid": "geomean", "n": n, "d": 0, **EVICTS,
        }  # fmt: skip
        found = sweep(
            result, plan, "bulk", lines,
            lambda m: {"m": m, "rounds": items // m}, [1, 1024],
            part="all", **few,
        )  # fmt: skip
        violins(
            result, plan, "bulk", lines, panel="latency of evicting 1,024", m=1024, part="evict",
            rounds=items // 1024, **few,
        )  # fmt: skip
        one = found[next(iter(lines)), 1024][0]
        bytes_per_entry[_size(n)] = {
            "tree": round(one["bytes"] / n, 1),
            "process": round(one["rss_kb"] * 1024 / n, 1),
        }
    result.parameters = {"n": [SMALL, big], "items": items, "bytes per entry": bytes_per_entry}
    result.notes = [
        "The paper's window has one billion entries; this is what fits the memory.",
        "The two sizes are measured one after the other, not in turns: structures are in turns.",
    ]
    return result


def _size(n: int) -> str:
    return power(n) if n == SMALL else f"10^{len(str(n)) - 1}"


def judge_big_window(result: Result) -> Verdict:
    small, big = (_size(n) for n in result.parameters["n"])
    lines = [result.line(f"FingerTree, n = {x}") for x in (small, big)]
    slower = [lines[1].at(m) / lines[0].at(m) for m in places(lines[0])]
    there = [result.violin(f"FingerTree, n = {x}", panels(result)[-1]) for x in (small, big)]
    medians, tails = ([v.quantiles[q] for v in there] for q in ("0.5", "0.999"))
    space = [result.parameters["bytes per entry"][x]["tree"] for x in (small, big)]
    parts = [max(slower) < 1.5, medians[1] < 1.3 * medians[0], abs(space[1] / space[0] - 1) < 0.15]
    seen = (
        f"With {big} entries an item takes {min(slower):.2f} to {max(slower):.2f} of its time with "
        f"{small}; the median bulk eviction {time(medians[1])} against {time(medians[0])}, its "
        f"99.9% {time(tails[1])} against {time(tails[0])}. The tree has {space[1]} and {space[0]} "
        f"bytes per entry."
    )
    return verdict(parts, seen)


SIZES, EVICTED, OVERTAKEN = "rows in the window", "rows evicted at once", "rows overtaken"


def shape(plan: Plan) -> Result:
    result = Result("bulk_real_shape", "rows, at least", "how often", lower_is_better=None)
    with tempfile.TemporaryDirectory() as folder:
        for stream in streams(plan).values():
            found = native.run(
                "replay", structure="finger_tree", monoid="sum", file=stream.write(Path(folder)),
                span=DAY, shape=1,
            )  # fmt: skip
            _add_shape(result, stream, found["shape"])
    result.checks = ["each row counts once in each of the three"]
    result.parameters = {"window in days": 1}
    result.notes = ["Not a race: what the real streams are like."]
    return result


def _add_shape(result: Result, stream: Stream, found: Found) -> None:
    for key, panel in (("window", SIZES), ("evicted", EVICTED), ("distance", OVERTAKEN)):
        counts = {int(bits): count for bits, count in found[key].items()}
        if sum(counts.values()) != len(stream.times):
            raise AssertionError(f"{stream.name}: {panel} are not told once of each row")
        for bits in sorted(counts):
            result.add(stream.name, (1 << bits) // 2, [counts[bits]], panel)


def judge_shape(result: Result) -> Verdict:
    parts, words = [], []
    for name in dict.fromkeys(line.name for line in result.lines):
        sizes, evicted, overtaken = (result.line(name, x) for x in (SIZES, EVICTED, OVERTAKEN))
        rows = sum(costs(evicted))
        parts += [places(sizes)[-1] > 8 * places(sizes)[0], places(evicted)[-1] >= 16]
        parts.append(sum(overtaken.at(x) for x in places(overtaken) if x < 64) > 0.5 * rows)
        words.append(
            f"{name}: windows of {places(sizes)[0]:g} to {2 * places(sizes)[-1]:g} rows, bulks of "
            f"up to {places(evicted)[-1]:g} and more, rows that overtake up to "
            f"{places(overtaken)[-1]:g} and more"
        )
    return verdict(parts, "; ".join(words) + ".")


def real(plan: Plan) -> Result:
    result = Result("bulk_real", "window in days", "ns per row")
    days = plan.pick([0.25, 32.0], [0.25, 4.0, 64.0])
    lines = with_calls({"evict": "bulk"}, FINGERS)
    lines |= {f"{x}, one by one": {**FINGERS[x], "evict": "single"} for x in FINGERS}
    replay(result, plan, lines, days, MONOIDS)
    result.notes += [SHAPES, "One by one: a call for each row that is evicted."]
    return result


def judge_real(result: Result) -> Verdict:
    parts, words = [], {}
    for panel in panels(result):
        bulk, single = result.line("FingerTree", panel), result.line(SINGLE, panel)
        ratios = [single.at(x) / bulk.at(x) for x in places(bulk)]
        parts.append(geometric_mean(ratios) > 1.05)
        words[panel] = f"{min(ratios):.2f} to {max(ratios):.2f}"
    return verdict(parts, f"With evictions one by one, rows take {listed(words)} times as long.")


EXPERIMENTS = [
    Experiment(
        "bulk_big_window",
        "bulk",
        "A very big window",
        "A window far larger than the caches is hardly slower, takes as many bytes per entry, and "
        "evicts in bulk with nearly the same median latency.",
        big_window,
        judge_big_window,
        "Bulk 2023, section 7.3",
    ),
    Experiment(
        "bulk_real_shape",
        "bulk",
        "What real streams are like",
        "With a time window on real data, its size, the bulks that leave it and the lateness of "
        "events all vary widely; most events are little late and most evictions small.",
        shape,
        judge_shape,
        "Bulk 2023, figure 15",
    ),
    Experiment(
        "bulk_real",
        "bulk",
        "Real events: bulk evictions against single ones",
        "On real data with time windows, bulk evictions are an advantage.",
        real,
        judge_real,
        "Bulk 2023, figure 16",
    ),
]
