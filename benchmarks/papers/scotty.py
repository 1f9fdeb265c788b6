"""Scotty 2018, figure 5: many windows at once, and rows out of order."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import sash
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.measure import in_turns
from benchmarks.papers.judging import costs, places, verdict
from benchmarks.papers.scotty_work import (
    SECOND,
    Rows,
    buckets,
    check,
    checksum,
    make_rows,
    of_rows,
    slices,
)
from benchmarks.results import Line, Result
from sash.windows import Window

LIST, TREE = "Sash, list of slices", "Sash, tree of slices"
STORES = {LIST: "lazy", TREE: "eager"}
NUMPY, BUCKETS = "buckets, NumPy", "buckets"
FLAT_FAT, FINGER_TREE = "FlatFAT of rows", "FingerTree of rows"
HOW = {BUCKETS: "buckets", FLAT_FAT: "flat_fat", FINGER_TREE: "finger_tree"}
TUMBLING, SLIDING = "tumbling windows of 1 to 20 s", "one sliding window of 20 s"
SESSION = sash.session(SECOND)
MANY, FEW = 400_000, 100_000
"""Rows that a comparator gets, and those that take microseconds for each."""
Cost = Callable[[], float]
"""Runs once and returns nanoseconds of CPU for each row, one or several."""
NOTES = [
    "Rows are made up: 15,000 in a second of event time, five gaps a minute. The paper's come from "
    "sensors at a football match.",
    "Sash gets batches of 200,000 rows, from Python. The comparators in C++ get one row at a time, "
    "and no session; the one in NumPy gets batches too.",
    "All are without a streaming system; the paper's figures are of operators in Flink.",
    f"Comparators get {MANY:,} rows, FlatFAT and many buckets {FEW:,}.",
]
CHECKS = [
    "Sash told the windows of the buckets in NumPy, each once, with the same sums",
    "the other comparators told the same tumbling windows, with the same sums",
]


def _lengths(count: int) -> list[int]:
    """Return lengths spread evenly from 1 to 20 seconds."""
    return [SECOND + i * 19 * SECOND // max(1, count - 1) for i in range(count)]


def _measure(
    result: Result, plan: Plan, x: float, panel: str, competitors: dict[str, Cost]
) -> None:
    """Run all in turns and add their million rows a second."""
    for name, runs in in_turns(competitors, plan.repeat, plan.tries).items():
        result.add(name, x, [1000 / ns for ns in runs], panel)


def _ours(rows: Rows, windows: Sequence[Window]) -> dict[str, Cost]:
    def run(store: str) -> float:
        return slices(rows, windows, store)[1]

    return {name: partial(run, store) for name, store in STORES.items()}


def _numpy(rows: Rows, windows: Sequence[Window]) -> Cost:
    """Return the buckets in NumPy, which the operator was found to agree with."""
    part = rows.first(FEW if _concurrent(windows) >= 100 else MANY)
    expected, _ = buckets(part, windows)
    for store in STORES.values():
        check(slices(part, windows, store)[0], expected)
    return lambda: buckets(part, windows)[1]


def _concurrent(windows: Sequence[Window]) -> int:
    return sum(w.size // w.slide for w in windows if w.kind != "session")


def _natives(rows: Rows, sizes: list[int], folder: Path) -> dict[str, Cost]:
    """Return the comparators in C++, each with a file of rows and what it must answer."""
    windows = [sash.tumbling(size) for size in sizes]
    found: dict[str, Cost] = {}
    for name, how in HOW.items():
        few = name == FLAT_FAT or (name == BUCKETS and len(sizes) >= 100)
        part = rows.first(FEW if few else MANY)
        file = part.write(folder / f"{len(part.times)}.bin")
        expected = checksum(slices(part, windows, "auto")[0])
        found[name] = partial(_native, file, sizes, how, expected)
    return found


def _native(file: Path, sizes: list[int], how: str, expected: str) -> float:
    answer, cost = of_rows(file, sizes, how)
    assert answer == expected, f"{how} told {answer} with {len(sizes)} windows, Sash {expected}"
    return cost


def _result(name: str, x_label: str, x_log: bool) -> Result:
    result = Result(
        name, x_label, "million rows a second", x_log=x_log, lower_is_better=False, told="greatest"
    )
    result.notes = list(NOTES)
    result.checks = list(CHECKS)
    return result


def concurrent(plan: Plan) -> Result:
    result = _result("scotty_windows", "windows at once", True)
    rows = make_rows(plan.pick(1_000_000, 4_000_000), 0.2)
    with tempfile.TemporaryDirectory() as folder:
        for count in plan.pick([1, 20, 1000], [1, 10, 20, 100, 1000]):
            sizes = _lengths(count)
            windows = [*(sash.tumbling(size) for size in sizes), SESSION]
            competitors = {**_ours(rows, windows), NUMPY: _numpy(rows, windows)}
            natives = _natives(rows, sizes, Path(folder))
            _measure(result, plan, count, TUMBLING, competitors | natives)
            windows = [sash.sliding(20 * SECOND, 20 * SECOND // count), SESSION]
            competitors = {**_ours(rows, windows), NUMPY: _numpy(rows, windows)}
            _measure(result, plan, count, SLIDING, competitors)
    result.parameters = {"rows": len(rows.times), "late": 0.2}
    result.notes.append(
        "Tumbling windows of 1,000 different lengths have about 160 ends in each second, and the "
        "operator as many slices. A sliding window that starts 1,000 times in 20 s has 50."
    )
    return result


def judge_concurrent(result: Result) -> Verdict:
    last = places(result.line(LIST, TUMBLING))[-1]
    ours = {panel: _best(result, panel, last) for panel in (TUMBLING, SLIDING)}
    least = {panel: _best(result, panel, 1) for panel in (TUMBLING, SLIDING)}
    others = {name: result.line(name, TUMBLING).at(last) for name in (NUMPY, *HOW)}
    parts = [
        ours[TUMBLING] > 10 * max(others[BUCKETS], others[NUMPY], others[FLAT_FAT]),
        ours[SLIDING] > 10 * result.line(NUMPY, SLIDING).at(last),
        ours[TUMBLING] > 0.5 * least[TUMBLING],
        ours[SLIDING] > 0.5 * least[SLIDING],
    ]
    words = ", ".join(f"{name} {speed:.3g}" for name, speed in others.items())
    return verdict(
        parts,
        f"Million rows a second: Sash {least[TUMBLING]:.3g} with one window and "
        f"{ours[TUMBLING]:.3g} with {last:g} tumbling ones ({ours[SLIDING]:.3g} where they are one "
        f"sliding window); with {last:g}: {words}, so Sash has "
        f"{ours[TUMBLING] / others[BUCKETS]:.0f} times the speed of buckets and "
        f"{ours[TUMBLING] / others[FINGER_TREE]:.1f} times that of a FingerTree of rows. With one "
        f"window, buckets have {result.line(BUCKETS, TUMBLING).at(1):.3g}.",
    )


def _best(result: Result, panel: str, x: float) -> float:
    return max(result.line(name, panel).at(x) for name in STORES)


def out_of_order(plan: Plan) -> Result:
    result = _result("scotty_out_of_order", "share of rows that are late", False)
    sizes = _lengths(20)
    windows = [*(sash.tumbling(size) for size in sizes), SESSION]
    count = plan.pick(1_000_000, 4_000_000)
    with tempfile.TemporaryDirectory() as folder:
        for late in plan.pick([0.0, 0.2, 1.0], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]):
            rows = make_rows(count, late)
            competitors = {**_ours(rows, windows), NUMPY: _numpy(rows, windows)}
            _measure(result, plan, late, "", competitors | _natives(rows, sizes, Path(folder)))
    result.parameters = {"rows": count, "windows": 21, "late by up to": "2 s"}
    return result


def judge_out_of_order(result: Result) -> Verdict:
    lines = {name: result.line(name) for name in (*STORES, *HOW)}
    flat = costs(lines[FLAT_FAT])
    parts = [
        *(_steady(lines[name]) > 0.5 for name in (LIST, TREE, BUCKETS)),
        flat[0] > 1.5 * flat[-1],
        all(lines[LIST].at(x) > 10 * lines[FLAT_FAT].at(x) for x in places(lines[LIST]) if x > 0),
    ]
    words = [
        f"{name} {costs(line)[0]:.3g} and {costs(line)[-1]:.3g}" for name, line in lines.items()
    ]
    return verdict(
        parts, f"Million rows a second with no row late and with all late: {', '.join(words)}."
    )


def _steady(line: Line) -> float:
    """Return the least speed as a share of the greatest."""
    return min(costs(line)) / max(costs(line))


EXPERIMENTS = [
    Experiment(
        "scotty_windows",
        "scotty",
        "Up to 1,000 windows over one stream",
        "With slices, throughput is an order of magnitude above that of buckets and of trees of "
        "rows, and nearly constant in the number of windows; a list of slices is 8% ahead of a "
        "tree.",
        concurrent,
        judge_concurrent,
        "Scotty 2018, figure 5a",
    ),
    Experiment(
        "scotty_out_of_order",
        "scotty",
        "Rows out of order, with 20 windows and a session",
        "With slices and with buckets, late rows cost nearly what others do. FlatFAT of rows "
        "decays: it has to make room among rows that are there.",
        out_of_order,
        judge_out_of_order,
        "Scotty 2018, figure 5b",
    ),
]
