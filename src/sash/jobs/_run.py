"""Running a job: a batch to its end, a stream until it has caught up or is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import Any

import sash
from sash._durations import nanoseconds
from sash.jobs._build import asked_of, keeps_late_rows, results_of, rows_of
from sash.jobs._disk import full_disk_named
from sash.jobs._history import Recorder
from sash.jobs._load import Job
from sash.jobs._missing import NewFiles
from sash.jobs._progress import Progress, Tally
from sash.jobs._sinks import writer_of
from sash.jobs._storage import last_batch
from sash.spark._frames import col
from sash.spark._shards import LATE

Watch = Callable[[Progress], None]
_LOOK = 0.3
"""Seconds between looks at a running stream."""


def run(
    job: Job,
    session: Any,
    *,
    watch: Watch | None = None,
    stop: Event | None = None,
    until_caught_up: bool | None = None,
) -> Progress | None:
    """Run a job to its end; of a stream, return its last progress.

    ``watch`` is called after each micro-batch of a stream; it ends when ``stop`` is set.
    ``until_caught_up`` takes the place of what the job file says. Raises `DiskFullError` where a
    disk is full.
    """
    caught_up = job.said.run.until_caught_up if until_caught_up is None else until_caught_up
    with full_disk_named(job):
        rows = rows_of(job, session)
        if not job.said.streams:
            _run_batch(job, session, rows)
            return None
        stream = _Stream(job, session, watch or (lambda _: None), rows.columns)
        return stream.run(results_of(job, rows), caught_up, stop or Event())


def explain(job: Job, session: Any) -> str:
    """Say how a job would be run."""
    return str(sash.explain(rows_of(job, session), **asked_of(job)))


def _run_batch(job: Job, session: Any, rows: Any) -> None:
    """Write the results; rows without a time go to their own sink, or raise."""
    writers, late = _writers(job)
    for writer in [*writers, *late]:
        writer.begin_batch(session)
    time = col(job.said.time.column)
    for writer in late:
        writer.write(rows.where(time.isNull()))
    results = results_of(job, rows.where(time.isNotNull()) if late else rows)
    if len(writers) > 1:
        results = results.persist()
    for writer in writers:
        writer.write(results)
    if len(writers) > 1:
        results.unpersist()


def _writers(job: Job) -> tuple[list[Any], list[Any]]:
    """Return the writers of the sinks, and of that for late rows, if there is one."""
    late = job.said.late_rows
    return (
        [writer_of(job, sink, job.name) for sink in job.said.sinks],
        [] if late is None else [writer_of(job, late, f"{job.name}: late rows")],
    )


class _Stream:
    """A running stream."""

    def __init__(self, job: Job, session: Any, watch: Watch, columns: list[str]) -> None:
        self._job, self._session, self._watch = job, session, watch
        self._columns = columns
        self._writers, self._late = _writers(job)
        self._may_repeat = True
        self._tally = Tally()
        self._last: Progress | None = None

    def run(self, results: Any, caught_up: bool, stop: Event) -> Progress | None:
        """Run until it has caught up, fails, or is to stop."""
        checkpoint = self._job.checkpoint
        done = last_batch(self._session, checkpoint)
        self._files = NewFiles(self._job, self._columns, done)
        for writer in [*self._writers, *self._late]:
            writer.begin(self._session, new=done is None)
        with (
            Recorder.of(self._job, done) as self._recorder,
            ThreadPoolExecutor(1) as self._beside,
        ):
            query = self._start(results, caught_up, checkpoint)
            try:
                while not stop.is_set() and not query.awaitTermination(_LOOK):
                    self._look(query)
                    self._recorder.alive()
            finally:
                query.stop()
            self._look(query)
            self._recorder.ended()
        return self._last

    def _start(self, results: Any, caught_up: bool, checkpoint: str) -> Any:
        writer = results.writeStream.queryName(self._job.name)
        writer = writer.option("checkpointLocation", checkpoint).foreachBatch(self._take)
        every = self._job.said.run.every
        if caught_up:
            writer = writer.trigger(availableNow=True)
        elif every is not None:
            milliseconds = max(1, nanoseconds("every", every) // 1_000_000)
            writer = writer.trigger(processingTime=f"{milliseconds} milliseconds")
        return writer.start()

    def _look(self, query: Any) -> None:
        for progress in self._tally.take(query.recentProgress):
            self._last = replace(progress, running=query.isActive)
            self._recorder.progressed(self._last)
            self._watch(self._last)

    def _take(self, batch: Any, number: int) -> None:
        """Write a micro-batch to all sinks."""
        self._files.look()
        batch.persist()
        try:
            told, late = self._parted(batch)
            counts = batch.selectExpr("count(*)", "count_if(change = 'late')").first()
            # What is shown is written down while Spark writes to the sinks.
            noted = self._beside.submit(
                self._recorder.took, number, told, late if counts[1] else None
            )
            # The first one may have been written before, and otherwise than it is now.
            for writer in self._writers if counts[0] > counts[1] or self._may_repeat else ():
                writer.write_batch(told, number)
            for writer in self._late if counts[1] or self._may_repeat else ():
                writer.write_batch(late, number)
            noted.result()
            self._may_repeat = False
        finally:
            batch.unpersist()

    def _parted(self, batch: Any) -> tuple[Any, Any]:
        """Return the results, and the rows that were too late."""
        is_late = batch["change"] == "late"
        if not keeps_late_rows(self._job):
            return batch, None
        if self._job.said.rolling is None:
            return batch.where(~is_late).drop(LATE), batch.where(is_late).select(f"{LATE}.*")
        added = [a.output for a in self._job.aggregates]
        return batch.where(~is_late), batch.where(is_late).drop(*added, "revision", "change")
