"""The charts of the demo's report, drawn with Matplotlib into SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

import sash
from sash import agg
from sash.demo._answers import Answers
from sash.demo._replay import Replay
from sash.jobs import Progress

INK, SOFT, FAINT = "#1f2933", "#64707d", "#e7ebef"
BLUE, ORANGE, GREEN, RED = "#2f6fb0", "#d9822b", "#2f8f6b", "#c0392b"
STYLE: Any = {
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
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
}
_WIDE, _NARROW = 10.0, 4.6
Draw = Callable[[Figure, bool], None]


def chart(draw: Draw, height: float, words: str) -> str:
    """Return a chart as HTML, drawn for wide screens and again for narrow ones."""
    parts = []
    for shape, width in (("wide", _WIDE), ("narrow", _NARROW)):
        with mpl.rc_context(STYLE):
            figure = Figure(figsize=(width, height), layout="constrained")
            draw(figure, shape == "narrow")
            parts.append(f'<div class="chart {shape}" role="img" aria-label="{words}">')
            parts.append(f"{_svg(figure, shape)}</div>")
    return "".join(parts)


def _svg(figure: Figure, shape: str) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    whole = re.sub("<metadata>.*?</metadata>", "", text.getvalue(), flags=re.DOTALL)
    whole = whole[whole.index("<svg") :]
    # Two drawings in one page must not share the names of their parts.
    names = re.compile(r'(id="|xlink:href="#|url\(#)')
    return names.sub(lambda found: f"{found[0]}{shape}-{id(figure) % 9973}-", whole)


def _dates(axes: Any) -> None:
    locator = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def thinned(times: Any, values: Any, columns: int) -> tuple[Any, Any]:
    """Return the points that draw the same line in so many columns: M4, by a finger tree."""
    tree = sash.FingerTree(agg.m4())
    tree.bulk_insert(times, list(zip(values.tolist(), times.tolist(), strict=True)))
    edges = np.linspace(times[0], times[-1] + 1, columns + 1).astype(np.int64)
    points: set[tuple[int, float]] = set()
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        found = tree.query(low, high - 1) if high > low else None
        points.update(found.values() if found else ())
    shown = sorted(points)
    when = np.array([t for t, _ in shown], np.int64).astype("datetime64[us]")
    return when, np.array([v for _, v in shown])


def _of(table: pa.Table, carrier: str, kind: str) -> pa.Table:
    found = pc.and_(
        pc.equal(table["carrier"], carrier), pc.starts_with(table["window"], pattern=kind)
    )
    return table.filter(found).sort_by("window_end")


def _micros(column: pa.ChunkedArray) -> Any:
    return column.cast(pa.int64()).to_numpy()


# ---- the charts --------------------------------------------------------------------------------


def year(answers: Answers, carriers: dict[str, str]) -> str:
    """Draw the mean delay of the sliding windows over the year, for some carriers."""

    def draw(figure: Figure, narrow: bool) -> None:
        rows = figure.subplots(len(carriers), 1, sharex=True, sharey=True)
        for axes, (code, name) in zip(rows, carriers.items(), strict=True):
            found = _of(answers.windows, code, "sliding")
            found = found.filter(pc.is_valid(found["mean_delay"]))
            when, mean = thinned(
                _micros(found["window_end"]),
                found["mean_delay"].to_numpy(),
                180 if narrow else 420,
            )
            axes.plot(when, mean, color=BLUE, linewidth=0.9)
            axes.axhline(0, color=SOFT, linewidth=0.6)
            title = f"{name}"
            axes.set_title(title, loc="left", fontsize=10.5, pad=3)
            at = int(mean.argmax())
            axes.plot(when[at], mean[at], "o", color=RED, markersize=3.5)
            axes.annotate(
                f"{mean[at]:.0f} min", (when[at], mean[at]), xytext=(6, -3),
                textcoords="offset points", fontsize=9, color=RED,
            )  # fmt: skip
        _dates(rows[-1])
        rows[-1].set_ylabel("minutes late", fontsize=9)

    words = "Mean arrival delay of six hours of departures, through the year, by carrier"
    return chart(draw, 1.55 * len(carriers), words)


def one_day(answers: Answers, carrier: str, day: np.datetime64) -> str:
    """Draw a day of one carrier: its three kinds of windows over the same rows."""
    first, last = day - np.timedelta64(4, "h"), day + np.timedelta64(34, "h")

    def within(kind: str) -> pa.Table:
        found = _of(answers.windows, carrier, kind)
        ends = found["window_end"].to_numpy().astype("datetime64[us]")
        return found.filter(pa.array((ends >= first) & (ends <= last)))

    def draw(figure: Figure, narrow: bool) -> None:
        axes, below = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
        rolling, sliding, sessions = within("rolling"), within("sliding"), within("session")
        when = rolling["window_end"].to_numpy().astype("datetime64[us]")
        axes.plot(
            when, rolling["mean_delay"].to_numpy(), ".", color=ORANGE, markersize=3,
            label="rolling: the hour before each departure",
        )  # fmt: skip
        ends = sliding["window_end"].to_numpy().astype("datetime64[us]")
        axes.step(
            ends, sliding["mean_delay"].to_numpy(), where="post", color=BLUE, linewidth=1.8,
            label="sliding: six hours, every hour",
        )  # fmt: skip
        axes.set_ylabel("mean delay, minutes", fontsize=9)
        axes.legend(loc="upper left", frameon=False, fontsize=8.5 if narrow else 9.5)
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + (high - low) * 0.3)
        for i, row in enumerate(sessions.to_pylist()):
            edges: Any = [np.datetime64(row[n].replace(tzinfo=None)) for n in _ENDS]
            start, end = max(edges[0], first), min(edges[1], last)
            below.barh(
                0, end - start, left=start, height=0.6, color=GREEN, alpha=0.55 + 0.3 * (i % 2)
            )
            below.text(
                start + (end - start) / 2, 0, f"{row['flights']}", ha="center", va="center",
                color="white", fontsize=9,
            )  # fmt: skip
        below.set_yticks([])
        below.grid(visible=False)
        below.set_title(
            "sessions, with their flights", loc="left", fontsize=9.5, color=GREEN, pad=2
        )
        below.set_xlim(first, last)
        _dates(below)

    words = f"Rolling, sliding and session windows of {carrier} on one day"
    return chart(draw, 4.6, words)


_ENDS = ("window_start", "window_end")


def corrections(answers: Answers) -> str:
    """Draw where windows were corrected, by carrier and time."""
    table = answers.corrections
    names = sorted(set(table["carrier"].to_pylist()), reverse=True)
    days = _micros(table["window_end"]) // 86_400_000_000
    places = np.array([names.index(c) for c in table["carrier"].to_pylist()], np.int64)
    at, count = np.unique(np.stack([days, places]), axis=1, return_counts=True)

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.subplots()
        axes.scatter(
            at[0].astype("datetime64[D]"), at[1], s=6 + 4 * np.sqrt(count), color=ORANGE,
            alpha=0.75, linewidths=0,
        )  # fmt: skip
        axes.set_yticks(range(len(names)), names, fontsize=8 if narrow else 9.5)
        axes.set_ylim(-0.8, len(names) - 0.2)
        _dates(axes)

    words = "Windows that were corrected, by carrier and day; larger dots are more windows"
    return chart(draw, 4.4, words)


def lateness(replay: Replay, watermark: int, allowed: int) -> str:
    """Draw how far behind the latest departure flights landed, and what became of them."""
    behind = replay.behind()
    edges = np.arange(0, behind.max() + 15, 15)
    counts, _ = np.histogram(behind, edges)

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.subplots()
        hours = edges[:-1] / 60
        colours = np.where(
            edges[:-1] < watermark, GREEN, np.where(edges[:-1] < watermark + allowed, ORANGE, RED)
        )
        axes.bar(hours, np.maximum(counts, 0.5), width=0.23, align="edge", color=colours)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
        axes.set_xlabel("hours behind the latest departure that had landed", fontsize=9.5)
        axes.set_title("flights", loc="left", fontsize=10, color=SOFT)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        words = {GREEN: "in time", ORANGE: "may correct windows", RED: "may be too late"}
        marks = [Patch(color=colour, label=text) for colour, text in words.items()]
        axes.legend(handles=marks, loc="upper right", frameon=False, fontsize=9.5)
        axes.set_ylim(0.7, counts.max() * 2)

    return chart(draw, 3.4, "How far behind the latest departure flights landed")


def throughput(reports: list[Progress]) -> str:
    """Draw rows a second of each micro-batch."""
    shown = [p for p in reports if p.rows]

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.subplots()
        axes.bar([p.batch + 1 for p in shown], [p.rows_per_second for p in shown], color=BLUE)
        axes.set_xlabel("micro-batch", fontsize=9.5)
        axes.set_title("rows a second", loc="left", fontsize=10, color=SOFT)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))

    return chart(draw, 2.8, "Rows a second in each micro-batch")
