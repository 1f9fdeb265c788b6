"""The progress of a stream on the terminal."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sash.jobs import Job, Progress
from sash.jobs._problems import printable

_LINE_EVERY = 10.0
"""Seconds between lines where there is no terminal."""


def display_of(job: Job, quiet: bool) -> Display:
    """Return what shows a job's progress: a table that changes, lines now and then, or nothing."""
    console = Console(stderr=True)
    if quiet:
        return Display(job)
    shown = [*job.said.sinks, *([] if job.said.late_rows is None else [job.said.late_rows])]
    shares_terminal = any(sink.format == "console" for sink in shown)
    if console.is_terminal and not shares_terminal:
        return _Changing(job, console)
    return _Lines(job, console)


class Display(AbstractContextManager["Display"]):
    """Shows nothing."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def show(self, progress: Progress) -> None:
        """Show a micro-batch that has ended."""

    def end(self, last: Progress | None, stopped: bool) -> None:
        """Show how it ended."""

    def __exit__(self, *error: object) -> None:
        """End."""


class _Lines(Display):
    def __init__(self, job: Job, console: Console) -> None:
        super().__init__(job)
        self._console, self._shown = console, -_LINE_EVERY

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._shown >= _LINE_EVERY:
            self._shown = now
            self._line(", ".join(f"{name} {value}" for name, value in cells(progress).items()))

    def end(self, last: Progress | None, stopped: bool) -> None:
        if not self._job.said.streams:
            self._line("done")
        elif stopped:
            self._line(f"stopped{_after(last)}; run it again to go on")
        else:
            self._line(f"caught up{_after(last)}")

    def _line(self, words: str) -> None:
        text = printable(f"{self._job.name}: {words}")
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


def _after(last: Progress | None) -> str:
    if last is None:
        return ", there was nothing new"
    counts = cells(last)
    names = ("rows", "results", "corrections", "too late")
    return " after " + ", ".join(f"{name} {counts[name]}" for name in names)


class _Changing(_Lines):
    def __init__(self, job: Job, console: Console) -> None:
        super().__init__(job, console)
        self._live = Live(self._table("starting"), console=console, transient=True)
        self._live.start()

    def show(self, progress: Progress) -> None:
        self._live.update(self._table("running; Ctrl-C stops it", progress))

    def end(self, last: Progress | None, stopped: bool) -> None:
        self._live.stop()
        super().end(last, stopped)

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def _table(self, state: str, progress: Progress | None = None) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_row(Text(printable(self._job.name), "bold"), state)
        for name, value in cells(progress).items() if progress is not None else ():
            table.add_row(name, value)
        return table


def cells(progress: Progress) -> dict[str, str]:
    """Return what is shown of a progress, by its name."""
    lag = "none yet"
    if progress.watermark is not None and progress.latest is not None:
        behind = timedelta(microseconds=max(0, progress.latest - progress.watermark))
        at = datetime.fromtimestamp(progress.watermark / 1e6, UTC)
        lag = f"{at:%Y-%m-%d %H:%M:%S} UTC, {behind} behind the latest row"
    return {
        "micro-batch": f"{progress.batch:,}",
        "rows": f"{progress.rows_total:,}",
        "rows/s": f"{progress.rows_per_second:,.0f}",
        "results": f"{progress.windows:,}",
        "corrections": f"{progress.corrections:,}",
        "too late": f"{progress.late_rows:,}",
        "state": f"{progress.state_bytes / 1e6:,.1f} MB",
        "watermark": lag,
    }
