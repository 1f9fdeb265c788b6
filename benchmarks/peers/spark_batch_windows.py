"""Sliding windows on Spark, by Sash and by Spark's ``group by window``: the same rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import sash
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.measure import in_turns
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
)
from benchmarks.results import Result
from sash import agg
from sash import spark as sps

GROUP_BY = "Spark, group by window"


def _windows(plan: Plan) -> Result:
    rows = plan.pick(200_000, 3_000_000)
    result = Result("spark_windows", "size / slide", "CPU microseconds a row")
    result.parameters = {"rows": rows, "slide s": 1, "turns": TURNS, "shuffled bytes a row": {}}
    # Spark copies a row for each of its windows: fewer rows, the wider they are.
    few = plan.pick({1: rows, 60: 20_000, 600: 2000}, {1: rows, 60: 50_000, 600: 10_000})
    result.parameters["rows of Spark"] = few
    with session() as spark:
        whole = events(spark, rows, 1, 7200)
        for size in plan.pick((1, 60, 600), (1, 60, 600, 3600)):
            _windows_point(result, spark, whole, size, few.get(size, 0))
    result.checks = ["Sash and Spark agree in the number and the sum of all windows"]
    result.notes = [
        "floor: reading the rows; it is in every line",
        "Spark gets fewer rows at 60 and 600, and the floor of all rows on top; windows of an hour "
        "are left out: it had not done with 1,000 rows after four minutes",
    ]
    return result


def _windows_point(result: Result, spark: Any, whole: Any, size: int, few: int) -> None:
    rows = result.parameters["rows"]
    part = whole if few in (0, rows) else events(spark, few, 1, 7200)
    shuffled: dict[str, float] = {}

    def run(name: str, df: Any, count: int) -> float:
        before = _shuffle_bytes(spark)
        cost = cpu(lambda: compute(df))
        time.sleep(0.2)  # listeners are behind
        shuffled[name] = round((_shuffle_bytes(spark) - before) / count, 2)
        return cost

    work: dict[str, Callable[[], float]] = {
        FLOOR: lambda: cpu(lambda: compute(whole)),
        SASH: lambda: run(SASH, _sliding(whole, size), rows),
    }
    if few:
        work[GROUP_BY] = lambda: run(GROUP_BY, _grouped(part, size), few)
        work["few floor"] = lambda: cpu(lambda: compute(part))
        same("windows", _total(_sliding(part, size)), _total(_grouped(part, size)))
    if not result.lines:
        in_turns(work, 1)  # and all is warm
    runs = in_turns(work, TURNS)
    floor = micros(runs[FLOOR], rows)
    result.add(SASH, size, micros(runs[SASH], rows))
    if few:
        own = as_if_of_all(runs[GROUP_BY], runs["few floor"], few, floor)
        result.add(GROUP_BY, size, micros(runs[GROUP_BY], rows) if few == rows else own)
    result.add(FLOOR, size, floor)
    result.parameters["shuffled bytes a row"][str(size)] = shuffled


def _shuffle_bytes(spark: Any) -> int:
    executors = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    return sum(executors.apply(i).totalShuffleWrite() for i in range(executors.size()))


def _total(df: Any) -> Any:
    return df.selectExpr("count(1)", "sum(s)").first()


def _sliding(df: Any, size: int) -> Any:
    window = sash.sliding(f"{size}s", "1s")
    return sps.windows(df, on="ts", by="k", windows=window, aggs=agg.sum("x").alias("s"))


def _grouped(df: Any, size: int) -> Any:
    """Spark's own."""
    call = f"window(ts, '{size} seconds', '1 second') as w"
    return df.selectExpr("k", "x", call).groupBy("k", "w").agg({"x": "sum"}).toDF("k", "w", "s")


def _judge_windows(result: Result) -> Verdict:
    ours, theirs = result.line(SASH), result.line(GROUP_BY)
    least, most = (f(p.cost for p in ours.points) for f in (min, max))
    widest = theirs.points[-1].x
    times = theirs.at(widest) / ours.at(widest)
    holds = most < 2 * least and times > 20
    seen = (
        f"Sash {least:.2f} to {most:.2f} us a row from size / slide 1 to {ours.points[-1].x}; "
        f"Spark {theirs.at(widest):.0f} at {widest}, {times:.0f} times as much. For tumbling "
        f"windows (size / slide 1) Spark takes {theirs.at(1):.2f} and Sash {ours.at(1):.2f}."
    )
    return Verdict("yes" if holds else "partly" if times > 3 else "no", seen)


EXPERIMENT = Experiment(
    "spark_windows", "peers", "Sliding windows beside Spark's group by window",
    "Sliding windows cost Sash the same at any overlap; Spark copies a row for each window.",
    _windows, _judge_windows,
)  # fmt: skip
