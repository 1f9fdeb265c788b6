"""Aggregates meet the columns of a stream: what each does with a type, whatever batch comes next.

As in `_rolling_types`, but by type alone: results of one batch may come from values of another, so
nothing may refer to places in a table. Values that are no machine words run as Python objects.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from sash import _arrow, agg
from sash._aggregate import Aggregate
from sash._rolling_types import Typed, dtype_of, on_decimals, typed

_ORDERED = ("min", "max", "mincount", "maxcount", "topk", "first", "last", "nth_youngest")
_DIGITS = 18  # of decimals that fit in an int64


LISTS = ("collect", "distinct")
_is_span = pa.types.is_duration


def is_word(kind: pa.DataType) -> bool:
    """Whether each value of a type is one machine word, in the same order."""
    types = pa.types
    if types.is_decimal(kind):
        return bool(types.is_decimal128(kind) and kind.precision <= _DIGITS)
    plain = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    return bool(plain or types.is_duration(kind) or types.is_null(kind) or _arrow.is_clock(kind))


def stream_typed(one: Aggregate, columns: list[pa.Array]) -> Typed:
    """Return the aggregate, its inputs and the decoding of its results."""
    if one.name in LISTS and (_arrow.is_clock(columns[0].type) or _is_span(columns[0].type)):
        ordered, decode = _arrow.as_ordered(columns[0], one.columns[0] or "")
        return one, [ordered], decode  # as integers: no Python class holds nanoseconds
    if one.python is not None or not columns:
        return one, columns, _arrow.same
    kinds = [c.type for c in columns]
    columns = [_fitting(c, name) for c, name in zip(columns, one.columns, strict=True)]
    kind = columns[0].type
    if one.name in ("argmin", "argmax"):
        return _arg(one, columns, kinds)
    if one.name in _ORDERED:
        if not is_word(kind):
            return _on_objects(one, columns)
        ordered, decode = _arrow.as_ordered(columns[0], one.columns[0] or "")
        if kinds[0] == pa.uint64():
            decode = _arrow.to_type(kinds[0])
        counts = one.name in ("mincount", "maxcount")
        dtyped = replace(one, dtype=dtype_of(ordered))
        return dtyped, [ordered], _arrow.same if counts else decode
    if one.name in ("sum", "range") and pa.types.is_decimal(kind):
        return _decimals(one, columns[0])
    return typed(one, columns)


def _fitting(column: pa.Array, name: str | None) -> pa.Array:
    """Return unsigned integers as signed ones."""
    return _arrow.as_ints(column, name or "") if column.type == pa.uint64() else column


def _decimals(one: Aggregate, column: pa.Array) -> Typed:
    kind = column.type
    if not is_word(kind):
        return on_decimals(one, column)
    units = _arrow.unscaled(column)
    assert units is not None
    decode = _arrow.to_decimals(pa.decimal128(38, kind.scale))
    return replace(one, dtype="int"), [_arrow.with_nulls(units, column)], decode


def _arg(one: Aggregate, columns: list[pa.Array], kinds: list[pa.DataType]) -> Typed:
    if not all(is_word(c.type) for c in columns):
        return _on_objects(one, columns)
    (ordered, _), (argument, decode) = (
        _arrow.as_ordered(c, n or "") for c, n in zip(columns, one.columns, strict=True)
    )
    if kinds[1] == pa.uint64():
        decode = _arrow.to_type(kinds[1])
    code = "f" if dtype_of(ordered) == "float" else "i"
    out = "f" if dtype_of(argument) == "float" else "i"
    dtype = dtype_of(ordered)
    model = next(iter(one.native.values()))
    native = replace(model, op=f"{one.name}_{code}64", inputs=(code, out), output=out)
    return replace(one, dtype=dtype, native={dtype: native}), [ordered, argument], decode


def _on_objects(one: Aggregate, columns: list[pa.Array]) -> Typed:
    kind = columns[-1].type
    if one.name in ("argmin", "argmax"):
        made = getattr(agg, one.name)(*one.columns, argument_dtype=object)
        decode: _arrow.Decode = _arrow.to_type(kind)
    elif one.name in ("topk", "nth_youngest"):
        most = one.ints[0]
        made = getattr(agg, one.name)(most, one.columns[0], dtype=object)
        decode = _arrow.to_type(pa.list_(kind) if one.name == "topk" else kind)
        if one.name == "topk" and one.ints[1:] and one.ints[1]:
            made = agg.topk(most, one.columns[0], dtype=object, smallest=True)
    else:
        made = getattr(agg, one.name)(one.columns[0], dtype=object)
        counts = one.name in ("mincount", "maxcount")
        decode = _arrow.to_type(pa.int64() if counts else kind)
    return replace(made, named=one.named), columns, decode


def same_kind(a: Aggregate, b: Aggregate) -> bool:
    """Whether two readings of one aggregate compute the same thing."""
    return a.dtype == b.dtype and (a.python is None) == (b.python is None)
