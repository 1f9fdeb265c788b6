"""Columns that files of a stream lack, found without Spark."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sash import jobs
from sash.jobs._missing import NewFiles, missing_in
from sash.jobs._model import CsvSource, Files, JsonSource, ParquetSource

COLUMNS = ["k", "ts", "x"]


def csv_source(**more: Any) -> CsvSource:
    return CsvSource(format="csv", path="in", stream=True, **more)


def json_source(**more: Any) -> JsonSource:
    return JsonSource(format="json", path="in", stream=True, **more)


def missing(folder: Path, name: str, content: str | bytes, source: Files) -> list[str]:
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return missing_in(path, folder, source, COLUMNS)


CSV = {
    "k,ts,x\na,b,c\n": [],
    "K,TS,X\na,b,c\n": [],
    '"k","ts","x"\na,b,c\n': [],
    "\ufeffk,ts,x\na,b,c\n": [],
    "ts,k\na,b\n": ["x"],
    "k,ts,y\na,b,c\n": ["x"],
    "k\na\n": ["ts", "x"],
    "": [],
}


@pytest.mark.parametrize("text", CSV)
def test_csv(text: str, tmp_path: Path) -> None:
    assert missing(tmp_path, "a.csv", text, csv_source()) == CSV[text]
    semicolons = csv_source(options={"sep": ";"})
    assert missing(tmp_path, "a.csv", text.replace(",", ";"), semicolons) == CSV[text]
    assert missing(tmp_path, "a.csv.gz", gzip.compress(text.encode()), csv_source()) == CSV[text]
    assert missing(tmp_path, "a.csv.bz2", bz2.compress(text.encode()), csv_source()) == CSV[text]


def test_csv_without_a_header(tmp_path: Path) -> None:
    source = csv_source(header=False)
    assert missing(tmp_path, "a.csv", "a,b,c\n", source) == []
    assert missing(tmp_path, "a.csv", "a,b\n", source) == ["x"]
    assert missing(tmp_path, "a.csv", "", source) == []


JSON = {
    '{"k": 1, "ts": 2, "x": 3}\n': [],
    '{"k": 1, "ts": 2, "x": null}\n': [],
    '{"k": 1}\n\n{"ts": 2}\n{"x": 3}\n': [],
    '{"k": 1, "ts": 2}\n{"k": 1, "ts": 2}\n': ["x"],
    '{"k": 1, "ts": 2, "X": 3}\n': ["x"],
    'broken\n{"k": 1, "ts": 2}\n': ["x"],
    "broken\n": [],
    "[" * 100_000 + "\n": [],
    "": [],
}


@pytest.mark.parametrize("text", JSON, ids=range(len(JSON)))
def test_json(text: str, tmp_path: Path) -> None:
    assert missing(tmp_path, "a.json", text, json_source()) == JSON[text]
    assert missing(tmp_path, "a.json", text, json_source(options={"multiLine": True})) == []


@pytest.mark.parametrize(
    ("names", "rows", "lacking"),
    [("k ts x", 1, []), ("K TS X", 1, []), ("ts k", 1, ["x"]), ("y", 1, COLUMNS), ("y", 0, [])],
)
def test_parquet(names: str, rows: int, lacking: list[str], tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({name: [1.0] * rows for name in names.split()}), path)
    source = ParquetSource(format="parquet", path="in", stream=True)
    assert missing_in(path, tmp_path, source, COLUMNS) == lacking


def test_files_that_spark_refuses_are_left_to_it(tmp_path: Path) -> None:
    source = ParquetSource(format="parquet", path="in", stream=True)
    assert missing(tmp_path, "a.parquet", "no parquet", source) == []
    assert missing(tmp_path, "a.csv", b"\xff\xfe\x00", csv_source()) == []
    assert missing_in(tmp_path / "none.csv", tmp_path, csv_source(), COLUMNS) == []


def test_folders_may_hold_columns(tmp_path: Path) -> None:
    text = '{"k": 1, "ts": 2}\n'
    assert missing(tmp_path, "x=1/a.json", text, json_source()) == []
    path = tmp_path / "x=1" / "a.json"
    assert missing_in(path, path.parent, json_source(), COLUMNS) == ["x"]


# ---- the log of a source -----------------------------------------------------------------------

JOB = """
[source]
format = "json"
path = "in put"
stream = true
optional = "note"
[source.columns]
ts = "timestamp"
x = "double"
note = "string"
[time]
column = "ts"
watermark = "1m"
[[windows]]
kind = "tumbling"
size = "1h"
[[aggregates]]
function = "count"
[[sinks]]
format = "console"
[run]
checkpoint = "ck"
"""
ALL = '{"ts": "2026-01-01T00:00:00Z", "x": 1.0, "note": ""}\n'


def job_in(folder: Path, text: str = JOB) -> jobs.Job:
    (folder / "in put").mkdir(exist_ok=True)
    (folder / "job.toml").write_text(text)
    return jobs.load(folder / "job.toml")


def add(folder: Path, number: int, text: str, before: tuple[int, ...] = ()) -> None:
    """Add a file, as Spark does to its log; one that repeats others is compact."""
    path = folder / "in put" / f"{number}.json"
    path.write_text(text)
    log = folder / "ck" / "sources" / "0"
    log.mkdir(parents=True, exist_ok=True)
    entries = [
        {"path": (folder / "in put" / f"{n}.json").as_uri(), "timestamp": 0, "batchId": n}
        for n in (*before, number)
    ]
    name = f"{number}.compact" if before else str(number)
    (log / name).write_text("\n".join(["v1", *map(json.dumps, entries)]))


def test_each_file_is_looked_at_once(tmp_path: Path) -> None:
    files = NewFiles(job_in(tmp_path), ["ts", "x", "note"], None)
    files.look()  # there is no log yet
    add(tmp_path, 0, ALL)
    files.look()
    (tmp_path / "in put" / "0.json").write_text('{"ts": 1}\n')  # which is of no matter any more
    files.look()
    add(tmp_path, 1, ALL.replace(', "note": ""', ""), before=(0,))  # which is optional
    files.look()
    add(tmp_path, 2, '{"ts": 1}\n')
    with pytest.raises(jobs.SourceError, match=r"2\.json has no column 'x', and the source has"):
        files.look()


def test_a_new_run_begins_after_what_is_done(tmp_path: Path) -> None:
    job = job_in(tmp_path)
    add(tmp_path, 0, '{"ts": 1}\n')
    add(tmp_path, 1, ALL)
    (tmp_path / "ck" / "offsets").mkdir()
    (tmp_path / "ck" / "offsets" / "5").write_text('v1\n{"batchWatermarkMs":0}\n{"logOffset":0}')
    NewFiles(job, ["ts", "x"], 5).look()
    for done in (None, -1, 4):
        with pytest.raises(jobs.SourceError, match=r"optional = \[\"x\"\] under \[source\]"):
            NewFiles(job, ["ts", "x"], done).look()


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('= "note"', '= "nota"', "[source] optional: there is no column 'nota'"),
        ('watermark = "1m"', "", "[source] optional is for streams"),
        ('"json"', '"csv"', 'optional is not known in [source] with format = "csv"'),
    ],
)
def test_optional_columns_are_checked(before: str, after: str, words: str, tmp_path: Path) -> None:
    text = JOB.replace(before, after)
    if "watermark" in before:
        text = text.replace("stream = true\n", "")
    with pytest.raises(jobs.JobError) as caught:
        job_in(tmp_path, text)
    assert words in str(caught.value)
