"""How aggregates are defined: what `sash.agg` and its parts share."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from sash._aggregate import Aggregate, Laws, Native, PythonMonoid, dtype_name

MOST_STATE = 1 << 24
"""The bytes of one aggregate's state: a window keeps many."""
MOST_LISTED = 1 << 16
"""The numbers that an aggregate can be given in a list."""
SUM_LIKE = Laws(invertible=True, commutative=True)
FLOAT_SUM = Laws(invertible=True, commutative=True, exact=False)
MAX_LIKE = Laws(commutative=True, idempotent=True)
ORDERED = Laws()


def define(
    name: str,
    columns: tuple[str | None, ...],
    dtype: Any,
    laws: Laws,
    result: str,
    native: dict[str, Native],
    python: PythonMonoid | None = None,
    **more: Any,
) -> Aggregate:
    """Build an aggregate for the dtype asked for, refusing one it has no meaning for."""
    kind = dtype_name(dtype)
    allowed = [*native, *(["object"] if python is not None else [])]
    if kind not in allowed:
        raise TypeError(f"{name} takes dtype {' or '.join(allowed)}, not {kind}")
    chosen = python if kind == "object" else None
    return Aggregate(name, columns, laws, result, kind, native, chosen, **more)


def float_and_int(op: str, output: str = "", scalar: bool = False) -> dict[str, Native]:
    """Build the float and the integer version of a native aggregate."""
    return {
        "float": Native(f"{op}_f64", ("f",), output or "f", scalar),
        "int": Native(f"{op}_i64", ("i",), output or "i", scalar),
    }


def positive(name: str, what: str, value: Any, most: int = 1 << 20) -> int:
    """Return the value as an int from 1 to ``most``, or raise saying what it should be."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not 1 <= value <= most:
        raise ValueError(f"{name}: {what} must be an integer from 1 to {most}, not {value!r}")
    return int(value)


def numbers(name: str, what: str, values: Any) -> tuple[float, ...]:
    """Return a list of numbers as floats, or raise saying what it should be."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: {what} must be a list of numbers, not {values!r}")
    given = list(itertools.islice(values, MOST_LISTED + 1))
    if len(given) > MOST_LISTED:
        raise ValueError(f"{name}: {what} must be at most {MOST_LISTED} numbers")
    return tuple(number(name, what, value) for value in given)


def number(name: str, what: str, value: Any) -> float:
    """Return the value as a float, or raise saying what it should be."""
    wrong = TypeError(f"{name}: {what} must be numbers, not {value!r}")
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__float__"):
        raise wrong
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name}: {what} must fit in a float64, not {value!r}") from None
    except TypeError:  # an array of several
        raise wrong from None


def power_of_two(name: str, what: str, value: Any, least: int, most: int) -> int:
    """Return the value as an int that is a power of two, or raise saying what it should be."""
    if positive(name, what, value, most) < least or value & (value - 1):
        raise ValueError(f"{name}: {what} must be a power of two of at least {least}, not {value}")
    return int(value)
