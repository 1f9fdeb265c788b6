"""How the cost of an operation grows with the window: exponents fitted to instruction counts.

A workload of ``cpp/bench_guard/growth*.cpp`` runs at several sizes. The exponent is the slope of a
line through the logarithms of size and of instructions for each operation: 0 for a cost that does
not grow, about 0.1 for log n at these sizes, 1 for n. Counts are the same on each run, and so is
the exponent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks import guard_native
from benchmarks.guard_native import CannotMeasureError, Counted

STRUCTURES, OPERATOR = "growth", "growth_operator"
PROGRAMS = (OPERATOR, STRUCTURES)  # the longest to compile comes first
MOST = {
    "ReactiveAggregator: evict by handle among holes": 0.25,
    "WindowOperator: late sessions among emitted ones": 0.2,
    "WindowOperator: late rows that join sessions": 0.2,
    "WindowOperator: late sessions among early ones": 0.2,
    "WindowOperator: late rows of windows by count": 0.2,
    "WindowOperator: late rows of windows by punctuation": 0.2,
    "WindowOperator: single late rows of windows by count": 0.25,
    "WindowOperator: single late rows of windows by delta": 0.25,
    "WindowOperator: windows added": 0.2,
}
"""The largest exponent that each workload may have."""

Sizes = dict[int, float]


def measure(
    include: Path = guard_native.INCLUDE,
    folder: Path = guard_native.BUILD,
    programs: Iterable[str] = PROGRAMS,
) -> dict[str, Sizes]:
    """Return the instructions for each operation of each workload, by the size of the window."""
    return by_size(guard_native.measure(include, folder, programs))


def by_size(counted: Mapping[str, Counted]) -> dict[str, Sizes]:
    """Sort counts whose names end in a size, such as ``... at 4096``, by workload and size."""
    found: dict[str, Sizes] = {}
    for name, one in counted.items():
        parts = re.fullmatch(r"(.+) at (\d+)", name)
        if parts is None:
            raise CannotMeasureError(f"{name}: a workload of growth*.cpp is named '... at SIZE'")
        found.setdefault(parts[1], {})[int(parts[2])] = one.instructions / one.operations
    return found


def exponent(sizes: Sizes) -> float:
    """Return the slope of the least-squares line through log size and log cost."""
    points = [(math.log(size), math.log(cost)) for size, cost in sizes.items()]
    x, y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def problems(found: Mapping[str, Sizes], most: Mapping[str, float] = MOST) -> list[str]:
    """Return a sentence for each workload that grows faster than it may, or is missing."""
    told = []
    for name in dict.fromkeys([*most, *found]):
        if name not in found or name not in most:
            told.append(f"{name}: it is {'not measured' if name in most else 'without a limit'}")
        elif exponent(found[name]) > most[name]:
            told.append(
                f"{name}: cost grows as n^{exponent(found[name]):.2f}, "
                f"and may grow as n^{most[name]:.2f}"
            )
    return told


def table(found: Mapping[str, Sizes]) -> str:
    """Return a line for each workload: its costs by size, and the exponent."""
    lines = []
    for name, sizes in found.items():
        costs = ", ".join(f"{cost:.0f} at {size:,}" for size, cost in sizes.items())
        lines.append(f"{name}: {costs} instructions; n^{exponent(sizes):.2f}")
    return "\n".join(lines)
