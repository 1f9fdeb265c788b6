"""Values by category: a row for each, in it a dot for each competitor, from low to high."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import Any

from benchmarks.report.axes import Range, frame, is_log, value_axis
from benchmarks.report.looks import Look, is_sash
from benchmarks.report.numbers import raised
from benchmarks.report.panels import Panel
from sash.demo._charts import FAINT

_LANE, _MARGIN = 0.13, 0.15  # inches between dots that would touch, and around a row
_WORDS = 0.14  # inches of a line of words
Lanes = dict[float | str, dict[str, int]]


@dataclass(frozen=True)
class Room:
    """What a panel has: letters for its names, and inches for its axis of values."""

    letters: int
    inches: float


def height(panel: Panel, log: bool, room: Room) -> float:
    """Return the inches that a panel needs."""
    return 0.6 + len(panel.places) * _row(lanes(panel, log, room), room)


def _row(there: Lanes, room: Room) -> float:
    words = max(len(textwrap.wrap(str(place), room.letters)) for place in there)
    return _MARGIN + max(_LANE * max(_count(row) for row in there.values()), _WORDS * words)


def _count(row: dict[str, int]) -> int:
    return max(row.values()) + 1


def lanes(panel: Panel, log: bool, room: Room) -> Lanes:
    """Return for each place in which lane of its row each line's dot is, so that none touch."""
    log = is_log(panel, log)
    low, high = frame(panel, log)
    found: Lanes = {}

    def at(value: float) -> float:
        share = math.log(value / low, high / low) if log else value / (high - low)
        return share * room.inches

    for place in panel.places:
        taken: list[list[Range]] = []
        found[place] = {}
        for line in panel.lines:
            for point in (p for p in line.points if p.x == place):
                ends = at(point.low) - _LANE * 0.65, at(point.high) + _LANE * 0.65
                lane = _free(taken, ends)
                taken[lane].append(ends)
                found[place][line.name] = lane
    return found


def _free(taken: list[list[Range]], ends: Range) -> int:
    for lane, others in enumerate(taken):
        if all(ends[1] < low or high < ends[0] for low, high in others):
            return lane
    taken.append([])
    return len(taken) - 1


def draw(
    axes: Any, panel: Panel, look: dict[str, Look], log: bool, room: Room, ends: Range
) -> None:
    """Draw a panel of categories."""
    names, log = panel.places, is_log(panel, log)
    for i in range(1, len(names), 2):
        axes.axhspan(i - 0.5, i + 0.5, color=FAINT, alpha=0.55, linewidth=0, zorder=0)
    there = lanes(panel, log, room)
    apart = _LANE / _row(there, room)
    for line in panel.lines:
        style, points = look[line.name], line.points
        shifts = [there[p.x][line.name] - (_count(there[p.x]) - 1) / 2 for p in points]
        y = [names.index(p.x) + s * apart for p, s in zip(points, shifts, strict=True)]
        axes.hlines(
            y, [p.low for p in points], [p.high for p in points], color=style.colour,
            linewidth=1.4, zorder=2,
        )  # fmt: skip
        axes.plot(
            [p.cost for p in points], y, color=style.colour, marker=style.marker,
            linestyle="none", markersize=5.5 if is_sash(line.name) else 4.6, zorder=3,
        )  # fmt: skip
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), [textwrap.fill(raised(str(x)), room.letters) for x in names])
    axes.grid(visible=False, axis="y")
    value_axis(axes, "x", ends, log)
