"""What the demo computes and times, apart from how it is shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import sash
from sash import agg
from sash._demo_flights import DAY, Flights, Ints

STRUCTURES: list[type[Any]] = [
    sash.SubtractOnEvict,
    sash.TwoStacksLite,
    sash.TwoStacks,
    sash.DabaLite,
    sash.Daba,
    sash.FlatFit,
    sash.Amta,
    sash.ReactiveAggregator,
]
AGGREGATES: dict[str, Callable[[], sash.Aggregate]] = {
    "mean": lambda: agg.mean(dtype=int),
    "max": lambda: agg.max(dtype=int),
    "stddev": lambda: agg.stddev(dtype=int),
}
COUNT, MONTH = 1_000, 27_000


class WrongAnswerError(AssertionError):
    """Two structures, or a structure and brute force, that do not agree."""


@dataclass(frozen=True)
class Rolling:
    """The answers for every flight's window, one array for each question."""

    title: str
    columns: dict[str, npt.NDArray[Any]]
    first: Ints
    """The oldest flight that is still in the window."""


def questions() -> list[sash.Aggregate]:
    """Return what is asked of every window, all of it in one pass."""
    return [
        agg.count().alias("flights"),
        agg.mean("delay", dtype=int).alias("mean"),
        agg.stddev("delay", dtype=int).alias("stddev"),
        agg.topk(3, "delay", dtype=int).alias("top"),
        agg.argmax("delay", "row", dtype=int, argument_dtype=int).alias("worst"),
        agg.first("row", dtype=int).alias("first"),
        agg.hll("aircraft").alias("hll"),
    ]


def rolling(flights: Flights, by_time: bool, tick: Callable[[], None]) -> Rolling:
    """Answer all questions for each flight's window: the last 24 hours, or 1,000 flights."""
    rows = {"delay": flights.delay, "row": np.arange(len(flights))}
    rows["aircraft"] = flights.table["tailnum"]
    if by_time:
        title = "the last 24 hours"
        columns = sash.TimedWindow(questions()).slide(flights.departure, rows, DAY)
        tick()
        carriers = sash.TimedWindow(agg.distinct())
        sets = carriers.slide(flights.departure, flights.table["carrier"], DAY)
    else:
        title = f"the last {COUNT:,} flights"
        columns = sash.DabaLite(questions()).slide(rows, COUNT)
        tick()
        sets = sash.DabaLite(agg.distinct()).slide(flights.table["carrier"], COUNT)
    tick()
    columns["carriers"] = np.array([len(s) for s in sets])
    return Rolling(title, columns, np.asarray(columns["first"]))


def check(flights: Flights, result: Rolling, sample: int) -> list[float]:
    """Compare sampled windows with brute force; return the errors of HyperLogLog."""
    rng = np.random.default_rng(2013)
    errors = []
    for row in rng.integers(0, len(flights), sample):
        first = int(result.first[row])
        delay = flights.delay[first : row + 1]
        here = {name: column[row] for name, column in result.columns.items()}
        same = (
            here["flights"] == len(delay)
            and here["mean"] == delay.sum() / len(delay)
            and list(here["top"]) == np.sort(delay)[::-1][:3].tolist()
            and here["worst"] == first + int(delay.argmax())
            and (len(delay) < 2 or abs(here["stddev"] - delay.std(ddof=1)) < 1e-9)
            and here["carriers"] == len(distinct(flights, "carrier", first, row))
        )
        if not same:
            raise WrongAnswerError(f"{result.title}, at flight {row}: {here}")
        exact = len(distinct(flights, "tailnum", first, row))
        errors.append(abs(int(here["hll"]) - exact) / exact)
    return errors


def distinct(flights: Flights, column: str, first: int, row: int) -> set[Any]:
    """Return the different values of a column among flights first to row."""
    return set(flights.table[column].slice(first, row + 1 - first).to_pylist())


@dataclass(frozen=True)
class Timing:
    """What one structure needed for one aggregate."""

    structure: str
    nanoseconds: dict[str, float | None]
    """For each aggregate, per flight; None where the aggregate does not allow the structure."""


def timings(flights: Flights, repeat: int, tick: Callable[[], None]) -> list[Timing]:
    """Time every structure on windows of 1,000 flights, and insist that all answers agree."""
    out = [Timing("Recalc", {n: _recalc(flights, make) for n, make in AGGREGATES.items()})]
    expected: dict[str, Any] = {}
    for structure in STRUCTURES:
        taken: dict[str, float | None] = {}
        for name, make in AGGREGATES.items():
            try:
                structure(make())
            except TypeError:  # the laws of the aggregate do not allow this structure
                taken[name] = None
                continue
            best, found = _best(structure, make, flights.delay, repeat)
            taken[name] = best / len(flights) * 1e9
            _agree(structure.__name__, name, found, expected.setdefault(name, found))
            tick()
        out.append(Timing(structure.__name__, taken))
    for name, make in AGGREGATES.items():
        _agree_with_recalc(flights, name, make, expected[name])
    return out


def _best(
    structure: type[Any], make: Callable[[], sash.Aggregate], values: Ints, repeat: int
) -> tuple[float, Any]:
    best, found = float("inf"), None
    for _ in range(repeat):
        window = structure(make())
        started = time.perf_counter()
        found = window.slide(values, COUNT)
        best = min(best, time.perf_counter() - started)
    return best, found


def _recalc(flights: Flights, make: Callable[[], sash.Aggregate]) -> float:
    """Time recalculation on full windows, over a short stretch: it is slow."""
    window = sash.Recalc(make())
    window.insert_many(flights.delay[:COUNT])
    rows = flights.delay[COUNT : COUNT + 2000]
    started = time.perf_counter()
    window.slide(rows, COUNT)
    return (time.perf_counter() - started) / len(rows) * 1e9


def _agree(structure: str, name: str, found: Any, expected: Any) -> None:
    exact = AGGREGATES[name]().laws.exact
    same = np.array_equal(found, expected) if exact else np.allclose(found, expected, 1e-12, 1e-9)
    if not same:
        raise WrongAnswerError(f"{structure} gives another {name} than the other structures")


def _agree_with_recalc(
    flights: Flights, name: str, make: Callable[[], sash.Aggregate], expected: Any
) -> None:
    rng = np.random.default_rng(2013)
    for end in rng.integers(COUNT + 100, len(flights), 20):
        window = sash.Recalc(make())
        window.insert_many(flights.delay[end - 100 - COUNT : end - 100])
        found = window.slide(flights.delay[end - 100 : end], COUNT)
        _agree("Recalc", name, found, expected[end - 100 : end])


def latencies(flights: Flights, repeat: int, tick: Callable[[], None]) -> dict[str, Ints]:
    """Return the nanoseconds of each single step on windows of a month.

    The steps are the same in each repetition, so the least of them is the structure's own time,
    without what the machine did meanwhile.
    """
    size = min(MONTH, len(flights) // 2)
    out = {}
    for structure in (sash.TwoStacksLite, sash.DabaLite):
        runs: list[Ints] = []
        for _ in range(repeat):
            runs.append(structure(agg.stddev(dtype=int))._latencies(flights.delay, size)[size:])
            tick()
        out[structure.__name__] = np.min(runs, axis=0)
    return out


def percentiles(sample: Ints, at: Iterable[float]) -> list[float]:
    """Return the percentiles of a sample."""
    return [float(p) for p in np.percentile(sample, list(at), method="higher")]
