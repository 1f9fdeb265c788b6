"""What a shard keeps for `sash.spark.windows`: an operator with all keys of the shard."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sash import _operator_snapshot
from sash._bound import Bound
from sash._rolling_windows import read_times
from sash._tables import Table, flat
from sash.spark._windows_task import Query, process_rows


class WindowKeeper:
    """An operator, of which Spark's state store has a snapshot and the changes since."""

    def __init__(self, query: Query, entries: Iterable[bytes] = ()) -> None:
        """Begin with nothing, or with what was saved."""
        self.query = query
        self._late: list[pa.Table] = []
        self._op = query.operator(on_late=self._late.append)
        saved = tuple(entries)
        if saved:
            self._op.restore(*saved)
        if self._op._bound is None:
            self._op._bound = Bound.of_types(self._op, {**query.types, **query.key_types})

    def follow(self, entries: Iterable[bytes]) -> None:
        """Take up what another worker has done since this was saved."""
        _operator_snapshot.follow(self._op, entries)

    @property
    def name(self) -> str:
        """The name of what was saved last."""
        return self._op._stamp or ""

    def changes(self) -> bytes:
        """Return what has changed since the last time; at first, all of it."""
        return self._op.changes()

    def all_again(self) -> bytes:
        """Return all of it, as it was when it was last saved."""
        return _operator_snapshot.write_again(self._op)

    def advance(self, watermark: int) -> pa.Table:
        """Move the watermark; return the windows to be told."""
        return self.query.emptied(self._bound.advance(watermark))

    def process(self, rows: pa.Table) -> pa.Table:
        """Take rows; return the windows to be told."""
        return self.query.emptied(process_rows(self.query, self._op, rows))

    def take_late(self) -> list[pa.Table]:
        """Return the rows that came too late since the last time."""
        late = [table.select(self.query.names) for table in self._late]
        self._late.clear()
        return late

    @property
    def due(self) -> int | None:
        """Before the watermark reaches this, it changes nothing."""
        return self._bound.next_due

    def windows(self) -> pa.Table:
        """Return the windows of all keys that rows may still change."""
        return self.query.emptied(self._bound.list_all_windows())

    def query_range(self, key: tuple[Any, ...], t_from: Any, t_to: Any) -> dict[str, Any]:
        """Aggregate what is kept of a key, by its parts, between two times."""
        return self._op.query(self.query.filled_key(key), t_from, t_to)

    @property
    def watermark(self) -> int:
        """The watermark."""
        return self._bound.limit + self._bound.lateness

    @property
    def limit(self) -> int:
        """Rows before this come too late."""
        return self._bound.limit

    def times(self, column: Any) -> npt.NDArray[np.int64]:
        """Return times as integers."""
        return read_times(self.query.on, flat(column)).values

    def moments(
        self, told: pa.Table, ends: npt.NDArray[np.int64], rows: pa.Table, times: Any
    ) -> npt.NDArray[np.int64]:
        """Return which line of what is told has the key and time of each row; -1 if none has."""
        by = self.query.by
        keys = pa.concat_tables([t.select(by).cast(self._user_keys) for t in (told, rows)])
        ids, fresh = self._bound.keys.ids(Table(self.query.filled(keys)))
        self._bound.keys.forget(fresh)
        instants, at = np.unique(np.concatenate([ends, times]), return_inverse=True)
        codes = at if ids is None else ids.astype(np.int64) * len(instants) + at
        found, codes = np.unique(codes, return_inverse=True)
        line = np.full(len(found), -1)
        line[codes[: len(ends)]] = np.arange(len(ends))
        return np.asarray(line[codes[len(ends) :]])

    def values_at(
        self, rows: pa.Table, times: npt.NDArray[np.int64]
    ) -> dict[str, pa.Array | pa.ChunkedArray]:
        """Return the aggregates of the window that ends with each row, of rows that are kept."""
        size = self._bound.clock.window(self._op._windows[0])[0]
        ids, _ = self._bound.keys.ids(Table(self.query.filled(rows)))
        numbers = [0] * len(times) if ids is None else ids.tolist()
        found = [
            self._bound.plan.results(self._bound.core.query(number, t - size + 1, t + 1))
            for number, t in zip(numbers, times.tolist(), strict=True)
        ]
        nothing = self._bound.nothing_told()
        return {
            a.output: pa.concat_arrays(
                [flat(nothing.column(a.output)), *(one[a.output] for one in found)]
            )
            for a in self._op._aggregates
        }

    @property
    def _user_keys(self) -> pa.Schema:
        return pa.schema([(k, self.query.types[k]) for k in self.query.by])

    @property
    def _bound(self) -> Bound:
        assert self._op._bound is not None
        return self._op._bound
