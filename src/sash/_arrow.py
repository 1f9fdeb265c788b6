"""Arrow columns to the words the core reads, and its words to Arrow columns, without loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sash import _slices

Decode = Callable[[pa.Array], pa.Array]
Ints = npt.NDArray[np.int64]
_types = pa.types


_DEEPEST = 32
_CONTAINERS = (list, tuple, dict, set, frozenset, np.ndarray)


def refuse_deep(values: Iterable[Any], name: str) -> None:
    """Raise where values are nested without end: Arrow would follow them until the stack ends."""
    if not any(issubclass(kind, _CONTAINERS) for kind in set(map(type, values))):
        return
    level = {id(v): v for v in values if isinstance(v, _CONTAINERS)}
    for _ in range(_DEEPEST):
        inner = (v.values() if isinstance(v, dict) else v for v in level.values())
        level = {id(v): v for some in inner for v in some if isinstance(v, _CONTAINERS)}
        if not level:
            return
    raise TypeError(f"{name}: values are nested more than {_DEEPEST} deep, or hold themselves")


def is_clock(kind: pa.DataType) -> bool:
    """Whether values are moments or times of day."""
    return bool(_types.is_timestamp(kind) or _types.is_date(kind) or _types.is_time(kind))


def is_numeric(kind: pa.DataType) -> bool:
    """Whether values can be added up as floats."""
    return bool(
        _types.is_integer(kind)
        or _types.is_floating(kind)
        or _types.is_boolean(kind)
        or _types.is_decimal(kind)
        or _types.is_null(kind)
    )


def same(column: pa.Array) -> pa.Array:
    """Decode nothing."""
    return column


def to_type(kind: pa.DataType) -> Decode:
    """Return the decoding that casts results to a type they came from."""
    return lambda column: column.cast(kind)


def typed_view(kind: pa.DataType) -> Decode:
    """Return the decoding that reads int64 as a type of time."""

    def decode(column: pa.Array) -> pa.Array:
        if kind.bit_width == 32:
            return column.cast(pa.int32()).view(kind)
        return column.view(kind)

    return decode


def as_floats(column: pa.Array) -> pa.Array:
    """Return numbers of any type as float64."""
    if _types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return column.cast(pa.float64(), safe=False)


def as_ints(column: pa.Array, name: str) -> pa.Array:
    """Return integers or booleans as int64, or raise where one does not fit."""
    if column.type == pa.uint64() and len(column) and not fits(column):
        raise OverflowError(f"column {name!r}: {pc.max(column)} does not fit in a 64-bit integer")
    return column.cast(pa.int64())


def fits(column: pa.Array) -> bool:
    """Whether unsigned integers fit in int64."""
    most = pc.max(column).as_py()
    return most is None or most < 1 << 63


def unscaled(column: pa.Array) -> Ints | None:
    """Return the integers behind 128-bit decimals, or nothing when one needs more than 64 bits."""
    if _types.is_decimal256(column.type):
        return None
    column = column.cast(pa.decimal128(38, column.type.scale))
    data = column.buffers()[1]
    if data is None or not len(column):
        return np.zeros(len(column), np.int64)
    pairs = np.frombuffer(data, np.int64)[2 * column.offset :][: 2 * len(column)].reshape(-1, 2)
    low, high = pairs[:, 0].copy(), pairs[:, 1]
    there = valid_mask(column)
    wide = high != low >> 63
    if there is not None:
        low[there == 0] = 0
        wide &= there != 0
    return None if wide.any() else low


def to_decimals(kind: pa.DataType) -> Decode:
    """Return the decoding of int64 to decimals of a type."""
    wide = pa.decimal128(38, kind.scale)

    def decode(column: pa.Array) -> pa.Array:
        low = column.fill_null(0).to_numpy(zero_copy_only=False)
        pairs = np.ascontiguousarray(np.stack([low, low >> 63], axis=1))
        data = [bitmap(valid_mask(column)), pa.py_buffer(pairs)]
        found = pa.Array.from_buffers(wide, len(column), data)
        return found if kind == wide else found.cast(kind)

    return decode


def with_nulls(values: npt.NDArray[Any], like: pa.Array) -> pa.Array:
    """Return an array that is null where another is."""
    there = valid_mask(like)
    return pa.array(values) if there is None else pa.array(values, mask=there == 0)


def valid_mask(column: pa.Array) -> npt.NDArray[np.uint8] | None:
    """Return a byte for each value, 0 where it is null; nothing where none is."""
    if not column.null_count:
        return None
    there = column.is_valid().to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(there).view(np.uint8)


def bitmap(valid: npt.NDArray[np.uint8] | None) -> pa.Buffer | None:
    """Return a byte mask as Arrow's bits."""
    if valid is None:
        return None
    return pa.py_buffer(np.packbits(valid, bitorder="little"))


def from_words(
    code: str, words: npt.NDArray[np.uint64], valid: npt.NDArray[np.uint8] | None
) -> pa.Array:
    """Return a column of results: f float64, i int64, b bool."""
    data = words.reshape(-1)
    if code == "b":
        return pa.array(data != 0, mask=None if valid is None else valid == 0)
    kind = pa.float64() if code == "f" else pa.int64()
    return pa.Array.from_buffers(kind, len(data), [bitmap(valid), pa.py_buffer(data)])


def positions(column: pa.Array) -> tuple[pa.Array, Decode]:
    """Return each value's place, and the decoding that fetches values by their places."""

    def decode(places: pa.Array) -> pa.Array:
        return _slices.taken(column, places)

    return with_nulls(np.arange(len(column), dtype=np.int64), column), decode


def codes_of(column: pa.Array, name: str, ordered: bool) -> tuple[pa.Array, pa.Array]:
    """Return each value as a small integer, and the values these stand for.

    Ordered codes ascend as the values do.
    """
    kind = column.type
    if _types.is_floating(kind):
        wide = column.cast(pa.float64()).fill_null(0).to_numpy(zero_copy_only=False)
        column = with_nulls(one_zero(wide), column)
    column = column.cast(_comparable(kind))
    try:
        places, values = _slices.encoded(column)
        indices = places.cast(pa.int64())
        if ordered:
            order = pc.array_sort_indices(values)
            rank = np.empty(len(values), np.int64)
            rank[order.to_numpy(zero_copy_only=False)] = np.arange(len(values))
            values = values.take(order)
            plain = indices.fill_null(0).to_numpy(zero_copy_only=False)
            indices = with_nulls(rank[plain] if len(rank) else plain, indices)
        return indices, values.cast(kind)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        what = "put in order" if ordered else "compared"
        raise TypeError(f"column {name!r}: {kind} cannot be {what} ({error})") from None


def _comparable(kind: pa.DataType) -> pa.DataType:
    """Return a type of the same values that Arrow can tell apart and sort."""
    if _types.is_float16(kind):
        return pa.float32()
    if _types.is_decimal(kind) and kind.bit_width < 128:
        return pa.decimal128(kind.precision, kind.scale)
    return kind


def one_zero(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return floats with one zero and one NaN, so that equal ones have equal bits."""
    with np.errstate(invalid="ignore"):  # a signalling NaN is one NaN like the others
        plain = values + 0.0
    plain[np.isnan(plain)] = np.nan
    return plain


def as_ordered(column: pa.Array, name: str) -> tuple[pa.Array, Decode]:
    """Return values as float64 or int64 in the same order, and the decoding of results."""
    kind = column.type
    if _types.is_floating(kind):
        return as_floats(column), same if kind == pa.float64() else to_type(kind)
    whole = _types.is_integer(kind) and (kind != pa.uint64() or fits(column))
    if whole or _types.is_boolean(kind):
        return column.cast(pa.int64()), same if kind == pa.int64() else to_type(kind)
    if is_clock(kind) or _types.is_duration(kind):
        plain = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
        return plain.cast(pa.int64()), typed_view(kind)
    if _types.is_dictionary(kind):  # categories with an order of their own
        categories = column.dictionary
        return column.indices.cast(pa.int64()), lambda found: pa.DictionaryArray.from_arrays(
            found.cast(kind.index_type), categories, ordered=True
        )
    if _types.is_null(kind):
        return column.cast(pa.int64()), lambda found: pa.nulls(len(found))
    units = unscaled(column) if _types.is_decimal(kind) else None
    if units is not None:
        return with_nulls(units, column), to_decimals(kind)
    codes, values = codes_of(column, name, ordered=True)
    return codes, lambda places: _slices.taken(values, places)
