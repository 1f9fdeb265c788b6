"""Lines over sizes: costs with markers, and bands from the least run to the greatest."""

from __future__ import annotations

from typing import Any

from benchmarks.report.axes import Range, is_log, place_axis, positions, value_axis
from benchmarks.report.looks import Look, is_sash
from benchmarks.report.numbers import raised
from benchmarks.report.panels import Panel
from benchmarks.results import Result

HEIGHT = 2.7


def draw(
    axes: Any, panel: Panel, look: dict[str, Look], result: Result, ends: Range, ticks: int
) -> None:
    """Draw a panel of lines, with so many ticks at most."""
    at = positions([float(x) for x in panel.places], result.x_log)
    for line in panel.lines:
        style, points = look[line.name], sorted(line.points, key=lambda p: float(p.x))
        x = [at[float(p.x)] for p in points]
        axes.fill_between(
            x, [p.low for p in points], [p.high for p in points], color=style.colour, alpha=0.16,
            linewidth=0, zorder=2,
        )  # fmt: skip
        axes.plot(
            x, [p.cost for p in points], color=style.colour, marker=style.marker, markersize=4.2,
            linestyle=style.dashes, linewidth=1.5, zorder=4 if is_sash(line.name) else 3,
        )  # fmt: skip
    place_axis(axes.xaxis, at, ticks)
    axes.set_xlabel(raised(result.x_label), fontsize=9)
    value_axis(axes, "y", ends, is_log(panel, result.y_log))
