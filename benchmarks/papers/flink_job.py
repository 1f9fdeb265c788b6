"""Queries on Apache Flink, for `benchmarks.papers.flink`: runs under the Python that has PyFlink.

Each line of the input is a JSON object that asks for a query, each line of the output answers with
its CPU and wall seconds and its sums. One JVM with one cluster in it serves them all, so that their
start does not count. All of a query runs in the JVM: Flink's SQL, or its windows of DataStream with
Flink's own sum; no Python function is called. Nothing of Sash is imported.

Row ``i`` has the value ``i * 2654435761 mod 1009`` and the time ``i * step`` milliseconds; odd rows
are ``2 * late * step`` earlier, so that each is preceded by the ``late`` rows that it comes after.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.processes import cpu_of_tree

_BEGIN = 1_600_000_000_000
_ALL = "interval '1000' day(4)"
_SETTINGS = {
    "rest.port": "0",
    "rest.address": "localhost",
    "rest.bind-address": "localhost",
    "jobmanager.bind-host": "localhost",
    "taskmanager.bind-host": "localhost",
    "taskmanager.memory.managed.size": "64m",
    "taskmanager.memory.network.min": "64m",
    "taskmanager.memory.network.max": "64m",
}


class Flink:
    """A cluster in one JVM, with one slot."""

    def __init__(self) -> None:
        os.environ.setdefault("JVM_ARGS", "-Xms2g -Xmx2g -XX:+UseParallelGC")
        from pyflink.datastream import StreamExecutionEnvironment
        from pyflink.java_gateway import get_gateway
        from pyflink.table import StreamTableEnvironment

        self._java = get_gateway().jvm
        flink = self._java.org.apache.flink
        given = flink.configuration.Configuration()
        for name, value in _SETTINGS.items():
            given.setString(name, value)
        builder = flink.runtime.minicluster.MiniClusterConfiguration.Builder()
        built = builder.setConfiguration(given).setNumTaskManagers(1).setNumSlotsPerTaskManager(1)
        self.cluster = flink.runtime.minicluster.MiniCluster(built.build())
        self.cluster.start()
        port = self.cluster.getRestAddress().get().getPort()
        asking = flink.configuration.Configuration()
        for name, value in {
            "parallelism.default": "1", "execution.target": "remote",
            "rest.address": "localhost", "rest.port": str(port),
        }.items():  # fmt: skip
            asking.setString(name, value)
        # PyFlink's own way to an environment would start another cluster for every query.
        java = flink.streaming.api.environment.StreamExecutionEnvironment(asking)
        self._tables = StreamTableEnvironment.create(StreamExecutionEnvironment(java))

    def table(self, rows: int, step: int, late: int) -> str:
        """Make rows, in the JVM, and return their name."""
        name = f"rows_{rows}_{step}_{late}"
        behind = 2 * late * step
        self._tables.execute_sql(f"""
            create temporary table if not exists {name} (
              i bigint,
              x as mod(i * 2654435761, cast(1009 as bigint)),
              ts as to_timestamp_ltz({_BEGIN} + i * {step} - mod(i, 2) * {behind}, 3),
              watermark for ts as ts - {_interval(behind + 1)}
            ) with (
              'connector' = 'datagen', 'rows-per-second' = '1000000000',
              'fields.i.kind' = 'sequence', 'fields.i.start' = '0', 'fields.i.end' = '{rows - 1}'
            )""")
        return name

    def sql(self, windows: str) -> dict[str, int]:
        """Return the sums of all rows of a query with ts, s and a weight."""
        self._tables.execute_sql("drop temporary view if exists asked")
        self._tables.execute_sql(f"create temporary view asked as {windows}")
        query = (
            f"select sum(s), sum(s * weight), count(*) from "
            f"tumble(table asked, descriptor(ts), {_ALL}) group by window_start, window_end"
        )
        with self._tables.execute_sql(query).collect() as found:
            (row,) = list(found)
        return {"sum": row[0], "weighted": row[1], "count": row[2]}

    def windows(self, table: str, size: int | None, slide: int) -> dict[str, int]:
        """Return the sum of all windows of DataStream; of all rows without a size."""
        from pyflink.common import Types

        rows = self._tables.sql_query(f"select x, ts from {table}")
        pair = Types.TUPLE([Types.LONG(), Types.INSTANT()])
        stream = self._tables.to_append_stream(rows, pair)._j_data_stream
        assigners = self._java.org.apache.flink.streaming.api.windowing.assigners
        duration = self._java.java.time.Duration
        if size is not None:
            lengths = duration.ofMillis(size), duration.ofMillis(slide)
            stream = stream.windowAll(assigners.SlidingEventTimeWindows.of(*lengths)).sum(0)
        whole = assigners.TumblingEventTimeWindows.of(duration.ofDays(1000))
        found = stream.windowAll(whole).sum(0).executeAndCollect()
        total = found.next().getField(0)
        found.close()
        return {"sum": total}


def _interval(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}"
    return f"interval '0 {clock}' day to second(3)"


def _over(flink: Flink, table: str, frame: str) -> dict[str, int]:
    return flink.sql(
        f"select ts, mod(i, 1009) as weight, sum(x) over (order by ts {frame}) as s from {table}"
    )


def _hop(flink: Flink, table: str, size: int, slide: int) -> dict[str, int]:
    return flink.sql(
        "select window_time as ts, cast(1 as bigint) as weight, sum(x) as s from "
        f"hop(table {table}, descriptor(ts), {_interval(slide)}, {_interval(size)}) "
        "group by window_start, window_end, window_time"
    )


_QUERIES: dict[str, Callable[[Flink, str, int, int], dict[str, int]]] = {
    "floor": lambda f, t, size, slide: f.sql(f"select ts, mod(i, 1009) as weight, x as s from {t}"),
    "rows": lambda f, t, size, slide: _over(
        f, t, f"rows between {size - 1} preceding and current row"
    ),
    "range": lambda f, t, size, slide: _over(
        f, t, f"range between {_interval(size - 1)} preceding and current row"
    ),
    "hop": _hop,
    "windows": lambda f, t, size, slide: f.windows(t, size, slide),
    "windows_floor": lambda f, t, size, slide: f.windows(t, None, slide),
}


def answer(flink: Flink, asked: dict[str, Any]) -> dict[str, Any]:
    """Run a query: what it costs, and its sums."""
    table = flink.table(asked["rows"], asked["step"], asked["late"])
    cpu, wall = cpu_of_tree(), time.perf_counter()
    sums = _QUERIES[asked["query"]](flink, table, asked["size"], asked["slide"])
    return {"cpu": cpu_of_tree() - cpu, "wall": time.perf_counter() - wall, **sums}


def main() -> None:
    """Answer until there is no more input."""
    flink = Flink()
    try:
        for line in sys.stdin:
            print(json.dumps(answer(flink, json.loads(line))), flush=True)
    finally:
        flink.cluster.close()


if __name__ == "__main__":
    main()
