"""The demo on the terminal: what it says, and in which order."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from sash import jobs
from sash.cli._exits import DONE, FAILED
from sash.cli._run import session_for
from sash.demo import _report as report
from sash.demo._answers import Answers, answers_of
from sash.demo._replay import Replay, prepare
from sash.live import History

_LINE_EVERY = 5.0


def show(output: Path, quick: bool) -> int:
    """Run the whole demo."""
    console = Console(highlight=False)
    console.print("[bold]Sash[/]: a year of flights, windowed as they land.\n")
    replay = prepare(output, quick)
    job = jobs.load(replay.job)
    console.print(
        f"{replay.rows:,} flights out of New York in 2013 go through Spark in the order they "
        f"landed in, {replay.batches} micro-batches. Windows are by the time they departed: "
        "sliding, rolling and session windows of each carrier, corrected when a flight lands "
        "late.\n"
    )
    with console.status("starting Spark ..."), session_for(job) as session:
        return _run(console, replay, job, session)


def _run(console: Console, replay: Replay, job: jobs.Job, session: Any) -> int:
    reports: list[jobs.Progress] = []
    with _Display(console, replay, job) as display:

        def watch(progress: jobs.Progress) -> None:
            reports.append(progress)
            display.show(progress)

        last = jobs.run(job, session, watch=watch)
    assert last is not None
    with console.status("computing the batch answer, and drawing ..."):
        answers = answers_of(job, session, last)
        path = replay.job.parent / "report.html"
        report.write(path, replay, job, answers, reports)
    _conclude(console, answers, last, path, replay.job)
    return DONE if answers.equal else FAILED


def _conclude(
    console: Console, answers: Answers, last: jobs.Progress, path: Path, job: Path
) -> None:
    colour = "green" if answers.equal else "red"
    console.print(f"[{colour}]{report.verdict(answers)}[/]")
    console.print(
        f"{last.corrections:,} corrections on the way, {last.late_rows:,} flights too late.\n"
    )
    console.print("The report, with charts; open it in a browser:")
    console.print(f"  {path.resolve()}", soft_wrap=True, markup=False)
    console.print("The windows on a page that zooms:")
    console.print(f"  sash live {job}", soft_wrap=True, markup=False)
    console.print("The job itself, to change and run again:")
    console.print(f"  {job}", soft_wrap=True, markup=False)


class _Display:
    """A bar and a table that change; lines where there is no terminal."""

    def __init__(self, console: Console, replay: Replay, job: jobs.Job) -> None:
        self._console, self._job = console, job
        columns = (TextColumn("flights"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
        self._bar = Progress(*columns, TimeElapsedColumn(), console=console)
        self._task = self._bar.add_task("flights", total=replay.rows)
        self._live = Live(self._bar, console=console, transient=True)
        self._shown = -_LINE_EVERY

    def __enter__(self) -> _Display:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def show(self, progress: jobs.Progress) -> None:
        """Show a micro-batch that has ended."""
        cells = self._cells(progress)
        if self._console.is_terminal:
            self._bar.update(self._task, completed=progress.rows_total)
            table = Table.grid(padding=(0, 3))
            table.add_row(*(f"[dim]{name}[/]" for name in cells))
            table.add_row(*(f"[bold]{value}[/]" for value in cells.values()))
            self._live.update(Group(self._bar, table))
        elif time.monotonic() - self._shown >= _LINE_EVERY:
            self._shown = time.monotonic()
            line = "  ".join(f"{name} {value}" for name, value in cells.items())
            self._console.print(line, soft_wrap=True)

    def _cells(self, progress: jobs.Progress) -> dict[str, str]:
        watermark = "none yet"
        if progress.watermark is not None:
            watermark = f"{datetime.fromtimestamp(progress.watermark / 1e6, UTC):%b %d %H:%M}"
        return {
            "rows": f"{progress.rows_total:,}",
            "rows/s": f"{progress.rows_per_second:,.0f}",
            "watermark": watermark,
            "open windows": self._open_windows(),
            "corrections": f"{progress.corrections:,}",
            "too late": f"{progress.late_rows:,}",
        }

    def _open_windows(self) -> str:
        assert self._job.history is not None
        history = History.open(self._job.history)
        try:
            return f"{history.meta()['open']:,}"
        finally:
            history.close()
