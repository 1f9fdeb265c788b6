"""``sash run`` and ``sash explain``: a job, its session, its signals and its progress."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from rich.console import Console

from sash import jobs
from sash.cli._doctor import find_java
from sash.cli._exits import DONE, INTERRUPTED, TERMINATED, MissingError
from sash.cli._show import display_of
from sash.jobs._problems import printable
from sash.jobs._secrets import redacted


def run_job(path: Path, until_caught_up: bool, live: bool, quiet: bool, allow_python: bool) -> int:
    """Run a job file; returns the exit status."""
    job = jobs.load(path, allow_python=allow_python)
    if live and not job.said.streams:
        raise jobs.JobError(path.name, [(None, "--live is for streams, and the job is none.")])
    if live:
        job = job.with_live()
    with (
        session_for(job) as session,
        _stopped_by_signals(at_once=not job.said.streams) as stopped,
        _page(job, live),
        display_of(job, quiet) as display,
    ):
        last = jobs.run(
            job, session, watch=display.show, stop=stopped.event,
            until_caught_up=until_caught_up or None,
        )  # fmt: skip
        display.end(last, stopped.by is not None)
    return DONE if stopped.by is None else stopped.status


def explain_job(path: Path, allow_python: bool) -> str:
    """Return how a job file would be run."""
    job = jobs.load(path, allow_python=allow_python)
    with session_for(job) as session:
        return printable(redacted(jobs.explain(job, session)), "\n")


@contextmanager
def _page(job: jobs.Job, live: bool) -> Iterator[None]:
    """Show the page while the job runs, if that is asked for."""
    if not live or job.history is None:
        yield
        return
    from threading import Thread

    from sash.live import serve

    server = serve(job.history)
    print(f"live: {server.url}", file=sys.stderr)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.close()
        thread.join(5)


# ---- Spark -------------------------------------------------------------------------------------


def need_java() -> None:
    """Raise unless there is a Java that Spark can use."""
    if find_java() is None:
        raise MissingError(
            "Spark needs Java 17, and there is no java here: on Debian or Ubuntu, "
            "apt-get install openjdk-17-jre-headless (sash doctor tells what else is missing)"
        )


@contextmanager
def session_for(job: jobs.Job) -> Iterator[Any]:
    """Start Spark, and stop it in the end. What it logs goes to a file, and is kept on failure."""
    need_java()
    if os.environ.get("SASH_DEBUG") or "PYSPARK_GATEWAY_PORT" in os.environ:
        session = jobs.session_of(job)
        try:
            yield session
        finally:
            session.stop()
        return
    handle, log = tempfile.mkstemp(prefix="sash-spark-", suffix=".log")
    try:
        with _output_to(handle):  # Spark's JVM inherits it
            session = jobs.session_of(job)
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()
    except Exception:
        Console(stderr=True, soft_wrap=True).print(f"Spark's log: {log}", highlight=False)
        raise
    else:
        Path(log).unlink(missing_ok=True)
    finally:
        os.close(handle)


@contextmanager
def _output_to(handle: int) -> Iterator[None]:
    """Let what is started meanwhile write to a file instead of the terminal."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = {number: os.dup(number) for number in (1, 2)}
    try:
        for number in kept:
            os.dup2(handle, number)
        yield
    finally:
        for number, copy in kept.items():
            os.dup2(copy, number)
            os.close(copy)


# ---- signals -----------------------------------------------------------------------------------


class _Stopped:
    """Whether a signal has asked to stop."""

    def __init__(self, at_once: bool) -> None:
        self.event, self._at_once = Event(), at_once
        self.by: int | None = None

    def __call__(self, number: int, _: Any) -> None:
        if self.by is not None or self._at_once:  # a second time, too
            raise SystemExit(INTERRUPTED if number == signal.SIGINT else TERMINATED)
        self.by = number
        self.event.set()

    @property
    def status(self) -> int:
        """The exit status of one that was stopped so."""
        return INTERRUPTED if self.by == signal.SIGINT else TERMINATED


@contextmanager
def _stopped_by_signals(at_once: bool) -> Iterator[_Stopped]:
    """Catch Ctrl-C and a request to end, so that a stream stops between two looks at it."""
    stopped = _Stopped(at_once)
    before = {number: signal.signal(number, stopped) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
