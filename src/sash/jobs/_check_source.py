"""Checks of what a job reads and writes: its source, its sinks, its settings."""

from __future__ import annotations

import os
from pathlib import Path

from sash._tables import nearest
from sash.jobs._check_part import Check
from sash.jobs._known import TYPE_NAMES, files_of, is_local, type_of
from sash.jobs._model import (
    CsvSource,
    Files,
    FileSink,
    JdbcSink,
    JsonSource,
    KafkaSource,
)
from sash.jobs._places import Path as Place
from sash.jobs._problems import COLUMNS_REMEDY, Problem, close_to, name_of, shown


class Source(Check):
    """Looks at what is outside of the job file."""

    def found(self) -> list[Problem]:
        """Return what is wrong."""
        self._source()
        self._paths()
        return self.problems

    def _source(self) -> None:
        source = self.job.source
        if isinstance(source, (Files, KafkaSource)):
            for name, kind in (source.columns or {}).items():
                if type_of(kind) is None:
                    self.say(("source", "columns", name), _not_a_type(name, kind))
        if not isinstance(source, Files):
            return
        if source.files_per_batch is not None and not source.stream:
            self.not_a_stream(("source", "files_per_batch"))
        if getattr(source, "optional", []) and not source.stream:
            self.not_a_stream(("source", "optional"))
        if source.stream and source.columns is None:
            self._columns_of_stream(source)
        if is_local(source.path):
            self._local_source(self.folder / source.path, source.path, source.stream)

    def _columns_of_stream(self, source: Files) -> None:
        if isinstance(source, (CsvSource, JsonSource)):
            kind = "CSV" if isinstance(source, CsvSource) else "JSON"
            why = "since types that are guessed may change from file to file"
            words = f"a stream of {kind} needs its columns, {why}: {COLUMNS_REMEDY}."
            self.say(("source",), words)
        elif (self.folder / source.path).is_dir() and not files_of(self.folder / source.path):
            why = "and the folder has no files yet that would tell them"
            self.say(("source",), f"a stream needs its columns, {why}: {COLUMNS_REMEDY}.")

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
        self.say(("source", "path"), words)

    def _paths(self) -> None:
        used: dict[str, str] = {}
        if isinstance(self.job.source, Files):
            used[self._full(self.job.source.path)] = "the source"
        for path, sink in self.all_sinks():
            if isinstance(sink, JdbcSink):
                self._database(path, sink, used)
            if getattr(sink, "overwrite", False) and self.job.streams:
                words = (
                    "overwrite is not for streams, which go on from their checkpoint: leave it out."
                )
                self.say((*path, "overwrite"), words)
            if isinstance(sink, FileSink):
                self._written((*path, "path"), sink.path, used)
        if self.job.run.checkpoint is not None:
            self._written(("run", "checkpoint"), self.job.run.checkpoint, used)

    def _written(self, path: Place, given: str, used: dict[str, str]) -> None:
        """Look at a folder that the job writes to."""
        full = self._full(given)
        others = [(at, whose) for at, whose in used.items() if is_local(at)]
        if full in used:
            self.say(path, f"{given!r} is also {used[full]}: name another folder.")
        elif is_local(given) and Path(full).is_file():
            self.say(path, f"{given!r} is a file, and the job writes many: name a folder.")
        elif is_local(given) and (around := [whose for at, whose in others if _nested(full, at)]):
            why = "one would be read with the other, or be removed with it"
            words = f"of {given!r} and {around[0]}, one is in the other, so {why}: name a folder"
            self.say(path, f"{words} outside.")
        used[full] = name_of(path)

    def _full(self, path: str) -> str:
        return str((self.folder / path).resolve()) if is_local(path) else path.rstrip("/")

    def _database(self, path: Place, sink: JdbcSink, used: dict[str, str]) -> None:
        table = f"{sink.url} {sink.table.casefold()}"
        if table in used:
            self.say((*path, "table"), f"{sink.table!r} is also {used[table]}: name another table.")
        used[table] = name_of((*path, "table"))
        if not sink.url.startswith("jdbc:"):
            words = f"{name_of(path)} url: {shown(sink.url)} is no address of JDBC's: write it like"
            self.say((*path, "url"), f"{words} jdbc:postgresql://localhost/metrics.")
        name = sink.password_env
        if name is not None and name not in os.environ:
            words = f"there is no environment variable {name!r}: set it to the password first."
            self.say((*path, "password_env"), words)


def _nested(one: str, other: str) -> bool:
    return Path(one) in Path(other).parents or Path(other) in Path(one).parents


def _not_a_type(column: str, kind: str) -> str:
    hint = nearest(kind.lower(), TYPE_NAMES)
    if kind.lower().startswith("decimal"):
        hint = "; write decimal(p, s) with p digits, at most 38, and s of them after the point"
    return f"column {column!r}: {kind!r} is not a type of columns{hint}."
