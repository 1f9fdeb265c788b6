"""The jobs in examples/jobs: job file and Python give the same rows, and the right ones."""

from __future__ import annotations

import csv
import json
import shutil
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from runpy import run_path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow.parquet as pq
import pytest
from patience import finished
from streams import Sink
from streams import run as run_stream

from sash import jobs

EXAMPLES = Path(__file__).parents[2] / "examples" / "jobs"
Row = dict[str, Any]
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@dataclass
class Ran:
    """What an example has told, and what it left out."""

    told: list[Row]
    late: list[Row]
    data: Path

    def files(self, read: Callable[[Path], list[Row]]) -> list[list[Row]]:
        return [read(path) for path in sorted(self.data.iterdir())]


@pytest.fixture
def ran(spark: Any, tmp_path: Path) -> Iterator[Callable[[str, int], Ran]]:
    """Run an example both ways, and compare all rows."""
    keys = ("spark.sql.session.timeZone", "spark.sql.shuffle.partitions")
    before = {key: spark.conf.get(key) for key in keys}

    def run(name: str, rows: int) -> Ran:
        folder = tmp_path / name
        folder.mkdir()
        for file in ("generate.py", "job.toml", "pipeline.py"):
            shutil.copy(EXAMPLES / name / file, folder)
        made = finished([sys.executable, "generate.py", str(rows)], cwd=folder)
        assert made.returncode == 0, made.stderr
        job = jobs.load(folder / "job.toml")
        for key, value in zip(keys, (job.said.time.zone, 2), strict=True):
            spark.conf.set(key, value)
        jobs.run(job, spark, until_caught_up=True)
        results = run_path(str(folder / "pipeline.py"))["results"](spark, folder / "data")
        rows_told = collected(results, folder)
        told = [without(row, {"late_row"}) for row in rows_told if row.get("change") != "late"]
        found = written(spark, job, job.said.sinks[0], results.drop("late_row").schema)
        assert told
        assert texts(found) == texts(told)
        late = [row for row in rows_told if row.get("change") == "late"]
        return Ran(told, compared_late(spark, job, results, late), folder / "data")

    yield run
    for key, value in before.items():
        spark.conf.set(key, value)


def compared_late(spark: Any, job: jobs.Job, results: Any, late: list[Row]) -> list[Row]:
    """Return the rows that were too late, as they were read; the job has written the same."""
    if job.said.late_rows is None:
        assert not late
        return []
    added = {"revision", "change", *(one.output for one in job.aggregates)}
    is_rolling = job.said.rolling is not None
    read = results.drop(*added) if is_rolling else results.select("late_row.*")
    rows = [without(row, added) if is_rolling else row["late_row"] for row in late]
    assert rows
    assert texts(written(spark, job, job.said.late_rows, read.schema)) == texts(rows)
    return rows


def without(row: Row, columns: set[str]) -> Row:
    return {column: value for column, value in row.items() if column not in columns}


def collected(results: Any, folder: Path) -> list[Row]:
    """Return the rows of a DataFrame, or all that a stream tells."""
    if not results.isStreaming:
        return list(results.toArrow().to_pylist())
    sink = Sink()
    run_stream(results, folder / "python.checkpoint", sink)
    return sink.rows()


def written(spark: Any, job: jobs.Job, sink: Any, schema: Any) -> list[Row]:
    """Return what there is in the folder of a sink, all micro-batches together."""
    reader = spark.read.format(sink.format).schema(schema).option("header", True)
    reader = reader.option("recursiveFileLookup", True)
    return list(reader.load(job.place(sink.path)).toArrow().to_pylist())


def texts(rows: list[Row]) -> list[str]:
    return sorted(map(str, rows))


# ---- the rules, in plain Python ----------------------------------------------------------------


def taken(
    batches: list[list[Row]], watermark: timedelta, lateness: timedelta
) -> tuple[list[Row], list[Row], datetime]:
    """Return the rows that are not too late, those that are, and the last watermark."""
    rows: list[Row] = []
    late: list[Row] = []
    reached = datetime(1970, 1, 1, tzinfo=UTC)
    for batch in batches:
        for row in batch:
            in_time = row["at"] is not None and row["at"] >= reached - lateness
            (rows if in_time else late).append(row)
        reached = max(reached, *(row["at"] - watermark for row in batch if row["at"] is not None))
    return rows, late, reached


def latest(told: list[Row], *window: str) -> list[Row]:
    """Return the last revision of each window."""
    found: dict[tuple[Any, ...], Row] = {}
    for row in sorted(told, key=lambda row: row["revision"]):
        found[tuple(row[column] for column in window)] = row
    return list(found.values())


def within(rows: Iterable[Row], key: str, row: Row) -> list[Row]:
    """Return the rows in the window that a result is about."""
    begin, end = row["window_start"], row["window_end"]
    return [one for one in rows if one[key] == row[key] and begin <= one["at"] < end]


def values(rows: Iterable[Row], column: str) -> list[Any]:
    return [row[column] for row in rows if row[column] is not None]


# ---- the examples ------------------------------------------------------------------------------


def test_fraud_velocity(ran: Callable[[str, int], Ran]) -> None:
    one = ran("fraud_velocity", 800)

    def read(path: Path) -> list[Row]:
        return [payment(line) for line in path.read_text().splitlines()]

    def payment(line: str) -> Row:
        if not line.endswith("}"):
            return dict.fromkeys(("id", "card", "at", "amount"))
        row: Row = json.loads(line)
        return row | {"at": datetime.fromisoformat(row["at"])}

    rows, late, reached = taken(one.files(read), 2 * MINUTE, HOUR)
    assert sorted(map(str, values(late, "id"))) == sorted(map(str, values(one.late, "id")))
    assert len(late) == len(one.late)
    told = latest(one.told, "id")
    assert {row["id"] for row in told} == {row["id"] for row in rows if row["at"] < reached}
    for row in told:
        hour = [
            r for r in rows if r["card"] == row["card"] and row["at"] - HOUR < r["at"] <= row["at"]
        ]
        amounts = values(hour, "amount")
        assert row["payments"] == len(hour)
        assert float(row["spent"] or 0) == pytest.approx(sum(amounts), abs=1e-9)
        assert float(row["largest"] or 0) == max(amounts, default=0)
    assert max(told, key=lambda row: row["payments"])["card"] == "card-13"
    assert any(row["change"] == "correction" for row in one.told)


@pytest.mark.full
def test_sensor_health(ran: Callable[[str, int], Ran]) -> None:
    one = ran("sensor_health", 960)

    def read(path: Path) -> list[Row]:
        with path.open() as file:
            return [
                row | {"at": None if row["at"] == "??" else datetime.fromisoformat(row["at"])}
                for row in csv.DictReader(file)
            ]

    files = one.files(read)
    batches = [a + b for a, b in zip(files[::2], files[1::2], strict=True)]
    rows, late, _ = taken(batches, MINUTE, 10 * MINUTE)
    assert len(late) == len(one.late)
    told = latest(one.told, "sensor", "window_start")
    assert {row["sensor"] for row in told} == {row["sensor"] for row in rows}
    for row in told:
        window = within(rows, "sensor", row)
        degrees = [float(r["celsius"]) for r in window if r["celsius"]]
        assert (row["rows"], row["values"]) == (len(window), len(degrees))
        assert row["readings"] == len({r["seq"] for r in window})
        assert row["mean_celsius"] == pytest.approx(statistics.fmean(degrees) if degrees else None)
    changes = {row["change"] for row in one.told}
    assert changes == {"update", "complete", "correction"}


@pytest.mark.full
def test_web_sessions(ran: Callable[[str, int], Ran]) -> None:
    one = ran("web_sessions", 800)
    berlin = ZoneInfo("Europe/Berlin")

    def read(path: Path) -> list[Row]:
        with path.open() as file:
            return [row | {"at": moment(row["at"])} for row in csv.DictReader(file)]

    def moment(text: str) -> datetime:
        clock = datetime.strptime(text, "%d/%b/%Y:%H:%M:%S").replace(tzinfo=berlin)
        return clock.astimezone(UTC)

    rows, late, reached = taken(one.files(read), 5 * MINUTE, 90 * MINUTE)
    assert late
    visits: list[list[Row]] = []
    for row in sorted(rows, key=lambda row: (row["visitor"], row["at"])):
        before = visits[-1][-1] if visits else None
        if before and before["visitor"] == row["visitor"] and row["at"] - before["at"] < HOUR / 2:
            visits[-1].append(row)
        else:
            visits.append([row])
    wanted = [
        (v[0]["visitor"], v[0]["at"], len(v), sum(int(r["bytes"]) for r in v if r["bytes"] != "-"))
        for v in visits
        if v[-1]["at"] + HOUR / 2 <= reached
    ]
    told = latest(one.told, "visitor", "window_start", "window_end")
    found = [
        (row["visitor"], row["window_start"].astimezone(UTC), row["clicks"], row["bytes"] or 0)
        for row in told
        if row["change"] != "withdrawn"
    ]
    assert sorted(found) == sorted(wanted)
    assert any(row["change"] == "withdrawn" for row in one.told)


@pytest.mark.full
def test_trading_bars(ran: Callable[[str, int], Ran]) -> None:
    one = ran("trading_bars", 1500)
    trades = [
        row for rows in one.files(lambda path: pq.read_table(path).to_pylist()) for row in rows
    ]
    minutes = [row for row in one.told if row["window"] == "minute"]
    assert sum(row["trades"] for row in minutes) == len(trades) == 1500
    for bar in minutes:
        window = sorted(within(trades, "symbol", bar), key=lambda row: row["at"])
        prices, sized = values(window, "price"), [row for row in window if row["size"]]
        assert (bar["open"], bar["close"]) == (prices[0], prices[-1])
        assert (bar["high"], bar["low"]) == (max(prices), min(prices))
        volume = sum(row["size"] for row in sized)
        assert bar["volume"] == volume
        assert bar["vwap"] == pytest.approx(sum(r["price"] * r["size"] for r in sized) / volume)
    of_acme = sorted((row["at"], row["price"]) for row in trades if row["symbol"] == "ACME")
    whole = len(of_acme) // 100
    bars = [r for r in one.told if r["window"] == "trades_100" and r["symbol"] == "ACME"]
    bars.sort(key=lambda bar: bar["window_start"])
    assert [bar["open"] for bar in bars[:whole]] == [of_acme[100 * i][1] for i in range(whole)]
    assert [bar["trades"] for bar in bars[:whole]] == [100] * whole


@pytest.mark.full
def test_network_counters(ran: Callable[[str, int], Ran]) -> None:
    one = ran("network_counters", 2880)

    def read(path: Path) -> list[Row]:
        begin = datetime(1970, 1, 1, tzinfo=UTC)
        return [
            row | {"at": begin + timedelta(milliseconds=row["at"])}
            for row in pq.read_table(path).to_pylist()
        ]

    rows, late, reached = taken(one.files(read), 2 * MINUTE, HOUR)
    assert len(late) == len(one.late)
    table: dict[tuple[Any, ...], Row] = {}
    for row in one.told:
        window = (row["cell"], row["window"], row["window_start"])
        if row["change"] == "insert":
            assert window not in table
            table[window] = row
        else:
            gone = table.pop(window)
            assert (gone["drops"], gone["mbps"]) == (row["drops"], row["mbps"])
    assert any(row["change"] == "retract" for row in one.told)
    assert sum(row["drops"] for row in table.values() if row["window"] == "quarter") == sum(
        row["drops"]
        for row in rows
        if (row["at"].timestamp() // 900 + 1) * 900 <= reached.timestamp()
    )
    for row in table.values():
        window_rows = within(rows, "cell", row)
        assert row["attempts"] == sum(values(window_rows, "attempts"))
        assert row["worst_minute"] == max(values(window_rows, "drops"))
        rates = values(window_rows, "mbps")
        if len(rates) % 2:
            assert row["mbps"][1] == statistics.median(rates)
