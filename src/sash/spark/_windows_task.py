"""What Python workers do for `sash.spark.windows`.

`Fold` runs where the rows are: it folds them into slices, and only slices travel. `Assemble` gets
the slices (or, for windows by rows, the rows) of whole keys, sorted by key and time, and reads the
windows off. A key that is longer than a stretch is told as its time passes, so that no more than
its open windows are kept; all keys that are shorter share one operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash import _partials
from sash._clock import END
from sash._operator import WindowOperator
from sash._sorted import key_starts, same_key
from sash._tables import flat
from sash.spark._metrics import Counters
from sash.spark._rolling_task import OUT

STRETCH = 1 << 17
"""Slices that are put together at once."""
_LOOK, _MOST_BYTES = 1 << 20, 1 << 28
"""Rows after which a worker looks at how much it keeps, and how much that may be."""
_IS_NULL = "__sash_null_"


@dataclass
class Query:
    """What is asked, and the types of the columns that are read."""

    arguments: dict[str, Any]
    """Of `WindowOperator`; keys that may be null are two columns each."""
    types: dict[str, pa.DataType]
    nullable: list[str]
    counters: Counters

    @property
    def on(self) -> str:
        """The column of times."""
        return str(self.arguments["on"])

    @property
    def keys(self) -> list[str]:
        """The columns of a key."""
        return list(self.arguments["by"])

    def operator(self) -> WindowOperator:
        """Return a new operator."""
        return WindowOperator(**self.arguments)

    def filled(self, table: pa.Table) -> pa.Table:
        """Return rows without null keys: a second column says which were."""
        for key in self.nullable:
            column = flat(table.column(key))
            missing = column.is_null()
            if column.null_count:
                column = column.fill_null(_something(column.type))
                table = table.set_column(table.column_names.index(key), key, column)
            table = table.append_column(null_name(key), missing)
        return table

    def emptied(self, table: pa.Table) -> pa.Table:
        """Return results with null keys where they were null."""
        for key in self.nullable:
            missing = flat(table.column(null_name(key)))
            if missing.true_count:
                column = pc.if_else(missing, pa.scalar(None, table[key].type), flat(table[key]))
                table = table.set_column(table.column_names.index(key), key, column)
            table = table.drop_columns([null_name(key)])
        return table


def null_name(key: str) -> str:
    """Return the name of the column that says whether a key is null."""
    return _IS_NULL + key


def _something(kind: pa.DataType) -> pa.Scalar:
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


@dataclass
class Fold:
    """Rows to slices."""

    query: Query
    __name__: str = "sash_fold"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Fold the rows of a partition, in any order."""
        query = self.query
        op = query.operator()
        rows = 0
        for batch in batches:
            if not batch.num_rows:
                continue
            table = query.filled(pa.Table.from_batches([batch]))
            refuse_nulls(query, table)
            _run(query, table, op.process)
            query.counters.rows.add(batch.num_rows)
            rows += batch.num_rows
            if rows >= _LOOK and op.nbytes > _MOST_BYTES:
                yield from self._slices(op)
                op, rows = query.operator(), 0
        if op.rows:
            yield from self._slices(op)

    def _slices(self, op: WindowOperator) -> Iterator[pa.RecordBatch]:
        slices = _partials.slices_of(op)
        self.query.counters.slices.add(slices.num_rows)
        yield from slices.to_batches(max_chunksize=OUT)


@dataclass
class Assemble:
    """The slices or rows of whole keys to windows."""

    query: Query
    from_slices: bool
    result: pa.Schema
    __name__: str = "sash_windows"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Tell the windows of a partition, which is sorted by key and time."""
        keys = self.query.keys
        live: WindowOperator | None = None  # of the key that the last stretch ended with
        before: pa.Table | None = None
        for table in _stretches(batches):
            stretch = table if self.from_slices else self.query.filled(table)
            starts = key_starts(stretch, keys)
            self.query.counters.keys.add(len(starts))
            if before is not None and same_key(before, stretch, keys):
                assert live is not None
                self.query.counters.keys.add(-1)
                head = stretch.slice(0, starts[1] if len(starts) > 1 else None)
                yield from self._out(self._feed(live, head))
                starts = starts[1:]
            before = stretch
            if not len(starts):
                yield from self._out(self._pass(live, stretch))
                continue
            if live is not None:
                yield from self._out(live.finish())
            if len(starts) > 1:
                whole = self.query.operator()
                some = stretch.slice(starts[0], starts[-1] - starts[0])
                yield from self._out(self._feed(whole, some))
                yield from self._out(whole.finish())
            live = self.query.operator()
            tail = stretch.slice(starts[-1])
            yield from self._out(self._feed(live, tail))
            yield from self._out(self._pass(live, tail))
        if live is not None:
            yield from self._out(live.finish())

    def _feed(self, op: WindowOperator, table: pa.Table) -> pa.Table:
        if self.from_slices:
            return _partials.merge(op, self.query.types, table)
        refuse_nulls(self.query, table)
        self.query.counters.rows.add(table.num_rows)
        return _run(self.query, table, op.process)

    def _pass(self, op: WindowOperator | None, table: pa.Table) -> pa.Table:
        """Let the time of a key's last slice or row pass: no earlier one is to come."""
        assert op is not None and op._bound is not None
        if self.from_slices:
            last = int(table.column(_partials.FIRST)[-1].as_py())
        else:
            last = int(op._bound.clock.times(_last_row(op, table))[0])
        return op._bound.advance(min(last, END))

    def _out(self, told: pa.Table) -> Iterator[pa.RecordBatch]:
        if not told.num_rows:
            return
        self.query.counters.windows.add(told.num_rows)
        result = self.query.emptied(told).select(self.result.names).cast(self.result)
        yield from result.to_batches(max_chunksize=OUT)


def _last_row(op: WindowOperator, table: pa.Table) -> Any:
    from sash._tables import Table

    return Table(table.select([op._on]).slice(table.num_rows - 1))


def _stretches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the batches together, so that each table is worth a call."""
    fresh: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        fresh.append(batch)
        rows += batch.num_rows
        if rows >= STRETCH:
            yield pa.Table.from_batches(fresh).combine_chunks()
            fresh, rows = [], 0
    if rows:
        yield pa.Table.from_batches(fresh).combine_chunks()


def refuse_nulls(query: Query, table: pa.Table) -> None:
    """Raise where a time is null."""
    column = flat(table.column(query.on))
    if column.null_count:
        row = int(np.flatnonzero(~column.is_valid().to_numpy(zero_copy_only=False))[0])
        raise ValueError(
            f"column {query.on!r} has null times, the first in the row with "
            f"{_place(query, table, row)}: filter them out or fill them in"
        )


def _run(query: Query, table: pa.Table, process: Callable[[pa.Table], pa.Table]) -> pa.Table:
    """Process rows; an error says which of them it was."""
    try:
        return process(table)
    except Exception as error:
        for row in range(table.num_rows):  # a batch that fails has changed nothing
            try:
                process(table.slice(row, 1))
            except Exception as again:
                if type(again) is type(error):
                    raise RuntimeError(
                        f"{type(error).__name__}: {error} in the row with "
                        f"{_place(query, table, row)}"
                    ) from error
        raise


def _place(query: Query, table: pa.Table, row: int) -> str:
    names = [*(k for k in query.keys if not k.startswith(_IS_NULL)), query.on]
    parts = []
    for name in names:
        value = table.column(name)[row].as_py()
        if name in query.nullable and table.column(null_name(name))[row].as_py():
            value = None
        parts.append(f"{name}={value!s}")
    return ", ".join(parts)
