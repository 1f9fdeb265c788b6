"""`WindowOperator`: many windows over one stream of slices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

import pyarrow as pa

from sash import _core, _operator_snapshot
from sash._aggregate import repeated
from sash._bound import EMITS, STORES, Bound
from sash._clock import END
from sash._compile import AggregateLike, aggregates_of, compile_live
from sash._dropped import DroppedRows
from sash._durations import nanoseconds
from sash._rolling_windows import names_of
from sash._tables import Table, nearest, open_table
from sash.windows import Window

MOST_WINDOWS = 10_000
"""Each of them is looked at for every batch."""
_BUSY = (
    "this operator is in use by another call (from another thread, or from within one of its own "
    "functions); give each thread its own operator or use a lock"
)
_TAKEN = "the operator took this call; its results are emitted with the next one"
OWN_COLUMNS = ("window", "window_start", "window_end", "revision", "change", "complete")


class WindowOperator:
    """Aggregate many windows over one stream: batches in, changed and completed windows out.

    ``on`` names the column of times, ``by`` those whose values are keys with windows of their own.
    ``windows`` are what `sash.tumbling`, `sash.sliding`, `sash.session` and `sash.windows` make,
    ``aggs`` what is computed in each of them.

    Rows come in any order. A watermark w says that rows before w are not expected any more:
    `advance` gives it, or with ``delay`` it follows the latest time seen by that much. A window is
    told when the watermark reaches its end, once. Rows that come later, but not more than
    ``lateness`` before the watermark, change what was told: such windows are told again, with a
    ``revision`` that counts up. Rows later than that are counted, given to ``on_late`` and left
    out. So are, with ``max_ahead``, rows whose time is more than that after the present time: one
    wrong clock would move the watermark, and all rows after it would be late.

    ``emit="updates"`` also tells windows that are not complete, each time they change;
    ``emit="changelog"`` tells changes as pairs of a row to retract and one to insert. ``store``
    chooses how slices are kept: ``"lazy"`` as a list, ``"eager"`` in a finger tree, ``"auto"`` by
    their number.

    >>> import pyarrow as pa, sash
    >>> from sash import agg
    >>> op = sash.WindowOperator(on="t", windows=[sash.tumbling(10), sash.session(3)],
    ...                          aggs=[agg.sum("x")])
    >>> op.process(pa.table({"t": [1, 12, 3, 9], "x": [1.0, 2.0, 4.0, 8.0]})).num_rows
    0
    >>> op.advance(10).select(["window", "window_start", "window_end", "sum_x"]).to_pylist()[0]
    {'window': 'tumbling_10', 'window_start': 0, 'window_end': 10, 'sum_x': 13.0}
    """

    def __init__(
        self,
        *,
        on: str,
        windows: Window | Iterable[Window],
        aggs: AggregateLike,
        by: str | list[str] | None = None,
        lateness: Any = 0,
        delay: Any = None,
        max_ahead: Any = None,
        emit: str = "complete",
        store: str = "auto",
        on_late: Callable[[pa.Table], Any] | None = None,
    ) -> None:
        if not isinstance(on, str):
            raise TypeError(f"on must be a column name, not {on!r}")
        self._on, self._by = on, names_of("by", by)
        self._aggregates, _ = aggregates_of(aggs)
        for one in self._aggregates:
            if None in one.columns:
                raise ValueError(f"{one.name}: name its column, as in agg.{one.name}('price')")
            compile_live(replace(one, columns=(None,) * len(one.columns)))  # or says why not
        self._windows = _windows_of(windows)
        self._names = {w.name for w in self._windows}
        self._check_names()
        for what, value, allowed in (("emit", emit, EMITS), ("store", store, STORES)):
            if value not in allowed:
                raise ValueError(f"{what} must be one of {', '.join(allowed)}, not {value!r}")
        if on_late is not None and not callable(on_late):
            raise TypeError(f"on_late must be a function of a table, not {on_late!r}")
        for what, length in (("lateness", lateness), ("delay", delay), ("max_ahead", max_ahead)):
            if isinstance(length, str):
                nanoseconds(what, length)  # or says what is wrong with it
        self._lateness, self._delay, self._emit, self._store = lateness, delay, emit, store
        self._on_late, self._max_ahead = on_late, max_ahead
        self._dropped = DroppedRows()
        self._bound: Bound | None = None
        self._stamp: str | None = None
        self._finished = False
        self._undelivered: list[pa.Table] = []
        self._turn = _core.Turn(_BUSY)

    def _check_names(self) -> None:
        outputs = [a.output for a in self._aggregates]
        if (twice := repeated(self._by)) is not None:
            raise ValueError(f"by: column {twice!r} is named twice")
        for name in [*self._by, *outputs]:
            if name in OWN_COLUMNS:
                raise ValueError(f"results have a column {name!r} of their own: rename yours")
        for name in outputs:
            if name in self._by:
                raise ValueError(f"{name!r} is a key and an aggregate: use alias()")

    # ---- rows and time -----------------------------------------------------------------------

    def process(self, batch: Any, *, now: Any = None) -> pa.Table:
        """Take a batch of rows, a table of any library, and return the windows to be told.

        ``now`` is the present time for ``max_ahead``, else that of the system's clock; columns of
        integers need it.

        Raises, and has changed nothing, when the batch cannot be taken, or when a signal's handler
        raises meanwhile (Ctrl-C): the same batch can be given again. When ``on_late`` raises, or a
        handler does in the instant after the batch was taken, the exception has a note that says
        so, and the results are emitted with the next call.
        """
        table = open_table(batch)
        before = None
        try:  # returns from within: no exception comes between the results and the caller
            with self._turn:
                self._refuse_finished("process")
                bound = self._bound or Bound(self, table)
                ceiling = bound.ceiling(now)
                before = _Before(bound, self._undelivered)
                told, late = bound.process(table, ceiling)
                if table.rows or not any(map(pa.types.is_null, bound.types.values())):
                    self._bound = bound  # else the types of the columns are still unknown
                told = self._with_undelivered(told)
            if len(late):
                self._report(bound, table, late, ceiling)
            return told
        except BaseException as error:
            self._keep_undelivered(before, error)
            raise

    def _report(self, bound: Bound, table: Table, late: Any, ceiling: int | None) -> None:
        """Warn of dropped rows, and hand them over."""
        why, total = bound.why_dropped(ceiling), bound.core.count(True)
        self._dropped.note(table.rows, len(late), total, why, ceiling is not None)
        if self._on_late is not None:
            columns = {n: table.column(n).take(pa.array(late)) for n in table.names}
            self._on_late(pa.table(columns))

    def _keep_undelivered(self, before: _Before | None, error: BaseException) -> None:
        """Keep the results of a call that is interrupted after it has changed the operator."""
        if before is None:
            return
        self._undelivered = before.undelivered
        if before.changed() and self._bound is before.bound:
            assert before.bound.emitted is not None
            self._undelivered = [*before.undelivered, before.bound.emitted]
            error.add_note(_TAKEN)

    def _with_undelivered(self, told: pa.Table) -> pa.Table:
        """Return results after those of calls that raised once they had changed the operator."""
        if not self._undelivered:
            return told
        told = pa.concat_tables([*self._undelivered, told], promote_options="default")
        self._undelivered = []
        return told

    def advance(self, watermark: Any) -> pa.Table:
        """Move the watermark and return the windows it completes.

        A watermark that is not ahead of the one there is changes nothing and tells nothing.
        """
        before = None
        try:
            with self._turn:
                self._refuse_finished("advance")
                bound = self._need_rows("advance")
                time = bound.clock.moment("watermark", watermark)
                before = _Before(bound, self._undelivered)
                return self._with_undelivered(bound.advance(time))
        except BaseException as error:
            self._keep_undelivered(before, error)
            raise

    def finish(self) -> pa.Table:
        """End the stream: tell every window not told yet, and forget all rows.

        Of windows by count, only full ones are told.
        """
        before = None
        try:
            with self._turn:
                if self._bound is None:
                    return pa.table({})
                before = _Before(self._bound, self._undelivered)
                told = self._with_undelivered(self._bound.advance(END))
                self._finished = True
                return told
        except BaseException as error:
            self._keep_undelivered(before, error)
            raise

    def _refuse_finished(self, what: str) -> None:
        if self._finished:
            raise RuntimeError(f"{what}: the stream was finished; make a new operator")

    # ---- questions ---------------------------------------------------------------------------

    def query(self, key: Any = None, t_from: Any = None, t_to: Any = None) -> dict[str, Any]:
        """Return the aggregates of a key's rows with ``t_from <= t < t_to``, of what is kept.

        Slices are what is kept: a time inside of one cannot be asked for, and the error says which
        times can. ``None`` leaves an end open.
        """
        with self._turn:
            return self._need_rows("query").query(key, t_from, t_to)

    def windows(self, key: Any = None) -> pa.Table:
        """Return the windows of a key that rows may still change, as they are now."""
        with self._turn:
            return self._need_rows("windows").list_windows(key)

    @property
    def watermark(self) -> Any:
        """The watermark, ``None`` before there is one."""
        return None if self._bound is None else self._bound.watermark

    @property
    def late_rows(self) -> int:
        """How many rows came too late and were left out."""
        return 0 if self._bound is None else self._bound.core.count(True)

    @property
    def rows(self) -> int:
        """How many rows were taken."""
        return 0 if self._bound is None else self._bound.core.count(False)

    @property
    def keys(self) -> int:
        """How many keys are kept."""
        return 0 if self._bound is None else self._bound.facts()["keys"]

    def key_table(self) -> pa.Table:
        """Return the keys that are kept, as a table of their columns."""
        with self._turn:
            keys = self._need_rows("key_table").keys
            return pa.table(keys.columns(keys.all()))

    @property
    def slices(self) -> int:
        """How many slices are kept, of all keys."""
        return 0 if self._bound is None else self._bound.facts()["slices"]

    @property
    def nbytes(self) -> int:
        """The memory that slices, sessions and told windows take, in bytes."""
        return 0 if self._bound is None else self._bound.facts()["bytes"]

    # ---- windows -----------------------------------------------------------------------------

    def add(self, window: Window) -> None:
        """Register a window while the stream runs.

        It counts rows from the next moment on: those up to the latest time so far are in slices
        that its edges may cut.
        """
        with self._turn:
            self._refuse_finished("add")
            if not isinstance(window, Window):
                raise TypeError(
                    f"add takes one window, such as sash.tumbling('1m'), not {window!r}"
                )
            if len(self._windows) >= MOST_WINDOWS:
                raise ValueError(f"windows: one operator has at most {MOST_WINDOWS}; use several")
            if window.name in self._names:
                raise ValueError(f"two windows are called {window.name!r}: give one a name=")
            if self._bound is not None:
                self._bound.add(window)
            self._windows.append(window)
            self._names.add(window.name)

    def remove(self, window: str | Window) -> None:
        """Give up a window, by name; what was told of it stands."""
        with self._turn:
            name = window.name if isinstance(window, Window) else window
            names = [w.name for w in self._windows]
            if name not in names:
                raise KeyError(f"no window {name!r}{nearest(str(name), names)}")
            if len(names) == 1:
                raise ValueError(f"{name!r} is the only window: add another one first")
            if self._bound is not None:
                self._bound.remove(name)
            self._windows = [w for w in self._windows if w.name != name]
            self._names.discard(str(name))

    # ---- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Return all of it as bytes that `restore` reads: versioned, checked Arrow data."""
        with self._turn:
            return _operator_snapshot.write(self, everything=True)

    def changes(self) -> bytes:
        """Return what has changed since the last `snapshot` or `changes`, as such bytes.

        It costs what has changed, not what is kept. Without a snapshot before it, and after a
        window was added or removed, it is one of everything.
        """
        with self._turn:
            return _operator_snapshot.write(self, everything=False)

    def restore(self, *snapshots: bytes) -> None:
        """Become what was saved: a `snapshot`, and the `changes` made after it, in their order.

        The operator must be new, and made with the same arguments.
        """
        with self._turn:
            _operator_snapshot.read(self, snapshots)

    # ---- the rest ----------------------------------------------------------------------------

    def _need_rows(self, what: str) -> Bound:
        if self._bound is None:
            raise RuntimeError(
                f"{what}: no batch has been processed yet, so the types of its columns are unknown"
            )
        return self._bound

    def __repr__(self) -> str:
        names = ", ".join(w.name for w in self._windows)
        aggregates = ", ".join(a.output for a in self._aggregates)
        if self._bound is None:
            return f"<WindowOperator of {aggregates} over {names}: no rows yet>"
        try:
            facts = self._bound.facts()
        except RuntimeError:
            return f"<WindowOperator of {aggregates} over {names}: in use>"
        return (
            f"<WindowOperator of {aggregates} over {names}: {facts['accepted']} rows, "
            f"{facts['slices']} slices of {facts['keys']} keys>"
        )

    def __reduce__(self) -> Any:
        raise TypeError("a WindowOperator cannot be pickled: use snapshot() and restore()")


class _Before:
    """What an operator was before a call."""

    def __init__(self, bound: Bound, undelivered: list[pa.Table]) -> None:
        self.bound, self.undelivered = bound, undelivered
        self._commits = bound.core.commits()

    def changed(self) -> bool:
        """Whether the call has changed the operator."""
        return self.bound.core.commits() != self._commits


def _windows_of(windows: Window | Iterable[Window]) -> list[Window]:
    if isinstance(windows, Window):
        windows = [windows]
    try:
        found = list(islice(windows, MOST_WINDOWS + 1))
    except TypeError:
        found = []
    if len(found) > MOST_WINDOWS:
        raise ValueError(f"windows: one operator has at most {MOST_WINDOWS}; use several")
    if not found or not all(isinstance(w, Window) for w in found):
        raise TypeError(
            "windows must be a window such as sash.tumbling('1m'), or a list of them, not "
            f"{windows!r}"
        )
    if (twice := repeated(w.name for w in found)) is not None:
        raise ValueError(f"two windows are called {twice!r}: give one a name=")
    return found
