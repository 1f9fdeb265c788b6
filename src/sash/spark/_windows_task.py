"""What Python workers do for `sash.spark.windows`.

`Fold` runs where the rows are: it folds them into slices, and only slices travel. `Assemble` gets
the slices (or, where it needs them, the rows) of whole keys, sorted by key and time, and reads the
windows off. A key that is longer than a stretch is told as its time passes, so that no more than
its open windows are kept; all keys that are shorter share one operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sash import _partials
from sash._operator import WindowOperator
from sash._partials import OWN
from sash._sorted import key_starts, same_key
from sash._tables import Table, flat
from sash.spark._metrics import Counters
from sash.spark._rows import (
    batches_out,
    first_that_raises,
    place,
    refuse_null_times,
    stretches,
)
from sash.spark._worker import calm

STRETCH = 1 << 17
"""Slices that are put together at once."""
FOLD_BYTES, FOLD_SLICES = 1 << 27, 1 << 17
"""What a worker folds before it sends slices on; the number counts for Python's states."""


@dataclass
class Query:
    """What is asked, and the types of the columns that are read."""

    arguments: dict[str, Any]
    """Of `WindowOperator`, with the keys as the user names them."""
    types: dict[str, pa.DataType]
    nullable: list[str]
    """Keys that may be null. Operators refuse those: they get a filled column and a flag."""
    counters: Counters
    names: list[str] = field(default_factory=list)
    """Of a stream: the columns that rows have on their way, others than those read too."""

    @property
    def on(self) -> str:
        """The column of times."""
        return str(self.arguments["on"])

    @property
    def by(self) -> list[str]:
        """The keys, as the user names them."""
        return list(self.arguments["by"])

    @property
    def keys(self) -> list[str]:
        """The columns of a key, as workers have them."""
        filled = [_filled_name(k) if k in self.nullable else k for k in self.by]
        return [*filled, *map(_flag_name, self.nullable)]

    @property
    def key_types(self) -> dict[str, pa.DataType]:
        """Their types."""
        kinds = [*(self.types[k] for k in self.by), *(pa.bool_() for _ in self.nullable)]
        return dict(zip(self.keys, kinds, strict=True))

    def operator(self, **others: Any) -> WindowOperator:
        """Return a new operator."""
        return WindowOperator(**{**self.arguments, **others, "by": self.keys})

    def filled(self, table: pa.Table) -> pa.Table:
        """Return rows with the columns that keys have here."""
        for key in self.nullable:
            column = flat(table.column(key))
            values = column.fill_null(_some(column.type)) if column.null_count else column
            table = table.append_column(_filled_name(key), values)
            table = table.append_column(_flag_name(key), column.is_null())
        return table

    def filled_key(self, parts: tuple[Any, ...]) -> Any:
        """Return a key of the user as operators have it."""
        if not parts:
            return None
        missing = {k: p is None for k, p in zip(self.by, parts, strict=True)}
        filled = [
            _some(self.types[k]).as_py() if missing[k] and k in self.nullable else p
            for k, p in zip(self.by, parts, strict=True)
        ]
        found = (*filled, *(missing[k] for k in self.nullable))
        return found if len(found) > 1 else found[0]

    def emptied(self, table: pa.Table) -> pa.Table:
        """Return results with the keys of the user, null where they were."""
        for key in self.nullable:
            at = table.column_names.index(_filled_name(key))
            column, missing = flat(table.column(at)), flat(table.column(_flag_name(key)))
            if missing.true_count:
                column = pc.if_else(missing, pa.scalar(None, column.type), column)
            table = table.set_column(at, key, column).drop_columns([_flag_name(key)])
        return table


def _filled_name(key: str) -> str:
    return f"{OWN}key_{key}"


def _flag_name(key: str) -> str:
    return f"{OWN}null_{key}"


def _some(kind: pa.DataType) -> pa.Scalar:
    """Return some value of a type that keys have."""
    if pa.types.is_decimal(kind):
        return pa.scalar(Decimal(0), kind)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.scalar("", kind)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return pa.scalar(b"", kind)
    if pa.types.is_boolean(kind):
        return pa.scalar(False)
    wide = pa.int32() if kind.bit_width == 32 and not pa.types.is_floating(kind) else pa.int64()
    return pa.scalar(0, wide).cast(kind)


def process_rows(query: Query, op: WindowOperator, table: pa.Table) -> pa.Table:
    """Process rows; an error says which of them it was."""
    refuse_null_times(table, query.on, query.by)
    rows = query.filled(table)
    query.counters.rows.add(table.num_rows)
    try:
        return op.process(rows)
    except Exception as error:
        rows_to = first_that_raises(lambda n: query.operator().process(rows[:n]), table.num_rows)
        where = place(table, (rows_to or table.num_rows) - 1, [*query.by, query.on])
        if rows_to is None:  # together with rows before these
            where = where.replace("in the row", "in a batch up to the row")
        raise RuntimeError(f"{type(error).__name__}: {error} {where}") from error


@dataclass
class Fold:
    """Rows to slices."""

    query: Query
    __name__: str = "sash_fold"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Fold the rows of a partition, in any order."""
        op = self.query.operator()
        rows, look = 0, 1
        for batch in batches:
            if not batch.num_rows:
                continue
            process_rows(self.query, op, pa.Table.from_batches([batch]))
            rows += batch.num_rows
            if rows < look:
                continue
            look = 2 * rows  # what is kept may have doubled by then
            if op.nbytes > FOLD_BYTES or self._many_objects(op):
                yield from self._slices(op)
                op, rows, look = self.query.operator(), 0, 1
        if op.rows:
            yield from self._slices(op)
        calm("fold")

    @staticmethod
    def _many_objects(op: WindowOperator) -> bool:
        assert op._bound is not None
        return not op._bound.plan.plan.native and op.slices > FOLD_SLICES

    def _slices(self, op: WindowOperator) -> Iterator[pa.RecordBatch]:
        slices = _partials.slices_of(op)
        self.query.counters.slices.add(slices.num_rows)
        yield from batches_out(slices, slices.schema)


@dataclass
class Assemble:
    """The slices or rows of whole keys to windows."""

    query: Query
    from_slices: bool
    result: pa.Schema
    __name__: str = "sash_windows"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Tell the windows of a partition, which is sorted by key and time."""
        keys = self.query.keys if self.from_slices else self.query.by
        live: WindowOperator | None = None  # of the key that the last stretch ended with
        last: pa.Table | None = None  # its last row
        for table in stretches(batches, STRETCH):
            starts = key_starts(table, keys)
            self.query.counters.keys.add(len(starts))
            if live is not None and last is not None and same_key(last, table, keys):
                self.query.counters.keys.add(-1)
                head = table.slice(0, starts[1] if len(starts) > 1 else None)
                yield from self._tell(live, head, ends=len(starts) > 1)
                starts = starts[1:]
            elif live is not None and last is not None:
                yield from self._tell(live, last.slice(1), ends=True)
            if len(starts) > 1:
                some = table.slice(starts[0], starts[-1] - starts[0])
                yield from self._tell(self.query.operator(), some, ends=True)
            if len(starts):
                live = self.query.operator()
                yield from self._tell(live, table.slice(starts[-1]), ends=False)
            last = table.slice(table.num_rows - 1)
        if live is not None and last is not None:
            yield from self._tell(live, last.slice(1), ends=True)
        calm("assemble")

    def _tell(self, op: WindowOperator, table: pa.Table, ends: bool) -> Iterator[pa.RecordBatch]:
        """Take slices or rows, and tell what is complete: all of it where their keys end here."""
        try:
            parts = self._told(op, table, ends)
        except Exception as error:
            where = self._failing_key(table) if self.from_slices else ""
            if not where:
                raise
            raise RuntimeError(f"{type(error).__name__}: {error} {where}") from error
        for told in parts:
            self.query.counters.windows.add(told.num_rows)
            result = self.query.emptied(told).select(self.result.names)
            yield from batches_out(result, self.result)

    def _told(self, op: WindowOperator, table: pa.Table, ends: bool) -> list[pa.Table]:
        told = []
        if table.num_rows:
            told.append(self._take(op, table))
        if ends:
            told.append(op.finish())
        else:
            assert op._bound is not None
            told.append(op._bound.advance(self._moment(op, table)))
        return told

    def _take(self, op: WindowOperator, table: pa.Table) -> pa.Table:
        if self.from_slices:
            types = {**self.query.types, **self.query.key_types}
            return _partials.merge(op, types, table)
        return process_rows(self.query, op, table)

    def _moment(self, op: WindowOperator, table: pa.Table) -> int:
        """Return the time of the last slice or row: no earlier one of its key is to come."""
        assert op._bound is not None
        last = table.slice(table.num_rows - 1)
        if self.from_slices:
            return int(last.column(_partials.FIRST)[0].as_py())
        return int(op._bound.clock.times(Table(last.select([self.query.on])))[0])

    def _failing_key(self, table: pa.Table) -> str:
        """Say whose windows raise: the fewest first keys that do end with it."""
        if not table.num_rows:
            return ""
        ends = [*key_starts(table, self.query.keys)[1:], table.num_rows]
        keys = first_that_raises(
            lambda n: self._told(self.query.operator(), table[: ends[n - 1]], True), len(ends)
        )
        if keys is None:
            return ""
        row = self.query.emptied(table.slice(ends[keys - 1] - 1, 1).select(self.query.keys))
        parts = [f"{name}={row.column(name)[0].as_py()!s}" for name in self.query.by]
        return f"in the windows of {', '.join(parts)}" if parts else ""
