"""Cost of a row against the number of rows, keys, late rows, aggregates and the window's size."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import sash
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.measure import in_turns
from benchmarks.results import Line, Result
from benchmarks.scaling import sizes_memory
from benchmarks.scaling.sizes_work import (
    OPERATOR,
    ROLLING,
    STEP,
    Rows,
    check_samples,
    check_sliding,
    check_sums,
    check_tumbling,
    cost_of,
    make_rows,
    operate,
    roll,
    touch_memory,
)
from sash import agg
from sash.windows import Window

Works = dict[tuple[str, str], Callable[[], pa.Table]]
"""What is measured at one place: (panel, line) -> a call."""


def _result(name: str, x_label: str, **parameters: Any) -> Result:
    return Result(name, x_label=x_label, y_label="CPU ns per row", parameters=parameters)


def _measure(result: Result, x: float | str, works: Works, rows: int, plan: Plan) -> None:
    least = plan.pick(0.02, 0.05)
    measured = {f"{panel}|{name}": cost_of(work, rows, least)
                for (panel, name), work in works.items()}  # fmt: skip
    for place, costs in in_turns(measured, plan.repeat).items():
        panel, name = place.split("|")
        result.add(name, x, costs, panel)


def _tumbling(count: int) -> list[Window]:
    return [sash.tumbling(i * 1000 * STEP, name=f"of {i}") for i in range(1, count + 1)]


def _named(told: pa.Table, name: str) -> pa.Table:
    return told.filter(pa.compute.equal(told["window"], name))


# ---- rows --------------------------------------------------------------------------------------


def run_rows(plan: Plan) -> Result:
    """Tables and streams of growing length."""
    sizes = plan.pick([10_000, 100_000, 1_000_000], [10_000, 100_000, 10**6, 10**7, 3 * 10**7])
    result = _result("scaling_rows", "rows", window=1000, rows=sizes)
    touch_memory(plan.pick(1, 3))
    slices = [*_tumbling(20), sash.session(10 * STEP)]
    slide = sash.sliding(60_000 * STEP, 1000 * STEP)
    for n in sizes:
        rows = make_rows(n)
        table = rows.table()
        works: Works = {
            (ROLLING, "sum"): partial(roll, table, agg.sum("v"), 1000),
            (ROLLING, "max"): partial(roll, table, agg.max("v"), 1000),
            (ROLLING, "stddev"): partial(roll, table, agg.stddev("v"), 1000),
            (OPERATOR, "20 tumbling and a session"): partial(operate, table, slices),
            (OPERATOR, "60 that overlap"): partial(operate, table, slide),
        }
        check_sums(works[ROLLING, "sum"](), rows, 1000)
        check_samples(works[ROLLING, "max"](), rows, 1000, "max_v", np.max)
        told = _named(works[OPERATOR, "20 tumbling and a session"](), "of 7")
        check_tumbling(told, rows, 7000 * STEP)
        check_sliding(works[OPERATOR, "60 that overlap"](), rows, 60_000 * STEP, 1000 * STEP)
        _measure(result, n, works, n, plan)
    result.checks = [
        "rolling sums are differences of prefix sums; of more than a million rows, in the last "
        "million; maxima are NumPy's in 20 windows",
        "sums of tumbling windows are NumPy's bincount, those of sliding ones its prefix sums",
    ]
    return result


# ---- windows -----------------------------------------------------------------------------------


def run_windows(plan: Plan) -> Result:
    """Windows of growing length over the same rows."""
    sizes = plan.pick([10, 1000, 100_000], [10, 100, 1000, 10_000, 100_000, 1_000_000])
    n = plan.pick(300_000, 3_000_000)
    result = _result("scaling_windows", "rows in the window", rows=n, slide="10 rows")
    rows = make_rows(n)
    table = rows.table()
    for size in sizes:
        slide = sash.sliding(size * STEP, 10 * STEP)
        works: Works = {
            (ROLLING, a.name): partial(roll, table, a, size)
            for a in (agg.sum("v"), agg.max("v"), agg.stddev("v"), agg.median("v"))
        }
        works[OPERATOR, "a window every 10 rows"] = partial(operate, table, slide)
        check_sums(works[ROLLING, "sum"](), rows, size)
        for name, brute in (("max", np.max), ("median", np.median)):
            check_samples(works[ROLLING, name](), rows, size, f"{name}_v", brute)
        told = works[OPERATOR, "a window every 10 rows"]()
        check_sliding(told, rows, size * STEP, 10 * STEP)
        _measure(result, size, works, n, plan)
    result.checks = [
        "rolling sums are differences of prefix sums; maxima and medians NumPy's in 20 windows",
        "sums of sliding windows are differences of prefix sums, all of them",
    ]
    return result


# ---- keys --------------------------------------------------------------------------------------


def run_keys(plan: Plan) -> Result:
    """More and more keys over the same number of rows."""
    counts = plan.pick([1, 100, 10_000], [1, 100, 10_000, 1_000_000])
    n = plan.pick(300_000, 2_000_000)
    result = _result("scaling_keys", "keys", rows=n, window="100 rows of a key")
    for keys in counts:
        rows = make_rows(n, keys)
        table = rows.table(keyed=True)
        size = 100 * keys
        minute = sash.tumbling(100_000 * STEP)
        works: Works = {
            (ROLLING, a.name): partial(roll, table, a, size, "k")
            for a in (agg.sum("v"), agg.max("v"))
        }
        works[OPERATOR, "tumbling"] = partial(operate, table, minute, by="k")
        check_sums(works[ROLLING, "sum"](), rows, size)
        told = works[OPERATOR, "tumbling"]()
        check_tumbling(told, rows, 100_000 * STEP)
        result.parameters[f"windows told of {keys:,} keys"] = told.num_rows
        _measure(result, keys, works, n, plan)
    result.checks = [
        "rolling sums are differences of prefix sums within each key, all of them",
        "sums of tumbling windows are NumPy's bincount, key by key",
    ]
    result.notes = ["with more keys, the operator tells more windows: one for each key and minute"]
    return result


# ---- lateness ----------------------------------------------------------------------------------


def run_lateness(plan: Plan) -> Result:
    """The same rows, in order, late by some places, and shuffled."""
    n = plan.pick(300_000, 2_000_000)
    cases = {"in order": 0, "10": 10, "1,000": 1000, "100,000": 100_000, "shuffled": None}
    result = _result("scaling_lateness", "rows late by up to so many places", rows=n, window=1000)
    result.x_log = False
    for name, late in cases.items():
        rows = make_rows(n, late=late)
        table = rows.table()
        delay = None if late is None else (late + 1) * STEP
        works: Works = {
            (ROLLING, "sum"): partial(roll, table, agg.sum("v"), 1000),
            (ROLLING, "sum, as rows arrive"): partial(
                roll, table, agg.sum("v"), 1000, order="arrival"
            ),
            (OPERATOR, "20 tumbling"): partial(operate, table, _tumbling(20), delay=delay),
        }
        check_sums(works[ROLLING, "sum"](), rows, 1000)
        _check_arrival(works[ROLLING, "sum, as rows arrive"](), rows)
        check_tumbling(_named(works[OPERATOR, "20 tumbling"](), "of 7"), rows, 7000 * STEP)
        _measure(result, name, works, n, plan)
    result.checks = [
        "rolling sums are differences of prefix sums, all of them; as rows arrive, NumPy's in 20 "
        "windows; sums of tumbling windows are NumPy's bincount",
    ]
    result.notes = [
        "the operator's watermark is as far behind as rows are late; shuffled rows have none until "
        "the stream ends",
        "as rows arrive, those late by more than the window's length do not enter it: they are "
        "cheaper than others",
    ]
    return result


def _check_arrival(found: pa.Table, rows: Rows) -> None:
    answers = found["sum_v"].to_numpy()
    for end in np.random.default_rng(23).integers(1, len(answers), 20):
        times = rows.times[: end + 1]
        inside = times > times.max() - 1000 * STEP
        assert answers[end] == rows.values[: end + 1][inside].sum(), "as rows arrive: sums differ"


# ---- aggregates --------------------------------------------------------------------------------


def run_aggregates(plan: Plan) -> Result:
    """More and more aggregates in each window."""
    counts = plan.pick([1, 4, 16], [1, 2, 4, 8, 16, 32])
    n = plan.pick(100_000, 1_000_000)
    result = _result("scaling_aggregates", "aggregates of each window", rows=n, window=1000)
    rows = make_rows(n)
    columns = {f"c{i}": rows.values + i for i in range(8)}
    table = pa.table({"t": rows.times, **columns})
    kinds = (agg.sum, agg.max, agg.mean, agg.min)
    every = [kind(column) for kind in kinds for column in columns]
    for count in counts:
        aggs = every[:count]
        works: Works = {
            (ROLLING, "sums, maxima, means, minima"): partial(roll, table, aggs, 1000),
            (OPERATOR, "20 tumbling"): partial(operate, table, _tumbling(20), aggs),
        }
        rolled, told = (work() for work in works.values())
        for i in range(min(count, 8)):
            shifted = Rows(rows.times, columns[f"c{i}"], rows.keys)
            check_sums(rolled, shifted, 1000, f"sum_c{i}")
            check_tumbling(_named(told, "of 7"), shifted, 7000 * STEP, f"sum_c{i}")
        _measure(result, count, works, n, plan)
    result.checks = ["each sum is compared with prefix sums, and with NumPy's bincount"]
    result.notes = ["the first eight aggregates are sums of eight columns, then maxima, means, "
                    "minima of them"]  # fmt: skip
    return result


# ---- verdicts ----------------------------------------------------------------------------------


def _growth(line: Line, skip: int = 0) -> float:
    """Return how many times the least the greatest cost is, the first places left out."""
    costs = [p.cost for p in line.points[skip:]]
    return max(costs) / min(costs)


def _range(line: Line) -> str:
    costs = [p.cost for p in line.points]
    return f"{line.panel} {line.name} {min(costs):.0f} to {max(costs):.0f} ns"


def _judge(result: Result, most: Callable[[Line], float], skip: int = 0) -> Verdict:
    """All lines grow by no more than they may."""
    over = [line for line in result.lines if _growth(line, skip) > most(line)]
    seen = "; ".join(map(_range, result.lines)) + "."
    return Verdict("yes" if not over else "partly" if len(over) < len(result.lines) else "no", seen)


def _by_logarithm(line: Line) -> float:
    return 4.0 if line.name == "median" or line.panel == OPERATOR else 2.0


def _judge_aggregates(result: Result) -> Verdict:
    said = []
    fair = True
    for line in result.lines:
        first, last = line.points[0], line.points[-1]
        each = last.cost / float(last.x)
        said.append(f"{line.panel}: {first.cost:.0f} ns for one, {each:.1f} for each of {last.x}")
        fair &= each < 1.5 * first.cost
    return Verdict("yes" if fair else "partly", "; ".join(said) + ".")


def _judge_keys(result: Result) -> Verdict:
    few = [(line.points[0].cost, line.at(10_000)) for line in result.lines]
    fair = all(many < 5 * one for one, many in few)
    return Verdict("yes" if fair else "partly", "; ".join(map(_range, result.lines)) + ".")


def _experiment(name: str, title: str, claim: str, run: Any, judge: Any) -> Experiment:
    return Experiment(name, "scaling", title, claim, run, judge)


EXPERIMENTS = [
    _experiment(
        "scaling_rows", "Rows", "A row costs the same in a table of 10^5 rows and of 3 * 10^7.",
        run_rows, partial(_judge, most=lambda line: 2.0, skip=1),
    ),
    _experiment(
        "scaling_windows", "Rows in a window",
        "A row costs the same in windows of ten rows and of a million; of medians, and of windows "
        "that a stream tells every ten rows, the cost grows by the logarithm.",
        run_windows, partial(_judge, most=_by_logarithm),
    ),
    _experiment(
        "scaling_keys", "Keys",
        "More keys cost a sort by key in a table, and a window for each of them in a stream: up to "
        "five times as much with 10,000 keys. Nearly every row a key of its own costs more.",
        run_keys, _judge_keys,
    ),
    _experiment(
        "scaling_lateness", "Late rows",
        "In a stream, late rows cost little; a table that is not in order costs its sort.",
        run_lateness, partial(_judge, most=lambda line: 2.0 if line.panel == OPERATOR else 20.0),
    ),
    _experiment(
        "scaling_aggregates", "Aggregates of a window",
        "The cost grows no faster than the number of aggregates; in a stream slower, since rows "
        "are put into their windows once.",
        run_aggregates, _judge_aggregates,
    ),
    *sizes_memory.EXPERIMENTS,
]  # fmt: skip
