"""Real events in the order they arrived in, as files that the native program reads."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.experiment import Plan
from benchmarks.papers.sweeps import Arguments, Found, sweep
from benchmarks.results import Result
from sash.demo import flights

DAY = 86_400 * 1_000_000
_FILES = {
    "bike trips": "bikeshare14_2014_ship.parquet",
    "flights": "nycflights13_ship.parquet",
    "commits": "git_commits_7repos_clean.parquet",
}


@dataclass(frozen=True)
class Stream:
    """Events in the order they arrived in."""

    name: str
    times: npt.NDArray[np.int64]
    """When they happened, in microseconds."""
    values: npt.NDArray[np.float64]
    """A measure of each, at least 1: its geometric mean is defined."""
    keys: npt.NDArray[np.float64]
    """Which station, carrier or repository."""

    def write(self, folder: Path, column: str = "values", copies: int = 1) -> Path:
        """Write times and a column for the native program, and return where.

        ``copies`` follow each other in time: a short stream is too soon over to be measured.
        """
        apart = int(self.times.max() - self.times.min()) + DAY
        path = folder / f"{self.name.replace(' ', '_')}_{column}_{copies}.bin"
        with path.open("wb") as file:
            np.array([len(self.times) * copies], np.int64).tofile(file)
            for copy in range(copies):
                (self.times + copy * apart).tofile(file)
            for _ in range(copies):
                getattr(self, column).astype(np.float64).tofile(file)
        return path

    def late(self) -> float:
        """Return the share of events that happened before one that had arrived already."""
        return round(float(np.mean(self.times < np.maximum.accumulate(self.times))), 3)

    def sum_of_sums(self, span: int) -> int:
        """Return what all sums over the window add up to, the last of them taken twice.

        A row is in the window from its arrival until an event comes that is younger by the span.
        """
        youngest = np.maximum.accumulate(self.times)
        until = np.searchsorted(youngest, self.times + span)
        seen = np.maximum(until - np.arange(len(until)), 0)
        values = self.values.astype(np.int64)
        last = self.times > youngest[-1] - span
        return int((seen * values).sum() + values[last].sum())


def streams(plan: Plan) -> dict[str, Stream]:
    """Read all streams there are; without any files, the flights that come by pip."""
    found = {
        name: _read(name, plan.data / file)
        for name, file in _FILES.items()
        if (plan.data / file).exists()
    }
    return found or {"flights": _flights()}


def panels(plan: Plan, monoids: Sequence[str]) -> list[tuple[Stream, str]]:
    """Return what is aggregated how: the first stream by all monoids, the others by the first."""
    first, *others = streams(plan).values()
    return [(first, monoid) for monoid in monoids] + [(other, monoids[0]) for other in others]


def replay(
    result: Result,
    plan: Plan,
    lines: Mapping[str, Arguments],
    days: Sequence[float],
    monoids: Sequence[str],
) -> None:
    """Add the lines over time windows of some days, in a panel for each stream and monoid."""
    with tempfile.TemporaryDirectory() as folder:
        for stream, monoid in panels(plan, monoids):
            costly = monoid == "bloom"
            found = sweep(
                result, plan, "replay", lines, _span, days, panel=f"{stream.name}, {monoid}",
                monoid=monoid, file=stream.write(Path(folder), "keys" if costly else "values"),
                times=1 if costly else 2,
            )  # fmt: skip
            if monoid == "sum":
                for (name, x), several in found.items():
                    _check_sums(stream, name, x, several[0])
    result.checks.append("the sums of all answers are those found without any window structure")
    result.parameters = {
        x.name: {"rows": len(x.times), "late": x.late()} for x in streams(plan).values()
    }
    result.notes = [
        "Bike trips of another city, flights and commits stand in for the paper's Citi Bike trips. "
        "There are fewer: a window of 32 days holds up to 37,000 rows, the paper's 991,000.",
        "bloom is over the keys (stations), the others over the measures (durations).",
    ]


def _span(days: float) -> dict[str, int]:
    return {"span": int(days * DAY)}


def _check_sums(stream: Stream, name: str, days: float, found: Found) -> None:
    expected = stream.sum_of_sums(int(days * DAY))
    if found["checksum"] != str(expected):
        raise AssertionError(
            f"{stream.name}, {days} days: the answers of {name} sum up to {found['checksum']}, "
            f"but each row's value, as often as it is in a window, to {expected}"
        )


def _read(name: str, path: Path) -> Stream:
    table = pq.read_table(path, columns=["event_time", "key", "value"]).combine_chunks()
    key = table["key"].chunk(0)
    if isinstance(key, pa.DictionaryArray):
        key = key.indices
    values = table["value"].cast("float64").fill_null(0)  # diverted flights have none
    return _stream(name, table["event_time"].cast("int64").to_numpy(), values, key)


def _flights() -> Stream:
    all_flights = flights.load()
    order = np.argsort(all_flights.arrival(), kind="stable")
    carriers = all_flights.table["carrier"].combine_chunks().dictionary_encode().indices
    departed = all_flights.departure[order] * 60_000_000
    return _stream("flights", departed, all_flights.delay[order], carriers.to_numpy()[order])


def _stream(
    name: str, times: npt.NDArray[np.int64], measures: npt.ArrayLike, keys: npt.ArrayLike
) -> Stream:
    values = np.asarray(measures).astype(np.float64)
    return Stream(name, times, values - min(values.min() - 1, 0), np.asarray(keys, np.float64))
