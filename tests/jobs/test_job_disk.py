"""A full disk: errors say so, and which folder is on it.

The texts in ``full_disk`` are those of Spark with a sink, a checkpoint or ``spark.local.dir`` on a
file system of 600 KB; stack traces are shortened.
"""

from __future__ import annotations

import errno
import re
import shutil
from collections import namedtuple
from pathlib import Path

import pytest
from bad_inputs import of_jobs

from sash import jobs
from sash.cli._exits import in_words
from sash.jobs import _disk
from sash.jobs._disk import Place, full_disk_named, places_of

TEXTS = Path(__file__).parent / "full_disk"
MORE = """
[[sinks]]
format = "parquet"
path = "full/out"
[late_rows]
format = "json"
path = "late"
[run]
checkpoint = "ck"
[live]
[spark]
"spark.local.dir" = "scratch"
"""
Usage = namedtuple("Usage", "total used free")


def job_in(folder: Path) -> jobs.Job:
    path = folder / "job.toml"
    path.write_text(of_jobs.WHOLE + MORE)
    return jobs.load(path)


def text_of(name: str, folder: Path) -> str:
    return (TEXTS / f"{name}.txt").read_text().replace("/FOLDER", str(folder))


def raise_in(job: jobs.Job, error: Exception) -> None:
    with full_disk_named(job):
        raise error


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("batch_sink", "[[sinks]] path '{}/full/out'"),
        ("stream_sink", "[[sinks]] path '{}/full/out'"),
        ("shuffle", "Spark's temporary files in 'scratch'"),
    ],
)
def test_errors_of_spark_name_the_disk(name: str, place: str, tmp_path: Path) -> None:
    error = RuntimeError(text_of(name, tmp_path))
    with pytest.raises(jobs.DiskFullError) as caught:
        raise_in(job_in(tmp_path), error)
    assert caught.value.__cause__ is error
    words = in_words(caught.value)
    assert words.startswith(f"the disk is full: no space left for {place.format(tmp_path)}, on the")
    assert re.search(r"mounted at '/.*' \([\d,]+ of [\d,]+ bytes are free now\)", words)
    assert words.endswith("run the job again; it goes on from its checkpoint")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_the_cause_of_an_error_may_be_the_disk(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which names no folder: it is the one with the least space."""
    little = str(tmp_path / "late")
    monkeypatch.setattr(Place, "free", property(lambda p: 7 if p.path == little else 8))
    error = RuntimeError("a task has failed")
    error.__cause__ = ValueError("it was not written")
    error.__cause__.__context__ = OSError(number, _strerror(number))
    with pytest.raises(jobs.DiskFullError, match=re.escape(f"[late_rows] path {little!r}")):
        raise_in(job_in(tmp_path), error)


def _strerror(number: int) -> str:
    return {errno.ENOSPC: "No space left on device", errno.EDQUOT: "Disk quota exceeded"}[number]


def test_a_full_disk_is_noted_where_the_error_does_not_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Spark's does not when the state of a stream cannot be written."""
    usage = shutil.disk_usage

    def full(path: Path) -> object:
        return Usage(614_400, 614_400, 0) if "ck" in Path(path).name else usage(path)

    (tmp_path / "ck").mkdir()
    monkeypatch.setattr(_disk.shutil, "disk_usage", full)
    with pytest.raises(RuntimeError) as caught:
        raise_in(job_in(tmp_path), RuntimeError(text_of("checkpoint", tmp_path)))
    words = in_words(caught.value)
    assert words.startswith("EOFError; the disk may be full: there is little space for ")
    assert f"[run] checkpoint '{tmp_path}/ck'" in words
    assert words.count("may be full") == 1


def test_other_errors_stay_as_they_are(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        raise_in(job_in(tmp_path), ZeroDivisionError("of its own"))
    assert in_words(caught.value) == "of its own"


def test_all_places_that_are_written_to(tmp_path: Path) -> None:
    assert {p.name: p.path for p in places_of(job_in(tmp_path))} == {
        "[[sinks]] path": str(tmp_path / "full" / "out"),
        "[late_rows] path": str(tmp_path / "late"),
        "[run] checkpoint": str(tmp_path / "ck"),
        "[live] path": str(tmp_path / "job.live.sqlite"),
        "Spark's temporary files in": "scratch",
    }


def test_a_store_elsewhere_is_named_only() -> None:
    place = Place("[[sinks]] path", "hdfs://host/out")
    assert place.free is None
    assert str(place) == "[[sinks]] path 'hdfs://host/out'"


def test_a_sink_that_is_no_place_of_the_job(tmp_path: Path) -> None:
    text = text_of("batch_sink", tmp_path / "other")
    with pytest.raises(
        jobs.DiskFullError, match=re.escape(f"the sink '{tmp_path}/other/full/out'")
    ):
        raise_in(job_in(tmp_path), RuntimeError(text))


def test_errors_outside_of_jobs_say_it_too() -> None:
    words = in_words(RuntimeError(text_of("batch_sink", Path("/x"))))
    assert words.startswith("Task failed while writing rows to file:/x/full/out; the disk is full")
