"""DABA Lite 2021, figure 12: real events in order, windows by time, relative variation."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.papers.judging import costs, time, verdict
from benchmarks.papers.replays import DAY, Stream, streams
from benchmarks.papers.structures import IN_ORDER
from benchmarks.papers.sweeps import Arguments, sweep, violins
from benchmarks.results import Result, Violin

SIX: dict[str, Arguments] = {
    **{name: x for name, x in IN_ORDER.items() if name != "ReactiveAggregator"},
    "FlatFit": {"structure": "flat_fit"},
    "FingerTree": {"structure": "finger_tree"},
}
"""Who takes part in the paper's figures; FingerTree stands for its FiBA."""

BULK = "FingerTree, evicting in bulk"
DAYS = 100
SPAN = DAYS * DAY - DAY // 2
"""The window of the latencies, and its length: half a day less, so that whole days leave it."""
RECORDED, DAILY = "times as recorded", "a day at a time"


def real(plan: Plan) -> Result:
    result = Result("daba_real", "window in days", "ns per row")
    stream = _in_order(plan)
    days = plan.pick([0.1, 10, 1000], [0.001, 0.01, 0.1, 1, 10, 100, 1000])
    lines: dict[str, Arguments] = {name: {"evict": "single", **x} for name, x in SIX.items()}
    lines[BULK] = {"evict": "bulk", **SIX["FingerTree"]}
    with tempfile.TemporaryDirectory() as folder:
        copies = max(1, plan.pick(1_000_000, 2_000_000) // len(stream.times))
        many = stream.write(Path(folder), copies=copies)
        sweep(result, plan, "replay", lines, _span, days, monoid="relvar", file=many)
        for panel, one in ((RECORDED, stream), (DAILY, _by_days(stream))):
            violins(
                result, plan, "replay", lines, panel=panel, monoid="relvar",
                file=one.write(Path(folder)), times=1, span=SPAN,
            )  # fmt: skip
    result.parameters = {
        "stream": stream.name,
        "rows": len(stream.times),
        "copies": copies,
        "days of the latencies": DAYS,
        "evictions of 100 and more": _large_evictions(stream),
    }
    result.notes = [
        f"{stream.name.capitalize()}, sorted by when they happened, stand in for the paper's "
        "sensors of machines, which record at 100 Hz. Where the stream is short it is replayed "
        "several times in a row.",
        "With times as recorded, many rows hardly ever leave at once, so that what the machine "
        "does meanwhile hides it. Where all rows of a day come in its first moment, they also "
        "leave together: that is how to see what the paper saw.",
        "A row's time includes reading the clock twice, about 20 to 40 ns.",
    ]
    return result


def _in_order(plan: Plan) -> Stream:
    """Return the longest stream there is, sorted by the time of its events."""
    longest = max(streams(plan).values(), key=lambda stream: len(stream.times))
    order = np.argsort(longest.times, kind="stable")
    return replace(
        longest,
        times=longest.times[order],
        values=longest.values[order],
        keys=longest.keys[order],
    )


def _span(days: float) -> dict[str, int]:
    return {"span": int(days * DAY)}


def _by_days(stream: Stream) -> Stream:
    """Return the stream as if all events of a day had come in its first moment, in their order."""
    days = stream.times // DAY * DAY
    _, first, counts = np.unique(days, return_index=True, return_counts=True)
    return replace(stream, times=days + np.arange(len(days)) - np.repeat(first, counts))


def _large_evictions(stream: Stream) -> dict[str, int]:
    """Return how often 100 rows and more leave the window of the latencies at one row's coming."""
    found = {}
    for panel, one in ((RECORDED, stream), (DAILY, _by_days(stream))):
        oldest = np.searchsorted(one.times, one.times - SPAN, side="right")
        found[panel] = int((np.diff(oldest) >= 100).sum())
    return found


def exceeded(violin: Violin, once_in: int) -> float:
    """Return the time that one of so many operations takes at least."""
    left = sum(violin.bins.values()) / once_in
    for least, count in sorted(((float(x), y) for x, y in violin.bins.items()), reverse=True):
        left -= count
        if left <= 0:
            return least
    raise AssertionError(f"{violin.name} has no operations")


def judge_real(result: Result) -> Verdict:
    lines = {line.name: line for line in result.lines}
    ratios = [
        cost / other
        for lite in ("TwoStacks", "Daba")
        for cost, other in zip(costs(lines[f"{lite}Lite"]), costs(lines[lite]), strict=True)
    ]
    daily, recorded = (
        {name: exceeded(result.violin(name, panel), 1000) for name in (*SIX, BULK)}
        for panel in (DAILY, RECORDED)
    )
    in_order = [daily[name] for name in SIX if name != "FingerTree"]
    longer = min(daily[name] / recorded[name] for name in SIX if name != "FingerTree")
    parts = [max(ratios) < 1.1, max(in_order) < 4 * min(in_order), longer > 3]
    words = [
        f"{name} {time(min(costs(lines[name])))} to {time(max(costs(lines[name])))}"
        for name in ("TwoStacksLite", "DabaLite", "FlatFit", "FingerTree", BULK)
    ]
    return verdict(
        parts,
        f"Per row: {', '.join(words)}; a Lite structure takes {min(ratios):.2f} to "
        f"{max(ratios):.2f} of the other's time. Where a day leaves at once, one row of 1,000 "
        f"takes {time(min(in_order))} to {time(max(in_order))} with the in-order structures, at "
        f"least {longer:.1f} times as long as with times as recorded; FingerTree "
        f"{time(daily['FingerTree'])} one by one and {time(daily[BULK])} in bulk.",
    )


EXPERIMENTS = [
    Experiment(
        "daba_real",
        "daba",
        "Real events in order, windows by time",
        "Throughput is as with synthetic data. The longest rounds of all in-order structures are "
        "alike: they are those where many entries leave at once.",
        real,
        judge_real,
        "DABA Lite 2021, figure 12",
    ),
]
