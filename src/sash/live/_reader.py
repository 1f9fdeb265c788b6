"""Reading a history: what the page shows."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sash.live._cells import Cell, shown
from sash.live._file import explained, read_meta

REMEMBERED = 100  # micro-batches for which it is known which windows they took away

Series = tuple[int, int]
"""A key and a window, both by number."""


class Reader:
    """An open history. Close it, or use it in a ``with`` statement."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that is read inside is of one moment."""
        with self._transaction("BEGIN"):
            yield

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._reading():
            self._db.execute(begin)
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    def _roll_back(self) -> None:
        """End a transaction that failed; where that fails too, no other can begin."""
        try:
            if self._db.in_transaction:  # SQLite may have ended it
                self._db.execute("ROLLBACK")
        except sqlite3.Error:
            self._db.close()  # which ends it, and what went wrong first is raised

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock, explained(self.path):
            yield

    def _rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._reading():
            return self._db.execute(statement, values).fetchall()

    def meta(self) -> dict[str, Any]:
        """Return what is of the whole history: what it is about, its counts, its last batch."""
        with self._reading():
            return read_meta(self._db)

    def about(self) -> dict[str, Any]:
        """Return what was given to `History.create_or_open`."""
        about: dict[str, Any] = self.meta()["about"]
        return about

    def keys(self, search: str = "", most: int = 200) -> tuple[list[str], int]:
        """Return the first keys with this text in them, and how many there are."""
        text = search.casefold()
        where = "WHERE instr(folded, ?) OR ? = ''"
        total = self._rows(f"SELECT count(*) FROM keys {where}", text, text)[0][0]
        found = self._rows(
            f"SELECT key FROM keys {where} ORDER BY folded, key LIMIT ?", text, text, most
        )
        return [key for (key,) in found], total

    def key_number(self, key: str) -> int | None:
        """Return the number of a key, None if there is none."""
        found = self._rows("SELECT id FROM keys WHERE key = ?", key)
        return int(found[0][0]) if found else None

    def touched(self, series: Series, since: int) -> list[int]:
        """Return the ends of all windows that changed, came or went after a micro-batch."""
        found = self._rows(
            'SELECT "end" FROM windows WHERE key = ? AND window = ? AND batch > ? UNION '
            'SELECT "end" FROM removed WHERE key = ? AND window = ? AND batch > ?',
            *series,
            since,
            *series,
            since,
        )
        return [end for (end,) in found]

    def ends_up_to(self, series: Series, end: int) -> list[int]:
        """Return the ends of the windows that end by then."""
        found = self._rows(
            'SELECT DISTINCT "end" FROM windows WHERE key = ? AND window = ? AND "end" <= ?',
            *series,
            end,
        )
        return [one for (one,) in found]

    def points(
        self, series: Series, aggregate: int, ends: list[int] | None = None
    ) -> list[tuple[int, Cell, int]]:
        """Return end, value and number of corrections of all windows, or of those at ``ends``.

        They are in order of their ends, and of their starts where these are the same.
        """
        query = f'SELECT "end", v{aggregate}, corrections FROM windows WHERE key = ? AND window = ?'
        order = ' ORDER BY "end", start'
        if ends is None:
            return self._rows(query + order, *series)
        one = query + ' AND "end" = ?' + order
        return [point for end in sorted(ends) for point in self._rows(one, *series, end)]

    def first_open(self, series: Series) -> int | None:
        """Return the end of the first window that is not complete."""
        found = self._rows(
            'SELECT "end" FROM windows INDEXED BY open_windows '  # not found by itself
            'WHERE key = ? AND window = ? AND NOT complete ORDER BY "end" LIMIT 1',
            *series,
        )
        return found[0][0] if found else None

    def late(self, key: int, edges: npt.NDArray[np.int64]) -> list[tuple[int, int, int]]:
        """Return for each stretch that has late rows: its place, the last time, and how many."""
        times = np.array(
            self._rows(
                "SELECT time, count(*) FROM late WHERE key = ? AND time >= ? AND time < ? "
                "GROUP BY time ORDER BY time",
                key,
                int(edges[0]),
                int(edges[-1]),
            ),
            dtype=np.int64,
        ).reshape(-1, 2)
        places = np.searchsorted(edges, times[:, 0], "right") - 1
        counts = np.bincount(places, times[:, 1]).astype(np.int64) if len(times) else places
        last = {int(p): int(t) for p, t in zip(places, times[:, 0], strict=True)}
        return [(place, time, int(counts[place])) for place, time in last.items()]

    def windows(
        self, key: int, window: int, *, most: int = 50, at: int | None = None
    ) -> list[dict[str, Any]]:
        """Return the latest windows of a key, or those that end at ``at``, the newest first."""
        meta = self.meta()
        names = meta["about"]["aggregates"]
        columns = "".join(f", v{i}" for i in range(len(names)))
        where, values = ("", []) if at is None else (' AND "end" = ?', [at])
        found = self._rows(
            f'SELECT start, "end", revision, complete, corrections, batch{columns} FROM windows '
            f'WHERE key = ? AND window = ?{where} ORDER BY "end" DESC, start DESC LIMIT ?',
            key,
            window,
            *values,
            most,
        )
        head = ("start", "end", "revision", "complete", "corrections", "batch")
        return [
            {
                **dict(zip(head, row[:6], strict=True)),
                "complete": bool(row[3]),
                "values": [shown(meta["kinds"][n], v) for n, v in zip(names, row[6:], strict=True)],
            }
            for row in found
        ]

    def progress(self, most: int = 300) -> list[dict[str, Any]]:
        """Return what the last micro-batches told of themselves, the newest last."""
        found = self._rows("SELECT told FROM progress ORDER BY batch DESC LIMIT ?", most)
        return [json.loads(told) for (told,) in reversed(found)]
