"""Streams on Spark: the time of a micro-batch, and what it costs as state or time goes on."""

from __future__ import annotations

import statistics

import sash
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.measure import in_turns
from benchmarks.peers.spark_session import FLOOR, SASH
from benchmarks.peers.spark_streams_run import (
    SECOND,
    SPARK,
    Rows,
    floor,
    ours,
    queries,
    streaming_session,
    theirs,
)
from benchmarks.processes import memory_of_workers
from benchmarks.results import Result
from sash import agg

WORKERS, STORE = "Python workers", "state store"
_SLIDING = sash.sliding("10s", "1s")
_SOAK = [sash.sliding("10m", "10s"), sash.session("30s"), sash.tumbling("1m")]
_WARM = 3


def _latency(plan: Plan) -> Result:
    result = Result(
        "spark_stream_latency", "rows of a micro-batch", "milliseconds", y_log=False, told="median"
    )
    turns = plan.pick(6, 20)
    result.parameters = {"turns": turns, "keys": 10, "size / slide": 10, "95%": {}}
    with streaming_session() as spark:
        for count in plan.pick((100,), (100, 10_000)):
            rows = Rows(10_000, 10)
            asks = {SASH: ours(_SLIDING), SPARK: theirs(10), FLOOR: floor}
            with queries(spark, asks) as running:
                for turn in range(_WARM + turns):
                    batch = rows.next(count)
                    names = list(running)[turn % 3 :] + list(running)[: turn % 3]
                    for name in names:
                        running[name].feed(batch)
                for name in (SASH, SPARK):
                    assert running[name].answer == rows.expected(_SLIDING), (name, count)
                taken = {name: query.triggers[_WARM:] for name, query in running.items()}
            for name, runs in taken.items():
                result.add(name, count, [float(ms) for ms in runs])
                result.parameters["95%"][f"{name}, {count}"] = sorted(runs)[-1 - len(runs) // 20]
    result.checks = ["Sash and Spark tell the same number and sum of windows as WindowOperator"]
    result.notes = ["time on the clock, as Spark reports it; floor: the same without state"]
    return result


def _judge_latency(result: Result) -> Verdict:
    ours_, theirs_ = result.line(SASH), result.line(SPARK)
    said = [
        f"{p.x:,} rows: Sash {p.cost:.0f} ms, Spark {theirs_.at(p.x):.0f}, without state "
        f"{result.line(FLOOR).at(p.x):.0f}"
        for p in ours_.points
    ]
    worst = max(p.cost / theirs_.at(p.x) for p in ours_.points)
    seen = "; ".join(said) + "."
    return Verdict("yes" if worst < 1.25 else "partly" if worst < 2.5 else "no", seen)


def _live(plan: Plan) -> Result:
    result = Result(
        "spark_stream_live", "entries kept of one key", "CPU ms of a micro-batch", told="median"
    )
    turns = plan.pick(5, 12)
    sizes = plan.pick((10_000, 500_000), (10_000, 5_000_000))
    result.parameters = {"rows of a micro-batch": 1000, "turns": turns, "first batch s": {}}
    # The order of rows matters to `last`, so that each is an entry of its own.
    aggs = [agg.sum("x").alias("total"), agg.last("x")]
    windows = {size: sash.sliding(f"{size // 1000}s", "1s") for size in sizes}
    rows = {size: Rows(1000, 1) for size in sizes}
    asks = {str(size): ours(windows[size], by=None, aggs=aggs) for size in sizes}
    with streaming_session() as spark, queries(spark, {**asks, FLOOR: floor}) as running:
        for size in sizes:
            running[str(size)].feed(rows[size].next(size))
        running[FLOOR].feed(rows[sizes[0]].batches[0])
        spare = Rows(1000, 1)
        work = {
            str(size): lambda size=size: running[str(size)].feed(rows[size].next(1000))
            for size in sizes
        } | {FLOOR: lambda: running[FLOOR].feed(spare.next(1000))}
        in_turns(work, _WARM)
        runs = in_turns(work, turns)
        for size in sizes:
            expected = rows[size].expected(windows[size], by=None)
            assert running[str(size)].answer == expected, (size, running[str(size)].answer)
            first = running[str(size)].triggers[0] / 1e3
            result.parameters["first batch s"][str(size)] = first
    for size in sizes:
        result.add(SASH, size, [s * 1e3 for s in runs[str(size)]])
        result.add(FLOOR, size, [s * 1e3 for s in runs[FLOOR]])
    result.checks = ["the windows told are those of sash.WindowOperator, by number and sum"]
    result.notes = ["floor: a micro-batch of as many rows through Python without state"]
    return result


def _judge_live(result: Result) -> Verdict:
    line = result.line(SASH)
    few, many = line.points[0], line.points[-1]
    times = many.cost / few.cost
    seen = (
        f"A micro-batch of 1,000 rows takes {few.cost:.0f} ms of CPU with {few.x:,} entries kept "
        f"and {many.cost:.0f} with {many.x:,}; without state {result.line(FLOOR).at(few.x):.0f}."
    )
    return Verdict("yes" if times < 1.5 else "partly" if times < 3 else "no", seen)


def _soak(plan: Plan) -> Result:
    result = Result("spark_stream_soak", "rows", "MB", x_log=False, y_log=False)
    batches, count = plan.pick((10, 20_000), (40, 100_000))
    result.parameters = {"rows of a micro-batch": count, "keys": 1000, "hours of events": 2}
    rows = Rows(7200 * SECOND // (batches * count), 1000)
    ask = ours(_SOAK, watermark="1 minute", lateness="5 minutes")
    with streaming_session() as spark, queries(spark, {SASH: ask}) as running:
        for i in range(1, batches + 1):
            running[SASH].feed(rows.next(count))
            result.add(WORKERS, i * count, [memory_of_workers() / 1e6])
            result.add(STORE, i * count, [running[SASH].store])
        told = running[SASH].answer
    expected = rows.expected(_SOAK, delay=60 * SECOND)
    assert told == expected, (told, expected)
    result.parameters["windows told"] = told[0]
    result.checks = ["the windows told are those of sash.WindowOperator, by number and sum"]
    result.notes = ["sliding 10m every 10s, sessions of 30s and tumbling 1m; lateness 5 minutes"]
    return result


def _judge_soak(result: Result) -> Verdict:
    said, steady = [], True
    for line in (result.line(WORKERS), result.line(STORE)):
        costs = [p.cost for p in line.points]
        third = len(costs) // 3
        early, late = (statistics.median(part) for part in (costs[third:-third], costs[-third:]))
        steady &= late < 2 * early
        said.append(f"{line.name} {early:.0f} MB in the middle third and {late:.0f} in the last")
    seen = f"Of {result.line(WORKERS).points[-1].x:,} rows: {'; '.join(said)}."
    return Verdict("yes" if steady else "no", seen)


EXPERIMENTS = [
    Experiment(
        "spark_stream_live", "peers", "A micro-batch, by entries kept",
        "What a micro-batch costs does not grow with what is kept of a key.",
        _live, _judge_live,
    ),
    Experiment(
        "spark_stream_latency", "peers", "How long a micro-batch takes",
        "A micro-batch takes about as long as one of Spark's own windows.",
        _latency, _judge_latency,
    ),
    Experiment(
        "spark_stream_soak", "peers", "Memory over two hours of events",
        "Memory of workers and state stay the same however long a stream runs.",
        _soak, _judge_soak,
    ),
]  # fmt: skip
