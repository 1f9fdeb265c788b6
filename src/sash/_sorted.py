"""Tables whose rows are sorted by key: where each key begins."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sash._tables import flat


def key_starts(table: pa.Table, keys: list[str]) -> npt.NDArray[np.int64]:
    """Return the rows where a key begins; of no rows, none."""
    if table.num_rows == 0:
        return np.empty(0, np.int64)
    changes = np.zeros(table.num_rows, np.bool_)
    changes[0] = True
    for key in keys:
        changes[1:] |= _changes(flat(table.column(key)))
    return np.flatnonzero(changes)


def same_key(before: pa.Table, after: pa.Table, keys: list[str]) -> bool:
    """Whether the last row of a table and the first of another have the same key."""
    if not keys:
        return True
    ends = pa.concat_tables(
        [before.select(keys).slice(before.num_rows - 1), after.select(keys)[:1]]
    )
    return len(key_starts(ends, keys)) == 1


def _changes(column: pa.Array) -> Any:
    """Whether each value but the first differs from the one before it; nulls are equal."""
    left, right = column.slice(0, len(column) - 1), column.slice(1)
    differs = pc.not_equal(left, right)
    if pa.types.is_floating(column.type):
        differs = pc.and_not(differs, pc.and_(pc.is_nan(left), pc.is_nan(right)))
    found = differs.fill_null(False).to_numpy(zero_copy_only=False)
    if column.null_count:
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        found = found | (valid[1:] != valid[:-1])
    return found
