"""The file of a history: how it is made, and how one is known from other files."""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FORMAT = 1
_MARK = 0x53617368  # "Sash", in the header of the file
_SAME = ("keys", "windows", "aggregates")  # what the tables are made for
_COUNTERS = ("windows", "open", "corrections", "late", "late_rows")
_ABOUT = {"name", "emit", "watermark", "lateness", *_SAME}
PATIENCE = 5.0  # seconds to wait for a file that another program has locked
_PATIENCE_WHILE_RUNNING = 30.0  # a stream that has begun is not given up as soon
_ENDINGS = ("", "-wal", "-shm", "-journal")  # the files of a database: SQLite opens all of them
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


class HistoryError(ValueError):
    """A file is no history, or not one that can be used here."""


class MissingHistoryError(HistoryError):
    """There is no history yet: no pipeline has written here."""


def connect_to_write(path: Path, about: dict[str, Any]) -> sqlite3.Connection:
    """Open the history at ``path`` for writing, and make it where there is none."""
    if set(about) != _ABOUT:
        raise HistoryError(f"about must have {sorted(_ABOUT)}, not {sorted(about)}")
    check_place(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HistoryError(
            f"the folder {path.parent} of the history cannot be made: {error.strerror}. Give "
            "another path"
        ) from error
    with explained(path), _connected(str(path)) as db:
        _distrust(db)
        if not _is_empty(db):  # a database of others must not even become one with a log
            _check(db, path)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")  # a batch that Spark committed must be there
        db.execute("BEGIN IMMEDIATE")
        if _is_empty(db):
            _make(db, about)
        else:
            _check(db, path)
            if (found := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
                raise _damaged(path, found)
            _check_same(path, read_meta(db)["about"], about)
            write_meta(db, about=about)
        db.execute("COMMIT")
        db.execute(f"PRAGMA busy_timeout = {int(_PATIENCE_WHILE_RUNNING * 1000)}")
    return db


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open the history at ``path`` read-only."""
    if not check_place(path):
        raise MissingHistoryError(f"no pipeline has written here yet: there is no file {path}")
    address = path.absolute().as_uri() + "?mode=ro"
    with explained(path), _connected(address, uri=True) as db:
        _distrust(db)
        if _is_empty(db):
            raise MissingHistoryError(f"no pipeline has written here yet: {path} is empty")
        _check(db, path)
    return db


def check_place(path: Path) -> bool:
    """Return whether there is a file at ``path``; raise where no history can be.

    SQLite would wait for ever for the other end of a named pipe, and take a device for an empty
    file.
    """
    there = [ending for ending in _ENDINGS if _is_file(Path(f"{path}{ending}"))]
    return "" in there


def _is_file(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise _unusable(path, error) from error
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "no regular file")
        raise HistoryError(f"{path} is {kind}, and a history is a regular file: give another path")
    return True


def remove(path: Path) -> None:
    """Remove the history at ``path``; what is left of it after a failure is no history."""
    for ending in _ENDINGS:
        try:
            Path(f"{path}{ending}").unlink(missing_ok=True)
        except OSError as error:
            raise _unusable(path, error) from error


@contextmanager
def _connected(address: str, uri: bool = False) -> Iterator[sqlite3.Connection]:
    """Connect, and close again if something goes wrong."""
    db = sqlite3.connect(
        address, uri=uri, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        yield db
    except BaseException:
        db.close()
        raise


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise errors of SQLite as those of a history: which file it is, and what can be done."""
    try:
        yield
    except sqlite3.Error as error:
        raise _unusable(path, error) from error


def _distrust(db: sqlite3.Connection) -> None:
    """Have SQLite look closely at a file that may be damaged, and call nothing that it names."""
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")


def read_meta(db: sqlite3.Connection) -> dict[str, Any]:
    """Return the few values that are of the whole history."""
    return {name: json.loads(value) for name, value in db.execute("SELECT name, value FROM meta")}


def write_meta(db: sqlite3.Connection, **values: Any) -> None:
    """Replace some of these values."""
    rows = [(name, json.dumps(value)) for name, value in values.items()]
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)


def _is_empty(db: sqlite3.Connection) -> bool:
    return not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def _make(db: sqlite3.Connection, about: dict[str, Any]) -> None:
    db.execute(f"PRAGMA application_id = {_MARK}")
    db.execute(f"PRAGMA user_version = {FORMAT}")
    for statement in _tables(len(about["aggregates"])):
        db.execute(statement)
    counters = dict.fromkeys(_COUNTERS, 0)
    kinds = dict.fromkeys(about["aggregates"])
    identity = secrets.token_hex(8)
    write_meta(db, about=about, id=identity, batch=None, pruned=None, kinds=kinds, **counters)


def _tables(aggregates: int) -> list[str]:
    """Return what makes the tables of a history; a file with any others is none."""
    values = "".join(f", v{i}" for i in range(aggregates))
    return [
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT)",
        # an id is never used again, so that readers cannot take one key for another
        "CREATE TABLE keys (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE, folded TEXT)",
        f"""CREATE TABLE windows (key INTEGER, window INTEGER, "end" INTEGER, start INTEGER,
            batch INTEGER, revision INTEGER, complete INTEGER, corrections INTEGER{values},
            PRIMARY KEY (key, window, "end", start)) WITHOUT ROWID""",
        'CREATE INDEX oldest_windows ON windows ("end", key, window, start)',
        "CREATE INDEX newest_windows ON windows (key, window, batch)",
        'CREATE INDEX open_windows ON windows (key, window, "end") WHERE NOT complete',
        'CREATE TABLE removed (batch INTEGER, key INTEGER, window INTEGER, "end" INTEGER)',
        "CREATE INDEX newest_removed ON removed (key, window, batch)",
        "CREATE INDEX oldest_removed ON removed (batch)",
        "CREATE TABLE late (id INTEGER PRIMARY KEY AUTOINCREMENT, key INTEGER, time INTEGER)",
        "CREATE INDEX late_by_time ON late (key, time)",
        "CREATE TABLE progress (batch INTEGER PRIMARY KEY, told TEXT)",
    ]


def _check(db: sqlite3.Connection, path: Path) -> None:
    if db.execute("PRAGMA application_id").fetchone()[0] != _MARK:
        raise HistoryError(f"{path} is a database, but not a history of Sash: give another path")
    found = db.execute("PRAGMA user_version").fetchone()[0]
    if found != FORMAT:
        raise HistoryError(
            f"{path} is a history of format {found}, this version of Sash has format {FORMAT}: "
            f"use the version that wrote it, or {_REMOVE}"
        )
    made = _made(db)
    values = [len(re.findall(r", v\d", sql)) for sql in made if "TABLE windows" in sql]
    if sorted(made) != sorted(_tables(values[0] if values else 0)):
        raise _damaged(path, "it has other tables than a history has")
    try:
        meta = read_meta(db)
    except (ValueError, TypeError, RecursionError) as error:
        raise _damaged(path, f"what it says of itself cannot be read ({error})") from None
    if not _is_meta(meta, values[0]):
        raise _damaged(path, "it says of itself what it cannot be")


def _made(db: sqlite3.Connection) -> list[str]:
    """Return how all that is in the file was made, without what SQLite makes by itself."""
    found = db.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    return [
        str(sql)
        for kind, name, sql in found
        if not (str(name).startswith("sqlite_") and kind in ("table", "index"))
    ]


def _is_meta(meta: dict[str, Any], aggregates: int) -> bool:
    about, kinds, batch, pruned = (meta.get(n) for n in ("about", "kinds", "batch", "pruned"))
    if not isinstance(about, dict) or set(about) != _ABOUT or not isinstance(kinds, dict):
        return False
    lists = [about[name] for name in _SAME]
    if not all(isinstance(one, list) and all(isinstance(n, str) for n in one) for one in lists):
        return False
    numbers = [*(meta.get(name) for name in _COUNTERS), 0 if batch is None else batch]
    numbers += [0, 0] if pruned is None else pruned if isinstance(pruned, list) else [None]
    return (
        list(kinds) == about["aggregates"]
        and len(kinds) == aggregates
        and all(type(n) is int for n in numbers)
        and isinstance(meta.get("id"), str)
    )


def _check_same(path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    for what in _SAME:
        if list(old[what]) != list(new[what]):
            raise HistoryError(
                f"{path} is the history of a pipeline with the {what} {_listed(old[what])}, "
                f"this one has {_listed(new[what])}: {_REMOVE}"
            )


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


_REMOVE = "remove the file (with those of its name ending in -wal and -shm), or give another path"


def _damaged(path: Path, what: str) -> HistoryError:
    return HistoryError(f"{path} is damaged as a history: {what}. {_REMOVE.capitalize()}")


def _unusable(path: Path, error: Exception) -> HistoryError:
    number = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the details of the kind
    said = getattr(error, "strerror", None) or str(error)
    remedy = _REMEDIES.get(number, "Give another path")
    return HistoryError(f"{path} cannot be used as a history: {said}. {remedy}")


_REMEDIES = {
    sqlite3.SQLITE_BUSY: "Another program has locked it: end that one, or give another path",
    sqlite3.SQLITE_FULL: "Free space on its disk, or give another path",
    sqlite3.SQLITE_IOERR: "Its disk is full or has failed: free space, or give another path",
    sqlite3.SQLITE_READONLY: "Allow writing to the file and its folder, or give another path",
    sqlite3.SQLITE_CANTOPEN: "Check the permissions of the file and its folder, and the limit of "
    "open files, or give another path",
}
