"""One core and two: threads of `sash.rolling`, operators in threads and in processes.

Times are on the clock, since that is what more cores are for. A line of plain arithmetic shows what
the second core of this machine gives at best.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.synchronize import Barrier
from typing import Any

import numpy as np
import pyarrow as pa

import sash
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.measure import in_turns, least_of
from benchmarks.results import Result
from benchmarks.scaling.sizes_work import (
    STEP,
    Rows,
    check_sums,
    check_tumbling,
    make_rows,
    operate,
)
from sash import agg

KEYS = 1000
WINDOW = 1000
SIZE = 100 * KEYS * STEP
"""Time in which a key has 100 rows."""
WINDOWS = [sash.tumbling(i * SIZE, name=f"of {i}") for i in range(1, 6)]
THREADS, IN_THREADS, IN_PROCESSES = (
    "sash.rolling, threads", "sash.WindowOperator, threads", "sash.WindowOperator, processes",
)  # fmt: skip
BEST = "plain arithmetic, processes"
AGGS = [agg.sum("v"), agg.max("v"), agg.stddev("v")]


def _use(cores: int) -> None:
    """Use the last cores that there are."""
    every = sorted(range(os.cpu_count() or 1))
    os.sched_setaffinity(0, set(every[-cores:]))


def _clock(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _part(rows: Rows, share: int, shares: int) -> pa.Table:
    """Return the rows whose keys are in one of so many ranges."""
    inside = rows.keys * shares // KEYS == share
    return Rows(rows.times[inside], rows.values[inside], rows.keys[inside]).table(keyed=True)


# ---- processes ---------------------------------------------------------------------------------


def _arithmetic(rows: int) -> None:
    total = 0
    for i in range(rows):
        total ^= i


def _process(
    what: str, rows: int, share: int, shares: int, repeat: int, start: Barrier, pipe: Any
) -> None:
    """Work on a share of the rows, each time after all others are ready; send when and what."""
    work: Callable[[], Any] = partial(_arithmetic, rows // shares)
    if what == IN_PROCESSES:
        part = _part(make_rows(rows, KEYS), share, shares)
        work = partial(operate, part, WINDOWS, by="k")
    told = work()
    spans = []
    for _ in range(repeat):
        start.wait(120)
        began = time.perf_counter()  # of one clock for all processes
        work()
        spans.append((began, time.perf_counter()))
    pipe.send((spans, None if told is None else _named(told)))


def _named(told: pa.Table) -> pa.Table:
    return told.filter(pa.compute.equal(told["window"], "of 1"))


def _processes(what: str, rows: int, shares: int, repeat: int) -> tuple[list[float], list[Any]]:
    """Return the seconds of each turn, of all processes together, and what they told."""
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(shares)
    ends = [context.Pipe(duplex=False) for _ in range(shares)]
    running = [
        context.Process(target=_process, args=(what, rows, i, shares, repeat, start, pipe))
        for i, (_, pipe) in enumerate(ends)
    ]
    for process in running:
        process.start()
    for _, pipe in ends:
        pipe.close()
    found = [receive.recv() for receive, _ in ends]
    for process in running:
        process.join()
    turns = zip(*(spans for spans, _ in found), strict=True)
    seconds = [max(e for _, e in turn) - min(b for b, _ in turn) for turn in turns]
    return seconds, [told for _, told in found]


# ---- the experiment ----------------------------------------------------------------------------


def run(plan: Plan) -> Result:
    """The same rows on one core, then on two."""
    n, count = plan.pick(1_000_000, 4_000_000), plan.pick(2_000_000, 4_000_000)
    result = Result("scaling_cores", "cores", "ns per row, on the clock", x_log=False, y_log=False)
    result.parameters = {"rows": n, "keys": KEYS, "window": WINDOW, "loops": count}
    rows = make_rows(n, KEYS)
    plain = Rows(rows.times, rows.values, np.zeros_like(rows.keys))
    table = plain.table()
    cores = [c for c in (1, 2) if c <= (os.cpu_count() or 1)]

    def rolled(threads: int) -> pa.Table:
        return sash.rolling(table, on="t", window=WINDOW * STEP, aggs=AGGS, threads=threads)

    for threads in cores:
        check_sums(rolled(threads), plain, WINDOW)
    parts = {c: [_part(rows, i, c) for i in range(c)] for c in cores}
    for c in cores:
        check_tumbling(_named(pa.concat_tables(_in_threads(parts[c]))), rows, SIZE)
    work: dict[str, Callable[[], float]] = {}
    for c in cores:
        work[f"{THREADS}|{c}"] = partial(_timed, c, partial(rolled, c))
        work[f"{IN_THREADS}|{c}"] = partial(_timed, c, partial(_in_threads, parts[c]))
    runs = in_turns(work, plan.repeat, plan.tries)
    for place, seconds in runs.items():
        name, _, used = place.partition("|")
        result.add(name, int(used), [s * 1e9 / n for s in seconds])
    for name, units in ((IN_PROCESSES, n), (BEST, count)):
        for c in cores:
            _use(c)
            seconds, told = _processes(name, units, c, plan.repeat * plan.tries)
            result.add(name, c, [s * 1e9 / units for s in least_of(seconds, plan.tries)])
            if name == IN_PROCESSES:
                check_tumbling(pa.concat_tables(told), rows, SIZE)
    result.checks = [
        "rolling sums are differences of prefix sums, with one thread and with two",
        "sums of tumbling windows are NumPy's bincount, key by key, all shares together",
    ]
    result.notes = [
        "an operator for each range of keys; its thread or process has the rows of these keys",
        "Spark on one core and on two is an experiment of its own, spark_one_key",
    ]
    if len(cores) == 1:
        result.notes.append("this machine has one core")
    return result


def _timed(cores: int, work: Callable[[], Any]) -> float:
    _use(cores)
    return _clock(work)


def _in_threads(parts: list[pa.Table]) -> list[pa.Table]:
    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(partial(operate, windows=WINDOWS, by="k"), parts))


def judge(result: Result) -> Verdict:
    """Compare what a second core gives with what it gives at best."""
    if not result.lines[0].has(2):
        return Verdict("no", "There is one core here, so that two could not be tried.")
    # Other load only adds to times on the clock: the least of the runs met least of it.
    gains = {line.name: line.points[0].low / line.points[1].low for line in result.lines}
    said = ", ".join(f"{name} {gain:.2f}" for name, gain in gains.items())
    fair = [gains[name] > 0.7 * gains[BEST] for name in (THREADS, IN_THREADS, IN_PROCESSES)]
    seen = f"A second core makes it so many times as fast: {said}."
    if not 1.4 < gains[BEST] < 2.2:
        return Verdict("partly", seen + " Other load took part of the cores: this says little.")
    return Verdict("yes" if all(fair) else "partly" if any(fair) else "no", seen)


EXPERIMENTS = [
    Experiment(
        "scaling_cores",
        "scaling",
        "One core and two",
        "A second core is nearly fully used: by threads of one call, by operators in threads and "
        "by operators in processes.",
        run,
        judge,
    )
]
