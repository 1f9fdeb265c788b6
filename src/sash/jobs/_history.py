"""What a running job leaves for `sash live` to show."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sash._durations import nanoseconds
from sash.jobs._load import Job
from sash.jobs._progress import Progress
from sash.live import History
from sash.spark._frames import col

_NEWS = 4.0
"""Seconds after which the page should hear of a stream that has nothing to do."""


class Recorder(AbstractContextManager["Recorder"]):
    """Writes down each micro-batch, if the job asks for that."""

    def __init__(self, job: Job, history: History | None) -> None:
        self._job, self._history = job, history
        self._last: Progress | None = None
        before = history.progress(1) if history is not None else []
        self._rows_before = int(before[-1]["rows_total"] or 0) if before else 0

    @classmethod
    def of(cls, job: Job, begins: bool) -> Recorder:
        """Return the recorder of a job; one that begins anew leaves nothing of an earlier one."""
        path, live = job.history, job.said.live
        if path is None or live is None:
            return cls(job, None)
        if begins and path.exists():
            History.open(path).close()  # or raises: then it is something else, and stays
            for ending in ("", "-wal", "-shm"):
                path.with_name(path.name + ending).unlink(missing_ok=True)
        about = {
            "name": job.name,
            "keys": job.said.by,
            "windows": [w.name for w in job.windows] or [_rolling_name(job)],
            "aggregates": [a.output for a in job.aggregates],
            "emit": job.said.emit,
            "watermark": job.said.time.watermark,
            "lateness": job.said.time.lateness,
        }
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
        rows = late.select(*map(col, [*keys, self._job.said.time.column])).toArrow()
        return rows.rename_columns([*keys, "time"])

    def progressed(self, progress: Progress) -> None:
        """Write down how it is doing, with the rows of earlier runs."""
        self._last = progress
        if self._history is not None:
            rows = progress.rows_total + self._rows_before
            self._history.record_progress(replace(progress, rows_total=rows).as_dict())

    def alive(self) -> None:
        """Write down now and then that it is still there, with nothing to do."""
        if self._last is not None and time.time() - self._last.at > _NEWS:
            self.progressed(replace(self._last, at=time.time()))

    def ended(self) -> None:
        """Write down that it has stopped."""
        if self._last is not None:
            self.progressed(replace(self._last, running=False))

    def __exit__(self, *error: object) -> None:
        if self._history is not None:
            self._history.close()


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
