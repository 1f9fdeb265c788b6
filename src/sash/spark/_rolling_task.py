"""What a Python worker does for `sash.spark.rolling`: one sorted partition, a stretch at a time.

Rows come sorted by key, range and time. A row is decided when no row to come can be in its windows:
all rows of earlier keys are, and those of the last key up to a window's reach from its last row.
What is decided goes out; what is not, and the rows that its windows reach back to, is carried into
the next stretch. So there is one window of rows in memory, whatever the size of a key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sash import _core
from sash._rolling import Call
from sash._rolling_windows import Window
from sash._sorted import key_starts
from sash._tables import flat
from sash.spark._frames import CELL
from sash.spark._metrics import Counters
from sash.spark._ranges import Ranges

STRETCH = 1 << 16
"""Rows that are worth a call of the kernels."""
OUT = 1 << 16
"""The most rows of a batch that goes back to Spark."""
_MANY_RUNS = 1 << 8
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


@dataclass
class RollingTask:
    """A function of Arrow batches, shipped to the workers."""

    arguments: dict[str, Any]
    """Of `sash.rolling`; ``by`` includes the range."""
    on_type: pa.DataType
    added: pa.Schema
    """The columns of the result that the input does not have, or all where there are steps."""
    ranges: Ranges | None
    counters: Counters
    __name__: str = "sash_rolling"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn the sorted rows of a partition into results."""
        carried: pa.Table | None = None
        done = 0  # of the carried rows, those whose results have gone out; of steps, where they end
        fresh: list[pa.RecordBatch] = []
        rows = 0
        for batch in batches:
            fresh.append(self.ranges.restored(batch, self.on_type) if self.ranges else batch)
            rows += batch.num_rows
            if rows < max(STRETCH, 2 * (carried.num_rows if carried is not None else 0)):
                continue
            stretch = _Stretch(self, _joined(carried, fresh), carried is not None, done, False)
            yield from stretch.results()
            carried, done = stretch.rest()
            fresh, rows = [], 0
        if carried is not None or rows:
            table = _joined(carried, fresh)
            yield from _Stretch(self, table, carried is not None, done, True).results()


def _joined(carried: pa.Table | None, fresh: list[pa.RecordBatch]) -> pa.Table:
    tables = [] if carried is None else [carried]
    tables += [pa.Table.from_batches(fresh)] if fresh else []
    return pa.concat_tables(tables).combine_chunks()


class _Stretch:
    """Some rows: those carried over, then fresh ones."""

    def __init__(
        self, task: RollingTask, table: pa.Table, continues: bool, done: int, final: bool
    ) -> None:
        self._task, self._table = task, table
        self._continues, self._done, self._final = continues, done, final
        self._refuse_nulls()
        self._starts = key_starts(table, task.arguments["by"])
        self._call = self._make(table)
        assert self._call.times is not None
        self._times = self._call.times.values
        self._last = int(self._starts[-1])  # where the last key begins
        self._stop = table.num_rows if final else self._decided()

    def _refuse_nulls(self) -> None:
        on = self._task.arguments["on"]
        column = flat(self._table.column(on))
        if column.null_count:
            row = int(np.flatnonzero(~column.is_valid().to_numpy(zero_copy_only=False))[0])
            raise ValueError(
                f"column {on!r} has null times, the first {_place(self._task, self._table, row)}: "
                "filter them out or fill them in"
            )

    def _make(self, table: pa.Table) -> _SortedCall:
        starts = self._starts[: np.searchsorted(self._starts, table.num_rows)]
        return _SortedCall(table, starts, self._task.arguments)

    # ---- what is decided -------------------------------------------------------------------

    def _decided(self) -> int:
        """Return the first row whose windows may get more rows."""
        stops = []
        times = self._times[self._last :]
        for window in self._call.windows:
            if window.by_count:
                stops.append(self._table.num_rows - window.after)
            else:
                stops.append(self._last + _before(times, int(times[-1]) - window.after))
        return int(max(self._last, min(stops)))

    def rest(self) -> tuple[pa.Table, int]:
        """Return the rows to carry over, and how many of them (up to when) have gone out."""
        if self._call.every is not None:
            end = int(self._times[-1])
            keep = self._reach(end, self._table.num_rows - 1)
            return self._table.slice(keep), end
        moment = int(self._times[min(self._stop, len(self._times) - 1)])
        keep = self._reach(moment, self._stop)
        return self._table.slice(keep), self._stop - keep

    def _reach(self, moment: int, row: int) -> int:
        """Return the first row that windows of a row at a moment, or of later ones, may hold."""
        keeps = []
        for window in self._call.windows:
            if window.by_count:
                keeps.append(row - window.before - 1)
            else:
                times = self._times[self._last :]
                keeps.append(self._last + _before(times, moment - window.before))
        return int(max(self._last, min(keeps)))

    # ---- results ---------------------------------------------------------------------------

    def results(self) -> Iterator[pa.RecordBatch]:
        """Compute what is decided, as Spark wants it."""
        if self._call.every is not None:
            self._call.choose_steps(self._chosen_steps)
        result: pa.Table = self._run()
        if self._call.every is None:
            result = result.slice(self._done, self._stop - self._done)
            result = self._own_rows(result)
            self._count(result.num_rows)
        if CELL in result.column_names:
            result = result.drop_columns([CELL])
        for field in self._task.added:
            i = result.column_names.index(field.name)
            if result.column(i).type != field.type:
                result = result.set_column(i, field, result.column(i).cast(field.type))
        yield from result.to_batches(max_chunksize=OUT)

    def _run(self) -> Any:
        try:
            return self._call.run(1, False)
        except Exception as error:
            row = self._failing_row()
            where = "" if row is None else f" {_place(self._task, self._table, row)}"
            raise RuntimeError(f"{type(error).__name__}: {error}{where}") from error

    def _failing_row(self) -> int | None:
        """Return the first row whose result raises: the shortest stretch that ends there does."""

        def raises(rows: int) -> bool:
            try:
                self._make(self._table.slice(0, rows)).run(1, False)
            except Exception:
                return True
            return False

        low, high = 0, self._table.num_rows
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if raises(middle) else (middle, high)
        return high - 1 if raises(high) else None

    def _own_rows(self, result: pa.Table) -> pa.Table:
        """Leave out the rows that are copies of a neighbour's."""
        ranges = self._task.ranges
        if ranges is None or not result.num_rows:
            return result
        there = result.column(CELL).to_numpy() == ranges.of(self._times[self._done : self._stop])
        ends = np.concatenate([[0], np.flatnonzero(there[1:] != there[:-1]) + 1, [len(there)]])
        if len(ends) > _MANY_RUNS:
            return result.filter(pa.array(there))
        runs = [result.slice(a, b - a) for a, b in pairwise(ends) if there[a]]
        return pa.concat_tables(runs) if runs else result.slice(0, 0)

    def _chosen_steps(
        self, segments: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """Say which windows that advance by steps are decided, not told yet, and of their range."""
        chosen = np.ones(len(ends), np.bool_)
        if self._continues:
            chosen &= (segments != 0) | (ends >= self._done)
        if not self._final:
            chosen &= (segments != len(self._starts) - 1) | (ends < self._times[-1])
        if self._task.ranges is not None:
            cells = self._table.column(CELL).to_numpy()[self._starts]
            chosen &= self._task.ranges.of(ends) == cells[segments]
        return chosen

    def _count(self, rows: int) -> None:
        counters = self._task.counters
        counters.rows.add(rows)
        counters.copies.add(self._stop - self._done - rows)
        counters.keys.add(len(self._starts) - int(self._continues))


def _before(times: npt.NDArray[np.int64], moment: int) -> int:
    """Count the times before a moment, which may be one that no integer of theirs can say."""
    return int(np.searchsorted(times, min(max(moment, _LEAST), _MOST)))


def _place(task: RollingTask, table: pa.Table, row: int) -> str:
    """Say which row it is, by its key and time."""
    names = [n for n in (*task.arguments["by"], task.arguments["on"]) if n != CELL]
    parts = [f"{name}={table.column(name)[row].as_py()!s}" for name in names]
    return f"in the row with {', '.join(parts)}"


class _SortedCall(Call):
    """A rolling call over rows that are sorted already."""

    def __init__(
        self, table: pa.Table, starts: npt.NDArray[np.int64], arguments: dict[str, Any]
    ) -> None:
        super().__init__(table, **arguments)
        self._starts = starts
        self._choose: Any = None

    def layout(self) -> _core.Layout:
        """Take the rows as they are."""
        assert self.times is not None
        marks = np.zeros(self.table.rows, np.int32)
        marks[self._starts] = 1
        codes = np.cumsum(marks, dtype=np.int32) - 1
        groups = max(1, len(self._starts))
        return _core.Layout(self.table.rows, codes, groups, self.times.values, False)

    def choose_steps(self, choose: Any) -> None:
        """Compute only the steps that a function of (segments, ends) chooses."""
        self._choose = choose

    def steps(self, layout: _core.Layout, window: Window) -> Any:
        """Return the chosen steps."""
        found = super().steps(layout, window)
        chosen = self._choose(*found[:2]) if self._choose is not None else None
        return found if chosen is None else [np.ascontiguousarray(part[chosen]) for part in found]
