"""The panels of a result: what is drawn in one pair of axes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.results import Line, Point, Result, Violin


@dataclass
class Panel:
    """Lines or violins that are drawn together."""

    title: str
    lines: list[Line] = field(default_factory=list)
    violins: list[Violin] = field(default_factory=list)

    @property
    def places(self) -> list[float | str]:
        """Where any of the lines was measured: numbers from the least on, names as they came."""
        there = list(dict.fromkeys(point.x for point in self.points()))
        return there if self.has_names else sorted(there, key=float)

    @property
    def has_names(self) -> bool:
        """Whether places are names and not numbers."""
        return any(isinstance(point.x, str) for point in self.points())

    def points(self) -> Iterable[Point]:
        """Return the points of all lines."""
        return (point for line in self.lines for point in line.points)


def panels(result: Result) -> list[Panel]:
    """Return the panels of a result: those of lines, then those of violins."""
    lines = {x.panel: Panel(x.panel) for x in result.lines}
    for line in result.lines:
        lines[line.panel].lines.append(line)
    others = {x.panel: Panel(x.panel) for x in result.violins}
    for violin in result.violins:
        others[violin.panel].violins.append(violin)
    return [*lines.values(), *others.values()]
