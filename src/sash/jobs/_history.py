"""What a running job leaves for `sash live` to show."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sash._durations import nanoseconds
from sash.jobs._load import Job
from sash.jobs._progress import Progress
from sash.live import History, HistoryError, MissingHistoryError
from sash.live._file import remove
from sash.spark._frames import col

_NEWS = 4.0
"""Seconds after which the page should hear of a stream that has nothing to do."""


class Recorder(AbstractContextManager["Recorder"]):
    """Writes down each micro-batch, if the job asks for that."""

    def __init__(self, job: Job, history: History | None) -> None:
        self._job, self._history = job, history
        before = history.progress(1) if history is not None else []
        self._last: dict[str, Any] | None = before[-1] if before else None
        """The last progress that was written, in this run or an earlier one."""
        self._rows_before = int(before[-1]["rows_total"] or 0) if before else 0
        self._again(at=time.time(), running=True)

    @classmethod
    def of(cls, job: Job, done: int | None) -> Recorder:
        """Return the recorder of a job; ``done`` is the last micro-batch of its checkpoint.

        A history of another run, or one that has missed micro-batches, is begun anew.
        """
        path, live = job.history, job.said.live
        if path is None or live is None:
            return cls(job, None)
        about = {
            "name": job.name,
            "keys": job.said.by,
            "windows": [w.name for w in job.windows] or [_rolling_name(job)],
            "aggregates": [a.output for a in job.aggregates],
            "emit": job.said.emit,
            "watermark": job.said.time.watermark,
            "lateness": job.said.time.lateness,
        }
        if _is_other(path, about, done):
            remove(path)
        return cls(job, History.create_or_open(path, about, most_windows=live.rows))

    def took(self, number: int, told: Any, late: Any) -> None:
        """Write down the results of a micro-batch, and the rows that were too late."""
        if self._history is None:
            return
        results = told.toArrow()
        if self._job.said.rolling is not None:
            results = _as_windows(self._job, results)
        self._history.record(number, results, None if late is None else self._late_rows(late))

    def _late_rows(self, late: Any) -> pa.Table:
        keys = self._job.said.by
        return late.select(*map(col, [*keys, self._job.said.time.column])).toArrow()

    def progressed(self, progress: Progress) -> None:
        """Write down how it is doing, with the rows of earlier runs."""
        rows = progress.rows_total + self._rows_before
        self._last = replace(progress, rows_total=rows).as_dict()
        self._again()

    def alive(self) -> None:
        """Write down now and then that it is still there, with nothing to do."""
        if self._last is not None and time.time() - self._last["at"] > _NEWS:
            self._again(at=time.time())

    def ended(self) -> None:
        """Write down that it has stopped."""
        self._again(running=False)

    def _again(self, **changed: Any) -> None:
        """Write the last progress, with some of it changed."""
        if self._history is not None and self._last is not None:
            self._last = {**self._last, **changed}
            self._history.record_progress(self._last)

    def __exit__(self, *error: object) -> None:
        if self._history is not None:
            self._history.close()


def _is_other(path: Path, about: dict[str, Any], done: int | None) -> bool:
    """Whether there is a history of this job that the run cannot go on with."""
    try:
        with History.open(path) as history:  # or raises: then it is something else, and stays
            meta = history.meta()
    except MissingHistoryError:
        return False
    if meta["about"]["name"] != about["name"]:
        raise HistoryError(
            f"{path} is the history of the job {meta['about']['name']!r}: give this one another "
            "path under [live]"
        )
    last = meta["batch"]
    return done is None or (last if last is not None else -1) < done


def _rolling_name(job: Job) -> str:
    return f"rolling {job.said.rolling.size}" if job.said.rolling is not None else ""


def _as_windows(job: Job, rows: pa.Table) -> pa.Table:
    """Return rows with aggregates as the windows that end with them."""
    assert job.said.rolling is not None
    assert job.said.rolling.size is not None
    ends = rows[job.said.time.column]
    length = nanoseconds("size", job.said.rolling.size) // 1000
    starts = pc.subtract(ends, pa.scalar(length, pa.duration("us")))
    columns = {name: rows[name] for name in job.said.by}
    columns["window"] = pa.array([_rolling_name(job)] * rows.num_rows, pa.string())
    columns |= {"window_start": starts, "window_end": ends}
    others = [*(a.output for a in job.aggregates), "revision", "change"]
    return pa.table({**columns, **{name: rows[name] for name in others}})
