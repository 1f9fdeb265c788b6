"""Folders that a job writes to: only results in folders of Sash's own are ever removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sash import jobs
from sash.jobs._output import MARKER

BATCH = """
[source]
format = "csv"
path = "in.csv"
[time]
column = "ts"
[[windows]]
kind = "tumbling"
size = "1h"
[[aggregates]]
function = "count"
[[sinks]]
format = "json"
path = "out"
overwrite = true
"""
STREAM = (
    BATCH.replace('"in.csv"', '"in"\nstream = true\ncolumns = {ts = "timestamp"}')
    .replace('column = "ts"', 'column = "ts"\nwatermark = "0s"')
    .replace("overwrite = true", "[run]\nuntil_caught_up = true")
)


@pytest.fixture
def utc(spark: Any) -> Iterator[Any]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before)


@pytest.fixture
def job(tmp_path: Path) -> jobs.Job:
    rows = "ts\n" + "".join(f"2026-01-01 {h:02}:30:00\n" for h in range(5))
    (tmp_path / "in.csv").write_text(rows)
    (tmp_path / "job.toml").write_text(BATCH)
    return jobs.load(tmp_path / "job.toml")


def files(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder with their content; of links, where they lead."""
    return {
        str(p.relative_to(folder)): str(p.readlink()).encode() if p.is_symlink() else p.read_bytes()
        for p in folder.rglob("*")
        if p.is_symlink() or p.is_file()
    }


def counts(folder: Path) -> int:
    return sum(len(p.read_text().splitlines()) for p in folder.glob("part-*"))


def test_results_are_replaced_by_results(utc: Any, job: jobs.Job, tmp_path: Path) -> None:
    for _ in range(2):
        jobs.run(job, utc)
        assert counts(tmp_path / "out") == 5
        assert (tmp_path / "out" / MARKER).exists()


@pytest.mark.parametrize(
    "name",
    [
        "part-of-my-thesis.docx",
        "batch=2024/precious.docx",
        "batch=000001/precious.docx",
        "_SUCCESS_story.txt",
        "_temporary/notes.txt",
        ".part-of-my-thesis.docx.crc",
        "src/main.py",
    ],
)
@pytest.mark.parametrize("marked", [True, False])
def test_other_files_stay(utc: Any, job: jobs.Job, tmp_path: Path, name: str, marked: bool) -> None:
    """In a folder that Sash has written to before, and in one of somebody else."""
    out = tmp_path / "out"
    if marked:
        jobs.run(job, utc)
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    (out / name).write_text("precious")
    before = files(out)
    with pytest.raises(jobs.SinkError) as caught:
        jobs.run(job, utc)
    assert name.split("/", maxsplit=1)[0] in str(caught.value)
    assert "name another path" in str(caught.value)
    assert files(out) == before


def test_results_of_others_stay(utc: Any, job: jobs.Job, tmp_path: Path) -> None:
    """What Spark has written without Sash has the same names, and no marker."""
    out = tmp_path / "out"
    utc.range(3).write.json(str(out))
    before = files(out)
    with pytest.raises(jobs.SinkError, match=MARKER):
        jobs.run(job, utc)
    assert files(out) == before


def test_links_are_not_followed(utc: Any, job: jobs.Job, tmp_path: Path) -> None:
    jobs.run(job, utc)
    (name,) = [p.name for p in (tmp_path / "out").glob("part-*")]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / name).write_text("precious")
    (tmp_path / "out" / "batch=000001").symlink_to(elsewhere)
    before = files(tmp_path)
    with pytest.raises(jobs.SinkError, match="batch=000001"):
        jobs.run(job, utc)
    assert files(tmp_path) == before


def test_a_run_that_crashed_is_cleared_away(utc: Any, job: jobs.Job, tmp_path: Path) -> None:
    jobs.run(job, utc)
    out = tmp_path / "out"
    (name,) = [p.name for p in out.glob("part-*")]
    attempt = out / "_temporary" / "0" / "_temporary" / "attempt_202601010000_0001_m_000000_1"
    attempt.mkdir(parents=True)
    (attempt / name).write_text("half")
    (attempt / f".{name}.crc").write_text("half")
    (out / "_SUCCESS").unlink()
    jobs.run(job, utc)
    assert counts(out) == 5
    assert not (out / "_temporary").exists()


def test_a_micro_batch_that_is_repeated_removes_its_results_only(
    utc: Any, job: jobs.Job, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text((tmp_path / "in.csv").read_text())
    (tmp_path / "job.toml").write_text(STREAM)
    stream = jobs.load(tmp_path / "job.toml")
    jobs.run(stream, utc)
    batches = sorted((tmp_path / "out").glob("batch=*"))
    before = files(tmp_path / "out")
    assert MARKER in before
    (batches[-1] / "notes.txt").write_text("precious")
    commits = tmp_path / "job.checkpoint" / "commits"
    last = max((p for p in commits.iterdir() if p.name.isdigit()), key=lambda p: int(p.name))
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink()
    with pytest.raises(Exception, match=f"{batches[-1].name}/notes.txt"):
        jobs.run(stream, utc)
    assert files(tmp_path / "out") == before | {f"{batches[-1].name}/notes.txt": b"precious"}
    (batches[-1] / "notes.txt").unlink()
    jobs.run(stream, utc)
    after = files(tmp_path / "out")
    data = [sorted(v for k, v in f.items() if "/part-" in k) for f in (before, after)]
    assert data[0] == data[1] != []


def test_a_stream_does_not_begin_in_a_folder_of_others(
    utc: Any, job: jobs.Job, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "job.toml").write_text(STREAM)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.docx").write_text("precious")
    with pytest.raises(jobs.SinkError):
        jobs.run(jobs.load(tmp_path / "job.toml"), utc)
    assert list(files(tmp_path / "out")) == ["thesis.docx"]
