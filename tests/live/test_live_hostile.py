"""Histories of strangers, and names and keys that hold markup, SQL or headers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import histories as h
import pyarrow as pa
import pytest
from names import HOSTILE, INTERNAL
from serving import request, served

from sash.live import History, HistoryError

NAMES = [*HOSTILE.values(), *INTERNAL.values()]
FOREVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, x FROM n"
SPOILED: dict[str, str] = {
    "a view in place of a table": f"DROP TABLE meta; CREATE VIEW meta (name, value) AS {FOREVER};",
    "a view of windows": f"DROP TABLE windows; CREATE VIEW windows AS {FOREVER};",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON late BEGIN DELETE FROM windows; END;",
    "a computed column": "ALTER TABLE late ADD COLUMN c AS (zeroblob(1000000000));",
    "a table more": "CREATE TABLE other (x);",
    "no table": "DROP TABLE progress;",
    "about is no table": "UPDATE meta SET value = '[]' WHERE name = 'about';",
    "about is missing": "DELETE FROM meta WHERE name = 'about';",
    "about is no JSON": "UPDATE meta SET value = '{' WHERE name = 'about';",
    "aggregates are a number": """UPDATE meta SET value = '{"aggregates": 3}'""",
    "aggregates are numbers": """UPDATE meta SET value = '{"aggregates": [1, 2]}'""",
    "aggregates are others": """UPDATE meta SET value = replace(value, '"label"', '"a", "b"');""",
    "deep": f"UPDATE meta SET value = '{'[' * 100_000}' WHERE name = 'about';",
}


def spoil(path: Path, script: str) -> None:
    with sqlite3.connect(path) as db:
        db.executescript(script)
    db.close()


@pytest.mark.parametrize("what", SPOILED)
def test_a_history_that_is_not_ours_is_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    History.create_or_open(path, h.ABOUT).close()
    spoil(path, SPOILED[what])
    ways: list[Callable[[], History]] = [
        lambda: History.open(path),
        lambda: History.create_or_open(path, h.ABOUT),
    ]
    for way in ways:
        with pytest.raises(HistoryError, match="damaged as a history"):
            way()


def test_the_page_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    History.create_or_open(path, h.ABOUT).close()
    spoil(path, SPOILED["a view in place of a table"])
    with served(path) as server:
        for name in ("about", "health", "keys"):
            assert "damaged as a history" in json.dumps(request(server, f"/api/{name}").json)


def test_another_database_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    spoil(path, "CREATE TABLE mine (x); INSERT INTO mine VALUES (1);")
    before = path.read_bytes()
    with pytest.raises(HistoryError, match="not a history of Sash"):
        History.create_or_open(path, h.ABOUT)
    assert path.read_bytes() == before  # not even its journal
    assert [p.name for p in tmp_path.iterdir()] == ["x.sqlite"]


def test_names_and_keys_of_all_kinds(tmp_path: Path) -> None:
    about = {**h.ABOUT, "keys": NAMES[:1], "windows": NAMES, "aggregates": NAMES[1:]}
    path = tmp_path / "x.sqlite"
    rows = len(NAMES)
    stamps = pa.array([h.HOUR] * rows, h.STAMP)
    with History.create_or_open(path, about) as history:
        columns = {
            NAMES[0]: pa.array(NAMES),
            "window": pa.array(NAMES),
            "window_start": stamps,
            "window_end": stamps,
            **{name: pa.array([1.5] * rows) for name in NAMES[1:]},
            "revision": pa.array([0] * rows),
            "change": pa.array(["complete"] * rows),
        }
        history.record(0, pa.table(columns))
        assert history.keys(most=1000)[1] == rows
    with served(path) as server:
        for name in NAMES:
            asked = {"key": json.dumps([name]), "window": name, "aggregate": NAMES[1]}
            asked |= {"columns": "10", "rows": "5"}
            reply = request(server, "/api/table", asked)
            assert reply.status == 200, reply.body
            assert reply.headers["Content-Type"] == "application/json; charset=utf-8"
            assert len(reply.json["rows"]) == 1, name


def test_a_question_cannot_add_headers(tmp_path: Path) -> None:
    with served(tmp_path / "none", token="12345678") as server:
        for odd in ("%0d%0aX-Evil: 1", "%0aSet-Cookie: a=b", "//evil.example/"):
            reply = request(server, f"/?token=12345678&q={odd.replace(' ', '%20')}")
            assert reply.status == 303
            assert "X-Evil" not in reply.headers
            assert reply.headers["Location"].startswith("/?q=")
            assert reply.headers["Set-Cookie"].startswith("sash_live_")
