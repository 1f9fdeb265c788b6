"""What a shard keeps for `sash.spark.rolling` of a stream: an operator, and the rows that wait.

The operator has a window that ends with every moment. A row comes out when the operator tells the
moment it is at, and again when a late row corrects that; so rows are kept until that cannot happen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sash import _snapshot
from sash._ipc import from_bytes, to_bytes
from sash._snapshot import DamagedSnapshotError, SnapshotError
from sash.spark._keep_windows import WindowKeeper
from sash.spark._windows_task import Query

_STRUCTURE, _PARTS = "RollingStream", ("changes", "rows")
_MOST_CHUNKS = 64


def _joined(changes: bytes, rows: pa.Table) -> bytes:
    header = {"structure": _STRUCTURE}
    return _snapshot.pack(header, dict(zip(_PARTS, (changes, to_bytes(rows)), strict=True)))


def entry_parts(entry: bytes) -> tuple[bytes, pa.Table]:
    """Return the changes of an operator, and the rows that came."""
    _, (changes, rows) = _snapshot.unpack(entry, _STRUCTURE, _PARTS)
    try:
        return changes, from_bytes(rows)
    except ValueError as error:
        raise DamagedSnapshotError(f"the snapshot is damaged: its rows: {error}") from None


@dataclass
class RollingQuery(Query):
    """What is asked of a stream whose rows come out again."""

    row_types: dict[str, pa.DataType] = field(default_factory=dict)
    """Of all columns of a row."""
    outputs: list[str] = field(default_factory=list)
    """The columns that are added."""


class RollingKeeper:
    """The windows that end with each row, and the rows."""

    def __init__(self, query: RollingQuery, entries: Iterable[bytes] = ()) -> None:
        """Begin with nothing, or with what was saved."""
        parts = [entry_parts(entry) for entry in entries]
        self._windows = WindowKeeper(query, [changes for changes, _ in parts])
        self._query = query
        empty = pa.schema([(n, query.row_types[n]) for n in query.names]).empty_table()
        self._rows = empty
        self._add(rows for _, rows in parts)
        self._fresh: list[pa.Table] = []
        self._late: list[pa.Table] = []
        self._forget()

    def follow(self, entries: Iterable[bytes]) -> None:
        """Take up what another worker has done since this was saved."""
        parts = [entry_parts(entry) for entry in entries]
        self._windows.follow([changes for changes, _ in parts])
        self._add(rows for _, rows in parts)
        self._forget()

    @property
    def name(self) -> str:
        """The name of what was saved last."""
        return self._windows.name

    def changes(self) -> bytes:
        """Return what has changed since the last time; at first, all of it."""
        fresh = pa.concat_tables([self._rows.slice(0, 0), *self._fresh])
        self._fresh = []
        return _joined(self._windows.changes(), fresh)

    def all_again(self) -> bytes:
        """Return all of it, as it was when it was last saved."""
        return _joined(self._windows.all_again(), self._rows)

    @property
    def due(self) -> int | None:
        """Before the watermark reaches this, it changes nothing."""
        return self._windows.due

    def advance(self, watermark: int) -> pa.Table:
        """Move the watermark; return the rows whose windows are complete."""
        found = self._completed(self._windows.advance(watermark))
        self._forget()
        return found

    def process(self, rows: pa.Table) -> pa.Table:
        """Take rows; return those whose windows were told and are other ones now."""
        too_late = self._times(rows) < self._windows.limit
        self._late.append(rows.filter(pa.array(too_late)))
        rows = rows.filter(pa.array(~too_late)).cast(self._rows.schema)
        told = self._windows.process(rows)
        self._fresh.append(rows)
        self._add([rows])
        return pa.concat_tables([self._completed(told), self._unchanged(told, rows)])

    def take_late(self) -> list[pa.Table]:
        """Return the rows that came too late since the last time."""
        late, self._late = self._late, []
        return late

    def _add(self, tables: Iterable[pa.Table]) -> None:
        """Keep rows."""
        for rows in tables:
            if rows.schema != self._rows.schema:
                raise SnapshotError(
                    f"its rows have the columns {', '.join(rows.column_names)}, not the types or "
                    f"columns {', '.join(self._rows.column_names)}"
                )
            self._rows = pa.concat_tables([self._rows, rows])
        if self._rows.column(0).num_chunks > _MOST_CHUNKS:
            self._rows = self._rows.combine_chunks()

    def _unchanged(self, told: pa.Table, rows: pa.Table) -> pa.Table:
        """Return late rows at moments that are not told again, since they change nothing there."""
        times = self._times(rows)
        late = times < self._windows.watermark
        rows, times = rows.filter(pa.array(late)), times[late]
        ends = self._windows.times(told.column("window_end"))
        others = self._windows.moments(told, ends, rows, times) < 0
        rows = rows.filter(pa.array(others))
        for name, column in self._windows.values_at(rows, times[others]).items():
            rows = rows.append_column(name, column)
        rows = rows.append_column("revision", pa.array(np.zeros(rows.num_rows, np.int32)))
        return rows.append_column("change", pa.array(["complete"] * rows.num_rows, pa.string()))

    def _times(self, rows: pa.Table) -> npt.NDArray[np.int64]:
        return self._windows.times(rows.column(self._query.on))

    def _forget(self) -> None:
        """Let rows go that no row that may still come can change."""
        keep = self._times(self._rows) >= self._windows.limit
        if not keep.all():
            self._rows = self._rows.filter(pa.array(keep)).combine_chunks()

    def _completed(self, told: pa.Table) -> pa.Table:
        """Return the rows of the moments that are told, with what is said of them."""
        ends = self._windows.times(told.column("window_end"))
        times = self._times(self._rows)
        inside = np.zeros(len(times), bool)
        if len(ends):
            inside = (times >= ends.min()) & (times <= ends.max())
        rows = self._rows.filter(pa.array(inside))
        which = self._windows.moments(told, ends, rows, times[inside])
        rows = rows.filter(pa.array(which >= 0))
        said = told.take(pa.array(which[which >= 0]))
        for name in (*self._query.outputs, "revision", "change"):
            rows = rows.append_column(name, said.column(name))
        return rows
