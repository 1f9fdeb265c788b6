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
from sash.spark._frames import CELL
from sash.spark._metrics import Counters
from sash.spark._ranges import Ranges
from sash.spark._rows import MOST_BYTES, batches_out, first_that_raises, place, refuse_null_times
from sash.spark._worker import calm

STRETCH = 1 << 16
"""Rows that are worth a call of the kernels."""
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

    @property
    def on(self) -> str:
        """The column of times."""
        return str(self.arguments["on"])

    @property
    def keys(self) -> list[str]:
        """The columns of a key."""
        return [name for name in self.arguments["by"] if name != CELL]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn the sorted rows of a partition into results."""
        carried = Carried(None)
        fresh: list[pa.RecordBatch] = []
        rows = size = 0
        for batch in batches:
            fresh.append(self.ranges.restored(batch, self.on_type) if self.ranges else batch)
            rows += batch.num_rows
            size += batch.nbytes
            if rows < max(STRETCH, 2 * carried.rows) and size < max(MOST_BYTES, 2 * carried.nbytes):
                continue
            stretch = _Stretch(self, carried, fresh, final=False)
            yield from stretch.results()
            carried = stretch.rest()
            fresh, rows, size = [], 0, 0
        if carried.rows or rows:
            yield from _Stretch(self, carried, fresh, final=True).results()
        calm("rolling")


@dataclass(frozen=True)
class Carried:
    """Rows of the last key of a stretch, carried into the next one."""

    table: pa.Table | None
    done: int = 0
    """So many of them have given their results."""
    told_until: int = 0
    """Steps that end before this moment have given theirs."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return 0 if self.table is None else int(self.table.num_rows)

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return 0 if self.table is None else int(self.table.nbytes)


class _Stretch:
    """Some rows: those carried over, then fresh ones."""

    def __init__(
        self, task: RollingTask, carried: Carried, fresh: list[pa.RecordBatch], final: bool
    ) -> None:
        self._task, self._carried, self._final = task, carried, final
        tables = [] if carried.table is None else [carried.table]
        tables += [pa.Table.from_batches(fresh)] if fresh else []
        self._table = table = pa.concat_tables(tables).combine_chunks()
        refuse_null_times(table, task.on, task.keys)
        self._starts = key_starts(table, task.arguments["by"])
        self._call = self._make(table.num_rows)
        assert self._call.times is not None
        self._times = self._call.times.values
        self._last = int(self._starts[-1])  # where the last key begins
        self._stop = table.num_rows if final else self._decided()
        self._own = np.ones(table.num_rows, np.bool_)  # not copies of a neighbour's rows
        if task.ranges is not None:
            self._own = table.column(CELL).to_numpy() == task.ranges.of(self._times)
        self._count()

    def _count(self) -> None:
        own, counters = self._own[self._carried.rows :], self._task.counters
        counters.rows.add(int(own.sum()))
        counters.copies.add(int((~own).sum()))
        counters.keys.add(len(self._starts) - bool(self._carried.rows))

    def _make(self, rows: int) -> _SortedCall:
        starts = self._starts[: np.searchsorted(self._starts, rows)]
        return _SortedCall(self._table.slice(0, rows), starts, self._task.arguments)

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

    def rest(self) -> Carried:
        """Return the rows to carry over."""
        if self._call.every is not None:
            end = int(self._times[-1])
            return Carried(self._table.slice(self._reach(end, self._last)), told_until=end)
        moment = int(self._times[min(self._stop, len(self._times) - 1)])
        keep = self._reach(moment, self._stop)
        return Carried(self._table.slice(keep), done=self._stop - keep)

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
            result = self._own_rows(result)
        if CELL in result.column_names:
            result = result.drop_columns([CELL])
        yield from batches_out(result, self._task.added)

    def _run(self) -> Any:
        try:
            return self._call.run(1, False)
        except Exception as error:
            # The shortest stretch that fails ends with the row whose windows do.
            rows = first_that_raises(lambda n: self._make(n).run(1, False), self._table.num_rows)
            names = [*self._task.keys, self._task.on]
            where = "" if rows is None else f" {place(self._table, rows - 1, names)}"
            raise RuntimeError(f"{type(error).__name__}: {error}{where}") from error

    def _own_rows(self, result: pa.Table) -> pa.Table:
        """Return the rows that are decided now, without copies."""
        done = self._carried.done
        result, own = result.slice(done, self._stop - done), self._own[done : self._stop]
        if own.all():
            return result
        ends = np.concatenate([[0], np.flatnonzero(own[1:] != own[:-1]) + 1, [len(own)]])
        if len(ends) > _MANY_RUNS:
            return result.filter(pa.array(own))
        runs = [result.slice(a, b - a) for a, b in pairwise(ends) if own[a]]
        return pa.concat_tables(runs) if runs else result.slice(0, 0)

    def _chosen_steps(
        self, segments: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """Say which windows that advance by steps are decided, not told yet, and of their range."""
        chosen = np.ones(len(ends), np.bool_)
        if self._carried.rows:
            chosen &= (segments != 0) | (ends >= self._carried.told_until)
        if not self._final:
            chosen &= (segments != len(self._starts) - 1) | (ends < self._times[-1])
        if self._task.ranges is not None:
            cells = self._table.column(CELL).to_numpy()[self._starts]
            chosen &= self._task.ranges.of(ends) == cells[segments]
        return chosen


def _before(times: npt.NDArray[np.int64], moment: int) -> int:
    """Count the times before a moment, which may be one that no integer of theirs can say."""
    return int(np.searchsorted(times, min(max(moment, _LEAST), _MOST)))


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
