"""The history of a pipeline: what its micro-batches told, in one small SQLite file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from sash.live._cells import kind_of
from sash.live._changes import Kept, Place, Told, Windows, key_label, late_rows, told_rows
from sash.live._file import HistoryError, connect_to_read, connect_to_write, write_meta
from sash.live._reader import REMEMBERED, Reader

MOST_WINDOWS = 1_000_000
MOST_PROGRESS = 100_000
_COUNTS = {"rows", "rows_total", "windows", "corrections", "late_rows", "state_bytes"}
_PROGRESS = _COUNTS | {"batch", "at", "rows_per_second", "watermark", "latest", "running"}


class History(Reader):
    """What a pipeline told, for the page that shows it.

    One process writes (`create_or_open`), others read (`open`) meanwhile. A micro-batch is one
    transaction, and one that comes again changes nothing, so a crash at any moment does no harm.
    The windows with the oldest ends go when there are more than ``most_windows``, and so do the
    first of as many rows that were too late.
    """

    most_windows = MOST_WINDOWS

    @classmethod
    def create_or_open(
        cls, path: str | Path, about: dict[str, Any], *, most_windows: int = MOST_WINDOWS
    ) -> Self:
        """Open a history to write, and make it where there is none.

        ``about`` has the pipeline's ``name``, its ``keys``, ``windows`` and ``aggregates`` (lists
        of names), ``emit``, and ``watermark`` and ``lateness`` as text or None. Keys, windows and
        aggregates must be those that the file was made with.
        """
        if most_windows < 1:
            raise ValueError(f"most_windows must be at least 1, not {most_windows}")
        history = cls(Path(path), connect_to_write(Path(path), about))
        history.most_windows = most_windows
        return history

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a history to read."""
        return cls(Path(path), connect_to_read(Path(path)))

    def record(self, batch: int, results: Any, late: Any = None) -> None:
        """Take in what a micro-batch told: its results in order, and rows that were too late.

        ``results`` and ``late`` are Arrow tables. Nothing happens if this micro-batch is the last
        one recorded: then Spark was not sure that it was.
        """
        with self._transaction("BEGIN IMMEDIATE"):
            meta = self.meta()
            if meta["batch"] == batch:
                return
            self._check_is_next(batch, meta["batch"])
            self._record(batch, results, late, meta)

    def record_progress(self, progress: dict[str, Any]) -> None:
        """Take in what a micro-batch told of itself; the last word on each one counts.

        ``batch`` is its number, ``at`` when that was (seconds since 1970) and ``running`` whether
        the pipeline goes on; ``watermark`` and ``latest`` are microseconds since 1970. The others
        are shown as they are.
        """
        unknown = sorted(set(progress) - _PROGRESS)
        missing = sorted({"batch", "at"} - set(progress))
        if unknown or missing:
            wrong = f"unknown: {unknown[0]}" if unknown else f"missing: {missing[0]}"
            raise HistoryError(f"progress has {', '.join(sorted(_PROGRESS))}; {wrong}")
        told = {name: _finite(progress.get(name)) for name in sorted(_PROGRESS)}
        with self._transaction("BEGIN IMMEDIATE"):
            batch = int(progress["batch"])
            self._db.execute(
                "INSERT OR REPLACE INTO progress VALUES (?, ?)", (batch, json.dumps(told))
            )
            self._db.execute("DELETE FROM progress WHERE batch <= ?", (batch - MOST_PROGRESS,))

    def _check_is_next(self, batch: int, last: int | None) -> None:
        if last is not None and batch < last:
            raise HistoryError(
                f"{self.path} has micro-batch {last} already, and this is {batch}: the pipeline "
                "began anew with another checkpoint. Remove the file, or give another path"
            )

    def _record(self, batch: int, results: Any, late: Any, meta: dict[str, Any]) -> None:
        about = meta["about"]
        kinds = self._kinds(results, meta["kinds"])
        numbers: dict[str, int] = {}
        windows = self._tell(told_rows(results, about), about, numbers)
        gone = self._write(batch, windows)
        counts = {
            "windows": meta["windows"] + _change(windows, lambda kept: True),
            "open": meta["open"] + _change(windows, lambda kept: not kept.complete),
            "corrections": meta["corrections"] + windows.corrections,
        }
        told_late = [] if late is None else late_rows(late, about["keys"])
        for key, time in told_late:
            row = (self._number(key, numbers), time)
            self._db.execute("INSERT INTO late (key, time) VALUES (?, ?)", row)
        counts["late"] = meta["late"] + len(told_late)
        counts["late_rows"] = meta["late_rows"] + len(told_late)
        pruned = self._prune(batch, counts, gone, meta["pruned"])
        write_meta(self._db, batch=batch, kinds=kinds, pruned=pruned, **counts)

    def _kinds(self, results: Any, known: dict[str, str | None]) -> dict[str, str | None]:
        """Return what each aggregate holds, which must not change."""
        kinds = dict(known)
        for name, old in known.items():
            found = kind_of(results[name].type) if name in results.column_names else None
            if found and old not in (None, found):
                raise HistoryError(
                    f"{self.path} has {name} as {old}, this pipeline tells it as {found}: "
                    "remove the file, or give another path"
                )
            kinds[name] = found or old
        return kinds

    def _tell(
        self, rows: Iterable[Told], about: dict[str, Any], numbers: dict[str, int]
    ) -> Windows:
        places = {name: number for number, name in enumerate(about["windows"])}
        windows = Windows(self._kept)
        for row in rows:
            if row.window not in places:
                there = ", ".join(places)
                raise HistoryError(f"results of a window {row.window!r}; the pipeline has {there}")
            key = self._number(row.key, numbers)
            windows.tell((key, places[row.window], row.end, row.start), row)
        return windows

    def _number(self, key: str, numbers: dict[str, int]) -> int:
        if key not in numbers:
            found = self.key_number(key)
            if found is None:
                row = (key, key_label(key).casefold())
                made = self._db.execute("INSERT INTO keys (key, folded) VALUES (?, ?)", row)
                found = int(made.lastrowid or 0)
            numbers[key] = found
        return numbers[key]

    def _kept(self, place: Place) -> Kept | None:
        found = self._db.execute(
            'SELECT * FROM windows WHERE key = ? AND window = ? AND "end" = ? AND start = ?', place
        ).fetchone()
        return None if found is None else Kept(found[5], bool(found[6]), found[7], found[8:])

    def _write(self, batch: int, windows: Windows) -> set[int]:
        """Write the windows as they are now; return the keys of those taken away."""
        rows: list[tuple[Any, ...]] = []
        gone = []
        for place, kept in windows.after.items():
            if kept is not None:
                state = (kept.revision, kept.complete, kept.corrections)
                rows.append((*place, batch, *state, *kept.values))
            elif windows.before[place] is not None:
                gone.append(place)
        self._delete(gone)
        places = [(batch, *place[:3]) for place in gone]
        self._db.executemany("INSERT INTO removed VALUES (?, ?, ?, ?)", places)
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            self._db.executemany(f"INSERT OR REPLACE INTO windows VALUES ({marks})", rows)
        # a key of windows that came and went in this very batch is there too
        return {place[0] for place, kept in windows.after.items() if kept is None}

    def _prune(
        self, batch: int, counts: dict[str, int], gone: set[int], pruned: list[int] | None
    ) -> list[int] | None:
        """Remove what is too much; return when that was last so, and the latest end so far."""
        excess = counts["windows"] - self.most_windows
        if excess > 0:
            oldest = self._rows(
                'SELECT key, window, "end", start, complete FROM windows '
                'ORDER BY "end", key, window, start LIMIT ?',
                excess,
            )
            self._delete([row[:4] for row in oldest])
            gone |= {row[0] for row in oldest}
            counts["windows"] -= len(oldest)
            counts["open"] -= sum(not row[4] for row in oldest)
            last = oldest[-1][2]
            pruned = [batch, last if pruned is None else max(last, pruned[1])]
        gone |= self._prune_late(counts)
        self._db.execute("DELETE FROM removed WHERE batch <= ?", (batch - REMEMBERED,))
        self._db.executemany(
            "DELETE FROM keys WHERE id = ?1 "
            "AND NOT EXISTS (SELECT 1 FROM windows WHERE key = ?1) "
            "AND NOT EXISTS (SELECT 1 FROM late WHERE key = ?1)",
            [(key,) for key in gone],
        )
        return pruned

    def _prune_late(self, counts: dict[str, int]) -> set[int]:
        excess = counts["late"] - self.most_windows
        if excess <= 0:
            return set()
        oldest = self._rows("SELECT id, key FROM late ORDER BY id LIMIT ?", excess)
        self._db.execute("DELETE FROM late WHERE id <= ?", (oldest[-1][0],))
        counts["late"] -= len(oldest)
        return {key for _, key in oldest}

    def _delete(self, places: Iterable[tuple[Any, ...]]) -> None:
        self._db.executemany(
            'DELETE FROM windows WHERE key = ? AND window = ? AND "end" = ? AND start = ?', places
        )


def _change(windows: Windows, counts: Any) -> int:
    """Return by how many windows, of those that count, a micro-batch made them more."""
    return sum(
        bool(now is not None and counts(now)) - bool(was is not None and counts(was))
        for was, now in zip(windows.before.values(), windows.after.values(), strict=True)
    )


def _finite(value: Any) -> Any:
    """Return a plain value that JSON has: Spark tells rates that are not a number."""
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
