"""A `WindowOperator` whose columns have met their types: what talks to the core."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sash import _core
from sash._calendar import Calendar
from sash._clock import REACH, Clock
from sash._keys import Ids, Keys
from sash._row_marks import RowMarks
from sash._stream_plan import StreamPlan
from sash._tables import Table, nearest, require_columns
from sash.windows import Window

if TYPE_CHECKING:
    from sash._operator import WindowOperator

_KINDS = {"periodic": 0, "calendar": 1, "session": 2, "rolling": 3}
_ROW_KINDS = {"count": 0, "last": 1, "delta": 2, "punctuation": 3, "split": 4}
_CHANGES = ("complete", "correction", "update", "withdrawn", "insert", "retract")
_NO_IDS = np.empty(0, np.uint32)
EMITS = ("complete", "updates", "changelog")
STORES = ("lazy", "eager", "auto")
_WATERMARK, _LIMIT, _KEPT_FROM, _NEXT_DUE = 0, 1, 3, 4
_COMPARING = ("min", "max", "mincount", "maxcount", "topk", "argmin", "argmax", "range")


@functools.cache
def _change_names() -> pa.Array:
    return pa.array(_CHANGES)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values, where a column holds categories."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _same_values(found: pa.DataType, kind: pa.DataType) -> bool:
    """Whether a type holds the same values as another, written otherwise."""
    types = pa.types
    if types.is_null(found):
        return True
    if types.is_timestamp(found) and types.is_timestamp(kind):
        return found.unit == kind.unit and (found.tz is None) == (kind.tz is None)
    text = types.is_string, types.is_large_string
    data = types.is_binary, types.is_large_binary
    return any(
        any(is_kind(found) for is_kind in family) and any(is_kind(kind) for is_kind in family)
        for family in (text, data)
    )


def columns_read(op: WindowOperator) -> list[tuple[str, str]]:
    """Return the columns that an operator reads, each after who asks for it."""
    wanted = [("on", op._on), *(("by", k) for k in op._by)]
    wanted += [(a.name, c) for a in op._aggregates for c in a.columns if c is not None]
    return wanted + [(w.name, c) for w in op._windows for c in w.reads]


class Bound:
    """An operator whose columns have met their types."""

    def __init__(self, op: WindowOperator, table: Table) -> None:
        wanted = columns_read(op)
        require_columns(wanted, table.names)
        self.types = {name: plain_type(table.column(name).type) for _, name in wanted}
        for one in op._aggregates:
            if one.name not in _COMPARING or one.python is not None:
                continue
            if pa.types.is_dictionary(table.column(str(one.columns[0])).type):
                raise TypeError(
                    f"{one.name}: column {one.columns[0]!r} holds categories in an order of their "
                    "own, which may change from batch to batch; cast it to their codes or to text"
                )
        for name, kind in self.types.items():
            if pa.types.is_null(kind) and table.rows:
                raise TypeError(
                    f"column {name!r} has only nulls in the first batch, so its type is unknown: "
                    "cast it to what later batches will hold"
                )
        self._start(op)

    @classmethod
    def of_types(
        cls,
        op: WindowOperator,
        types: dict[str, pa.DataType],
        saved: list[dict[str, Any]] | None = None,
    ) -> Bound:
        """Return the operator for columns of these types; saved windows numbered as they were."""
        bound = cls.__new__(cls)
        bound.types = types
        named = {w.name: w for w in op._windows}
        for s in saved or ():
            number, since = s["number"], s["since"]
            if not 0 <= number < 1 << 20 or (since is not None and abs(since) > REACH):
                raise ValueError(f"no window has number {number} since {since}")
        known = (
            None if saved is None else [(named[s["name"]], s["number"], s["since"]) for s in saved]
        )
        bound._start(op, known)
        return bound

    def _start(
        self, op: WindowOperator, saved: list[tuple[Window, int, int | None]] | None = None
    ) -> None:
        self.clock = Clock(op._on, self.types[op._on])
        self.lateness = self.clock.length("lateness", op._lateness, 0)
        self.delay = None if op._delay is None else self.clock.length("delay", op._delay, 0)
        ahead = op._max_ahead
        self._max_ahead = None if ahead is None else self.clock.length("max_ahead", ahead, 0)
        self.plan = StreamPlan(op._aggregates, self.types)
        self.keys = Keys(op._by, self.types)
        emit, store = EMITS.index(op._emit), STORES.index(op._store)
        self.core = _core.Operator(self.plan.plan.spec, self.lateness, self.delay, emit, store)
        self._schema: pa.Schema | None = None
        self.emitted: pa.Table | None = None
        """The results that were made last."""
        self.named: dict[int, Window] = {}
        self._next_number = 0
        self.since: dict[int, int | None] = {}
        self.calendars: dict[int, Calendar] = {}
        self.marks: dict[int, RowMarks] = {}
        numbered = [(w, i, None) for i, w in enumerate(op._windows)]
        for window, number, since in numbered if saved is None else saved:
            self.add(window, number, since)

    # ---- windows -----------------------------------------------------------------------------

    def add(self, window: Window, number: int | None = None, since: int | None = None) -> None:
        """Register a window."""
        if number is None:
            number = self._next_number
        missing = [c for c in window.reads if c not in self.types]
        if missing:
            raise KeyError(
                f"{window.name}: column {missing[0]!r} was not read so far; windows that read it "
                "must be there from the start"
            )
        if window.by_rows:
            self._add_by_rows(window, number, since)
        else:
            self._add_by_clock(window, number, since)
        self.named[number] = window
        self._next_number = max(self._next_number, number + 1)

    def _add_by_clock(self, window: Window, number: int, since: int | None) -> None:
        size, slide, offset = self.clock.window(window)
        if window.kind == "calendar":
            assert window.function is not None
            self.calendars[number] = Calendar(window.name, window.function)
        kind = _KINDS[window.kind]
        self.since[number] = self.core.add_window(kind, number, size, slide, offset, since)

    def _add_by_rows(self, window: Window, number: int, since: int | None) -> None:
        marks = RowMarks(window, self.types)
        size = float(window.size) if window.kind == "delta" else 0.0
        self.since[number] = self.core.add_row_window(
            _ROW_KINDS[window.kind], number, window.rows or 1, window.step or 1, size,
            marks.width, marks if window.kind == "split" else None, since,
        )  # fmt: skip
        self.marks[number] = marks

    def remove(self, name: str) -> None:
        """Give up a window."""
        (number,) = [n for n, w in self.named.items() if w.name == name]
        self.core.remove_window(number)
        for kept in (self.named, self.since, self.calendars, self.marks):
            kept.pop(number, None)

    # ---- rows --------------------------------------------------------------------------------

    def ceiling(self, now: Any) -> int | None:
        """Return the time that rows may have at most."""
        if self._max_ahead is None:
            if now is not None:
                raise ValueError("now is for operators with max_ahead: leave it out")
            return None
        present = self.clock.now() if now is None else self.clock.moment("now", now)
        return min(present + self._max_ahead, REACH)

    def why_dropped(self, ceiling: int | None) -> str:
        """Say which rows are dropped now."""
        late = f"the watermark is {self.watermark}, and rows before {self.clock.shown(self.limit)} "
        late += "are too late"
        if ceiling is None:
            return late
        return f"{late}; rows after {self.clock.shown(ceiling)} are too far ahead"

    def process(
        self, table: Table, ceiling: int | None = None
    ) -> tuple[pa.Table, npt.NDArray[np.uint32]]:
        """Take a batch; return what is emitted and which rows are dropped."""
        table = self._typed(table)
        times = self.clock.times(table)
        columns = self.plan.columns(table.column, table.rows)
        marks = [m for each in self.marks.values() for m in each.columns(table)]
        self.list_windows_around(times if ceiling is None else times[times <= ceiling])
        ids, fresh = self.keys.ids(table)
        with self._all_or_nothing(fresh):
            told, late = self.core.process(
                ids, self.keys.room, times, columns, marks, ceiling, self._emit
            )
        late = np.asarray(late)
        self.forget_done(fresh if len(late) else _NO_IDS)
        return told, late

    def merge(
        self,
        slices: Table,
        firsts: npt.NDArray[np.int64],
        lasts: npt.NDArray[np.int64],
        cells: bytes,
        objects: list[Any],
    ) -> pa.Table:
        """Take slices that were folded elsewhere (see ``_partials.py``); return what is told."""
        ids, fresh = self.keys.ids(slices)
        with self._all_or_nothing(fresh):
            return self.core.merge(ids, self.keys.room, firsts, lasts, cells, objects, self._emit)

    @contextmanager
    def _all_or_nothing(self, fresh: Ids) -> Iterator[None]:
        """Forget new keys when a call fails and has changed nothing."""
        commits = self.core.commits()
        try:
            yield
        except BaseException:
            if self.core.commits() == commits:
                self.keys.forget(fresh)
            raise

    def _typed(self, table: Table) -> Table:
        """Return the columns that are read, of the types they have had so far."""
        columns = {}
        for name, kind in self.types.items():
            if name not in table.names:
                raise KeyError(f"this batch has no column {name!r}{nearest(name, table.names)}")
            column = table.column(name)
            if pa.types.is_dictionary(column.type):
                column = column.dictionary_decode()
            if column.type != kind and _same_values(column.type, kind):
                column = column.cast(kind)
            if column.type != kind:
                hint = " (pandas: as 'Int64')" if pa.types.is_integer(kind) else ""
                raise TypeError(
                    f"column {name!r} holds {column.type} in this batch and {kind} in those "
                    f"before: cast it{hint}"
                )
            columns[name] = column
        return Table(pa.table(columns))

    def list_windows_around(self, times: npt.NDArray[np.int64]) -> None:
        """Tell the core the windows of calendars that rows of these times may be in."""
        if not self.calendars or not len(times):
            return
        limit = self.core.time(_LIMIT)
        first, last = max(int(times.min()), limit), int(times.max())
        for number in self.calendars:
            self.list_calendar(number, first, last)
        # The slice of the first row begins at an edge; a window may contain that and not the row.
        edges = [c.edge_before(first) for c in self.calendars.values()]
        edges += [
            first - (first - offset) % slide
            for _, slide, offset in (
                self.clock.window(w) for w in self.named.values() if w.kind == "periodic"
            )
        ]
        begin = max((e for e in edges if e is not None), default=first)
        for number in self.calendars:
            self.list_calendar(number, begin, last)

    def list_calendar(self, number: int, first: int, last: int) -> None:
        """Tell the core the windows of these times."""
        calendar = self.calendars[number]
        if calendar.cover(first, last, self.core.time(_LIMIT)):
            self.core.list_window(number, calendar.starts, calendar.ends)

    def advance(self, watermark: int) -> pa.Table:
        """Move the watermark; return what is told."""
        told = self.core.advance(watermark, self._emit)
        self.forget_done()
        return told

    def forget_done(self, doubtful: Ids = _NO_IDS) -> None:
        """Forget the keys the core has done with, and new ones all of whose rows were too late."""
        done = np.asarray(self.core.take_forgotten())
        self.keys.forget(done, self.core.journalled())
        if len(doubtful):
            others = np.setdiff1d(doubtful, done).tolist()
            unused = [i for i in others if not self.core.live(i)]
            self.keys.forget(np.array(unused, np.uint32))

    @property
    def limit(self) -> int:
        """Rows before this come too late."""
        limit: int = self.core.time(_LIMIT)
        return limit

    @property
    def next_due(self) -> int | None:
        """Before the watermark reaches this, it changes nothing; ``None``: never."""
        due: int = self.core.time(_NEXT_DUE)
        return due if due <= REACH else None

    def nothing_told(self) -> pa.Table:
        """Return what is told when nothing is: the columns and types of results."""
        return self.advance(self.core.time(_WATERMARK))

    def _emit(self, raw: Any) -> pa.Table:
        """Make the table of results; the core changes only after that."""
        self.emitted = self._told(raw)
        return self.emitted

    def _told(self, raw: Any) -> pa.Table:
        ids, windows, starts, ends, revisions, changes, results = raw
        if not len(ids) and self._schema is not None:
            return self._schema.empty_table()
        columns: dict[str, pa.Array] = self.keys.columns(np.asarray(ids))
        columns |= self._window_columns(np.asarray(windows), np.asarray(starts), np.asarray(ends))
        columns |= self.plan.results(results)
        columns["revision"] = pa.array(np.asarray(revisions))
        columns["change"] = pa.DictionaryArray.from_arrays(
            pa.array(np.asarray(changes).astype(np.int8)), _change_names()
        ).dictionary_decode()
        told = pa.table(columns)
        self._schema = told.schema
        return told

    def _window_columns(
        self, windows: Any, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
    ) -> dict[str, pa.Array]:
        most = max(self.named) + 1
        names = [self.named[i].name if i in self.named else "" for i in range(most)]
        encoded = pa.DictionaryArray.from_arrays(pa.array(windows), pa.array(names))
        return {
            "window": encoded.dictionary_decode(),
            "window_start": self.clock.typed(starts),
            "window_end": self.clock.typed(ends),
        }

    # ---- questions ---------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """Return what the core says of itself."""
        accepted, late = self.core.count(False), self.core.count(True)
        return {**self.core.facts(), "accepted": accepted, "late": late}

    @property
    def watermark(self) -> Any:
        """The watermark as users write it."""
        found = self.core.time(_WATERMARK)
        return self.clock.shown(found) if -REACH <= found <= REACH else None

    def query(self, key: Any, t_from: Any, t_to: Any) -> dict[str, Any]:
        """Aggregate what is kept of a key between two times."""
        if all(w.by_rows for w in self.named.values()):
            raise ValueError(
                "query: all windows are by rows, so there are no slices; see windows()"
            )
        begin = -REACH if t_from is None else self.clock.moment("t_from", t_from)
        end = REACH if t_to is None else self.clock.moment("t_to", t_to)
        if begin > end:
            raise ValueError(f"query: t_from is after t_to: {t_from!r} > {t_to!r}")
        kept = self.core.time(_KEPT_FROM)
        if t_from is not None and begin < kept:
            raise ValueError(
                f"t_from: rows before {self.clock.shown(kept)} are no longer needed by any window, "
                "so not all of them are kept; ask from there, or from None for all that is kept"
            )
        number = self.keys.find(key)
        for what, given, at in (("t_from", t_from, begin), ("t_to", t_to, end)):
            cut: Any = None if given is None else self.core.cuts(number, at)
            if cut is not None:
                low, high = (self.clock.shown(t) for t in cut)
                raise ValueError(
                    f"{what}: {self.clock.shown(at)} is inside the slice [{low}, {high}), which is "
                    f"kept as a whole; ask for one of its ends"
                )
        found = self.core.query(number, begin, end)
        return {name: c[0].as_py() for name, c in self.plan.results(found).items()}

    def list_windows(self, key: Any) -> pa.Table:
        """List the windows of a key."""
        return self._listed(np.array([self.keys.find(key)], np.uint32))

    def list_all_windows(self) -> pa.Table:
        """List the windows of all keys."""
        return self._listed(self.keys.all() if self.keys.names else np.zeros(1, np.uint32))

    def _listed(self, ids: Ids) -> pa.Table:
        raw = self.core.windows(ids)
        told = self._told(raw).drop_columns(["change"])
        complete = np.asarray(raw[5]) == _CHANGES.index("complete")
        return told.append_column("complete", pa.array(complete))
