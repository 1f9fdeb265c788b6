"""The demo on the terminal: what it says, in which order, and the report it writes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from sash import _demo_measure as measure
from sash import _demo_report as report
from sash._demo_flights import Flights, load
from sash._demo_measure import Rolling, Timing

Rows = list[list[str]]
_PERCENTILES = (50.0, 99.0, 99.9, 99.99, 100.0)
_QUICK = 60_000


class Stage:
    """A terminal with a progress bar at its foot; plain lines where there is no terminal."""

    def __init__(self) -> None:
        self.console = Console(width=None if sys.stdout.isatty() else 112)
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self.progress = Progress(
            *columns, console=self.console, transient=True, disable=not self.console.is_terminal
        )

    @contextmanager
    def working(self, what: str, steps: int) -> Iterator[None]:
        """Show that something is going on."""
        self.task = self.progress.add_task(what, total=steps)
        yield
        self.progress.remove_task(self.task)

    def tick(self) -> None:
        """Move the bar by one step."""
        self.progress.advance(self.task)

    def say(self, words: str) -> None:
        """Print a paragraph."""
        self.console.print(words, highlight=False)

    def heading(self, words: str) -> None:
        """Print a heading."""
        self.console.print(f"\n[bold cyan]{words}[/]", highlight=False)

    def table(self, head: list[str], rows: Rows) -> None:
        """Print a table, its first column to the left."""
        room = 1 if self.console.width >= 100 else 0
        shown = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, room))
        for i, name in enumerate(head):
            shown.add_column(name, justify="right" if i else "left")
        for row in rows:
            shown.add_row(*row)
        self.console.print(shown)


def show(output: Path, quick: bool) -> None:
    """Run the whole demo."""
    stage = Stage()
    with stage.progress:
        with stage.working("reading flights", 1):
            flights = load()
        if quick:
            flights = flights.head(_QUICK)
        lead = (
            f"{len(flights):,} flights out of New York, {flights.when(0)[:10]} to "
            f"{flights.when(len(flights) - 1)[:10]}, in order of departure. Delays are minutes "
            "late at the gate of arrival."
        )
        stage.say(f"[bold]Sash[/]: {lead}")
        sections = _answers(stage, flights)
        sections += _structures(stage, flights, 1 if quick else 3)
        sections += _latencies(stage, flights, 2 if quick else 3)
    path = output / "report.html"
    report.write(path, lead, sections)
    stage.heading("The report")
    stage.say("The same with charts, in one file that needs no network. Open it in a browser:")
    stage.console.print(str(path.resolve()), soft_wrap=True, highlight=False)


def _answers(stage: Stage, flights: Flights) -> list[tuple[str, str, str]]:
    with stage.working("sliding windows over the year", 4):
        by_time = measure.rolling(flights, True, stage.tick)
        by_count = measure.rolling(flights, False, stage.tick)
        errors = [e for r in (by_time, by_count) for e in measure.check(flights, r, 300)]
    heading = "1. Every flight has a window, and every window an answer"
    words = (
        f"For each of the {len(flights):,} flights: the mean delay and its spread, the three worst "
        "delays and the flight that was worst, carriers and aircraft, over the 24 hours before it "
        "and over the last 1,000 flights. All of it takes one native pass over the data, and one "
        "in Python for the exact sets of carriers. Here are a few moments, the worst day among "
        "them; aircraft are counted exactly, and by HyperLogLog in brackets."
    )
    checked = (
        "600 windows picked at random were computed again by brute force: all exact answers "
        f"agree. HyperLogLog estimates aircraft in 4 KB, off by {np.mean(errors):.1%} "
        f"on average and {max(errors):.1%} at most."
    )
    stage.heading(heading)
    stage.say(words)
    shown = report.year_chart(flights, by_time)
    for result in (by_time, by_count):
        head, rows = _moments(flights, result)
        stage.say(f"\n[bold]{result.title}[/]")
        stage.table(head, rows)
        shown += f"<p><b>{result.title}</b></p>" + report.table(head, rows)
    stage.say(checked)
    return [(heading, f"{words} {checked}", shown)]


def _moments(flights: Flights, result: Rolling) -> tuple[list[str], Rows]:
    """Pick moments spread over the year and the one with the highest mean."""
    spread = np.linspace(0, len(flights) - 1, 6)[1:].astype(int).tolist()
    worst = measure.COUNT + int(result.columns["mean"][measure.COUNT :].argmax())
    head = ["until (UTC)", "flights", "mean", "stddev", "worst three", "the worst", "carriers"]
    head += ["aircraft"]
    rows = []
    for row in sorted({*spread, worst}):
        here = {name: column[row] for name, column in result.columns.items()}
        aircraft = len(measure.distinct(flights, "tailnum", int(result.first[row]), row))
        rows.append(
            [
                flights.when(row).removeprefix("2013-"),
                f"{here['flights']:,}",
                f"{here['mean']:.1f}",
                f"{here['stddev']:.1f}",
                " ".join(map(str, here["top"])),
                flights.name(int(here["worst"])),
                str(here["carriers"]),
                f"{aircraft} ({here['hll']})",
            ]
        )
    return head, rows


def _structures(stage: Stage, flights: Flights, repeat: int) -> list[tuple[str, str, str]]:
    with stage.working("timing the structures", 20):
        found = measure.timings(flights, repeat, stage.tick)
    heading = "2. The same answers from every structure, at different cost"
    words = (
        "Nanoseconds per flight to insert it, evict the oldest and query a window of 1,000 "
        "flights. All structures gave the same answers (stddev up to rounding), and so did Recalc, "
        "which recomputes the whole window, wherever it was sampled. SubtractOnEvict is refused "
        "for aggregates that cannot take an entry out again."
    )
    head = ["structure", *measure.AGGREGATES]
    rows = [_row(timing) for timing in found]
    stage.heading(heading)
    stage.say(words)
    stage.table(head, rows)
    return [(heading, words, report.table(head, rows))]


def _row(timing: Timing) -> list[str]:
    cells = ["refused" if n is None else f"{n:,.0f}" for n in timing.nanoseconds.values()]
    return [timing.structure, *cells]


def _latencies(stage: Stage, flights: Flights, repeat: int) -> list[tuple[str, str, str]]:
    with stage.working("timing single steps", 2 * repeat):
        sample = measure.latencies(flights, repeat, stage.tick)
    heading = "3. Fast on average, or fast every time"
    words = (
        f"The time of each single step on a window of {min(measure.MONTH, len(flights) // 2):,} "
        "flights (stddev). TwoStacksLite is a little faster as a rule, but now and then it turns "
        "the whole window over. DabaLite does a bit of that work in every step and never has to "
        "stop for it."
    )
    note = (
        f"The least of {repeat} runs for each step, to leave out what else the machine was doing."
    )
    head = ["steps take at most", "half", "99%", "99.9%", "99.99%", "all"]
    rows = [
        [name, *(report.duration(p) for p in measure.percentiles(taken, _PERCENTILES))]
        for name, taken in sample.items()
    ]
    stage.heading(heading)
    stage.say(words)
    stage.table(head, rows)
    stage.say(note)
    shown = report.latency_chart(sample) + report.table(head, rows)
    return [(heading, f"{words} {note}", shown)]
