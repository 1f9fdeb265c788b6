"""The aggregates of a job file: a function of `sash.agg` by its name, with its arguments.

A table is ``{function = "sum", column = "amount", name = "total"}``; other keys are the function's
own arguments. Or ``python = "package.module:name"`` names an aggregate of the user's, which has to
be allowed where the job is run, since importing it runs code.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from sash import agg
from sash._aggregate import Aggregate
from sash._tables import nearest

_NOT_ASKED = ("dtype", "argument_dtype")  # columns have types of their own
_COLUMNS = ("column", "argument", "weight", "time")
_SCHEMAS: dict[str, dict[str, Any]] = {
    "str | None": {"type": "string"},
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "bool": {"type": "boolean"},
    "float": {"type": "number"},
    "Iterable[float]": {"type": "array", "items": {"type": "number"}},
    "float | Sequence[float]": {
        "anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]
    },
    "Any": {"type": ["string", "number", "boolean"]},
}
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "str | None": ((str,), "text in quotes"),
    "str": ((str,), "text in quotes"),
    "int": ((int,), "a whole number"),
    "bool": ((bool,), "true or false"),
    "float": ((int, float), "a number"),
    "Iterable[float]": ((list,), "a list of numbers"),
    "float | Sequence[float]": ((int, float, list), "a number, or a list of numbers"),
}


class WrongAggregateError(ValueError):
    """What is wrong, and at which key of the table (none: at the table)."""

    def __init__(self, key: str | None, words: str) -> None:
        """Take the key and the words."""
        self.key = key
        super().__init__(words)


def arguments_of(function: str) -> dict[str, inspect.Parameter]:
    """Return what a function of `sash.agg` can be told in a job file."""
    found = inspect.signature(getattr(agg, function)).parameters
    return {name: p for name, p in found.items() if name not in _NOT_ASKED}


def aggregate_of(table: Mapping[str, Any], allow_python: bool) -> Aggregate:
    """Return the aggregate that a table asks for."""
    if "python" in table:
        return _imported(table, allow_python)
    function = table.get("function")
    if not isinstance(function, str):
        raise WrongAggregateError(
            None if function is None else "function",
            '[[aggregates]] has no function: add a line such as function = "sum".'
            if function is None
            else f"[[aggregates]] function must be text in quotes, not {function!r}.",
        )
    if function not in agg.__all__:
        hint = nearest(function, agg.__all__)
        raise WrongAggregateError("function", f"there is no aggregate {function!r}{hint}.")
    known = arguments_of(function)
    given = {key: value for key, value in table.items() if key not in ("function", "name")}
    for key, value in given.items():
        _check_argument(function, key, value, known)
    if "column" in known and "column" not in given and function != "count":
        words = f'{function} has no column: add a line column = "..." with the one to aggregate.'
        raise WrongAggregateError(None, words)
    for key in known:
        if key in _COLUMNS[1:] and key not in given:
            words = f'{function} reads two columns: add a line {key} = "..." with the second.'
            raise WrongAggregateError(None, words)
    try:
        one: Aggregate = getattr(agg, function)(**given)
    except (TypeError, ValueError, ImportError) as error:
        raise WrongAggregateError(_named_in(str(error), given), f"{error}.") from None
    return _named(one, table)


def _check_argument(
    function: str, key: str, value: Any, known: Mapping[str, inspect.Parameter]
) -> None:
    if key not in known:
        hint = nearest(key, [*known, "name"])
        raise WrongAggregateError(key, f"{key} is not an argument of {function}{hint}.")
    kinds, words = _KINDS.get(str(known[key].annotation), ((object,), ""))
    wrong = isinstance(value, bool) and bool not in kinds and object not in kinds
    if wrong or not isinstance(value, kinds):
        raise WrongAggregateError(key, f"{function}: {key} must be {words}, not {value!r}.")


def _named_in(words: str, given: Mapping[str, Any]) -> str | None:
    return next((key for key in given if f" {key} " in f" {words} "), None)


def _named(one: Aggregate, table: Mapping[str, Any]) -> Aggregate:
    if "name" not in table:
        return one
    name = table["name"]
    if not isinstance(name, str) or not name:
        raise WrongAggregateError("name", f"name must be text in quotes, not {name!r}.")
    return one.alias(name)


def _imported(table: Mapping[str, Any], allow_python: bool) -> Aggregate:
    path = table["python"]
    others = [key for key in table if key not in ("python", "column", "name")]
    if others:
        hint = nearest(others[0], ["python", "column", "name"])
        raise WrongAggregateError(others[0], f"{others[0]} does not go with python{hint}.")
    if not isinstance(path, str) or path.count(":") != 1:
        words = f'python must be like "package.module:name", not {path!r}.'
        raise WrongAggregateError("python", words)
    if not allow_python:
        raise WrongAggregateError(
            "python",
            f"{path!r} would import and run code of yours. If you trust this file, run it with "
            "--allow-python.",
        )
    module, name = path.split(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        words = f"cannot import {path!r}: {error}. Is it installed, or on PYTHONPATH?"
        raise WrongAggregateError("python", words) from None
    if not isinstance(found, Aggregate):
        words = f"{path!r} is {type(found).__name__}, not an aggregate as sash.monoid makes them."
        raise WrongAggregateError("python", words)
    if "column" in table:
        found = found.on(table["column"])
    return _named(found, table)


def schema_of_aggregates() -> dict[str, Any]:
    """Return the JSON Schema of one table, an alternative for each function."""
    return {"oneOf": [*map(_schema_of, agg.__all__), _schema_of_python()]}


def _schema_of(function: str) -> dict[str, Any]:
    known = arguments_of(function)
    properties: dict[str, Any] = {
        "function": {"const": function},
        **{name: _SCHEMAS[str(p.annotation)] for name, p in known.items()},
        "name": {"type": "string", "minLength": 1, "description": "Of the result's column"},
    }
    needed = [n for n, p in known.items() if n in _COLUMNS or p.default is p.empty]
    words = inspect.cleandoc(getattr(agg, function).__doc__ or "").split("\n")[0]
    return {
        "type": "object",
        "title": function,
        "description": words.replace("``", ""),
        "properties": properties,
        "required": ["function", *(n for n in needed if function != "count")],
        "additionalProperties": False,
    }


def _schema_of_python() -> dict[str, Any]:
    text = {"type": "string", "minLength": 1}
    words = {"description": "package.module:name; needs --allow-python"}
    properties = {"python": {**text, **words}, "column": text, "name": text}
    return {
        "type": "object",
        "title": "python",
        "properties": properties,
        "required": ["python"],
        "additionalProperties": False,
    }
