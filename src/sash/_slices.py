"""Long calls of Arrow and NumPy, done in slices.

Python runs signal handlers between two calls, not within one. Calls that take long for a whole
column are made for a slice at a time here, so that Ctrl-C does not wait for the column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

ROWS = 1 << 19
"""Rows of a slice: a few milliseconds to a few dozen of them, whatever is done."""
BYTES = 1 << 24
"""Bytes of a slice of a buffer."""

Sliceable = TypeVar("Sliceable", bound=Any)


def slices(values: Sliceable, size: int | None = None) -> Iterator[Sliceable]:
    """Yield the parts of anything that can be sliced, at least one."""
    size = ROWS if size is None else size
    for start in range(0, max(len(values), 1), size):
        yield values[start : start + size]


def encoded(column: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return each value's place among the distinct values, and these in order of appearance.

    Merging the distinct values of all slices is one call.
    """
    kind = column.type
    if len(column) <= ROWS or pa.types.is_dictionary(kind) or pa.types.is_null(kind):
        found = column.dictionary_encode()
        return found.indices, found.dictionary
    parts = pa.chunked_array([part.dictionary_encode() for part in slices(column)])
    chunks = parts.unify_dictionaries().chunks
    return pa.concat_arrays([part.indices for part in chunks]), chunks[-1].dictionary


def listed(column: pa.Array | np.ndarray[Any, Any]) -> list[Any]:
    """Return a column as Python values."""
    values: list[Any] = []
    for part in slices(column):
        values += part.to_pylist() if isinstance(part, pa.Array) else part.tolist()
    return values


def taken(values: pa.Array, places: pa.Array) -> pa.Array:
    """Return the values at these places; null where the place is."""
    if len(places) <= ROWS:
        return values.take(places)
    return pa.concat_arrays([values.take(part) for part in slices(places)])
