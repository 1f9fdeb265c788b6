"""What must hold of a job beyond the types of its values, checked before Spark is started."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

import sash
from sash import agg
from sash import windows as kinds
from sash._aggregate import Aggregate
from sash._durations import nanoseconds
from sash._operator import _OWN as OWN_COLUMNS
from sash._tables import nearest
from sash.jobs._aggregates import WrongAggregateError, aggregate_of
from sash.jobs._known import TYPE_NAMES, Columns, columns_of, files_of, is_local, type_of
from sash.jobs._model import (
    CsvSource,
    Files,
    FileSink,
    JdbcSink,
    JobFile,
    JsonSource,
    KafkaSource,
    Part,
    Rolling,
)
from sash.jobs._places import Path as Place
from sash.jobs._problems import COLUMNS_REMEDY, Problem, close_to, name_of
from sash.windows import Window

_MICROSECOND, _MILLISECOND, _DAY = 1_000, 1_000_000, 86_400_000_000_000  # in nanoseconds
_LONGEST = 2**60 * _MICROSECOND
_LENGTHS = {  # the least, and what it has to be a multiple of
    "watermark": (0, _MILLISECOND),
    "lateness": (0, _MICROSECOND),
    "size": (1, _MICROSECOND),
    "slide": (1, _MICROSECOND),
    "gap": (1, _MICROSECOND),
    "offset": (-_LONGEST, _MICROSECOND),
    "every": (0, 1),
}


class Checker:
    """Looks at a job, and gathers what is wrong."""

    def __init__(self, job: JobFile, folder: Path, allow_python: bool) -> None:
        self.job, self._folder, self._allow_python = job, folder, allow_python
        self.problems: list[Problem] = []
        self.aggregates: list[Aggregate] = []
        self.windows: list[Window] = []
        self._columns: Columns | None = None
        self._rows: pa.Table | None = None

    def check(self) -> None:
        """Look at everything; what follows from another problem is not told."""
        self._source()
        self._time()
        self._lengths()
        self._stream_or_not()
        self._paths()
        self._settings()
        self._windows()
        self._aggregates()
        if not self.problems:
            self._columns = columns_of(self.job.source, self._folder)
            self._column_names()
            self._names()
        if not self.problems:
            self._results()

    def _say(self, path: Place, words: str) -> None:
        self.problems.append(Problem(path, words))

    # ---- the source ------------------------------------------------------------------------

    def _source(self) -> None:
        source = self.job.source
        if isinstance(source, (Files, KafkaSource)):
            for name, kind in (source.columns or {}).items():
                if type_of(kind) is None:
                    self._say(("source", "columns", name), _not_a_type(name, kind))
        if not isinstance(source, Files):
            return
        if source.files_per_batch is not None and not source.stream:
            self._not_a_stream(("source", "files_per_batch"))
        if source.stream and source.columns is None:
            self._columns_of_stream(source)
        if is_local(source.path):
            self._local_source(self._folder / source.path, source.path, source.stream)

    def _columns_of_stream(self, source: Files) -> None:
        if isinstance(source, (CsvSource, JsonSource)):
            kind = "CSV" if isinstance(source, CsvSource) else "JSON"
            why = "since types that are guessed may change from file to file"
            words = f"a stream of {kind} needs its columns, {why}: {COLUMNS_REMEDY}."
            self._say(("source",), words)
        elif (self._folder / source.path).is_dir() and not files_of(self._folder / source.path):
            why = "and the folder has no files yet that would tell them"
            self._say(("source",), f"a stream needs its columns, {why}: {COLUMNS_REMEDY}.")

    def _local_source(self, path: Path, given: str, stream: bool) -> None:
        if any(sign in given for sign in "*?[{"):
            return  # a pattern, which Spark expands
        where = f"{given!r}" if Path(given).is_absolute() else f"{given!r} beside the job file"
        if stream and path.is_file():
            words = f"{where} is a file, and a stream takes the files of a folder: name the folder."
        elif not path.exists():
            names = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
            how = "make the folder first, files may come later" if stream else "correct the path"
            words = f"there is no {where}: {how}{close_to(path.name, names)}."
        elif not stream and not files_of(path):
            words = f"{where} has no files in it: put some there first."
        else:
            return
        self._say(("source", "path"), words)

    # ---- time and streams ------------------------------------------------------------------

    def _time(self) -> None:
        time = self.job.time
        if time.format is not None and time.unit is not None:
            words = "a time is text (format) or a number (unit): leave one out."
            self._say(("time", "unit"), words)
        try:
            ZoneInfo(time.zone)
        except (KeyError, OSError, ValueError):
            words = f"[time] zone: {time.zone!r} is no time zone; write it like 'America/New_York'."
            self._say(("time", "zone"), words)

    def _lengths(self) -> None:
        """Look at the lengths of time, which the model has found to be some."""
        for path, length in self._all_lengths():
            least, unit = _LENGTHS[str(path[-1])]
            where, found = name_of(path), nanoseconds("", length)
            if found < least:
                bound = "above 0" if least else "at least 0"
                self._say(path, f'{where} must be {bound}, such as "10 minutes", not {length!r}.')
            elif found % unit:
                units = "milliseconds" if unit == _MILLISECOND else "microseconds"
                words = f"{where}: {length!r} is finer than Spark's clock: give whole {units}."
                self._say(path, words)
            elif abs(found) >= _LONGEST:
                words = (
                    f"{where}: {length!r} is longer than all times of Spark's: give a shorter one."
                )
                self._say(path, words)

    def _all_lengths(self) -> Iterator[tuple[Place, str]]:
        job = self.job
        parts: list[tuple[Place, Part | None]] = [
            (("time",), job.time),
            (("rolling",), job.rolling),
        ]
        parts += [(("windows", i), window) for i, window in enumerate(job.windows)]
        parts += [(("run",), job.run)]
        for path, part in parts:
            for key in _LENGTHS:
                length = getattr(part, key, None)
                if isinstance(length, str):
                    yield (*path, key), length

    def _not_a_stream(self, path: Place) -> None:
        how = "leave it out, or follow the folder with stream = true under [source]"
        self._say(path, f"{name_of(path)} is for streams, and the source is not one: {how}.")

    def _stream_or_not(self) -> None:
        job = self.job
        if job.streams:
            if job.time.watermark is None:
                words = "a stream needs a watermark, or no window would ever be complete: say how "
                words += 'much later than others rows may come, as in watermark = "10 minutes".'
                self._say(("time",), words)
            if job.run.shards is not None and not job.by:
                words = "shards divide the keys, and the job has none (by): leave it out."
                self._say(("run", "shards"), words)
            self._rolling_stream()
            return
        asked: dict[Place, Any] = {
            ("time", "watermark"): job.time.watermark,
            ("time", "lateness"): job.time.lateness,
            ("emit",): None if job.emit == "complete" else job.emit,
            ("late_rows",): job.late_rows,
            ("live",): job.live,
            ("run", "every"): job.run.every,
            ("run", "checkpoint"): job.run.checkpoint,
            ("run", "shards"): job.run.shards,
            ("run", "until_caught_up"): job.run.until_caught_up or None,
        }
        for path, value in asked.items():
            if value is not None:
                self._not_a_stream(path)

    def _rolling_stream(self) -> None:
        rolling = self.job.rolling
        if rolling is None:
            return
        if self.job.emit != "complete":
            words = "emit is for [[windows]], and [rolling] tells rows when they are complete"
            self._say(("emit",), f"{words}: leave it out.")
        not_of_streams = {"rows": rolling.rows, "min_rows": rolling.min_rows or None}
        for key, value in not_of_streams.items():
            if value is not None:
                how = 'give a size = "1h"' if key == "rows" else "leave it out"
                self._say(("rolling", key), f"{key} is not for streams: {how}.")
        if rolling.closed in ("left", "neither"):
            words = 'of a stream, a window holds its own row: closed is "right" or "both".'
            self._say(("rolling", "closed"), words)

    # ---- what else it names ----------------------------------------------------------------

    def _paths(self) -> None:
        used: dict[str, str] = {}
        if isinstance(self.job.source, Files):
            used[self._full(self.job.source.path)] = "the source"
        for path, sink in self._sinks():
            if isinstance(sink, JdbcSink):
                self._database(path, sink)
            if getattr(sink, "overwrite", False) and self.job.streams:
                words = (
                    "overwrite is not for streams, which go on from their checkpoint: leave it out."
                )
                self._say((*path, "overwrite"), words)
            if isinstance(sink, FileSink):
                self._written((*path, "path"), sink.path, used)
        if self.job.run.checkpoint is not None:
            self._written(("run", "checkpoint"), self.job.run.checkpoint, used)

    def _written(self, path: Place, given: str, used: dict[str, str]) -> None:
        """Look at a folder that the job writes to."""
        full = self._full(given)
        source = [at for at, whose in used.items() if whose == "the source" and is_local(at)]
        if full in used:
            self._say(path, f"{given!r} is also {used[full]}: name another folder.")
        elif is_local(given) and Path(full).is_file():
            self._say(path, f"{given!r} is a file, and the job writes many: name a folder.")
        elif is_local(given) and any(_nested(full, at) for at in source):
            why = "results would be read as rows, or the source be removed"
            words = f"of {given!r} and the source, one is in the other, so {why}: name a folder"
            self._say(path, f"{words} outside.")
        used[full] = name_of(path)

    def _sinks(self) -> Iterator[tuple[Place, Part]]:
        for i, sink in enumerate(self.job.sinks):
            yield ("sinks", i), sink
        if self.job.late_rows is not None:
            yield ("late_rows",), self.job.late_rows

    def _full(self, path: str) -> str:
        return str((self._folder / path).resolve()) if is_local(path) else path.rstrip("/")

    def _database(self, path: Place, sink: JdbcSink) -> None:
        if not sink.url.startswith("jdbc:"):
            words = f"{name_of(path)} url: {sink.url!r} is no address of JDBC's: write it like"
            self._say((*path, "url"), f"{words} jdbc:postgresql://localhost/metrics.")
        name = sink.password_env
        if name is not None and name not in os.environ:
            words = f"there is no environment variable {name!r}: set it to the password first."
            self._say((*path, "password_env"), words)

    def _settings(self) -> None:
        for name in self.job.spark:
            if not name.startswith("spark."):
                words = f"{name!r} is no setting of Spark's: their names begin with 'spark.'"
                self._say(("spark", name), f'{words}, in quotes, as in "spark.{name}" = "..."')
            if name == "spark.sql.session.timeZone":
                self._say(("spark", name), 'the time zone is set by zone = "..." under [time].')

    # ---- windows and aggregates ------------------------------------------------------------

    def _windows(self) -> None:
        job = self.job
        if job.windows and job.rolling is not None:
            words = "a job has [[windows]] or [rolling], not both: write a second job file."
            self._say(("rolling",), words)
        if not job.windows and job.rolling is None:
            words = 'the job has no windows: add a table [[windows]] with kind = "tumbling" and '
            self._say((), f'{words}size = "1h", or a table [rolling] with size = "1h".')
        if job.rolling is not None:
            self._size_or_rows(("rolling",), job.rolling)
        for i, table in enumerate(job.windows):
            if not self._fits(("windows", i), table):
                continue
            asked = table.model_dump(exclude_none=True)
            make: Callable[..., Window] = getattr(kinds, asked.pop("kind"))
            window = make(**asked)
            if window.name in [w.name for w in self.windows]:
                words = f"two windows are called {window.name!r}: give this one another name"
                self._say(("windows", i, "name"), f'{words}, as in name = "other".')
            self.windows.append(window)

    def _size_or_rows(self, path: Place, table: Any) -> bool:
        """Whether there is one of the two."""
        where = name_of(path)
        if table.size is None and table.rows is None:
            words = f'{where} has neither size nor rows: add a line size = "1h" or rows = 100.'
            self._say(path, words)
        elif table.size is not None and table.rows is not None:
            words = f"{where} has both size and rows: leave one of them out."
            self._say((*path, "rows"), words)
        return (table.size is None) != (table.rows is None)

    def _fits(self, path: Place, table: Any) -> bool:
        """Whether the keys of a window go together."""
        if not hasattr(table, "rows"):
            return True
        if not self._size_or_rows(path, table):
            return False
        by_rows, slide = table.rows is not None, getattr(table, "slide", None)
        size = table.rows if by_rows else table.size
        key, words = "slide", ""
        if by_rows and getattr(table, "offset", None) is not None:
            key, words = "offset", "it goes with a size in time, not with rows: leave it out."
        elif by_rows and isinstance(slide, str):
            words = f"windows of rows slide by rows: write it like slide = 10, not {slide!r}."
        elif not by_rows and isinstance(slide, int):
            words = f'windows of a size in time slide in time: write slide = "1m", not {slide!r}.'
        elif slide is not None and _above(slide, size):
            words = f"it must be at most the size, or rows are left out: {slide!r} > {size!r}."
        if words:
            self._say((*path, key), f"[[windows]] {key}: {words}")
        return not words

    def _aggregates(self) -> None:
        for i, table in enumerate(self.job.aggregates):
            path: Place = ("aggregates", i)
            try:
                one = aggregate_of(table, self._allow_python)
            except WrongAggregateError as error:
                self._say(path if error.key is None else (*path, error.key), str(error))
                continue
            if one.output in [a.output for a in self.aggregates]:
                words = f"two results are called {one.output!r}: give this one another name, as in "
                self._say((*path, "name"), f'{words}name = "other".')
            self.aggregates.append(one)

    # ---- columns ---------------------------------------------------------------------------

    def _column_names(self) -> None:
        if self._columns is None:
            return
        names = list(self._columns)
        wanted: list[tuple[Place, str]] = [(("time", "column"), self.job.time.column)]
        wanted += [(("by", i), name) for i, name in enumerate(self.job.by)]
        wanted += [
            (("windows", i, "column"), n) for i, w in enumerate(self.windows) for n in w.reads
        ]
        for i, (table, one) in enumerate(zip(self.job.aggregates, self.aggregates, strict=True)):
            for name in filter(None, one.columns):
                keys = (k for k, value in table.items() if value == name and k != "name")
                wanted.append((("aggregates", i, *keys), name))
        for path, name in wanted:
            if name not in names:
                where = name_of(path[:-1] if path[0] == "by" else path)
                self._say(path, f"{where}: there is no column {name!r}{nearest(name, names)}.")

    def _names(self) -> None:
        """Look whether names of results are taken."""
        job = self.job
        own = OWN_COLUMNS if job.rolling is None or job.streams else ()
        taken = {**dict.fromkeys(own, "a column of all results"), **dict.fromkeys(job.by, "a key")}
        if job.rolling is not None:
            taken |= dict.fromkeys(self._columns or (), "a column of the rows")
        for i, name in enumerate(job.by):
            if name in own:
                words = f"by: results have a column {name!r} of their own: rename it in the source."
                self._say(("by", i), words)
            if name in job.by[:i]:
                self._say(("by", i), f"by: column {name!r} is named twice: leave one of them out.")
        for i, one in enumerate(self.aggregates):
            if one.output in taken:
                words = f"a result is called {one.output!r}, and so is {taken[one.output]}: give it"
                self._say(("aggregates", i, "name"), f'{words} another name, as in name = "total".')

    def _results(self) -> None:
        """Make results of no rows, as the job would: what does not fit together raises."""
        self._rows = self._no_rows()
        if self.problems:
            return
        for i, window in enumerate(self.windows):
            alone = [agg.count().alias("rows of sash")]
            self._try(("windows", i, "column"), [window], alone)
        if self.problems:
            return
        for i, one in enumerate(self.aggregates):
            self._try(("aggregates", i), self.windows, [one])
        if not self.problems:
            self._cells(self._try((), self.windows, self.aggregates))

    def _cells(self, result: pa.Schema | None) -> None:
        """Look whether the sinks can take the types of the results."""
        nested = [f.name for f in result or () if pa.types.is_nested(f.type)]
        for i, sink in enumerate(self.job.sinks):
            if nested and isinstance(sink, FileSink) and sink.format == "csv":
                words = (
                    f"cells of CSV hold no lists, and result {nested[0]!r} is one: write json or"
                )
                self._say(("sinks", i, "format"), f"{words} parquet.")

    def _no_rows(self) -> pa.Table | None:
        """Return a table as the job reads them, where all types are known."""
        found = {n: t for n, t in (self._columns or {}).items() if t is not None}
        if self._columns is None or len(found) < len(self._columns):
            return None
        time = self.job.time
        key, words = self._wrong_time(found[time.column])
        if words:
            self._say(("time", key), f"[time] {key}: {words}")
        if time.format is not None or time.unit is not None:
            found[time.column] = pa.timestamp("us", "UTC")
        return pa.schema(list(found.items())).empty_table()

    def _wrong_time(self, given: pa.DataType) -> tuple[str, str]:
        """Return what is wrong with a time of this type, and at which key."""
        time = self.job.time
        text = pa.types.is_string(given) or pa.types.is_large_string(given)
        if time.format is not None:
            words = f"it is for text, and column {time.column!r} holds {given}: leave it out."
            return "format", "" if text else words
        if time.unit is not None:
            how = 'give a format = "yyyy-MM-dd HH:mm:ss" instead' if text else "leave it out"
            words = f"it is for whole numbers, and column {time.column!r} holds {given}: {how}."
            return "unit", "" if pa.types.is_integer(given) else words
        if pa.types.is_timestamp(given) and (given.tz is not None or not self.job.streams):
            return "column", ""
        if pa.types.is_date(given) and not self.job.streams:
            return "column", self._wrong_dates()
        how = 'declare it as "timestamp" under [source.columns]'
        if text:
            how = 'give its format = "yyyy-MM-dd HH:mm:ss" under [time]'
        elif pa.types.is_integer(given):
            how = 'if it counts from 1970, give its unit = "ms" under [time]'
        return "column", f"{time.column!r} does not hold moments, but {given}: {how}."

    def _wrong_dates(self) -> str:
        lengths = [n for path, n in self._all_lengths() if path[0] == "windows"]
        odd = [n for n in lengths if nanoseconds("", n) % _DAY]
        how = "give lengths in days, or declare it as a timestamp under [source.columns]"
        return f"it holds dates, and {odd[0]!r} is no number of days: {how}." if odd else ""

    def _try(
        self, path: Place, windows: list[Window], aggregates: list[Aggregate]
    ) -> pa.Schema | None:
        """Return the schema of the results where that can be known."""
        job, rows = self.job, self._rows
        try:
            if job.rolling is not None and not job.streams:
                return None if rows is None else self._rolled(rows, job.rolling, aggregates).schema
            op = sash.WindowOperator(
                on=job.time.column, by=job.by, aggs=aggregates,
                windows=windows or [kinds.rolling(job.rolling.size if job.rolling else None)],
                lateness=job.time.lateness or 0, emit=job.emit,
            )  # fmt: skip
            return None if rows is None else op.process(rows).schema
        except (TypeError, ValueError, KeyError) as error:
            words = error.args[0] if isinstance(error, KeyError) else str(error)
            self._say(*self._in_a_job(path, words))
        return None

    def _rolled(self, rows: pa.Table, asked: Rolling, aggregates: list[Aggregate]) -> Any:
        return sash.rolling(
            rows, window=asked.size, rows=asked.rows, on=self.job.time.column, by=self.job.by,
            aggs=aggregates, closed=asked.closed, min_rows=asked.min_rows,
        )  # fmt: skip

    def _in_a_job(self, path: Place, words: str) -> tuple[Place, str]:
        """Return an error of the library at the key it is about, with what to do in a job."""
        if "sash.rolling does" in words and path:
            how = "[[windows]] do not keep: give a [rolling] table instead"
            if self.job.streams:
                how = "streams do not keep: take quantiles or hll, which are approximate"
            words = f"{words.split(maxsplit=1)[0]} needs all values of a window, which {how}."
            return (*path, "function"), words
        if path[:1] == ("windows",):
            return path, f"{words}: name another column."
        table = self.job.aggregates[int(path[1])] if len(path) > 1 else {}
        keys = [k for k, v in table.items() if isinstance(v, str) and f"column {v!r}" in words]
        return (*path, *keys[:1]), f"{words}."


def _nested(one: str, other: str) -> bool:
    return Path(one) in Path(other).parents or Path(other) in Path(one).parents


def _above(slide: Any, size: Any) -> bool:
    both = [nanoseconds("", n) if isinstance(n, str) else n for n in (slide, size)]
    return bool(both[0] > both[1])


def _not_a_type(column: str, kind: str) -> str:
    hint = nearest(kind.lower(), TYPE_NAMES)
    if kind.lower().startswith("decimal"):
        hint = "; write decimal(p, s) with p digits, at most 38, and s of them after the point"
    return f"column {column!r}: {kind!r} is not a type of columns{hint}."
