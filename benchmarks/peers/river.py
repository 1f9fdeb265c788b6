"""One value at a time from Python, beside river; and the same in whole columns.

Windows are filled before the clock runs. A round takes a value in, lets the oldest go and reads the
answer. All answers are compared with those of `sash.rolling` over the whole column.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sash
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.measure import cpu_seconds, in_turns, least_cpu
from benchmarks.results import Result
from sash import agg

OURS = {
    "sum": agg.sum("v"),
    "mean": agg.mean("v"),
    "variance": agg.variance("v"),
    "max": agg.max("v"),
    "median": agg.median("v"),
}
LIVE = {"sum": agg.sum, "mean": agg.mean, "variance": agg.variance, "max": agg.max}
BY_TIME = "sum by time, 10% late"
SECOND = 1_000_000
LATE = 8
"""Rows come late by up to so many seconds; there is one a second."""
RIVER, ONE, COLUMN = "river", "Sash, one at a time", "sash.rolling"
Floats = npt.NDArray[np.float64]


# ---- one at a time: each makes a window, fills it, and returns its rounds -----------------------


def river_rounds(case: str, values: list[float], times: list[int], window: int) -> Iterator[Any]:
    """River's rolling statistics."""
    stats, utils = (import_module(f"river.{name}") for name in ("stats", "utils"))
    if case == BY_TIME:
        timed = utils.TimeRolling(stats.Sum, period=timedelta(seconds=window))
        update, get = timed.update, timed.get
        start = datetime(2026, 1, 1)
        moments = [start + timedelta(microseconds=t) for t in times]
        for value, moment in zip(values, moments, strict=True):
            update(value, t=moment)
            yield get()
        return
    rolling = {
        "sum": lambda: utils.Rolling(stats.Sum, window_size=window),
        "mean": lambda: utils.Rolling(stats.Mean, window_size=window),
        "variance": lambda: utils.Rolling(stats.Var, window_size=window),
        "max": lambda: stats.RollingMax(window),
        "median": lambda: stats.RollingQuantile(0.5, window),
    }[case]()
    update, get = rolling.update, rolling.get
    for value in values:
        update(value)
        yield get()


def sash_rounds(case: str, values: list[float], times: list[int], window: int) -> Iterator[Any]:
    """Our structures."""
    if case == BY_TIME:
        tree, span, youngest = sash.FingerTree(agg.sum()), window * SECOND, 0
        place, bulk_evict, total = tree.insert, tree.bulk_evict, tree.query
        for time, value in zip(times, values, strict=True):
            place(time, value)
            if time > youngest:
                youngest = time
                bulk_evict(time - span)
            yield total()
        return
    kept = sash.TwoStacksLite(LIVE[case]())
    insert, evict, query = kept.insert, kept.evict, kept.query
    for value in values[:window]:
        insert(value)
        yield query()
    for value in values[window:]:
        evict()
        insert(value)
        yield query()


def whole_column(case: str, values: Floats, times: npt.NDArray[np.int64], window: int) -> Floats:
    """All windows in one call; by time, as each row found the window when it arrived."""
    if case == BY_TIME:
        table = pa.table({"t": times, "v": values})
        out = sash.rolling(
            table, on="t", window=window * SECOND, aggs=OURS["sum"].alias("x"), order="arrival",
            threads=1,
        )  # fmt: skip
    else:
        one = OURS[case].alias("x")
        out = sash.rolling(pa.table({"v": values}), rows=window, aggs=one, threads=1)
    return np.asarray(out["x"].to_numpy(), np.float64)


# ---- measuring ---------------------------------------------------------------------------------


class Stream:
    """Values, and times that go up by a second, one in ten of them late."""

    def __init__(self, rows: int) -> None:
        rng = np.random.default_rng(11)
        self.values: Floats = rng.normal(size=rows)
        late = np.where(rng.random(rows) < 0.1, rng.integers(1, LATE, rows), 0)
        self.times: npt.NDArray[np.int64] = (np.arange(rows) + LATE - late) * SECOND
        self.times += rng.integers(0, 1000, rows)  # no two at the same moment

    def lists(self, rows: int) -> tuple[list[float], list[int]]:
        """What a loop over values has: plain numbers."""
        return self.values[:rows].tolist(), self.times[:rows].tolist()


def rounds_cost(make: Any, case: str, stream: Stream, window: int, rounds: int) -> Any:
    """Return ns of CPU a round, of rounds with a full window, and the answers of these."""
    steps = make(case, *stream.lists(window + LATE + rounds), window)
    deque(zip(range(window + LATE), steps, strict=False), maxlen=0)  # fill it
    answers, seconds = cpu_seconds(lambda: list(steps))
    return seconds * 1e9 / rounds, answers


def affordable(make: Any, case: str, stream: Stream, window: int, most: float) -> int:
    """Return how many rounds take ``most`` seconds, about; all there are if these take less.

    Few rounds are dearer than many, as nothing is in the caches yet: it tries ever more of them.
    """
    rounds, all_rounds = 200, len(stream.values) - window - LATE
    while True:
        cost, _ = rounds_cost(make, case, stream, window, rounds)
        took = cost * rounds / 1e9
        if took > most / 8 or rounds == all_rounds:
            return int(min(all_rounds, max(rounds, rounds * most / took)))
        rounds = min(all_rounds, rounds * 8)


def run(plan: Plan) -> Result:
    """Windows of growing size, six aggregates."""
    sizes = plan.pick([10, 1000], [10, 100, 1000, 10_000, 100_000])
    stream = Stream(plan.pick(60_000, 400_000))
    result = Result(
        "river",
        x_label="values in the window",
        y_label="CPU ns per value",
        parameters={"values": len(stream.values), "windows": sizes},
    )
    with_river = find_spec("river") is not None
    for case in [*OURS, BY_TIME]:
        for window in sizes:
            _one(result, case, stream, window, with_river, plan)
    result.checks = [
        "Sash one value at a time gives what sash.rolling gives over the column, in every round",
        "sash.rolling gives NumPy's answers in 20 windows of each size",
    ]
    result.notes = [
        "Sash one at a time is TwoStacksLite, by time FingerTree; the loop around it is a "
        "generator in Python, as around river",
        "Sash has no exact median one value at a time; its lines there are of whole columns",
        "river's TimeRolling copies its window whenever a row leaves: fewer rounds of it are timed",
    ]
    if with_river:
        result.checks.append("river gives the same answers, in every round that was timed")
    else:
        result.notes.append("river is not installed here, so it has no lines")
    return result


def _one(
    result: Result, case: str, stream: Stream, window: int, with_river: bool, plan: Plan
) -> None:
    column = whole_column(case, stream.values, stream.times, window)
    _check_column(column, case, stream, window)
    makers: dict[str, Any] = {ONE: sash_rounds} if case in LIVE or case == BY_TIME else {}
    if with_river:
        makers[RIVER] = river_rounds
    most = plan.pick(0.05, 0.25)
    rounds = {name: affordable(make, case, stream, window, most) for name, make in makers.items()}
    work: dict[str, Callable[[], float]] = {}
    for name, make in makers.items():

        def one_at_a_time(name: str = name, make: Any = make) -> float:
            cost, answers = rounds_cost(make, case, stream, window, rounds[name])
            expected = column[window + LATE :][: rounds[name]]
            np.testing.assert_allclose(answers, expected, rtol=1e-6, atol=1e-6)
            return float(cost)

        work[name] = one_at_a_time
    times = plan.pick(10, 5)

    def in_one_call() -> float:
        def call() -> None:
            whole_column(case, stream.values, stream.times, window)

        return least_cpu(call, times) * 1e9 / len(column)

    work = {COLUMN: in_one_call, **work} if ONE not in work else {**work, COLUMN: in_one_call}
    for name, costs in in_turns(work, plan.repeat, plan.tries).items():
        result.add(name, window, costs, case)


def _check_column(column: Floats, case: str, stream: Stream, window: int) -> None:
    functions: dict[str, Callable[[Floats], Any]] = {
        "sum": np.sum, "mean": np.mean, "max": np.max, "median": np.median, BY_TIME: np.sum,
        "variance": lambda v: np.var(v, ddof=1),
    }  # fmt: skip
    brute = functions[case]
    for end in np.random.default_rng(12).integers(window, len(column), 20):
        if case == BY_TIME:
            begin = max(0, end - window - 2 * LATE)
            times = stream.times[begin : end + 1]
            inside = stream.values[begin : end + 1][times > times.max() - window * SECOND]
        else:
            inside = stream.values[end - window + 1 : end + 1]
        np.testing.assert_allclose(column[end], brute(inside), rtol=1e-6, atol=1e-6)


# ---- verdict -----------------------------------------------------------------------------------


def judge(result: Result) -> Verdict:
    """Compare one value at a time, window by window, and how costs grow."""
    panels = list(dict.fromkeys(line.panel for line in result.lines))
    live = [p for p in panels if any(x.name == ONE and x.panel == p for x in result.lines)]
    grown = max(x.points[-1].cost / x.points[0].cost
                for p in live for x in [result.line(ONE, p)])  # fmt: skip
    columns = [p.cost for panel in panels for p in result.line(COLUMN, panel).points]
    seen = f"One at a time, Sash takes at most {grown:.1f} times as much in the widest window as "
    seen += f"in the smallest; whole columns {min(columns):.0f} to {max(columns):.0f} ns a value"
    if not any(line.name == RIVER for line in result.lines):
        return Verdict("partly", seen + ". There was no river to compare with.")
    ratios = {
        (panel, point.x): result.line(RIVER, panel).at(point.x) / point.cost
        for panel in live
        for point in result.line(ONE, panel).points
    }
    worst, best = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
    seen += (
        f". River takes {ratios[worst]:.1f} ({worst[0]}, {worst[1]:,}) to {ratios[best]:.0f} times "
        f"({best[0]}, {best[1]:,}) what Sash takes one at a time, and has a live median, where "
        "Sash has whole columns only."
    )
    holds = min(ratios.values()) > 0.87 and grown < 3
    return Verdict("yes" if holds else "partly", seen)


EXPERIMENTS = [
    Experiment(
        name="river",
        group="peers",
        title="One value at a time, beside river",
        claim="A value at a time costs no more than in river, whatever the window's size; a whole "
        "column at once far less.",
        run=run,
        judge=judge,
    )
]
