"""Histories for tests: tables of what a pipeline tells, and a plain model of what is kept."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from sash.live import History

MEMORY = Path("/dev/shm")  # a disk would be waited for at every micro-batch
STAMP = pa.timestamp("us", tz="UTC")
HOUR = 3_600_000_000
CHANGES = ("complete", "correction", "withdrawn", "update", "insert", "retract")
ABOUT: dict[str, Any] = {
    "name": "totals",
    "keys": ["user"],
    "windows": ["hour", "session"],
    "aggregates": ["total", "label"],
    "emit": "updates",
    "watermark": "1 hour",
    "lateness": None,
}


@dataclass(frozen=True)
class Row:
    """A row of results."""

    user: str | None
    window: str
    start: int | None
    end: int | None
    total: float | None
    label: str | None = None
    revision: int = 0
    change: str = "complete"


def folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for the many histories of a Hypothesis test."""
    return tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)


def results(rows: list[Row]) -> pa.Table:
    return pa.table(
        {
            "user": pa.array([r.user for r in rows], pa.string()),
            "window": pa.array([r.window for r in rows], pa.string()),
            "window_start": pa.array([r.start for r in rows], STAMP),
            "window_end": pa.array([r.end for r in rows], STAMP),
            "total": pa.array([r.total for r in rows], pa.float64()),
            "label": pa.array([r.label for r in rows], pa.string()),
            "revision": pa.array([r.revision for r in rows], pa.int64()),
            "change": pa.array([r.change for r in rows], pa.string()),
        }
    )


def late(*rows: tuple[str | None, int | None]) -> pa.Table:
    users, times = ([row[i] for row in rows] for i in (0, 1))
    return pa.table({"user": pa.array(users, pa.string()), "time": pa.array(times, STAMP)})


def hourly(user: str, values: list[float | None], *, first: int = 0, **more: Any) -> list[Row]:
    """Return windows of an hour, one after the other."""
    return [
        Row(user, "hour", (first + i) * HOUR, (first + i + 1) * HOUR, value, **more)
        for i, value in enumerate(values)
    ]


def progress(batch: int, at: float, **more: Any) -> dict[str, Any]:
    return {
        "batch": batch,
        "at": at,
        "rows": 10,
        "rows_total": 1234,
        "rows_per_second": 56.0,
        "watermark": 9 * HOUR,
        "latest": 10 * HOUR,
        "windows": 1,
        "corrections": 0,
        "late_rows": 0,
        "state_bytes": 2_500_000,
        "running": True,
        **more,
    }


def written(path: Path, *batches: list[Row], **more: Any) -> Path:
    """Write a history of these micro-batches."""
    with History.create_or_open(path, ABOUT, **more) as history:
        for number, rows in enumerate(batches):
            history.record(number, results(rows), None)
    return path


Place = tuple[str, str, int, int]


class Model:
    """What a history keeps, worked out from all rows in the plainest way."""

    def __init__(self, most: int = 10**6) -> None:
        self.kept: dict[Place, dict[str, Any]] = {}
        self.corrections = 0
        self._most = most

    def record(self, batch: int, rows: list[Row]) -> None:
        retracted: dict[Place, dict[str, Any]] = {}
        for row in rows:
            if row.start is None or row.end is None:
                continue
            place = (str(row.user), row.window, row.end, row.start)
            if row.change in ("withdrawn", "retract"):
                gone = self.kept.pop(place, None)
                if gone and row.change == "retract":
                    retracted[place] = gone
                continue
            old = self.kept.get(place)
            if old is None and row.change == "insert":
                old = retracted.pop(place, None)
            was_complete = bool(old and old["complete"])
            again = was_complete and old is not None and old["revision"] != row.revision
            corrected = row.change == "correction" or again
            self.corrections += corrected
            self.kept[place] = {
                "start": row.start,
                "end": row.end,
                "revision": row.revision,
                "complete": was_complete or row.change != "update",
                "corrections": (old["corrections"] if old else 0) + corrected,
                "batch": batch,
                "values": [None if row.total is None else repr(row.total), row.label],
            }
        for place in sorted(self.kept, key=lambda p: (p[2], p[3]))[: -self._most]:
            del self.kept[place]

    def windows(self, user: str, window: str) -> list[dict[str, Any]]:
        """Return windows as `History.windows` does."""
        found = [kept for place, kept in self.kept.items() if place[:2] == (user, window)]
        return sorted(found, key=lambda kept: (kept["end"], kept["start"]), reverse=True)


def windows_of(history: History, user: str, window: str) -> list[dict[str, Any]]:
    key = history.key_number(f'["{user}"]')
    if key is None:
        return []
    return history.windows(key, ABOUT["windows"].index(window), most=10**6)


def rows_of(users: str = "ab", windows: tuple[str, ...] = ("hour", "session")) -> Any:
    values = st.none() | st.sampled_from([0.0, 1.5, -2.0, 7.0, math.nan, math.inf, -math.inf])
    return st.builds(
        lambda row, length: replace(row, end=row.start + length),
        st.builds(
            Row,
            user=st.sampled_from(users),
            window=st.sampled_from(windows),
            start=st.integers(-5, 40),
            end=st.none(),
            total=values,
            label=st.none() | st.sampled_from(["x", "y"]),
            revision=st.integers(0, 3),
            change=st.sampled_from(CHANGES),
        ),
        st.integers(0, 3),
    )


@dataclass(frozen=True)
class Step:
    """A micro-batch, how far its number is ahead of the last one's, and how often it comes."""

    rows: list[Row]
    ahead: int = 1
    times: int = 1


def steps(rows: Any) -> Any:
    ahead = st.sampled_from([1, 1, 1, 1, 2, 150])
    one = st.builds(Step, rows=st.lists(rows, max_size=12), ahead=ahead, times=st.integers(1, 3))
    return st.lists(one, min_size=1, max_size=8)
