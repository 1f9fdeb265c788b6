"""Arrow columns as cells of a history: exact, small, and without SQLite's traps.

A number is kept as it is where SQLite can hold it. NaN (which SQLite would turn into null),
decimals and integers beyond 64 bits are kept as text that ``float`` reads. Everything else is
short text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

MOST_TEXT = 200
_LARGEST = 2**63 - 1

Cell = int | float | str | None


def kind_of(type_: Any) -> str | None:
    """Return what a column holds: ``number``, ``bool``, ``text``, or None for only nulls."""
    if pa.types.is_dictionary(type_):
        return kind_of(type_.value_type)
    if pa.types.is_null(type_):
        return None
    if pa.types.is_boolean(type_):
        return "bool"
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return "number" if any(check(type_) for check in numeric) else "text"


def cells(column: Any) -> list[Cell]:
    """Return the values of an Arrow column as a history keeps them."""
    column = _plain(column)
    kind = kind_of(column.type)
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.string())
    keep = _KEEP[kind or "text"]
    return [None if value is None else keep(value) for value in column.to_pylist()]


def texts(column: Any) -> list[str | None]:
    """Return the values of a key's column as whole texts."""
    column = _plain(column)
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.string())
    return [None if value is None else _whole_text(value) for value in column.to_pylist()]


def shown(kind: str | None, cell: Cell) -> str | None:
    """Return the exact text of a cell, None for null."""
    if cell is None:
        return None
    if kind == "bool":
        return "true" if cell else "false"
    return repr(cell) if isinstance(cell, float) else str(cell)


def microseconds(column: Any) -> list[int | None]:
    """Return a column of timestamps as microseconds since 1970."""
    if not pa.types.is_timestamp(column.type):
        raise TypeError(f"expected timestamps, not {column.type}")
    wanted = pa.timestamp("us", tz=column.type.tz)
    found: list[int | None] = pc.cast(column, wanted, safe=False).cast(pa.int64()).to_pylist()
    return found


def _plain(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column


def _number(value: Any) -> Cell:
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value
    if isinstance(value, int) and -_LARGEST <= value <= _LARGEST:
        return value
    return str(value)


def _truth(value: Any) -> Cell:
    return int(value)


def _text(value: Any) -> Cell:
    text = _whole_text(value)
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"


def _whole_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (bool, list, dict, tuple)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


_KEEP: dict[str, Callable[[Any], Cell]] = {"number": _number, "bool": _truth, "text": _text}
