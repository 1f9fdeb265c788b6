"""Columns in and out of the core: arrays of 8-byte words with a mask of what is not null.

Anything array-like is accepted: NumPy arrays (masked ones too), lists, PyArrow, and whatever speaks
the Arrow PyCapsule interface. Converting is exact or an error that names the column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sash import _core
from sash._arrow import refuse_deep
from sash._compile import Output, Plan
from sash._slices import encoded, listed

Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.uint8]
Pair = tuple[Words, Mask | None]


def rows_of(plan: Plan, values: Any) -> tuple[Any, int]:
    """Return a batch as the core wants it: word columns, or a list for Python objects; its rows."""
    if not plan.native:
        rows = _python_rows(plan, values)
        return rows, len(rows)
    if not plan.sources:
        return [], _row_count(values)
    columns = _by_source(plan, values)
    lengths = sorted({len(c) for c in columns})
    if len(lengths) > 1:
        raise ValueError(f"columns differ in length: {' and '.join(map(str, lengths))} rows")
    cells = [
        to_words(columns[c.source], c.code, plan.sources[c.source] or "the values")
        for c in plan.cells
    ]
    return cells, lengths[0]


def _row_count(values: Any) -> int:
    """Return the number of rows in whatever holds rows."""
    if isinstance(values, Mapping):
        return len(_flat(next(iter(values.values()), [])))
    if isinstance(values, (pa.Table, pa.RecordBatch)):
        return int(values.num_rows)
    return len(_flat(values))


def _by_source(plan: Plan, values: Any) -> list[Any]:
    """Pick the column for each source: the values themselves, or columns by name or position."""
    if plan.sources == (None,):
        return [_flat(values)]
    if isinstance(values, Mapping):
        missing = [s for s in plan.sources if s not in values]
        if missing:
            raise KeyError(f"no column {missing[0]!r}; there are {', '.join(map(repr, values))}")
        return [_flat(values[s]) for s in plan.sources]
    if None not in plan.sources and hasattr(values, "__arrow_c_stream__"):
        table = pa.table(values)
        missing = [s for s in plan.sources if s not in table.column_names]
        if missing:
            there = ", ".join(map(repr, table.column_names))
            raise KeyError(f"no column {missing[0]!r}; there are {there}")
        return [_flat(table[s]) for s in plan.sources]
    if len(plan.sources) == 1:
        return [_flat(values)]
    if isinstance(values, tuple) and len(values) == len(plan.sources):
        return [_flat(v) for v in values]
    if isinstance(values, list) and all(isinstance(v, tuple) for v in values):
        odd = [v for v in values if len(v) != len(plan.sources)]
        if odd:
            raise ValueError(f"expected a tuple of {len(plan.sources)} in each row, got {odd[0]!r}")
        return [[row[i] for row in values] for i in range(len(plan.sources))]
    wanted = ", ".join(s or "?" for s in plan.sources)
    raise TypeError(f"expected columns ({wanted}) as a dict, a tuple of arrays or a list of tuples")


def _python_rows(plan: Plan, values: Any) -> list[Any]:
    if isinstance(values, Mapping) and plan.sources and None not in plan.sources:
        columns = [_listed(values[s]) for s in plan.sources]
        if len(columns) == 1:
            return columns[0]
        return list(zip(*columns, strict=True))
    if isinstance(values, tuple) and len(values) == len(plan.sources) > 1:
        return list(zip(*map(_listed, values), strict=True))
    return _listed(values)


def _listed(values: Any) -> list[Any]:
    flat = _flat(values)
    if isinstance(flat, (pa.Array, np.ndarray)):
        return listed(flat)
    return list(flat)


def _flat(values: Any) -> Any:
    """Return the values as a PyArrow array, a one-dimensional NumPy array or a list."""
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    if isinstance(values, pa.Array):
        return values
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ValueError(f"expected one dimension of values, got {values.ndim}")
        return values
    if hasattr(values, "__arrow_c_stream__"):
        return _flat(pa.chunked_array(values))
    if hasattr(values, "__arrow_c_array__"):
        return pa.array(values)
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Sequence):
        if hasattr(values, "__array__"):
            return _flat(np.asarray(values))
        if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
            raise TypeError(f"expected a column of values, got {type(values).__name__}")
    return list(values)


def to_words(values: Any, code: str, name: str) -> Pair:
    """Convert one column to words of the type a code names, and the mask of what is not null."""
    if code == "*" and (isinstance(values, list) or _holds_objects(values)):
        there = np.array([v is not None for v in values], np.uint8)
        return np.zeros(len(values), np.uint64), there
    if isinstance(values, list):
        values = _from_list(values, name)
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ascontiguousarray(~np.ma.getmaskarray(values)).view(np.uint8)
        return to_words(values.filled(0), code, name)[0], mask
    if isinstance(values, pa.Array):
        return _from_arrow(values, code, name)
    return _from_numpy(values, code, name), None


def _holds_objects(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind == "O"


def _from_list(values: list[Any], name: str) -> pa.Array:
    refuse_deep(values, name)
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise TypeError(f"{name}: values of different types in one column ({error})") from None
    except OverflowError:
        raise OverflowError(f"{name}: a value does not fit in a 64-bit integer") from None


def _from_arrow(values: pa.Array, code: str, name: str) -> Pair:
    mask = None
    if values.null_count:
        mask = np.ascontiguousarray(values.is_valid().to_numpy(zero_copy_only=False)).view(np.uint8)
    if pa.types.is_null(values.type) or code == "*":
        return np.zeros(len(values), np.uint64), mask
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if code in "hc" and not _is_number(values.type):
        return _hash_others(values, code), mask
    if not _is_number(values.type):
        raise TypeError(f"{name}: expected numbers, got {values.type}")
    if mask is not None:
        values = pc.fill_null(values, False if pa.types.is_boolean(values.type) else 0)
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    return _from_numpy(values.to_numpy(zero_copy_only=False), code, name), mask


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


def _from_numpy(values: npt.NDArray[Any], code: str, name: str) -> Words:
    kind = values.dtype.kind
    if code == "*":
        return np.zeros(len(values), np.uint64)
    if _holds_objects(values):
        raise TypeError(
            f"{name}: an array of objects; pass a list or dtype=object to the aggregate"
        )
    if kind not in "fiub":
        raise TypeError(f"{name}: expected numbers, got {values.dtype}")
    if code == "f":
        return np.ascontiguousarray(values, np.float64).view(np.uint64)
    if code == "b":
        return np.ascontiguousarray(values != 0).astype(np.uint64)
    if code in "hc":
        return _hash_numbers(values, code, name)
    if kind == "f":
        raise TypeError(f"{name}: floats for an aggregate over integers; use dtype=float")
    _refuse_huge(values, name)
    return np.ascontiguousarray(values, np.int64).view(np.uint64)


def _refuse_huge(values: npt.NDArray[Any], name: str) -> None:
    if values.dtype == np.uint64 and len(values) and values.max() > np.iinfo(np.int64).max:
        raise OverflowError(f"{name}: {values.max()} does not fit in a 64-bit integer")


def _hash_numbers(values: npt.NDArray[Any], code: str, name: str) -> Words:
    _refuse_huge(values, name)
    if values.dtype.kind == "f":
        return np.asarray(_core.hash_floats(np.ascontiguousarray(values, np.float64), code == "c"))
    return np.asarray(_core.hash_ints(np.ascontiguousarray(values, np.int64), code == "c"))


def _hash_others(values: pa.Array, code: str) -> Words:
    """Hash strings and the like once for each distinct value."""
    indices, distinct = encoded(values)
    hashes = np.array([_core.hash_value(v, code == "c") for v in listed(distinct)], np.uint64)
    places = pc.fill_null(indices, 0).to_numpy(zero_copy_only=False)
    return hashes[places] if len(hashes) else np.zeros(len(values), np.uint64)


def to_results(plan: Plan, raw: Any) -> Any:
    """Return the core's results as one NumPy array for each aggregate."""
    if not plan.native:
        if plan.single:
            return object_array(raw)
        columns = list(zip(*raw, strict=True)) if raw else [()] * len(plan.outputs)
        return {o.name: object_array(c) for o, c in zip(plan.outputs, columns, strict=True)}
    arrays = [to_array(o, *pair) for o, pair in zip(plan.outputs, raw, strict=True)]
    if plan.single:
        return arrays[0]
    return {o.name: a for o, a in zip(plan.outputs, arrays, strict=True)}


def object_array(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Return a one-dimensional array of Python objects, whatever they are."""
    out = np.empty(len(values), object)
    for i, v in enumerate(values):
        out[i] = v
    return out


_VIEWS: dict[str, Any] = {"f": np.float64, "i": np.int64}


def to_array(output: Output, words: Words, valid: Mask | None) -> npt.NDArray[Any]:
    """Return one column of results; masked where a window gave null."""
    if output.code == "B":
        assert output.finish is not None
        finish = output.finish
        there = np.ones(len(words), bool) if valid is None else valid.astype(bool)
        done = [finish(row.tobytes()) if ok else None for row, ok in zip(words, there, strict=True)]
        return object_array(done)
    flat = words.reshape(-1)
    data: npt.NDArray[Any] = flat != 0 if output.code == "b" else flat.view(_VIEWS[output.code])
    if valid is None:
        return data
    masked: npt.NDArray[Any] = np.ma.MaskedArray(data, mask=valid == 0)
    return masked
