"""Where the results of a job go.

Spark hands a micro-batch over again when it is not sure that it was written. So a sink of a stream
writes each micro-batch under its number, and what there is of that number goes first.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sash.jobs._build import as_text
from sash.jobs._load import Job
from sash.jobs._model import ConsoleSink, FileSink, JdbcSink
from sash.jobs._output import Output, SinkError
from sash.jobs._problems import printable
from sash.spark._shards import CORRECTIONS

BATCH = "sash_batch"
"""The column of a database's table with the number of the micro-batch."""


_QUOTES = set('"`')


def writer_of(job: Job, sink: FileSink | JdbcSink | ConsoleSink, title: str) -> Any:
    """Return the writer of a sink."""
    if isinstance(sink, FileSink):
        return Folder(sink, job.place(sink.path))
    if isinstance(sink, ConsoleSink):
        return Console(sink, title, job.said.time.zone)
    return Database(sink)


class Folder:
    """Files; those of a micro-batch in a folder ``batch=000012``."""

    def __init__(self, sink: FileSink, path: str) -> None:
        self._sink, self._path = sink, path

    def begin(self, session: Any, new: bool) -> None:
        """Refuse to add the micro-batches of a new run to those of another."""
        output = Output(session, self._path)
        if new and not output.is_empty():
            raise SinkError(
                f"{self._path} holds the results of another run, and there is no checkpoint to go "
                "on from: name another path, or remove the folder"
            )
        output.claim()

    def begin_batch(self, session: Any) -> None:
        """Refuse to replace what is there, unless that is asked for and it is results."""
        output = Output(session, self._path)
        if not self._sink.overwrite and not output.is_empty():
            raise SinkError(
                f"{self._path} is there already: name another path, remove it, or say overwrite = "
                "true"
            )
        output.claim()
        output.clear()

    def _save(self, frame: Any, path: str) -> None:
        """Add files to a folder, out of which old results have been removed."""
        options = {name: as_text(value) for name, value in self._sink.options.items()}
        if self._sink.format != "parquet":  # which Spark would write to the millisecond only
            options = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", **options}
        if self._sink.format == "csv":
            options = {"header": "true", **options}
        frame.write.format(self._sink.format).options(**options).mode("append").save(path)

    def write_batch(self, frame: Any, number: int) -> None:
        """Write a micro-batch in place of what there is of it."""
        below = f"batch={number:06}"
        Output(frame.sparkSession, self._path).clear(below)
        self._save(frame, f"{self._path}/{below}")

    def write(self, frame: Any) -> None:
        """Write all results."""
        self._save(frame, self._path)


class Database:
    """A table, by JDBC; rows of a micro-batch have its number in a column of their own."""

    def __init__(self, sink: JdbcSink) -> None:
        self._sink = sink
        options = {name: as_text(value) for name, value in sink.options.items()}
        named = {"user": sink.user, "driver": sink.driver}
        if sink.password_env is not None:
            named["password"] = os.environ[sink.password_env]
        self._options = {
            **options, "url": sink.url, "dbtable": sink.table,
            **{name: value for name, value in named.items() if value is not None},
        }  # fmt: skip
        self._may_repeat = True

    def begin(self, session: Any, new: bool) -> None:
        """Refuse to add the micro-batches of a new run to those of another."""
        if not new:
            return
        with self._connected(session) as (connection, _):
            if self._has_rows(connection):
                raise SinkError(
                    f"the table {self._sink.table} holds rows already, and there is no checkpoint "
                    "to go on from: name another table, or empty it"
                )

    def begin_batch(self, session: Any) -> None:
        """Refuse to replace what is there, unless that is asked for."""
        if self._sink.overwrite:
            return
        with self._connected(session) as (connection, _):
            if self._has_rows(connection):
                raise SinkError(
                    f"the table {self._sink.table} holds rows already: name another one, empty it, "
                    "or say overwrite = true"
                )

    def write_batch(self, frame: Any, number: int) -> None:
        """Add a micro-batch; the first one after a start may be there already, or in part."""
        from sash.spark._pyspark import functions

        if self._may_repeat:
            self._remove_from(frame.sparkSession, number)
            self._may_repeat = False
        frame = frame.withColumn(BATCH, functions().lit(number).cast("bigint"))
        self._saved(frame, "append")

    def write(self, frame: Any) -> None:
        """Write all results."""
        self._saved(frame, "overwrite" if self._sink.overwrite else "append")

    def _saved(self, frame: Any, mode: str) -> None:
        odd = [n for n in frame.columns if _QUOTES & set(n)]
        if odd:  # Spark puts names into SQL between quotes, as they are
            raise SinkError(
                f"the table {self._sink.table} cannot have a column {odd[0]!r}: its name would end "
                "the quotes that it stands in; give the result a name, or rename it in the source"
            )
        frame.write.format("jdbc").options(**self._options).mode(mode).save()

    def _remove_from(self, session: Any, number: int) -> None:
        """Remove rows of this micro-batch and later ones, which a run before has left behind."""
        with self._connected(session) as (connection, dialect):
            if not self._has_rows(connection):
                return
            where = f"where {dialect.quoteIdentifier(BATCH)} >= ?"
            statement = connection.prepareStatement(f"delete from {self._sink.table} {where}")
            statement.setLong(1, number)
            statement.executeUpdate()

    @contextmanager
    def _connected(self, session: Any) -> Iterator[tuple[Any, Any]]:
        """Connect as Spark does, with its drivers."""
        jvm = session._jvm
        sql = jvm.org.apache.spark.sql
        options = jvm.PythonUtils.toScalaMap(self._options)
        dialect = sql.jdbc.JdbcDialects.get(self._sink.url)
        jdbc = sql.execution.datasources.jdbc.JDBCOptions(options)
        connection = dialect.createConnectionFactory(jdbc).apply(-1)
        try:
            yield connection, dialect
        finally:
            connection.close()

    def _has_rows(self, connection: Any) -> bool:
        """Whether there is such a table, with rows in it."""
        names = self._sink.table.replace('"', "").split(".")
        found = connection.getMetaData().getTables(None, None, "%", None)
        there = False
        while not there and found.next():
            there = found.getString("TABLE_NAME").casefold() == names[-1].casefold()
        if not there:
            return False
        statement = connection.createStatement()
        statement.setMaxRows(1)
        return bool(statement.executeQuery(f"select * from {self._sink.table}").next())


class Console:
    """The terminal."""

    def __init__(self, sink: ConsoleSink, title: str, zone: str) -> None:
        self._sink, self._title, self._zone = sink, title, ZoneInfo(zone)

    def begin(self, session: Any, new: bool) -> None:
        """Do nothing."""

    def begin_batch(self, session: Any) -> None:
        """Do nothing."""

    def write_batch(self, frame: Any, number: int) -> None:
        """Show a micro-batch."""
        corrections = frame["change"].isin(*CORRECTIONS)
        self._show(frame.orderBy(corrections.desc()), f"{self._title}, micro-batch {number}")

    def write(self, frame: Any) -> None:
        """Show the results."""
        self._show(frame, self._title)

    def _show(self, frame: Any, title: str) -> None:
        from rich.console import Console as Terminal
        from rich.table import Table
        from rich.text import Text

        rows = frame.limit(self._sink.rows + 1).toArrow().to_pylist()
        if not rows:
            return
        times = f", times in {self._zone}" if self._zone.key != "UTC" else ""
        table = Table(title=Text(printable(title + times)), title_justify="left")
        for name in frame.columns:
            table.add_column(Text(printable(name)))
        for row in rows[: self._sink.rows]:
            table.add_row(*(Text(self._cell(cell)) for cell in row.values()))
        terminal = Terminal(width=None if sys.stdout.isatty() else 160)
        with _full_output_named():
            terminal.print(table)
            if len(rows) > self._sink.rows:
                terminal.print(f"and more: only the first {self._sink.rows} rows are shown")
            sys.stdout.flush()

    def _cell(self, cell: Any) -> str:
        if cell is None:
            return ""
        if isinstance(cell, str):
            return printable(cell)
        if isinstance(cell, datetime):
            local = cell if cell.tzinfo is None else cell.astimezone(self._zone)
            return local.isoformat(" ", "auto")[: 26 if cell.microsecond else 19]
        return f"{cell:.6g}" if isinstance(cell, float) else printable(str(cell))


@contextmanager
def _full_output_named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise SinkError("the disk that standard output goes to is full: free some space") from None
