"""The axes of plots: their ends, and ticks that can be read."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from benchmarks.report.numbers import log_ticks, raised, sizes, tick
from benchmarks.report.panels import Panel

Range = tuple[float, float]

_SHORT = 7
"""Letters of a tick that take no more room than there is for each."""


def is_log(panel: Panel, log: bool) -> bool:
    """Return whether the axis of values can be logarithmic: a 0 has no place there."""
    return log and min(point.low for point in panel.points()) > 0


def frame(panel: Panel, log: bool) -> Range:
    """Return the ends of the axis of values: from 0, or a fourfold at least if logarithmic."""
    low = min(point.low for point in panel.points())
    high = max(point.high for point in panel.points())
    if not log:
        return min(low, 0.0), high * 1.08 or 1.0
    widen = max(1.15, math.sqrt(4 * low / high))
    return low / widen, high * widen


def frames(there: list[Panel], log: bool) -> list[Range]:
    """Return the ends for each panel of lines: the same for all, if that squeezes none."""
    if not there:
        return []
    found = [frame(panel, is_log(panel, log)) for panel in there]
    union = min(low for low, _ in found), max(high for _, high in found)
    longest = max(_length(ends, log) for ends in found)
    return [union] * len(there) if _length(union, log) <= 1.6 * longest else found


def _length(ends: Range, log: bool) -> float:
    low, high = ends
    return math.log(high / low) if log and low > 0 else high - low


def value_axis(axes: Any, which: str, ends: Range, log: bool) -> None:
    """Set the ends and ticks of the axis of values, "x" or "y"."""
    axis = axes.yaxis if which == "y" else axes.xaxis
    axes.set(**{f"{which}lim": ends})
    if log:
        axes.set(**{f"{which}scale": "log"})
        axis.set_major_locator(FixedLocator(log_ticks(*ends)))
    else:
        axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))


def positions(places: list[float], log: bool) -> dict[float, float]:
    """Return where places are on their axis; a 0 is one step before the first logarithm."""
    logs = [math.log2(x) for x in places if x > 0]
    if not log or not logs:
        return {x: x for x in places}
    step = (logs[-1] - logs[0]) / (len(logs) - 1) if len(logs) > 1 else 1.0
    return {x: math.log2(x) if x > 0 else logs[0] - step for x in places}


def place_axis(axis: Any, at: dict[float, float], most: int) -> None:
    """Put ticks where it was measured, as far as they do not touch."""
    span = max(at.values()) - min(at.values())
    words = sizes(at)
    shown: list[float] = []
    for x, position in at.items():
        wide = max(1.0, len(words[x]) / _SHORT)
        if not shown or position - at[shown[-1]] >= wide * span / (most - 0.5):
            shown.append(x)
    axis.set_major_locator(FixedLocator([at[x] for x in shown]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda _, i: raised(words[shown[i]])))
