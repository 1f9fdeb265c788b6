"""FiBA 2019, figures 16 and 17, and Flink as it is today: its windows beside Sash's, same rows.

Flink runs in a process of its own, see `flink_job`; one JVM serves all figures here, so they are
measured together, in turns. What the same rows cost Flink without windows is taken off: reading,
planning and starting a job are most of a query that has few rows. All CPU seconds are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

from benchmarks.experiment import Experiment, Plan
from benchmarks.measure import in_turns
from benchmarks.papers import flink_judges
from benchmarks.papers.flink_cases import (
    CLASSIC,
    FINGER,
    OPERATOR,
    SMALL,
    TWO_STACKS,
    Case,
    Flink,
    check,
    find_flink,
    sash_cost,
    sash_run,
)
from benchmarks.papers.flink_judges import FLOOR, HOP, RANGE, ROWS, WINDOWS
from benchmarks.results import Result

_PAPER = 8192
"""Entries of a window at which the paper stopped Flink."""
_SEEN = 1.1
"""A query that takes less than so many times its floor cannot be told from it, and is left out."""
Points = dict[tuple[str, int], Case]


def _warm_and_counted(plan: Plan) -> tuple[int, int]:
    """Rounds over all queries before their times count, while the JVM compiles, and after."""
    return plan.pick((1, 2), (2, 3))


def _many_rows(plan: Plan) -> int:
    """Rows that cost little each: enough to be seen beside the start of a query."""
    return plan.pick(200_000, 1_000_000)


def _over_rows(plan: Plan) -> int:
    """Rows of a wide OVER window: enough to fill it, few enough to come to an end."""
    return plan.pick(20_000, 50_000)


def _copied_rows(plan: Plan) -> int:
    """Rows that are copied into thousands of windows each."""
    return plan.pick(500, 2000)


def _fifo_points(plan: Plan) -> Points:
    def over(query: str, n: int) -> Case:
        return Case(query, _over_rows(plan) if n > 1024 else _many_rows(plan), n)

    sizes = plan.pick((16, _PAPER), (16, 256, 1024, _PAPER))
    copied = plan.pick((256, 2048), (16, 256, 1024, _PAPER))
    points = {(ROWS, n): over("rows", n) for n in sizes}
    points |= {(RANGE, n): over("range", n) for n in plan.pick((), (16, _PAPER))}
    rows = {n: min(max(8_000_000 // n, 2000), 20_000) for n in copied}
    return points | {(WINDOWS, n): Case("windows", rows[n], n) for n in copied}


def _late_points(plan: Plan) -> Points:
    far = plan.pick((0, 1024), (0, 16, 256, 4096))
    copied = plan.pick((0,), (0, 256))
    points = {(ROWS, d): Case("rows", _over_rows(plan), _PAPER, late=d) for d in far}
    few = _copied_rows(plan)
    return points | {(WINDOWS, d): Case("windows", few, _PAPER, late=d) for d in copied}


def _hop_points(plan: Plan) -> Points:
    """Windows of some seconds, a new one every second, which has a hundred rows."""

    def windows(query: str, rows: int, seconds: int) -> Case:
        return Case(query, rows, seconds * 1000, step=10, slide=1000)

    ratios = plan.pick((1, 600), (1, 60, 600))
    copied = plan.pick((60,), (60, 600))
    points = {(HOP, r): windows("hop", _many_rows(plan), r) for r in ratios}
    return points | {(WINDOWS, r): windows("windows", 20_000, r) for r in copied}


class _Figure(NamedTuple):
    points: Callable[[Plan], Points]
    ours: tuple[str, ...]
    x_label: str


_FIGURES = {
    "flink_distance": _Figure(_late_points, (FINGER, CLASSIC, OPERATOR, SMALL), "distance d"),
    "flink_fifo": _Figure(
        _fifo_points, (FINGER, CLASSIC, TWO_STACKS, OPERATOR, SMALL), "window size n"
    ),
    "flink_windows": _Figure(_hop_points, (OPERATOR,), "size / slide"),
}


class _Measured(NamedTuple):
    seconds: dict[Case, list[float]]
    """CPU of Flink's queries."""
    ns: dict[tuple[str, Case], list[float]]
    """A row, of Sash."""
    flink: str
    """Its version, or why there is none."""


@cache
def _measured(plan: Plan) -> _Measured:
    """Run the queries of all figures, in turns."""
    asked, ours = set(), set()
    warm, counted = _warm_and_counted(plan)
    for figure in _FIGURES.values():
        for (line, _), case in figure.points(plan).items():
            asked |= {case, case.floor}
            ours |= {(name, case) for name in figure.ours if line in (ROWS, HOP)}
    for name, case in ours:
        _check_ours(name, case)
    work = {str(pair): partial(sash_cost, *pair) for pair in sorted(ours, key=str)}
    python, told = find_flink()
    flink = Flink(python) if python else None
    try:
        if flink:
            queries = {str(case): partial(flink.cpu, case) for case in sorted(asked, key=str)}
            in_turns(queries, warm)
            work |= queries
        runs = in_turns(work, counted)
    finally:
        if flink:
            flink.close()
    seconds = {case: runs[str(case)] for case in asked} if flink else {}
    return _Measured(seconds, {pair: runs[str(pair)] for pair in ours}, told)


def _check_ours(name: str, case: Case) -> None:
    """Compare with NumPy; where rows are late, trees answer as they arrive: with each other."""
    sums = sash_run(name, case)[0]
    if case.late == 0 or name in (OPERATOR, SMALL):
        check(case, sums)
    elif sums != sash_run(CLASSIC, case)[0]:
        raise AssertionError(f"{name} and {CLASSIC} differ at {case}")


def _run(name: str, plan: Plan) -> Result:
    figure, measured = _FIGURES[name], _measured(plan)
    result = Result(name, figure.x_label, "CPU ns per row")
    kept: dict[str, object] = {}
    for (line, x), case in figure.points(plan).items():
        if measured.seconds:
            query, floor = measured.seconds[case], measured.seconds[case.floor]
            least = min(floor)
            if min(query) > _SEEN * least:
                result.add(line, x, [(q - least) * 1e9 / case.rows for q in query])
            kept[f"{line}, {x}"] = {"rows": case.rows, "query": query, "floor": floor}
        if line in (ROWS, HOP):
            for own in figure.ours:
                result.add(own, x, measured.ns[own, case])
            if measured.seconds:
                result.add(FLOOR, x, [f * 1e9 / case.rows for f in floor])
    result.parameters = {
        "turns": _warm_and_counted(plan)[1],
        "Flink": measured.flink,
        "CPU seconds of Flink": kept,
    }
    result.checks = [
        "sums of all results, each times a number of its row, are exactly those of NumPy: Flink's "
        "(of its sliding windows the sum alone), WindowOperator's, and the structures' in order",
        "where rows are late, the trees, which answer as rows arrive, agree with each other",
    ]
    result.notes = _notes(measured)
    return result


def _notes(measured: _Measured) -> list[str]:
    if not measured.seconds:
        return [f"Flink was not measured: {measured.flink}."]
    return [
        "The paper's FiBA is in Java, inside Flink 1.7; Sash is native code called from Python.",
        "Flink runs in one JVM with one slot, rows are made in it, no Python function is called; "
        f"its floor, the same rows added up without windows, is taken off and shown as {FLOOR}. "
        "What takes hardly more than the floor is left out.",
        f"{WINDOWS}: DataStream's, as in the paper. {ROWS}, {RANGE}, {HOP}: Flink's SQL, with a "
        "watermark every 200 ms of events. The wider the windows, the fewer rows it gets.",
        "Every second row comes d rows late; in the paper every row does, for ever. Flink's SQL "
        "and WindowOperator answer when the watermark has passed, the trees at once.",
    ]


EXPERIMENTS = [
    Experiment(
        "flink_distance", "fiba", "Out-of-order rows, beside Flink",
        "Flink costs the same at any distance, and orders of magnitude more than FiBA.",
        partial(_run, "flink_distance"), flink_judges.distance, "FiBA 2019, figure 16",
    ),
    Experiment(
        "flink_fifo", "fiba", "In-order rows, beside Flink",
        "Flink's cost grows linearly with the window and is never competitive; FiBA's does not.",
        partial(_run, "flink_fifo"), flink_judges.fifo, "FiBA 2019, figure 17",
    ),
    Experiment(
        "flink_windows", "peers", "Sliding windows beside Flink's",
        "Sliding windows cost Sash less than Flink, whose SQL shares slices and whose DataStream "
        "copies each row.",
        partial(_run, "flink_windows"), flink_judges.windows,
    ),
]  # fmt: skip
