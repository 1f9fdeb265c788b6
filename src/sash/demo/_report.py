"""The demo's report: one HTML file that needs nothing else, with its charts inside."""

from __future__ import annotations

import html
from datetime import timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.demo import _charts as charts
from sash.demo._answers import Answers
from sash.demo._replay import Replay
from sash.demo.flights import airlines
from sash.jobs import Job, Progress

_CSS = """
:root { color-scheme: light; }
body { font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; color: #1f2933;
       max-width: 60rem; margin: 2.2rem auto 4rem; padding: 0 1.25rem; background: #fff; }
h1 { font-size: 1.9rem; line-height: 1.2; margin-bottom: .2rem; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .3rem; } p { margin: .4rem 0 .8rem; }
p.lead { color: #64707d; margin-top: 0; }
div.verdict { border-left: .35rem solid #2f8f6b; background: #eef7f3; padding: .7rem 1rem;
              margin: 1.2rem 0; border-radius: .2rem; }
div.verdict.wrong { border-color: #c0392b; background: #fbeeec; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.6rem, 1fr)); gap: .7rem;
     margin: 1.2rem 0; }
dl div { background: #f5f7f9; border-radius: .4rem; padding: .55rem .8rem; }
dt { color: #64707d; font-size: .82rem; } dd { margin: 0; font-size: 1.35rem; font-weight: 600;
     font-variant-numeric: tabular-nums; }
div.chart svg { width: 100%; height: auto; display: block; } div.chart.narrow { display: none; }
div.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid #e7ebef;
         white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } th { color: #64707d; font-weight: 600; }
code, pre { font: .88em ui-monospace, "DejaVu Sans Mono", monospace; }
pre { background: #f5f7f9; padding: .8rem 1rem; border-radius: .4rem; overflow-x: auto; }
@media (max-width: 42rem) { body { margin-top: 1.2rem; } h1 { font-size: 1.5rem; }
  div.chart.wide { display: none; } div.chart.narrow { display: block; } }
"""


def write(path: Path, replay: Replay, job: Job, answers: Answers, reports: list[Progress]) -> None:
    """Write the report."""
    title = "A year of flights, windowed as they landed"
    seconds = reports[-1].at - reports[0].at + reports[0].rows / reports[0].rows_per_second
    out_of_order = replay.overtaken()
    parts = [
        f"<h1>{title}</h1>",
        _p(
            f"{replay.rows:,} flights out of New York in 2013, in the order they landed in, as a "
            f"stream of {replay.batches} micro-batches on Spark. Windows go by the time of "
            f"departure, and {np.mean(out_of_order > 0):.0%} of the flights land after one that "
            f"departed later: up to {out_of_order.max():,} places out of order.",
            "lead",
        ),
        _verdict(answers),
        _tiles(
            {
                "flights": f"{replay.rows:,}",
                "rows a second": f"{replay.rows / seconds:,.0f}",
                "windows": f"{answers.windows.num_rows:,}",
                "corrections": f"{answers.corrections.num_rows:,}",
                "flights too late": f"{answers.late_rows:,}",
            }
        ),
        *_windows(answers),
        *_corrections(answers),
        "<h2>How late they were</h2>",
        _p(
            "Green flights are no more than an hour behind, which the watermark waits for. Orange "
            "ones come up to four hours after that: if their windows have been told by then, these "
            "are corrected. Red ones would be too late, if the watermark has moved on. It does so "
            "between micro-batches, so most flights were in time after all."
        ),
        charts.lateness(replay, 60, 240),
        "<h2>How fast it went</h2>",
        _p(
            f"{timedelta(seconds=round(seconds))} for everything, on this machine with Spark "
            "inside. Much of that is a fixed cost of each micro-batch: with larger ones, rows go "
            "faster."
        ),
        charts.throughput(reports),
        "<h2>The job</h2>",
        _p(
            "All of it is this file; change it and run it again with <code>sash run</code>.",
            raw=True,
        ),
        f"<pre>{html.escape(job.path.read_text())}</pre>",
    ]
    path.write_text(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_CSS}</style></head><body>{''.join(parts)}</body></html>\n",
        encoding="utf-8",
    )


def _p(words: str, kind: str = "", raw: bool = False) -> str:
    style = f' class="{kind}"' if kind else ""
    return f"<p{style}>{words if raw else html.escape(words)}</p>"


def verdict(answers: Answers) -> str:
    """Say whether the stream ended with the batch answer."""
    but = f" but the {answers.late_rows:,} too late" if answers.late_rows else ""
    if answers.equal:
        return (
            f"The stream ended with the batch answer: all {answers.compared:,} complete windows "
            f"are the same as those computed at once from all flights{but}."
        )
    return (
        f"The stream did NOT end with the batch answer: {answers.different:,} of "
        f"{answers.compared:,} windows differ. That is a fault of Sash's; please report it."
    )


def _verdict(answers: Answers) -> str:
    kind = "verdict" if answers.equal else "verdict wrong"
    return f'<div class="{kind}">{html.escape(verdict(answers))}</div>'


def _tiles(values: dict[str, str]) -> str:
    cells = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in values.items())
    return f"<dl>{cells}</dl>"


def _windows(answers: Answers) -> list[str]:
    counts = answers.windows.group_by("carrier").aggregate([("flights", "sum")])
    busiest = [r["carrier"] for r in counts.sort_by([("flights_sum", "descending")]).to_pylist()]
    names = airlines()
    shown = {code: names.get(code, code) for code in busiest[:4]}
    carrier, day = _worst_day(answers, list(shown))
    return [
        "<h2>The windows</h2>",
        _p(
            "Mean delay at the gate of arrival, over six hours of departures, a new window every "
            "hour. Each flight updates one slice, which all windows share."
        ),
        charts.year(answers, shown),
        f"<h2>{html.escape(names.get(carrier, carrier))} on {day}</h2>",
        _p(
            "Three kinds of windows over the same flights: one that ends with each departure, one "
            "every hour, and sessions, which end when no flight departs for two hours. Times are "
            "UTC."
        ),
        charts.one_day(answers, carrier, np.datetime64(day, "us")),
    ]


def _worst_day(answers: Answers, carriers: list[str]) -> tuple[str, str]:
    """Return the carrier and day with the worst six hours."""
    table = answers.windows
    asked = pc.and_(
        pc.starts_with(table["window"], pattern="sliding"),
        pc.and_(pc.greater(table["flights"], 20), pc.is_in(table["carrier"], pa.array(carriers))),
    )
    worst = table.filter(asked).sort_by([("mean_delay", "descending")]).slice(0, 1).to_pylist()[0]
    return str(worst["carrier"]), f"{worst['window_start']:%Y-%m-%d}"


def _corrections(answers: Answers) -> list[str]:
    words = (
        f"{answers.corrections.num_rows:,} times a window was told, and told again because a "
        "flight landed late. Dots are carriers and days; a column of dots is where a micro-batch "
        "ended with many flights in the air."
    )
    return [
        "<h2>Where corrections happened</h2>",
        _p(words),
        charts.corrections(answers),
        _p("The largest ones, in minutes of mean delay:"),
        _largest(answers),
    ]


def _largest(answers: Answers) -> str:
    """Return the corrections that changed the mean delay most, as a table."""
    place = ("carrier", "window", "window_start", "window_end")
    first = {tuple(r[n] for n in place): r for r in answers.first_said.to_pylist()}
    last: dict[tuple[object, ...], dict[str, object]] = {}
    for row in answers.corrections.sort_by("revision").to_pylist():
        last[tuple(row[n] for n in place)] = row
    rows = []
    for at, row in last.items():
        before, after = first.get(at, {}).get("mean_delay"), row["mean_delay"]
        if before is not None and isinstance(after, float):
            rows.append(
                (abs(after - before), at, before, after, first[at]["flights"], row["flights"])
            )
    rows.sort(key=lambda r: -r[0])
    head = ("window", "carrier", "from (UTC)", "to", "told", "then", "flights")
    cells = [
        (
            str(at[1]), str(at[0]), f"{at[2]:%m-%d %H:%M}", f"{at[3]:%m-%d %H:%M}",
            f"{before:.1f}", f"{after:.1f}", f"{n} then {m}",
        )
        for _, at, before, after, n, m in rows[:8]
    ]  # fmt: skip
    top = "".join(f"<th>{h}</th>" for h in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in cells
    )
    return f'<div class="scroll"><table><tr>{top}</tr>{body}</table></div>'
