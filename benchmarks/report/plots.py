"""The plots of a report: lines over sizes, dots by category, and violins of latencies."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmarks.report import curves, dots, violins
from benchmarks.report.axes import frames
from benchmarks.report.looks import Look, looks
from benchmarks.report.numbers import raised
from benchmarks.report.panels import Panel, panels
from benchmarks.report.svg import svg
from benchmarks.results import Result
from sash.demo._charts import SOFT, STYLE

_WIDE, _SINGLE, _NARROW = 10.0, 7.2, 4.6
_WIDE_ROOM, _HALF_ROOM, _NARROW_ROOM = dots.Room(44, 7.5), dots.Room(30, 2.8), dots.Room(24, 2.8)


def inline(result: Result, narrow: bool = False) -> str:
    """Return the plot as SVG for a page that has the colours of text and grid."""
    with mpl.rc_context(STYLE):
        return svg(draw(result, narrow), f"{result.name}-{'n' if narrow else 'w'}", page=True)


def save(result: Result, folder: Path) -> None:
    """Write the plot as SVG and as PNG, under the name of the result."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        figure = draw(result)
        text = svg(figure, result.name, page=False)
        (folder / f"{result.name}.svg").write_text(text + "\n", encoding="utf-8")
        figure.savefig(folder / f"{result.name}.png", dpi=120, metadata={"Software": None})


def draw(result: Result, narrow: bool = False) -> Figure:
    """Draw a result for a wide page, or for a narrow one: the panels below each other."""
    there = panels(result)
    columns = 1 if narrow else _columns(there)
    rows = [there[i : i + columns] for i in range(0, len(there), columns)]
    room = _NARROW_ROOM if narrow else _WIDE_ROOM if columns == 1 else _HALF_ROOM
    heights = [max(_height(panel, result.y_log, room) for panel in row) for row in rows]
    width = _NARROW if narrow else _WIDE if len(there) > 1 or there[0].has_names else _SINGLE
    marks = _marks(result)
    per_row = max(1, int(width / (0.55 + 0.085 * max(len(str(m.get_label())) for m in marks))))
    legend_height = 0.15 + 0.21 * math.ceil(len(marks) / per_row)
    figure = Figure(figsize=(width, sum(heights) + legend_height + 0.3), layout="constrained")
    figure.set_layout_engine("constrained", w_pad=0.09, h_pad=0.08)
    grid = figure.add_gridspec(len(rows), columns, height_ratios=heights)
    all_axes = [figure.add_subplot(grid[divmod(i, columns)]) for i in range(len(there))]
    _fill(all_axes, there, result, room, ticks=6 if columns > 2 else 8)
    better = {True: " (lower is better)", False: " (higher is better)", None: ""}
    told = result.y_label + better[result.lower_is_better]
    words = textwrap.fill(raised(told), 62 if narrow else 120)
    figure.suptitle(words, x=0.012, ha="left", fontsize=9.5, color=SOFT)
    figure.legend(
        handles=marks, loc="outside lower left", ncols=per_row, frameon=False, fontsize=9,
        handlelength=2.2, columnspacing=1.4,
    )  # fmt: skip
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # it has its places now, and is drawn more than once
    return figure


def _fill(
    all_axes: list[Any], there: list[Panel], result: Result, room: dots.Room, ticks: int
) -> None:
    ends = iter(frames([panel for panel in there if panel.lines], result.y_log))
    look = looks([line.name for line in result.lines])
    for axes, panel in zip(all_axes, there, strict=True):
        axes.tick_params(length=0, labelsize=9)
        if panel.title:
            axes.set_title(raised(panel.title), loc="left", fontsize=10.5, pad=5)
        if panel.violins:
            violins.draw(axes, panel.violins, looks([x.name for x in panel.violins]))
        elif panel.has_names:
            dots.draw(axes, panel, look, result.y_log, room, next(ends))
        else:
            curves.draw(axes, panel, look, result, next(ends), ticks)


def _height(panel: Panel, log: bool, room: dots.Room) -> float:
    if panel.violins:
        return violins.HEIGHT
    return dots.height(panel, log, room) if panel.has_names else curves.HEIGHT


def _columns(there: list[Panel]) -> int:
    """Return how many panels fit beside each other; four are two rows of two."""
    most = 3 if len(there) != 4 else 2
    rows = {len(panel.places) for panel in there if panel.has_names}
    if rows:
        most = 2 if max(rows) <= 1.5 * min(rows) else 1  # rows are of one height beside each other
    violin_count = max(len(panel.violins) for panel in there)
    if violin_count:
        most = max(1, min(most, 18 // violin_count))
    return min(most, len(there))


def _marks(result: Result) -> list[Line2D]:
    found = [_mark(name, look) for name, look in looks([x.name for x in result.lines]).items()]
    return found + (violins.marks() if result.violins else [])


def _mark(name: str, look: Look) -> Line2D:
    return Line2D(
        [], [], color=look.colour, marker=look.marker, linestyle=look.dashes, markersize=5,
        label=raised(name),
    )  # fmt: skip
