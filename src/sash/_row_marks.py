"""The columns that say where windows by rows begin and end, as the core keeps them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sash import _arrow
from sash._stream_types import is_word
from sash._tables import Table
from sash.windows import Window

Words = npt.NDArray[np.int64]


class RowMarks:
    """What one window reads of each row. Calling it asks a user's function where to cut."""

    def __init__(self, window: Window, types: dict[str, pa.DataType]) -> None:
        self._window = window
        self.width = len(window.reads)
        self._floats = [
            window.kind == "delta"
            or pa.types.is_floating(types[c])
            or pa.types.is_decimal(types[c])
            for c in window.reads
        ]
        for name in window.reads:
            kind = types[name]
            able = is_word(kind) if window.kind == "split" else _arrow.is_numeric(kind)
            if not able:
                what = "numbers, booleans or times" if window.kind == "split" else "numbers"
                raise TypeError(f"{window.name}: column {name!r} holds {kind}, not {what}")

    def columns(self, table: Table) -> list[Words]:
        """Return the columns of a batch as words."""
        reads = zip(self._window.reads, self._floats, strict=True)
        return [self._words(name, table.column(name), floats) for name, floats in reads]

    def _words(self, name: str, column: pa.Array, floats: bool) -> Words:
        if self._window.kind == "punctuation":
            values = _arrow.as_floats(column).fill_null(0).to_numpy(zero_copy_only=False)
            return np.asarray(values != 0, np.int64)
        if floats:
            values = _arrow.as_floats(column).to_numpy(zero_copy_only=False)  # a null is NaN
            return np.ascontiguousarray(values, np.float64).view(np.int64)
        if column.null_count:
            raise ValueError(f"{self._window.name}: column {name!r} has nulls; fill them in")
        ordered, _ = _arrow.as_ordered(column, name)
        return np.ascontiguousarray(ordered.to_numpy(zero_copy_only=False), np.int64)

    def __call__(self, times: Words, marks: Words) -> npt.NDArray[np.uint8]:
        """Return which rows begin a window, by the user's function."""
        assert self._window.function is not None
        rows = len(times)
        parts = [marks[i * rows : (i + 1) * rows] for i in range(self.width)]
        columns = [p.view(np.float64) if f else p for p, f in zip(parts, self._floats, strict=True)]
        answer: Any = np.asarray(self._window.function(times, *columns))
        if answer.shape == (rows - 1,):  # as differences of neighbours are
            answer = np.concatenate([[True], answer])
        if answer.shape != (rows,):
            raise ValueError(
                f"{self._window.name}: its function must return a truth value for each of the "
                f"{rows} rows, not an array of shape {answer.shape}"
            )
        return np.asarray(answer.astype(bool), np.uint8)
