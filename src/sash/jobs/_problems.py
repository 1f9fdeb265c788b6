"""What is wrong with a job file, in words: where it is, what it says, what to do."""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from sash._tables import nearest
from sash.jobs._model import LENGTHS, JobFile, Part
from sash.jobs._places import Path, at
from sash.jobs._secrets import redacted, without_secrets


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and where."""

    path: Path
    words: str


class JobError(ValueError):
    """A job file that cannot be run, with everything that is wrong with it."""

    def __init__(self, file: str, found: Iterable[tuple[int | None, str]]) -> None:
        """Take the problems, each with its line."""
        self.file = printable(file)
        self.problems = [(line, _ended(printable(redacted(words), "\n"))) for line, words in found]
        super().__init__("\n".join(self.paragraphs()))

    def paragraphs(self) -> list[str]:
        """Return a paragraph for each problem, beginning with the file and line."""
        return [
            f"{self.file if line is None else f'{self.file}, line {line}'}: {words}"
            for line, words in self.problems
        ]


def printable(text: str, kept: str = "") -> str:
    """Return text that does nothing to a terminal but to be shown; ``kept`` stays as it is."""
    odd = "\N{REPLACEMENT CHARACTER}"
    return "".join(c if c.isprintable() or c in kept else odd for c in text)


def _ended(words: str) -> str:
    """Return a sentence with one sign at its end; an example in lines of its own has none."""
    words = words.removesuffix(".")
    return words if "\n" in words or words.endswith(("?", ":", ".")) else f"{words}."


_TYPES = {
    "string_type": "text in quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
MOST_PROBLEMS = 100  # that are told of one file
_MOST_OWNERS = 3  # of a key, to be told
_TAGS = ("format", "kind")
_LISTS = ("windows", "aggregates", "sinks")
_TABLES = ("source", "time", "rolling", "late_rows", "run", "live", "spark")


def name_of(path: Path) -> str:
    """Return a path as it is written in a job file: ``[time] column``."""
    if not path:
        return "the job"
    first, keys = str(path[0]), [str(p) for p in path[1:] if isinstance(p, str)]
    if first in _LISTS:
        first = f"[[{first}]]"
    elif first in _TABLES:
        first = f"[{first}]"
    return " ".join([first, ".".join(keys)]) if keys else first


def problems_of(error: ValidationError, data: Any) -> list[Problem]:
    """Return what Pydantic found, in words; alternatives of one value are put together."""
    found = _by_place(error, data)
    meant = _meant_by_unknown(found)
    return [
        Problem(_tagged(path, all_[0][1]), _words(path, all_, data))
        for path, all_ in found.items()
        if not any(path[: len(other)] == other for other in meant)
    ]


def meant_by_unknown(error: ValidationError, data: Any) -> list[Path]:
    """Return what misspelled keys were meant to be."""
    return _meant_by_unknown(_by_place(error, data))


def _by_place(error: ValidationError, data: Any) -> dict[Path, list[tuple[Path, Any]]]:
    found: dict[Path, list[tuple[Path, Any]]] = {}
    for one in error.errors(include_url=False)[:MOST_PROBLEMS]:
        path = path_in(data, one["loc"], one["type"] == "missing")
        found.setdefault(path, []).append((one["loc"], one))
    return found


def _meant_by_unknown(found: dict[Path, list[tuple[Path, Any]]]) -> list[Path]:
    """Return what misspelled keys were meant to be: that it is missing is not told as well."""
    unknown = [(p, all_[0]) for p, all_ in found.items() if all_[0][1]["type"] == "extra_forbidden"]
    close = [
        (path, difflib.get_close_matches(str(path[-1]), _field_names(_part(where[:-1])), 1))
        for path, (where, _) in unknown
    ]
    return [(*path[:-1], names[0]) for path, names in close if names]


def _tagged(path: Path, one: Any) -> Path:
    """Return the place of what says which kind of table this is, where that is wrong."""
    if one["type"] != "union_tag_invalid":
        return path
    return (*path, one["ctx"]["discriminator"].strip("'"))


def path_in(data: Any, location: tuple[str | int, ...], missing: bool) -> Path:
    """Return a location without what Pydantic puts in between: tags and names of types."""
    path: Path = ()
    for i, part in enumerate(location):
        here = at(data, path)
        last = i == len(location) - 1
        is_key = isinstance(here, dict) and (part in here or (last and missing))
        if is_key or (isinstance(here, list) and isinstance(part, int)):
            path = (*path, part)
    return path


def _words(path: Path, found: Sequence[tuple[Path, Any]], data: Any) -> str:
    location, one = found[0]
    kind, value = one["type"], one["input"]
    where, context = name_of(path), one.get("ctx", {})
    if all(e["type"] in _TYPES for _, e in found):
        wanted = list(dict.fromkeys(_TYPES[e["type"]] for _, e in found))
        return _wrong_type(path, where, wanted, value)
    if kind == "missing":
        return _missing(path, location)
    if kind == "extra_forbidden":
        return _unknown(path, location, data)
    if kind == "literal_error":
        choices = _choices(context["expected"])
        return f"{where}: {shown(value)} is none of {', '.join(choices)}{close_to(value, choices)}."
    if kind == "union_tag_invalid":
        choices = _choices(context["expected_tags"])
        tag = context["discriminator"].strip("'")
        return (
            f"{where} {tag}: {shown(context['tag'])} is none of {', '.join(choices)}"
            f"{close_to(context['tag'], choices)}."
        )
    if kind == "union_tag_not_found":
        tag = context["discriminator"].strip("'")
        return (
            f"{where} has no {tag}: add a line {tag} = ..., with one of {', '.join(_tags(path))}."
        )
    if kind == "value_error":
        return f"{where}: {str(context['error']).removeprefix(': ')}."
    if kind == "too_long":
        return (
            f"{where} has {context['actual_length']} tables, and may have {context['max_length']}."
        )
    if kind in ("too_short", "string_too_short"):
        return f"{where} is empty: {_at_least(path, location)}."
    if kind in ("greater_than_equal", "greater_than"):
        bound = context.get("ge", context.get("gt"))
        least = f"at least {bound}" if "ge" in context else f"above {bound:g}"
        return f"{where} must be {least}, not {value!r}."
    if kind == "finite_number":
        return f"{where} must be a number that is not endless, such as 1.5, not {value!r}."
    if kind == "less_than_equal":
        return f"{where} must be at most {context['le']}, not {value!r}."
    return f"{where}: {one['msg']}."


def _wrong_type(path: Path, where: str, wanted: list[str], value: Any) -> str:
    top = path[0] if len(path) == 1 else None
    if isinstance(value, dict) and top in _LISTS:
        return f"[{top}] is a list of tables: write its header with two brackets, [[{top}]]."
    if isinstance(value, list) and top in _TABLES:
        return f"[[{top}]] is one table: write its header with one bracket, [{top}]."
    if isinstance(value, dict) and path[0] == "spark":
        name = ".".join(map(str, (*path[1:], *_first_keys(value))))
        return f'{where}: a name with dots goes in quotes, as in "{name}" = "...".'
    if top == "by":
        wanted = ["text in quotes, or a list of it"]
    remedy = ""
    if wanted == ["a table"] or top in _LISTS:
        remedy = f"; {_as_table(path)}"
    if wanted == ["text in quotes"] and not isinstance(value, (dict, list)):
        text = shown(value).strip("'")
        remedy = f'; put it in quotes: "{text}"'
        if path[-1] in LENGTHS:
            remedy = '; write a length of time like "90s" or "1 hour"'
    return f"{where} must be {' or '.join(wanted)}, not {shown(value)}{remedy}."


def _first_keys(value: Any) -> Iterator[str]:
    while isinstance(value, dict) and value:
        key, value = next(iter(value.items()))
        yield str(key)


def _as_table(path: Path) -> str:
    """Return how a table is written that something else stands in place of."""
    header = f"[{path[0]}]" if path[0] not in _LISTS else f"[[{path[0]}]]"
    if path[-1] == "columns":
        return COLUMNS_REMEDY
    if len(path) > 1 and path[0] not in _LISTS:
        header = f"[{'.'.join(map(str, path))}]"
    return f"write a line {header}, and its keys below it, one in a line"


def shown(value: Any) -> str:
    """Return a value as it is written in a job file, in short."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    value = without_secrets(value)
    text = repr(value) if isinstance(value, (str, int, float)) else str(value)  # a date or time
    return text if len(text) < 80 else f"{text[:77]}..."


_HELP = {
    ("source",): 'a [source] table, such as\n  [source]\n  format = "csv"\n  path = "events.csv"',
    ("time",): 'a [time] table, such as\n  [time]\n  column = "ts"',
    ("aggregates",): 'an [[aggregates]] table, such as\n  [[aggregates]]\n  function = "count"',
    ("sinks",): 'a [[sinks]] table, such as\n  [[sinks]]\n  format = "console"',
}
_AT_LEAST = {
    "aggregates": 'add an [[aggregates]] table, such as function = "count"',
    "sinks": 'add a [[sinks]] table, such as format = "console"',
    "columns": 'name each column with its type, as in ts = "timestamp"',
}
COLUMNS_REMEDY = 'add a table [source.columns] with lines such as ts = "timestamp"'


def _at_least(path: Path, location: Path) -> str:
    field = _field(location)
    needed = field is not None and field.is_required()
    otherwise = "give it a value" if needed else "give it a value, or leave it out"
    return _AT_LEAST.get(str(path[-1]), otherwise)


def _missing(path: Path, location: Path) -> str:
    if path in _HELP:
        return f"the job has no {path[0]}: add {_HELP[path]}".replace("\n ", "\n   ")
    key, field = str(path[-1]), _field(location)
    if key == "columns":
        return f"{name_of(path[:-1])} has no columns: {COLUMNS_REMEDY}."
    example = _example(field)
    said = f" ({field.description})" if field is not None and field.description else ""
    return f"{name_of(path[:-1])} has no {key}: add a line {key} = {example}{said}."


def _example(field: FieldInfo | None) -> str:
    if field is not None and field.examples:
        return repr(field.examples[0]).replace("'", '"')
    return "1.5" if field is not None and field.annotation is float else '"..."'


def _unknown(path: Path, location: Path, data: Any) -> str:
    key, part = str(path[-1]), _part(location[:-1])
    if key in JobFile.model_fields:
        return (
            f"{key} is not known {_in(path)}. It belongs at the top of the file, before the first "
            "line in brackets."
        )
    kinds = _kinds_with(key, part, location)
    if kinds:
        tag = next(t for t in _TAGS if t in part.model_fields)
        own = at(data, (*path[:-1], tag))
        return f'{key} is not known {_in(path)} with {tag} = "{own}": it goes with {tag} = {kinds}.'
    owners = [name_of((name,)) for name in JobFile.model_fields if key in _names_below(name)]
    if 0 < len(owners) <= _MOST_OWNERS and len(path) == 1 and isinstance(at(data, path), dict):
        return f"{key} is not known {_in(path)}: write its header [{owners[0].strip('[]')}.{key}]."
    if 0 < len(owners) <= _MOST_OWNERS:
        return f"{key} is not known {_in(path)}. It belongs in {' or '.join(owners)}."
    return f"{key} is not known {_in(path)}{nearest(key, _field_names(part))}."


def _kinds_with(key: str, part: type[Part], location: Path) -> str:
    """Return the other kinds of a table that know this key."""
    tables = _tables_below(str(location[0]))
    values = [v for c in tables if c is not part and key in c.model_fields for v in _tag_values(c)]
    return " or ".join(f'"{value}"' for value in values)


def _in(path: Path) -> str:
    return f"in {name_of(path[:-1])}" if len(path) > 1 else "at the top of a job"


def close_to(value: Any, choices: Sequence[str]) -> str:
    """Return a hint at what may have been meant, or nothing."""
    hint = nearest(str(value), choices)
    return hint if hint.startswith("; did") else ""


def _choices(text: str) -> list[str]:
    """Return the choices that Pydantic lists, without quotes."""
    parts = text.replace(" or ", ", ").split(", ")
    return [part.strip().strip("'") for part in parts]


# ---- the classes behind a path -----------------------------------------------------------------


def _classes(annotation: Any) -> list[type[Part]]:
    """Return the tables that an annotation stands for."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return [annotation]
    if typing.get_origin(annotation) in (list, typing.Union, types.UnionType, typing.Annotated):
        return [c for a in get_args(annotation) for c in _classes(a)]
    return []


def _tables_below(name: str) -> list[type[Part]]:
    """Return the tables that stand under a name at the top of a job."""
    return _classes(JobFile.model_fields[name].annotation) if name in JobFile.model_fields else []


def _names_below(name: str) -> set[str]:
    return {key for table in _tables_below(name) for key in table.model_fields}


def _tag_values(part: type[Part]) -> list[str]:
    tag = next((t for t in _TAGS if t in part.model_fields), None)
    return [] if tag is None else [str(v) for v in get_args(part.model_fields[tag].annotation)]


def _tags(path: Path) -> list[str]:
    return [value for c in _tables_below(str(path[0])) for value in _tag_values(c)]


def _part(location: Path) -> type[Part]:
    """Return the table that a location of Pydantic's is in."""
    if not location:
        return JobFile
    classes = _tables_below(str(location[0]))
    tagged = [c for c in classes if set(_tag_values(c)) & set(map(str, location))]
    return (tagged or classes or [JobFile])[0]


def _field(location: Path) -> FieldInfo | None:
    return _part(location[:-1]).model_fields.get(str(location[-1]))


def _field_names(part: type[Part]) -> list[str]:
    return list(part.model_fields)
