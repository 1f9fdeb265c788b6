"""Columns that files of a stream lack: Spark would read null for them, without a word.

Each micro-batch's files are looked at before its results are written. Spark's log of the source in
the checkpoint has their names.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq

from sash.jobs._known import is_local
from sash.jobs._load import Job
from sash.jobs._model import CsvSource, Files, JsonSource, ParquetSource

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
_SEPARATORS = {"sep", "delimiter"}
_PLAIN_JSON = {"mode", "timestampFormat", "dateFormat"}


class SourceError(RuntimeError):
    """A file of a stream that cannot be read as its source says."""


class NewFiles:
    """Looks at the files of a stream, each once, for columns that they lack."""

    def __init__(self, job: Job, columns: Sequence[str], done: int | None) -> None:
        """Take the columns of the source, and the last micro-batch that is done."""
        source = job.said.source
        self._source = source if isinstance(source, Files) and is_local(source.path) else None
        self._base = Path(job.place(self._source.path)) if self._source else Path()
        self._log = Path(job.checkpoint) if is_local(job.checkpoint) else None
        self._columns = [c for c in columns if c not in getattr(source, "optional", [])]
        self._seen = -1 if self._log is None else _offset_of(self._log, done)

    def look(self) -> None:
        """Raise for a file that lacks a column, among those of this micro-batch."""
        if self._source is None or self._log is None:
            return
        for number, path in _entries(self._log / "sources" / "0", self._seen):
            missing = missing_in(path, self._base, self._source, self._columns)
            if missing:
                raise SourceError(_words(path, missing, self._source))
            self._seen = number


def _words(path: Path, missing: list[str], source: Files) -> str:
    names = " and ".join(map(repr, missing))
    listed = ", ".join(json.dumps(name) for name in missing)
    how = f"or list what files may lack, as in optional = [{listed}] under [source]"
    return (
        f"{path} has no column {names}, and the source has: its rows would all have null there. "
        f"Correct the file and run the job again"
        f"{f', {how}' if 'optional' in type(source).model_fields else ''}"
    )


def missing_in(path: Path, base: Path, source: Files, columns: Sequence[str]) -> list[str]:
    """Return the columns that a file lacks; none where it has no rows, or cannot be read so.

    Folders below ``base``, the source's path, may hold values of columns, as in ``day=2026-01-31``.
    """
    try:
        found = _found_in(path, source, columns)
    except (OSError, EOFError, ValueError, pa.ArrowException, csv.Error):
        return []  # Spark says what is wrong with it
    if found is None:
        return []
    folders = (path.relative_to(base) if path.is_relative_to(base) else path).parts[:-1]
    names = {*found, *(part.split("=", 1)[0] for part in folders if "=" in part)}
    if isinstance(source, JsonSource):
        return [name for name in columns if name not in names]
    known = {name.casefold() for name in names}  # as Spark compares them
    return [name for name in columns if name.casefold() not in known]


def _found_in(path: Path, source: Files, columns: Sequence[str]) -> set[str] | None:
    if isinstance(source, ParquetSource):
        footer = pq.read_metadata(path)
        return set(footer.schema.to_arrow_schema().names) if footer.num_rows else None
    with _opened(path) as file:
        if isinstance(source, CsvSource):
            return _names_of_csv(file, source, columns)
        return None if set(source.options) - _PLAIN_JSON else _keys_of(file, set(columns))


def _opened(path: Path) -> TextIO:
    opener = _OPENERS.get(path.suffix, open)
    file: TextIO = opener(path, "rt", encoding="utf-8-sig", newline="")
    return file


def _names_of_csv(file: TextIO, source: CsvSource, columns: Sequence[str]) -> set[str] | None:
    """Return the names in the first line; without a header, as many columns as it has cells."""
    separator = source.options.get("sep", source.options.get("delimiter", ","))
    if set(source.options) - _SEPARATORS or not isinstance(separator, str) or len(separator) != 1:
        return None
    cells = next(csv.reader(file, delimiter=separator), [])
    if not cells:
        return None
    return set(cells) if source.header else set(columns[: len(cells)])


def _keys_of(file: TextIO, columns: set[str]) -> set[str] | None:
    """Return the keys of the objects in the lines, as far as needed to find all columns."""
    found: set[str] = set()
    for line in filter(str.strip, file):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue  # of which Spark makes nulls, or fails, as its mode says
        found.update(row if isinstance(row, dict) else ())
        if columns <= found:
            break
    return found or None


# ---- Spark's log of a source -------------------------------------------------------------------


def _offset_of(checkpoint: Path, done: int | None) -> int:
    """Return the last entry of the source's log that a micro-batch which is done has taken."""
    if done is None or done < 0:
        return -1
    try:
        text = (checkpoint / "offsets" / str(done)).read_text()
    except OSError:
        return -1
    found = re.search(r'"logOffset"\s*:\s*(-?\d+)', text)
    return -1 if found is None else int(found[1])


def _entries(log: Path, seen: int) -> Iterator[tuple[int, Path]]:
    """Yield the files that the log names after an entry, with the number of theirs."""
    numbers = [int(p.name) for p in log.glob("*") if p.name.isdigit() and int(p.name) > seen]
    numbers += [int(p.stem) for p in log.glob("*.compact") if int(p.stem) > seen]
    for number in sorted(numbers):
        entry = log / str(number)
        lines = (entry if entry.exists() else log / f"{number}.compact").read_text().splitlines()
        for line in lines[1:]:  # after the version
            one = json.loads(line)
            if one["batchId"] == number:
                yield number, Path(unquote(urlparse(one["path"]).path))
