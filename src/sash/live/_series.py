"""What a chart needs of a series, at any zoom: the four points of each column of pixels.

A series is an aggregate of one window and key: a point at each window's end. Of the points in one
column of pixels, a line through the first, the lowest, the highest and the last looks exactly as
one through all of them. A `FingerTree` of such aggregates gives them for any stretch of time in a
few combines, and takes a corrected window in the same way as a new one.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sash import FingerTree, agg
from sash.live._cells import Cell
from sash.live._reader import REMEMBERED, Reader

MOST_COLUMNS = 4000
MOST_BYTES = 256 * 2**20  # of all trees that are kept
_FEW = 1000  # changes that are always taken one by one

Point = tuple[int, float]


class Column(NamedTuple):
    """One column of pixels. The points are None where it has none; NaN is counted only."""

    place: int
    first: Point | None
    last: Point | None
    min: Point | None
    max: Point | None
    points: int
    nans: int
    corrections: int
    corrected: int | None

    def line(self) -> list[Point]:
        """Return its points in order of time, each once."""
        four = (self.first, self.min, self.max, self.last)
        return sorted({point for point in four if point is not None})


class Series:
    """The points of one aggregate of one key and window, brought up to date when asked to."""

    def __init__(self, key: int, window: int, aggregate: int) -> None:
        self._series = (key, window)
        self._aggregate = aggregate
        self._tree = _tree()
        self._seen: int | None = None

    def __len__(self) -> int:
        return len(self._tree)

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return int(self._tree.nbytes)

    @property
    def extent(self) -> tuple[int, int] | None:
        """The first and the last end of a window."""
        return (self._tree.oldest, self._tree.youngest) if len(self._tree) else None

    def catch_up(self, history: Reader) -> None:
        """Take in what changed since the last time; call it within one snapshot."""
        meta = history.meta()
        batch = meta["batch"]
        if batch is None or batch == self._seen:
            return
        if self._seen is None or batch - self._seen >= REMEMBERED or batch < self._seen:
            self._fill(history)
        else:
            self._update(history, self._seen, meta["pruned"])
        self._seen = batch

    def columns(self, t_from: int, t_to: int, number: int) -> list[Column]:
        """Return those of ``number`` columns of [t_from, t_to) that have windows."""
        edges = column_edges(t_from, t_to, number).tolist()
        found = []
        for place, (start, end) in enumerate(pairwise(edges)):
            if start < end:
                column = self._column(place, start, end - 1)  # the tree includes both ends
                if column.points or column.nans or column.corrections:
                    found.append(column)
        return found

    def neighbours(self, t_from: int, t_to: int) -> tuple[Point | None, Point | None]:
        """Return the last point before ``t_from`` and the first one from ``t_to`` on."""
        if not len(self._tree):
            return None, None
        before = self._column(0, min(self._tree.oldest, t_from), t_from - 1)
        after = self._column(0, t_to, max(self._tree.youngest, t_to))
        return before.last, after.first

    def _column(self, place: int, t_first: int, t_last: int) -> Column:
        line, points, nans, corrections, corrected = self._tree.query(t_first, t_last)
        line = line or dict.fromkeys(("first", "last", "min", "max"))
        four = (line["first"], line["last"], line["min"], line["max"])
        return Column(place, *four, points, nans, corrections or 0, corrected)

    def _fill(self, history: Reader) -> None:
        self._tree = _tree()
        self._insert(history.points(self._series, self._aggregate))

    def _update(self, history: Reader, seen: int, pruned: list[int] | None) -> None:
        """Take in what changed; some of the windows up to the end ``pruned[1]`` are gone."""
        ends = set(history.touched(self._series, seen))
        if pruned is not None and pruned[0] > seen:
            self._tree.bulk_evict(pruned[1])
            ends |= set(history.ends_up_to(self._series, pruned[1]))
        if len(ends) > max(_FEW, len(self._tree) // 4):
            self._fill(history)
            return
        for end in ends:
            self._tree.evict(end)
        self._insert(history.points(self._series, self._aggregate, list(ends)))

    def _insert(self, points: list[tuple[int, Cell, int]]) -> None:
        """Insert points in order of time; of several at one moment the last one counts."""
        latest = {end: (value, corrections) for end, value, corrections in points}
        if not latest:
            return
        times = np.fromiter(latest, np.int64, len(latest))
        cells, counts = zip(*latest.values(), strict=True)
        null = np.fromiter((cell is None for cell in cells), bool, len(cells))
        values = np.array([0.0 if cell is None else float(cell) for cell in cells])
        nan = np.isnan(values)
        corrections = np.array(counts, dtype=np.int64)
        rows = {
            "value": np.ma.masked_array(values, null | nan),
            "time": times,
            "nan": np.ma.masked_array(values, ~nan),
            "corrections": corrections,
            "corrected": np.ma.masked_array(times, corrections == 0),
        }
        self._tree.bulk_insert(times, rows)


class SeriesCache:
    """The series looked at lately, as many as fit in ``most_bytes``, and at least one."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._history: str | None = None
        self._series: OrderedDict[tuple[int, int, int], Series] = OrderedDict()

    def __len__(self) -> int:
        return len(self._series)

    def get(self, history: Reader, key: int, window: int, aggregate: int) -> Series:
        """Return a series as it is in the history now; call it within one snapshot."""
        identity = history.meta()["id"]
        if identity != self._history:  # another file is there now
            self._series.clear()
            self._history = identity
        place = (key, window, aggregate)
        series = self._series.pop(place, None)
        if series is None:
            series = Series(*place)
        series.catch_up(history)
        self._series[place] = series
        while len(self._series) > 1 and self._bytes() > self._most_bytes:
            self._series.popitem(last=False)
        return series

    def _bytes(self) -> int:
        return sum(series.nbytes for series in self._series.values())


def column_edges(t_from: int, t_to: int, number: int) -> npt.NDArray[np.int64]:
    """Return the times at which columns of pixels begin, and where the last one ends."""
    span = t_to - t_from
    return np.array([t_from + span * i // number for i in range(number + 1)], dtype=np.int64)


def _tree() -> Any:
    return FingerTree(
        [
            agg.m4("value", "time"),
            agg.count("value"),
            agg.count("nan"),
            agg.sum("corrections", dtype=int),
            agg.max("corrected", dtype=int),
        ]
    )
