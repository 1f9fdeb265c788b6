"""Spark beside Sash on Spark: the same rows, the same windows, two cores, one session.

Costs are CPU of the whole tree of processes, the floor included: it is what the shuffle and the
sort cost that both need, and has a line of its own. Answers are compared by checksums of all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.measure import in_turns
from benchmarks.peers import spark_batch_windows
from benchmarks.peers.spark_session import (
    FLOOR,
    SASH,
    TURNS,
    as_if_of_all,
    compute,
    cpu,
    events,
    micros,
    same,
    session,
    wall,
)
from benchmarks.results import Line, Result
from sash import agg
from sash import spark as sps

DEFAULT, TREE = "Spark, default frames", "Spark, segment tree"
SPLIT, WHOLE = "Sash, split into ranges", "Sash, one task"
_TREE_SETTING = "spark.sql.window.segmentTree.enabled"
_SPARK = {"max": "max(x)", "sum": "sum(x)", "stddev": "stddev(x)"}
_OURS = {"max": agg.max("x"), "sum": agg.sum("x"), "stddev": agg.stddev("x")}
_PANELS = (["max"], ["sum", "max", "stddev"])
_SIZES = (10, 100, 1000, 10_000)


def _frames(df: Any, names: list[str], seconds: int) -> Any:
    """Spark's own: RANGE BETWEEN."""
    over = (
        "over (partition by k order by unix_micros(ts) "
        f"range between {seconds * 1_000_000 - 1} preceding and current row)"
    )
    return df.selectExpr("*", *(f"{_SPARK[n]} {over} as `{n}`" for n in names))


def _rolled(df: Any, names: list[str], seconds: int) -> Any:
    aggs = [_OURS[n].alias(n) for n in names]
    return sps.rolling(df, on="ts", by="k", window=f"{seconds}s", aggs=aggs)


def _sorted(df: Any) -> Any:
    """What both need."""
    return df.repartition("k").sortWithinPartitions("k", "ts")


def _sums(df: Any, names: list[str]) -> Any:
    return df.selectExpr(*(f"sum({n})" for n in names)).first()


def _rolling(plan: Plan) -> Result:
    rows = plan.pick(120_000, 500_000)
    result = Result("spark_rolling", "rows in a window", "CPU microseconds a row")
    result.parameters = {"rows": rows, "keys": 100, "cores": 2, "turns": TURNS, "few": {}}
    with session() as spark:
        whole = events(spark, rows, 100)
        for names in _PANELS:
            for size in plan.pick((10, 1000) if names == ["max"] else (1000,), _SIZES):
                _rolling_point(result, spark, whole, names, size)
    result.checks = [
        "Sash, segment trees and default frames agree in the sum of each result column",
    ]
    result.notes = [
        "floor: a shuffle by key and a sort by time, which all of them need; it is in every line",
        "default frames recompute each window: above 100 rows in a window they get fewer rows, of "
        "one key, with the floor of all rows on top; half of these windows are full at the widest",
    ]
    return result


def _rolling_point(result: Result, spark: Any, whole: Any, names: list[str], size: int) -> None:
    rows = result.parameters["rows"]
    few = rows if size <= 100 else max(20_000, 2 * size)
    part = whole if few == rows else events(spark, few, 1)

    def framed(df: Any, tree: bool) -> Any:
        spark.conf.set(_TREE_SETTING, str(tree).lower())
        return _frames(df, names, size)

    work: dict[str, Callable[[], float]] = {
        FLOOR: lambda: cpu(lambda: compute(_sorted(whole))),
        SASH: lambda: cpu(lambda: compute(_rolled(whole, names, size))),
        TREE: lambda: cpu(lambda: compute(framed(whole, True))),
        DEFAULT: lambda: cpu(lambda: compute(framed(part, False))),
    }
    if few != rows:
        result.parameters["few"][str(size)] = few
        work["few floor"] = lambda: cpu(lambda: compute(_sorted(part)))
    ours = _sums(_rolled(whole, names, size), names)
    same("segment tree", ours, _sums(framed(whole, True), names))
    if few != rows:
        ours = _sums(_rolled(part, names, size), names)
    same("default", ours, _sums(framed(part, False), names))
    if not result.lines:  # the checks have warmed the code of this point, and this the rest
        in_turns(work, 1)
    runs = in_turns(work, TURNS)
    panel = "+".join(names)
    floor = micros(runs[FLOOR], rows)
    for name in (SASH, TREE, FLOOR):
        result.add(name, size, micros(runs[name], rows), panel)
    default = micros(runs[DEFAULT], rows)
    if few != rows:
        default = as_if_of_all(runs[DEFAULT], runs["few floor"], few, floor)
        part.unpersist()
    result.add(DEFAULT, size, default, panel)


def _judge_rolling(result: Result) -> Verdict:
    said, flat, ahead = [], True, True
    for panel in ("+".join(names) for names in _PANELS):
        ours, tree = result.line(SASH, panel), result.line(TREE, panel)
        default = result.line(DEFAULT, panel)
        sizes = [p.x for p in ours.points]
        costs = [p.cost for p in ours.points]
        flat &= max(costs) < 2 * min(costs)
        ahead &= default.at(sizes[-1]) > 3 * ours.at(sizes[-1])
        ahead &= all(ours.at(x) < 1.2 * tree.at(x) for x in sizes)
        said.append(
            f"{panel}: Sash {_range(ours)} us a row, segment tree {_range(tree)}, "
            f"default {default.at(sizes[0]):.1f} at {sizes[0]} rows in a window and "
            f"{default.at(sizes[-1]):.0f} at {sizes[-1]:,}"
        )
    floors = [p.cost for line in result.lines if line.name == FLOOR for p in line.points]
    seen = "; ".join(said) + f". Of each, {min(floors):.1f} to {max(floors):.1f} are the floor."
    return Verdict("yes" if flat and ahead else "partly" if flat or ahead else "no", seen)


def _range(line: Line) -> str:
    costs = [p.cost for p in line.points]
    return f"{min(costs):.1f} to {max(costs):.1f}"


def _one_key(plan: Plan) -> Result:
    rows = plan.pick(200_000, 1_500_000)
    result = Result("spark_one_key", "cores", "microseconds a row", x_log=False, y_log=False)
    result.parameters = {"rows": rows, "keys": 1, "rows in a window": 1000, "turns": TURNS}
    totals = []
    for cores in (1, 2):
        with session(cores) as spark:
            spark.conf.set(_TREE_SETTING, "true")
            df = events(spark, rows, 1)
            asked: dict[str, Any] = {
                "on": "ts",
                "window": "1000s",
                "aggs": _OURS["max"].alias("max"),
            }
            calls = {
                SPLIT: sps.rolling(df, **asked),
                WHOLE: sps.rolling(df, **asked, split=False),
                TREE: _frames(df, ["max"], 1000),
            }
            totals += [_sums(call, ["max"]) for call in calls.values()]  # and they are warm
            work = {name: partial(wall, partial(compute, call)) for name, call in calls.items()}
            runs = in_turns(work, TURNS)
        for name in calls:
            result.add(name, cores, micros(runs[name], rows))
    for total in totals:
        same("one key", total, totals[0])
    result.checks = ["all queries on one core and on two agree in the sum of the results"]
    result.notes = ["time on the clock: what more cores are for"]
    return result


def _judge_one_key(result: Result) -> Verdict:
    gain = {line.name: line.at(1) / line.at(2) for line in result.lines}
    split, tree = result.line(SPLIT), result.line(TREE)
    best = min(line.at(2) for line in result.lines)
    seen = (
        f"One key, {result.parameters['rows']:,} rows: the second core makes the split query "
        f"{gain[SPLIT]:.1f} times as fast ({split.at(1):.2f} to {split.at(2):.2f} us a row), one "
        f"task {gain[WHOLE]:.1f} times, to {result.line(WHOLE).at(2):.2f} (its JVM and its Python "
        f"overlap), Spark's frames {gain[TREE]:.1f} times, to {tree.at(2):.2f}."
    )
    scales, ahead = gain[SPLIT] > 1.4, split.at(2) < 1.2 * best
    return Verdict("yes" if scales and ahead else "partly" if gain[SPLIT] > 1.1 else "no", seen)


EXPERIMENTS = [
    Experiment(
        "spark_rolling", "peers", "Rolling windows beside Spark's frames",
        "A rolling window on Spark costs Sash the same at any size; Spark's default frames grow "
        "with the rows in a window, its segment trees cost more with each aggregate.",
        _rolling, _judge_rolling,
    ),
    Experiment(
        "spark_one_key", "peers", "One key on one core and on two",
        "Sash splits one key into ranges of time and uses all cores for it.",
        _one_key, _judge_one_key,
    ),
    spark_batch_windows.EXPERIMENT,
]  # fmt: skip
