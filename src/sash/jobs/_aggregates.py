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
from sash.jobs._model import JobFile
from sash.jobs._problems import shown

_NOT_ASKED = ("dtype", "argument_dtype")  # columns have types of their own
_COLUMNS = ("column", "argument", "weight", "time")
_OTHER_NAMES = {  # of other systems
    "avg": "mean",
    "average": "mean",
    "std": "stddev",
    "var": "variance",
    "nunique": "count_distinct",
    "approx_count_distinct": "hll",
    "collect_list": "collect",
    "percentile": "quantile",
}
_EXAMPLES = {"k": "10", "n": "2", "q": "0.9", "edges": "[0, 10, 100]"}  # where there is no default
_SCHEMAS: dict[str, dict[str, Any]] = {
    "str | None": {"type": "string", "minLength": 1},
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
        said = "is not one name in quotes" if "function" in table else "is missing"
        words = f'[[aggregates]] function {said}: write a line such as function = "sum".'
        raise WrongAggregateError("function", words)
    if function not in agg.__all__:
        hint = nearest(_OTHER_NAMES.get(function, function), agg.__all__)
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
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in given:
            words = f"{function} has no {key}: add a line {key} = {_EXAMPLES[key]}."
            raise WrongAggregateError(None, words)
    try:
        one: Aggregate = getattr(agg, function)(**given)
    except (TypeError, ValueError, ImportError) as error:
        raise WrongAggregateError(_named_in(str(error), given), f"{error}.") from None
    return _named(one, table)


def _check_argument(
    function: str, key: str, value: Any, known: Mapping[str, inspect.Parameter]
) -> None:
    if key in JobFile.model_fields and key not in known:
        words = f"{key} is not an argument of {function}. It belongs at the top of the file, before"
        raise WrongAggregateError(key, f"{words} the first line in brackets.")
    if key not in known:
        hint = nearest(key, [*known, "name"])
        raise WrongAggregateError(key, f"{key} is not an argument of {function}{hint}.")
    kinds, words = _KINDS.get(str(known[key].annotation), ((object,), ""))
    wrong = isinstance(value, bool) and bool not in kinds and object not in kinds
    if key in _COLUMNS and value == "":
        raise WrongAggregateError(key, f"{function}: {key} is empty: name a column.")
    if isinstance(value, list) and list in kinds:
        wrong = not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in value)
    if wrong or not isinstance(value, kinds):
        said = repr(value) if isinstance(value, list) else shown(value)
        raise WrongAggregateError(key, f"{function}: {key} must be {words}, not {said}.")


def _named_in(words: str, given: Mapping[str, Any]) -> str | None:
    """Return the argument that an error is about: the one it names, or the only one."""
    others = [key for key in given if key not in _COLUMNS]
    named = [key for key in given if f" {key} " in f" {words} "]
    return next(iter(named or others), None) if len(named or others) == 1 else None


def _named(one: Aggregate, table: Mapping[str, Any]) -> Aggregate:
    if "name" not in table:
        return one
    name = table["name"]
    if not isinstance(name, str) or not name:
        raise WrongAggregateError("name", f"name must be some text in quotes, not {shown(name)}.")
    return one.alias(name)


def _imported(table: Mapping[str, Any], allow_python: bool) -> Aggregate:
    path, column = table["python"], table.get("column")
    others = [key for key in table if key not in ("python", "column", "name")]
    if "function" in others:
        words = "an aggregate has a function or is one of python: leave one of them out."
        raise WrongAggregateError("python", words)
    if others:
        hint = nearest(others[0], ["python", "column", "name"])
        raise WrongAggregateError(others[0], f"{others[0]} does not go with python{hint}.")
    if not isinstance(path, str) or path.count(":") != 1:
        words = f'python must be like "package.module:name", not {shown(path)}.'
        raise WrongAggregateError("python", words)
    if column is not None and not isinstance(column, str):
        raise WrongAggregateError("column", f"column must be text in quotes, not {shown(column)}.")
    if not allow_python:
        raise WrongAggregateError(
            "python",
            f"{path!r} would import and run code of yours. If you trust this file, run it with "
            "--allow-python.",
        )
    found = _object(path)
    if not isinstance(found, Aggregate):
        words = f"{path!r} is a {type(found).__name__}, and must be an aggregate as sash.agg, or "
        raise WrongAggregateError("python", f"{words}sash.monoid for one of your own, make them.")
    try:
        return _named(found if column is None else found.on(column), table)
    except TypeError as error:
        raise WrongAggregateError("column", f"{path!r}: {error}: leave it out.") from None


def _object(path: str) -> Any:
    module, name = path.split(":")
    try:
        return getattr(importlib.import_module(module), name)
    except Exception as error:  # it is code of the user's, which may raise anything
        known = isinstance(error, (ImportError, AttributeError))
        why = str(error) if known else f"{type(error).__name__}: {error}"
        words = f"cannot import {path!r}: {why}. Correct it, or set PYTHONPATH to the folder that"
        raise WrongAggregateError("python", f"{words} it is in.") from None


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
