"""The lines of values in TOML documents, against documents written with lines that are known."""

from __future__ import annotations

import json
import random
import re
import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sash.jobs._places import Path, at, places_of

SIGNS = "ab1 .#[]{}=,:-_\"'\\\té€"
KEYS = st.one_of(st.text("abc_-1", min_size=1, max_size=4), st.text(SIGNS, max_size=5))
SCALARS = {
    text: tomllib.loads(f"a = {text}")["a"]
    for text in [
        "1", "-17", "0xDEAD_beef", "0b11", "1_000", "6.02e+23", "-inf", "true", "false",
        "1979-05-27", "07:32:00.5", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00-07:00",
    ]
}  # fmt: skip
TEXTS = st.text(SIGNS + "\n", max_size=8)
VALUES = st.recursive(
    st.one_of(st.sampled_from(list(SCALARS)).map(lambda text: SCALARS[text]), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=3),
        st.lists(st.dictionaries(KEYS, inner, max_size=3), min_size=1, max_size=3),
    ),
    max_leaves=12,
)
TABLES = st.dictionaries(KEYS, VALUES, max_size=4)


class Writer:
    """Writes a document in one of many layouts, and notes the line of everything."""

    def __init__(self, random: random.Random) -> None:
        self.random, self.text = random, ""
        self.places: dict[Path, int] = {}

    def say(self, *texts: str) -> None:
        self.text += self.random.choice(texts)

    def note(self, path: Path) -> None:
        """Note that a path, and what it is in, is mentioned in the present line."""
        for length in range(1, len(path) + 1):
            self.places.setdefault(path[:length], self.text.count("\n") + 1)

    # ---- tables ----------------------------------------------------------------------------

    def document(self, data: dict[str, Any]) -> None:
        self.body((), [], data)

    def body(self, path: Path, names: list[str], data: dict[str, Any]) -> None:
        """Write the pairs of a table, and then the tables in it that have headers."""
        with_headers = [key for key, value in data.items() if self.has_header(value)]
        self.pairs(path, {k: v for k, v in data.items() if k not in with_headers})
        for key in with_headers:
            self.with_headers((*path, key), [*names, key], data[key])

    def has_header(self, value: Any) -> bool:
        tables = value if isinstance(value, list) and value else [value]
        return all(isinstance(t, dict) for t in tables) and self.random.random() < 0.6

    def pairs(self, path: Path, data: dict[str, Any]) -> None:
        for key, value in data.items():
            self.say("", "\n", "  ", "# a = [ {\n", "\t# '''\n\n")
            self.pair(path, [], key, value, "\n")
            self.say("\n", " \n", '  # ] } = """ a\n')

    def with_headers(self, path: Path, names: list[str], value: Any) -> None:
        if isinstance(value, list):
            for i, table in enumerate(value):
                self.header((*path, i), names, "[[", "]]")
                self.body((*path, i), names, table)
            return
        if not value or not all(isinstance(v, dict) and v for v in value.values()):
            self.header(path, names, "[", "]")
            self.body(path, names, value)
            return
        if self.random.random() < 0.5:
            self.header(path, names, "[", "]")
        for key, table in value.items():  # which say what they are in
            self.with_headers((*path, key), [*names, key], table)

    def header(self, path: Path, names: list[str], opening: str, closing: str) -> None:
        self.say("", "\n", " ", "# [a]\n")
        self.note(path)
        self.text += opening
        self.keys(names)
        self.text += closing
        self.say("\n", " # [[a]]\n")

    # ---- keys and values -------------------------------------------------------------------

    def pair(self, path: Path, names: list[str], key: str, value: Any, end: str) -> None:
        """Write a pair, or some with dotted keys, with this between them."""
        names, path = [*names, key], (*path, key)
        if isinstance(value, dict) and value and self.random.random() < 0.4:
            for i, (inner, one) in enumerate(value.items()):
                self.text += end if i else ""
                self.pair(path, names, inner, one, end)
            return
        self.note(path)
        self.keys(names)
        self.say("=", " = ", "\t=  ")
        self.value(path, value)

    def keys(self, names: list[str]) -> None:
        for i, name in enumerate(names):
            if i:
                self.say(".", " . ", ". ")
            if re.fullmatch("[A-Za-z0-9_-]+", name) and self.random.random() < 0.7:
                self.text += name
            elif "'" not in name and self.random.random() < 0.5:
                self.text += f"'{name}'"
            else:
                self.text += json.dumps(name)

    def value(self, path: Path, value: Any) -> None:
        if isinstance(value, str):
            self.say(*spellings(value))
        elif isinstance(value, list):
            self.elements(path, value)
        elif isinstance(value, dict):
            self.inline(path, value)
        else:
            self.say(*(t for t, v in SCALARS.items() if v == value and type(v) is type(value)))

    def space(self) -> None:
        self.say("", " ", "\n", "\n\n  ", "# ], ' \"\n", " # }\n\t")

    def elements(self, path: Path, values: list[Any]) -> None:
        self.text += "["
        for i, value in enumerate(values):
            self.space()
            self.note((*path, i))
            self.value((*path, i), value)
            self.space()
            self.say(*([","] if i < len(values) - 1 else [",", ""]))
        self.space()
        self.text += "]"

    def inline(self, path: Path, data: dict[str, Any]) -> None:
        self.say("{", "{ ")
        for i, (key, value) in enumerate(data.items()):
            self.text += ", " if i else ""
            self.pair(path, [], key, value, ", ")
        self.say("}", " }")


def spellings(text: str) -> list[str]:
    """Return the ways to write a string."""
    found = [json.dumps(text, ensure_ascii=False)]
    if "'" not in text and "\n" not in text:
        found.append(f"'{text}'")
    if "'''" not in text:
        found.append(f"'''\n{text}'''")
    escaped = text.replace("\\", "\\\\").replace('"""', '""\\"')
    found.append(f'"""\n{escaped}"""')
    found.append(f'"""\n{escaped}\\\n   """')
    return found


@given(TABLES, st.randoms(use_true_random=False))
def test_everything_is_where_it_was_written(data: dict[str, Any], layout: random.Random) -> None:
    writer = Writer(layout)
    writer.document(data)
    assert tomllib.loads(writer.text) == data, writer.text
    assert places_of(writer.text) == writer.places, writer.text


@given(TABLES, st.randoms(use_true_random=False))
def test_every_path_leads_to_a_value(data: dict[str, Any], layout: random.Random) -> None:
    writer = Writer(layout)
    writer.document(data)
    found = places_of(writer.text)
    assert set(found) == set(paths_of(data))
    assert all(at(data, path) is not None for path in found)


def paths_of(data: Any, path: Path = ()) -> list[Path]:
    pairs: list[tuple[Any, Any]] = []
    if isinstance(data, dict):
        pairs = list(data.items())
    elif isinstance(data, list):
        pairs = list(enumerate(data))
    return [p for k, v in pairs for p in [(*path, k), *paths_of(v, (*path, k))]]


def test_a_path_may_lead_to_nothing() -> None:
    data = {"a": [{"b": 1}]}
    assert at(data, ("a", 0, "b")) == 1
    assert at(data, ()) == data
    for path in [("b",), ("a", 1), ("a", 0, "c"), ("a", 0, "b", "c"), ("a", "b")]:
        assert at(data, path) is None


def test_a_table_begins_where_it_is_first_mentioned() -> None:
    text = "\n[a.b]\nc = 1\n[a]\nd = 2\n[[e]]\n[e.f]\n[[e]]\nf.g = 3\n"
    assert places_of(text) == {
        ("a",): 2,
        ("a", "b"): 2,
        ("a", "b", "c"): 3,
        ("a", "d"): 5,
        ("e",): 6,
        ("e", 0): 6,
        ("e", 0, "f"): 7,
        ("e", 1): 8,
        ("e", 1, "f"): 9,
        ("e", 1, "f", "g"): 9,
    }


def test_windows_line_ends_do_not_matter() -> None:
    text = 'a = [\n  1,\n  2, # b\n]\n[c]\nd = """\n"""\ne = 1\n'
    assert places_of(text.replace("\n", "\r\n")) == places_of(text)
