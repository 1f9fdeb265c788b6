"""Aggregates and windows as JSON: how they were made, so that they can be made again elsewhere.

What has a function of the user's in it cannot be said in JSON; that is ``None``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sash import windows
from sash._aggregate import Aggregate, dtype_name
from sash.windows import Window


def remembering(function: Callable[..., Aggregate]) -> Callable[..., Aggregate]:
    """Return a function of `sash.agg` whose aggregates know how they were made."""

    @functools.wraps(function)
    def made(*args: Any, **kwargs: Any) -> Aggregate:
        one = function(*args, **kwargs)
        try:
            given = [_plain(a) for a in args], {n: _plain(v) for n, v in kwargs.items()}
        except TypeError:
            return one  # it cannot be said
        return replace(one, made=(function.__name__, *given))

    return made


def aggregate_recipe(one: Aggregate) -> dict[str, Any] | None:
    """Return how to make an aggregate, if that can be said."""
    if one.made is None:
        return None
    name, args, kwargs = one.made
    columns = {"columns": list(one.columns), "alias": one.named}
    return {"function": name, "args": args, "kwargs": kwargs, **columns}


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (type, np.dtype)):
        return dtype_name(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    raise TypeError(f"{value!r} is not plain")


def aggregate_of(recipe: dict[str, Any]) -> Aggregate:
    """Make an aggregate again."""
    from sash import agg

    if recipe["function"] not in agg.__all__:
        raise ValueError(f"there is no aggregate {recipe['function']!r}")
    one: Aggregate = getattr(agg, recipe["function"])(*recipe["args"], **recipe["kwargs"])
    one = one.on(*recipe["columns"])
    return one if recipe["alias"] is None else one.alias(recipe["alias"])


def window_recipe(window: Window, size: int, slide: int, offset: int) -> dict[str, Any] | None:
    """Return a window with its lengths in the time column's unit, if it can be said."""
    if window.function is not None:
        return None
    lengths = {"size": window.size, "slide": None, "offset": None}
    if not window.by_rows:
        lengths = {"size": size, "slide": slide, "offset": offset}
    rest = {"rows": window.rows, "step": window.step, "column": window.column}
    return {"kind": window.kind, "name": window.name, **lengths, **rest}


def window_of(recipe: dict[str, Any]) -> Window:
    """Make a window again."""
    window = Window(**recipe)
    if window.kind not in _MAKERS or window.function is not None:
        raise ValueError(f"there is no window of kind {window.kind!r}")
    _MAKERS[window.kind](window)
    return window


_MAKERS: dict[str, Callable[[Window], Window]] = {
    "periodic": lambda w: windows.sliding(w.size, w.slide, name=w.name),
    "session": lambda w: windows.session(w.size, name=w.name),
    "rolling": lambda w: windows.rolling(w.size, name=w.name),
    "count": lambda w: windows.sliding(rows=w.rows, slide=w.step, name=w.name),
    "last": lambda w: windows.rolling(rows=w.rows, name=w.name),
    "delta": lambda w: windows.delta(str(w.column), w.size, name=w.name),
    "punctuation": lambda w: windows.punctuation(str(w.column), name=w.name),
}
"""What refuses a window that a user could not have made either."""
