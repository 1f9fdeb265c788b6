"""Tables of any library in, tables of the same library out.

PyArrow is read as it is; pandas, polars and others through narwhals; DuckDB relations, and anything
else that speaks the Arrow PyCapsule interface, through Arrow. Only the columns that are asked for
are converted.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from sash._aggregate import repeated
from sash._arrow import refuse_deep

Columns = dict[str, pa.Array]


def nearest(name: str, names: Sequence[str]) -> str:
    """Return a hint that names what may have been meant, for the end of an error."""
    close = difflib.get_close_matches(name, names, 3, 0.5)
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
    return f"; there are {shown}" if names else "; the table has no columns"


def require_columns(wanted: Iterable[tuple[str, str]], names: Sequence[str]) -> None:
    """Raise unless these columns, each with who asks for it, are among the names."""
    there = set(names)
    for where, name in wanted:
        if name not in there:
            raise KeyError(f"{where}: no column {name!r}{nearest(name, names)}")


def flat(column: pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece and in a plain layout.

    Dictionaries are decoded, but for those whose categories have an order of their own.
    """
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # no chunk at all, or too long for one
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], column.type)
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    kind = array.type
    if pa.types.is_dictionary(kind) and not kind.ordered:
        return array.dictionary_decode()
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_decode(array)
    if pa.types.is_string_view(kind):
        return array.cast(pa.string())
    if pa.types.is_binary_view(kind):
        return array.cast(pa.binary())
    return array


class Table:
    """A table as Arrow columns, and how its results return. This one is PyArrow's own."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.names: list[str] = list(table.column_names)
        self.rows: int = table.num_rows

    def column(self, name: str) -> pa.Array:
        """Return one column."""
        return flat(self._table.column(name))

    def extended(self, columns: Columns) -> Any:
        """Return the table with columns added, in its own library."""
        old = zip(self._table.schema, self._table.columns, strict=True)
        made = [(pa.field(name, column.type), column) for name, column in columns.items()]
        fields, arrays = zip(*old, *made, strict=True)
        return pa.table(list(arrays), pa.schema(fields, self._table.schema.metadata))

    def new(self, columns: Columns) -> Any:
        """Return a new table in the same library."""
        return pa.table(columns)


class _Narwhals(Table):
    def __init__(self, frame: Any, lazy: bool) -> None:
        self._frame = frame
        self._lazy = lazy
        self.names = list(frame.columns)
        self.rows = len(frame)

    def column(self, name: str) -> pa.Array:
        # Not by an expression: polars would read a name such as "*" or "^a.*$" as a pattern.
        return flat(self._frame.get_column(name).to_frame().to_arrow().column(0))

    def extended(self, columns: Columns) -> Any:
        return self._native(nw.concat([self._frame, self._from(columns)], how="horizontal"))

    def new(self, columns: Columns) -> Any:
        return self._native(self._from(columns))

    def _from(self, columns: Columns) -> Any:
        return nw.from_arrow(pa.table(columns), backend=self._frame.implementation)

    def _native(self, frame: Any) -> Any:
        native = nw.to_native(frame)
        return native.lazy() if self._lazy else native


_FEW = 50
"""Columns that pandas takes one by one; of more it says that they should come all at once."""


class _Pandas(Table):
    def __init__(self, frame: Any) -> None:
        odd = [c for c in frame.columns if not isinstance(c, str)]
        if odd:
            raise TypeError(f"column names must be strings, not {odd[0]!r}: rename the columns")
        self._frame = frame
        index = frame.index.name
        self._index = index if isinstance(index, str) and index not in frame.columns else None
        self.names = [*frame.columns, *([self._index] if self._index else [])]
        self.rows = len(frame)

    def column(self, name: str) -> pa.Array:
        column = self._frame.index if name == self._index else self._frame[name]
        if getattr(column, "ndim", 1) != 1:
            raise ValueError(f"there are two columns called {name!r}")
        if column.dtype == object:
            refuse_deep(column, f"column {name!r}")
        try:
            found = pa.Array.from_pandas(column)
        except (pa.ArrowException, TypeError, OverflowError) as error:
            raise TypeError(f"column {name!r}: cannot be read as one type ({error})") from None
        if pa.types.is_timestamp(found.type) and column.dtype == object:
            naive = {v.tzinfo is None for v in column if getattr(v, "tzinfo", 0) != 0}
            if len(naive) > 1:
                raise ValueError(
                    f"column {name!r} mixes times with and without a time zone: give all of them "
                    "one, for example with tz_localize"
                )
        return flat(pa.chunked_array(found) if isinstance(found, pa.Array) else found)

    def extended(self, columns: Columns) -> Any:
        import pandas as pd

        frame = self._frame.copy(deep=False)
        if len(columns) <= _FEW:
            for name, column in columns.items():
                frame[name] = self._series(column)
            return frame
        made = pd.DataFrame({name: self._series(column) for name, column in columns.items()})
        return pd.concat([frame, made], axis=1)

    def new(self, columns: Columns) -> Any:
        import pandas as pd

        return pd.DataFrame({name: _to_pandas(column) for name, column in columns.items()})

    def _series(self, column: pa.Array) -> Any:
        made = _to_pandas(column)
        made.index = self._frame.index
        return made


def _to_pandas(column: pa.Array) -> Any:
    """Return a pandas series; integers and booleans as the dtypes that can be null."""
    import pandas as pd

    nullable: dict[pa.DataType, Any] = {
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.uint8(): pd.UInt8Dtype(),
        pa.uint16(): pd.UInt16Dtype(),
        pa.uint32(): pd.UInt32Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    return column.to_pandas(types_mapper=nullable.get)


class _DuckDB(Table):
    def extended(self, columns: Columns) -> Any:
        return _relation(super().extended(columns))

    def new(self, columns: Columns) -> Any:
        return _relation(super().new(columns))


def _relation(table: pa.Table) -> Any:
    import duckdb

    return duckdb.from_arrow(table)


def open_table(table: Any) -> Table:
    """Return any table as Arrow columns, or raise saying what can be read."""
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if isinstance(table, pa.Table):
        return Table(_distinct(table))
    module = type(table).__module__.partition(".")[0]
    if module in ("duckdb", "_duckdb") and hasattr(table, "__arrow_c_stream__"):
        return _DuckDB(_distinct(pa.table(table)))
    if module == "pandas" and hasattr(table, "columns"):
        return _Pandas(table)
    if module == "pyspark":
        raise TypeError(
            f"expected a table in this process, not a Spark {type(table).__name__}: use "
            "sash.spark.rolling or sash.spark.windows"
        )
    frame = nw.from_native(table, pass_through=True)
    if isinstance(frame, nw.LazyFrame) and module == "polars":
        return _Narwhals(frame.collect(), lazy=True)
    if isinstance(frame, nw.DataFrame):
        return _Narwhals(frame, lazy=False)
    if hasattr(table, "__arrow_c_stream__"):
        try:
            return Table(_distinct(pa.table(table)))
        except (pa.ArrowInvalid, TypeError):
            pass  # a stream of something else, such as a single column
    raise TypeError(
        "expected a table (PyArrow, pandas, polars, a DuckDB relation, or anything with "
        f"__arrow_c_stream__), not {type(table).__name__}"
    )


def _distinct(table: pa.Table) -> pa.Table:
    if (twice := repeated(table.column_names)) is not None:
        raise ValueError(f"there are two columns called {twice!r}")
    return table
