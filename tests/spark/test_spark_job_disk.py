"""Jobs on Spark whose disk is full: what they raise, as batches and as streams."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from sash import jobs
from sash.cli._exits import in_words
from sash.jobs import _sinks

TEXTS = Path(__file__).parents[1] / "jobs" / "full_disk"
JOB = """
[source]
format = "csv"
path = "in"
stream = {stream}
columns = {{ ts = "timestamp", x = "double" }}
[time]
column = "ts"
{watermark}
[[windows]]
kind = "tumbling"
size = "1h"
[[aggregates]]
function = "count"
[[sinks]]
{sink}
"""
FILES = 'format = "parquet"\npath = "full/out"'
CONSOLE = 'format = "console"'


@contextmanager
def full_output() -> Iterator[None]:
    """Let standard output go to a device that is always full."""
    raw = io.FileIO("/dev/full", "w")
    with io.TextIOWrapper(raw, write_through=True) as full, redirect_stdout(full):
        yield


def failure_of(session: Any, folder: Path, stream: bool, sink: str) -> Exception:
    (folder / "in").mkdir()
    (folder / "in" / "a.csv").write_text(
        "ts,x\n2026-01-01T00:00:00Z,1.0\n2026-01-01T09:00:00Z,1.0\n"
    )
    path = folder / "job.toml"
    watermark = 'watermark = "1m"' if stream else ""
    path.write_text(JOB.format(stream=str(stream).lower(), watermark=watermark, sink=sink))
    with pytest.raises(Exception) as caught:
        jobs.run(jobs.load(path), session, until_caught_up=True)
    return caught.value


@pytest.mark.parametrize("stream", [False, True])
def test_standard_output_on_a_full_disk(spark: Any, tmp_path: Path, stream: bool) -> None:
    with full_output():
        error = failure_of(spark, tmp_path, stream, CONSOLE)
    assert in_words(error) == "the disk that standard output goes to is full: free some space"


@pytest.mark.parametrize(("stream", "text"), [(False, "batch_sink"), (True, "stream_sink")])
def test_a_sink_on_a_full_disk(
    spark: Any, tmp_path: Path, stream: bool, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the error that Spark raises then; the rest is as in any other run."""
    words = (TEXTS / f"{text}.txt").read_text().replace("/FOLDER", str(tmp_path))

    def save(self: Any, frame: Any, path: str) -> None:
        raise RuntimeError(words)

    monkeypatch.setattr(_sinks.Folder, "_save", save)
    error = failure_of(spark, tmp_path, stream, FILES)
    assert isinstance(error, jobs.DiskFullError)
    assert f"no space left for [[sinks]] path '{tmp_path}/full/out'" in str(error)
