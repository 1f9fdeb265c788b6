"""Job files, read and checked."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sash._aggregate import Aggregate
from sash._tables import nearest
from sash.jobs._check import check
from sash.jobs._known import is_local
from sash.jobs._model import JobFile, Live
from sash.jobs._places import Path as Place
from sash.jobs._places import places_of
from sash.jobs._problems import JobError, Problem, meant_by_unknown, problems_of
from sash.jobs._repair import usable_part
from sash.jobs._secrets import has_secret, is_secret_name
from sash.windows import Window

_MOST_BYTES = 1 << 20
_DEEPEST = 20
"""Tables and lists in each other. Nothing in a job file is deeper than a few."""
_LONG_KEY = re.compile(r"""(?:\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*){65}""")


@dataclass(frozen=True)
class Job:
    """A job that has been checked."""

    said: JobFile
    """The job file's values."""
    path: Path
    windows: list[Window]
    aggregates: list[Aggregate]
    allow_python: bool = False
    """Whether it may load code of its own."""

    @property
    def name(self) -> str:
        """What the job is called: its name, or that of its file."""
        return self.said.name or self.path.stem

    def place(self, path: str) -> str:
        """Return a path of the job file, which is relative to the file."""
        return str((self.path.parent / path).resolve()) if is_local(path) else path

    @property
    def checkpoint(self) -> str:
        """Where a stream keeps how far it has come."""
        return self.place(self.said.run.checkpoint or f"{self._file_name}.checkpoint")

    def with_live(self) -> Job:
        """Return the job, keeping what `sash live` shows."""
        if self.said.live is not None:
            return self
        return replace(self, said=self.said.model_copy(update={"live": Live()}))

    @property
    def history(self) -> Path | None:
        """Where what `sash live` shows is kept, if it is."""
        live = self.said.live
        if live is None:
            return None
        return Path(self.place(live.path or f"{self._file_name}.live.sqlite"))

    @property
    def _file_name(self) -> str:
        """The name as files can have it."""
        return re.sub(r"[^\w.-]+", "_", self.name)


def read(path: str | Path) -> Job:
    """Read a job file as it is, to look at: it is not checked, and cannot be run."""
    path = Path(path)
    text = _text(path)
    data = _data(path, text)
    try:
        return Job(JobFile.model_validate(data), path.resolve(), [], [])
    except ValidationError as error:
        raise _job_error(path, text, problems_of(error, data)) from None


def load(path: str | Path, *, allow_python: bool = False) -> Job:
    """Read a job file and check it; raises `JobError` with everything that is wrong.

    ``allow_python``: it may name what loads code, such as aggregates by import path and jars.
    """
    path = Path(path)
    text = _text(path)
    data = _data(path, text)
    try:
        said = JobFile.model_validate(data)
    except ValidationError as error:
        problems = problems_of(error, data)
        said_in_part, broken = usable_part(data)
        if said_in_part is not None:
            broken += meant_by_unknown(error, data)
            problems += check(said_in_part, path.parent, allow_python, broken)[0]
        raise _job_error(path, text, problems) from None
    problems, made = check(said, path.parent, allow_python)
    if problems:
        raise _job_error(path, text, problems)
    return Job(said, path.resolve(), made.windows, made.aggregates, allow_python)


def _data(path: Path, text: str) -> dict[str, Any]:
    """Return what is in a file, as TOML."""
    if _LONG_KEY.search(text):  # for which the parser needs memory by the square of its parts
        raise JobError(path.name, [(None, "it is nested too deep for a job file.")])
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise JobError(path.name, [_syntax(str(error), text)]) from None
    except ValueError as error:  # of a number with thousands of digits
        raise JobError(path.name, [(None, f"this is not TOML: {error}.")]) from None
    except RecursionError:
        raise JobError(path.name, [(None, "it is nested too deep for a job file.")]) from None
    if _depth(data) > _DEEPEST:
        raise JobError(path.name, [(None, "it is nested too deep for a job file.")])
    return data


def _depth(data: Any) -> int:
    """Return how deep tables and lists are in each other, as far as it matters."""
    level, depth = [data], 0
    while level and depth <= _DEEPEST:
        values = (list(v.values()) if isinstance(v, dict) else v for v in level)
        level = [v for some in values for v in some if isinstance(v, (dict, list))]
        depth += 1
    return depth


def _text(path: Path) -> str:
    if path.is_dir():
        raise JobError(str(path), [(None, "this is a folder: name the job file in it.")])
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        hint = ""
        if path.parent.is_dir():
            hint = nearest(path.name, [p.name for p in path.parent.glob("*.toml")])
            hint = hint if hint.startswith("; did") else ""
        raise JobError(str(path), [(None, f"there is no such file{hint}.")]) from None
    except OSError as error:
        raise JobError(str(path), [(None, f"it cannot be read: {error.strerror}.")]) from None
    if len(raw) > _MOST_BYTES:
        raise JobError(path.name, [(None, "over a megabyte is no job file.")])
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        words = "this is not text in UTF-8: save the file in that encoding."
        raise JobError(path.name, [(line, words)]) from None


def _syntax(message: str, text: str) -> tuple[int, str]:
    """Return the line and words of the parser's message, with what is usually wrong there."""
    words, _, place = message.rpartition(" (at ")
    lines = text.split("\n")
    line = len(text.rstrip("\n").split("\n"))
    if place.startswith("line "):  # else at the end of the file
        line = int(place.removeprefix("line ").split(",")[0])
    return line, f"this is not TOML: {words or message}{_why(words or message, lines[line - 1])}."


def _why(words: str, line: str) -> str:
    key, equals, value = (part.strip() for part in line.partition("="))
    bare = value.split("#")[0].strip()
    for sign, remedy in _SIGNS.items():
        if sign in words:
            return f"; {remedy}"
    if equals and bare in ("True", "False"):
        return f"; write {bare.lower()} in small letters"
    if equals and not bare:
        return f"; give a value after {key} ="
    if equals and bare[:1] not in ('"', "'", "[", "{"):
        bare = "..." if is_secret_name(line) or has_secret(bare) else bare
        return f'; text goes in quotes: {key} = "{bare}"'
    if equals and bare.startswith("[") and '"' not in bare:
        return f'; text goes in quotes, as in {key} = ["..."]'
    if not equals and ":" in line:
        return "; keys and values have an equals sign between them"
    return ""


_SIGNS = {
    "Illegal character '\\n'": "close the quote at the end of the text",
    "Unclosed array": "close the bracket",
    "Expected ']'": "close the bracket",
    "Cannot overwrite": "it is there twice: leave one of the two out",
    "twice": "leave one of the two out",
}


def _job_error(path: Path, text: str, problems: list[Problem]) -> JobError:
    places = places_of(text)
    found = [(_line(places, problem.path), problem.words) for problem in problems]
    return JobError(path.name, sorted(found, key=lambda one: one[0] or 0))


def _line(places: dict[Place, int], path: Any) -> int:
    """Return the line of a path, or of the table that it would be in."""
    while path and path not in places:
        path = path[:-1]
    return places.get(path, 1)
