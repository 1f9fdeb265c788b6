"""Spark sessions to measure in, and what a DataFrame costs there.

All experiments of Spark share one JVM, so that its code is warm; each starts and stops a session.
CPU is that of the whole tree of processes: this one, the JVM and its Python workers.
"""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from benchmarks.processes import cpu_of_tree, stay_on
from sash import spark as sps

SASH, FLOOR = "Sash", "floor"
TURNS = 2
"""How often each competitor runs: a turn takes seconds, so few of them fit."""
SETTINGS = {
    "spark.driver.memory": "6g",
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",  # the same on one core and on two
    "spark.sql.shuffle.partitions": "4",
}


@contextmanager
def session(cores: int = 2, **config: str) -> Iterator[Any]:
    """Give a session on so many cores; the JVM and its workers are held to them."""
    stay_on(cores)
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    with _nothing_said():
        spark = sps.local_session(cores, {**SETTINGS, **config})
        spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    finally:
        spark.stop()
        stay_on(os.cpu_count() or 1)


@contextmanager
def _nothing_said() -> Iterator[None]:
    """Start the JVM without an error output: it would fill ours with the starts of workers.

    What goes wrong in it is raised here as an exception.
    """
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def events(spark: Any, rows: int, keys: int, span: int | None = None) -> Any:
    """Rows in no order, one second apart for each of ``keys``, or over so many seconds."""
    length = (span or rows // keys) * 1_000_000
    made = spark.range(0, rows, 1, 4).selectExpr(
        f"id % {keys} as k", f"timestamp_micros(pmod(xxhash64(id), {length})) as ts", "rand(7) as x"
    )  # fmt: skip
    made.persist().count()
    return made


def compute(df: Any) -> None:
    """Compute all of a DataFrame, and keep nothing."""
    df.write.format("noop").mode("overwrite").save()


def cpu(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of the whole tree of processes."""
    before = cpu_of_tree()
    work()
    return cpu_of_tree() - before


def wall(work: Callable[[], Any]) -> float:
    """Return the seconds on the clock."""
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


def same(what: str, one: Any, other: Any) -> None:
    """Compare the sums of a DataFrame's column, or of several, with another's."""
    for a, b in zip(one, other, strict=True):
        assert math.isclose(a, b, rel_tol=1e-6), f"{what}: {a} beside {b}"


def micros(seconds: list[float], rows: int) -> list[float]:
    """Return microseconds a row."""
    return [s * 1e6 / rows for s in seconds]


def as_if_of_all(
    few: list[float], few_floor: list[float], rows: int, floor: list[float]
) -> list[float]:
    """Return what few rows cost each beyond their floor, on top of the floor of all rows.

    ``floor`` is in microseconds a row. A query of few rows is mostly its start, so that its own
    cost a row cannot stand beside that of many.
    """
    usual, base = median(few_floor), median(floor)
    return [max(cost - usual, 0.0) * 1e6 / rows + base for cost in few]
