"""What a micro-batch tells, row by row, and what becomes of a window by it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from sash.live._cells import Cell, cells, microseconds, texts
from sash.live._file import HistoryError

REMOVING = frozenset({"withdrawn", "retract"})
_COMPLETING = frozenset({"complete", "insert", "correction"})
_CHANGES = REMOVING | _COMPLETING | {"update"}

Place = tuple[int, int, int, int]
"""Which window it is: its key, its name (both by number), its end and its start."""


class Told(NamedTuple):
    """A row of results."""

    key: str
    window: str
    start: int
    end: int
    revision: int
    change: str
    values: tuple[Cell, ...]


class Kept(NamedTuple):
    """What is known of a window."""

    revision: int
    complete: bool
    corrections: int
    values: tuple[Cell, ...]


class Windows:
    """The windows that a micro-batch changes: as they were, and as they are after it."""

    def __init__(self, read: Callable[[Place], Kept | None]) -> None:
        self._read = read
        self.before: dict[Place, Kept | None] = {}
        self.after: dict[Place, Kept | None] = {}
        self.corrections = 0
        self._retracted: dict[Place, Kept] = {}

    def tell(self, place: Place, row: Told) -> None:
        """Take in one row; later rows of a window replace earlier ones."""
        if place not in self.before:
            self.before[place] = self.after[place] = self._read(place)
        known = self.after[place]
        if row.change in REMOVING:
            if row.change == "retract" and known is not None:
                self._retracted[place] = known
            self.after[place] = None
            return
        if known is None and row.change == "insert":
            known = self._retracted.pop(place, None)
        corrected = row.change == "correction" or (
            known is not None and known.complete and known.revision != row.revision
        )
        self.corrections += corrected
        self.after[place] = Kept(
            row.revision,
            row.change in _COMPLETING or (known is not None and known.complete),
            (known.corrections if known else 0) + corrected,
            row.values,
        )


def told_rows(results: Any, about: dict[str, Any]) -> Iterator[Told]:
    """Return the rows of a table of results; those without a start or an end are left out."""
    plain = ("window", "window_start", "window_end", "revision", "change")
    _check_columns("results", results, [*about["keys"], *plain, *about["aggregates"]])
    changes = results["change"].to_pylist()
    unknown = sorted(set(map(str, changes)) - _CHANGES)
    if unknown:
        raise HistoryError(f"results with change {unknown[0]!r} are not known to a history")
    values = [cells(results[name]) for name in about["aggregates"]]
    rows = zip(
        key_texts([results[name] for name in about["keys"]], results.num_rows),
        texts(results["window"]),
        microseconds(results["window_start"]),
        microseconds(results["window_end"]),
        results["revision"].to_pylist(),
        changes,
        zip(*values, strict=True) if values else [()] * results.num_rows,
        strict=True,
    )
    for key, window, start, end, revision, change, row_values in rows:
        if window is not None and start is not None and end is not None:
            yield Told(key, window, start, end, revision, change, row_values)


def late_rows(late: Any, keys: list[str]) -> list[tuple[str, int | None]]:
    """Return the keys and times of rows that were too late: their columns, in this order."""
    if late.num_columns != len(keys) + 1:
        raise HistoryError(f"late must have the keys and then a time, not {late.column_names}")
    columns = late.columns
    return list(zip(key_texts(columns[:-1], late.num_rows), microseconds(columns[-1]), strict=True))


def key_texts(columns: list[pa.ChunkedArray], number: int) -> list[str]:
    """Return the key of each row, as a JSON list of texts."""
    if not columns:
        return ["[]"] * number
    rows = list(zip(*map(texts, columns), strict=True))
    known = {row: key_text(row) for row in set(rows)}
    return [known[row] for row in rows]


def key_text(values: Any) -> str:
    """Return a key as a history writes it."""
    return json.dumps(list(values), ensure_ascii=False)


def key_label(key: str) -> str:
    """Return a key as people read it."""
    return " · ".join("null" if part is None else part for part in json.loads(key))


def _check_columns(what: str, table: Any, wanted: list[str]) -> None:
    missing = [name for name in wanted if name not in table.column_names]
    if missing:
        there = ", ".join(table.column_names)
        raise HistoryError(f"{what} must have a column {missing[0]!r}; it has {there}")
