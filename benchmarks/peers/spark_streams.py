"""Streams on Spark beside Spark's own streaming windows: the same rows, one session, in turns.

All queries of a point run beside each other and are fed one micro-batch at a time, each in its
turn. Costs are CPU of the whole tree of processes, the floor included: a query that reads the same
rows, passes them through Python and keeps no state. It has a line of its own. The number and the
sum of the windows told are compared with those of `sash.WindowOperator`, which knows no Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sash
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.measure import in_turns
from benchmarks.peers import spark_streams_state
from benchmarks.peers.spark_session import FLOOR, SASH, as_if_of_all, micros
from benchmarks.peers.spark_streams_run import (
    SPARK,
    Query,
    Rows,
    floor,
    ours,
    queries,
    streaming_session,
    theirs,
)
from benchmarks.results import Result

FEW, FEW_FLOOR = "few rows", "floor of few rows"
_CHECK = "Sash on Spark and Spark tell the same number and sum of windows as sash.WindowOperator"
_FLOOR_NOTE = "floor: the same rows through Python without state; it is in every line"
_START_NOTE = (
    "the first micro-batches of each query, which start it and warm its code, are left out"
)


def _sliding(ratio: int) -> Any:
    return sash.sliding(f"{ratio}s", "1s")


def _slides(plan: Plan) -> Result:
    rows = plan.pick(20_000, 100_000)
    result = Result("spark_stream_slides", "size / slide", "CPU microseconds a row")
    result.parameters = {"rows of a micro-batch": rows, "keys": 100, "turns": plan.repeat}
    result.notes = [_FLOOR_NOTE, _START_NOTE]
    with streaming_session() as spark:
        for ratio in plan.pick((1, 60), (1, 10, 60, 600, 3600)):
            few = 10_000 if ratio == 600 else 0
            warm = 2 if result.lines else 4
            _point(result, spark, ratio, ratio, Rows(1000, 100), warm, plan.repeat, few)
    if not plan.quick:
        result.notes.append(
            "Spark copies a row for every window: at 600 it gets micro-batches of 10,000 rows, and "
            "the floor of all rows on top; at 3600 it does not come to an end"
        )
    result.checks = [_CHECK]
    return result


def _keys(plan: Plan) -> Result:
    rows = plan.pick(20_000, 100_000)
    result = Result("spark_stream_keys", "keys", "CPU microseconds a row")
    result.parameters = {"rows of a micro-batch": rows, "size / slide": 1, "turns": plan.repeat}
    result.notes = [_FLOOR_NOTE, _START_NOTE, "a second of 1,000 rows: more keys, more windows"]
    with streaming_session() as spark:
        for keys in plan.pick((10, 10_000), (1, 100, 10_000)):
            _point(result, spark, keys, 1, Rows(1000, keys), 2, plan.repeat)
    result.checks = [_CHECK]
    return result


def _point(
    result: Result,
    spark: Any,
    x: int,
    ratio: int,
    rows: Rows,
    warm: int,
    repeat: int,
    few: int = 0,
) -> None:
    """Feed the same micro-batches to all; Spark gets smaller ones of its own if ``few``."""
    size = result.parameters["rows of a micro-batch"]
    asks: dict[str, Callable[[Any], Any]] = {FLOOR: floor, SASH: ours(_sliding(ratio))}
    if few:
        asks |= {FEW_FLOOR: floor, FEW: theirs(ratio)}
    elif ratio < 600:
        asks[SPARK] = theirs(ratio)
    small = Rows(1000, 100)
    for _ in range(warm + repeat):
        rows.next(size)
        small.next(max(few, 1))
    with queries(spark, asks) as running:
        work = {
            name: _feeder(query, small if name in (FEW, FEW_FLOOR) else rows)
            for name, query in running.items()
        }
        in_turns(work, warm)
        runs = in_turns(work, repeat)
        for name, query in running.items():
            if name not in (FLOOR, FEW_FLOOR):
                expected = (small if name == FEW else rows).expected(_sliding(ratio))
                assert query.answer == expected, (name, x, query.answer, expected)
    for name in (SASH, SPARK, FLOOR):
        if name in runs:
            result.add(name, x, micros(runs[name], size))
    if few:
        own = as_if_of_all(runs[FEW], runs[FEW_FLOOR], few, micros(runs[FLOOR], size))
        result.add(SPARK, x, own)


def _feeder(query: Query, rows: Rows) -> Callable[[], float]:
    waiting = iter(rows.batches)
    return lambda: query.feed(next(waiting))


def _judge_slides(result: Result) -> Verdict:
    sash_line, spark = result.line(SASH), result.line(SPARK)
    costs = [p.cost for p in sash_line.points]
    first, last = sash_line.points[0].x, spark.points[-1].x
    times = spark.at(last) / sash_line.at(last)
    flat = max(costs) < 2 * min(costs)
    seen = (
        f"Sash {min(costs):.0f} to {max(costs):.0f} us a row from size / slide {first} to "
        f"{sash_line.points[-1].x}; Spark {spark.at(first):.0f} at {first} (Sash "
        f"{sash_line.at(first):.0f}) and {spark.at(last):.0f} at {last}, {times:.1f} times Sash's. "
        f"The floor is {result.line(FLOOR).at(first):.0f}."
    )
    return Verdict("yes" if flat and times > 1.2 else "partly" if flat else "no", seen)


def _judge_keys(result: Result) -> Verdict:
    sash_line, spark = result.line(SASH), result.line(SPARK)
    few, many = sash_line.points[0].x, sash_line.points[-1].x
    growth = {line.name: line.at(many) / line.at(few) for line in (sash_line, spark)}
    holds = growth[SASH] < growth[SPARK]
    ahead = spark.at(many) > 1.2 * sash_line.at(many)
    seen = (
        f"{few} keys: Sash {sash_line.at(few):.0f} us a row, Spark {spark.at(few):.0f}; {many:,} "
        f"keys: Sash {sash_line.at(many):.0f}, Spark {spark.at(many):.0f}. The floor is "
        f"{result.line(FLOOR).at(few):.0f}."
    )
    return Verdict("yes" if holds and ahead else "partly" if holds else "no", seen)


EXPERIMENTS = [
    Experiment(
        "spark_stream_slides", "peers", "Streaming windows by overlap, beside Spark's",
        "A stream costs Sash the same at any overlap of windows; Spark copies a row for each.",
        _slides, _judge_slides,
    ),
    Experiment(
        "spark_stream_keys", "peers", "Streaming windows by keys, beside Spark's",
        "With many keys a stream costs Sash less than Spark, with few keys more.",
        _keys, _judge_keys,
    ),
    *spark_streams_state.EXPERIMENTS,
]  # fmt: skip
