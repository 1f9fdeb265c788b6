"""What workers share: stretches of rows, batches that go back, rows named in errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from sash._partials import OWN
from sash._tables import flat

_MOST_ROWS, MOST_BYTES = 1 << 16, 1 << 26
"""Of a batch that goes back to Spark."""


def refuse_null_times(table: pa.Table, on: str, keys: Iterable[str]) -> None:
    """Raise where a time is null."""
    column = flat(table.column(on))
    if column.null_count:
        row = int(np.flatnonzero(~column.is_valid().to_numpy(zero_copy_only=False))[0])
        raise ValueError(
            f"column {on!r} has null times, the first {place(table, row, [*keys, on])}: filter "
            "them out or fill them in"
        )


def place(table: pa.Table, row: int, names: Iterable[str]) -> str:
    """Say which row it is, by its key and time."""
    parts = [f"{n}={table.column(n)[row].as_py()!s}" for n in names if not n.startswith(OWN)]
    return f"in the row with {', '.join(parts)}"


def first_that_raises(compute: Any, most: int) -> int | None:
    """Return the least n up to ``most`` for which ``compute(n)`` raises, if ``most`` does."""

    def raises(n: int) -> bool:
        try:
            compute(n)
        except Exception:
            return True
        return False

    if not raises(most):
        return None
    low = 0
    while most - low > 1:
        middle = (low + most) // 2
        low, most = (low, middle) if raises(middle) else (middle, most)
    return most


def stretches(batches: Iterable[pa.RecordBatch], most_rows: int) -> Iterator[pa.Table]:
    """Yield batches together, so that each table is worth a call."""
    fresh: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        fresh.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= most_rows or (rows and size >= MOST_BYTES):
            yield pa.Table.from_batches(fresh).combine_chunks()
            fresh, rows, size = [], 0, 0
    if rows:
        yield pa.Table.from_batches(fresh).combine_chunks()


def batches_out(table: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield a table in batches of a bearable size, with these columns of these types."""
    for field in schema:
        at = table.column_names.index(field.name)
        found = table.column(at).type
        if found == field.type:
            continue
        if pa.types.is_date(field.type) and pa.types.is_timestamp(found):
            raise ValueError(
                f"{field.name}: windows over dates have to begin and end at dates, not at parts of "
                "a day; cast the column of times to a timestamp"
            )
        table = table.set_column(at, field, table.column(at).cast(field.type))
    if not table.num_rows:
        return
    each = max(1, MOST_BYTES * table.num_rows // max(1, table.nbytes))
    yield from table.to_batches(max_chunksize=min(_MOST_ROWS, each))
