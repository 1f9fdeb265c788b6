"""The JSON Schema of job files says what `sash.jobs.load` takes, as far as shapes go."""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sash import agg, jobs
from sash.jobs._aggregates import WrongAggregateError, aggregate_of

HERE = Path(__file__).parent
GOOD = sorted((HERE / "good").glob("*.toml"))
SHAPES = ("unknown_", "type_", "choice_", "empty_", "missing_", "one_bracket_", "two_brackets_")
NOT_SHAPES = ("missing_windows",)  # one of two tables, which the schema does not ask for
BROKEN = [
    path
    for path in sorted((HERE / "broken").glob("*.toml"))
    if path.stem.startswith(SHAPES) and path.stem not in NOT_SHAPES
]
FUNCTIONS = {
    one["title"]: one for one in jobs.schema()["properties"]["aggregates"]["items"]["oneOf"]
}
WORDS = ("title", "description", "examples", "default", "discriminator", "$schema", "$defs")
TYPES = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
ABOUT: dict[str, type | tuple[type, ...]] = {  # these say nothing of values of other types
    **dict.fromkeys(["properties", "required", "additionalProperties", "minProperties"], dict),
    **dict.fromkeys(["items", "minItems", "maxItems"], list),
    **dict.fromkeys(["minimum", "maximum", "exclusiveMinimum"], (int, float)),
    "minLength": str,
}


class Schema:
    """As much of JSON Schema as there is in the schema of job files; more of it raises."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root

    def accepts(self, value: Any, schema: dict[str, Any]) -> bool:
        return all(
            getattr(self, "_" + key.removeprefix("$"))(value, said, schema)
            for key, said in schema.items()
            if key not in WORDS and isinstance(value, ABOUT.get(key, object))
        )

    def _ref(self, value: Any, said: str, _: Any) -> bool:
        found = self.root
        for part in said.removeprefix("#/").split("/"):
            found = found[part]
        return self.accepts(value, found)

    def _type(self, value: Any, said: str | list[str], _: Any) -> bool:
        kinds = [said] if isinstance(said, str) else said
        wanted = tuple(t for kind in kinds for t in TYPES[kind])
        return isinstance(value, wanted) and (not isinstance(value, bool) or bool in wanted)

    def _properties(self, value: Any, said: dict[str, Any], _: Any) -> bool:
        return all(self.accepts(value[key], said[key]) for key in said if key in value)

    def _required(self, value: Any, said: list[str], _: Any) -> bool:
        return all(key in value for key in said)

    def _additionalProperties(  # noqa: N802
        self, value: Any, said: bool | dict[str, Any], schema: dict[str, Any]
    ) -> bool:
        others = [v for key, v in value.items() if key not in schema.get("properties", {})]
        if isinstance(said, bool):
            return said or not others
        return all(self.accepts(v, said) for v in others)

    def _items(self, value: Any, said: dict[str, Any], _: Any) -> bool:
        return all(self.accepts(v, said) for v in value)

    def _enum(self, value: Any, said: list[Any], _: Any) -> bool:
        return value in said

    def _const(self, value: Any, said: Any, _: Any) -> bool:
        return bool(value == said)

    def _oneOf(self, value: Any, said: list[dict[str, Any]], _: Any) -> bool:  # noqa: N802
        return sum(self.accepts(value, one) for one in said) == 1

    def _anyOf(self, value: Any, said: list[dict[str, Any]], _: Any) -> bool:  # noqa: N802
        return any(self.accepts(value, one) for one in said)

    def _minItems(self, value: Any, said: int, _: Any) -> bool:  # noqa: N802
        return len(value) >= said

    def _maxItems(self, value: Any, said: int, _: Any) -> bool:  # noqa: N802
        return len(value) <= said

    _minLength = _minProperties = _minItems  # noqa: N815

    def _minimum(self, value: Any, said: float, _: Any) -> bool:
        return bool(value >= said)

    def _maximum(self, value: Any, said: float, _: Any) -> bool:
        return bool(value <= said)

    def _exclusiveMinimum(self, value: Any, said: float, _: Any) -> bool:  # noqa: N802
        return bool(value > said)


def accepted(data: Any) -> bool:
    schema = jobs.schema()
    return Schema(schema).accepts(data, schema)


def schemas_in(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and all that are in it."""
    yield schema
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            inner = list(value.values())
        elif key in ("oneOf", "anyOf"):
            inner = value
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            inner = [value]
        else:
            continue
        for one in inner:
            yield from schemas_in(one)


def test_it_is_a_schema() -> None:
    root = jobs.schema()
    assert json.loads(json.dumps(root)) == root
    for one in schemas_in(root):
        for key in one:
            assert key in WORDS or hasattr(Schema, "_" + key.removeprefix("$")), key
        kinds = one.get("type", [])
        assert set([kinds] if isinstance(kinds, str) else kinds) <= set(TYPES)
        assert len(set(one.get("required", []))) == len(one.get("required", []))
        assert set(one.get("required", [])) <= set(one.get("properties", {}))
        if "$ref" in one:
            assert one["$ref"].removeprefix("#/$defs/") in root["$defs"]


def test_tables_take_no_keys_that_they_do_not_know() -> None:
    tables = [one for one in schemas_in(jobs.schema()) if "properties" in one]
    assert len(tables) > len(agg.__all__) + 15
    assert all(one["additionalProperties"] is False for one in tables)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good_files_are_accepted(path: Path) -> None:
    assert accepted(tomllib.loads(path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")))


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_broken_files_are_refused(path: Path) -> None:
    assert not accepted(tomllib.loads(path.read_text()))


def test_broken_files_are_many() -> None:
    assert len(BROKEN) > 50


# ---- aggregates ---------------------------------------------------------------------------------


def test_every_function_has_its_alternative() -> None:
    assert list(FUNCTIONS) == [*agg.__all__, "python"]


@pytest.mark.parametrize("function", agg.__all__)
def test_an_alternative_has_the_arguments_of_its_function(function: str) -> None:
    found = FUNCTIONS[function]
    arguments = inspect.signature(getattr(agg, function)).parameters
    named = {name for name in arguments if not name.endswith("dtype")}
    assert set(found["properties"]) == {"function", "name"} | named
    assert found["properties"]["function"] == {"const": function}
    assert found["description"]


EXAMPLES = {"k": 3, "n": 2, "q": 0.5, "edges": [0, 1.5, 10]}


def smallest(function: str) -> dict[str, Any]:
    """Return a table with what its schema requires alone."""
    needed = [key for key in FUNCTIONS[function]["required"] if key != "function"]
    return {"function": function, **{key: EXAMPLES.get(key, "amount") for key in needed}}


@pytest.mark.parametrize("function", agg.__all__)
def test_what_an_alternative_requires_is_enough(function: str) -> None:
    table = smallest(function)
    assert Schema({}).accepts(table, FUNCTIONS[function])
    assert aggregate_of(table, allow_python=False).output
    named = aggregate_of({**table, "name": "result"}, allow_python=False)
    assert named.output == "result"


@pytest.mark.parametrize("function", agg.__all__)
def test_what_an_alternative_requires_is_needed(function: str) -> None:
    table = smallest(function)
    for left_out in table:
        rest = {key: value for key, value in table.items() if key != left_out}
        assert not Schema({}).accepts(rest, FUNCTIONS[function])
        with pytest.raises(WrongAggregateError, match=f"{left_out} is missing|{left_out} = "):
            aggregate_of(rest, allow_python=False)


@pytest.mark.parametrize("function", agg.__all__)
def test_an_alternative_refuses_what_its_function_does(function: str) -> None:
    known = FUNCTIONS[function]["properties"]
    anything = [key for key in known if isinstance(known[key].get("type"), list)]
    for key in {*known} - {"function", *anything}:
        wrong = {**smallest(function), key: {"a": 1}}
        assert not Schema({}).accepts(wrong, FUNCTIONS[function])
        with pytest.raises(WrongAggregateError) as caught:
            aggregate_of(wrong, allow_python=False)
        assert caught.value.key == key
