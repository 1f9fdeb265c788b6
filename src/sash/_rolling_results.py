"""Results of the rolling kernels as Arrow columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sash import _arrow
from sash._aggregate import Aggregate
from sash._hll import hll_bytes


def finish_words(
    one: Aggregate,
    code: str,
    words: npt.NDArray[np.uint64],
    valid: npt.NDArray[np.uint8] | None,
    decode: _arrow.Decode,
) -> pa.Array:
    """Return one native result column; sketches and other wide results as lists, structs, bytes."""
    if code != "B":
        return decode(_arrow.from_words(code, words, valid))
    if one.name == "topk":
        return _lists(words[:, 1:], words[:, 0].view(np.int64), valid, one, decode)
    if one.name == "histogram":
        counts = np.full(len(words), words.shape[1], np.int64)
        return _lists(words, counts, valid, one, decode, "i")
    if one.name == "m4":
        return _m4(words, valid, one, decode)
    if one.name == "hll":
        return fixed_binary(hll_bytes(words.view(np.uint8)), valid)
    return fixed_binary(words.view(np.uint8), valid)


def fixed_binary(rows: npt.NDArray[np.uint8], valid: npt.NDArray[np.uint8] | None) -> pa.Array:
    """Return the rows of a matrix of bytes as binary values."""
    data = pa.py_buffer(np.ascontiguousarray(rows))
    kind = pa.binary(rows.shape[1])
    fixed = pa.Array.from_buffers(kind, len(rows), [_arrow.bitmap(valid), data])
    return fixed.cast(pa.binary() if rows.nbytes < 1 << 31 else pa.large_binary())


def _lists(
    words: npt.NDArray[np.uint64],
    counts: npt.NDArray[np.int64],
    valid: npt.NDArray[np.uint8] | None,
    one: Aggregate,
    decode: _arrow.Decode,
    code: str | None = None,
) -> pa.Array:
    """Return rows of up to so many words as lists."""
    if valid is not None:
        counts = np.where(valid != 0, counts, 0)
    inside = np.arange(words.shape[1]) < counts[:, None]
    ends = np.concatenate([[0], np.cumsum(counts)])
    data = np.ascontiguousarray(words[inside])
    values = decode(_arrow.from_words(code or one.dtype[0], data, None))
    mask = None if valid is None else pa.array(valid == 0)
    if ends[-1] < 1 << 31:
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values, mask=mask)
    return pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), values, mask=mask)


def _m4(
    words: npt.NDArray[np.uint64],
    valid: npt.NDArray[np.uint8] | None,
    one: Aggregate,
    to_time: _arrow.Decode,
) -> pa.Array:
    mask = None if valid is None else pa.array(valid == 0)
    parts = []
    for i in range(4):
        time = to_time(_arrow.from_words("i", np.ascontiguousarray(words[:, 2 * i]), valid))
        value = _arrow.from_words(one.dtype[0], np.ascontiguousarray(words[:, 2 * i + 1]), valid)
        parts.append(pa.StructArray.from_arrays([time, value], ["time", "value"], mask=mask))
    return pa.StructArray.from_arrays(parts, ["first", "last", "min", "max"], mask=mask)


def in_row_order(raw: list[Any], order: Any) -> list[Any]:
    """Return results that were given in the order of positions in that of rows."""
    if order is None:
        return raw
    values = [None] * len(raw)
    for row, value in zip(np.asarray(order).tolist(), raw, strict=True):
        values[row] = value
    return values


def lists_of(places: list[list[int] | None], values: pa.Array) -> pa.Array:
    """Return lists of values that are given by their places."""
    given = pa.array(places, pa.large_list(pa.int64()))
    picked = values.take(given.flatten())
    offsets = np.concatenate([[0], np.cumsum([0 if p is None else len(p) for p in places])])
    mask = pa.array([p is None for p in places], pa.bool_())
    if offsets[-1] < 1 << 31:
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), picked, mask=mask)
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), picked, mask=mask)


_TYPES = {"float64": pa.float64(), "str": pa.string()}


def from_objects(one: Aggregate, values: list[Any], decode: _arrow.Decode) -> pa.Array:
    """Return Python results as a column."""
    kind = one.returns or _TYPES.get(one.result.partition(" ")[0])
    try:
        _arrow.refuse_deep(values, one.output)
        return decode(pa.array(values, kind))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        what = "of several types, or of one that a table cannot hold"
        hint = "give the monoid a lower that makes numbers, strings, lists or dicts"
        if one.returns is not None:
            what, hint = f"not all {one.returns}", "change returns= or the monoid's lower"
        raise TypeError(f"{one.output}: its results are {what} ({error}); {hint}") from None
