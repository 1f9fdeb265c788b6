"""What a window operator should say, by brute force: every window over every accepted row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sash.windows import Window

Told = tuple[Any, str, int, int]  # key, window, start, end


@dataclass(frozen=True)
class Row:
    key: Any
    t: int
    x: Any


@dataclass
class Model:
    """All accepted rows, and the windows registered since when."""

    fold: Callable[[list[Any]], Any]
    windows: list[tuple[Window, int | None]]
    lateness: int = 0
    delay: int | None = None
    rows: list[Row] = field(default_factory=list)
    late: list[Row] = field(default_factory=list)
    watermark: int | None = None
    latest: int | None = None

    def process(self, batch: Iterable[Row]) -> None:
        for row in batch:
            if self.watermark is not None and row.t < self.watermark - self.lateness:
                self.late.append(row)
                continue
            self.rows.append(row)
            self.latest = row.t if self.latest is None else max(self.latest, row.t)
            if self.delay is not None:
                self.advance(self.latest - self.delay)

    def advance(self, watermark: int) -> None:
        self.watermark = watermark if self.watermark is None else max(watermark, self.watermark)

    def told(self, early: bool = False) -> dict[Told, list[Any]]:
        """Every window that is due, or every window there is.

        Several windows by rows may have their first and last row at the same times.
        """
        found: dict[Told, list[Any]] = {}
        by_key: dict[Any, list[Row]] = {}
        for row in self.rows:
            by_key.setdefault(row.key, []).append(row)
        for key, rows in by_key.items():
            rows.sort(key=lambda r: r.t)  # stable: equal times stay as they arrived
            for window, since in self.windows:
                for start, end, due, inside in windows_of(window, since, rows):
                    if early or (self.watermark is not None and due <= self.watermark):
                        value = self.fold([r.x for r in inside])
                        found.setdefault((key, window.name, start, end), []).append(value)
        return found


def windows_of(
    window: Window, since: int | None, rows: list[Row]
) -> Iterable[tuple[int, int, int, list[Row]]]:
    """Return (start, end, due, rows) of every window with rows."""
    if window.kind == "session":
        rows = [r for r in rows if since is None or r.t >= since]
        yield from _sessions(window.size, rows)
    elif window.by_rows:
        rows = [r for r in rows if since is None or r.t >= since]
        for lo, hi, due in _frames(window, rows):
            yield rows[lo].t, rows[hi - 1].t, due, rows[lo:hi]
    elif window.kind == "rolling":
        for t in sorted({r.t for r in rows}):
            if since is None or t - window.size + 1 >= since:
                inside = [r for r in rows if t - window.size < r.t <= t]
                yield t - window.size, t, t + 1, inside
    else:
        for start, end in sorted({w for r in rows for w in _fixed(window, r.t)}):
            if since is None or start >= since:
                yield start, end, end, [r for r in rows if start <= r.t < end]


def _sessions(gap: int, rows: list[Row]) -> Iterable[tuple[int, int, int, list[Row]]]:
    inside: list[Row] = []
    for row in rows:
        if inside and row.t - inside[-1].t > gap:
            yield inside[0].t, inside[-1].t + gap, inside[-1].t + gap + 1, inside
            inside = []
        inside.append(row)
    if inside:
        yield inside[0].t, inside[-1].t + gap, inside[-1].t + gap + 1, inside


NEVER = 1 << 80


def _frames(window: Window, rows: list[Row]) -> Iterable[tuple[int, int, int]]:
    """Return (first row, row after the last, due) of windows by rows."""
    n = len(rows)
    if window.kind == "count":
        starts = range(0, n - window.rows + 1, window.step)
        yield from ((i, i + window.rows, rows[i + window.rows - 1].t) for i in starts)
    elif window.kind == "last":
        yield from ((max(0, i - window.rows + 1), i + 1, rows[i].t) for i in range(n))
    else:
        lo = 0
        while lo < n:
            hi = lo + 1
            while hi < n and not _begins(window, rows, lo, hi):
                hi += 1
            due = rows[hi].t if hi < n else NEVER
            if window.kind == "punctuation" and rows[hi - 1].x > 3:
                due = rows[hi - 1].t
            yield lo, hi, due
            lo = hi


def _begins(window: Window, rows: list[Row], lo: int, hi: int) -> bool:
    if window.kind == "punctuation":  # the tests mark values above 3
        return rows[hi - 1].x > 3
    if window.kind == "delta":
        return abs(rows[hi].x - rows[lo].x) >= window.size
    return (rows[hi].x < 0) != (rows[hi - 1].x < 0)  # the tests split where the sign changes


def _fixed(window: Window, t: int) -> Iterable[tuple[int, int]]:
    if window.kind == "calendar":
        yield from ((s, e) for s, e in zip(*window.function(t, t), strict=True) if s <= t < e)
        return
    offset = window.offset or 0
    start = (t - offset) // window.slide * window.slide + offset
    while start > t - window.size:
        yield start, start + window.size
        start -= window.slide


class Downstream:
    """What a reader of the results has, and that every row of them makes sense.

    Several windows by rows may have one place, where rows have equal times.
    """

    def __init__(self, emit: str) -> None:
        self.emit = emit
        self.standing: dict[Told, list[tuple[Any, int, bool]]] = {}
        self.revisions: dict[Told, int] = {}

    def values(self) -> dict[Told, list[Any]]:
        return {place: [v for v, _, _ in said] for place, said in self.standing.items() if said}

    def read(self, table: pa.Table, values: list[str], key: str | None, by_rows: set[str]) -> None:
        for row in table.to_pylist():
            place = (
                row[key] if key else None, row["window"], row["window_start"], row["window_end"]
            )  # fmt: skip
            value = tuple(row[v] for v in values)
            crowded = row["window"] in by_rows
            self._check_revision(place, row["change"], row["revision"], crowded)
            self._read_one(place, row["change"], row["revision"], value, crowded)

    def _check_revision(self, place: Told, change: str, revision: int, by_rows: bool) -> None:
        """The revisions of a place rise; a retraction has that of what it retracts."""
        if change in ("withdrawn", "retract"):
            return
        last = self.revisions.get(place, -1)
        assert revision > last if by_rows else revision == last + 1, (place, revision, last)
        self.revisions[place] = revision

    def _read_one(self, place: Told, change: str, revision: int, value: Any, by_rows: bool) -> None:
        allowed = {
            "complete": ("complete", "correction", "withdrawn"),
            "updates": ("complete", "correction", "withdrawn", "update"),
            "changelog": ("insert", "retract"),
        }
        assert change in allowed[self.emit]
        said = self.standing.setdefault(place, [])
        if change in ("withdrawn", "retract"):
            said.remove(next(s for s in said if s[:2] == (value, revision)))
            return
        replaced: list[tuple[Any, int, bool]] = []
        if change == "correction":
            replaced = said[:]
            assert len(said) == 1 and said[0][2], f"{place} was not emitted, or is several windows"
            assert replaced[0][0] != value, f"{place} was {value} already"
        elif change != "insert":
            replaced = [s for s in said if s[1] == revision - 1 and not s[2]]
            assert by_rows or replaced or not said, f"{place} is emitted twice"
            assert not replaced or change == "complete" or replaced[0][0] != value
        else:
            assert by_rows or not said, f"{place} is inserted twice"
        now = (value, revision, change != "update")
        self.standing[place] = [now if s in replaced else s for s in said]
        if not replaced:
            self.standing[place].append(now)
