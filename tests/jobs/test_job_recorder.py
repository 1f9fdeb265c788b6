"""What a job leaves for the page, over its runs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from sash import jobs
from sash.jobs._history import Recorder
from sash.jobs._progress import Progress
from sash.live import History, HistoryError

TEXT = """
name = "{name}"
[source]
format = "rate"
[time]
column = "timestamp"
watermark = "1s"
[[windows]]
kind = "tumbling"
size = "10s"
[[aggregates]]
function = "count"
[[sinks]]
format = "console"
[live]
path = "live.sqlite"
"""


def job_called(folder: Path, name: str) -> jobs.Job:
    path = folder / f"{name}.toml"
    path.write_text(TEXT.format(name=name))
    return jobs.load(path)


def progress(batch: int, rows: int) -> Progress:
    return Progress(batch, 1e9 + batch, rows, rows, 1.0, None, None, 0, 0, 0, 0)


def told(path: Path) -> list[tuple[int, int, bool]]:
    with History.open(path) as history:
        return [(p["batch"], p["rows_total"], p["running"]) for p in history.progress()]


def test_runs_are_counted_together(tmp_path: Path) -> None:
    job = job_called(tmp_path, "a")
    path = tmp_path / "live.sqlite"
    with Recorder.of(job, None) as first:
        first.progressed(progress(0, 5))
        first.ended()
    assert told(path) == [(0, 5, False)]
    with Recorder.of(job, -1) as second:
        assert told(path) == [(0, 5, True)]  # running again, with nothing new yet
        second.progressed(progress(1, 3))
        second.ended()
    assert told(path) == [(0, 5, True), (1, 8, False)]


def test_a_run_without_news_ends_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shown as running while it waits for rows, and as stopped afterwards."""
    job = job_called(tmp_path, "a")
    path = tmp_path / "live.sqlite"
    with Recorder.of(job, None) as first:
        first.progressed(progress(0, 5))
        first.ended()
    now = 2e9
    monkeypatch.setattr(time, "time", lambda: now)
    with Recorder.of(job, -1) as second:
        now += 60
        second.alive()
        with History.open(path) as history:
            assert history.progress()[-1]["at"] == now
        assert told(path) == [(0, 5, True)]
        second.ended()
    assert told(path) == [(0, 5, False)]


@pytest.mark.parametrize("done", [None, 7])
def test_a_history_of_another_run_is_begun_anew(tmp_path: Path, done: int | None) -> None:
    """Without a checkpoint, or with one that has micro-batches that the history has not."""
    job = job_called(tmp_path, "a")
    with Recorder.of(job, None) as first:
        first.progressed(progress(0, 5))
    with Recorder.of(job, done):
        assert told(tmp_path / "live.sqlite") == []


def test_another_job_leaves_it_alone(tmp_path: Path) -> None:
    with Recorder.of(job_called(tmp_path, "a"), None) as first:
        first.progressed(progress(0, 5))
    with pytest.raises(HistoryError, match="is the history of the job 'a'"):
        Recorder.of(job_called(tmp_path, "b"), None)
    assert told(tmp_path / "live.sqlite") == [(0, 5, True)]


def test_a_file_of_something_else_stays(tmp_path: Path) -> None:
    (tmp_path / "live.sqlite").write_text("my thesis")
    with pytest.raises(HistoryError):
        Recorder.of(job_called(tmp_path, "a"), None)
    assert (tmp_path / "live.sqlite").read_text() == "my thesis"


def test_names_that_files_cannot_have(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text(TEXT.replace('path = "live.sqlite"', "").format(name="s3://a/[b] c"))
    job = jobs.load(path)
    assert Path(job.checkpoint) == tmp_path.resolve() / "s3_a_b_c.checkpoint"
    assert job.history == tmp_path.resolve() / "s3_a_b_c.live.sqlite"
