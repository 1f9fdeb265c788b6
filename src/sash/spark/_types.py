"""Spark's types as Arrow's and back: what a column is on either side of a Python worker."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sash.spark._pyspark import pyspark_types

_PLAIN = {
    "BooleanType": pa.bool_(),
    "ByteType": pa.int8(),
    "ShortType": pa.int16(),
    "IntegerType": pa.int32(),
    "LongType": pa.int64(),
    "FloatType": pa.float32(),
    "DoubleType": pa.float64(),
    "BinaryType": pa.binary(),
    "DateType": pa.date32(),
    "TimestampType": pa.timestamp("us", "UTC"),
    "TimestampNTZType": pa.timestamp("us"),
    "NullType": pa.null(),
    "StringType": pa.string(),
    "CharType": pa.string(),
    "VarcharType": pa.string(),
    "DayTimeIntervalType": pa.duration("us"),
}


def to_arrow(kind: Any) -> pa.DataType:
    """Return the Arrow type of a Spark type, or raise `TypeError` when Arrow cannot carry it."""
    types = pyspark_types()
    plain = _PLAIN.get(type(kind).__name__)
    if plain is not None:
        return plain
    if isinstance(kind, types.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, types.ArrayType):
        return pa.list_(pa.field("element", to_arrow(kind.elementType), kind.containsNull))
    if isinstance(kind, types.MapType):
        return pa.map_(to_arrow(kind.keyType), to_arrow(kind.valueType))
    if isinstance(kind, types.StructType):
        return pa.struct([pa.field(f.name, to_arrow(f.dataType), f.nullable) for f in kind.fields])
    raise TypeError(f"{kind.simpleString()} has no Arrow type")


def as_carried(schema: pa.Schema) -> pa.Schema:
    """Return a schema as Spark reads it back: with the Arrow types of its own."""
    return pa.schema([pa.field(f.name, to_arrow(to_spark(f.type))) for f in schema])


def to_spark(kind: pa.DataType) -> Any:
    """Return the Spark type that holds what an Arrow type does."""
    types = pyspark_types()
    for name, plain in _PLAIN.items():
        if kind == plain:
            return getattr(types, name)()
    is_ = pa.types
    if is_.is_integer(kind):
        return types.LongType()
    if is_.is_large_string(kind):
        return types.StringType()
    if is_.is_large_binary(kind) or is_.is_fixed_size_binary(kind):
        return types.BinaryType()
    if is_.is_timestamp(kind):
        return types.TimestampNTZType() if kind.tz is None else types.TimestampType()
    if is_.is_decimal(kind) and kind.precision <= 38:
        return types.DecimalType(kind.precision, kind.scale)
    if is_.is_duration(kind):
        return types.DayTimeIntervalType()
    if is_.is_list(kind) or is_.is_large_list(kind):
        return types.ArrayType(to_spark(kind.value_type))
    if is_.is_map(kind):
        return types.MapType(to_spark(kind.key_type), to_spark(kind.item_type))
    if is_.is_struct(kind):
        return types.StructType([types.StructField(f.name, to_spark(f.type)) for f in kind])
    raise TypeError(f"a result of type {kind} has no Spark type")
