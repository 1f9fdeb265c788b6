"""Aggregates meet columns: what each does with each type, without loss.

`typed` gives the aggregate for its columns' types, its inputs as the core can read them, and how
its results are read.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from sash import _arrow, _slices
from sash._aggregate import Aggregate, PythonMonoid

Typed = tuple[Aggregate, list[pa.Array], _arrow.Decode]


def typed(one: Aggregate, columns: list[pa.Array]) -> Typed:
    """Return the aggregate, inputs and decoding for columns of these types."""
    handler = _HANDLERS.get(one.name)
    if one.python is not None or handler is None:
        return one, columns, _arrow.same
    return handler(one, columns)


def dtype_of(column: pa.Array) -> str:
    """Return what an aggregate calls the type of a prepared column."""
    return "float" if pa.types.is_floating(column.type) else "int"


def need_numbers(one: Aggregate, column: pa.Array, name: str | None) -> None:
    """Raise unless values can be added up."""
    if not _arrow.is_numeric(column.type):
        able = "min, max, first, last, count, count_distinct and mode take any type"
        raise TypeError(f"{one.name}: column {name!r} holds {column.type}, not numbers ({able})")


def _sum(one: Aggregate, columns: list[pa.Array]) -> Typed:
    column, kind, name = columns[0], columns[0].type, one.columns[0] or ""
    integer = replace(one, dtype="int")
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return integer, [_arrow.as_ints(column, name)], _arrow.same
    if pa.types.is_duration(kind):
        return integer, [column.view(pa.int64())], _arrow.typed_view(kind)
    if pa.types.is_decimal(kind):
        whole = _arrow.unscaled(column)
        if whole is None or np.abs(whole.astype(np.float64)).sum() > 2.0**62:
            # Beyond 64 bits: exact all the same, on Python's decimals.
            return on_decimals(one, column)
        decode = _arrow.to_decimals(pa.decimal128(38, kind.scale))
        return integer, [_arrow.with_nulls(whole, column)], decode
    need_numbers(one, column, name)
    return replace(one, dtype="float"), [_arrow.as_floats(column)], _arrow.same


# Decimal arithmetic that raises where it would round. Parts of a window may need more digits than
# its result, so there is room for any number of rows.
_EXACT = decimal.Context(prec=300, traps=[decimal.Inexact, decimal.Overflow])


def on_decimals(one: Aggregate, column: pa.Array) -> Typed:
    """Return a sum or range on Python's decimals, and the decimals its results are."""
    kind = column.type
    wide = pa.decimal256(76, kind.scale)
    if not pa.types.is_decimal256(kind):
        wide = pa.decimal128(38, kind.scale)

    def fitting(result: decimal.Decimal) -> decimal.Decimal:
        if _EXACT.scaleb(result, wide.scale).copy_abs() >= 10**wide.precision:
            raise OverflowError(
                f"the {one.name} of this window, {result}, does not fit in {wide}; "
                "cast the column to float64 or to a decimal with fewer digits after the point"
            )
        return result

    python = PythonMonoid(_EXACT.add, lower=fitting)
    if one.name == "range":
        python = PythonMonoid(
            lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
            lambda value: (value, value),
            lambda state: fitting(_EXACT.subtract(state[1], state[0])),
        )
    return replace(one, dtype="object", python=python), [column], _arrow.to_type(wide)


def _number(one: Aggregate, columns: list[pa.Array]) -> Typed:
    column = columns[0]
    need_numbers(one, column, one.columns[0])
    integers = pa.types.is_integer(column.type) and "int" in one.native
    if integers and (column.type != pa.uint64() or _arrow.fits(column)):
        return replace(one, dtype="int"), [column.cast(pa.int64())], _arrow.same
    return replace(one, dtype="float"), [_arrow.as_floats(column)], _arrow.same


def _weighted(one: Aggregate, columns: list[pa.Array]) -> Typed:
    for column, name in zip(columns, one.columns, strict=True):
        need_numbers(one, column, name)
    return one, [_arrow.as_floats(column) for column in columns], _arrow.same


def _extreme(one: Aggregate, columns: list[pa.Array]) -> Typed:
    ordered, decode = _arrow.as_ordered(columns[0], one.columns[0] or "")
    if one.name in ("mincount", "maxcount"):
        decode = _arrow.same
    return replace(one, dtype=dtype_of(ordered)), [ordered], decode


def _range(one: Aggregate, columns: list[pa.Array]) -> Typed:
    column, kind = columns[0], columns[0].type
    if pa.types.is_timestamp(kind):
        decode = _arrow.typed_view(pa.duration(kind.unit))
        return replace(one, dtype="int"), [column.view(pa.int64())], decode
    if not pa.types.is_duration(kind):
        need_numbers(one, column, one.columns[0])
    if pa.types.is_decimal(kind):
        units = _arrow.unscaled(column)
        if units is None or np.abs(units.astype(np.float64)).max(initial=0) > 2.0**61:
            return on_decimals(one, column)
    if pa.types.is_unsigned_integer(kind):
        column = _arrow.as_ints(column, one.columns[0] or "")
    native, inputs, decode = _extreme(one, [column])
    if pa.types.is_decimal(kind):  # the difference may have a digit more
        decode = _arrow.to_decimals(pa.decimal128(38, kind.scale))
    # The difference of small integers may need a wider type than theirs.
    narrow = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    return native, inputs, _arrow.same if narrow else decode


def _select(one: Aggregate, columns: list[pa.Array]) -> Typed:
    kind = columns[0].type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        return _extreme(one, columns)
    places, decode = _arrow.positions(columns[0])
    return replace(one, dtype="int"), [places], decode


def _arg(one: Aggregate, columns: list[pa.Array]) -> Typed:
    ordered, _ = _arrow.as_ordered(columns[0], one.columns[0] or "")
    # The argument is the row's place: a null one is an answer too.
    places = pa.array(np.arange(len(columns[1]), dtype=np.int64))
    code = "f" if dtype_of(ordered) == "float" else "i"
    natives = {
        kind: replace(native, op=f"{one.name}_{code}64", inputs=(code, "i"), output="i")
        for kind, native in one.native.items()
    }
    native = replace(one, dtype=dtype_of(ordered), native=natives)
    return native, [ordered, places], lambda found: _slices.taken(columns[1], found)


def _m4(one: Aggregate, columns: list[pa.Array]) -> Typed:
    values, times = columns
    need_numbers(one, values, one.columns[0])
    if not _arrow.is_clock(times.type) and not pa.types.is_integer(times.type):
        raise TypeError(f"m4: column {one.columns[1]!r} must hold times, not {times.type}")
    ordered = _arrow.as_floats(values)
    if pa.types.is_integer(values.type):
        ordered = _arrow.as_ints(values, one.columns[0] or "")
    moments, decode = _arrow.as_ordered(times, one.columns[1] or "")
    return replace(one, dtype=dtype_of(ordered)), [ordered, moments], decode


def _truth(one: Aggregate, columns: list[pa.Array]) -> Typed:
    column = columns[0]
    need_numbers(one, column, one.columns[0])
    if not pa.types.is_boolean(column.type):
        plain = _arrow.as_floats(column).fill_null(0).to_numpy(zero_copy_only=False)
        column = _arrow.with_nulls(plain != 0, column)
    return one, [column], _arrow.same


def _hashed(one: Aggregate, columns: list[pa.Array]) -> Typed:
    kind = columns[0].type
    if one.name == "hll" and (_arrow.is_clock(kind) or pa.types.is_duration(kind)):
        return one, [_arrow.as_ordered(columns[0], one.columns[0] or "")[0]], _arrow.same
    if pa.types.is_nested(kind):
        raise TypeError(f"{one.name}: column {one.columns[0]!r} holds {kind}, not plain values")
    return one, columns, _arrow.same


_NUMBERS = (
    "mean", "geomean", "variance", "stddev", "product", "relative_variation", "histogram",
)  # fmt: skip
_HANDLERS: dict[str, Callable[[Aggregate, list[pa.Array]], Typed]] = {
    "sum": _sum,
    "range": _range,
    "m4": _m4,
    "weighted_mean": _weighted,
    **dict.fromkeys(_NUMBERS, _number),
    **dict.fromkeys(("min", "max", "mincount", "maxcount", "topk"), _extreme),
    **dict.fromkeys(("first", "last", "nth_youngest"), _select),
    **dict.fromkeys(("argmin", "argmax"), _arg),
    **dict.fromkeys(("any", "all"), _truth),
    **dict.fromkeys(("bloom", "hll", "countmin"), _hashed),
}
