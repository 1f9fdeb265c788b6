"""What the judges of the papers' figures share: ratios of costs, and figures put into words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchmarks.experiment import Verdict
from benchmarks.results import Line, Result

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def panels(result: Result) -> list[str]:
    """Return the panels, in the order they were measured in."""
    return list(dict.fromkeys([x.panel for x in result.lines] + [x.panel for x in result.violins]))


def places(line: Line) -> list[float]:
    """Return where a line was measured, from the least on."""
    return sorted(float(point.x) for point in line.points)


def costs(line: Line, among: Iterable[float] | None = None) -> list[float]:
    """Return a line's costs, at these places or at all of them, from the least place on."""
    return [line.at(x) for x in (places(line) if among is None else among)]


def best(result: Result, names: Sequence[str], x: float | str, panel: str) -> tuple[str, float]:
    """Return which of the lines costs least at a place, and what."""
    found = {name: result.line(name, panel) for name in names}
    there = {name: line.at(x) for name, line in found.items() if line.has(x)}
    name = min(there, key=lambda name: there[name])
    return name, there[name]


def verdict(parts: Sequence[bool], seen: str) -> Verdict:
    """Return "yes" where all parts of a claim hold, "no" where none does."""
    return Verdict("yes" if all(parts) else "partly" if any(parts) else "no", seen)


def time(ns: float) -> str:
    """Return a time in its unit, with two or three digits: "14 ns", "1.2 µs"."""
    size, unit = next((u for u in _UNITS if ns >= u[0]), _UNITS[-1])
    amount = ns / size
    return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.1f} {unit}"


def times(ratio: float) -> str:
    """Return a factor in words: "3.4 times"."""
    return f"{ratio:.0f} times" if ratio >= 20 else f"{ratio:.1f} times"


def listed(figures: Mapping[str, str]) -> str:
    """Return figures with what they are of: "14 ns (sum), 40 ns (geomean) and 405 ns (bloom)"."""
    words = [f"{figure} ({name})" for name, figure in figures.items()]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def power(x: float) -> str:
    """Return a size as a power of two where it is one and large: "2^20"."""
    whole = int(x)
    if whole == x and whole >= 1024 and whole & (whole - 1) == 0:
        return f"2^{whole.bit_length() - 1}"
    return f"{x:g}"
