"""Spark beside Sash on Spark: the same rows, the same windows, two cores, one session.

CPU is that of the whole tree of processes: the JVM and its Python workers. The floor is what the
shuffle and the sort cost that both need; what is reported is what comes on top of it. Answers are
compared by checksums over all rows.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sash
from benchmarks.measure import Row
from sash import agg
from sash import spark as sps

ROWS = 1_000_000
_TICK = os.sysconf("SC_CLK_TCK")


def session(cores: int, **config: str) -> Any:
    """Return a session on so many cores of this machine."""
    os.sched_setaffinity(0, set(range(cores)))
    settings = {
        "spark.driver.memory": "8g",
        "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",  # the same on one core and on two
        "spark.sql.shuffle.partitions": "4",
        **config,
    }
    spark = sps.local_session(cores, settings)
    spark.sparkContext.setLogLevel("OFF")
    return spark


def cpu_of_tree() -> float:
    """Return the CPU seconds of this process and all below it, those that ended included."""
    children: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            fields = Path(entry.path, "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has just ended
            continue
        children.setdefault(int(fields[1]), []).append(int(entry.name))
        used[int(entry.name)] = sum(map(int, fields[11:15])) / _TICK
    total, todo = 0.0, [os.getpid()]
    while todo:
        pid = todo.pop()
        total += used.get(pid, 0.0)
        todo += children.get(pid, [])
    return total


def cost(df: Any, repeat: int = 2) -> tuple[float, float]:
    """Return the least CPU and wall seconds of computing all of a DataFrame."""
    best = (math.inf, math.inf)
    for _ in range(repeat):
        cpu, wall = cpu_of_tree(), time.perf_counter()
        df.write.format("noop").mode("overwrite").save()
        best = min(best, (cpu_of_tree() - cpu, time.perf_counter() - wall))
    return best


def events(spark: Any, rows: int, keys: int) -> Any:
    """Rows of ``keys`` keys, each with one row a second, in no order."""
    span = rows * 1_000_000 // keys
    return spark.range(0, rows, 1, 4).selectExpr(
        f"id % {keys} as k", f"timestamp_micros(pmod(xxhash64(id), {span})) as ts",
        "rand(7) as x", "id % 1000 as v",
    )  # fmt: skip


SPARK = {"max": "max(x)", "sum": "sum(x)", "stddev": "stddev(x)"}
OURS = {"max": agg.max("x"), "sum": agg.sum("x"), "stddev": agg.stddev("x")}


def frames(df: Any, names: list[str], seconds: int) -> Any:
    """Spark's own: RANGE BETWEEN."""
    over = (
        "over (partition by k order by unix_micros(ts) "
        f"range between {seconds * 1_000_000 - 1} preceding and current row)"
    )
    return df.selectExpr("*", *(f"{SPARK[n]} {over} as `{n}`" for n in names))


def rolled(df: Any, names: list[str], seconds: int) -> Any:
    """Ours."""
    aggs = [OURS[n].alias(n) for n in names]
    return sps.rolling(df, on="ts", by="k", window=f"{seconds}s", aggs=aggs)


def _sorted(df: Any) -> Any:
    """What both need."""
    return df.repartition("k").sortWithinPartitions("k", "ts")


def _check(ours: Any, theirs: Any, names: list[str]) -> None:
    sums = [f"sum({n})" for n in names]
    for a, b in zip(*(d.selectExpr(*sums).first() for d in (ours, theirs)), strict=True):
        assert math.isclose(a, b, rel_tol=1e-6), (a, b)


def spark_rolling(quick: bool) -> list[Row]:
    """Microseconds of CPU a row beyond the shuffle and sort, by rows in a window and keys."""
    rows_all = ROWS // 5 if quick else ROWS
    spark = session(2)
    found: list[Row] = []
    tree = "spark.sql.window.segmentTree.enabled"
    for keys in (100, 1):
        df = events(spark, rows_all, keys).cache()
        # Spark's own frame recomputes: fewer rows, enough to fill the widest windows.
        few = rows_all // 20
        part = events(spark, few, max(1, keys // 50)).cache()
        floors = [cost(_sorted(d), 4)[0] for d in (df, part)]  # and everything is warm
        cost(rolled(df, ["max"], 100))
        for names in (["max"], ["sum", "max", "stddev"]):
            for size in (10, 100, 1000, 10_000):
                spark.conf.set(tree, "true")
                best: dict[str, float] = {}
                for _ in range(3):  # in turns: other load comes and goes
                    for name, call in {
                        "floor": _sorted(df),
                        "sash": rolled(df, names, size),
                        "tree": frames(df, names, size),
                    }.items():
                        best[name] = min(best.get(name, math.inf), cost(call, 1)[0])
                floors[0] = min(floors[0], best["floor"])
                _check(rolled(df, names, size), frames(df, names, size), names)
                spark.conf.set(tree, "false")
                plain, _ = cost(frames(part, names, size), 1)
                floor, ours, segments = (
                    best[n] * 1e6 / rows_all for n in ("floor", "sash", "tree")
                )
                default = (plain - floors[1]) * 1e6 / few
                found.append({
                    "keys": keys, "aggregates": "+".join(names), "rows in a window": size,
                    "floor us": floor, "sash us": ours - floor, "segment tree us": segments - floor,
                    "default us": default,
                })  # fmt: skip
                print(found[-1], flush=True)
        floor = floors[0] * 1e6 / rows_all
        for one in (
            agg.argmax("x", "v"),
            agg.m4("x", "ts"),
            agg.count_distinct("v"),
            agg.median("x"),
            agg.hll("v"),
            sash.monoid(lambda a, b: a + b, name="python_sum", column="x", returns=float),
        ):
            call = sps.rolling(df, on="ts", by="k", window="10000s", aggs=one)
            found.append({
                "keys": keys, "aggregates": one.name, "rows in a window": 10_000,
                "floor us": floor, "sash us": cost(call, 3)[0] * 1e6 / rows_all - floor,
            })  # fmt: skip
            print(found[-1], flush=True)
        df.unpersist()
    spark.stop()
    return found


def spark_one_key(quick: bool) -> list[Row]:
    """One key, windows of 1,000 rows: wall seconds on one core, and on two."""
    rows = 2_000_000 if quick else 10_000_000
    found: list[Row] = []
    for cores, split in ((1, "auto"), (2, "auto"), (1, "no"), (2, "no")):
        command = [sys.executable, "-m", "benchmarks.spark_batch", str(cores), split, str(rows)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        cpu, wall, total = json.loads(done.stdout.splitlines()[-1])
        found.append({"cores": cores, "split": split, "rows": rows, "wall s": wall, "cpu s": cpu,
                      "checksum": total})  # fmt: skip
        print(found[-1], flush=True)
    assert all(math.isclose(f["checksum"], found[0]["checksum"]) for f in found)
    return found


def _one_key(cores: int, split: Any, rows: int) -> None:
    spark = session(cores)
    df = events(spark, rows, 1).select("ts", "x").cache()
    call = sps.rolling(df, on="ts", window="1000s", aggs=agg.max("x"), split=split)
    total = call.selectExpr("sum(max_x)").first()[0]  # warm
    cpu, wall = cost(call, 3)
    print(json.dumps([cpu, wall, total]))


def _shuffled(spark: Any, work: Callable[[], Any]) -> tuple[int, Any]:
    """Return the bytes that were shuffled, and what the work gave."""

    def written() -> int:
        executors = spark.sparkContext._jsc.sc().statusStore().executorList(False)
        return sum(executors.apply(i).totalShuffleWrite() for i in range(executors.size()))

    before = written()
    result = work()
    time.sleep(1)  # listeners are behind
    return written() - before, result


def spark_windows(quick: bool) -> list[Row]:
    """Sliding windows that advance by a second: CPU microseconds and shuffled bytes for a row.

    Spark's windows of an hour are left out: it had not done with 1,000 rows after four minutes.
    """
    rows = 1_000_000 if quick else 10_000_000
    spark = session(2)
    found: list[Row] = []
    # Spark copies a row for each of its windows: fewer rows, the wider they are.
    for size, few in ((1, rows), (60, 50_000), (600, 10_000), (3600, 0)):
        df = _two_hours(spark, rows)
        base = cost(df)[0] * 1e6 / rows
        our_bytes, (our_cpu, wall) = _shuffled(spark, lambda: cost(_sliding(df, size)))
        row: Row = {
            "size / slide": size, "rows": rows, "sash us": our_cpu * 1e6 / rows - base,
            "sash s": wall, "sash bytes": our_bytes / 2 / rows,
        }  # fmt: skip
        if few:
            part = df if few == rows else _two_hours(spark, few)
            bytes_, (cpu, _) = _shuffled(spark, lambda: cost(_grouped(part, size)))
            row |= {"spark us": cpu * 1e6 / few - base, "spark bytes": bytes_ / 2 / few}
            row["times"] = row["spark us"] / row["sash us"]
            totals = [d.selectExpr("sum(s)").first()[0]
                      for d in (_sliding(part, size), _grouped(part, size))]  # fmt: skip
            assert math.isclose(*totals, rel_tol=1e-6), totals
        found.append(row)
        print(row, flush=True)
    spark.stop()
    return found


def _two_hours(spark: Any, rows: int) -> Any:
    when = f"timestamp_micros(pmod(xxhash64(ts), {7_200_000_000})) as ts"
    return events(spark, rows, 1).selectExpr("k", when, "x").cache()


def _sliding(df: Any, size: int) -> Any:
    window = sash.sliding(f"{size}s", "1s")
    return sps.windows(df, on="ts", by="k", windows=window, aggs=agg.sum("x").alias("s"))


def _grouped(df: Any, size: int) -> Any:
    """Spark's own."""
    call = f"window(ts, '{size} seconds', '1 second') as w"
    return df.selectExpr("k", "x", call).groupBy("k", "w").agg({"x": "sum"}).toDF("k", "w", "s")


if __name__ == "__main__":
    _cores, _split, _rows = sys.argv[1:]
    _one_key(int(_cores), False if _split == "no" else _split, int(_rows))
