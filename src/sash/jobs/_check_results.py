"""Checks of a job's windows and aggregates, and whether they fit the columns of its source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

import sash
from sash import agg
from sash import windows as kinds
from sash._aggregate import Aggregate
from sash._durations import nanoseconds
from sash._operator import OWN_COLUMNS
from sash._tables import nearest
from sash.jobs._aggregates import WrongAggregateError, aggregate_of
from sash.jobs._check_part import Check
from sash.jobs._known import Columns, columns_of
from sash.jobs._model import FileSink, JobFile, Rolling
from sash.jobs._places import Path as Place
from sash.jobs._problems import Problem, name_of
from sash.spark._shards import LATE
from sash.windows import Window

_DAY = 86_400_000_000_000  # in nanoseconds


class Results(Check):
    """Makes the windows and aggregates, and looks at what they give."""

    def __init__(self, job: JobFile, folder: Path, allow_python: bool) -> None:
        super().__init__(job, folder)
        self._allow_python = allow_python
        self.aggregates: list[Aggregate] = []
        self.windows: list[Window] = []
        self._numbers: dict[str, list[int]] = {"windows": [], "aggregates": []}
        """Of the tables in the file that these have been made of."""
        self._columns: Columns | None = None
        self._rows: pa.Table | None = None

    def asked(self) -> list[Problem]:
        """Return what is wrong with the windows and aggregates by themselves."""
        self._windows()
        self._aggregates()
        return self.problems

    def fitting(self, knows_source: bool, whole: bool) -> list[Problem]:
        """Return what is wrong with them on the columns of the source.

        ``whole``: nothing else is wrong, so that results can be made of no rows.
        """
        self.problems = []
        if knows_source:
            self._columns = columns_of(self.job.source, self.folder)
        self._column_names()
        self._names()
        if whole and not self.problems:
            self._results()
        return self.problems

    def _windows(self) -> None:
        job = self.job
        if job.windows and job.rolling is not None:
            words = "a job has [[windows]] or [rolling], not both: write a second job file."
            self.say(("rolling",), words)
        if not job.windows and job.rolling is None:
            words = 'the job has no windows: add a table [[windows]] with kind = "tumbling" and '
            self.say(("windows",), f'{words}size = "1h", or a table [rolling] with size = "1h".')
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
                self.say(("windows", i, "name"), f'{words}, as in name = "other".')
            self.windows.append(window)
            self._numbers["windows"].append(i)

    def _size_or_rows(self, path: Place, table: Any) -> bool:
        """Whether there is one of the two."""
        where = name_of(path)
        if table.size is None and table.rows is None:
            words = f'{where} has neither size nor rows: add a line size = "1h" or rows = 100.'
            self.say(path, words)
        elif table.size is not None and table.rows is not None:
            words = f"{where} has both size and rows: leave one of them out."
            self.say((*path, "rows"), words)
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
            self.say((*path, key), f"[[windows]] {key}: {words}")
        return not words

    def _aggregates(self) -> None:
        for i, table in enumerate(self.job.aggregates):
            path: Place = ("aggregates", i)
            try:
                one = aggregate_of(table, self._allow_python)
            except WrongAggregateError as error:
                self.say(path if error.key is None else (*path, error.key), str(error))
                continue
            if one.output.casefold() in [a.output.casefold() for a in self.aggregates]:
                words = f"two results are called {one.output!r}: give this one another name, as in "
                self.say((*path, "name"), f'{words}name = "other".')
            self.aggregates.append(one)
            self._numbers["aggregates"].append(i)

    def _column_names(self) -> None:
        if self._columns is None:
            return
        names = list(self._columns)
        wanted: list[tuple[Place, str]] = [(("time", "column"), self.job.time.column)]
        wanted += [(("by", i), name) for i, name in enumerate(self.job.by)]
        wanted += [(("time", "ties"), name) for name in self.job.time.ties]
        optional = getattr(self.job.source, "optional", [])
        wanted += [(("source", "optional"), name) for name in optional]
        for i, window in zip(self._numbers["windows"], self.windows, strict=True):
            wanted += [(("windows", i, "column"), name) for name in window.reads]
        for i, one in zip(self._numbers["aggregates"], self.aggregates, strict=True):
            for name in filter(None, one.columns):
                table = self.job.aggregates[i].items()
                keys = (k for k, value in table if value == name and k != "name")
                wanted.append((("aggregates", i, *keys), name))
        for path, name in wanted:
            if name not in names:
                where = name_of(path[:-1] if path[0] == "by" else path)
                self.say(path, f"{where}: there is no column {name!r}{nearest(name, names)}.")

    def _names(self) -> None:
        """Look whether names of results are taken."""
        job, own = self.job, self._own_names()
        taken = {**dict.fromkeys(own, "a column of all results")}
        taken |= {name.casefold(): "a key" for name in job.by}
        if job.rolling is not None:
            taken |= {name.casefold(): "a column of the rows" for name in self._columns or ()}
        for i, name in enumerate(job.by):
            if name.casefold() in own:
                words = f"by: results have a column {name!r} of their own: rename it in the source."
                self.say(("by", i), words)
            if name.casefold() in [other.casefold() for other in job.by[:i]]:
                self.say(("by", i), f"by: column {name!r} is named twice: leave one of them out.")
        for i, one in zip(self._numbers["aggregates"], self.aggregates, strict=True):
            if one.output.casefold() in taken:
                whose = taken[one.output.casefold()]
                words = f"a result is called {one.output!r}, and so is {whose}: give it"
                self.say(("aggregates", i, "name"), f'{words} another name, as in name = "total".')

    def _own_names(self) -> set[str]:
        """Return the columns that results have besides those of the user; Spark ignores case."""
        job = self.job
        if job.rolling is not None and not job.streams:
            return set()
        own = {*OWN_COLUMNS, *({LATE} if job.streams else ())}
        kinds = {sink.format for sink in job.sinks} if job.streams else set()
        own |= {"sash_batch"} if "jdbc" in kinds else set()
        return own | ({"batch"} if kinds & {"parquet", "csv", "json"} else set())

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
            self._try(("aggregates", i), self.windows[:1], [one])
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
                self.say(("sinks", i, "format"), f"{words} parquet.")

    def _no_rows(self) -> pa.Table | None:
        """Return a table as the job reads them, where all types are known."""
        found = {n: t for n, t in (self._columns or {}).items() if t is not None}
        if self._columns is None or len(found) < len(self._columns):
            return None
        time = self.job.time
        key, words = self._wrong_time(found[time.column])
        if words:
            self.say(("time", key), f"[time] {key}: {words}")
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
        lengths = [n for path, n in self.all_lengths() if path[0] == "windows"]
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
            self.say(*self._in_a_job(path, words))
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


def _above(slide: Any, size: Any) -> bool:
    both = [nanoseconds("", n) if isinstance(n, str) else n for n in (slide, size)]
    return bool(both[0] > both[1])
