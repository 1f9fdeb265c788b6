"""The demo's report: one HTML file that needs nothing else, with its charts inside."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.dates import DateFormatter, MonthLocator
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from sash._demo_flights import Flights, Ints
from sash._demo_measure import Rolling

Rows = list[list[str]]
INK, SOFT, BLUE, ORANGE = "#1f2933", "#64707d", "#2f6fb0", "#d9822b"
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "sash",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Helvetica", "Arial"],
    "font.size": 11,
    "text.color": INK,
    "axes.edgecolor": "#c3cad1",
    "axes.labelcolor": SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e7ebef",
    "xtick.color": SOFT,
    "ytick.color": SOFT,
}
_CSS = """
body { font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; color: #1f2933;
       max-width: 60rem; margin: 2.5rem auto; padding: 0 1.25rem; background: #fff; }
h1 { font-size: 1.9rem; margin-bottom: .2rem; } h2 { font-size: 1.25rem; margin-top: 2.4rem; }
p.lead { color: #64707d; margin-top: 0; } svg { width: 100%; height: auto; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid #e7ebef; }
th:first-child, td:first-child { text-align: left; } th { color: #64707d; font-weight: 600; }
"""


def _svg(figure: Figure) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    whole = re.sub("<metadata>.*?</metadata>", "", text.getvalue(), flags=re.DOTALL)
    return whole[whole.index("<svg") :]


def year_chart(flights: Flights, result: Rolling) -> str:
    """Draw the rolling mean and the rolling maximum over the year."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(10, 5.4), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        shown = np.unique(np.searchsorted(flights.departure, _instants(flights)))
        when = flights.dates()[shown]
        mean = result.columns["mean"][shown]
        worst = np.array([top[0] for top in result.columns["top"][shown]])
        above.fill_between(when, mean, 0, color=BLUE, alpha=0.15, linewidth=0)
        above.plot(when, mean, color=BLUE, linewidth=1.1)
        above.set_title("Mean arrival delay of the last 24 hours, minutes", loc="left", fontsize=12)
        below.plot(when, worst, color=ORANGE, linewidth=1.1)
        below.set_title(
            "Worst arrival delay of the last 24 hours, minutes", loc="left", fontsize=12
        )
        _mark(above, when, mean, f"{mean.max():.0f} min")
        row = int(result.columns["worst"][shown[int(worst.argmax())]])
        below.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
        _mark(below, when, worst, f"{flights.name(row)}: {int(worst.max()):,} min")
        below.set_ylim(0, worst.max() * 1.15)
        above.set_ylim(min(mean.min() * 1.1, -5), mean.max() * 1.15)
        span = when[-1] - when[0]
        below.set_xlim(when[0] - span / 100, when[-1] + span / 100)
        below.xaxis.set_major_locator(MonthLocator())  # type: ignore[no-untyped-call]
        below.xaxis.set_major_formatter(DateFormatter("%b"))  # type: ignore[no-untyped-call]
        return _svg(figure)


def _instants(flights: Flights) -> Ints:
    return np.arange(int(flights.departure[0]), int(flights.departure[-1]), 120, dtype=np.int64)


def _mark(axes: Any, when: Any, values: Any, words: str) -> None:
    """Point out the highest value, with its words on the side that has room."""
    at = int(values.argmax())
    late = at > len(when) * 0.6
    axes.plot(when[at], values[at], "o", color=INK, markersize=4)
    axes.annotate(
        words,
        (when[at], values[at]),
        xytext=(-9 if late else 9, 0),
        textcoords="offset points",
        ha="right" if late else "left",
        va="center",
        fontsize=10,
    )


def latency_chart(sample: dict[str, Ints]) -> str:
    """Draw which share of single steps takes longer than a given time."""
    colours = {"TwoStacksLite": ORANGE, "DabaLite": BLUE}
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(10, 4.2), layout="constrained")
        axes = figure.subplots()
        for name, taken in sample.items():
            ordered = np.sort(taken)
            slower = 1 - np.arange(len(ordered)) / len(ordered)
            axes.step(ordered, slower, where="pre", color=colours[name], linewidth=2.2, label=name)
            axes.plot(ordered[-1], slower[-1], "o", color=colours[name], markersize=6)
            axes.annotate(
                f"{name}\nat worst {duration(float(ordered[-1]))}",
                (ordered[-1], slower[-1]),
                xytext=(11, 0),
                textcoords="offset points",
                va="center",
                color=colours[name],
                fontweight="bold",
                fontsize=10,
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        low = min(int(taken.min()) for taken in sample.values())
        high = max(int(taken.max()) for taken in sample.values())
        axes.set_xlim(low * 0.6, high * 12)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: duration(x)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: _share(y)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_title("How many of the steps take longer than this", loc="left", fontsize=12)
        return _svg(figure)


def duration(nanoseconds: float) -> str:
    """Return nanoseconds in a unit that reads well."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def _share(y: float) -> str:
    return "all" if y >= 1 else f"1 in {round(1 / y):,}"


def table(head: list[str], rows: Rows) -> str:
    """Return a table as HTML."""
    top = "".join(f"<th>{html.escape(h)}</th>" for h in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows
    )
    return f'<div class="wide"><table><tr>{top}</tr>{body}</table></div>'


def write(path: Path, lead: str, sections: list[tuple[str, str, str]]) -> None:
    """Write the report: for each section a heading, a paragraph, and a chart or table."""
    parts = [
        f"<h2>{html.escape(heading)}</h2><p>{html.escape(words)}</p>{shown}"
        for heading, words, shown in sections
    ]
    title = "Sash on the flights of 2013"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<style>{_CSS}</style><h1>{title}</h1><p class="lead">{html.escape(lead)}</p>'
        f"{''.join(parts)}</html>\n",
        encoding="utf-8",
    )
