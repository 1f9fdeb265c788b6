"""Rolling aggregates over tables: `rolling`.

For each row, aggregates of the rows in a window around it; or, with ``every``, of windows that
advance by a step. Tables of any library come in and go out.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from sash import _arrow, _core
from sash._aggregate import repeated
from sash._compile import AggregateLike, aggregates_of
from sash._progress import tracked
from sash._rolling_jobs import Job, jobs_of
from sash._rolling_windows import (
    LIMIT,
    Window,
    names_of,
    read_closed,
    read_times,
    read_windows,
    refuse_overlaps,
)
from sash._slices import encoded
from sash._tables import Columns, Table, open_table, require_columns
from sash.structures import whole_number

_PART = 1 << 18
"""Rows that are worth a task of their own."""


def rolling(
    table: Any,
    *,
    aggs: AggregateLike,
    on: str | None = None,
    window: Any = None,
    rows: Any = None,
    by: str | list[str] | None = None,
    closed: str | None = None,
    min_rows: int = 0,
    center: bool = False,
    order: str = "event",
    every: Any = None,
    offset: Any = None,
    threads: int | None = None,
    progress: bool = False,
) -> Any:
    """Aggregate a window around each row of a table, whatever order the rows are in.

    ``on`` is the column of times: timestamps, dates or integers. ``window`` is how far back a
    window reaches: ``"1h"``, a timedelta, or an integer in the column's unit; ``rows=1000`` counts
    rows instead. A pair ``(before, after)`` looks ahead too, and ``center=True`` puts the row in
    the middle. Several windows in a list or a dict of names share one pass. ``by`` names the
    columns whose values have windows of their own; null is a value like others.

    A window at time t covers ``(t - window, t]``; ``closed`` says which ends belong to it:
    ``"right"`` (the default), ``"left"``, ``"both"`` or ``"neither"``. Rows of equal time are peers
    and see each other. Windows of fewer than ``min_rows`` rows give null.

    ``order="event"`` aggregates what happened in the window, whenever the rows arrived;
    ``order="arrival"`` what a live window would have said when the row arrived: the table's rows
    come one by one, the window ends at the latest time so far, late rows count from then on.

    With ``every="1m"`` there is one result for each key and each step instead of one for each row:
    windows ``[end - window, end)`` for every ``end`` that is a multiple of the step (from
    ``offset``), those that hold at least one row.

    The result is a table of the library the input came from, its columns and rows as they were,
    one column added for each aggregate (and window).

    >>> import pyarrow as pa, sash
    >>> from sash import agg
    >>> table = pa.table({"t": [1, 2, 9, 3], "price": [5.0, 7.0, 6.0, 4.0]})
    >>> out = sash.rolling(table, on="t", window=2, aggs=agg.max("price"))
    >>> out["max_price"].to_pylist()
    [5.0, 7.0, 6.0, 7.0]
    """
    call = Call(table, aggs, on, window, rows, by, closed, min_rows, center, order, every, offset)
    return call.run(threads_of(threads), progress)


def threads_of(threads: int | None) -> int:
    """Return how many threads to use."""
    if threads is None:
        return len(os.sched_getaffinity(0))
    return whole_number("threads", threads, 1)


class Call:
    """One call: everything is checked before anything runs."""

    def __init__(
        self,
        table: Any,
        aggs: Any,
        on: Any,
        window: Any,
        rows: Any,
        by: Any,
        closed: Any,
        min_rows: Any,
        center: Any,
        order: Any,
        every: Any,
        offset: Any,
    ) -> None:
        self.table = open_table(table)
        self.aggregates, _ = aggregates_of(aggs)
        if order not in ("event", "arrival"):
            raise ValueError(f"order must be 'event' or 'arrival', not {order!r}")
        self.arrival = order == "arrival"
        self.keys = names_of("by", by)
        if on is not None and not isinstance(on, str):
            raise TypeError(f"on must be a column name, not {on!r}")
        self._check_columns(on)
        self.times = read_times(on, self.table.column(on)) if on is not None else None
        self.windows = read_windows(self.times, window, rows, bool(center))
        self.closed = read_closed(closed, "right" if every is None else "left")
        self.least = whole_number("min_rows", min_rows, 0)
        self.every, self.offset = self._read_step(every, offset)
        self._check_meaning()
        self.outputs = self._names()
        self.jobs = jobs_of(list(self.aggregates), self.table, self.arrival)

    def _check_columns(self, on: str | None) -> None:
        wanted = [("on", on)] if on is not None else []
        wanted += [("by", key) for key in self.keys]
        wanted += [(a.name, c) for a in self.aggregates for c in a.columns if c is not None]
        require_columns(wanted, self.table.names)

    def _read_step(self, every: Any, offset: Any) -> tuple[int | None, int]:
        if every is None:
            if offset is not None:
                raise ValueError("offset= goes with every=")
            return None, 0
        if self.times is None or any(w.by_count for w in self.windows):
            raise ValueError("every= goes with windows by time: give on= and window=, not rows=")
        if len(self.windows) > 1 or self.windows[0].after:
            raise ValueError("every= takes one window, and only one that reaches back")
        step = self.times.length("every", every)
        label = self.windows[0].label
        refuse_overlaps("every", self.windows[0].size, step, f"{label} every {every!r}")
        shift = 0 if offset is None else self.times.length("offset", offset, -LIMIT)
        return step, shift % step

    def _check_meaning(self) -> None:
        ranks = [a.output for a in self.aggregates if a.name == "rank" and a.python is None]
        if self.arrival:
            if self.times is None:
                raise TypeError("order='arrival' needs the time column: on='...'")
            if self.every is not None:
                raise ValueError("every= goes with order='event'")
            if any(w.after for w in self.windows):
                raise ValueError("order='arrival' cannot look ahead: what comes has not arrived")
            if self.closed != (False, True) and any(w.by_count for w in self.windows):
                raise ValueError("order='arrival' with rows= keeps the newest rows: closed='right'")
            if ranks:
                raise ValueError(f"{ranks[0]}: rank has a meaning in event order only")
        left, right = self.closed
        own = all((left or w.before) and (right or w.after) for w in self.windows)
        if ranks and (not own or self.every is not None):
            raise ValueError(f"{ranks[0]}: rank needs windows that hold their own row")

    def _names(self) -> dict[tuple[str, str], str]:
        """Return the name of each result: (aggregate, window) -> column."""
        several = len(self.windows) > 1
        names = {
            (a.output, w.label): f"{a.output}_{w.label}" if several else a.output
            for w in self.windows
            for a in self.aggregates
        }
        taken = set(self.table.names) if self.every is None else {*self.keys, *_WINDOW}
        if self.every is not None and (both := sorted({*self.keys} & {*_WINDOW})):
            raise ValueError(f"by: the result has a column {both[0]!r} of its own; rename the key")
        for name in names.values():
            if name in taken:
                raise ValueError(f"there is a column {name!r} already: use alias()")
        if (twice := repeated(names.values())) is not None:
            raise ValueError(f"two results would be called {twice!r}: use alias()")
        return names

    # ---- running ---------------------------------------------------------------------------

    def layout(self) -> _core.Layout:
        """Sort the rows by key and time."""
        codes, groups = key_codes(self.table, self.keys)
        times = None if self.times is None else self.times.values
        return _core.Layout(self.table.rows, codes, groups, times, self.arrival)

    def frames(self, layout: _core.Layout, window: Window) -> _core.Frames:
        """Return the frame of each row."""
        make = _core.Frames.by_count if window.by_count else _core.Frames.by_time
        return make(layout, window.before, window.after, *self.closed)

    def steps(self, layout: _core.Layout, window: Window) -> list[Any]:
        """Return the key, the end and the frame (first row, row after the last) of each step."""
        assert self.every is not None
        found = layout.steps(window.size, self.every, self.offset, *self.closed)
        return [np.asarray(part) for part in found]

    def run(self, threads: int, progress: bool) -> Any:
        """Compute everything and return the table."""
        layout = self.layout()
        if self.every is not None:
            return self._run_steps(layout, threads, progress)
        columns: Columns = {}
        work = []
        for window in self.windows:
            frames = self.frames(layout, window)
            newest = window.size if self.arrival and window.by_count else 0
            task = _core.RollTask(layout, frames, self.least, self.arrival, newest, True)
            work.append((window, frames, task))
        done = self._compute(layout, work, threads, progress)
        for window, found in zip(self.windows, done, strict=True):
            for aggregate in self.aggregates:
                columns[self.outputs[aggregate.output, window.label]] = found[aggregate.output]
        return self.table.extended(columns)

    def _run_steps(self, layout: _core.Layout, threads: int, progress: bool) -> Any:
        assert self.times is not None and self.every is not None
        window = self.windows[0]
        segments, ends, lo, hi = self.steps(layout, window)
        frames = _core.Frames.given(layout, lo, hi)
        task = _core.RollTask(layout, frames, self.least, False, 0, False)
        (found,) = self._compute(layout, [(window, frames, task)], threads, progress)
        first = np.asarray(layout.starts)[segments]
        rows = first if layout.in_order else np.asarray(layout.order)[first]
        columns: Columns = {key: self.table.column(key).take(pa.array(rows)) for key in self.keys}
        columns[_WINDOW[0]] = self.times.typed(ends - window.size)
        columns[_WINDOW[1]] = self.times.typed(ends)
        return self.table.new(columns | {a.output: found[a.output] for a in self.aggregates})

    def _compute(
        self,
        layout: _core.Layout,
        work: list[tuple[Window, _core.Frames, _core.RollTask]],
        threads: int,
        progress: bool,
    ) -> list[dict[str, pa.Array]]:
        order = functools.cache(lambda: self._order(layout))
        rolls: list[tuple[dict[str, pa.Array], Job, Any, _core.Frames]] = []
        parts: list[tuple[_core.Roll, int, int]] = []
        done: list[dict[str, pa.Array]] = [{} for _ in work]
        for found, (_, frames, task) in zip(done, work, strict=True):
            for job in self.jobs:
                roll = job.start(task)
                rolls.append((found, job, roll, frames))
                if roll is not None:
                    many = threads if job.parallel else 1
                    parts += [(roll, *p) for p in self._parts(roll, layout, frames, many, job)]
        _run_parts(parts, threads, progress)
        for found, job, roll, frames in rolls:
            raw = self._sizes(frames, order()) if roll is None else roll.take()
            for name, column in zip(job.outputs, job.finish(raw, order), strict=True):
                found[name] = column
        return done

    def _order(self, layout: _core.Layout) -> Any:
        """Return the row of each result, in the order kernels make them; none: as they stand."""
        if self.every is not None:
            return None
        return layout.arrival_order if self.arrival else layout.order

    def _sizes(self, frames: _core.Frames, order: Any) -> pa.Array:
        """Count the rows of each frame."""
        lo, hi = map(np.asarray, frames.ends())
        sizes = hi - lo
        if order is not None:
            placed = np.empty_like(sizes)
            placed[order] = sizes
            sizes = placed
        return pa.array(sizes, mask=sizes < self.least if self.least else None)

    def _parts(
        self,
        roll: _core.Roll,
        layout: _core.Layout,
        frames: _core.Frames,
        threads: int,
        job: Job,
    ) -> list[tuple[int, int]]:
        """Split a kernel's work for several threads, where what they do twice is little."""
        units = roll.units
        if self.arrival:
            wanted = min(units, 4 * threads) if threads > 1 else 1
            rows = np.linspace(0, self.table.rows, wanted + 1)
            cuts = np.unique(np.searchsorted(np.asarray(layout.starts), rows))
            cuts[-1] = units
        else:
            wanted = min(max(1, units // _PART), 8 * threads) if threads > 1 else 1
            while wanted > 1:
                cuts = np.linspace(0, units, wanted + 1).astype(np.int64)
                again = sum(hi - lo for lo, hi in map(frames.at, cuts[1:-1].tolist()))
                again += job.set_up * (wanted - 1)
                if again * 8 <= units or (wanted == threads and again * 4 <= units):
                    break
                wanted = threads if wanted > threads else 1
            else:
                cuts = np.array([0, units])
        return [(int(a), int(b)) for a, b in pairwise(cuts) if a < b]

    # ---- explaining ------------------------------------------------------------------------

    def explain(self, threads: int) -> tuple[str, ...]:
        """Return what would happen, line by line."""
        layout = self.layout()
        lines = [self._about_rows(layout), *self.explain_windows()]
        if threads > 1 and self.table.rows > _PART:
            lines.append(f"up to {threads} threads share the work")
        return tuple(lines)

    def explain_windows(self) -> list[str]:
        """Return what the windows are, and which kernel computes what in them."""
        lines = []
        for window in self.windows:
            lines.append(f"window {window.label}: {self._about(window)}")
            lines += [f"  {', '.join(job.outputs)}: {job.kernel} ({job.why})" for job in self.jobs]
        return lines

    def _about_rows(self, layout: _core.Layout) -> str:
        keys = len(np.asarray(layout.starts)) - 1
        by = ""
        if self.keys:
            by = f" and {keys} key{'s' if keys != 1 else ''} of {', '.join(self.keys)}"
        on = f" by {self.times.name!r}" if self.times is not None else ""
        state = "in order already" if layout.in_order else "not in order: sorted first"
        arrival = ", results as of each row's arrival" if self.arrival else ""
        return f"{self.table.rows} rows{on}{by}, {state}{arrival}"

    def _about(self, window: Window) -> str:
        left, right = ("[" if self.closed[0] else "("), ("]" if self.closed[1] else ")")
        t = "row" if window.by_count else "t"
        if self.every is not None:
            return f"{left}end - {window.size}, end{right} for every {self.every}"
        after = f"{t} + {window.after}" if window.after else t
        return f"{left}{t} - {window.before}, {after}{right}"


_WINDOW = ("window_start", "window_end")


def key_codes(table: Table, keys: list[str]) -> tuple[Any, int]:
    """Return each row's key as a small integer, and how many there may be; null is a key too."""
    codes: Any = None
    groups = 1
    for key in keys:
        column = table.column(key)
        indices, values = _arrow.codes_of(column, key, ordered=False)
        size = len(values) + 1
        plain = indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
        codes = plain if codes is None else codes * size + plain
        groups *= size
        if groups > 1 << 30:
            codes, groups = _renumbered(codes)
            codes = codes.astype(np.int64)
    if codes is None:
        return None, 1
    if groups > max(1 << 16, 2 * table.rows):
        codes, groups = _renumbered(codes)
    return np.ascontiguousarray(codes, np.int32), max(groups, 1)


def _renumbered(codes: Any) -> tuple[Any, int]:
    """Return codes without gaps, and how many there are."""
    indices, distinct = encoded(pa.array(codes))
    return indices.to_numpy(zero_copy_only=False), len(distinct)


def _run_parts(parts: list[tuple[_core.Roll, int, int]], threads: int, progress: bool) -> None:
    """Run all parts. When one fails, or a signal interrupts the wait, the others stop too."""

    def one(part: tuple[_core.Roll, int, int]) -> int:
        roll, start, stop = part
        try:
            roll.run(start, stop)
        except OverflowError as error:
            hint = "cast the column to float64 or a wider decimal first"
            raise OverflowError(f"{str(error).partition(';')[0]}; {hint}") from None
        return stop - start

    total = sum(stop - start for _, start, stop in parts)
    if threads == 1 or len(parts) == 1 or total < _PART:
        for _ in tracked((one(part) for part in parts), total, progress):
            pass
        return
    stop = _core.Stop()

    def under_stop(part: tuple[_core.Roll, int, int]) -> int:
        with stop:
            return one(part)

    with ThreadPoolExecutor(threads, "sash") as pool:
        try:
            for _ in tracked(pool.map(under_stop, parts), total, progress):
                pass
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
