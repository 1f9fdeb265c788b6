"""Job files on Spark: sources, sinks, late rows, stopping and going on."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from patience import PATIENCE, until

import sash
from sash import agg, jobs
from sash.jobs._build import _from_kafka, rows_of

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
HEAD = """
by = "k"
[source]
format = "csv"
path = "in"
stream = true
files_per_batch = 1
columns = { k = "string", ts = "timestamp", x = "double" }
[time]
column = "ts"
watermark = "10 minutes"
lateness = "30 minutes"
[[windows]]
kind = "sliding"
size = "1h"
slide = "10m"
[[windows]]
kind = "session"
gap = "7m"
[[aggregates]]
function = "count"
[[aggregates]]
function = "sum"
column = "x"
"""
SINKS = """
[[sinks]]
format = "parquet"
path = "out"
[late_rows]
format = "json"
path = "late"
"""


@pytest.fixture
def utc(spark: Any) -> Iterator[Any]:
    """The shared session, in the time zone that jobs have unless they say otherwise."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before)


def rows(number: int) -> list[tuple[str, str, float]]:
    """Rows of one file: some are late, some too late, one has no time."""
    found = []
    for i in range(40):
        n = number * 40 + i
        back = {3: 28, 7: 300}.get(i % 11, 0) if number else 0
        ts = (BEGIN + timedelta(minutes=2 * n - back)).strftime("%Y-%m-%d %H:%M:%S")
        found.append((f"k{n % 3}", "never" if n == 50 else ts, float(n)))
    return found


def write_csv(folder: Path, numbers: range) -> None:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        path = folder / f"{number:03}.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([("k", "ts", "x"), *rows(number)])
        os.utime(path, (1e9 + number, 1e9 + number))


def job_in(folder: Path, text: str, name: str = "job.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


def written(folder: Path) -> list[dict[str, Any]]:
    """Return all that a sink has, each row with the micro-batch that it came from."""
    if next(folder.glob("*/part-*")).suffix == ".json":
        lines = [line for p in folder.glob("*/part-*") for line in p.read_text().splitlines()]
        return sorted(map(json.loads, lines), key=repr)
    table = ds.dataset(folder, partitioning="hive").to_table()
    return sorted(table.to_pylist(), key=repr)


def listed(rows: list[dict[str, Any]], names: list[str]) -> list[tuple[str, ...]]:
    """Return rows to be compared in any order, times with or without the word UTC."""
    return sorted(tuple(str(r[n]).removesuffix("+00:00") for n in names) for r in rows)


def test_a_stream_equals_one_operator(utc: Any, tmp_path: Path) -> None:
    """Results, corrections and late rows, of files in several micro-batches."""
    write_csv(tmp_path / "in", range(4))
    job = jobs.load(job_in(tmp_path, HEAD + SINKS))
    seen: list[jobs.Progress] = []
    last = jobs.run(job, utc, watch=seen.append, until_caught_up=True)
    op = sash.WindowOperator(
        on="ts", by="k", windows=job.windows, aggs=job.aggregates, lateness="30m"
    )
    told, late, latest = [], [], None
    for number in range(4):
        if latest is not None:
            told += op.advance(latest - timedelta(minutes=10)).to_pylist()
        limit = None if latest is None else latest - timedelta(minutes=40)
        batch = [
            (k, datetime.fromisoformat(ts).replace(tzinfo=UTC), x)
            for k, ts, x in rows(number)
            if ts != "never"
        ]
        late += [b[2] for b in batch if limit is not None and b[1] < limit]
        k, ts, x = zip(*batch, strict=True)
        times = pa.array(ts, pa.timestamp("us", "UTC"))
        told += op.process(pa.table({"k": k, "ts": times, "x": x})).to_pylist()
        latest = max([*ts, *([] if latest is None else [latest])])
    assert latest is not None
    told += op.advance(latest - timedelta(minutes=10)).to_pylist()
    found = written(tmp_path / "out")
    names = ["k", "window", "window_start", "window_end", "count", "sum_x", "revision", "change"]
    assert listed(found, names) == listed(told, names)
    assert sorted(r["x"] for r in written(tmp_path / "late")) == sorted([*late, 50.0])
    assert last is not None
    assert last.rows_total == 160
    assert last.windows == len(told)
    assert last.corrections == sum(r["change"] == "correction" for r in told) > 0
    assert last.late_rows == len(late) + 1
    assert [p.batch for p in seen] == sorted(p.batch for p in seen)
    assert not last.running


@pytest.mark.full
def test_ctrl_c_stops_and_spark_submit_goes_on(utc: Any, tmp_path: Path) -> None:
    """Nothing is lost or repeated, and the job file is the same on a cluster."""
    for name in ("whole", "parted"):
        (tmp_path / name).mkdir()
        write_csv(tmp_path / name / "in", range(5 if name == "whole" else 3))
        job_in(tmp_path / name, HEAD + SINKS + '[spark]\n"spark.sql.shuffle.partitions" = 2\n')
    utc.conf.set("spark.sql.shuffle.partitions", 2)
    try:
        jobs.run(jobs.load(tmp_path / "whole/job.toml"), utc, until_caught_up=True)
    finally:
        utc.conf.set("spark.sql.shuffle.partitions", 3)
    place = tmp_path / "parted"
    command = [sys.executable, "-m", "sash", "run", "job.toml"]
    process = subprocess.Popen(
        command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    second = place / "out" / "batch=000001"
    until(lambda: second.exists() or process.poll() is not None, f"{second} is written")
    assert process.poll() is None, "the job ended before it was interrupted"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, said.decode()
    assert b"stopped after rows" in said
    assert b"Traceback" not in said
    assert b"WARN" not in said
    done = len(list((place / "out").iterdir()))
    write_csv(place / "in", range(3, 5))

    import pyspark

    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    script = subprocess.run(
        [sys.executable, "-m", "sash", "script"], capture_output=True, text=True, check=True
    )
    ended = subprocess.run(
        [submit, "--master", "local[2]", script.stdout.strip(), "run", "job.toml",
         "--until-caught-up"],
        cwd=place, capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert "caught up after" in ended.stdout  # spark-submit hands all output on there
    assert len(list((place / "out").iterdir())) > done
    ours, theirs = ([{k: v for k, v in r.items() if k != "batch"} for r in written(tmp_path / n / "out")] for n in ("parted", "whole"))  # fmt: skip  # noqa: E501
    last = [_standing(told) for told in (ours, theirs)]
    assert last[0] == last[1]
    assert len(last[0]) > 50
    late = [sorted(r["x"] for r in written(tmp_path / n / "late")) for n in ("parted", "whole")]
    assert set(late[1]) <= set(late[0])  # a watermark that moves between runs makes more late


def _standing(told: list[dict[str, Any]]) -> dict[tuple[Any, ...], Any]:
    found: dict[tuple[Any, ...], Any] = {}
    for row in sorted(told, key=lambda r: (r["revision"], r["change"] == "withdrawn")):
        [place] = listed([row], ["k", "window", "window_start", "window_end"])
        found[place] = row
    return {k: r["sum_x"] for k, r in found.items() if r["change"] != "withdrawn"}


def test_a_new_run_refuses_the_results_of_another(utc: Any, tmp_path: Path) -> None:
    write_csv(tmp_path / "in", range(1))
    job = jobs.load(job_in(tmp_path, HEAD + SINKS))
    jobs.run(job, utc, until_caught_up=True)
    jobs.run(job, utc, until_caught_up=True)  # goes on: there is nothing new
    fresh = jobs.load(job_in(tmp_path, HEAD + SINKS + '[run]\ncheckpoint = "other"\n', "b.toml"))
    with pytest.raises(jobs.SinkError, match="results of another run"):
        jobs.run(fresh, utc, until_caught_up=True)


JDBC = """
[[sinks]]
format = "jdbc"
url = "jdbc:derby:{place}/db;create=true"
table = "results"
driver = "org.apache.derby.iapi.jdbc.AutoloadedDriver"
[run]
until_caught_up = true
"""


def test_a_database_ends_with_each_micro_batch_once(utc: Any, tmp_path: Path) -> None:
    """Also where a micro-batch had been written, and Spark did not know."""
    utc._jvm.java.lang.System.setProperty("derby.stream.error.file", str(tmp_path / "derby.log"))
    write_csv(tmp_path / "in", range(2))
    job = jobs.load(job_in(tmp_path, HEAD + JDBC.format(place=tmp_path)))
    jobs.run(job, utc)

    def table() -> list[Any]:
        reader = utc.read.format("jdbc").option("url", f"jdbc:derby:{tmp_path}/db")
        return sorted(map(tuple, reader.option("dbtable", "results").load().collect()), key=repr)

    before = table()
    assert len(before) > 20
    # Forget that the last micro-batch was done: Spark will do it again.
    commits = sorted(
        (tmp_path / "job.checkpoint" / "commits").glob("[0-9]*"), key=lambda p: int(p.name)
    )
    commits[-1].unlink()
    commits[-1].with_name(f".{commits[-1].name}.crc").unlink(missing_ok=True)
    jobs.run(job, utc)
    assert table() == before
    assert {row[-1] for row in before} == {1, 2}  # nothing is complete in the first one

    other = jobs.load(
        job_in(tmp_path, HEAD + JDBC.format(place=tmp_path) + 'checkpoint = "c"\n', "b.toml")
    )
    with pytest.raises(jobs.SinkError, match="holds rows already"):
        jobs.run(other, utc)


def test_a_batch_of_json_with_times_as_text(utc: Any, tmp_path: Path) -> None:
    place = tmp_path / "events"
    place.mkdir()
    lines = [{"k": k, "at": f"01.03.2026 {h:02}:15", "x": h} for k in "ab" for h in range(24)]
    (place / "a.json").write_text("\n".join(map(json.dumps, lines)))
    text = """
    by = ["k"]
    [source]
    format = "json"
    path = "events"
    [time]
    column = "at"
    format = "dd.MM.yyyy HH:mm"
    zone = "America/New_York"
    [[windows]]
    kind = "tumbling"
    size = "6h"
    [[aggregates]]
    function = "sum"
    column = "x"
    name = "total"
    [[sinks]]
    format = "json"
    path = "out"
    [[sinks]]
    format = "csv"
    path = "out.csv"
    [[sinks]]
    format = "console"
    rows = 2
    """
    job = jobs.load(job_in(tmp_path, text))
    utc.conf.set("spark.sql.session.timeZone", "America/New_York")
    assert jobs.run(job, utc) is None
    lines = [n for p in (tmp_path / "out").glob("part-*") for n in p.read_text().splitlines()]
    found = [json.loads(line) for line in lines]
    totals = sorted(r["total"] for r in found if r["k"] == "a")
    # New York is five hours behind: windows begin at 1, 7, 13 and 19 o'clock there.
    assert totals == sorted(
        [0, sum(range(1, 7)), sum(range(7, 13)), sum(range(13, 19)), sum(range(19, 24))]
    )
    lines_of_csv = [p.read_text() for p in (tmp_path / "out.csv").glob("part-*")]
    assert any("total" in text for text in lines_of_csv)
    with pytest.raises(jobs.SinkError, match="overwrite = true"):
        jobs.run(job, utc)


@pytest.mark.parametrize("stream", [False, True])
def test_rolling_over_parquet(utc: Any, tmp_path: Path, stream: bool, capsys: Any) -> None:
    times = [BEGIN + timedelta(minutes=i) for i in range(30)]
    (tmp_path / "in").mkdir()
    table = pa.table({"ts": pa.array(times, pa.timestamp("us", "UTC")), "x": list(range(30))})
    pq.write_table(table, tmp_path / "in" / "a.parquet")
    more = 'watermark = "1 minute"\n' if stream else ""
    text = f"""
    [source]
    format = "parquet"
    path = "in"
    stream = {str(stream).lower()}
    [time]
    column = "ts"
    {more}
    [rolling]
    size = "5m"
    [[aggregates]]
    function = "max"
    column = "x"
    [[aggregates]]
    function = "count"
    [[sinks]]
    format = "parquet"
    path = "out"
    """ + ("[live]\n[run]\nuntil_caught_up = true\n" if stream else "")
    job = jobs.load(job_in(tmp_path, text))
    jobs.run(job, utc)
    found = ds.dataset(tmp_path / "out", format="parquet").to_table().to_pylist()
    wanted = sash.rolling(table, on="ts", window="5m", aggs=[agg.max("x"), agg.count()])
    got = sorted((r["x"], r["max_x"], r["count"]) for r in found)
    assert got == [(r["x"], r["max_x"], r["count"]) for r in wanted.to_pylist()][: len(got)]
    assert len(got) == (28 if stream else 30)  # rows before the watermark
    assert "max_x" in jobs.explain(job, utc)


def test_kafka_messages_become_rows(utc: Any, tmp_path: Path) -> None:
    """What the connector hands over: bytes that hold JSON, or should."""
    text = """
    [source]
    format = "kafka"
    servers = "localhost:9"
    topic = "clicks"
    columns = { user = "string", at = "bigint", n = "int" }
    [time]
    column = "at"
    unit = "ms"
    watermark = "1m"
    [[windows]]
    kind = "session"
    gap = "1m"
    [[aggregates]]
    function = "count"
    [[sinks]]
    format = "console"
    """
    job = jobs.load(job_in(tmp_path, text))
    messages = ['{"user": "ann", "at": 1772323200000, "n": 3}', "garbage", '{"n": "x"}']
    frame = utc.createDataFrame([(m.encode(),) for m in messages], "value binary")
    found = [tuple(r) for r in _from_kafka(frame, job.said.source).collect()]
    assert found == [("ann", 1772323200000, 3), (None, None, None), (None, None, None)]
    with pytest.raises(Exception, match="Failed to find data source: kafka"):
        rows_of(job, utc)


def test_sources_that_make_up_rows(utc: Any, tmp_path: Path) -> None:
    text = """
    [source]
    format = "rate"
    rows_per_second = 50
    [time]
    column = "timestamp"
    watermark = "0s"
    [[windows]]
    kind = "tumbling"
    size = "1s"
    [[aggregates]]
    function = "count"
    [[sinks]]
    format = "json"
    path = "out"
    [run]
    every = "1 second"
    """
    from threading import Event

    job, stop = jobs.load(job_in(tmp_path, text)), Event()

    def watch(progress: jobs.Progress) -> None:
        if progress.windows > 2:
            stop.set()

    last = jobs.run(job, utc, watch=watch, stop=stop)
    assert last is not None
    assert last.rows_total >= 100
    told = sorted(written(tmp_path / "out"), key=lambda r: r["window_start"])
    assert {r["count"] for r in told[1:]} == {50}  # it begins in the middle of a second
