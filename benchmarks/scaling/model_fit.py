"""Constants of the cost model, taken from raw results, and how well they foretell other points.

A fit of the smaller sizes alone is compared with what was measured at the larger ones; then all are
used. A constant that no result has is assumed, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.results import Line, Result
from benchmarks.scaling import cores
from benchmarks.scaling.sizes_memory import TREE
from benchmarks.scaling.sizes_work import ROLLING

Results = dict[str, Result]
SHARDS = 2
"""Of the streams that are measured, one for each core."""
GAIN = "what two cores gain at best"


@dataclass(frozen=True)
class Constant:
    """A figure of the model, and where it is from."""

    name: str
    value: float
    unit: str
    source: str


@dataclass(frozen=True)
class Foretold:
    """What the model says of a place that it was not fitted on, and what was measured there."""

    what: str
    fitted: str
    predicted: float
    measured: float
    unit: str

    @property
    def error(self) -> float:
        """How far the prediction is from the measurement, as a part of that."""
        return self.predicted / self.measured - 1


@dataclass(frozen=True)
class Straight:
    """A cost that is a fixed part and so much for each of n."""

    fixed: float
    each: float

    def at(self, n: float) -> float:
        """Return the cost of n."""
        return self.fixed + self.each * n

    @classmethod
    def of(cls, sizes: Sequence[float], costs: Sequence[float]) -> Straight:
        """Fit it so that errors are small in proportion; neither part is below zero.

        One of n costs at least what it did at the largest size, where caches and memory that the
        process had already were of the least help: what is still larger will not be cheaper.
        """
        n, cost = np.asarray(sizes, float), np.asarray(costs, float)
        fixed, each = np.linalg.lstsq(np.column_stack([1 / cost, n / cost]), np.ones(len(n)))[0]
        if fixed < 0:
            fixed, each = 0.0, np.median(cost / n)
        at_largest = (cost[-1] - fixed) / n[-1]
        return cls(float(fixed), float(max(each, at_largest, 0.0)))


@dataclass
class Model:
    """All constants and fits, and the comparisons."""

    constants: list[Constant] = field(default_factory=list)
    foretold: list[Foretold] = field(default_factory=list)
    straights: dict[str, Straight] = field(default_factory=dict)

    def value(self, name: str) -> float:
        """Return a constant."""
        return next(c.value for c in self.constants if c.name == name)

    def add(self, name: str, value: float, unit: str, source: str) -> None:
        """Add a constant."""
        self.constants.append(Constant(name, value, unit, source))


def fit(results: Results) -> Model:
    """Take everything that the results have, and assume the rest."""
    model = Model()
    _rows(model, results)
    _window(model, results)
    _rounds(model, results)
    _cores(model, results)
    _spark(model, results)
    _split_keys(model, results)
    _streams(model, results)
    return model


def _split(line: Line) -> tuple[list[float], list[float]]:
    """Return the places to fit on, a million or a tenth of the largest at most, and the others."""
    places = sorted(float(p.x) for p in line.points)
    small = [x for x in places if x <= min(places[-1] / 10, 1e6)]
    return (small, places[len(small) :]) if len(small) >= 2 else (places, [])


def _line(model: Model, name: str, line: Line, unit: str) -> None:
    """Fit costs per row or entry on the smaller places, to foretell the larger, then on all."""
    fitted, others = _split(line)
    small = Straight.of(fitted, [line.at(x) * x for x in fitted])
    places = f"{fitted[0]:.0e} to {fitted[-1]:.0e}"
    model.foretold += [
        Foretold(f"{name}, {x:.0e}", places, small.at(x) / x, line.at(x), unit) for x in others
    ]
    every = fitted + others
    model.straights[name] = Straight.of(every, [line.at(x) * x for x in every])


# ---- rows and windows --------------------------------------------------------------------------


def _rows(model: Model, results: Results) -> None:
    found = results["scaling_rows"]
    for name in ("sum", "max", "stddev"):
        _line(model, f"rolling {name}, rows", found.line(name, ROLLING), "ns per row")
        each = model.straights[f"rolling {name}, rows"].each
        model.add(f"kernel, {name}", each, "ns per row", "scaling_rows")


def _window(model: Model, results: Results) -> None:
    memory, recovery = results["scaling_memory"], results["scaling_recovery"]
    _line(model, "bytes of a tree of sums", memory.line(TREE), "bytes per entry")
    model.add(
        "an entry", model.straights["bytes of a tree of sums"].each, "bytes", "scaling_memory"
    )
    for name in ("fill", "snapshot", "restore"):
        _line(model, f"{name} of a tree", recovery.line(name), "ns per entry")
        each = model.straights[f"{name} of a tree"].each
        model.add(f"{name}, an entry", each, "ns", "scaling_recovery")
    saved = float(recovery.parameters["bytes of a snapshot, per entry"])
    model.add("an entry in a snapshot", saved, "bytes", "scaling_recovery")


def _rounds(model: Model, results: Results) -> None:
    """A round of evict, insert and query, a + b * log2(1 + d)."""
    if "fiba_distance" not in results:
        model.add("round, in order", 20.0, "ns", "assumed")
        model.add("round, for each doubling of d", 3.0, "ns", "assumed")
    else:
        found = results["fiba_distance"]
        line = found.line("FingerTree", "sum")
        n = found.parameters["n, sum"]
        places = sorted(float(p.x) for p in line.points if float(p.x) < n)  # at n all are last
        few = places[: max(2, len(places) * 3 // 5)]
        logs = np.log2(1 + np.array(few))
        each, first = np.polyfit(logs, [line.at(x) for x in few], 1)
        model.add("round, in order", float(first), "ns", "fiba_distance")
        model.add("round, for each doubling of d", float(each), "ns", "fiba_distance")
        for x in places[len(few) :]:
            model.foretold.append(
                Foretold(
                    f"round of a tree, d = {x:.0f}", f"d up to {few[-1]:.0f}",
                    float(first + each * np.log2(1 + x)), line.at(x), "ns",
                )
            )  # fmt: skip
    _big_window(model, results)


def _big_window(model: Model, results: Results) -> None:
    """How much slower a round is in a window that no cache holds, for each doubling of it."""
    if "bulk_big_window" not in results:
        model.add("slower for each doubling of n", 0.02, "", "assumed")
        return
    found = results["bulk_big_window"]
    small, big = (float(n) for n in found.parameters["n"])
    before, after = [x for x in found.lines if x.name.startswith("FingerTree") and not x.panel]
    slower = (after.at(1) / before.at(1) - 1) / np.log2(big / small)
    model.add("slower for each doubling of n", max(0.0, float(slower)), "", "bulk_big_window")
    told = list(found.parameters["bytes per entry"].values())
    model.foretold.append(
        Foretold(
            f"bytes of a native tree of geometric means, {big:.0e}", f"{small:.0e}",
            told[0]["tree"], told[1]["tree"], "bytes per entry",
        )
    )  # fmt: skip


# ---- cores and Spark ---------------------------------------------------------------------------


def _cores(model: Model, results: Results) -> None:
    """Two cores take the time of one, divided by what arithmetic gains on this machine."""
    found = results["scaling_cores"]
    best = found.line(cores.BEST)
    if not best.has(2):
        return
    gain = min(2.0, best.points[0].low / best.points[1].low)  # more is other load
    model.add(GAIN, gain, "times", "scaling_cores")
    for name in (cores.THREADS, cores.IN_THREADS, cores.IN_PROCESSES):
        one, two = found.line(name).points
        model.foretold.append(
            Foretold(f"{name}, 2 cores", "1 core", one.low / gain, two.low, "ns per row")
        )


def _spark(model: Model, results: Results) -> None:
    """A row's way through Spark: the floor both need, to Python and back, the kernel."""
    kernel = model.value("kernel, max") / 1000
    if "spark_rolling" not in results:
        model.add("shuffle and sort", 2.5, "us of CPU per row", "assumed")
        model.add("to Python and back", 2.0, "us of CPU per row", "assumed")
        return
    found = results["spark_rolling"]
    floor, ours = found.line("floor", "max"), found.line("Sash", "max")
    sort = float(np.median([p.cost for p in floor.points]))
    way = float(np.median([p.cost for p in ours.points])) - sort - kernel
    model.add("shuffle and sort", sort, "us of CPU per row", "spark_rolling")
    model.add("to Python and back", way, "us of CPU per row", "spark_rolling")
    three = found.line("Sash", "sum+max+stddev")
    more = sum(model.value(f"kernel, {x}") for x in ("sum", "stddev")) / 1000
    measured = float(np.median([p.cost for p in three.points]))
    model.foretold.append(
        Foretold(
            "Spark, sum, max and stddev", "max", sort + way + kernel + more, measured, "us per row"
        )
    )


def _split_keys(model: Model, results: Results) -> None:
    """What `split=True` costs: one row in eight is copied, and rows are wider."""
    name = "a row of a split query costs"
    if "spark_one_key" not in results:
        model.add(name, 4 / 3, "times", "assumed, after docs/spark.md")
        return
    found = results["spark_one_key"]
    (one, two), whole = found.line("Sash, split into ranges").points, found.line("Sash, one task")
    # One row in eight is copied: a split that seems cheaper than that has met less load.
    model.add(name, max(9 / 8, one.low / whole.points[0].low), "times", "spark_one_key")
    gain = next((c.value for c in model.constants if c.name == GAIN), 2.0)
    model.foretold.append(
        Foretold("Spark, one key split, 2 cores", "1 core", one.low / gain, two.low, "us per row")
    )


def _streams(model: Model, results: Results) -> None:
    """A micro-batch: a fixed part, and so much for each row."""
    if not {"spark_stream_live", "spark_stream_slides"} <= results.keys():
        model.add("a micro-batch, without its rows", 0.7, "s", "assumed")
        model.add("a row of a stream", 6.0, "us of CPU", "assumed")
        return
    sizes, seconds = [], []
    for name, unit in (("spark_stream_live", 1e-3), ("spark_stream_slides", 0.0)):
        found = results[name]
        rows = float(found.parameters["rows of a micro-batch"])
        sizes.append(rows)
        seconds.append(found.line("Sash").points[0].cost * (unit or rows * 1e-6))
    straight = Straight.of(sizes, seconds)
    fixed, source = straight.fixed / SHARDS, "spark_stream_live, spark_stream_slides"
    model.add("a row of a stream", straight.each * 1e6, "us of CPU", source)
    if "spark_stream_latency" in results:  # the driver's part is there too, which takes few CPU
        few, *others = results["spark_stream_latency"].line("Sash").points
        fixed, source = few.cost / 1e3, "spark_stream_latency"
        for point in others:
            predicted = few.cost + straight.each * float(point.x) * 1e3 / SHARDS
            what = f"micro-batch of {point.x:,.0f} rows"
            model.foretold.append(Foretold(what, f"{few.x:,.0f} rows", predicted, point.cost, "ms"))
    model.add("a micro-batch, without its rows", fixed, "s", source)
