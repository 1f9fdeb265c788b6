"""What an experiment found: points and distributions, kept as JSON with the machine's facts.

A point keeps every run of it, so that their median and spread can be looked at again. All plots,
tables and sentences of the report are made from these files and from nothing else.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

PACKAGES = (
    "sash", "numpy", "pyarrow", "pandas", "polars", "duckdb", "bottleneck", "numbagg", "river",
    "pyspark",
)  # fmt: skip


Told = Literal["least", "greatest", "median"]
_TELL: dict[Told, Callable[[list[float]], float]] = {
    "least": min,
    "greatest": max,
    "median": statistics.median,
}


@dataclass
class Point:
    """One place on a line, and what each run gave there."""

    x: float | str
    runs: list[float]
    cost: float
    """What the runs say together, see `Result.told`."""

    @property
    def median(self) -> float:
        """The middle of the runs."""
        return statistics.median(self.runs)

    @property
    def low(self) -> float:
        """The least of the runs."""
        return min(self.runs)

    @property
    def high(self) -> float:
        """The greatest of the runs."""
        return max(self.runs)


@dataclass
class Line:
    """One competitor in one panel."""

    name: str
    points: list[Point] = field(default_factory=list)
    panel: str = ""
    """Panels are drawn beside each other: one for each aggregate, say."""

    def at(self, x: float | str) -> float:
        """Return the cost at a place."""
        return next(p.cost for p in self.points if p.x == x)

    def has(self, x: float | str) -> bool:
        """Return whether it was measured at a place."""
        return any(p.x == x for p in self.points)


@dataclass
class Violin:
    """How long single operations took, as a histogram: nanoseconds by which a bin begins -> count.

    Bins are those of ``cpp/bench``: 16 to a power of two. `quantiles` has "0.5", "0.999",
    "0.99999", "min", "max" and "mean", in nanoseconds.
    """

    name: str
    bins: dict[str, int]
    quantiles: dict[str, float]
    panel: str = ""

    def join(self, other: Violin) -> None:
        """Add the operations of another pass; its quantiles count where they are less."""
        both = Counter(self.bins) + Counter(other.bins)
        self.bins = dict(sorted(both.items(), key=lambda item: float(item[0])))
        self.quantiles = {
            at: max(value, other.quantiles[at]) if at == "max" else min(value, other.quantiles[at])
            for at, value in self.quantiles.items()
        }


@dataclass
class Result:
    """What one experiment found."""

    name: str
    x_label: str = ""
    y_label: str = ""
    x_log: bool = True
    y_log: bool = True
    lower_is_better: bool | None = True
    told: Told = "least"
    """Which of its runs is a point's cost. Other load on a machine only ever adds to a time: the
    least is what comes back in the next run. Where the work itself differs, it is the median."""
    lines: list[Line] = field(default_factory=list)
    violins: list[Violin] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    """How the answers were checked, in words; each was seen to hold."""
    parameters: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """What differs from the paper or needs to be known, in words."""
    machine: dict[str, Any] = field(default_factory=dict)
    quick: bool = False
    began: str = ""
    seconds: float = 0.0

    def line(self, name: str, panel: str = "") -> Line:
        """Return a line, which there must be."""
        found = [x for x in self.lines if x.name == name and x.panel == panel]
        if not found:
            raise KeyError(f"{self.name} has no line {name!r} in panel {panel!r}")
        return found[0]

    def violin(self, name: str, panel: str = "") -> Violin:
        """Return a distribution, which there must be."""
        return next(x for x in self.violins if x.name == name and x.panel == panel)

    def add(self, name: str, x: float | str, runs: list[float], panel: str = "") -> None:
        """Add a point to a line, which begins with it if need be."""
        line = next((y for y in self.lines if y.name == name and y.panel == panel), None)
        if line is None:
            line = Line(name, panel=panel)
            self.lines.append(line)
        rounded = [float(f"{r:.5g}") for r in runs]
        line.points.append(Point(x, rounded, _TELL[self.told](rounded)))

    def joined(self, earlier: Result) -> None:
        """Add the runs of an earlier pass of the same experiment."""
        for line in self.lines:
            before = [x for x in earlier.lines if (x.name, x.panel) == (line.name, line.panel)]
            there = {p.x: p.runs for x in before for p in x.points}
            for point in line.points:
                point.runs = there.get(point.x, []) + point.runs
                point.cost = _TELL[self.told](point.runs)
        for violin in self.violins:
            for other in earlier.violins:
                if (other.name, other.panel) == (violin.name, violin.panel):
                    violin.join(other)
        self.began = earlier.began
        self.seconds = round(self.seconds + earlier.seconds, 1)

    def save(self, folder: Path) -> Path:
        """Write it to a folder, under its name."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n")
        return path

    @classmethod
    def load(cls, path: Path) -> Result:
        """Read it again."""
        kept = json.loads(path.read_text())
        lines = [
            Line(x["name"], [Point(**p) for p in x["points"]], x["panel"])
            for x in kept.pop("lines")
        ]
        violins = [Violin(**x) for x in kept.pop("violins")]
        return cls(**kept, lines=lines, violins=violins)


def load_all(folder: Path) -> dict[str, Result]:
    """Read all results of a folder, by name."""
    found = [Result.load(path) for path in sorted(folder.glob("*.json"))]
    return {result.name: result for result in found}


def machine() -> dict[str, Any]:
    """Return the facts that a figure means nothing without."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        model = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), model)
    compiler = os.environ.get("CXX", "g++")
    told = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory GB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.release()}",
        "compiler": (told.stdout.splitlines() or ["none"])[0],
        "python": platform.python_version(),
        "load before": round(os.getloadavg()[0], 2),
        "packages": {name: v for name in PACKAGES if (v := _version(name))},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def now() -> str:
    """Return the time, for `Result.began`."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
