"""What must hold of a job beyond the types of its values, checked before Spark is started."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

import sash
from sash import windows as kinds
from sash._aggregate import Aggregate
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
)
from sash.jobs._places import Path as Place
from sash.jobs._problems import Problem, name_of
from sash.windows import Window

_OF_TIMES = (pa.types.is_timestamp, pa.types.is_date, pa.types.is_integer)


class Checker:
    """Looks at a job, and gathers what is wrong."""

    def __init__(self, job: JobFile, folder: Path, allow_python: bool) -> None:
        self.job, self._folder, self._allow_python = job, folder, allow_python
        self.problems: list[Problem] = []
        self.aggregates: list[Aggregate] = []
        self.windows: list[Window] = []
        self._columns: Columns | None = None

    def check(self) -> None:
        """Look at everything; what follows from another problem is not told."""
        self._source()
        self._time()
        self._stream_or_not()
        self._paths()
        self._settings()
        self._windows()
        self._aggregates()
        if not self.problems:
            self._columns = columns_of(self.job.source, self._folder)
            self._column_names()
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
                    hint = nearest(kind, TYPE_NAMES)
                    words = f"column {name!r}: {kind!r} is not a type of columns{hint}."
                    self._say(("source", "columns", name), words)
        if not isinstance(source, Files):
            return
        if source.files_per_batch is not None and not source.stream:
            self._not_a_stream(("source", "files_per_batch"))
        if source.stream and source.columns is None and isinstance(source, (CsvSource, JsonSource)):
            self._say(
                ("source",),
                f"a stream of {source.format.upper()} needs its columns, since types that are "
                "guessed may change from file to file: add a table [source.columns] with lines "
                'such as ts = "timestamp".',
            )
        if is_local(source.path):
            self._local_source(self._folder / source.path, source.path, source.stream)

    def _local_source(self, path: Path, given: str, stream: bool) -> None:
        if any(sign in given for sign in "*?[{"):
            return  # a pattern, which Spark expands
        where = f"{given!r}" if Path(given).is_absolute() else f"{given!r} (beside the job file)"
        if stream and path.is_file():
            words = f"{where} is a file, and a stream takes the files of a folder: name the folder."
            self._say(("source", "path"), words)
        elif not path.exists():
            more = "; make the folder first, files may come later" if stream else ""
            self._say(("source", "path"), f"there is no {where}{self._similar(path)}{more}.")
        elif not stream and not files_of(path):
            self._say(("source", "path"), f"{where} has no files in it: put some there first.")

    @staticmethod
    def _similar(path: Path) -> str:
        if not path.parent.is_dir():
            return ""
        hint = nearest(path.name, [p.name for p in path.parent.iterdir()])
        return hint if hint.startswith("; did") else ""

    # ---- time and streams ------------------------------------------------------------------

    def _time(self) -> None:
        time = self.job.time
        if time.format is not None and time.unit is not None:
            self._say(
                ("time", "unit"), "a time is text (format) or a number (unit): leave one out."
            )
        try:
            ZoneInfo(time.zone)
        except (KeyError, OSError, ValueError):
            words = f"[time] zone: {time.zone!r} is no time zone; write it like 'America/New_York'."
            self._say(("time", "zone"), words)

    def _not_a_stream(self, path: Place) -> None:
        how = "leave it out, or follow the folder with stream = true under [source]"
        self._say(path, f"{name_of(path)} is for streams, and the source is not one: {how}.")

    def _stream_or_not(self) -> None:
        job = self.job
        if job.streams:
            if job.time.watermark is None:
                self._say(
                    ("time",),
                    "a stream needs a watermark, or no window would ever be complete: say how much "
                    'later than others rows may come, as in watermark = "10 minutes".',
                )
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
            words = "rows come out when their windows are complete: emit goes with [[windows]]."
            self._say(("emit",), words)
        not_of_streams = {"rows": rolling.rows, "min_rows": rolling.min_rows or None}
        for key, value in not_of_streams.items():
            if value is not None:
                self._say(("rolling", key), f"{key} is not for streams: leave it out.")
        if rolling.closed in ("left", "neither"):
            words = 'of a stream, a window holds its own row: closed is "right" or "both".'
            self._say(("rolling", "closed"), words)

    # ---- what else it names ----------------------------------------------------------------

    def _paths(self) -> None:
        used: dict[str, str] = {}
        if isinstance(self.job.source, Files):
            used[self._full(self.job.source.path)] = "the source"
        for path, sink in self._sinks():
            if isinstance(sink, JdbcSink) and sink.password_env is not None:
                self._environment((*path, "password_env"), sink.password_env)
            if getattr(sink, "overwrite", False) and self.job.streams:
                words = "overwrite is not for streams: they go on from their checkpoint."
                self._say((*path, "overwrite"), words)
            if not isinstance(sink, FileSink):
                continue
            full = self._full(sink.path)
            if full in used:
                words = f"{sink.path!r} is already that of {used[full]}: name another folder."
                self._say((*path, "path"), words)
            used[full] = name_of(path)

    def _sinks(self) -> Iterator[tuple[Place, Part]]:
        for i, sink in enumerate(self.job.sinks):
            yield ("sinks", i), sink
        if self.job.late_rows is not None:
            yield ("late_rows",), self.job.late_rows

    def _full(self, path: str) -> str:
        return str((self._folder / path).resolve()) if is_local(path) else path.rstrip("/")

    def _environment(self, path: Place, name: str) -> None:
        if name not in os.environ:
            words = f"there is no environment variable {name}: set it to the password first."
            self._say(path, words)

    def _settings(self) -> None:
        for name in self.job.spark:
            if not name.startswith("spark."):
                words = f"{name!r} is no setting of Spark's: their names begin with 'spark.'"
                self._say(("spark", name), f'{words}, in quotes: "spark.{name}" = ....')
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
        if job.rolling is not None and (job.rolling.size is None) == (job.rolling.rows is None):
            self._say(("rolling",), '[rolling] takes either size = "1h" or rows = 100.')
        for i, table in enumerate(job.windows):
            asked = table.model_dump(exclude_none=True)
            make: Callable[..., Window] = getattr(kinds, asked.pop("kind"))
            try:
                window = make(**asked)
            except (TypeError, ValueError) as error:
                self._say(("windows", i), f"[[windows]]: {error}.")
                continue
            if window.name in [w.name for w in self.windows]:
                words = f"two windows are called {window.name!r}: give this one a name."
                self._say(("windows", i), words)
            self.windows.append(window)

    def _aggregates(self) -> None:
        for i, table in enumerate(self.job.aggregates):
            path: Place = ("aggregates", i)
            try:
                one = aggregate_of(table, self._allow_python)
            except WrongAggregateError as error:
                self._say(path if error.key is None else (*path, error.key), str(error))
                continue
            if one.output in [a.output for a in self.aggregates]:
                words = f"two results are called {one.output!r}: give this one another name."
                self._say(path, words)
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

    def _results(self) -> None:
        """Make results of no rows, as the job would: what does not fit together raises."""
        types = self._types()
        for i, one in enumerate(self.aggregates):
            self._try(("aggregates", i), [one], types)
        if not self.problems:
            self._try((), self.aggregates, types)

    def _types(self) -> dict[str, pa.DataType] | None:
        found = {n: t for n, t in (self._columns or {}).items() if t is not None}
        if self._columns is None or len(found) < len(self._columns):
            return None
        time, given = self.job.time, found[self.job.time.column]
        fits = given if time.format is None and time.unit is None else None
        if fits is not None and not pa.types.is_timestamp(fits) and self.job.streams:
            how = 'if it is text, give its format = "yyyy-MM-dd HH:mm:ss"'
            if pa.types.is_integer(fits):
                how = 'if it counts from 1970, give its unit = "ms"'
            words = f"column {time.column!r} is no timestamp, but {given}: {how} under [time]."
            self._say(("time", "column"), words)
            return None
        text = pa.types.is_string(given) or pa.types.is_large_string(given)
        if (time.format is not None and not text) or (
            time.unit is not None and not pa.types.is_integer(given)
        ):
            key, wanted = ("format", "text") if time.format is not None else ("unit", "integers")
            words = f"{key} is for {wanted}, and column {time.column!r} holds {given}."
            self._say(("time", key), f"{words[:-1]}: leave it out.")
            return None
        if fits is None:
            found[time.column] = pa.timestamp("us", "UTC")
        return found

    def _try(
        self, path: Place, aggregates: list[Aggregate], types: dict[str, pa.DataType] | None
    ) -> None:
        job = self.job
        try:
            if job.rolling is None:
                op = sash.WindowOperator(
                    on=job.time.column, by=job.by, windows=self.windows, aggs=aggregates,
                    lateness=job.time.lateness or 0, emit=job.emit,
                )  # fmt: skip
                if types is not None:
                    op.process(_empty(types))
            elif types is not None:
                asked: dict[str, Any] = {"window": job.rolling.size, "rows": job.rolling.rows}
                sash.rolling(
                    _empty(types), on=job.time.column, by=job.by, aggs=aggregates, **asked,
                    closed=job.rolling.closed, min_rows=job.rolling.min_rows,
                )  # fmt: skip
        except (TypeError, ValueError, KeyError) as error:
            words = error.args[0] if isinstance(error, KeyError) else str(error)
            if "sash.rolling does" in words:
                words += ": in a job, give a [rolling] table instead of [[windows]]"
            self._say(path, f"{words}.")


def _empty(types: dict[str, pa.DataType]) -> pa.Table:
    return pa.schema(list(types.items())).empty_table()
