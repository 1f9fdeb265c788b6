"""Files that are not what a pipeline wrote: refused with `HistoryError`, or shown as broken."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import golden_files
import histories as h
import pytest

from sash.live import History, HistoryError, MissingHistoryError, _file
from sash.live._api import Api

WHOLE = golden_files.saved("history", 1, "history")[0][0]
QUESTIONS: dict[str, dict[str, str]] = {
    "about": {},
    "keys": {},
    "series": {"key": '["a"]', "window": "hour", "aggregate": "total", "columns": "10"},
    "table": {"key": '["a"]', "window": "hour"},
    "health": {},
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "live.sqlite"
    path.write_bytes(WHOLE)
    return path


def answers(path: Path) -> dict[str, Any]:
    api = Api(path)
    return {name: api.answer(name, dict(params)) for name, params in QUESTIONS.items()}


def refused(path: Path, said: str) -> None:
    """Neither read nor written on."""
    with pytest.raises(HistoryError, match=said):
        History.open(path)
    with pytest.raises(HistoryError, match=said):
        History.create_or_open(path, h.ABOUT)
    assert all("broken" in answer for answer in answers(path).values())


def test_a_whole_one_is_answered_from(path: Path) -> None:
    found = answers(path)
    assert not [name for name, answer in found.items() if {"broken", "missing"} & set(answer)]
    assert len(found["table"]["rows"]) == 5


def test_cut_short(path: Path) -> None:
    for length in [*range(997, len(WHOLE), 997), 15, 99, 100, len(WHOLE) - 4096]:
        path.write_bytes(WHOLE[:length])
        for answer in answers(path).values():
            assert answer is not None  # broken, or of the part that is whole
        with pytest.raises(HistoryError):
            History.create_or_open(path, h.ABOUT)


def test_nothing_is_none_yet(path: Path) -> None:
    path.write_bytes(b"")
    with pytest.raises(MissingHistoryError):
        History.open(path)


def test_bytes_that_are_others(path: Path) -> None:
    """SQLite has no checksums: some are found, others are shown. None ends the server."""
    chance = random.Random(6)
    used = [i for i, byte in enumerate(WHOLE) if byte]
    broken = 0
    for _ in range(120):
        data = bytearray(WHOLE)
        for _ in range(3):
            data[chance.choice(used)] = chance.randrange(256)
        path.write_bytes(data)
        broken += any("broken" in answer for answer in answers(path).values())
        for name in (f"{path}-wal", f"{path}-shm"):
            Path(name).unlink(missing_ok=True)
    assert broken > 20


@pytest.mark.parametrize("data", [b"text", b"SQLite format 3\0", bytes(5000), b"\xff" * 5000])
def test_other_files(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    refused(path, "cannot be used as a history")


def test_from_the_future(path: Path) -> None:
    number = _file.FORMAT + 1
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {number}")
        db.execute("CREATE TABLE new (x)")
        db.commit()
    refused(path, f"history of format {number}, this version of Sash has format {number - 1}")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON windows BEGIN DELETE FROM windows; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE more (x)",
        "DROP TABLE late",
        "DROP INDEX open_windows",
        "ALTER TABLE windows ADD COLUMN more",
        "ALTER TABLE windows RENAME TO others",
    ],
)
def test_other_tables(path: Path, statement: str) -> None:
    """What would run by itself is not there to run."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()
    refused(path, "it has other tables than a history has")


def test_a_table_that_would_run_for_ever(path: Path) -> None:
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x, x FROM c"
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE meta")
        db.execute(f"CREATE VIEW meta(name, value) AS {endless}")
        db.commit()
    refused(path, "it has other tables than a history has")


def _said(name: str, change: Callable[[Any], Any]) -> Callable[[dict[str, Any]], Any]:
    def changed(meta: dict[str, Any]) -> None:
        meta[name] = change(meta[name])

    return changed


@pytest.mark.parametrize(
    "change",
    [
        _said("about", lambda _: None), _said("about", lambda a: {**a, "keys": "user"}),
        _said("about", lambda a: {**a, "aggregates": ["total"]}), _said("about", lambda a: {}),
        _said("kinds", lambda _: []), _said("batch", lambda _: "1"),
        _said("windows", lambda _: 1.5), _said("open", lambda _: None),
        _said("pruned", lambda _: 5), _said("id", lambda _: 5),
    ],
)  # fmt: skip
def test_what_it_says_of_itself(path: Path, change: Callable[[Any], Any]) -> None:
    with closing(sqlite3.connect(path)) as db:
        meta = _file.read_meta(db)
        change(meta)
        _file.write_meta(db, **meta)
        db.commit()
    refused(path, "it says of itself what it cannot be")


@pytest.mark.parametrize("value", ["", "{", None, b"x", 5, "[" * 100_000])
def test_what_cannot_be_read(path: Path, value: Any) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE meta SET value = ? WHERE name = 'about'", (value,))
        db.commit()
    refused(path, r"damaged as a history: (it|what it) says of itself")


def test_values_of_other_types(path: Path) -> None:
    """They are shown as they are, or the answer is that the file is broken."""
    for column in ("end", "start", "revision", "corrections", "v0", "batch"):
        path.write_bytes(WHOLE)
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"UPDATE windows SET \"{column}\" = 'text' || start")
            db.commit()
        for answer in answers(path).values():
            json.dumps(answer)
